"""Characters, port bytes, initialisation and reading back against the literal vectors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.hd44780 import codec
from tests.drivers.hd44780.lcd import VECTORS, Lcd, transactions

HEX = bytes.fromhex


def test_the_initialisation_is_the_page_s_and_waits_long_enough() -> None:
    assert len(codec.INIT_STEPS) == len(VECTORS["step"])
    for step, vector in zip(codec.INIT_STEPS, VECTORS["step"], strict=True):
        assert transactions(step.ops) == vector["transactions"]
        assert step.wait_us >= vector["wait_us"]


@pytest.mark.parametrize("vector", VECTORS["write"], ids=lambda v: v["name"])
def test_text_as_port_bytes(vector: dict[str, Any]) -> None:
    codes = HEX(vector["codes"])
    encoded, fault = codec.encode_line(vector["text"])
    assert encoded == codes.ljust(20)
    assert fault is None
    ops = codec.write_ops(int(vector["address"], 16), codes)
    assert transactions(ops) == vector["transactions"]


@pytest.mark.parametrize("vector", VECTORS["read"], ids=lambda v: v["name"])
def test_reading_back(vector: dict[str, Any]) -> None:
    address = int(vector["address"], 16)
    data = tuple(bytes((value,)) for value in HEX(vector["port"]))
    if vector["kind"] == "glyph":
        assert transactions(codec.read_glyph_ops(address // 8)) == vector["transactions"]
        assert codec.bytes_read(data) == HEX(vector["codes"])
        assert codec.glyph_matches(data, address // 8)
        assert not codec.glyph_matches(data, address // 8 + 1)
    elif vector.get("fault"):
        assert not codec.text_matches(data, address, HEX(vector["expected"]))
    else:
        ops = codec.read_text_ops(address, vector["count"])
        assert transactions(ops) == vector["transactions"]
        assert codec.bytes_read(data) == HEX(vector["codes"] + vector["counter"])
        assert codec.text_matches(data, address, HEX(vector["codes"]))


def test_the_glyphs_are_the_page_s_glyphs() -> None:
    assert [
        (f"{code:02X}", character, rows.hex(" ").upper())
        for code, (character, rows) in enumerate(codec.GLYPHS)
    ] == [(v["code"], v["character"], v["rows"]) for v in VECTORS["glyph"]]


@pytest.mark.parametrize("vector", VECTORS["character"] + VECTORS["glyph"], ids=lambda v: v["code"])
def test_a_character_has_its_code(vector: dict[str, Any]) -> None:
    assert codec.encode_line(vector["character"])[0][0] == int(vector["code"], 16)


def test_every_printable_ascii_character_shows_as_itself() -> None:
    for code in range(0x20, 0x7F):
        codes, _ = codec.encode_line(chr(code))
        assert codec.decode_line(codes)[0] == chr(code)
    assert codec.encode_line("\\")[0][0] == 6  # the ROM has a yen sign there
    assert codec.encode_line("~")[0][0] == 7


def test_a_line_too_long_is_cut_and_says_so() -> None:
    codes, fault = codec.encode_line("SEAT 3   PAY 1234567.00")
    assert codec.decode_line(codes) == "SEAT 3   PAY 123456>"
    assert fault is not None
    assert fault.code == "E-DSP-014"


@given(st.text(max_size=60))
def test_any_text_is_twenty_codes_the_display_has(text: str) -> None:
    codes, fault = codec.encode_line(text)
    assert len(codes) == 20
    assert all(code < 8 or 0x20 <= code < 0x7E for code in codes)
    assert (fault is not None) == (len(text) > 20)


@given(st.lists(st.binary(max_size=2), max_size=30).map(tuple), st.binary(min_size=5, max_size=5))
def test_any_reading_is_judged_without_an_exception(data: tuple[bytes, ...], codes: bytes) -> None:
    read = codec.bytes_read(data)
    assert codec.text_matches(data, 0, codes) == (read == codes + b"\x05")
    assert isinstance(codec.glyph_matches(data, 0), bool)


def initialised(lcd: Lcd) -> Lcd:
    now_us = lcd.now_us + 50_000
    for step in codec.INIT_STEPS:
        lcd.run(step.ops, now_us)
        now_us = lcd.now_us + step.wait_us
    return lcd


@pytest.mark.parametrize("vector", VECTORS["recovery"], ids=lambda v: v["name"])
def test_the_initialisation_recovers_from(vector: dict[str, Any]) -> None:
    pending = int(vector["pending"], 16) if "pending" in vector else None
    lcd = Lcd(mode=vector["mode"], pending=pending, second=pending is not None)
    initialised(lcd)
    assert (lcd.mode, lcd.pending, lcd.second, lcd.lines, lcd.on) == (4, None, False, 2, True)
    assert bytes(lcd.cgram) == b"".join(HEX(v["rows"]) for v in VECTORS["glyph"])
    assert lcd.lost_pulses == 0


def test_the_initialisation_recovers_from_any_nibble_phase() -> None:
    for pending in (None, *range(16)):
        for mode in (4, 8):
            lcd = Lcd(mode=mode, pending=pending if mode == 4 else None)
            lcd.second = lcd.pending is not None
            lcd.ddram[0x40] = 0x58
            initialised(lcd)
            assert (lcd.mode, lcd.pending, lcd.lines) == (4, None, 2)
            assert lcd.ddram == {}
            assert lcd.lost_pulses == 0


def test_a_shorter_initialisation_would_not_recover() -> None:
    """The test above can fail: without the second and third nibble a half-sent byte stays."""
    lcd = Lcd(mode=4, pending=0x0, second=True)
    lcd.run(codec.INIT_STEPS[0].ops, 0)
    lcd.run(codec.INIT_STEPS[2].ops, 10_000)
    assert (lcd.mode, lcd.pending, lcd.lines) != (4, None, 2)
