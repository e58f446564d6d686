"""Content types: exact texts of the standards' own examples, and what the standards refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from processors.content_types import CONTENT_TYPES, Epc, Wifi
from processors.content_types.declaration import Kind, fields_of
from processors.content_types.page import markdown
from processors.content_types.payload import content_of_payload
from processors.content_types.tlv import crc_16, taken_apart, with_crc
from processors.errors import RequestRefused

# EMVCo, merchant-presented mode, the specification's own example; lengths count characters, the CRC covers UTF-8.
EMV_EXAMPLE = (
    "00020101021229300012D156000000000510A93FO3230Q31280012D15600000001030812345678520441115802CN5914BEST TRANSPORT6007BEIJING"
    "64200002ZH0104最佳运输0202北京540523.7253031565502016233030412340603***0708A60086670902ME91320016A0112233449988770708123456786304A13A"
)
# Published by a charity in the documentation of a payment interface.
QRIS_EXAMPLE = (
    "00020101021126550016ID.CO.SHOPEE.WWW01189360091800000000180202180303UBE51440014ID.CO.QRIS.WWW0215ID20190022915550303UBE"
    "5204839853033605802ID5906Baznas6013Jakarta Pusat61051034062070703A016304A402"
)
# The manual of PIX (Banco Central do Brasil), static code with a random key.
PIX_EXAMPLE = (
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA"
    "62070503***63041D3D"
)
# PayMaya's specification: templates within additional data and an unreserved one.
PAYMAYA_EXAMPLE = (
    "00020101021226150011com.paymaya5204490053036085405390.85802PH5907Meralco6005Pasig62530110046649980150350020com.paymaya.billspay"
    "0107meralco80870015com.bayadcenter0105000010205MECOA0316046649980181013604260466499801812101361210260363041DB5"
)

EXAMPLES: list[tuple[dict[str, Any], str | bytes]] = [
    ({"type": "text", "text": " as it is \n"}, " as it is \n"),
    ({"type": "bytes", "base64": "AP+A"}, b"\x00\xff\x80"),
    # RFC 3986 section 1.1.2 and 5.4, RFC 3987 section 3.1.
    *(({"type": "url", "url": url}, url) for url in (
        "ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt", "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "mailto:John.Doe@example.com", "news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212", "telnet://192.0.2.16:80/",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2", "http://a/b/c/d;p?q", "http://résumé.example.org/Dürst%20%E9",
        "HTTP://user:pw@EXAMPLE.com:8042/over/there?name=ferret#nose", "https://example.com", "http://[v7.a:b]/", "file:///etc/hosts", "https://例え.jp/?q=\ue000",
    )),
    # RFC 3966 section 3 and 6.
    ({"type": "tel", "number": "+1-201-555-0123"}, "tel:+1-201-555-0123"),
    ({"type": "tel", "number": "7042", "context": "example.com"}, "tel:7042;phone-context=example.com"),
    ({"type": "tel", "number": "863-1234", "context": "+1-914-555"}, "tel:863-1234;phone-context=+1-914-555"),
    ({"type": "tel", "number": "*#06#", "context": "example.com"}, "tel:*%2306%23;phone-context=example.com"),
    ({"type": "tel", "number": "+1(201)555.0123", "extension": "12-3"}, "tel:+1(201)555.0123;ext=12-3"),
    # RFC 5724 section 2.3.
    ({"type": "sms", "numbers": "+15105550101"}, "sms:+15105550101"),
    ({"type": "sms", "numbers": ["+15105550101", "+15105550102"]}, "sms:+15105550101,+15105550102"),
    ({"type": "sms", "numbers": ["+15105550101"], "body": "hello there"}, "sms:+15105550101?body=hello%20there"),
    ({"type": "sms", "numbers": ["12345", "+1510"], "context": "+1", "body": "a+b&c?"}, "sms:12345;phone-context=+1,+1510?body=a%2Bb%26c%3F"),
    ({"type": "sms", "numbers": ["12345"], "form": "smsto", "body": "a: b; c"}, "SMSTO:12345:a: b; c"),
    ({"type": "sms", "numbers": ["+4930"], "form": "smsto"}, "SMSTO:+4930"),
    # RFC 5870 sections 6.1 and 6.2.
    ({"type": "geo", "latitude": 13.4125, "longitude": 103.8667}, "geo:13.4125,103.8667"),
    ({"type": "geo", "latitude": "48.2010", "longitude": "16.3695", "altitude": "183"}, "geo:48.2010,16.3695,183"),
    ({"type": "geo", "latitude": 66, "longitude": 30, "uncertainty": "6.500"}, "geo:66,30;u=6.500"),
    ({"type": "geo", "latitude": "90", "longitude": "-22.43", "uncertainty": 0}, "geo:90,-22.43;u=0"),
    ({"type": "geo", "latitude": 1e-7, "longitude": -180.0}, "geo:0.0000001,-180"),
    # RFC 6068 section 6.
    ({"type": "email", "to": "chris@example.com"}, "mailto:chris@example.com"),
    ({"type": "email", "to": "infobot@example.com", "subject": "current-issue"}, "mailto:infobot@example.com?subject=current-issue"),
    ({"type": "email", "to": "infobot@example.com", "body": "send current-issue\nsend index"}, "mailto:infobot@example.com?body=send%20current-issue%0D%0Asend%20index"),
    ({"type": "email", "to": ["joe@example.com"], "cc": ["bob@example.com"], "body": "hello"}, "mailto:joe@example.com?cc=bob@example.com&body=hello"),
    ({"type": "email", "to": "gorby%kremvax@example.com"}, "mailto:gorby%25kremvax@example.com"),
    ({"type": "email", "to": "unlikely?address@example.com"}, "mailto:unlikely%3Faddress@example.com"),
    ({"type": "email", "to": "Mike&family@example.org"}, "mailto:Mike%26family@example.org"),
    ({"type": "email", "to": '"not@me"@example.org'}, "mailto:%22not%40me%22@example.org"),
    ({"type": "email", "to": r'"oh\\no"@example.org'}, "mailto:%22oh%5C%5Cno%22@example.org"),
    ({"type": "email", "to": r'"\\\"it' + r"'s\ ugly\\\"" + '"@example.org'}, "mailto:%22%5C%5C%5C%22it's%5C%20ugly%5C%5C%5C%22%22@example.org"),
    ({"type": "email", "to": "user@example.org", "subject": "café", "body": "café"}, "mailto:user@example.org?subject=caf%C3%A9&body=caf%C3%A9"),
    ({"type": "email", "to": "user@納豆.example.org", "subject": "Test", "body": "NATTO"}, "mailto:user@%E7%B4%8D%E8%B1%86.example.org?subject=Test&body=NATTO"),
    ({"type": "email", "to": ["a+b@x.example", "c@y.example"], "bcc": ["d@z.example"], "subject": "1+1=2; or?"}, "mailto:a+b@x.example,c@y.example?bcc=d@z.example&subject=1%2B1%3D2%3B%20or%3F"),
    ({"type": "email", "subject": "no recipient"}, "mailto:?subject=no%20recipient"),
    # ZXing, Barcode Contents; WPA3 Specification section 7.1.
    ({"type": "wifi", "ssid": "mynetwork", "password": "mypass-8"}, "WIFI:T:WPA;S:mynetwork;P:mypass-8;;"),
    ({"type": "wifi", "ssid": '"foo;bar\\baz"', "security": "nopass"}, 'WIFI:T:nopass;S:\\"foo\\;bar\\\\baz\\";;'),
    ({"type": "wifi", "ssid": "ABCD", "password": "12345678"}, 'WIFI:T:WPA;S:"ABCD";P:12345678;;'),
    ({"type": "wifi", "ssid": "ABCD", "password": "12345678", "quote_hex": False}, "WIFI:T:WPA;S:ABCD;P:12345678;;"),
    ({"type": "wifi", "ssid": "ABCDG", "hidden": True, "password": "0123456789", "security": "WEP"}, "WIFI:T:WEP;S:ABCDG;H:true;P:0123456789;;"),
    ({"type": "wifi", "ssid": "x", "security": "SAE", "password": "ü", "transition_disable": "1", "password_id": "a:b"}, "WIFI:T:SAE;R:1;S:x;I:a\\:b;P:ü;;"),
    ({"type": "wifi", "ssid": "x", "password": "a2bc-de3f-ghi4", "public_key": "MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADURzxmttZoIRIPWGoQMV00XHWCAQIhXruVWOz0NjlkIA="}, "WIFI:T:WPA;S:x;P:a2bc-de3f-ghi4;K:MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADURzxmttZoIRIPWGoQMV00XHWCAQIhXruVWOz0NjlkIA=;;"),
    ({"type": "wifi", "ssid": "x", "security": "WPA2-EAP", "eap_method": "TTLS", "anonymous_identity": "anon", "identity": "me@x", "phase2_method": "MSCHAPV2", "password": "p"}, "WIFI:T:WPA2-EAP;S:x;E:TTLS;A:anon;I:me@x;PH2:MSCHAPV2;P:p;;"),
    ({"type": "wifi", "ssid": "guests"}, "WIFI:T:nopass;S:guests;;"),
    # RFC 2426 sections 3.1.2, 3.2.1, 3.5.5, 3.6.2 and 7.
    (
        {"type": "vcard", "name": "Mr. John Q. Public, Esq.", "family_name": "Public", "given_name": "John", "additional_names": "Quinlan", "prefix": "Mr.", "suffix": "Esq.",
         "organization": "ABC, Inc.", "department": "North American Division", "work_phones": "+1-213-555-1234", "emails": "jqpublic@xyz.dom1.com", "urls": "http://www.swbyps.restaurant.french/~chezchic.html",
         "street": "123 Main Street", "city": "Any Town", "region": "CA", "postal_code": "91921-1234", "birthday": "1996-04-15",
         "note": "This fax number is operational 0800 to 1715 EST, Mon-Fri.\nOr not; who knows \\ cares"},
        ("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Mr. John Q. Public\\, Esq.\r\nN:Public;John;Quinlan;Mr.;Esq.\r\nORG:ABC\\, Inc.;North American Division\r\n"
        "TEL;TYPE=WORK,VOICE:+1-213-555-1234\r\nEMAIL;TYPE=INTERNET:jqpublic@xyz.dom1.com\r\nURL:http://www.swbyps.restaurant.french/~chezchic.html\r\n"
        "ADR:;;123 Main Street;Any Town;CA;91921-1234;\r\nBDAY:1996-04-15\r\n"
        "NOTE:This fax number is operational 0800 to 1715 EST\\, Mon-Fri.\\nOr not\\; w\r\n ho knows \\\\ cares\r\nEND:VCARD\r\n"),
    ),
    ({"type": "vcard", "organization": "ACME"}, "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:ACME\r\nN:ACME;;;;\r\nORG:ACME\r\nEND:VCARD\r\n"),
    ({"type": "vcard", "given_name": "Ada", "family_name": "Lovelace"}, "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Lovelace\r\nN:Lovelace;Ada;;;\r\nEND:VCARD\r\n"),
    # EPC069-12 version 2.1, the two codes that it shows.
    (
        {"type": "epc", "version": "001", "bic": "BPOTBEB1", "name": "Red Cross of Belgium", "iban": "BE72000000001616", "amount": 1, "purpose": "CHAR", "text": "Urgency fund", "information": "Sample EPC QR code"},
        "BCD\n001\n1\nSCT\nBPOTBEB1\nRed Cross of Belgium\nBE72000000001616\nEUR1\nCHAR\n\nUrgency fund\nSample EPC QR code",
    ),
    (
        {"type": "epc", "version": "001", "bic": "BHBLDEHHXXX", "name": "Franz Mustermänn", "iban": "DE71110220330123456789", "amount": "12.3", "purpose": "GDDS", "reference": "RF18539007547034"},
        "BCD\n001\n1\nSCT\nBHBLDEHHXXX\nFranz Mustermänn\nDE71110220330123456789\nEUR12.3\nGDDS\nRF18539007547034",
    ),
    ({"type": "epc", "name": "Müller", "iban": "DE71110220330123456789", "character_set": "iso-8859-1"}, b"BCD\n002\n2\nSCT\n\nM\xfcller\nDE71110220330123456789"),
    # EMVCo and three of its national forms.
    ({"type": "emvco", "from_text": EMV_EXAMPLE}, EMV_EXAMPLE),
    ({"type": "emvco", "from_text": PIX_EXAMPLE}, PIX_EXAMPLE),
    (
        {"type": "emvco", "accounts": {"26": {"00": "com.paymaya"}}, "category": "4900", "currency": "608", "amount": "390.8", "country": "PH", "name": "Meralco", "city": "Pasig",
         "additional": {"50": {"00": "com.paymaya.billspay", "01": "meralco"}, "01": "0466499801"},
         "others": {"80": {"00": "com.bayadcenter", "01": "00001", "02": "MECOA", "03": "0466499801810136", "04": "04664998018121013612102603"}}},
        PAYMAYA_EXAMPLE,
    ),
    (
        {"type": "qris", "acquirer": "ID.CO.SHOPEE.WWW", "merchant_pan": "936009180000000018", "merchant_id": "18", "criteria": "UBE", "nmid": "ID2019002291555",
         "category": "8398", "name": "Baznas", "city": "Jakarta Pusat", "postal_code": "10340", "terminal": "A01"},
        QRIS_EXAMPLE,
    ),
]


@pytest.mark.parametrize(("payload", "content"), EXAMPLES)
def test_the_text_is_that_of_the_standards_own_example(payload: dict[str, Any], content: str | bytes) -> None:
    assert content_of_payload(payload) == content


def test_the_crc_has_the_check_value_of_its_catalogue() -> None:
    assert crc_16("123456789") == 0x29B1


def test_a_printed_qris_becomes_the_code_of_one_bill() -> None:
    dynamic = content_of_payload({"type": "emvco", "from_text": QRIS_EXAMPLE, "amount": 15000, "tip": "percent", "fee": "2.5", "additional": {"05": "INV-7"}})
    assert isinstance(dynamic, str)
    assert dynamic[:-4] == (
        QRIS_EXAMPLE[:-8].replace("010211", "010212").replace("5802ID", "54051500055020357032.55802ID").replace("62070703A01", "62160505INV-70703A01") + "6304"
    )
    assert content_of_payload({"type": "emvco", "from_text": dynamic}) == dynamic
    prompted = content_of_payload({"type": "emvco", "from_text": dynamic, "tip": "prompt"})
    assert isinstance(prompted, str)
    assert "57" not in taken_apart(prompted)
    assert taken_apart(prompted)["55"] == "01"


PIX = {"type": "emvco", "accounts": {"26": {"00": "br.gov.bcb.pix"}}, "category": "0000", "currency": "986", "country": "BR", "name": "F", "city": "B"}
CHECK_DIGITS_NEVER_MADE = ("DE00110220330000000056", "DE01110220330000000038", "DE99110220330000000020")
"""ISO 13616: 98 less a remainder is 02 to 98. Modulo 97 alone takes these for the accounts of 97, 98 and 02."""
EPC = {"type": "epc", "name": "N", "iban": "DE71110220330123456789"}
QRIS = {**CONTENT_TYPES["qris"].DECLARED.example, "type": "qris"}
WIFI = {"type": "wifi", "ssid": "x"}
EAP = {**WIFI, "security": "WPA2-EAP", "eap_method": "PEAP"}

REFUSED: list[tuple[Any, str]] = [
    # The payload itself.
    (None, "payload must be an object with a type and its members, not null"),
    (["wifi"], "payload must be an object with a type and its members, not an array"),
    ({}, "payload has no type; it is one of text, url, wifi"),
    ({"type": 7}, "payload type must be a string, not this number; it is one of text, url"),
    ({"type": "WiFi"}, "payload type 'WiFi' is not known; did you mean wifi?"),
    ({"type": "zzz"}, "payload type 'zzz' is not known; there are text, url, wifi, vcard, email, sms, tel, geo, epc, emvco, qris, bytes"),
    ({**WIFI, "pasword": "secret"}, "payload wifi has no member 'pasword'; did you mean password?"),
    ({"type": "tel", "number": "+1", "z": 1}, "payload tel has no member 'z'; there are number, context, extension"),
    ({"type": "wifi"}, "payload wifi has no ssid (the network's name, 1 to 32 bytes of UTF-8); add it"),
    ({"type": "wifi", "ssid": None}, "payload wifi, ssid: must be a string, not null"),
    ({"type": "wifi", "ssid": 1}, "payload wifi, ssid: must be a string, not this number"),
    ({**WIFI, "hidden": "true"}, "payload wifi, hidden: must be true or false, not this string"),
    ({"type": "sms", "numbers": [1]}, "payload sms, numbers: must be an array of strings"),
    ({"type": "sms", "numbers": {"a": "b"}}, "payload sms, numbers: must be an array of strings"),
    ({"type": "geo", "latitude": True, "longitude": 1}, "payload geo, latitude: must be a number, or a string of its digits, not true or false"),
    ({**PIX, "accounts": {"26": {"00": {"x": "y"}}}}, "payload emvco, accounts: must be an object of strings, or of objects of strings"),
    ({"type": "text", "text": ""}, "payload text, text: is empty; leave it out, or write what belongs there"),
    ({"type": "text", "text": "ab\ud800"}, "payload text, text: has an unpaired surrogate at character 3; repair the text"),
    ({"type": "text", "text": "x" * 7_090}, "text: and what is before it have 7,090 characters or more; no symbol holds more than 7,089; shorten it"),
    ({"type": "sms", "numbers": ["+1"] * 4_000}, "numbers 3545: and what is before it have 7,090 characters or more"),
    ({**PIX, "accounts": {"26": {"00": "x" * 8_000}}}, "accounts 26 00: and what is before it have 8,000 characters or more"),
    ({"type": "email", "to": ["a@x.example", ""]}, "payload email, to 2: is empty"),
    ({"type": "bytes", "base64": "eA"}, "payload bytes, base64: is not padded base64 of RFC 4648 section 4"),
    ({"type": "bytes", "base64": "ä"}, "payload bytes, base64: is not padded base64 of RFC 4648 section 4"),
    # RFC 3986 and 3987.
    *(({"type": "url", "url": url}, "url: has no scheme (RFC 3986 section 3.1); write https:// before it") for url in ("example.com", "example.com:80/x", "//example.com", "/menu", "1http://x", "h ttp://x", "?")),
    ({"type": "url", "url": "https:example.com"}, "url: has no host (RFC 9110 section 4.2); write https://example.com/..."),
    ({"type": "url", "url": "https://user@:80/"}, "url: has no host"),
    ({"type": "url", "url": "https://example.com/a b"}, "url: character 22 (U+0020) is not allowed in its path (RFC 3986 section 3); write %20"),
    ({"type": "url", "url": "https://exa mple.com/"}, "url: character 12 (U+0020) is not allowed in its host"),
    ({"type": "url", "url": "https://a@b@c/"}, "url: character 10 (U+0040) is not allowed in its user name (RFC 3986 section 3); write %40"),
    ({"type": "url", "url": "https://example.com/100%"}, "url: character 24 (U+0025) is not allowed in its path (RFC 3986 section 3); write % itself as %25"),
    ({"type": "url", "url": "https://example.com/?a=%zz"}, "url: character 24 (U+0025) is not allowed in its query"),
    ({"type": "url", "url": "https://example.com/#a#b"}, "url: character 23 (U+0023) is not allowed in its fragment (RFC 3986 section 3); write %23"),
    ({"type": "url", "url": "https://example.com/\n"}, "url: character 21 (U+000A) is not allowed in its path (RFC 3986 section 3); write %0A"),
    ({"type": "url", "url": "https://example.com/\ue000"}, "url: character 21 (U+E000) is not allowed in its path"),
    ({"type": "url", "url": "https://example.com/[1]"}, "url: character 21 (U+005B) is not allowed in its path"),
    ({"type": "url", "url": "https://example.com:http/"}, "url: character 21 (U+0068) is not allowed in its port (RFC 3986 section 3); a port has digits only"),
    ({"type": "url", "url": "https://example.com/\u202egnp.exe"}, "url: character 21 is U+202E, which turns the reading order (RFC 3987 section 4.1)"),
    *(({"type": "url", "url": url}, "url: has no IPv6 address between its brackets") for url in ("http://[1::2::3]/", "http://[::1", "http://[fe80::1%eth0]/", "http://[::1]x/")),
    # RFC 3966.
    ({"type": "tel", "number": "030 1234"}, "number: is no telephone number (RFC 3966 section 3): digits with - . ( ) between them, and no blanks"),
    ({"type": "tel", "number": "+1 201"}, "number: is no telephone number (RFC 3966 section 3): + and digits"),
    ({"type": "tel", "number": "+-"}, "number: is no telephone number"),
    ({"type": "tel", "number": "+1800FLOWERS"}, "number: is no telephone number"),
    ({"type": "tel", "number": "+1234567890123456"}, "number: has 16 digits; a global number has at most 15 (ITU-T E.164)"),
    ({"type": "tel", "number": "911"}, "number: is a local number; write it with + and the country code, or say with context"),
    ({"type": "tel", "number": "+1911", "context": "+1"}, "context: is for a local number"),
    ({"type": "tel", "number": "911", "context": "-x"}, "context: must be a domain or the beginning of a global number"),
    ({"type": "tel", "number": "911", "context": "+"}, "context: is no telephone number"),
    ({"type": "tel", "number": "+1911", "extension": "a"}, "extension: must be digits"),
    # RFC 5724.
    ({"type": "sms", "numbers": []}, "numbers: is empty; name at least one recipient"),
    ({"type": "sms", "numbers": ["+1911", "911"]}, "numbers 2: is a local number"),
    ({"type": "sms", "numbers": ["+1911"], "context": "+1"}, "context: is for a local number"),
    ({"type": "sms", "numbers": ["1"], "form": "mms"}, "form: must be one of sms, smsto"),
    ({"type": "sms", "numbers": ["1", "2"], "form": "smsto"}, "numbers: has several recipients; SMSTO takes one"),
    ({"type": "sms", "numbers": ["1"], "context": "+1", "form": "smsto"}, "context: cannot be said in SMSTO"),
    ({"type": "sms", "numbers": ["1:2"], "form": "smsto"}, "numbers 1: must be digits"),
    # RFC 5870.
    ({"type": "geo", "latitude": 90.5, "longitude": 0}, "latitude: must be from -90 to 90 degrees (RFC 5870 section 3.4.2)"),
    ({"type": "geo", "latitude": "90." + "0" * 40 + "1", "longitude": 0}, "latitude: must be from -90 to 90 degrees"),
    ({"type": "geo", "latitude": 0, "longitude": -181}, "longitude: must be from -180 to 180 degrees"),
    ({"type": "geo", "latitude": "48,2", "longitude": 16}, "latitude: is no decimal number; write digits with a point, such as 12.50"),
    ({"type": "geo", "latitude": "1e1", "longitude": 16}, "latitude: is no decimal number"),
    ({"type": "geo", "latitude": "٣", "longitude": 16}, "latitude: is no decimal number"),
    ({"type": "geo", "latitude": float("nan"), "longitude": 16}, "latitude: is no finite number"),
    ({"type": "geo", "latitude": 0, "longitude": 0, "altitude": 10**400}, "altitude: has too many digits"),
    ({"type": "geo", "latitude": 0, "longitude": 0, "uncertainty": -1}, "uncertainty: is negative"),
    # RFC 6068.
    ({"type": "email"}, "to: is missing, and everything else too"),
    *(({"type": "email", "to": address}, "to 1: is no e-mail address (RFC 5322 section 3.4.1)") for address in ("a", "@x.example", "a@", "a b@x.example", "A <a@x.example>", "a..b@x.example", "a@x.example,b@x.example", "a@x..example", '"a@x.example')),
    ({"type": "email", "to": "a" * 65 + "@x.example"}, "to 1: is too long: 64 bytes are taken before the @"),
    ({"type": "email", "to": "a@" + "x" * 256}, "to 1: is too long"),
    ({"type": "email", "cc": "x"}, "cc 1: is no e-mail address"),
    ({"type": "email", "to": "a@x.example", "subject": "a\r\nBcc: b@x.example"}, "subject: character 2 is U+000D, a control character"),
    ({"type": "email", "to": "a@x.example", "body": "a\rb"}, "body: has a carriage return without a line feed"),
    # WIFI:.
    ({"type": "wifi", "ssid": "ü" * 17}, "ssid: has 34 bytes of UTF-8; a network's name has at most 32"),
    ({"type": "wifi", "ssid": "a\x00"}, "ssid: character 2 is U+0000, a control character"),
    ({**WIFI, "password": "1234567"}, "password: must have 8 to 63 printable ASCII characters, or be 64 hexadecimal digits"),
    ({**WIFI, "password": "x" * 64}, "password: must have 8 to 63"),
    ({**WIFI, "password": "pässword"}, "password: must have 8 to 63"),
    ({**WIFI, "password": "1234", "security": "WEP"}, "password: must have 5, 13, 16 or 29 printable ASCII characters"),
    ({**WIFI, "security": "WPA"}, "password: is missing; security WPA needs one, nopass none"),
    ({**WIFI, "password": "12345678", "security": "nopass"}, "password: does not go with security nopass"),
    ({**WIFI, "security": "WPA3"}, "security: must be one of WPA, SAE, WEP, nopass, WPA2-EAP"),
    ({**WIFI, "identity": "me"}, "identity: does not go with security nopass"),
    ({**WIFI, "public_key": "AA=="}, "public_key: does not go with security nopass; leave it out, or choose WPA or SAE"),
    ({**WIFI, "password": "12345678", "transition_disable": "x"}, "transition_disable: must be hexadecimal digits"),
    ({**WIFI, "password": "12345678", "public_key": "-"}, "public_key: must be base64"),
    ({**WIFI, "security": "WPA2-EAP"}, "eap_method: is missing"),
    ({**EAP, "eap_method": "a;b"}, "eap_method: must be letters, digits, - and _"),
    ({**EAP, "phase2_method": "a;b"}, "phase2_method: must be letters, digits, - and _"),
    ({**EAP, "password_id": "x"}, "password_id: does not go with security WPA2-EAP"),
    # vCard.
    ({"type": "vcard", "emails": "a@x.example"}, "name: is missing; write a name"),
    ({"type": "vcard", "name": "a\x07"}, "name: has U+0007, a control character that no vCard may hold"),
    ({"type": "vcard", "organization": "a\x07"}, "organization: has U+0007, a control character that no vCard may hold"),
    ({"type": "vcard", "name": "a", "note": "a\rb"}, "note: has U+000D, a control character"),
    ({"type": "vcard", "name": "a", "emails": ["b"]}, "emails 1: is no e-mail address"),
    ({"type": "vcard", "name": "a", "urls": ["example.com"]}, "urls 1: has no scheme"),
    ({"type": "vcard", "name": "a", "department": "b"}, "department: needs the organization"),
    ({"type": "vcard", "name": "a", "birthday": "15.4.1996"}, "birthday: is no date; write it as 1815-12-10"),
    ({"type": "vcard", "name": "a", "birthday": "19960415"}, "birthday: is no date"),
    ({"type": "vcard", "name": "a", "birthday": "1996-02-30"}, "birthday: is no date"),
    # EPC069-12.
    ({**EPC, "iban": "DE71 1102 2033 0123 4567 89"}, "iban: must be an IBAN in capitals without blanks"),
    ({**EPC, "iban": "de71110220330123456789"}, "iban: must be an IBAN in capitals"),
    ({**EPC, "iban": "DE7111022033012345678"}, "iban: has 21 characters; an IBAN of DE has 22 (ISO 13616)"),
    ({**EPC, "iban": "DE71110220330123456798"}, "iban: has wrong check digits (ISO 13616, modulo 97)"),
    *(({**EPC, "iban": iban}, "iban: has wrong check digits (ISO 13616, modulo 97)") for iban in CHECK_DIGITS_NEVER_MADE),
    ({**EPC, "bic": "BPOTBEB"}, "bic: must be a BIC of 8 or 11 capitals and digits"),
    ({**EPC, "version": "001"}, "bic: is missing; version 001 needs it"),
    ({**EPC, "version": "1"}, "version: must be one of 002, 001"),
    ({**EPC, "character_set": "latin-1"}, "character_set: must be one of utf-8, iso-8859-1"),
    ({**EPC, "name": "N" * 71}, "name: has 71 characters; EPC069-12 takes at most 70; shorten it"),
    ({**EPC, "name": "張"}, "name: character 1 (U+5F35) is not in the character set utf-8 of a credit transfer"),
    ({**EPC, "name": "Müller", "character_set": "iso-8859-5"}, "name: character 2 (U+00FC) is not in the character set iso-8859-5"),
    ({**EPC, "name": "N\nDE"}, "name: character 2 is U+000A, a control character"),
    *(({**EPC, "amount": amount}, "amount: must be 0.01 to 999999999.99") for amount in ("1000000000", "12.345", "-1", "007", 1e10)),
    ({**EPC, "amount": "12,50"}, "amount: is no decimal number; write digits with a point, such as 12.50"),
    ({**EPC, "amount": "EUR12"}, "amount: is no decimal number"),
    ({**EPC, "amount": "0.00"}, "amount: is nothing; write 0.01 or more"),
    ({**EPC, "purpose": "CHARI"}, "purpose: must be 1 to 4 capitals or digits"),
    ({**EPC, "reference": "RF18539007547034", "text": "x"}, "text: excludes reference"),
    ({**EPC, "reference": "RF19539007547034"}, "reference: begins with RF, and is no creditor reference with right check digits"),
    ({**EPC, "reference": "RF18 5390 0754 7034"}, "reference: begins with RF"),
    ({**EPC, "reference": "ä"}, "reference: must be 1 to 35 of letters"),
    ({**EPC, "text": "t" * 141}, "text: has 141 characters; EPC069-12 takes at most 140"),
    ({**EPC, "name": "ä" * 70, "text": "ä" * 140}, "text: makes 462 bytes in all; EPC069-12 takes at most 331"),
    ({**EPC, "information": "i" * 71}, "information: has 71 characters"),
    # EMVCo.
    ({**PIX, "accounts": None}, "accounts: is missing; name at least one account to pay to"),
    *(({name: value for name, value in PIX.items() if name != field}, f"{field}: is missing; EMVCo has it (data object {identifier}) in every code") for field, identifier in (("category", "52"), ("currency", "53"), ("country", "58"), ("name", "59"), ("city", "60"))),
    ({**PIX, "accounts": {"26": {"01": "x"}}}, "accounts 26: has no data object 00, the globally unique identifier"),
    ({**PIX, "accounts": {"26": "x"}}, "accounts 26: must be an object of its data objects"),
    ({**PIX, "accounts": {"02": {"00": "x"}}}, "accounts 02: must be a string; templates have ids from 26 on"),
    ({**PIX, "accounts": {"52": "x"}}, "accounts: has an id that is not two digits from 02 to 51"),
    ({**PIX, "accounts": {"2": "x"}}, "accounts: has an id that is not two digits"),
    ({**PIX, "accounts": {"26": {"00": "x", "1": "y"}}}, "accounts 26: has an id that is not two digits from 00 to 99"),
    ({**PIX, "accounts": {"26": {"00": "x", "01": "x" * 100}}}, "accounts 26 01: has 100 characters; a data object takes at most 99"),
    ({**PIX, "accounts": {"26": {"00": "x" * 32, "01": "x" * 60}}}, "accounts 26: has 100 characters; a data object takes at most 99"),
    ({**PIX, "accounts": {"26": {"00": "x" * 33}}}, "accounts 26 00: has 33 characters; EMVCo takes at most 32"),
    ({**PIX, "accounts": {"26": {"00": "\u00e9"}}}, "accounts 26 00: must be printable ASCII"),
    ({**PIX, "accounts": {f"{number}": {"00": "x", "01": "x" * 85} for number in range(26, 32)}}, "accounts: and all else make"),
    ({**PIX, "category": "12"}, "category: must be 4 digits"),
    ({**PIX, "currency": "BRL"}, "currency: must be 3 digits (ISO 4217), such as 360"),
    ({**PIX, "country": "br"}, "country: must be 2 capitals"),
    ({**PIX, "name": "n" * 26}, "name: has 26 characters; EMVCo takes at most 25"),
    ({**PIX, "city": "São Paulo"}, "city: must be printable ASCII; other characters go into local"),
    ({**PIX, "postal_code": "1" * 11}, "postal_code: has 11 characters"),
    ({**PIX, "amount": "0.00"}, "amount: must be digits with at most one point, 13 characters at most, and more than 0"),
    ({**PIX, "amount": "12345678901234"}, "amount: must be digits"),
    ({**PIX, "amount": -1}, "amount: must be digits"),
    ({**PIX, "initiation": "13"}, "initiation: must be one of 11, 12"),
    ({**PIX, "tip": "some"}, "tip: must be one of prompt, fixed, percent"),
    ({**PIX, "tip": "fixed"}, "fee: goes with tip fixed or percent, and not with prompt"),
    ({**PIX, "tip": "prompt", "fee": 1}, "fee: goes with tip fixed or percent"),
    ({**PIX, "fee": 1}, "fee: needs tip"),
    ({**PIX, "tip": "percent", "fee": 100}, "fee: must be a percentage from 0.01 to 99.99"),
    ({**PIX, "additional": {"05": "x" * 26}}, "additional 05: has 26 characters; EMVCo takes at most 25"),
    ({**PIX, "additional": {"05": "é"}}, "additional 05: must be printable ASCII"),
    ({**PIX, "additional": {"09": "X"}}, "additional 09: must be one or more of A, M and E"),
    ({**PIX, "additional": {"05": {"00": "x"}}}, "additional 05: must be a string; templates have ids from 50 on"),
    ({**PIX, "additional": {"09": {"00": "A"}}}, "additional 09: must be a string; templates have ids from 50 on"),
    ({**PIX, "additional": {"50": "x"}}, "additional 50: must be an object of its data objects"),
    ({**PIX, "additional": {"00": "x"}}, "additional: has an id that is not two digits from 01 to 99"),
    ({**PIX, "additional": {"50": {"01": "x"}}}, "additional 50: has no data object 00"),
    ({**PIX, "local": {"01": "x"}}, "local: needs 00, the language"),
    ({**PIX, "local": {"00": "Chinese", "01": "x"}}, "local 00: must be two letters, such as ZH (ISO 639)"),
    ({**PIX, "local": {"00": "ZH", "01": "x" * 26}}, "local 01: has 26 characters; EMVCo takes at most 25"),
    ({**PIX, "local": {"00": "ZH", "01": "x", "02": "y" * 16}}, "local 02: has 16 characters; EMVCo takes at most 15"),
    ({**PIX, "local": {"00": "ZH", "01": {"00": "x"}}}, "local 01: must be a string; there are no templates here"),
    ({**PIX, "others": {"80": "x"}}, "others 80: must be an object of its data objects"),
    ({"type": "emvco", "from_text": QRIS_EXAMPLE[:-1] + "3"}, "from_text: has a wrong CRC; take it anew from the symbol"),
    ({"type": "emvco", "from_text": QRIS_EXAMPLE[:-8]}, "from_text: is no EMV QR code: it begins with 000201 and ends with its CRC"),
    ({"type": "emvco", "from_text": "000202" + QRIS_EXAMPLE[6:]}, "from_text: is no EMV QR code: it begins with 000201"),
    ({"type": "emvco", "from_text": "https://example.com"}, "from_text: is no EMV QR code: no data object begins at character 1"),
    ({"type": "emvco", "from_text": QRIS_EXAMPLE[:-1]}, "from_text: is no EMV QR code: data object 63 at character 188 does not have the length that it says"),
    ({"type": "emvco", "from_text": with_crc(QRIS_EXAMPLE[:-8] + "6308")}, "from_text: is no EMV QR code: it begins with 000201 and ends with its CRC"),
    ({"type": "emvco", "from_text": with_crc("0002016501\n")}, "from_text: character 11 is U+000A, a control character"),
    ({"type": "emvco", "from_text": "000201000201"}, "from_text: is no EMV QR code: data object 00 is there twice"),
    # QRIS.
    ({**QRIS, "merchant_pan": "1234"}, "merchant_pan: must be 9360 and 11 to 15 digits"),
    ({**QRIS, "nmid": "2019002291555"}, "nmid: must be ID and 13 digits"),
    ({**QRIS, "criteria": "XXX"}, "criteria: must be one of UMI, UKE, UME, UBE, URE, PSO, BLU"),
    ({**QRIS, "acquirer": "shopee"}, "acquirer: must be a name in capitals"),
    ({**QRIS, "merchant_id": "x" * 16}, "merchant_id: must be 1 to 15 letters and digits"),
    ({**QRIS, "postal_code": "1034"}, "postal_code: must be 5 digits"),
    ({**QRIS, "terminal": "x" * 26}, "terminal: must be 1 to 25 printable ASCII characters"),
    ({**QRIS, "name": "n" * 26}, "payload qris, name: has 26 characters"),
    ({**QRIS, "amount": 0}, "payload qris, amount: must be digits"),
]


@pytest.mark.parametrize(("payload", "says"), REFUSED)
def test_what_the_standard_refuses_is_refused_with_what_to_write(payload: Any, says: str) -> None:
    with pytest.raises(RequestRefused) as refusal:
        content_of_payload(payload)

    assert refusal.value.code == "invalid_payload"
    assert says in refusal.value.message
    assert "\n" not in refusal.value.message
    assert refusal.value.message.isascii()


@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_no_refusal_repeats_the_value_that_it_refuses(name: str) -> None:
    secret = "s3cr3t\x07\ud800"
    for field in fields_of(CONTENT_TYPES[name]):
        members = {**CONTENT_TYPES[name].DECLARED.example, field.name: {"26": {"00": secret}} if field.kind is Kind.OBJECTS else secret}
        with pytest.raises(RequestRefused) as refusal:
            content_of_payload({"type": name, **members})
        assert field.name in refusal.value.message
        assert "s3cr3t" not in refusal.value.message


@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_null_is_the_same_as_leaving_a_member_out_where_the_table_says_so(name: str) -> None:
    declared = CONTENT_TYPES[name]
    example = {"type": name, **declared.DECLARED.example}
    nulls = {field.name: None for field in fields_of(declared) if field.nullable and field.name not in example}
    assert content_of_payload({**nulls, **example}) == content_of_payload(example)


@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_a_mebibyte_is_refused_for_its_length_and_nothing_else(name: str) -> None:
    for field in fields_of(CONTENT_TYPES[name]):
        if field.kind in {Kind.TEXT, Kind.DECIMAL}:
            with pytest.raises(RequestRefused, match="no symbol holds more than 7,089"):
                content_of_payload({"type": name, **CONTENT_TYPES[name].DECLARED.example, field.name: "+" * (1 << 20)})


def test_a_type_used_from_python_checks_what_it_is_given() -> None:
    assert Wifi(ssid="Blue Door", password="milk;sugar").content() == "WIFI:T:WPA;S:Blue Door;P:milk\\;sugar;;"
    assert Epc(name="N", iban="DE71110220330123456789", amount=12.5).content() == "BCD\n002\n1\nSCT\n\nN\nDE71110220330123456789\nEUR12.5"
    with pytest.raises(RequestRefused, match="ssid: must be a string, not a bytes"):
        Wifi(ssid=b"x").content()  # type: ignore[arg-type]  # a wrong value on purpose
    with pytest.raises(TypeError):
        Wifi("x")  # type: ignore[call-arg]  # fields are given by name


@pytest.mark.parametrize("iban", ["DE97110220330000000056", "DE98110220330000000038", "DE02110220330000000020"])
def test_the_least_and_greatest_check_digits_of_an_iban_are_taken(iban: str) -> None:
    assert str(Epc(name="N", iban=iban).content()).endswith(iban)


def test_epc_fills_its_331_bytes_and_no_more() -> None:
    # 10 bytes of head, 11 line feeds, 22 of the IBAN, and what is left for 70 + 140 + 70 characters.
    full = Epc(name="N" * 70, iban="DE71110220330123456789", text="ä" * 63 + "t" * 77, information="i" * 15)
    filled = full.content()
    assert isinstance(filled, str)
    assert len(filled.encode()) == 331
    with pytest.raises(RequestRefused, match="makes 332 bytes"):
        Epc(name=full.name, iban=full.iban, text=full.text, information="i" * 16).content()


def test_the_page_is_what_the_declarations_say(repository: Path) -> None:
    page = (repository / "docs" / "content-types.md").read_text(encoding="utf-8")
    assert markdown() in page
    assert {f"## {name}" for name in CONTENT_TYPES} <= set(page.splitlines())
