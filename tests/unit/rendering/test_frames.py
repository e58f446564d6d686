"""What crosses to the child comes back equal, however it is cut, and nonsense is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.errors import TABLE, RenderError, error_of
from processors.render import Rendered
from processors.spec import RenderSpec
from schemas.events import Verification
from streams.rendering.frames import (
    MOST_PAYLOAD,
    Frame,
    FrameCorrupt,
    FrameReader,
    answer_of,
    error_frame,
    rendered_frame,
    spec_frame,
    spec_of,
)

VERIFIED = Verification(decoder="zxing-cpp/3", contrast_ratio=21.0, quiet_zone_modules=4.0, module_px=8, inverted=True, warnings=("inverted", "ambiguous_text"))
RENDERED = Rendered(b"\x89PNG", "image/png", 7, "q", 3, VERIFIED, "segno/1.6.6")
numbers = st.one_of(st.none(), st.integers(1, 10**6), st.floats(0.01, 1e6))
specs = st.builds(
    RenderSpec, content=st.binary(), format=st.sampled_from(["png", "svg"]), error_correction=st.sampled_from("lmqh"), boost=st.booleans(), scale=numbers,
    size=st.none() | st.integers(1, 10**6), margin=st.integers(0, 10**6), dark=st.none() | st.just("#0f0f0f"), light=st.none(), profile=st.sampled_from(["qr-1", "ä\ud800"]),
)


def read(stream: bytes, piece: int) -> list[Frame]:
    reader, found = FrameReader(), []
    for start in range(0, len(stream), piece):
        reader.feed(stream[start:start + piece])
        while (frame := reader.next()) is not None:
            found.append(frame)
    return found


@settings(max_examples=25, deadline=None)
@given(st.lists(specs, max_size=3), st.integers(1, 200))
def test_specs_come_back_equal_in_order_in_pieces_of_any_size(asked: list[RenderSpec], piece: int) -> None:
    stream = b"".join(spec_frame(number, spec, 1).encoded() for number, spec in enumerate(asked))
    found = read(stream, piece)
    assert [spec_of(frame) for frame in found] == asked
    assert [[type(spec_of(frame).scale), frame.header["number"]] for frame in found] == [[type(spec.scale), number] for number, spec in enumerate(asked)]


def test_an_artifact_comes_back_equal() -> None:
    [frame] = read(rendered_frame(5, RENDERED).encoded(), 7)
    assert answer_of(frame, 5) == RENDERED


@pytest.mark.parametrize("code", TABLE)
def test_an_error_comes_back_as_the_same_kind(code: str) -> None:
    [frame] = read(error_frame(5, error_of(code, "one line"), None).encoded(), 7)
    answer = answer_of(frame, 5)
    assert isinstance(answer, RenderError)
    assert (type(answer), answer.args, answer.__cause__) == (type(error_of(code)), (code, "one line"), None)


@pytest.mark.parametrize(
    "stream",
    [
        b"\xff" * 8, (1 << 21).to_bytes(4) + bytes(4), bytes(4) + (MOST_PAYLOAD + 1).to_bytes(4), bytes(8),
        (1).to_bytes(4) + bytes(4) + b"{", (2).to_bytes(4) + bytes(4) + b"[]", (1).to_bytes(4) + bytes(4) + b"\xff",
    ],
)
def test_what_is_no_frame_is_refused(stream: bytes) -> None:
    with pytest.raises(FrameCorrupt):
        read(stream, 100)


@pytest.mark.parametrize(
    "header",
    [
        {}, {"number": 4, "code": "render_failed", "message": "", "cause": None}, {"number": 5, "code": "no_such_code", "message": "", "cause": None},
        {"number": 5, "code": ["x"], "message": "", "cause": None}, {"number": 5, "code": "render_failed"},
        {"number": 5, "rendered": [1], "verification": [1]}, {"number": 5, "rendered": 1, "verification": 1},
    ],
)
def test_what_is_no_answer_to_the_question_is_refused(header: dict[str, object]) -> None:
    with pytest.raises(FrameCorrupt):
        answer_of(Frame(header), 5)
