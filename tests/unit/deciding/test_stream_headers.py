"""What the headers of a record say of its way through the stream, and what strangers' headers do not."""

from __future__ import annotations

import pytest

from streams.deciding.stream_headers import Marks, marks

Header = tuple[str, bytes | None]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], Marks(generation=0, attempt=1, rerouted=False)),
        ([("ce_id", b"9"), ("traceparent", b"00"), ("qr", b"7"), ("", b"7")], Marks()),
        ([("qr-generation", b"3"), ("qr-attempt", b"2"), ("qr-rerouted", b"0")], Marks(3, 2, rerouted=True)),
        ([("qr-rerouted", None)], Marks(rerouted=True)),
        ([("qr-attempt", b"2"), ("qr-attempt", b"5")], Marks(attempt=2)),
        ([("qr-attempt", b"two"), ("qr-attempt", b"5")], Marks(attempt=5)),
        ([("qr-attempt", None), ("qr-generation", b"-1"), ("qr-generation", b"")], Marks()),
        ([("qr-generation", b"999999999")], Marks(generation=999_999_999)),
        ([("qr-generation", b"9999999999")], Marks()),  # would overflow the events' 32-bit fields
    ],
)
def test_marks(headers: list[Header], expected: Marks) -> None:
    assert marks(headers) == expected
