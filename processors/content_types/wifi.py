"""What a telephone needs to join a wireless network: `WIFI:`, as ZXing began it and the WPA3 specification has it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from processors.content_types.checks import check_choice, check_line, check_pattern
from processors.content_types.declaration import Declaration, check, refused

PERSONAL: Final = ("WPA", "SAE", "WEP", "nopass")
ENTERPRISE: Final = "WPA2-EAP"
_SECURITY: Final = (*PERSONAL, ENTERPRISE)

_ESCAPES: Final = str.maketrans({character: f"\\{character}" for character in '\\;,:"'})
_HEX: Final = re.compile(r"[0-9A-Fa-f]+")
_HEX_DIGITS: Final = re.compile(r"[0-9A-Fa-f]{1,16}")
_RAW_PSK: Final = re.compile(r"[0-9A-Fa-f]{64}")
_PASSPHRASE: Final = re.compile(r"[ -~]{8,63}")
_WEP: Final = re.compile(r"[ -~]{5}|[ -~]{13}|[ -~]{16}|[ -~]{29}|[0-9A-Fa-f]{10}|[0-9A-Fa-f]{26}|[0-9A-Fa-f]{32}|[0-9A-Fa-f]{58}")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_METHOD: Final = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_SSID: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Wifi:
    """A network's name and how to join it."""

    DECLARED: ClassVar = Declaration(
        name="wifi",
        summary="how to join a wireless network",
        standard="ZXing, Barcode Contents, Wi-Fi network config; Wi-Fi Alliance, WPA3 Specification section 7.1 (order, R, I, K); "
        "IEEE 802.11 section 9.4.2.2 and annex J.4 (lengths)",
        example={"ssid": "Blue Door", "password": "milk;sugar"},
        notes=(
            ("`security` WPA is WPA, WPA2 and WPA3 with a password, as the WPA3 specification has it; SAE is the spelling of Android "
            "for networks that have WPA3 only. Without it: WPA with a password, nopass without one."),
            ('The five characters `\\ ; , : "` get a backslash, which is what readers undo; the percent-encoding that the WPA3 '
            "specification allows instead is understood by few, and is never written."),
            ("A name of hexadecimal digits only is written in double quotes, so that it is not taken for bytes. Readers that show "
            "the quotes need `quote_hex` false."),
        ),
    )

    ssid: Annotated[str, "the network's name, 1 to 32 bytes of UTF-8"]
    password: Annotated[str | None, "WPA: 8 to 63 ASCII characters, or 64 hexadecimal digits; WEP: 5, 13, 16 or 29 characters, or 10, 26, 32 or 58 digits"] = None
    security: Annotated[str | None, "WPA, SAE, WEP, nopass or WPA2-EAP"] = None
    hidden: Annotated[bool, "the network does not tell its name"] = False
    transition_disable: Annotated[str | None, "WPA3: hexadecimal digits of what is switched off; 1 is WPA2"] = None
    password_id: Annotated[str | None, "WPA3: SAE password identifier"] = None
    public_key: Annotated[str | None, "WPA3: base64 of the public key of SAE-PK"] = None
    eap_method: Annotated[str | None, "WPA2-EAP: PEAP, TTLS, PWD, …"] = None
    identity: Annotated[str | None, "WPA2-EAP: user name"] = None
    anonymous_identity: Annotated[str | None, "WPA2-EAP: user name outside the tunnel"] = None
    phase2_method: Annotated[str | None, "WPA2-EAP: MSCHAPV2, …"] = None
    quote_hex: Annotated[bool, "put quotes round a name of hexadecimal digits only"] = True

    def content(self) -> str:
        """`WIFI:T:WPA;S:Blue Door;P:secret12;;`. Raises RequestRefused (invalid_payload)."""
        check(self)
        security = self.security or ("nopass" if self.password is None else "WPA")
        check_choice(self, "security", security, _SECURITY)
        if len(self.ssid.encode()) > _LONGEST_SSID:
            raise refused(self, "ssid", f"has {len(self.ssid.encode()):,} bytes of UTF-8; a network's name has at most {_LONGEST_SSID} (IEEE 802.11 section 9.4.2.2)")
        for field in ("ssid", "password", "password_id", "identity", "anonymous_identity"):
            if getattr(self, field) is not None:
                check_line(self, field, getattr(self, field))
        self._check_belongs(security)
        self._check_password(security)
        quoted = self.quote_hex and _HEX.fullmatch(self.ssid)
        # WPA3 Specification section 7.1: T, R, S, H, I, P, K; what ZXing has more stands before the password.
        members = (
            ("T", security),
            ("R", self.transition_disable),
            ("S", f'"{self.ssid}"' if quoted else _escaped(self.ssid)),
            ("H", "true" if self.hidden else None),
            ("E", self.eap_method),
            ("A", _escaped(self.anonymous_identity)),
            ("I", _escaped(self.identity or self.password_id)),
            ("PH2", self.phase2_method),
            ("P", _escaped(self.password)),
            ("K", self.public_key),
        )
        return "WIFI:" + "".join(f"{name}:{value};" for name, value in members if value is not None) + ";"

    def _check_belongs(self, security: str) -> None:
        """Refuse members that another kind of security has, and ask for those that this one needs."""
        enterprise = ("eap_method", "identity", "anonymous_identity", "phase2_method")
        wpa3 = ("transition_disable", "password_id", "public_key")
        for field in enterprise if security != ENTERPRISE else wpa3:
            if getattr(self, field) is not None:
                raise refused(self, field, f"does not go with security {security}; leave it out, or choose another")
        for field in wpa3 if security in {"WEP", "nopass"} else ():
            if getattr(self, field) is not None:
                raise refused(self, field, f"does not go with security {security}; leave it out, or choose WPA or SAE")
        if security == ENTERPRISE:
            if self.eap_method is None:
                raise refused(self, "eap_method", "is missing; WPA2-EAP needs it, such as PEAP or TTLS")
            check_pattern(self, "eap_method", self.eap_method, _METHOD, "letters, digits, - and _")
            if self.phase2_method is not None:
                check_pattern(self, "phase2_method", self.phase2_method, _METHOD, "letters, digits, - and _")
        if self.transition_disable is not None:
            check_pattern(self, "transition_disable", self.transition_disable, _HEX_DIGITS, "hexadecimal digits, such as 1")
        if self.public_key is not None:
            check_pattern(self, "public_key", self.public_key, _BASE64, "base64 (RFC 4648 section 4)")

    def _check_password(self, security: str) -> None:
        if security == "nopass":
            if self.password is not None:
                raise refused(self, "password", "does not go with security nopass; leave one of them out")
            return
        if self.password is None:
            if security != ENTERPRISE:
                raise refused(self, "password", f"is missing; security {security} needs one, nopass none")
        elif security == "WPA" and not (_PASSPHRASE.fullmatch(self.password) or _RAW_PSK.fullmatch(self.password)):
            raise refused(self, "password", "must have 8 to 63 printable ASCII characters, or be 64 hexadecimal digits (IEEE 802.11 annex J.4); SAE takes others")
        elif security == "WEP" and not _WEP.fullmatch(self.password):
            raise refused(self, "password", "must have 5, 13, 16 or 29 printable ASCII characters, or 10, 26, 32 or 58 hexadecimal digits, to be a WEP key")


def _escaped(text: str | None) -> str | None:
    return None if text is None else text.translate(_ESCAPES)
