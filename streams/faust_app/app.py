"""The Faust app of a worker: two agents, a table each, and the settings that make Faust safe to build on."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import faust
from faust.types import TP
from mode.utils.objects import cached_property

from streams.artifacts.opening import open_store
from streams.deciding.batch_decider import BatchDecider
from streams.deciding.carry_out import Decider
from streams.deciding.side_effects import SideEffects
from streams.event_codec import event_codec
from streams.exit_codes import ExitCode
from streams.faust_app.credentials import faust_credentials
from streams.faust_app.endings import ending_with_exit_code
from streams.faust_app.seams.flow import FlowControl
from streams.faust_app.seams.monitor import UncountingMonitor
from streams.faust_app.seams.recovery import TableManager
from streams.faust_app.seams.schema import RawSchema
from streams.faust_app.seams.table import Table
from streams.faust_app.seams.transport import Transport
from streams.instance import instance_id
from streams.intake.decider import IntakeDecider
from streams.ownership.owners import Owners
from streams.ownership.ownership import Claim, Ownership
from streams.process_end import before_end
from streams.rendering.journal import Journal
from streams.rendering.renderer import process_renderer
from streams.settings import Settings, process_settings
from streams.topics import CLAIMS_CHANGELOG, INTAKE, RENDERS_CHANGELOG, REQUESTED

RENDER_AGENT = "render"
INTAKE_AGENT = "intake"
RECORDS_PER_POLL = 800
STORE_CALLS = 16
"""Calls of the artifact store side by side: an answer of S3 takes tens of milliseconds, and a batch has dozens to ask for."""


class OwnedSource(NamedTuple):
    """A topic that an agent reads under ownership, with the changelog of the agent's table."""

    agent: str
    changelog: str


class App(faust.App):
    """Faust's app, owning partitions instead of reading changelogs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.owners = Owners(settings)
        self.sources = {
            REQUESTED.full_name(settings): OwnedSource(RENDER_AGENT, RENDERS_CHANGELOG.full_name(settings)),
            INTAKE.full_name(settings): OwnedSource(INTAKE_AGENT, CLAIMS_CHANGELOG.full_name(settings)),
        }
        super().__init__(settings.app_id, **_faust_settings(settings))

    def _new_transport(self) -> Transport:
        return Transport(self.conf.broker_consumer, self)

    @cached_property
    def flow_control(self) -> FlowControl:
        return FlowControl(loop=self.loop)

    async def on_first_start(self) -> None:
        """Join nothing before the renderer has shown that it makes what its profiles fix."""
        await super().on_first_start()
        with ending_with_exit_code():
            await asyncio.to_thread(renderer.start)

    async def on_stop(self) -> None:
        """Close the ownerships last: until then the consumer commits their positions."""
        await super().on_stop()
        await self.owners.close_all()
        journal.close()
        renderer.close()

    def committable_offset(self, topic: str, partition: int) -> int | None:
        """The offset that the consumer group may commit for a partition."""
        owner = self.owner_of(TP(topic, partition))
        return None if owner is None else owner.committable

    def owner_of(self, tp: TP) -> Ownership | None:
        """The open ownership of a source partition."""
        source = self.sources.get(tp.topic)
        return None if source is None else self.owners.get(source.agent, tp.partition)

    async def open_ownerships(self) -> None:
        """Fence and restore every assigned partition of the sources, all in one go; ends the process if that fails.

        From the owned *source* partitions, never from Faust's changelog assignment: Faust's assignor
        splits the two when workers subscribe to different sets of topics.
        """
        generation = self.consumer_generation_id
        assigned = sorted(tp for tp in self.consumer.assignment() if tp.topic in self.sources)
        with ending_with_exit_code():
            ids = await self.owners.topic_ids(list(self.sources))
            claims = [
                Claim(self.sources[tp.topic].agent, tp.topic, ids[tp.topic], self.sources[tp.topic].changelog, tp.partition, generation)
                for tp in assigned
            ]
            await self.owners.open_all(claims, lambda: self.consumer_generation_id == generation)


def _faust_settings(settings: Settings) -> dict[str, Any]:
    """Faust settings; each one that is not obvious has cost a run."""
    data_dir = Path(settings.data_dir).absolute()
    return {
        "broker": ";".join(f"kafka://{server}" for server in (settings.broker or "").split(",")),
        "broker_credentials": faust_credentials(settings),
        "broker_client_id": settings.kafka_client_id,
        "broker_session_timeout": settings.session_timeout,
        "broker_heartbeat_interval": min(3.0, settings.session_timeout / 5),
        "broker_rebalance_timeout": max(20.0, 2 * settings.session_timeout),
        "broker_request_timeout": max(30.0, 2 * settings.session_timeout),
        "broker_commit_interval": settings.commit_interval,
        "broker_max_poll_records": RECORDS_PER_POLL,
        # A queue that fills while flow is suspended blocks the fetcher: five polls of every partition fit.
        "stream_buffer_maxsize": 5 * RECORDS_PER_POLL * settings.partitions,
        # A rebalance waits until events under way are acknowledged; without it their batch is abandoned.
        "stream_wait_empty": True,
        "consumer_auto_offset_reset": "earliest",
        "consumer_group_instance_id": instance_id(settings),
        "datadir": str(data_dir / "faust"),
        "tabledir": str(data_dir / "faust"),
        "Monitor": UncountingMonitor,
        "store": "memory://",  # never used: every table is a Table of ours
        "Table": Table,
        "TableManager": TableManager,
        "table_standby_replicas": 0,
        "topic_partitions": settings.partitions,
        "topic_replication_factor": settings.replication,
        "topic_allow_declare": False,  # topics are made beforehand, with the right settings
        "topic_disable_leader": True,
        "web_enabled": False,
        "processing_guarantee": "at_least_once",  # Faust's own exactly_once is unusable
        "autodiscover": False,
        "origin": None,
    }


def _clear_the_records(code: ExitCode) -> None:
    """What is being decided has nothing to do with an end that the worker chose; an unexpected one may be its doing."""
    if code is not ExitCode.CRASHED:
        journal.withdraw_all()


app = App(process_settings())
renderer = process_renderer()
journal = Journal(Path(app.settings.data_dir) / "journal")
before_end(_clear_the_records)
store_threads = ThreadPoolExecutor(STORE_CALLS, thread_name_prefix="artifact-store")
decider = Decider(app.settings, event_codec(app.settings), SideEffects(renderer, open_store(app.settings), store_threads), journal)
intake_decider = IntakeDecider(app.settings, decider.codec, decider.turn, journal)
deciders: dict[str, BatchDecider] = {RENDER_AGENT: decider, INTAKE_AGENT: intake_decider}
requested = app.topic(REQUESTED.full_name(app.settings), schema=RawSchema(), partitions=app.settings.partitions)
submitted = app.topic(INTAKE.full_name(app.settings), schema=RawSchema(), partitions=app.settings.partitions)
renders = app.Table(RENDERS_CHANGELOG.name, key_type=bytes, value_type=bytes, partitions=app.settings.partitions)
claims = app.Table(CLAIMS_CHANGELOG.name, key_type=bytes, value_type=bytes, partitions=app.settings.partitions)


@app.on_partitions_revoked.connect  # type: ignore[arg-type]  # Faust's signal types ask for a keyword it passes by itself
async def close_ownerships(sender: App, revoked: Any, **_kwargs: Any) -> None:
    """An ownership ends with its generation, whoever owns the partition next."""
    await sender.owners.close_all()
