"""A place on the earth (RFC 5870)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

from processors.content_types.checks import decimal_of
from processors.content_types.declaration import Declaration, check, refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Geo:
    """A `geo:` URI in WGS 84."""

    DECLARED: ClassVar = Declaration(
        name="geo",
        summary="a place, by its coordinates",
        standard="RFC 5870 sections 3.3 and 3.4; coordinates in WGS 84",
        example={"latitude": 48.2010, "longitude": 16.3695, "altitude": 183},
        notes=(
            'A string keeps its digits (`"48.2010"`); a number is written as short as it can be.',
            "The query `?q=` that some map apps put behind it is not part of the standard; send such a text as `text`.",
        ),
    )

    latitude: Annotated[str | float, "degrees north, -90 to 90"]
    longitude: Annotated[str | float, "degrees east, -180 to 180"]
    altitude: Annotated[str | float | None, "metres above the ellipsoid"] = None
    uncertainty: Annotated[str | float | None, "metres by which the place may be off, 0 or more"] = None

    def content(self) -> str:
        """`geo:48.201,16.3695,183`. Raises RequestRefused (invalid_payload)."""
        check(self)
        place = [self._within("latitude", self.latitude, 90), self._within("longitude", self.longitude, 180)]
        if self.altitude is not None:
            place.append(decimal_of(self, "altitude", self.altitude))
        uri = "geo:" + ",".join(place)
        if self.uncertainty is not None:
            digits = decimal_of(self, "uncertainty", self.uncertainty)
            if digits.startswith("-"):
                raise refused(self, "uncertainty", "is negative; write 0 or more (RFC 5870 section 3.4.3)")
            uri += f";u={digits}"
        return uri

    def _within(self, field: str, value: str | float, most: int) -> str:
        digits = decimal_of(self, field, value)
        # `copy_abs` is exact; `abs` would round 90.000…01 to 90.
        if Decimal(digits).copy_abs() > most:
            raise refused(self, field, f"must be from -{most} to {most} degrees (RFC 5870 section 3.4.2)")
        return digits
