"""The simulated FEIG reader against the page's vectors, and as a device in virtual time."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_sim.clock import MS, SECOND, Clock
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.feig_frames import Request, answer, crc16, frame, request
from hw_sim.line import Line

VECTORS = tomllib.loads((Path(__file__).parent.parent / "vectors" / "feig.toml").read_text("utf-8"))
FRAMES = VECTORS["frame"]
ONE = bytes.fromhex("E004010012345678")


class Host:
    """The other end of the line: gathers what arrives."""

    def __init__(self, *tags: bytes) -> None:
        self.clock = Clock()
        self.tags = list(tags)
        self.broken = False
        self.reader = FeigReader(
            1,
            bytes.fromhex("0A1B2C01"),
            lambda mux, output: self.tags if (mux, output) == (1, 3) else [],
            lambda _mux, _output: self.broken,
        )
        self.line = Line("chips-1", self.reader, self.clock, random.Random(1))
        self.line.plug_in(self)
        self.got = bytearray()

    def deliver(self, data: bytes) -> None:
        self.got += data

    def hang_up(self) -> None:
        self.got.clear()

    def ask(self, request_hex: str, within_us: int = 600 * MS) -> str:
        self.got.clear()
        self.line.from_host(bytes.fromhex(request_hex))
        self.clock.run_until(self.clock.now_us + within_us)
        return self.got.hex(" ").upper()


def test_the_check_value_of_the_crc() -> None:
    assert crc16(b"123456789") == 0x6F91


@pytest.mark.parametrize("vector", FRAMES, ids=lambda v: v["name"])
def test_frames(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["data"])
    literal = bytes.fromhex(vector["bytes"])
    advanced = vector["form"] == "advanced"
    if vector["direction"] == "request":
        wanted = Request(vector["address"], vector["command"], data, advanced)
        assert request(literal) == wanted
        assert frame(vector["address"], vector["command"], data, advanced=advanced) == literal
    else:
        asked = Request(0xFF, vector["command"], b"", advanced)
        assert answer(asked, vector["address"], vector["status"], data) == literal


def test_identity_and_configuration_as_on_the_page() -> None:
    host = Host()
    assert host.ask("02 00 08 01 66 80 AF 0A") == "02 00 0C 01 66 00 0A 1B 2C 01 B2 14"
    factory = "02 00 16 01 80 00 00 00 00 00 00 00 00 00 00 00 00 05 00 00 8A 52"
    assert host.ask("02 00 08 01 80 85 4B E0") == factory
    ont_off = "02 00 16 01 81 85 00 00 00 00 00 00 00 00 00 00 00 04 00 00 A0 D9"
    assert host.ask(ont_off) == "02 00 08 01 81 00 36 2A"
    assert host.ask("02 00 08 01 80 05 43 64") == factory, "RAM as at the start"
    host.reader.reboot()
    host.clock.run_until(host.clock.now_us + 2 * SECOND)
    kept = "02 00 16 01 80 00 00 00 00 00 00 00 00 00 00 00 00 04 00 00 56 08"
    assert host.ask("02 00 08 01 80 05 43 64") == kept


SELECT = "02 00 0A 01 DD 01 03 00 EA 56"
INVENTORY = "02 00 09 01 B0 01 00 71 9A"
MORE = "02 00 09 01 B0 01 80 79 1E"
ONE_TAG = "02 00 13 01 B0 00 01 03 00 E0 04 01 00 12 34 56 78 E9 0F"
NO_TAG = "02 00 08 01 B0 01 C5 94"


def test_a_tag_over_the_selected_output_answers_and_no_other() -> None:
    host = Host(ONE)
    assert host.ask(INVENTORY) == NO_TAG
    assert host.ask(SELECT) == "02 00 08 01 DD 00 61 50"
    assert host.ask(INVENTORY) == ONE_TAG


def test_factory_ont_lets_a_tag_answer_once_until_rf_reset_or_until_it_was_gone() -> None:
    host = Host(ONE)
    host.ask(SELECT)
    assert host.ask(INVENTORY) == ONE_TAG
    assert host.ask(INVENTORY) == NO_TAG
    assert host.ask("02 00 07 01 69 1A 4D") == "02 00 08 01 69 00 6F 0D"
    assert host.ask(INVENTORY) == ONE_TAG
    host.tags.clear()
    assert host.ask(INVENTORY) == NO_TAG
    host.tags.append(ONE)
    assert host.ask(INVENTORY) == ONE_TAG


def test_a_stack_of_twenty_comes_in_parts_and_takes_its_time() -> None:
    host = Host(*(ONE[:-1] + bytes((n,)) for n in range(20)))
    host.ask(SELECT)
    first = bytes.fromhex(host.ask(INVENTORY))
    assert (first[5], first[6]) == (0x94, 9)
    second = bytes.fromhex(host.ask(MORE))
    assert (second[5], second[6]) == (0x94, 9)
    last = bytes.fromhex(host.ask(MORE))
    assert (last[5], last[6]) == (0x00, 2)
    host.ask("02 00 07 01 69 1A 4D")
    host.ask(INVENTORY, within_us=250 * MS)
    assert not host.got, "nine tags at 30 a second take 300 ms"


def test_a_broken_antenna_gives_a_warning() -> None:
    host = Host(ONE)
    host.ask(SELECT)
    host.broken = True
    assert host.ask(INVENTORY) == "02 00 08 01 B0 84 60 47"


@pytest.mark.parametrize("bit", range(8 * len(bytes.fromhex(INVENTORY))))
def test_a_request_with_a_flipped_bit_gets_no_answer(bit: int) -> None:
    host = Host(ONE)
    host.ask(SELECT)
    spoiled = bytearray.fromhex(INVENTORY)
    spoiled[bit // 8] ^= 1 << bit % 8
    assert host.ask(spoiled.hex()) == ""


def test_a_restart_is_silent_for_a_while_and_drops_what_it_worked_on() -> None:
    host = Host(ONE)
    host.line.from_host(bytes.fromhex(SELECT))
    host.clock.run_until(host.clock.now_us + 4 * MS)
    host.reader.reboot()
    host.clock.run_until(host.clock.now_us + SECOND)
    assert not host.got
    assert host.ask("02 00 08 01 66 80 AF 0A") == ""
    host.clock.run_until(host.clock.now_us + SECOND)
    assert host.ask("02 00 08 01 66 80 AF 0A").startswith("02 00 0C 01 66")
    assert host.ask(INVENTORY) == NO_TAG, "the multiplexers lost their outputs"


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_garbage_never_stops_it(pieces: list[bytes]) -> None:
    host = Host(ONE)
    for piece in pieces:
        host.line.from_host(piece)
        host.clock.run_until(host.clock.now_us + 700 * MS)
    host.clock.run_until(host.clock.now_us + 3 * SECOND)
    assert host.ask("02 00 08 01 66 80 AF 0A") == "02 00 0C 01 66 00 0A 1B 2C 01 B2 14"
