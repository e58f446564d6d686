"""What a process that stays checks before it starts; what is missing ends it with one line and the code for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from confluent_kafka import KafkaException

from streams.exit_codes import ExitCode
from streams.instance import DataFolderError, lock_data_folder
from streams.process_end import end_process
from streams.settings import Settings
from streams.topic_admin import TopicsUnfit, check
from streams.topic_reader import BrokerUnreachable

log = structlog.get_logger(__name__)


def lock_and_check(settings: Settings, folder: Path) -> int:
    """Take the data folder for this process (the lock lasts as long as the descriptor), and look at broker and topics.

    Raises:
        DataFolderError, KafkaException, BrokerUnreachable, TopicsUnfit: as `ending_the_process` expects them.
    """
    lock = lock_data_folder(folder)
    for warning in check(settings):
        log.warning("broker_settings", warning=warning)
    return lock


@contextmanager
def ending_the_process() -> Iterator[None]:
    """End the process where the body finds that the process cannot run."""
    try:
        yield
    except DataFolderError as exc:
        end_process(ExitCode.DATA_FOLDER, str(exc))
    except KafkaException as exc:
        end_process(ExitCode.SETTINGS, f"QR_KAFKA_*: {exc.args[0].str()}")
    except (BrokerUnreachable, TopicsUnfit) as exc:
        end_process(exc.exit_code, str(exc))
