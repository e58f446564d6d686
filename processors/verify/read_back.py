"""The decoder: zxing-cpp, on one pixel a module without border."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import zxingcpp

if TYPE_CHECKING:
    from numpy.typing import NDArray

DECODER: Final = "zxing-cpp/3.1.1"
BLACK_ON_WHITE: Final = (0, 255)
_QR_CODE: Final = zxingcpp.BarcodeFormats((zxingcpp.BarcodeFormat.QRCode,))


def read_back(modules: NDArray[np.uint8], brightness: tuple[int, int]) -> bytes | None:
    """Return the bytes that a symbol says, or None where nothing can be read.

    modules: n x n, 1 is dark. brightness: 0 to 255 of the dark and of the light modules, which
    the decoder tells apart as it does in a photograph.

    The image is shown as it is, `is_pure`: a general search takes four to ten times as long, and
    what it would find out (where the symbol is, which way up) is known.
    """
    image = _shown(modules, brightness)
    side = len(image)
    # An ImageView spares the reader's probing for the kinds of image it knows, a fifth of a small symbol's time.
    barcode = zxingcpp.read_barcode(
        zxingcpp.ImageView(image, side, side, zxingcpp.ImageFormat.Lum),
        formats=_QR_CODE,
        is_pure=True,
        try_rotate=False,
        try_downscale=False,
        try_invert=False,
        text_mode=zxingcpp.TextMode.Plain,
        binarizer=zxingcpp.Binarizer.GlobalHistogram,
    )
    return bytes(barcode.bytes) if barcode is not None and barcode.valid else None


def _shown(modules: NDArray[np.uint8], brightness: tuple[int, int]) -> NDArray[np.uint8]:
    if brightness == BLACK_ON_WHITE:
        return modules - np.uint8(1)  # 1 becomes 0, and 0 wraps to 255
    dark, light = brightness
    return np.array((light, dark), np.uint8)[modules]
