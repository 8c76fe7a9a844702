"""The simulated sign against the vectors, over a line and in virtual time."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_sim.clock import MS, SECOND, Clock
from hw_sim.devices.alpha import GREETING, AlphaSign, answer, checksum
from hw_sim.line import Line

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "vectors" / "alpha.toml").read_text("utf-8")
)
COMMANDS: list[dict[str, Any]] = VECTORS["command"]
ALLOCATE_16, ALLOCATE, TEXT_A, STRING_1, DASHES, EMPTY, READ, SOFT_RESET, NESTED = COMMANDS
JACKPOT = "JACKPOT $123,456.78"


class Host:
    """The far end of the line: what the sign sent, and when each portion was there."""

    def __init__(self, sign: AlphaSign) -> None:
        self.clock = Clock()
        self.sign = sign
        self.line = Line("sign", sign, self.clock, random.Random(9))
        self.got = b""
        self.arrivals_us: list[int] = []
        self.line.plug_in(self)

    def deliver(self, data: bytes) -> None:
        self.arrivals_us.append(self.clock.now_us)
        self.got += data

    def hang_up(self) -> None:
        pass

    def run(self, for_us: int) -> None:
        self.clock.run_until(self.clock.now_us + for_us)

    def write(self, *pieces: str, then_us: int = SECOND) -> None:
        """Pieces with the time they take and the pause after STX, then a wait."""
        for number, piece in enumerate(pieces):
            data = bytes.fromhex(piece)
            self.line.from_host(data)
            last = number == len(pieces) - 1
            self.run(2_000 * len(data) + (0 if last else 100 * MS))
        self.run(then_us)

    def send(self, command: dict[str, Any], then_us: int = SECOND) -> None:
        self.write(*command["writes"], then_us=then_us)

    def set_up(self) -> None:
        for command in (ALLOCATE, TEXT_A, STRING_1):
            self.send(command)

    def read(self) -> bytes:
        """The answer to a read of STRING 1, without its NULs."""
        self.got = b""
        self.send(READ)
        return self.got.lstrip(b"\x00")


@pytest.fixture
def host() -> Host:
    return Host(AlphaSign(random.Random(4)))


def wire(command: str, data: bytes, start: bytes = b"\x01Z00") -> str:
    """A frame whose sum is right, for commands that have no vector."""
    body = b"\x02" + command.encode() + data + b"\x03"
    return (bytes(5) + start + body + checksum(body) + b"\x04").hex()


def framed(text: str) -> bytes:
    """The vector's answer with this text, without its NULs."""
    (found,) = (a for a in VECTORS["answer"] if a["text"] == text and a["label"] == "1")
    return bytes.fromhex(found["frame"]).lstrip(b"\x00")


# --- vectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS["answer"], ids=lambda v: v["text"] or "empty")
def test_answers_are_the_vectors_bytes(vector: dict[str, str]) -> None:
    frame = answer(b"00", ord(vector["label"]), vector["text"].encode())
    wanted = bytes.fromhex(vector["frame"])
    if wanted.startswith(bytes(20)):
        assert frame == wanted
    assert frame.lstrip(b"\x00") == wanted.lstrip(b"\x00")
    assert frame.startswith(bytes(20) + b"\x01")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c["kind"] + c.get("text", ""))
def test_every_command_is_taken_whole_or_in_its_pieces(command: dict[str, Any], host: Host) -> None:
    assert "".join(command["writes"]).replace(" ", "") == command["frame"].replace(" ", "")
    host.send(command)
    assert (host.sign.dropped, host.sign.hurried) == (0, 0)
    host.write(command["frame"])
    assert host.sign.dropped == 0
    assert host.sign.hurried == len(command["writes"]) - 1


def test_the_set_up_shows_the_jackpot(host: Host) -> None:
    assert host.sign.visible() == GREETING
    host.send(ALLOCATE)
    assert host.sign.visible() == ""
    host.send(TEXT_A)
    assert host.sign.visible() == "JACKPOT "
    host.send(STRING_1)
    assert host.sign.visible() == JACKPOT
    assert host.sign.blanked == 2  # by the allocation and by TEXT A, not by STRING 1
    assert host.read() == framed("$123,456.78")


@pytest.mark.parametrize("command", [c for c in COMMANDS if c["kind"] == "string"])
def test_a_string_is_shown_and_read_back(command: dict[str, Any], host: Host) -> None:
    host.set_up()
    blanked = host.sign.blanked
    host.send(command)
    assert host.sign.visible() == "JACKPOT " + command["text"]
    assert host.sign.blanked == blanked
    assert host.read() == answer(b"00", 0x31, command["text"].encode()).lstrip(b"\x00")


@pytest.mark.parametrize("command", [ALLOCATE_16, ALLOCATE])
def test_the_allocated_size_counts(command: dict[str, Any], host: Host) -> None:
    host.send(command)
    size = command["string_size"]
    host.write(wire("G", b"1" + b"x" * (size + 1)))
    assert host.read() == framed("")
    host.write(wire("G", b"1" + b"x" * size))
    assert host.read() == answer(b"00", 0x31, b"x" * size).lstrip(b"\x00")
    host.write(wire("A", b"A\x1b b" + b"y" * (command["text_size"] + 1)))
    assert host.sign.visible() == ""
    host.write(wire("A", b"A\x1b b" + b"y" * command["text_size"]))
    assert host.sign.visible() == "y" * command["text_size"]


def test_nested_commands_are_all_obeyed(host: Host) -> None:
    host.send(ALLOCATE)
    host.send(NESTED)
    assert host.sign.visible() == "JACKPOT CLOSED"
    assert host.read() == framed("CLOSED")


def test_one_wrong_sum_drops_the_whole_frame(host: Host) -> None:
    host.set_up()
    host.write(NESTED["frame"].replace("30 32 33 37 04", "30 32 33 38 04"))
    assert host.sign.visible() == JACKPOT
    assert host.sign.dropped == 1


def test_a_soft_reset_keeps_the_files(host: Host) -> None:
    host.set_up()
    blanked = host.sign.blanked
    host.send(SOFT_RESET)
    assert host.sign.visible() == JACKPOT
    assert host.sign.blanked == blanked + 1


@pytest.mark.parametrize("flipped", range(6, len(bytes.fromhex(STRING_1["frame"]))))
def test_any_single_flip_changes_nothing(flipped: int, host: Host) -> None:
    host.set_up()
    host.send(DASHES)
    for bit in range(8):
        frame = bytearray.fromhex(STRING_1["frame"])
        frame[flipped] ^= 1 << bit
        host.write(frame.hex(), then_us=2 * SECOND)
        assert host.sign.visible() == "JACKPOT --------", (flipped, bit)


# --- frames ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        "01 04",
        "00 00 00 00 00 01 5A 30 30 02 48 31 04",  # no ETX, no sum
        "00 00 00 00 00 01 5A 30 30 02 48 31 03 04",  # no sum
        "00 00 00 00 00 01 5A 30 30 02 48 31 03 30 30 37 65 04",  # sum in small letters
        "00 00 00 00 00 01 5A 30 30 02 48 B1 03 30 30 46 45 04",  # eighth bit set
        "00 00 00 00 00 01 30 30 30 02 48 31 03 30 30 37 45 04",  # an answer's type
        "00 00 00 00 00 01 5A 30 30 48 31 03 30 30 37 43 04",  # no STX
        "00 00 00 00 00 01 5A 30 67 02 48 31 03 30 30 37 45 04",  # address not hex
        "00 00 00 00 00 01 5A 30 30 02 48 31 03 30 30 37 45 00 04",  # something after the sum
    ],
)
def test_a_wrong_frame_is_dropped_without_a_word(frame: str, host: Host) -> None:
    host.set_up()
    host.write(frame)
    assert (host.sign.dropped, host.got) == (1, b"")
    assert host.read() == framed("$123,456.78")


@pytest.mark.parametrize(
    "frame",
    [
        wire("G", b""), wire("H", b""), wire("H", b"12"), wire("A", b"A"), wire("A", b"Axxx"),
        wire("A", b"A\x1b!bWRONG"), wire("A", b"A\x1b zWRONG"), wire("A", b"1\x1b bWRONG"),
        wire("A", b"B\x1b bWRONG"), wire("G", b"AWRONG"), wire("G", b"2WRONG"), wire("E", b"$A"),
        wire("E", b"$AAU004"), wire("E", b"$1CL00100000"), wire("E", b"$1BX00100000"),
        wire("E", b"$1BLg0100000"), wire("E", b"$1BL001g0000"), wire("E", b""), wire("E", b",,"),
        wire("X", b"1"),
        wire("G", b"1WRONG", b"\x01Z0A"),
    ],
)  # fmt: skip
def test_a_senseless_command_is_ignored(frame: str, host: Host) -> None:
    host.set_up()
    host.write(frame)
    assert host.sign.visible() == JACKPOT
    assert (host.sign.dropped, host.got) == (0, b"")


def test_a_broken_frame_ends_after_a_second_or_at_the_next_start(host: Host) -> None:
    host.set_up()
    start, rest = READ["writes"]
    host.write(start, then_us=950 * MS)
    host.write(rest)
    assert host.got.lstrip(b"\x00") == framed("$123,456.78")
    host.got = b""
    host.write(start, then_us=SECOND)
    host.write(rest)
    assert (host.got, host.sign.dropped) == (b"", 1)
    host.write(start, then_us=100 * MS)
    assert host.read() == framed("$123,456.78")
    assert host.sign.dropped == 2


def test_noise_before_a_frame_does_not_hide_it(host: Host) -> None:
    host.set_up()
    host.write("FF 04 47 03 31" + READ["frame"])
    assert host.got.lstrip(b"\x00") == framed("$123,456.78")


def test_its_own_address(host: Host) -> None:
    host.set_up()
    host.sign.address = b"0A"
    assert host.read() == framed("$123,456.78").replace(b"\x01000", b"\x0100A")
    host.got = b""
    host.write(wire("H", b"1", b"\x01Z0A"))
    assert host.got
    host.got = b""
    host.write(wire("H", b"1", b"\x01Z0B"))
    assert host.got == b""


# --- time and power ----------------------------------------------------------------------------


def test_an_answer_begins_within_200_ms(host: Host) -> None:
    host.set_up()
    for _ in range(20):
        host.arrivals_us.clear()
        data = bytes.fromhex(READ["frame"])
        host.line.from_host(data)
        ended_us = host.clock.now_us + len(data) * 1_146
        host.run(SECOND)
        assert 0 < host.arrivals_us[0] - 8 * 1_146 - ended_us <= 200 * MS


def test_after_an_allocation_it_hears_nothing_for_a_while(host: Host) -> None:
    host.set_up()
    host.send(ALLOCATE, then_us=0)
    host.send(TEXT_A, then_us=0)  # too soon
    assert host.sign.visible() == ""
    host.run(SECOND)
    host.send(TEXT_A)
    assert host.sign.visible() == "JACKPOT "


def test_files_outlive_cable_and_power_while_the_battery_holds(host: Host) -> None:
    host.set_up()
    host.line.unplug()
    host.run(SECOND)
    host.line.replug()
    host.line.plug_in(host)
    assert host.sign.visible() == JACKPOT
    host.sign.reboot()
    assert host.sign.visible() == JACKPOT
    assert host.read() == framed("$123,456.78")
    host.sign.battery = False
    host.sign.reboot()
    assert host.sign.visible() == GREETING
    assert host.read() == framed("")
    host.send(STRING_1)
    assert host.sign.visible() == GREETING


def test_a_reboot_swallows_the_answer_on_its_way(host: Host) -> None:
    host.set_up()
    host.send(READ, then_us=0)
    host.sign.reboot()
    host.run(SECOND)
    assert host.got == b""


def test_a_muted_sign_obeys_and_says_nothing(host: Host) -> None:
    host.sign.muted = True
    host.set_up()
    assert host.read() == b""
    assert host.sign.visible() == JACKPOT
    host.sign.muted = False
    assert host.read() == framed("$123,456.78")


def test_the_line_is_9600_7e2() -> None:
    assert (AlphaSign.baud, AlphaSign.bits_per_char) == (9600, 1 + 7 + 1 + 2)


def test_large_and_empty_files(host: Host) -> None:
    host.write(wire("E", b"$AAU1000FF001BL00200000"))
    host.write(wire("A", b"A\x1b b" + b"z" * 0x0F00))
    assert host.sign.visible() == "z" * 0x0F00
    host.write(wire("A", b"A\x1b b"))
    assert host.sign.visible() == ""
    host.write(wire("A", b"A\x1b b" + b"z" * 0x0FFF))  # a frame that no sign has room for
    assert (host.sign.visible(), host.sign.dropped) == ("", 1)


def test_colours_and_calls_are_resolved(host: Host) -> None:
    host.set_up()
    host.write(wire("A", b"A\x1b0a\x1c1WIN \x101\x1c2 NOW \x102\x10"))
    assert host.sign.visible() == "WIN $123,456.78 NOW "
    host.write(wire("G", b"1\x1c1ME \x101"))
    assert host.sign.visible() == "WIN ME  NOW "


@given(st.lists(st.tuples(st.binary(max_size=60), st.integers(0, 2 * SECOND)), max_size=8))
def test_garbage_never_raises_nor_hides_what_follows(writes: list[tuple[bytes, int]]) -> None:
    host = Host(AlphaSign(random.Random(6)))
    for data, pause_us in writes:
        host.line.from_host(data)
        host.run(pause_us)
        host.sign.visible()
    host.run(2 * SECOND)
    host.set_up()
    assert host.sign.visible() == JACKPOT


BODIES = st.binary(max_size=30).map(lambda b: bytes(c for c in b if c > 4))


@given(st.lists(BODIES, max_size=6))
def test_well_framed_garbage_never_raises(bodies: list[bytes]) -> None:
    host = Host(AlphaSign(random.Random(7)))
    host.set_up()
    for body in bodies:
        host.write(wire("", body), then_us=0)
        host.write(wire("E", b"$" + body), then_us=0)
        host.write(wire("A", b"A\x1b b" + body), then_us=0)
        host.sign.visible()
