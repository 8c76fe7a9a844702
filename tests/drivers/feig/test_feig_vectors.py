"""The driver's codec and commands against the hand-typed vectors."""

from __future__ import annotations

from typing import Any

import pytest

from drivers.base import Fault
from drivers.feig import commands
from drivers.feig.codec import Frame, crc16, encode
from drivers.feig.commands import Answer, Request, Tags, answer_of, tags, to_bytes
from tests.drivers.feig.vectors import VECTORS, frame, frames, heard, octets


def by_name(row: dict[str, Any]) -> str:
    return str(row["name"])


def test_the_crc_is_the_one_with_check_value_6f91() -> None:
    assert crc16(b"123456789") == 0x6F91


def test_six_vectors_are_published_by_others() -> None:
    assert sum(row["source"] == "published" for row in VECTORS["frame"]) == 6


@pytest.mark.parametrize("row", VECTORS["frame"], ids=by_name)
def test_a_frame_is_encoded_to_its_bytes(row: dict[str, Any]) -> None:
    body = octets(row["data"])
    if row["direction"] == "answer":
        body = bytes((row["status"],)) + body
    made = Frame(row["address"], row["command"], body, row["form"] == "advanced")
    assert encode(made) == octets(row["bytes"])


@pytest.mark.parametrize("row", VECTORS["frame"], ids=by_name)
def test_bytes_are_decoded_to_their_frame(row: dict[str, Any]) -> None:
    (found,) = heard(octets(row["bytes"]))
    assert isinstance(found, Frame)
    assert found.isolated
    assert (found.address, found.command) == (row["address"], row["command"])
    assert found.advanced == (row["form"] == "advanced")
    if row["direction"] == "answer":
        assert answer_of(found) == Answer(row["command"], row["status"], octets(row["data"]))
    else:
        assert found.body == octets(row["data"])


REQUESTS = {
    "get software version": (commands.software_version(), True),
    "reader info": (commands.reader_info(), True),
    "RF reset": (commands.rf_reset(), True),
    "read CFG5 from EEPROM": (commands.read_config(5, eeprom=True), True),
    "read CFG5 from RAM": (commands.read_config(5, eeprom=False), True),
    "write CFG5 to EEPROM with ONT off": (
        commands.write_config(5, bytes(11) + b"\x04\x00\x00", eeprom=True),
        True,
    ),
    "multiplexer 1, output 3": (commands.mux_select(1, 3), True),
    "inventory": (commands.inventory(), True),
    "inventory MORE": (commands.inventory(more=True), True),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_of_the_driver_has_the_bytes_of_its_vector(name: str) -> None:
    request, advanced = REQUESTS[name]
    assert to_bytes(request, 0x01, advanced=advanced) == frame(name)


def inventory_of(answers: list[str]) -> frozenset[str] | str:
    """What comes of a chain of answers: its tags or a fault's code."""
    found: set[str] = set()
    for text in answers:
        (only,) = frames(heard(octets(text)))
        answer = answer_of(only)
        part = answer if isinstance(answer, Fault) else tags(answer)
        if isinstance(part, Fault):
            return part.code
        found.update(part.uids)
        if part.complete:
            assert text == answers[-1]
            return frozenset(found)
    return "not complete"


@pytest.mark.parametrize("row", VECTORS["inventory"], ids=by_name)
def test_an_inventory_gives_its_tags_or_its_fault(row: dict[str, Any]) -> None:
    expected = row["fault"] if "fault" in row else frozenset(row["tags"])
    assert inventory_of(row["answers"]) == expected


def test_an_inventory_that_says_more_is_not_complete() -> None:
    assert inventory_of(VECTORS["inventory"][3]["answers"][:1]) == "not complete"


@pytest.mark.parametrize("row", VECTORS["bytes"], ids=by_name)
def test_a_burst_gives_these_frames_and_no_others(row: dict[str, Any]) -> None:
    found = [encode(item) for item in frames(heard(octets(row["bytes"])))]
    assert found == [octets(text) for text in row["frames"]]


@pytest.mark.parametrize("row", [r for r in VECTORS["bytes"] if not r["frames"]], ids=by_name)
def test_a_burst_that_is_refused_leaves_a_fault(row: dict[str, Any]) -> None:
    items = heard(octets(row["bytes"]))
    assert items
    assert all(isinstance(item, Fault) for item in items)


def test_the_identity_and_version_are_read_out_of_their_answers() -> None:
    (info,) = frames(heard(frame("device id 0A1B2C01")))
    told = answer_of(info)
    assert isinstance(told, Answer)
    assert commands.device_id(told) == "0A1B2C01"
    (sent,) = frames(heard(frame("software version 3.3.0 of a type 53")))
    told = answer_of(sent)
    assert isinstance(told, Answer)
    assert commands.version(told) == commands.Version("53", "3.3.0")


def test_ont_goes_off_and_everything_else_of_cfg5_stays() -> None:
    block = bytes(range(0x10, 0x1B)) + b"\xfb\x77\x88"
    assert commands.sensing_config(block) == bytes(range(0x10, 0x1B)) + b"\xfe\x77\x88"


@pytest.mark.parametrize(
    "request_",
    [
        commands.software_version(),
        commands.reader_info(),
        commands.rf_reset(),
        commands.read_config(5, eeprom=True),
        commands.read_config(5, eeprom=False),
        commands.write_config(5, bytes(14), eeprom=True),
        commands.mux_select(1, 1),
        commands.mux_select(0, 1),
        commands.inventory(),
        commands.inventory(more=True),
    ],
    ids=lambda request: f"{request.command.name} {request.data.hex()}",
)
def test_no_request_echoed_by_the_line_reads_as_success(request_: Request) -> None:
    (echo,) = frames(heard(to_bytes(request_, 1)))
    answer = answer_of(echo)
    assert isinstance(answer, Fault) or commands.done(answer) is not None


def test_a_stack_of_twenty_is_read_from_three_answers() -> None:
    uids = [bytes.fromhex("E0040100") + n.to_bytes(4, "big") for n in range(20)]
    parts = [(0x94, uids[:8]), (0x94, uids[8:16]), (0x00, uids[16:])]
    found: set[str] = set()
    for status, some in parts:
        data = bytes((len(some),)) + b"".join(b"\x03\x00" + uid for uid in some)
        part = tags(Answer(0xB0, status, data))
        assert isinstance(part, Tags)
        assert part.complete == (status == 0)
        found.update(part.uids)
    assert found == {uid.hex().upper() for uid in uids}
