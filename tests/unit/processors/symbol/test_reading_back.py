"""Whatever is encoded is read back by zxing-cpp, which shares no code with ours."""

from __future__ import annotations

import numpy as np
import zxingcpp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.spec import RenderSpec
from processors.symbol import make_symbol, mask_penalties, mode_of

QR_CODE = zxingcpp.BarcodeFormats((zxingcpp.BarcodeFormat.QRCode,))
CONTENTS = st.one_of(
    st.binary(min_size=1, max_size=200),
    st.text(min_size=1, max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text("0123456789", min_size=1, max_size=300).map(str.encode),
    st.text("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:", min_size=1, max_size=250).map(str.encode),
    st.integers(1, 1273).map(lambda length: b"\xa5" * length),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=CONTENTS, level=st.sampled_from("lmqh"), boost=st.booleans())
def test_every_symbol_reads_back_to_its_content(content: bytes, level: str, boost: bool) -> None:
    spec = RenderSpec(content, "png", level, boost, 8, None, 4, "#000000", "#ffffff", "qr-0")
    symbol = make_symbol(spec)
    found = zxingcpp.read_barcode(np.where(symbol.modules, 0, 255).astype(np.uint8), formats=QR_CODE, is_pure=True)

    assert found is not None
    assert found.bytes == content
    assert found.ec_level.lower() == symbol.error_correction
    assert "lmqh".index(symbol.error_correction) >= "lmqh".index(level)
    assert boost or symbol.error_correction == level
    assert symbol.modules.shape == (17 + 4 * symbol.version,) * 2
    assert symbol.modules.flags.c_contiguous
    assert symbol.modules.dtype == np.uint8
    assert set(np.unique(symbol.modules)) == {0, 1}
    totals = [penalty.total for penalty in mask_penalties(spec)]
    assert symbol.mask == totals.index(min(totals))
    assert mode_of(content) in {"numeric", "alphanumeric", "byte"}
