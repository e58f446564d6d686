"""QR Code symbols of one segment in numeric, alphanumeric or byte mode (ISO/IEC 18004:2015).

Module for module what segno 1.6.6 makes when called with the same mode, which includes where
it deviates from the standard (`bit_stream`, `penalties`).
"""

from processors.symbol.capacity import CAPACITY
from processors.symbol.encode import make_symbol, mask_penalties
from processors.symbol.modes import mode_of
from processors.symbol.penalties import MaskPenalty
from processors.symbol.plan import forget_plans
from processors.symbol.symbol import Symbol

__all__ = ["CAPACITY", "MaskPenalty", "Symbol", "forget_plans", "make_symbol", "mask_penalties", "mode_of"]
