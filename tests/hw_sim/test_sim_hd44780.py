"""The simulated prompt against the vectors: port bytes in, port bytes out, and what is read."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_sim.bus import Bus
from hw_sim.clock import Clock
from hw_sim.devices.fonts import GLYPHS
from hw_sim.devices.hd44780 import Hd44780

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "vectors" / "hd44780.toml").read_text("utf-8")
)
READS = {read["name"]: read for read in VECTORS["read"]}
GOOD_READS = [read for read in VECTORS["read"] if "fault" not in read]
FIVE = READS["five characters of line 1"]
LINE_1 = {0x00: 0, 0x40: 1, 0x14: 2, 0x54: 3}


def play(display: Hd44780, transactions: Iterable[str]) -> bytes:
    """The host's transactions; the port bytes it read."""
    port = b""
    for transaction in transactions:
        what, *rest = transaction.split()
        if what == "w":
            display.write(bytes.fromhex("".join(rest)))
        else:
            port += display.read(1)
    return port


def byte_out(byte: int, rs: int) -> bytes:
    nibbles = (byte & 0xF0, byte << 4 & 0xF0)
    return b"".join(bytes((n | 0x0C | rs, n | 0x08 | rs)) for n in nibbles)


def put(display: Hd44780, address: int, codes: bytes) -> None:
    display.write(byte_out(0x80 | address, 0) + b"".join(byte_out(c, 1) for c in codes))


def initialise(display: Hd44780) -> None:
    for step in VECTORS["step"]:
        play(display, step["transactions"])


def ready(seed: int = 1) -> Hd44780:
    display = Hd44780(random.Random(seed))
    initialise(display)
    return display


# --- vectors -----------------------------------------------------------------------------------


def test_the_initialisation_gives_a_blank_lit_display_with_the_glyphs() -> None:
    display = ready()
    board = display.controller
    assert (board.eight_bit, board.two_lines, board.on, board.cursor) == (False, True, True, False)
    assert (board.step, board.shift_on_write, display.pending) == (1, False, None)
    assert display.lines() == [" " * 20] * 4
    assert display.backlight
    assert bytes(board.cgram).hex(" ").upper() == " ".join(g["rows"] for g in VECTORS["glyph"])


@pytest.mark.parametrize("glyph", VECTORS["glyph"], ids=lambda g: g["character"])
def test_a_glyph_is_recognised_by_its_bitmap(glyph: dict[str, str]) -> None:
    assert GLYPHS[bytes.fromhex(glyph["rows"])] == glyph["character"]
    display = ready()
    put(display, 0x40, bytes.fromhex(glyph["code"]) + bytes((int(glyph["code"], 16) + 8,)))
    assert display.lines()[1] == (2 * glyph["character"]).ljust(20)


@pytest.mark.parametrize("write", VECTORS["write"], ids=lambda w: w["name"])
def test_a_write_is_read_by_a_person(write: dict[str, Any]) -> None:
    display = ready()
    play(display, write["transactions"])
    address, text = int(write["address"], 16), write["text"]
    codes = bytes.fromhex(write["codes"])
    for offset, code in enumerate(codes):
        assert display.controller.ddram[address + offset] == code
    start = max(a for a in LINE_1 if a <= address and a & 0x40 == address & 0x40)
    shown = display.lines()[LINE_1[start]]
    assert shown == (" " * (address - start) + text).ljust(20)
    assert sum(line != " " * 20 for line in display.lines()) == 1


@pytest.mark.parametrize("read", GOOD_READS, ids=lambda r: r["name"])
def test_reading_back_gives_the_vectors_port_bytes(read: dict[str, Any]) -> None:
    display = ready()
    expected = bytes.fromhex(read["port"])
    if read["kind"] == "text":
        put(display, int(read["address"], 16), bytes.fromhex(read["codes"]))
    port = play(display, read["transactions"])
    if read["kind"] == "glyph":  # the upper three bits of a row are not kept: they read as anything
        assert port[1::2] == expected[1::2]
        assert [b & 0x10 for b in port[::2]] == [b & 0x10 for b in expected[::2]]
    else:
        assert port == expected
        assert display.controller.counter == int(read["counter"], 16)
    assert display.port == 0x08


def test_a_backpack_without_its_display() -> None:
    display = ready()
    display.fitted = False
    wanted = READS["a backpack without its display reads back what it is driven to"]
    assert play(display, FIVE["transactions"]) == bytes.fromhex(wanted["port"])
    assert display.lines() == [" " * 20] * 4


def test_a_power_glitch_reads_as_high_nibbles() -> None:
    display = ready()
    put(display, 0x00, b"BETS OPEN")
    display.power_cycle()
    wanted = READS["after a power glitch, in 8-bit mode, cleared memory reads as its high nibbles"]
    port = play(display, FIVE["transactions"])
    assert port[:10] == bytes.fromhex(wanted["port"])[:10]
    # 8C and 0C went in as 8F and 0F: ten reads from 0F leave the counter at 19, high nibble 1.
    assert port[10:] == bytes.fromhex("1E 1E")


def test_a_pulse_too_many_shows_in_the_counter() -> None:
    display = ready()
    put(display, 0x00, bytes.fromhex(FIVE["codes"]))
    wanted = READS["right characters, wrong counter: a pulse too many was taken"]
    more = ["w FB FF", "w FB FF"]
    port = play(display, FIVE["transactions"][:21] + more + FIVE["transactions"][21:])
    assert port == bytes.fromhex(wanted["port"])


@pytest.mark.parametrize("recovery", VECTORS["recovery"], ids=lambda r: r["name"])
def test_3332_recovers_from_any_state(recovery: dict[str, Any]) -> None:
    display = ready()
    if recovery["mode"] == 8:
        display.power_cycle()
    elif "pending" in recovery:
        nibble = int(recovery["pending"], 16) << 4
        display.write(bytes((nibble | 0x0C, nibble | 0x08)))
        assert display.pending == nibble >> 4
    for transactions in (["w 3C 38"], ["w 3C 38"], ["w 3C 38 2C 28 2C 28 8C 88"]):
        play(display, transactions)
    assert not display.controller.eight_bit
    assert display.controller.two_lines
    assert not display.controller.large_font
    assert display.pending is None


@given(st.binary(max_size=70), st.booleans())
def test_the_initialisation_recovers_after_any_bytes(garbage: bytes, power: bool) -> None:
    display = Hd44780(random.Random(5))
    if not power:
        initialise(display)
    display.write(garbage)
    initialise(display)
    put(display, 0x54, b"RIDE BACK")
    assert display.lines() == [" " * 20] * 3 + ["RIDE BACK".ljust(20)]


# --- states ------------------------------------------------------------------------------------


def test_power_up() -> None:
    display = Hd44780(random.Random(1))
    assert display.read(1) == b"\x2f"  # all pins 1, so E and RW are: memory's high nibble shows
    board = display.controller
    assert board.eight_bit
    modes = (board.two_lines, board.large_font, board.on, board.cursor, board.cursor_blink)
    assert not any(modes)
    assert (board.counter, board.in_cgram, board.step, board.shift) == (0, False, 1, 0)
    assert not board.shift_on_write
    assert board.ddram == dict.fromkeys((*range(0x28), *range(0x40, 0x68)), 0x20)
    assert max(board.cgram) < 0x20
    assert display.lines() == [" " * 20] * 4
    other = Hd44780(random.Random(2))
    assert display.controller.cgram != other.controller.cgram


def test_undefined_glyphs_are_question_marks() -> None:
    display = Hd44780(random.Random(1))
    for step in VECTORS["step"][:4]:
        play(display, step["transactions"])
    put(display, 0x00, bytes(range(8)) + b"\x5c\x7e\x7f\xff\x10")
    assert display.lines()[0] == "?" * 13 + " " * 7


def test_four_lines_lie_where_the_page_says() -> None:
    display = ready()
    put(display, 0x00, bytes(range(0x30, 0x58)))
    put(display, 0x40, bytes(range(0x61, 0x7A)) + bytes(range(0x41, 0x50)))
    assert display.lines() == [
        "0123456789:;<=>?@ABC", "abcdefghijklmnopqrst", "DEFGHIJKLMNOPQRSTUVW",
        "uvwxyABCDEFGHIJKLMNO",
    ]  # fmt: skip


def test_the_counter_goes_from_27_to_40_and_from_67_to_00() -> None:
    display = ready()
    put(display, 0x27, b"ab")
    put(display, 0x67, b"cd")
    lines = display.lines()
    assert (lines[2][19], lines[1][0], lines[3][19], lines[0][0]) == ("a", "b", "c", "d")


def test_off_is_blank_and_on_shows_the_memory_again() -> None:
    display = ready()
    put(display, 0x00, b"WAIT")
    display.write(byte_out(0x08, 0))
    assert display.lines() == [" " * 20] * 4
    display.write(byte_out(0x0C, 0))
    assert display.lines()[0] == "WAIT".ljust(20)
    display.write(b"\x00")
    assert not display.backlight
    assert display.lines()[0] == "WAIT".ljust(20)


def test_home_clear_decrement_and_shift() -> None:
    display = ready()
    display.write(byte_out(0x04, 0))
    put(display, 0x41, b"xyz")  # 41, 40, then back over 27
    assert (display.lines()[1][:2], display.lines()[2][19]) == ("yx", "z")
    display.write(byte_out(0x18, 0))  # the text moves one to the left
    assert display.lines()[1][0] == "x"
    display.write(byte_out(0x02, 0))
    assert display.lines()[1][:2] == "yx"
    assert display.controller.counter == 0
    display.write(byte_out(0x14, 0) + byte_out(0x14, 0) + byte_out(0x10, 0))
    assert display.controller.counter == 1
    display.write(byte_out(0x01, 0))
    assert display.lines() == [" " * 20] * 4
    assert display.controller.step == 1


@pytest.mark.parametrize("byte", range(0x04, 0x40))
def test_each_bit_of_a_command_means_one_thing(byte: int) -> None:
    display = ready()
    put(display, 0x05, b"")
    display.controller.command(byte)
    board = display.controller
    if byte >= 0x20:
        assert (board.eight_bit, board.two_lines) == (bool(byte & 0x10), bool(byte & 0x08))
        assert board.large_font == bool(byte & 0x04)
    elif byte >= 0x10:
        right, display_moves = bool(byte & 4), bool(byte & 8)
        assert board.shift == ((39 if right else 1) if display_moves else 0)
        assert board.counter == (5 if display_moves else 6 if right else 4)
    elif byte >= 0x08:
        shown = (board.on, board.cursor, board.cursor_blink)
        assert shown == (bool(byte & 4), bool(byte & 2), bool(byte & 1))
    else:
        assert (board.step, board.shift_on_write) == (1 if byte & 2 else -1, bool(byte & 1))


def test_the_text_moves_with_every_character_if_told_to() -> None:
    display = ready()
    display.write(byte_out(0x07, 0))
    put(display, 0x13, b"AB")
    assert display.lines()[0] == " " * 17 + "AB "
    display.write(byte_out(0x40, 0) + byte_out(0x04, 1))  # a glyph's row moves nothing
    assert display.lines()[0] == " " * 17 + "AB "


def test_counting_down_goes_round_too() -> None:
    display = ready()
    display.write(byte_out(0x04, 0))
    put(display, 0x00, b"ab")
    assert (display.lines()[0][0], display.lines()[3][19]) == ("a", "b")


def test_home_leaves_the_glyphs() -> None:
    display = ready()
    display.write(byte_out(0x48, 0) + byte_out(0x02, 0) + byte_out(0x41, 1))
    assert display.lines()[0] == "A".ljust(20)
    display.write(byte_out(0x48, 0) + byte_out(0x01, 0) + byte_out(0x42, 1))
    assert display.lines()[0] == "B".ljust(20)


def test_the_backlight_is_bit_3() -> None:
    display = ready()
    for byte in range(256):
        display.write(bytes((byte,)))
        assert display.backlight == bool(byte & 8)


def test_a_dead_display_takes_everything_and_keeps_its_memory() -> None:
    display = ready()
    put(display, 0x00, bytes.fromhex(FIVE["codes"]))
    display.dead = True
    put(display, 0x00, b"OTHER")
    display.write(byte_out(0x01, 0))
    assert display.lines() == [" " * 20] * 4
    assert play(display, FIVE["transactions"]) == bytes.fromhex(FIVE["port"])
    display.dead = False
    assert display.lines()[0] == "BETS ".ljust(20)


def test_one_transaction_or_many_is_the_same() -> None:
    whole, pieces = ready(), ready()
    data = bytes.fromhex("".join(t[1:] for t in VECTORS["write"][0]["transactions"]))
    whole.write(data)
    for byte in data:
        pieces.write(bytes((byte,)))
    assert whole.lines() == pieces.lines() != [" " * 20] * 4


def test_it_hangs_on_the_bus() -> None:
    bus = Bus(Clock())
    bus.add(0x3F, ready())
    assert bus.transfer(0x3F, b"", 1) == b"\x09"  # the last port byte of the glyphs
    bus.transfer(0x3F, b"\x08", 0)
    assert bus.transfer(0x3F, b"", 1) == b"\x08"


@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(0, 3)), max_size=12))
def test_garbage_never_raises(transfers: list[tuple[bytes, int]]) -> None:
    display = Hd44780(random.Random(0))
    for data, length in transfers:
        display.write(data)
        assert len(display.read(length)) == length
        assert [len(line) for line in display.lines()] == [20] * 4
