"""Run the worker: check what it needs, start Faust, leave with a code that says why."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import faust
import structlog

from streams.artifacts.errors import StoreUnreachable
from streams.exit_codes import ExitCode
from streams.faust_app.credentials import faust_credentials
from streams.logs import configure_logs
from streams.process_end import end_process, end_process_after
from streams.rendering.renderer import Renderer, RendererUnavailable, RendererUnfit, process_renderer
from streams.settings import Settings, SettingsError
from streams.start_checks import ending_the_process, lock_and_check

if TYPE_CHECKING:
    from streams.faust_app.app import App

log = structlog.get_logger("streams.worker")

STOP_SECONDS = 30.0
"""Longer than a commit that waits for a slow broker; then the process leaves as if killed, which is safe."""


def run_worker(settings: Settings) -> NoReturn:
    """Own partitions until SIGTERM or SIGINT; never returns.

    Raises:
        SystemExit: with an `ExitCode`, after one clear line.
    """
    configure_logs(settings)
    tell_what_is_not_there_yet(settings)
    with ending_the_process():
        _lock = lock_and_check(settings, Path(settings.data_dir))
    refuse_taken_address(settings)
    try:
        faust_credentials(settings)
    except ssl.SSLError as exc:
        end_process(ExitCode.SETTINGS, f"QR_KAFKA_SSL_*: {exc.strerror or exc}")
    # Beside the imports and Faust's own start, which takes as long; the app waits for it before it joins the group.
    threading.Thread(target=start_renderer, args=(process_renderer(),), name="renderer-start", daemon=True).start()
    # Imported here: the import reads the settings and makes the app.
    try:
        from streams.faust_app.agents import intake, render  # noqa: F401, PLC0415  # declares the agents
        from streams.faust_app.app import app  # noqa: PLC0415
    except (SettingsError, StoreUnreachable) as exc:  # of the artifact store
        end_process(exc.exit_code, str(exc))

    StoppableWorker(app).execute_from_commandline()


def tell_what_is_not_there_yet(settings: Settings) -> None:
    """Say what is set in vain."""
    if settings.clickhouse_url is not None:
        log.warning("setting_without_effect", setting="QR_CLICKHOUSE_URL", reason="this release sends no metric facts yet")


def refuse_taken_address(settings: Settings) -> None:
    """End the process if QR_HTTP names an address that can't be listened on."""
    if settings.http is None:
        return
    host, _, port = settings.http.rpartition(":")
    try:
        with socket.create_server((host, int(port))):
            log.warning("http_not_served", reason="this release has no HTTP server yet", address=settings.http)
    except (OSError, OverflowError) as exc:
        end_process(ExitCode.PORT_IN_USE, f"QR_HTTP={settings.http}: {exc}; choose a free port")


def start_renderer(renderer: Renderer) -> None:
    """Start the child that renders; ends the process where that can't be."""
    try:
        renderer.start()
    except (RendererUnavailable, RendererUnfit) as exc:
        end_process(exc.exit_code, str(exc))


class StoppableWorker(faust.Worker):
    """Faust's worker, silent on the terminal, whose stop has a deadline."""

    def __init__(self, app: App) -> None:
        super().__init__(app, quiet=True, redirect_stdouts=False, override_logging=False)
        self.spinner = None  # it draws on stdout even if quiet

    def _on_sigint(self) -> None:
        self._stop_on(signal.SIGINT)

    def _on_sigterm(self) -> None:
        self._stop_on(signal.SIGTERM)

    def _stop_on(self, received: signal.Signals) -> None:
        log.info("worker_stops", signal=received.name)
        end_process_after(STOP_SECONDS, "worker")
        self._flag_as_shutdown_by_signal()
        self._schedule_shutdown(received)
