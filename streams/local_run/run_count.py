"""Which outcomes belong to one run's requests, and whether every request has its own."""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from processors.errors import RenderError, RequestRefused
from processors.spec import MAX_NAME_CHARACTERS
from schemas.events import RenderCompleted, RenderFailed, RenderRequested
from streams.client import Published

_MARK_CHARACTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: nothing that looks like something else
_DIGEST_CHARACTERS = 12


def new_mark() -> str:
    """What the request ids of one run end with: 30 random bits."""
    return "~" + "".join(secrets.choice(_MARK_CHARACTERS) for _ in range(6))


def marked(request: RenderRequested, mark: str) -> RenderRequested:
    """The request under an id of this run.

    The stream answers a request id once: under the file's own ids a second run would get no outcomes.
    An id that would become too long by the mark gives up its end for a digest; one that is invalid stays so.

    Raises:
        RequestRefused: the id is empty, which no mark leaves as it is; the stream refuses it with the same code.
    """
    request_id = request.request_id
    if not request_id:
        raise RequestRefused("invalid_option", "request_id is empty; give it a name, or leave it out")
    room = MAX_NAME_CHARACTERS - len(mark)
    if room < len(request_id) <= MAX_NAME_CHARACTERS:
        digest = sha256(request_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
        request_id = request_id[: room - _DIGEST_CHARACTERS] + digest
    return replace(request, request_id=request_id + mark)


@dataclass(frozen=True, slots=True)
class _Identity:
    """What the stream tells requests apart by: the same id under two keys is two requests."""

    key: str
    tenant: str
    request_id: str


class RunCount:
    """Published requests, refused lines and outcomes of one run."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._published: dict[_Identity, int] = {}
        self._outcomes: dict[_Identity, RenderCompleted | RenderFailed] = {}
        self.refused: Counter[str] = Counter()
        self.surplus = 0
        """Outcomes beyond a request's first: the stream's promise says 0."""

    def publish(self, published: Published) -> None:
        """Count an acknowledged request."""
        identity = _Identity(published.key, published.tenant, published.request_id)
        self._published[identity] = self._published.get(identity, 0) + 1

    def refuse(self, error: RenderError) -> None:
        """Count a line that could not be published: it has failed."""
        self.refused[error.code] += 1

    def outcome(self, key: bytes | None, outcome: RenderCompleted | RenderFailed) -> bool:
        """Count an outcome; False when it is no first outcome of this run."""
        if not outcome.request_id.endswith(self._mark):
            return False
        identity = _Identity((key or b"").decode("ascii", "replace"), outcome.tenant, outcome.request_id)
        if identity in self._outcomes:
            self.surplus += 1
            return False
        self._outcomes[identity] = outcome
        return True

    @property
    def awaited(self) -> int:
        """Distinct requests that were published."""
        return len(self._published)

    @property
    def answered(self) -> int:
        """Distinct requests that have their outcome."""
        return sum(identity in self._outcomes for identity in self._published)

    @property
    def complete(self) -> bool:
        """Whether every published request has its outcome."""
        return self.answered == self.awaited

    def completed_by_source(self) -> Counter[str]:
        """Completed requests by source: rendered, cache, stale."""
        return Counter(outcome.source for outcome in self._answers() if isinstance(outcome, RenderCompleted))

    def failed_by_code(self) -> Counter[str]:
        """Failed requests by error code, refused lines included."""
        failed = Counter(outcome.error_code for outcome in self._answers() if isinstance(outcome, RenderFailed))
        return failed + self.refused

    @property
    def duplicates(self) -> int:
        """Published repeats of a request, dropped by the stream."""
        return sum(self._published.values()) - len(self._published)

    def summary(self, seconds: float) -> dict[str, Any]:
        """The numbers of the run: completed + failed = requests - duplicates, when complete."""
        completed = self.completed_by_source()
        return {
            "requests": sum(self._published.values()) + self.refused.total(),
            "completed": completed.total(),
            "failed": self.failed_by_code().total(),
            "rendered": completed["rendered"],
            "from_cache": completed["cache"] + completed["stale"],
            "duplicates": self.duplicates,
            "seconds": round(seconds, 3),
        }

    def _answers(self) -> list[RenderCompleted | RenderFailed]:
        return [self._outcomes[identity] for identity in self._published if identity in self._outcomes]
