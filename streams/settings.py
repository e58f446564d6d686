"""Every setting of qrstream: typed, validated, from the environment (``QR_*``) and one TOML file.

The file is ``qrstream.toml`` in the working folder, or what ``QR_CONFIG`` names; the environment wins.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from streams.exit_codes import ExitCode

PREFIX = "QR_"
CONFIG_FILE = "QR_CONFIG"


class SettingsError(Exception):
    """A setting is missing or wrong; the message is one line that says which and what to do."""

    exit_code = ExitCode.SETTINGS


def _existing_file(path: Path) -> Path:
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return path


ExistingFile = Annotated[Path, AfterValidator(_existing_file)]


class Settings(BaseSettings):
    """One process's settings. Times are in seconds and sizes in bytes unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    broker: str | None = Field(None, description="host:port[,host:port…] of the Kafka cluster; without it `qrstream up` starts a local one")
    topic_prefix: str = Field("qr.", pattern=r"^[a-zA-Z0-9._-]{0,100}$", description="begins the name of every topic")
    app_id: str = Field("qrstream", pattern=r"^[a-zA-Z0-9._-]{1,100}$", description="names the consumer group, the transactional ids and the changelogs")
    # 8: a partition is the unit of ownership, so this bounds the workers; each costs a transactional
    # producer (about 4 threads, 0.5 MB) and one RocksDB, and the count can never be changed afterwards
    # without moving every key. Fewer than 4 leave a second machine idle; 64 are fine on a cluster.
    partitions: int = Field(8, ge=1, le=1024, description="partitions of the input topics and changelogs; pinned when they are created")
    output_partitions: int = Field(8, ge=1, le=1024, description="partitions of the output topics")
    replication: int = Field(1, ge=1, le=7, description="replicas of each topic that `topics create` makes")
    data_dir: Path = Field(Path(".qrstream"), description="folder of this process alone: RocksDB, instance id, local broker")
    artifact_store: str = Field("kafka", pattern=r"^(kafka|file:///.+|s3://.+)$", description="where rendered bytes are kept; this release has kafka only, and refuses file:///… and s3://…")
    http: str | None = Field(None, pattern=r"^[^:\s]+:\d{1,5}$", description="host:port for the worker's HTTP server; not served in this release, only checked to be free")
    schema_registry: str | None = Field(None, pattern=r"^https?://", description="URL of a Confluent-compatible schema registry; without it events use single-object encoding")
    clickhouse_url: SecretStr | None = Field(None, description="ClickHouse server for the metric facts; without effect in this release")
    log: str = Field("console:info", pattern=r"^(console|json)(:(debug|info|warning|error))?$", description="console or json, and the level: json:debug")
    mode: Literal["local", "production"] = Field("local", description="production refuses what local only warns about")
    instance_id: str | None = Field(None, pattern=r"^[a-zA-Z0-9._-]{1,200}$", description="static member name; by default made once and kept in the data folder")

    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field("PLAINTEXT", description="how clients talk to the broker")
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = Field(None, description="needed with SASL_*")
    kafka_sasl_username: str | None = Field(None, description="needed with SASL_*")
    kafka_sasl_password: SecretStr | None = Field(None, description="needed with SASL_*")
    kafka_ssl_ca_location: ExistingFile | None = Field(None, description="PEM file of the authorities to trust")
    kafka_ssl_certificate_location: ExistingFile | None = Field(None, description="PEM file of the client's certificate")
    kafka_ssl_key_location: ExistingFile | None = Field(None, description="PEM file of the client's key")
    kafka_ssl_key_password: SecretStr | None = Field(None, description="of the client's key")
    kafka_client_id: str = Field("qrstream", description="how the broker's logs and quotas name this client")

    # Below 6 s a garbage collection of the broker looks like a dead worker (and brokers refuse it by
    # default, group.min.session.timeout.ms); above 30 s a dead worker's partitions wait that long.
    session_timeout: float = Field(10.0, ge=1.0, le=300.0, description="seconds without a heartbeat after which a worker is dead")
    commit_interval: float = Field(2.0, ge=0.1, le=60.0, description="seconds between two commits of the group's offsets (positions are committed with every transaction)")
    batch_records: int = Field(500, ge=1, le=10_000, description="most records of one transaction")
    batch_bytes: int = Field(8 << 20, ge=1 << 16, le=64 << 20, description="most output bytes of one transaction")
    batch_seconds: float = Field(0.2, gt=0, le=10, description="most time spent deciding and rendering one transaction")
    # 10 s: an open transaction hides every later record of its partitions from read_committed
    # consumers, so this bounds how long a dead worker can stall them. Brokers cap it at 60 s here.
    transaction_timeout: float = Field(10.0, ge=1.0, le=60.0, description="seconds after which the broker aborts an open transaction")
    # KIP-679's limits: commits wait for the slowest replica, an overloaded broker needs its time
    commit_patience: float = Field(60.0, ge=1.0, le=600.0, description="seconds to go on asking the broker whether a commit succeeded")
    result_ttl: float = Field(30 * 86400.0, gt=0, description="seconds a result may answer further requests, ±10 % by hash")
    failure_ttl: float = Field(3600.0, gt=0, description="seconds a failed result answers further requests")
    request_ttl: float = Field(7 * 86400.0, gt=0, description="seconds a request id is remembered; at least the retention of the input topics")
    changelog_delete_retention: float = Field(86400.0, ge=1, description="delete.retention.ms of changelogs in seconds: how long tombstones stay readable")
    rocksdb_cache: int = Field(32 << 20, ge=1 << 20, description="block cache shared by all partitions of a worker")
    rocksdb_write_buffer: int = Field(4 << 20, ge=1 << 16, description="write buffer of each partition")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kafka_security_protocol.startswith("SASL") and not (
            self.kafka_sasl_mechanism and self.kafka_sasl_username and self.kafka_sasl_password
        ):
            raise ValueError(f"kafka_security_protocol={self.kafka_security_protocol} needs kafka_sasl_mechanism, kafka_sasl_username and kafka_sasl_password")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # one file is enough
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  # QR_CONFIG may be such a file
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then the file."""
        file = os.environ.get(CONFIG_FILE)
        toml = TomlConfigSettingsSource(settings_cls, Path(file) if file else Path("qrstream.toml"))
        return init_settings, env_settings, toml

    @property
    def log_format(self) -> str:
        """``console`` or ``json``."""
        return self.log.split(":")[0]

    @property
    def log_level(self) -> str:
        """``debug``, ``info``, ``warning`` or ``error``."""
        return (self.log + ":info").split(":")[1]

    def masked(self) -> dict[str, Any]:
        """Every setting as plain values, secrets as stars: what ``qrstream config`` prints."""
        return {
            name: "**********" if isinstance(value, SecretStr) else str(value) if isinstance(value, Path) else value
            for name, value in self
        }


def environment_name(field: str) -> str:
    """The variable that sets a field: ``QR_BROKER`` for ``broker``."""
    return PREFIX + field.upper()


def load_settings(**overrides: Any) -> Settings:
    """Read arguments, environment and file.

    Raises:
        SettingsError: one line naming the setting, the value and what is allowed.
    """
    _refuse_unknown_variables(os.environ)
    file = os.environ.get(CONFIG_FILE)
    if file and not Path(file).is_file():
        raise SettingsError(f"{CONFIG_FILE}={file}: it is no file")
    try:
        return Settings(**overrides)
    except ValidationError as exc:
        raise SettingsError("; ".join(_sentence(error) for error in exc.errors())) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as exc:
        raise SettingsError(f"{file or 'qrstream.toml'}: {exc}") from None


@cache
def process_settings() -> Settings:
    """The settings of this process, read once."""
    return load_settings()


def _sentence(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"])
    reason = str(error["msg"]).removeprefix("Value error, ")
    if not where:
        return reason
    if error["type"] == "extra_forbidden":
        return f"unknown setting {where}{_suggestion(where, Settings.model_fields)}"
    shown = "" if isinstance(error.get("input"), Mapping) else f"={error.get('input')!r}"
    secret = "password" in where
    return f"{environment_name(where)}{'' if secret else shown}: {reason} ({Settings.model_fields[where.split('.')[0]].description})"


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {environment_name(field) for field in Settings.model_fields} | {CONFIG_FILE}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            raise SettingsError(f"unknown setting {name}{_suggestion(name, known)}")


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]}?" if close else "; `qrstream config` lists all settings"
