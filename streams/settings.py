"""Every setting of qrstream: typed, validated, from the environment (``QR_*``) and one TOML file.

The file is ``qrstream.toml`` in the working folder, or what ``QR_CONFIG`` names; the environment wins.
"""

from __future__ import annotations

import difflib
import os
import re
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
RETRY_JITTER = 0.2
"""Part by which the last partition of a delay topic waits longer than its delay (processors/retry.py)."""


class SettingsError(Exception):
    """A setting is missing or wrong; the message is one line that says which and what to do."""

    exit_code = ExitCode.SETTINGS


def _existing_file(path: Path) -> Path:
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return path


ExistingFile = Annotated[Path, AfterValidator(_existing_file)]

# One topic each (streams/topics.py), which are there whatever the setting says: so a record that was parked under
# a longer list still comes back. Four rising delays span a second to minutes.
MOST_RETRIES = 4
_LONGEST_DELAY = 86_400.0


def _delays(text: str) -> str:
    parts = text.split(",")
    if len(parts) > MOST_RETRIES:
        raise ValueError(f"at most {MOST_RETRIES} delays")
    for part in parts:
        if not re.fullmatch(r"\d{1,5}(\.\d{1,3})?", part.strip()) or float(part) > _LONGEST_DELAY:
            raise ValueError(f"{part!r} is no number of seconds up to {_LONGEST_DELAY:.0f}; write 1,10,60,600")
    return text


RetryDelays = Annotated[str, AfterValidator(_delays)]


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
    artifact_store: str = Field("kafka", pattern=r"^(kafka|file:///.+|s3://.+)$", description="where rendered bytes are kept: kafka (in the rows, up to 256 KiB), file:///absolute/folder that the workers share, or s3://bucket[/prefix]")
    # 10 s: half is one request's. Shorter turns a slow answer of S3 (seconds, under load) into a retry; longer
    # holds up the other requests of the batch.
    store_timeout: float = Field(10.0, ge=0.2, le=60.0, description="seconds after which a call of the artifact store has failed")
    s3_endpoint: str | None = Field(None, description="URL of the S3 server; without it AWS_ENDPOINT_URL, then AWS")
    s3_region: str | None = Field(None, pattern=r"^[a-z0-9-]{1,64}$", description="without it AWS_REGION, then us-east-1")
    s3_access_key_id: str | None = Field(None, description="needs s3_secret_access_key; without both the AWS_* environment or the machine's role is used")
    s3_secret_access_key: SecretStr | None = Field(None, description="of s3_access_key_id")
    s3_session_token: SecretStr | None = Field(None, description="of temporary credentials")
    s3_allow_http: bool = Field(False, description="allow http:// to another machine; refused with QR_MODE=production")
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
    stale_window: float = Field(86400.0, ge=0, description="seconds that a result still answers after its time, while one request of it makes a fresh one")
    failure_ttl: float = Field(3600.0, gt=0, description="seconds a failed result answers further requests")
    request_ttl: float = Field(7 * 86400.0, gt=0, description="seconds a request id is remembered; at least the retention of the input topics")
    retry_delays: RetryDelays = Field("1,10,60,600", description="seconds before each new try after a passing failure, one to four; the tries are one more")
    claim_ttl: float = Field(8 * 86400.0, gt=0, description="seconds an idempotency key is remembered; at least request_ttl, every retry delay and the render bound together")
    changelog_delete_retention: float = Field(86400.0, ge=1, description="delete.retention.ms of changelogs in seconds: how long tombstones stay readable")
    # Shorter gives up what a delay forwarder that was down for a while would still have brought back; what was lost for
    # ever is told of only after it.
    retry_grace: float = Field(900.0, ge=1, description="seconds after which a parked request that has not come back fails with retry_lost")
    isolation: Literal["shared", "tenant"] = Field("shared", description="tenant: results are kept apart by tenant, so that nobody can learn what another has rendered; the same for workers and publishers, for good")
    rocksdb_cache: int = Field(32 << 20, ge=1 << 20, description="block cache shared by all partitions of a worker")
    rocksdb_write_buffer: int = Field(4 << 20, ge=1 << 16, description="write buffer of each partition")

    # The slowest sound render (version 40) takes 0.4 s, and was seen to take 4 s on a busy machine ten times slower: a
    # bound below 1 s takes that for a hang. A hang stalls its partition for as long as the bound.
    render_bound: float = Field(10.0, ge=0.1, le=300.0, description="seconds a render may take before its process is killed and it fails as render_timeout")
    # Interpreter, numpy and the largest sound render (10,000 px) take 145 MB of address space: less than 256 MiB is too
    # near to that; a worker should fit beside the default on a machine of 2 GiB.
    render_memory: int = Field(1 << 30, ge=256 << 20, description="most address space of the process that renders")
    scan_policy: Literal["warn", "refuse"] = Field("warn", description="warn: what may keep a reader from a symbol (inverted, low contrast, a narrow quiet zone, tiny modules) is told in its event; refuse: it fails as unscannable. The same for all workers")
    fault_render_seconds: float = Field(0.0, ge=0, le=3600, description="fault injection: each chosen render sleeps so long first")
    fault_render_crash: Literal["exit", "segfault", "memory", "loop"] | None = Field(None, description="fault injection: how the process of a chosen render dies: exit, segfault, memory or loop")
    fault_render_rate: float = Field(1.0, ge=0, le=1, description="fault injection: which part of the content hashes is chosen, always the same ones")
    fault_render_hashes: str | None = Field(None, pattern=r"^[0-9a-f]{1,64}(,[0-9a-f]{1,64})*$", description="fault injection: only content hashes that begin with one of these, separated by commas")
    fault_render_tries: int | None = Field(None, ge=1, description="fault injection: only the first so many tries of a chosen render, later ones work")
    fault_store_rate: float = Field(0.0, ge=0, le=1, description="share of artifact puts that fail on purpose; as all QR_FAULT_* refused with QR_MODE=production")
    fault_store_seconds: float = Field(0.0, ge=0, le=600, description="seconds that each call of the artifact store takes longer on purpose")
    fault_store_hashes: str | None = Field(None, pattern=r"^[0-9a-f]{1,64}(,[0-9a-f]{1,64})*$", description="beginnings of the content hashes that QR_FAULT_STORE_* is for, with commas between them; without it all")
    fault_seed: int = Field(0, ge=0, description="chooses which calls fail on purpose: the same ones in every run")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kafka_security_protocol.startswith("SASL") and not (
            self.kafka_sasl_mechanism and self.kafka_sasl_username and self.kafka_sasl_password
        ):
            raise ValueError(f"kafka_security_protocol={self.kafka_security_protocol} needs kafka_sasl_mechanism, kafka_sasl_username and kafka_sasl_password")
        if bool(self.s3_access_key_id) != bool(self.s3_secret_access_key):
            raise ValueError("QR_S3_ACCESS_KEY_ID and QR_S3_SECRET_ACCESS_KEY go together; set both or neither")
        return self

    @model_validator(mode="after")
    def _no_faults_in_production(self) -> Self:
        injected = sorted(name for name in self.model_fields_set if name.startswith("fault_"))
        if self.mode == "production" and injected:
            raise ValueError(f"QR_MODE=production refuses fault injection: unset {', '.join(environment_name(name) for name in injected)}")
        if self.artifact_store == "kafka" and any(name.startswith("fault_store_") for name in injected):
            raise ValueError("QR_FAULT_STORE_* needs QR_ARTIFACT_STORE=file:///… or s3://…: with kafka there is no store that could fail")
        return self

    @model_validator(mode="after")
    def _claims_outlive_requests(self) -> Self:
        """A key that is free again while its request is still under way could be answered twice."""
        delays = sum(self.retry_delays_ms) / 1000 * (1 + RETRY_JITTER)
        least = self.request_ttl + delays + self.render_bound
        if self.claim_ttl < least:
            raise ValueError(
                f"QR_CLAIM_TTL={self.claim_ttl:g}: must be at least {least:g}, which is QR_REQUEST_TTL={self.request_ttl:g} plus {delays:g} for "
                f"every retry delay plus {self.render_bound:g} for the render; otherwise a key is free again while its request is under way"
            )
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
    def retry_delays_ms(self) -> tuple[int, ...]:
        """`retry_delays` in milliseconds, that of the first retry topic first."""
        return tuple(round(float(part) * 1000) for part in self.retry_delays.split(","))

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
    secret = "SecretStr" in str(Settings.model_fields[where.split(".")[0]].annotation)
    return f"{environment_name(where)}{'' if secret else shown}: {reason} ({Settings.model_fields[where.split('.')[0]].description})"


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {environment_name(field) for field in Settings.model_fields} | {CONFIG_FILE}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            raise SettingsError(f"unknown setting {name}{_suggestion(name, known)}")


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]}?" if close else "; `qrstream config` lists all settings"
