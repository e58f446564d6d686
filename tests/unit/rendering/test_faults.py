"""Which renders suffer: always the same ones, and none in production."""

from __future__ import annotations

from hashlib import sha256

import pytest

from streams.rendering.faults import DEATHS, RenderFaults
from streams.settings import Settings, SettingsError, load_settings

HASHES = [sha256(b"%d" % number).hexdigest() for number in range(2_000)]


def faults(**given: object) -> RenderFaults:
    found = RenderFaults.of(load_settings(**{"fault_render_crash": "exit", **given}))
    assert found is not None
    return found


def test_without_slowness_or_crash_there_are_no_faults() -> None:
    assert RenderFaults.of(load_settings(fault_render_rate=1.0, fault_render_hashes="ab")) is None


def test_a_rate_chooses_that_part_of_the_hashes_and_the_same_ones_again() -> None:
    some = faults(fault_render_rate=0.3)
    chosen = [hashed for hashed in HASHES if some.hit(hashed, 1)]
    assert 540 <= len(chosen) <= 660
    assert chosen == [hashed for hashed in HASHES if some.hit(hashed, 1)]
    none, every = faults(fault_render_rate=0.0), faults(fault_render_rate=1.0)
    assert not any(none.hit(hashed, 1) for hashed in HASHES)
    assert all(every.hit(hashed, 1) for hashed in HASHES)


def test_a_higher_rate_chooses_the_same_and_more() -> None:
    low, high = faults(fault_render_rate=0.1), faults(fault_render_rate=0.2)
    assert {hashed for hashed in HASHES if low.hit(hashed, 1)} < {hashed for hashed in HASHES if high.hit(hashed, 1)}


def test_prefixes_choose_among_the_hashes_and_the_rate_among_those() -> None:
    some = faults(fault_render_hashes="a,0f")
    assert [hashed for hashed in HASHES if some.hit(hashed, 1)] == [hashed for hashed in HASHES if hashed.startswith(("a", "0f"))]
    half = faults(fault_render_hashes="a", fault_render_rate=0.5)
    assert 30 <= sum(half.hit(hashed, 1) for hashed in HASHES) <= 95


def test_tries_beyond_those_asked_for_work() -> None:
    assert [faults(fault_render_tries=2).hit(HASHES[0], attempt) for attempt in (1, 2, 3)] == [True, True, False]


def test_every_crash_that_can_be_asked_for_is_there() -> None:
    assert set(DEATHS) == {"exit", "segfault", "memory", "loop"}
    assert str(Settings.model_fields["fault_render_crash"].annotation).count("'") == 2 * len(DEATHS)


@pytest.mark.parametrize("field", [name for name in Settings.model_fields if name.startswith("fault_render_")])
def test_production_refuses_each_fault_setting_with_one_line(field: str) -> None:
    value = {"fault_render_crash": "exit", "fault_render_hashes": "ab"}.get(field, 1)
    with pytest.raises(SettingsError) as caught:
        load_settings(mode="production", **{field: value})
    assert str(caught.value) == f"QR_MODE=production refuses fault injection: unset QR_{field.upper()}"
    load_settings(mode="local", **{field: value})


def test_a_hash_prefix_that_is_no_hex_is_refused() -> None:
    with pytest.raises(SettingsError, match="QR_FAULT_RENDER_HASHES='XYZ'"):
        load_settings(fault_render_hashes="XYZ")
