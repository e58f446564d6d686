"""Step 3: artifacts, from wherever they can be had, before the transaction that tells of them begins.

Rendering and the artifact store take time, fail by themselves, and may be repeated: a render gives the same bytes, a
put goes to the same name. So all that a batch needs is fetched side by side, outside the turn in which it is decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import Enum
from hashlib import sha256
from typing import Protocol, TypeVar

import structlog

from processors.artifact_keys import artifact_path
from processors.errors import RenderError
from processors.render import Rendered
from processors.spec import RenderSpec
from schemas.events import ResultRow, Verification
from streams.artifacts.errors import ArtifactConflict, ArtifactCorrupt, ArtifactMissing, StoreUnavailable
from streams.artifacts.store import ArtifactStore

log = structlog.get_logger(__name__)

Subject = TypeVar("Subject")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Need:
    """What a decision needs of one content hash.

    Attributes:
        tenant: part of the artifact's path where tenants are kept apart; None otherwise.
        known: what the table says of an artifact made before.
        kept: its bytes, where the owner still has them because the store did not take them.
        look_first: an attempt before this one may have put the artifact without telling.
    """

    content_hash: str
    spec: RenderSpec
    tenant: str | None
    known: ResultRow | None
    kept: bytes | None
    look_first: bool

    @property
    def path(self) -> str:
        """The artifact's place in the store."""
        return artifact_path(self.spec.profile, self.content_hash, self.spec.format, self.tenant)


class NotPrepared(Exception):
    """The decision can't be carried out before this need is met; nothing has been changed."""

    def __init__(self, need: Need) -> None:
        super().__init__(need.content_hash)
        self.need = need


class Origin(Enum):
    """Where an artifact came from."""

    RENDERED = "made now, or by an attempt that was not committed"
    KEPT = "made by an attempt before; the store has taken it now"
    STORED = "read from the store, checksum verified"


@dataclass(frozen=True, slots=True)
class Obtained:
    """An artifact with its facts; `reference` is None where its bytes are kept in the table."""

    rendered: Rendered
    reference: str | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class NotObtained:
    """Why there is no artifact, and what was rendered but not taken by the store."""

    error: RenderError
    rendered: Rendered | None = None


Found = Obtained | NotObtained


class Renders(Protocol):
    """Whoever makes symbols: `streams.rendering.Renderer`."""

    def render_all(self, specs: Sequence[RenderSpec], *, go_on: Callable[[Rendered | RenderError], bool] | None = None) -> Sequence[Rendered | RenderError]:
        """A result for each spec, in order, or for the first ones if `go_on` says no."""


class SideEffects:
    """Renders, and reads and writes the artifact store; safe to share between threads."""

    def __init__(self, renderer: Renders, store: ArtifactStore | None, executor: Executor) -> None:
        """`executor` runs calls of the store side by side."""
        self._renderer = renderer
        self.store = store
        self._executor = executor

    def meet(self, needs: Sequence[Need], in_time: Callable[[], bool]) -> dict[str, Found]:
        """An artifact, or the reason why there is none, by content hash; blocking.

        Of the first need at least; nothing more is rendered once `in_time` says no.
        """
        if self.store is None:
            return {need.content_hash: rendered for need, rendered in zip(needs, self._rendered(needs, in_time), strict=False)}
        found: dict[str, Found] = {}
        unmet: list[tuple[Need, bool]] = []
        for need, read in zip(needs, self._side_by_side(lambda need: self._read(need, self.store), needs), strict=True):
            if isinstance(read, (Obtained, NotObtained)):
                found[need.content_hash] = read
            else:
                unmet.append((need, read))
        rendered = self._rendered([need for need, _ in unmet], in_time)
        puts = [(need, made, corrupt) for (need, corrupt), made in zip(unmet, rendered, strict=False)]
        for (need, _, _), put in zip(puts, self._side_by_side(lambda one: self._put(*one), puts), strict=True):
            found[need.content_hash] = put
        return found

    def _rendered(self, needs: Sequence[Need], in_time: Callable[[], bool]) -> list[Found]:
        results = self._renderer.render_all([need.spec for need in needs], go_on=lambda _: in_time()) if needs else []
        return [NotObtained(made) if isinstance(made, RenderError) else Obtained(made, None, Origin.RENDERED) for made in results]

    def _read(self, need: Need, store: ArtifactStore | None) -> Found | bool:
        """Without rendering; else whether the object there is corrupt, and must be replaced."""
        assert store is not None
        try:
            if need.kept is not None and need.known is not None and need.known.checksum:
                return self._taken(need, rendered_of(need.known, need.kept), Origin.KEPT, corrupt=False)
            if need.known is not None and need.known.result_ref and need.known.checksum:
                artifact = store.get(need.path, need.known.checksum)
                return Obtained(rendered_of(need.known, artifact), need.known.result_ref, Origin.STORED)
            return self._adopted(need, store) if need.look_first else False
        except ArtifactMissing:
            log.warning("artifact_missing", content_hash=need.content_hash)
            return False
        except ArtifactCorrupt:
            log.warning("artifact_corrupt", content_hash=need.content_hash)
            return True
        except RenderError as error:
            return NotObtained(error)

    def _adopted(self, need: Need, store: ArtifactStore) -> Found | bool:
        """What an attempt that was not committed has put, if it is whole."""
        found = store.find(need.path)
        facts = store.find(f"{need.path}.json") if found is not None else None
        if found is None or facts is None:
            return False
        rendered = rendered_from(facts, found)
        if rendered is None:
            log.warning("artifact_not_adopted", content_hash=need.content_hash)
            return True
        return Obtained(rendered, store.put(need.path, found, sha256(found).hexdigest()), Origin.RENDERED)

    def _put(self, need: Need, made: Found, corrupt: bool) -> Found:
        if isinstance(made, NotObtained):
            return made
        return self._taken(need, made.rendered, Origin.RENDERED, corrupt=corrupt)

    def _taken(self, need: Need, rendered: Rendered, origin: Origin, *, corrupt: bool) -> Found:
        """Put facts and artifact, the artifact last: where it is, its facts are."""
        assert self.store is not None
        checksum = sha256(rendered.artifact).hexdigest()
        put = self.store.replace if corrupt else self.store.put
        try:
            self._put_facts(self.store, need, facts_of(rendered))
            return Obtained(rendered, put(need.path, rendered.artifact, checksum), origin)
        except RenderError as error:
            return NotObtained(error, rendered)

    @staticmethod
    def _put_facts(store: ArtifactStore, need: Need, facts: bytes) -> None:
        """So that an attempt that is not committed need not render again. Without them it only has to."""
        with suppress(ArtifactConflict):  # of another release of the renderer, which makes the same bytes under another name
            try:
                store.put(f"{need.path}.json", facts, sha256(facts).hexdigest())
            except StoreUnavailable as error:
                log.warning("artifact_facts_not_put", content_hash=need.content_hash, reason=error.message)

    def _side_by_side(self, step: Callable[[Subject], Result], subjects: Iterable[Subject]) -> list[Result]:
        return [future.result() for future in [self._executor.submit(step, subject) for subject in subjects]]


def rendered_of(row: ResultRow, artifact: bytes) -> Rendered:
    """The render that a row tells of, with its artifact."""
    assert row.verification is not None
    return Rendered(artifact, row.media_type, row.version, row.error_correction, row.mask, row.verification, row.renderer)


def facts_of(rendered: Rendered) -> bytes:
    """What is known of an artifact beside its bytes, as the JSON object that lies beside it in the store."""
    facts = {"checksum": sha256(rendered.artifact).hexdigest(), **asdict(replace(rendered, artifact=b""))}
    del facts["artifact"]
    return json.dumps(facts, sort_keys=True, indent=1).encode() + b"\n"


def rendered_from(facts: bytes, artifact: bytes) -> Rendered | None:
    """The render that facts and artifact make; None if the facts can't be read or are of other bytes."""
    try:
        known = json.loads(facts)
        if known.pop("checksum") != sha256(artifact).hexdigest():
            return None
        return Rendered(artifact=artifact, **{**known, "verification": Verification.from_members(known["verification"])})
    except (ValueError, KeyError, TypeError):
        return None
