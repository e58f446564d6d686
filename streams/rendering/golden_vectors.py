"""The golden vectors of every frozen profile, made again before a worker renders."""

from __future__ import annotations

from importlib.resources import files

from processors import golden


def check_all() -> int:
    """Make the vectors that are in the package again; how many there are.

    Raises:
        OtherBytes: this installation does not make what a profile has fixed.
    """
    return sum(golden.check(profile, (files("processors") / "vectors" / golden.file_name(profile)).read_bytes()) for profile in golden.PINNED)
