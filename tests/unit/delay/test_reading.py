"""What a parked record's headers say, and what is made of records that say nonsense."""

from __future__ import annotations

import pytest

from streams.deciding.stream_headers import DUE, FIRST_FAILURE, moment_ms
from streams.delay.reading import Oddity, read_parked
from streams.delay.schedule import Header

NOW, WEEK = 1_700_000_000_000, 7 * 86_400_000
ATTEMPT: Header = ("qr-attempt", b"2")


class Message:
    def __init__(self, headers: list[Header] | None, key: bytes | None = b"key", value: bytes | None = b"value") -> None:
        self._headers, self._key, self._value = headers, key, value

    def headers(self) -> list[Header] | None:
        return self._headers

    def key(self) -> bytes | None:
        return self._key

    def value(self) -> bytes | None:
        return self._value

    def offset(self) -> int:
        return 17


def test_a_parked_record_is_kept_as_it_was() -> None:
    headers = [("traceparent", b"00"), ATTEMPT, ("qr-due", b"1700000001000"), ("none", None)]
    parked, odd = read_parked(Message(headers), NOW, WEEK)
    assert odd == []
    assert (parked.offset, parked.due_ms, parked.key, parked.value, parked.headers) == (17, NOW + 1_000, b"key", b"value", headers)
    assert parked.size == 3 + 5 + 13 + 11 + 19 + 4


@pytest.mark.parametrize(
    ("headers", "due_ms", "odd"),
    [
        ([ATTEMPT], NOW, Oddity.NO_DUE_TIME),
        ([ATTEMPT, ("qr-due", b"soon")], NOW, Oddity.NO_DUE_TIME),
        ([ATTEMPT, ("qr-due", None)], NOW, Oddity.NO_DUE_TIME),
        ([ATTEMPT, ("qr-due", b"-5")], NOW, Oddity.NO_DUE_TIME),
        ([ATTEMPT, ("qr-due", b"9" * 16)], NOW, Oddity.NO_DUE_TIME),
        ([ATTEMPT, ("qr-due", str(NOW + WEEK + 1).encode())], NOW, Oddity.BEYOND_RETENTION),
        ([ATTEMPT, ("qr-due", str(NOW + WEEK).encode())], NOW + WEEK, None),
        ([ATTEMPT, ("qr-due", b"0")], 0, None),
        ([("qr-due", b"5")], 5, Oddity.NO_ATTEMPT),
    ],
)
def test_a_damaged_due_time_is_now_and_never_holds_up_the_partition(headers: list[Header], due_ms: int, odd: Oddity | None) -> None:
    parked, oddities = read_parked(Message(headers), NOW, WEEK)
    assert parked.due_ms == due_ms
    assert oddities == ([] if odd is None else [odd])


def test_a_record_without_anything_is_odd_in_every_way_and_due_at_once() -> None:
    parked, odd = read_parked(Message(None, None, None), NOW, WEEK)
    assert odd == [Oddity.NO_DUE_TIME, Oddity.NO_KEY, Oddity.NO_VALUE, Oddity.NO_ATTEMPT]
    assert (parked.due_ms, parked.key, parked.value, parked.headers, parked.size) == (NOW, None, None, [], 0)


def test_of_a_time_that_comes_twice_the_first_readable_one_counts() -> None:
    headers: list[Header] = [(DUE, b"x"), (FIRST_FAILURE, b"3"), (DUE, b"7"), (DUE, b"8")]
    assert moment_ms(headers, DUE) == 7
    assert moment_ms(headers, FIRST_FAILURE) == 3
    assert moment_ms([], DUE) is None
