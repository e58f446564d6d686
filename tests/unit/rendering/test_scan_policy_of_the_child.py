"""The policy of the worker is that of the process that renders for it."""

from __future__ import annotations

import pytest

from processors.errors import RenderRefused
from processors.spec import RenderSpec, validate
from schemas.events import RenderRequested
from streams.rendering import child
from streams.rendering.child_process import ChildTerms
from streams.rendering.renderer import Renderer
from streams.settings import load_settings


def spec_without_margin() -> RenderSpec:
    return validate(RenderRequested(request_id="r", requested_at=0, content="a", margin=0))


def test_the_child_warns_or_refuses_as_it_is_set_up() -> None:
    assert child._render_of(None, "warn")(spec_without_margin(), 1).verification.warnings == ("quiet_zone",)
    with pytest.raises(RenderRefused) as refusal:
        child._render_of(None, "refuse")(spec_without_margin(), 1)
    assert refusal.value.code == "unscannable"


@pytest.mark.parametrize("policy", ["warn", "refuse"])
def test_the_terms_of_a_child_have_the_policy_of_the_settings(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    class Child:
        memory_bounded = True
        code = "the files"

        def __init__(self, terms: ChildTerms) -> None:
            started.append(terms.scan_policy)

        def stop(self) -> None: ...

    monkeypatch.setattr("streams.rendering.renderer.ChildProcess", Child)
    renderer = Renderer(load_settings(scan_policy=policy))
    renderer.start()
    renderer.close()
    assert started == [policy]
