"""Texts and cards as memory: the literal vectors, and what must hold for any text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.ht16k33 import codec
from drivers.ht16k33.glyphs import DOT, SEGMENTS
from tests.drivers.ht16k33.board import VECTORS, transactions

BATCHES = {batch["name"]: batch["transactions"] for batch in VECTORS["batch"]}


def test_the_font_is_the_page_s_font() -> None:
    assert {c: f"{word:04X}" for c, word in SEGMENTS.items()} == VECTORS["segment"]
    assert f"{DOT:04X}" == VECTORS["dot"]


def test_no_two_characters_look_alike() -> None:
    assert len(set(SEGMENTS.values())) == 40
    assert not any(word & DOT for word in SEGMENTS.values())


@pytest.mark.parametrize("vector", VECTORS["meter"], ids=lambda v: v["text"] or "dark")
def test_a_text_over_the_three_modules(vector: dict[str, Any]) -> None:
    for index, module in enumerate(vector["modules"]):
        frame = codec.meter_frame(vector["text"], index, blink=False)
        assert frame.ram.hex(" ").upper() == module["ram"]
        assert frame.content == module["cells"]
        assert (frame.fault.code if frame.fault else None) == vector.get("fault")


@pytest.mark.parametrize("vector", VECTORS["card"], ids=lambda v: v["card"] or "dark")
def test_a_card_on_the_matrix(vector: dict[str, Any]) -> None:
    frame = codec.card_frame(vector["card"])
    assert frame.ram.hex(" ").upper() == vector["ram"]
    assert (frame.fault.code if frame.fault else None) == vector.get("fault")
    assert frame.content == ("" if "fault" in vector else vector["card"])


def test_all_cards_look_different_and_none_is_dark() -> None:
    rams = {codec.card_frame(rank + suit).ram for rank in "A23456789TJQK" for suit in "cdhs"}
    assert len(rams) == 52
    assert bytes(16) not in rams


def test_seven_of_hearts_is_drawn_upright() -> None:
    ram = codec.card_frame("7h").ram
    lines = ["".join(".#"[ram[2 * x + y // 8] >> (y % 8) & 1] for x in range(8)) for y in range(16)]
    assert lines == [
        "########",
        "......##",
        ".....##.",
        "....##..",
        "...##...",
        "...##...",
        "...##...",
        "........",
        ".##..##.",
        "########",
        "########",
        "########",
        ".######.",
        "..####..",
        "...##...",
        "........",
    ]


def test_the_batches_are_the_page_s_batches() -> None:
    assert transactions(codec.write_batch(bytes(16), 15)) == BATCHES["write, nothing ordered"]
    assert transactions(codec.write_batch(codec.card_frame("7h").ram, 15)) == BATCHES["write 7h"]
    assert transactions(codec.verify_batch(15)) == BATCHES["verify"]
    assert transactions(codec.light_batch(blink=False)) == BATCHES["light"]
    assert transactions(codec.light_batch(blink=True)) == BATCHES["light, blinking"]
    assert transactions(codec.blank_batch()) == BATCHES["blank"]


@given(st.text(max_size=40))
def test_any_text_gives_three_modules_or_dashes_on_all(text: str) -> None:
    frames = [codec.meter_frame(text, index, blink=False) for index in range(3)]
    assert all(len(frame.ram) == 16 and frame.ram[8:] == bytes(8) for frame in frames)
    too_wide = len(codec.cells_of(text)) > 12
    for frame in frames:
        assert (frame.fault is not None) == too_wide
        assert not too_wide or frame.content == "----"


@given(st.text(alphabet="0123456789ABCXYZ $-", max_size=12))
def test_a_text_of_known_characters_reads_back_right_aligned(text: str) -> None:
    shown = "".join(codec.meter_frame(text, index, blink=False).content for index in range(3))
    assert shown == text.rjust(12)


@given(st.text(max_size=5))
def test_any_card_text_gives_a_card_or_dark(card: str) -> None:
    frame = codec.card_frame(card)
    assert (frame.ram == bytes(16)) == (frame.content == "")
