"""The places of Faust 0.15 that streams/faust_app/seams leans on; a test of each, so that one that moves is named.

Faust promises none of them. A new release of it is taken only with this file gone through by hand.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import aiokafka
import faust
import pytest
from aiokafka.consumer.fetcher import Fetcher
from aiokafka.consumer.subscription_state import SubscriptionState, TopicPartitionState
from faust.agents.agent import Agent
from faust.app.base import App
from faust.channels import Channel
from faust.sensors import Monitor
from faust.streams import Stream
from faust.tables.base import Collection
from faust.tables.manager import TableManager
from faust.tables.recovery import Recovery
from faust.tables.table import Table
from faust.topics import Topic
from faust.transport.conductor import Conductor, ConductorCompiler
from faust.transport.consumer import Consumer
from faust.transport.drivers import aiokafka as driver
from faust.types.app import AppT
from faust.types.tuples import ConsumerMessage, Message
from faust.worker import Worker
from mode.utils.queues import FlowControlEvent, FlowControlQueue

from streams.faust_app.seams.flow import FlowControl
from streams.faust_app.seams.monitor import UncountingMonitor
from streams.faust_app.seams.schema import RawSchema


def source_of(thing: Any) -> str:
    """Source text in one line with single spaces, so that another line break is no change."""
    return re.sub(r"\s+", " ", inspect.getsource(thing))


def parameters_of(thing: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(thing).parameters)


def test_faust_is_the_minor_version_whose_seams_are_known() -> None:
    assert version("faust-streaming").startswith("0.15.")


def test_aiokafka_is_the_minor_version_whose_fetch_state_is_known() -> None:
    assert version("aiokafka").startswith("0.14.")


def test_the_app_asks_new_transport_for_its_transport() -> None:
    assert parameters_of(App._new_transport) == ["self"]
    assert "self._new_transport()" in source_of(App)


def test_a_transport_makes_the_consumer_that_its_class_names() -> None:
    assert driver.Transport.Consumer is driver.Consumer
    assert "self.Consumer(" in source_of(driver.Transport.__mro__[1])


def test_a_consumer_makes_its_thread_in_new_consumer_thread() -> None:
    assert parameters_of(driver.Consumer._new_consumer_thread) == ["self"]
    assert "AIOKafkaConsumerThread(self, loop=self.loop, beacon=self.beacon)" in source_of(driver.Consumer._new_consumer_thread)


def test_a_consumer_thread_calls_post_init() -> None:
    assert parameters_of(driver.AIOKafkaConsumerThread.__post_init__) == ["self"]


def test_the_isolation_level_hangs_on_fausts_own_transactions() -> None:
    # So it is read_uncommitted for us unless it is set behind Faust's back, before the consumer starts.
    text = source_of(driver.AIOKafkaConsumerThread._create_worker_consumer)
    assert parameters_of(driver.AIOKafkaConsumerThread._create_worker_consumer) == ["self", "transport"]
    assert 'isolation_level: str = "read_uncommitted"' in text
    assert 'if self.consumer.in_transaction: isolation_level = "read_committed"' in text


def test_aiokafka_reads_its_isolation_level_when_it_starts() -> None:
    assert "self._isolation_level = isolation_level" in source_of(aiokafka.AIOKafkaConsumer.__init__)
    assert "isolation_level=self._isolation_level" in source_of(aiokafka.AIOKafkaConsumer.start)


def test_records_are_fetched_in_fetch_records_by_partition() -> None:
    fetch = driver.AIOKafkaConsumerThread._fetch_records
    assert parameters_of(fetch) == ["self", "consumer", "active_partitions", "timeout", "max_records"]
    assert "return await fetcher.fetched_records( active_partitions, timeout=timeout, max_records=max_records, )" in source_of(fetch)


def test_the_fetch_position_is_in_the_subscriptions_assignment() -> None:
    assert "self._subscription = SubscriptionState(" in source_of(aiokafka.AIOKafkaConsumer.__init__)
    assert isinstance(SubscriptionState.subscription, property)
    assert isinstance(TopicPartitionState.has_valid_position, property)
    assert isinstance(TopicPartitionState.position, property)


def test_every_seek_of_aiokafka_comes_through_the_subscriptions_seek() -> None:
    assert parameters_of(SubscriptionState.seek) == ["self", "tp", "offset"]
    assert "self._subscriptions.seek(tp, offset)" in source_of(Fetcher.seek_to)
    for seeking in (aiokafka.AIOKafkaConsumer.seek, aiokafka.AIOKafkaConsumer.seek_to_committed):
        assert "self._fetcher.seek_to(" in source_of(seeking)


def test_fetched_records_leave_the_buffer_and_are_returned_in_one_step() -> None:
    text = source_of(Fetcher.fetched_records)
    between = text[text.index("drained[tp] = records") : text.index("if drained or not timeout: return drained")]
    assert "await" not in between


def test_seeking_runs_where_the_thread_is_asked_to() -> None:
    assert parameters_of(driver.Consumer._seek) == ["self", "partition", "offset"]
    assert parameters_of(driver.AIOKafkaConsumerThread.call_thread) == ["self", "fun", "args", "kwargs"]


def test_fetched_records_become_messages_in_to_message() -> None:
    assert parameters_of(driver.Consumer._to_message) == ["self", "tp", "record"]
    assert "generation_id=self.app.consumer_generation_id" in source_of(driver.Consumer._to_message)
    assert "self._to_message" in source_of(Consumer)


def test_a_message_takes_another_attribute_and_carries_its_generation() -> None:
    message = ConsumerMessage("t", 0, 7, 1.0, 1, [], b"k", b"v", None, 1, 1, None)
    message.continues = 5  # type: ignore[attr-defined]  # what the seam adds
    assert message.continues == 5  # type: ignore[attr-defined]
    assert "generation_id" in parameters_of(Message.__init__)


def test_delivery_races_each_message_against_suspended_flow() -> None:
    # wait_first is overridden for exactly this pair.
    text = source_of(Consumer._drain_messages)
    assert "await self.wait_first( callback(message), self.suspend_flow.wait() )" in text
    assert "async for tp, message in ait:" in text
    assert parameters_of(Consumer.wait_first) == ["self", "coros", "timeout"]


def test_the_delivery_callback_is_a_coroutine_function_named_on_message() -> None:
    assert "async def on_message(message: Message) -> None:" in source_of(inspect.getmodule(Conductor))


def test_what_lies_below_the_read_offset_is_dropped() -> None:
    text = source_of(Consumer._drain_messages)
    assert "get_read_offset = self._read_offset.__getitem__" in text
    assert "set_read_offset = self._read_offset.__setitem__" in text
    assert "if r_offset is None or offset >= r_offset:" in text
    assert "self._read_offset = defaultdict(lambda: None)" in source_of(Consumer.__init__)


def test_offsets_to_commit_come_from_new_offset_for_every_acknowledged_partition() -> None:
    assert parameters_of(Consumer._new_offset) == ["self", "tp"]
    assert parameters_of(Consumer._add_gap) == ["self", "tp", "offset_from", "offset_to"]
    text = source_of(Consumer)
    assert "offset = self._new_offset(tp)" in text
    assert "self._acked = defaultdict(list)" in text
    assert "self._acked_index = defaultdict(set)" in text


def test_seeking_is_a_coroutine_of_the_consumer() -> None:
    assert inspect.iscoroutinefunction(Consumer.seek)
    assert parameters_of(Consumer.seek) == ["self", "partition", "offset"]


def test_flow_is_suspended_and_resumed_by_flag_and_event() -> None:
    assert "self.flow_active = False" in source_of(Consumer.stop_flow)
    assert "self.suspend_flow.set()" in source_of(Consumer.stop_flow)


def test_the_table_manager_makes_its_recovery_when_first_asked() -> None:
    recovery: Any = inspect.getattr_static(TableManager, "recovery")
    assert isinstance(recovery, property)
    assert "self._recovery = Recovery( self.app, self, beacon=self.beacon, loop=self.loop )" in source_of(recovery.fget)


def test_the_app_makes_the_table_manager_that_its_settings_name() -> None:
    assert "self.conf.TableManager(" in source_of(App)
    assert "self.conf.Table(" in source_of(App.Table)


def test_recovery_builds_active_highwaters_before_it_asks_what_to_recover() -> None:
    assert parameters_of(Recovery._build_highwaters) == ["self", "consumer", "tps", "destination", "title"]
    text = source_of(Recovery._restart_recovery.fun if hasattr(Recovery._restart_recovery, "fun") else Recovery)
    active = text.index('T(self._build_highwaters)( consumer, assigned_active_tps, active_highwaters, "active" )')
    offsets = text.index('T(self._build_offsets)( consumer, assigned_active_tps, active_offsets, "active" )')
    asked = text.index("if self.need_recovery():")
    assert active < offsets < asked


def test_the_flow_is_resumed_only_after_recovery() -> None:
    text = source_of(Recovery.on_recovery_completed)
    assert text.index("await self.app.on_rebalance_complete.send()") < text.index("consumer.resume_flow()")
    assert text.index("consumer.perform_seek()") < text.index("consumer.resume_flow()")


def test_recovery_waits_with_a_timeout_that_ends_in_silence() -> None:
    # wait_first returns when the time is up, and nothing looks whether the coroutine is done.
    assert parameters_of(Recovery._wait) == ["self", "coro", "timeout"]
    text = source_of(Recovery._wait)
    assert "wait_result = await self.wait_first( coro, signal, timeout=timeout" in text
    assert "timed_out" not in text


def test_recovery_ends_when_no_active_offset_is_below_its_highwater() -> None:
    assert "active_remaining" in source_of(Recovery.need_recovery)


def test_a_table_makes_its_store_in_new_store_and_writes_through_two_callbacks() -> None:
    assert parameters_of(Collection._new_store) == ["self"]
    assert "self._data = self._new_store()" in source_of(Collection)
    assert parameters_of(Table.on_key_set) == ["self", "key", "value"]
    assert parameters_of(Table.on_key_del) == ["self", "key"]


def test_revocation_sends_a_signal_before_partitions_are_given_up() -> None:
    text = source_of(App._on_partitions_revoked)
    assert "await T(self.on_partitions_revoked.send)(revoked)" in text


@pytest.mark.parametrize("name", ["noack", "events", "ack"])
def test_a_stream_can_be_read_without_acknowledging_and_acknowledged_by_hand(name: str) -> None:
    assert callable(getattr(Stream, name))


def test_a_stream_acknowledges_an_event_by_hand() -> None:
    assert parameters_of(Stream.ack) == ["self", "event"]
    assert inspect.iscoroutinefunction(Stream.ack)


def test_a_streams_channel_has_the_queue_that_is_drained() -> None:
    assert isinstance(Channel.queue, property)


def test_an_agent_takes_isolated_partitions() -> None:
    assert "isolated_partitions" in parameters_of(Agent.__init__)


def test_the_consumers_generation_is_known_to_the_app() -> None:
    assert AppT.consumer_generation_id == 0
    assert "_thread.app.consumer_generation_id = generation" in source_of(driver)


@pytest.mark.parametrize("name", ["_on_sigint", "_on_sigterm", "_flag_as_shutdown_by_signal", "_schedule_shutdown", "execute_from_commandline"])
def test_the_worker_stops_on_signals_through_these(name: str) -> None:
    assert callable(getattr(Worker, name))


@pytest.mark.parametrize(
    "setting",
    [
        "broker", "broker_credentials", "broker_client_id", "broker_session_timeout", "broker_heartbeat_interval", "broker_rebalance_timeout",
        "broker_request_timeout", "broker_commit_interval", "broker_max_poll_records", "stream_buffer_maxsize", "stream_wait_empty",
        "consumer_auto_offset_reset", "consumer_group_instance_id", "datadir", "tabledir", "store", "Table", "TableManager",
        "table_standby_replicas", "topic_partitions", "topic_replication_factor", "topic_allow_declare", "topic_disable_leader",
        "Monitor", "web_enabled", "processing_guarantee", "autodiscover", "origin",
    ],
)
def test_a_setting_that_we_set_still_exists(setting: str) -> None:
    # An unknown one is taken in silence.
    assert setting in faust.Settings.SETTINGS


def test_resuming_flow_clears_every_queue_and_recovery_resumes_behind_its_seek() -> None:
    # So FlowControl clears only when flow had been suspended (streams/faust_app/seams/flow.py).
    assert "self.clear()" in source_of(FlowControlEvent.resume)
    text = source_of(Recovery.on_recovery_completed)
    assert text.index("consumer.perform_seek()") < text.index("self.app.flow_control.resume()")
    suspended = source_of(App._on_partitions_revoked)
    assert suspended.index("T(self.flow_control.suspend)()") < suspended.index("T(self.flow_control.clear)()")


def test_flow_that_is_active_keeps_its_queues_when_resumed_again() -> None:
    flow = FlowControl()
    queue: FlowControlQueue[int] = FlowControlQueue(flow_control=flow, clear_on_resume=True)
    queue.put_nowait(1)
    flow.resume()
    assert queue.empty()
    queue.put_nowait(2)
    flow.resume()
    assert queue.qsize() == 1


def test_a_topic_decodes_with_what_its_schema_compiles() -> None:
    assert "self.decode = self.schema.compile( # type: ignore self.app," in source_of(Topic)
    assert "event = await chan.decode(message, propagate=True)" in source_of(ConductorCompiler)


async def test_events_hold_the_records_own_bytes() -> None:
    class Message:
        key, value, headers = b"key", b"value", [("name", b"v")]

    decode = RawSchema().compile(SimpleNamespace(create_event=lambda *parts: parts))
    message = Message()
    assert await decode(message, propagate=True) == (b"key", b"value", message.headers, message)


def test_only_what_a_stream_yields_is_waited_for_at_a_rebalance() -> None:
    # So one acknowledgement a batch is enough; the events drained behind its first one are tracked nowhere.
    assert "add_unacked(" in source_of(Stream._py_aiter)
    assert "unacked" not in source_of(ConductorCompiler)
    assert "for tp in self._acked" in source_of(Consumer._filter_tps_with_pending_acks)


@pytest.mark.parametrize("name", ["on_message_in", "on_message_out", "on_stream_event_in", "on_stream_event_out", "track_tp_end_offset"])
def test_the_monitor_is_called_for_each_event_with_what_ours_takes(name: str) -> None:
    assert parameters_of(getattr(UncountingMonitor, name)) == parameters_of(getattr(Monitor, name))


def test_starting_tables_is_what_ours_does_behind_a_second_of_waiting() -> None:
    text = source_of(TableManager.on_start)
    assert text.endswith("await self.sleep(1.0) if not self.should_stop: await self._update_channels() await self.recovery.start() ")
