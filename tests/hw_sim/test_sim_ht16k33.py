"""The simulated HT16K33 against the vectors, and its states in the order a table meets them."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_sim.bus import Bus
from hw_sim.clock import Clock
from hw_sim.devices.fonts import RANKS, SEGMENTS, SUITS
from hw_sim.devices.ht16k33 import Ht16k33, matrix_card, matrix_rows, segments_text

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "vectors" / "ht16k33.toml").read_text("utf-8")
)
BATCHES = {batch["name"]: batch["transactions"] for batch in VECTORS["batch"]}
DARK = bytes(16)


def play(board: Ht16k33, name: str) -> list[bytes]:
    """The host's transactions of a batch; what its reads gave."""
    answers = []
    for transaction in BATCHES[name]:
        what, *rest = transaction.split()
        if what == "w":
            board.write(bytes.fromhex("".join(rest)))
        else:
            board.write(bytes.fromhex(rest[0]))
            answers.append(board.read(int(rest[1])))
    return answers


def showing(ram: str) -> Ht16k33:
    """A board that is lit with these sixteen bytes."""
    board = Ht16k33(random.Random(1))
    board.write(b"\x21")
    board.write(b"\x00" + bytes.fromhex(ram))
    board.write(b"\x81")
    return board


# --- vectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("meter", VECTORS["meter"], ids=lambda m: m["text"] or "dark")
def test_the_meter_reads_as_its_cells(meter: dict[str, Any]) -> None:
    boards = [showing(module["ram"]) for module in meter["modules"]]
    for board, module in zip(boards, meter["modules"], strict=True):
        assert segments_text([board]) == module["cells"]
    assert segments_text(boards) == "".join(module["cells"] for module in meter["modules"])


@pytest.mark.parametrize("card", VECTORS["card"], ids=lambda c: c["card"] or "dark")
def test_the_matrix_shows_the_card(card: dict[str, str]) -> None:
    expected = card["card"] if card["card"] and "fault" not in card else None
    assert matrix_card(showing(card["ram"])) == expected


@pytest.mark.parametrize("refused", VECTORS["refused"], ids=lambda r: r["ram"])
def test_a_wrong_picture_is_no_card(refused: dict[str, str]) -> None:
    assert matrix_card(showing(refused["ram"])) == "?"


def test_the_font_is_the_vectors_font() -> None:
    listed = {int(value, 16): character for character, value in VECTORS["segment"].items()}
    assert listed == SEGMENTS
    assert int(VECTORS["dot"], 16) == 0x4000


def test_the_order_of_batches_lights_the_card() -> None:
    board = Ht16k33(random.Random(2))
    assert play(board, "write, nothing ordered") == [DARK]
    assert board.visible() == DARK
    play(board, "light")
    assert play(board, "write 7h")[0][0] == 0x01
    assert matrix_card(board) == "7h"
    assert (board.brightness, board.blink) == (15, 0)
    play(board, "light, blinking")
    assert (matrix_card(board), board.blink) == ("7h", 1)
    play(board, "blank")
    assert (matrix_card(board), board.visible()) == (None, DARK)
    assert play(board, "verify")[0][0] == 0x01


# --- the page's pictures -------------------------------------------------------------------------

COLUMNS_OF_RANKS = {
    "A": "7C 7E 13 11 11 13 7E 7C", "2": "62 73 51 59 49 49 4F 46", "3": "22 63 41 49 49 49 7F 36",
    "4": "10 18 1C 16 13 7F 7F 10", "5": "27 67 45 45 45 45 7D 39", "6": "3C 7E 4B 49 49 49 79 30",
    "7": "01 01 01 71 79 0D 07 03", "8": "36 7F 49 49 49 49 7F 36", "9": "06 4F 49 49 49 69 3F 1E",
    "T": "42 7F 40 3E 7F 41 7F 3E", "J": "30 70 40 41 41 7F 3F 01", "Q": "3E 7F 41 51 71 61 3F 5E",
    "K": "7F 7F 08 08 1C 36 63 41",
}  # fmt: skip
COLUMNS_OF_SUITS = {
    "c": "38 38 96 FF FF 96 38 38", "d": "18 3C 7E FF FF 7E 3C 18",
    "h": "0E 1F 3F 7E 7E 3F 1F 0E", "s": "38 3C 9E FF FF 9E 3C 38",
}  # fmt: skip


def test_all_52_cards_are_read_from_their_columns() -> None:
    """The columns are those of the pictures on the page, bit 0 at the top."""
    assert set(COLUMNS_OF_RANKS) == set(RANKS.values())
    assert set(COLUMNS_OF_SUITS) == set(SUITS.values())
    for rank, even in COLUMNS_OF_RANKS.items():
        for suit, odd in COLUMNS_OF_SUITS.items():
            pairs = zip(even.split(), odd.split(), strict=True)
            ram = "".join(high + low for high, low in pairs)
            assert matrix_card(showing(ram)) == rank + suit, ram


def test_a_person_sees_the_seven_of_hearts_upright() -> None:
    assert matrix_rows(showing("01 0E 01 1F 01 3F 71 7E 79 7E 0D 3F 07 1F 03 0E")) == [
        "########", "......##", ".....##.", "....##..", "...##...", "...##...", "...##...",
        "........",
        ".##..##.", "########", "########", "########", ".######.", "..####..", "...##...",
        "........",
    ]  # fmt: skip


def test_an_unknown_pattern_reads_as_a_question_mark_and_bit_15_is_no_segment() -> None:
    assert segments_text([showing("01 00 06 80 02 40" + "00" * 10)]) == "?1?. "


# --- states ------------------------------------------------------------------------------------


def test_power_up_is_dark_and_random() -> None:
    one, other = Ht16k33(random.Random(1)), Ht16k33(random.Random(2))
    assert one.read(16) == bytes(one.memory) != other.read(16)  # from address 00
    assert one.visible() == other.visible() == DARK


def test_light_needs_oscillator_and_display() -> None:
    board = showing("FF" * 16)
    assert board.visible() == b"\xff" * 16
    board.write(b"\x80")
    assert board.visible() == DARK
    board.write(b"\x81")
    board.write(b"\x20")
    assert board.visible() == DARK
    board.write(b"\x81")  # lost in standby, but display was on before
    board.write(b"\x21")
    assert board.visible() == b"\xff" * 16


def test_standby_takes_only_21_and_reads() -> None:
    board = showing("11" * 16)
    board.write(b"\x20")
    for lost in (b"\x80", b"\xe3", b"\xa1", b"\x00" + b"\x22" * 16):
        board.write(lost)
    assert (board.display, board.brightness, board.row_pin) == (True, 15, 0)
    board.write(b"\x00")
    assert board.read(16) == b"\x11" * 16


def test_setup_commands() -> None:
    board = showing("00" * 16)
    for n in range(16):
        board.write(bytes((0xE0 + n,)))
        assert board.brightness == n
    for pin in (1, 3, 0):
        board.write(bytes((0xA0 + pin,)))
        assert board.row_pin == pin
    for n in range(8):
        board.write(bytes((0x80 + n,)))
        assert (board.display, board.blink) == (bool(n & 1), n >> 1)


def test_a_brown_out_is_a_power_up() -> None:
    board = showing("06 00" + "00" * 14)
    board.write(b"\xe4")
    board.write(b"\x83")
    board.power_cycle()
    assert (board.oscillator, board.display, board.blink, board.brightness) == (False, False, 0, 15)
    assert play(board, "verify")[0] != bytes.fromhex("0600" + "00" * 14)
    assert board.visible() == DARK


def test_addresses_count_round() -> None:
    board = showing("00" * 16)
    board.write(bytes.fromhex("0E AA BB CC"))
    board.write(b"\x0f")
    assert board.read(3) == bytes.fromhex("BB CC 00")
    assert board.read(1) == b"\x00"


def test_keys_read_as_none_pressed_and_leave_the_memory_alone() -> None:
    board = showing("FF" * 16)
    for first in (0x40, 0x45, 0x60):
        board.write(bytes((first, 0x55)))
        assert board.read(6) == bytes(6)
    board.write(b"\x00")
    assert board.read(16) == b"\xff" * 16


def test_a_dead_display_acknowledges_and_keeps_its_memory() -> None:
    board = showing("06 00" + "00" * 14)
    board.dead = True
    assert segments_text([board]) == "    "
    assert play(board, "write, nothing ordered")[0] == bytes.fromhex("0600" + "00" * 14)
    board.dead = False
    assert segments_text([board]) == "1   "


def test_it_hangs_on_the_bus() -> None:
    bus = Bus(Clock())
    bus.add(0x70, Ht16k33(random.Random(3)))
    bus.transfer(0x70, b"\x21", 0)
    bus.transfer(0x70, bytes(17), 0)
    assert bus.transfer(0x70, b"\x00", 16) == DARK


COMMANDS = {
    0x20,
    0x21,
    *range(0x40, 0x46),
    0x60,
    *range(0x80, 0x88),
    0xA0,
    0xA1,
    0xA3,
    *range(0xE0, 0xF0),
}


@pytest.mark.parametrize("first", [b for b in range(0x10, 0x100) if b not in COMMANDS])
def test_other_bytes_do_nothing(first: int) -> None:
    board = showing("5A" * 16)
    before = dict(vars(board), memory=bytes(board.memory))
    board.write(bytes((first, 1, 2, 3)))
    assert dict(vars(board), memory=bytes(board.memory)) == before


@given(st.lists(st.tuples(st.binary(max_size=20), st.integers(0, 40)), max_size=20))
def test_garbage_never_raises(transfers: list[tuple[bytes, int]]) -> None:
    board = Ht16k33(random.Random(0))
    for data, length in transfers:
        board.write(data)
        assert len(board.read(length)) == length
    assert len(board.visible()) == 16
    assert len(segments_text([board]).replace(".", "")) == 4
    matrix_card(board)
