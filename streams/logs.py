"""Structured logs of a process: console lines or JSON, on stderr, for our code and the libraries' alike."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from streams.settings import Settings

# Libraries tell at INFO what our own lines tell better, and at DEBUG every request to the broker.
# A subclass of a Faust service logs its coming and going under the subclass's module.
_SERVICES = ("streams.faust_app.seams", "streams.faust_app.app", "streams.faust_app.worker")
_LIBRARIES = ("faust", "mode", "aiokafka", "asyncio", *_SERVICES)

_NEVER = logging.CRITICAL + 1


def configure_logs(settings: Settings) -> None:
    """Send every log line through structlog in the settings' format and level."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    final = structlog.processors.JSONRenderer() if settings.log_format == "json" else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    structlog.configure(
        processors=[*shared, structlog.processors.format_exc_info, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(settings.log_level.upper())),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    out = logging.StreamHandler(sys.stderr)
    out.setFormatter(structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.processors.format_exc_info],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, final],
    ))
    root = logging.getLogger()
    root.handlers = [out]
    root.setLevel(settings.log_level.upper())
    logging.getLogger("librdkafka").setLevel(logging.DEBUG if settings.log_level == "debug" else _NEVER)
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(logging.INFO if settings.log_level == "debug" else logging.ERROR)
