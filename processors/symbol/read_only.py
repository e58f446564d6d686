"""What is made once and then only read."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

_Array = TypeVar("_Array", bound=np.ndarray[Any, Any])


def read_only(array: _Array) -> _Array:
    """Make an array unwritable and return it: threads and forked processes read it in common."""
    array.flags.writeable = False
    return array
