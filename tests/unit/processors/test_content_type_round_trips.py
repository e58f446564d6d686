"""Escaping loses nothing: what a content type writes is read back by small parsers that share no code with it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, unquote

import numpy as np
import pytest
import zxingcpp
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.canonical import identify
from processors.content_types import CONTENT_TYPES, Email, Emvco, Epc, Geo, Sms, Tel, Text, Vcard, Wifi
from processors.content_types.page import example_payload
from processors.content_types.payload import content_of_payload
from processors.spec import OutputFields, normalise, output_fields
from processors.symbol import make_symbol
from schemas.events import RenderRequested

# What UTF-8 can hold, with what each escape is about drawn often; lines and controls where a type takes them.
PRINTABLE = st.text(st.one_of(st.sampled_from('\\;,:"%&?=#+ N n'), st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))), min_size=1, max_size=12)
LINES = st.lists(PRINTABLE, min_size=1, max_size=3).map("\n".join)
ROUNDS = settings(deadline=None, max_examples=60)


def split_unescaped(text: str, separator: str) -> list[str]:
    """Pieces between separators that no backslash precedes; escapes stay."""
    pieces, piece, escaped = [], "", False
    for character in text:
        if character == separator and not escaped:
            pieces.append(piece)
            piece = ""
            continue
        piece += character
        escaped = character == "\\" and not escaped
    return [*pieces, piece]


def read_wifi(text: str) -> dict[str, str]:
    """As ZXing reads it: fields end at a bare semicolon, a backslash takes the next character, quotes are no part."""
    assert text.startswith("WIFI:")
    assert text.endswith(";;")
    members = {}
    for field in split_unescaped(text[5:-2], ";"):
        name, _, value = field.partition(":")
        bare = value[1:-1] if value.startswith('"') and value.endswith('"') else value
        members[name] = re.sub(r"\\(.)", r"\1", bare)
    return members


@ROUNDS
@given(PRINTABLE.filter(lambda text: len(text.encode()) <= 32), PRINTABLE, PRINTABLE, st.booleans())
def test_a_networks_names_and_password_are_read_back(ssid: str, password: str, identifier: str, hidden: bool) -> None:
    read = read_wifi(Wifi(ssid=ssid, password=password, security="SAE", password_id=identifier, hidden=hidden).content())
    assert read == {"T": "SAE", "S": ssid, "P": password, "I": identifier, **({"H": "true"} if hidden else {})}


@ROUNDS
@given(st.text("0123456789abcdefABCDEF", min_size=1, max_size=32))
def test_a_name_of_hexadecimal_digits_is_quoted_and_read_back(ssid: str) -> None:
    content = Wifi(ssid=ssid).content()
    assert content == f'WIFI:T:nopass;S:"{ssid}";;'
    assert read_wifi(content)["S"] == ssid


def read_vcard(text: str) -> list[tuple[str, list[str]]]:
    """RFC 2425: unfold, take name and value apart, split at bare semicolons, undo escapes."""
    lines = text.replace("\r\n ", "").split("\r\n")
    assert lines[:2] == ["BEGIN:VCARD", "VERSION:3.0"]
    assert lines[-2:] == ["END:VCARD", ""]
    pairs = [line.partition(":")[::2] for line in lines[2:-2]]
    return [(name, [re.sub(r"\\(.)", _vcard_escape, part) for part in split_unescaped(value, ";")]) for name, value in pairs]


def _vcard_escape(found: re.Match[str]) -> str:
    return "\n" if found[1] in "nN" else found[1]


@ROUNDS
@given(LINES, LINES, st.lists(PRINTABLE, max_size=2), PRINTABLE, LINES, LINES)
def test_a_vcard_is_read_back(name: str, family: str, phones: list[str], city: str, organization: str, note: str) -> None:
    content = Vcard(name=name, family_name=family, mobile_phones=tuple(phones), city=city, organization=organization, note=note).content()
    assert read_vcard(content) == [
        ("FN", [name]), ("N", [family, "", "", "", ""]), ("ORG", [organization]), *(("TEL;TYPE=CELL", [phone]) for phone in phones),
        ("ADR", ["", "", "", city, "", "", ""]), ("NOTE", [note]),
    ]
    assert max(map(len, content.encode().split(b"\r\n"))) <= 75


@ROUNDS
@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=76, max_size=400))
def test_a_long_line_is_folded_at_75_bytes_and_never_within_a_character(note: str) -> None:
    lines = Vcard(name="a", note=note).content().encode().split(b"\r\n")
    folded = lines[4:-2]
    assert all(line.startswith(b" ") for line in folded[1:])
    # The next character, of up to 4 bytes, did not fit.
    assert all(72 <= len(line) <= 75 for line in folded[:-1])
    assert b"".join([folded[0], *(line[1:] for line in folded[1:])]).decode() == "NOTE:" + note.replace("\\", "\\\\").replace(",", "\\,").replace(";", "\\;")


LOCAL_PARTS = st.text("abcXYZ019!#$%&'*+/=?^_`{|}~-ü帅", min_size=1, max_size=8)
ADDRESSES = st.tuples(LOCAL_PARTS, st.sampled_from(["example.com", "bücher.example", "[192.0.2.1]"])).map("@".join)


@ROUNDS
@given(st.lists(ADDRESSES, min_size=1, max_size=3), st.lists(ADDRESSES, max_size=2), PRINTABLE, LINES)
def test_an_email_is_read_back(to: list[str], cc: list[str], subject: str, body: str) -> None:
    content = Email(to=tuple(to), cc=tuple(cc), subject=subject, body=body).content()
    assert content.isascii()
    scheme, _, rest = content.partition(":")
    path, _, query = rest.partition("?")
    assert scheme == "mailto"
    assert [unquote(address) for address in path.split(",")] == to
    # As a form would read it too: no plus is left to become a blank.
    read = dict(parse_qsl(query, strict_parsing=True, keep_blank_values=True, separator="&"))
    assert read == {**({"cc": ",".join(cc).replace("+", " ")} if cc else {}), "subject": subject, "body": body.replace("\n", "\r\n")}


@ROUNDS
@given(LINES)
def test_a_short_message_is_read_back(body: str) -> None:
    assert unquote(Sms(numbers=("+15105550101",), body=body).content().removeprefix("sms:+15105550101?body=")) == body
    assert Sms(numbers=("12345",), form="smsto", body=body).content().split(":", 2) == ["SMSTO", "12345", body]


@ROUNDS
@given(st.text("0123456789-.()", max_size=10), st.text("0123456789", min_size=1, max_size=5))
def test_a_number_is_read_back_with_its_separators(visual: str, extension: str) -> None:
    number = f"+1{visual}"
    assert Tel(number=number, extension=extension).content().removeprefix("tel:").split(";ext=") == [number, extension]


@ROUNDS
@given(st.floats(-90, 90), st.floats(-180, 180), st.floats(-1e12, 1e12), st.floats(0, 1e9))
def test_coordinates_are_read_back_as_the_same_numbers(latitude: float, longitude: float, altitude: float, uncertainty: float) -> None:
    content = Geo(latitude=latitude, longitude=longitude, altitude=altitude, uncertainty=uncertainty).content()
    matched = re.fullmatch(r"geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?);u=(\d+(?:\.\d+)?)", content)
    assert matched
    assert tuple(map(float, matched.groups())) == (latitude, longitude, altitude, uncertainty)


LATIN = st.text("abcABC 0123äöüßéčłŠžβΩДжя€'+,-.()/?:", min_size=1, max_size=40).filter(lambda text: len(text.encode()) < 70)


@ROUNDS
@given(LATIN, LATIN, LATIN, st.integers(1, 99_999_999_999))
def test_a_transfer_is_read_back_line_by_line(name: str, text: str, information: str, cents: int) -> None:
    amount = f"{cents // 100}.{cents % 100:02d}"
    content = Epc(name=name, iban="DE71110220330123456789", amount=amount, text=text, information=information).content()
    assert isinstance(content, str)
    assert content.split("\n") == ["BCD", "002", "1", "SCT", "", name, "DE71110220330123456789", f"EUR{amount}", "", "", text, information]


@ROUNDS
@given(st.integers(1_000, 10**33), st.sampled_from(["NO", "XX"]))
def test_an_iban_with_any_one_character_changed_is_refused(account: int, country: str) -> None:
    digits = f"{account:011d}"[:11]
    check_digits = 98 - int(digits + "".join(str(ord(letter) - 55) for letter in country) + "00") % 97
    iban = f"{country}{check_digits:02d}{digits}"
    assert str(Epc(name="N", iban=iban).content()).splitlines()[6] == iban
    for place in range(4, len(iban)):
        wrong = iban[:place] + str((int(iban[place]) + 1) % 10) + iban[place + 1 :]
        with pytest.raises(Exception, match="wrong check digits"):
            Epc(name="N", iban=wrong).content()


def crc_16_bit_by_bit(data: bytes) -> int:
    register = 0xFFFF
    for byte in data:
        for bit in range(8):
            top = register >> 15 ^ byte >> (7 - bit) & 1
            register = (register << 1 ^ (0x1021 if top else 0)) & 0xFFFF
    return register


def read_emv(text: str) -> dict[str, str]:
    members = {}
    while text:
        length = int(text[2:4])
        members[text[:2]] = text[4 : 4 + length]
        text = text[4 + length :]
    return members


ANS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=15)


@ROUNDS
@given(ANS, ANS, ANS, PRINTABLE, st.integers(1, 10**9))
def test_a_merchants_code_is_read_back_object_by_object(name: str, city: str, bill: str, local: str, amount: int) -> None:
    text = Emvco(
        accounts={"26": {"00": "br.gov.bcb.pix", "25": local}, "02": "4111111111111111"}, category="0000", currency="986", country="BR", name=name, city=city,
        amount=amount, additional={"01": bill}, local={"00": "PT", "01": local},
    ).content()
    read = read_emv(text)
    assert list(read) == ["00", "01", "02", "26", "52", "53", "54", "58", "59", "60", "62", "64", "63"]
    assert int(read["63"], 16) == crc_16_bit_by_bit(text[:-4].encode())
    assert (read["01"], read["02"], read["54"], read["59"], read["60"]) == ("12", "4111111111111111", str(amount), name, city)
    assert (read_emv(read["26"]), read_emv(read["62"]), read_emv(read["64"])) == ({"00": "br.gov.bcb.pix", "25": local}, {"01": bill}, {"00": "PT", "01": local})


@ROUNDS
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_text_is_itself(text: str) -> None:
    assert Text(text=text).content() == text


@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_the_symbol_of_every_types_example_says_its_text(name: str) -> None:
    content = content_of_payload(example_payload(CONTENT_TYPES[name]))
    spec = normalise(OutputFields(*output_fields(RenderRequested(request_id="r", content=content, requested_at=0))))
    modules = make_symbol(spec).modules
    image = np.kron(np.pad(1 - modules, 4, constant_values=1), np.ones((4, 4), np.uint8)).astype(np.uint8) * 255
    [barcode] = zxingcpp.read_barcodes(image)
    wanted = content if isinstance(content, bytes) else content.encode()
    assert bytes(barcode.bytes) == wanted
    assert barcode.content_type == (zxingcpp.ContentType.Binary if name == "bytes" else zxingcpp.ContentType.Text)


def test_a_payload_has_the_content_hash_of_its_text() -> None:
    for declared in CONTENT_TYPES.values():
        made: Any = content_of_payload(example_payload(declared))
        same = made if isinstance(made, bytes) else made.encode()
        assert identify(RenderRequested(request_id="r", content=made, requested_at=0))[1] == identify(RenderRequested(request_id="r", content=same, requested_at=0))[1]
