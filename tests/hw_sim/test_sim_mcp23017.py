"""The simulated expanders, keys, lamps and acceptors against the page's vectors."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_sim.clock import MS, Clock
from hw_sim.devices.acceptor import Acceptors
from hw_sim.devices.keys import KEYS, Keyboard
from hw_sim.devices.lamps import beacon, buzzer, lamp_states
from hw_sim.devices.mcp23017 import A, B, Mcp23017

VECTORS = tomllib.loads(
    (Path(__file__).parent.parent / "vectors" / "mcp23017.toml").read_text("utf-8")
)
BATCHES = VECTORS["batch"]
INPUTS = "7F 7F 7F 7F 7F 7F 01 21 00 00 44 44 7F 7F"
OUTPUTS = "00 00 00 00 00 00 01 25 00 00 44 44 00 00"


def run(board: Mcp23017, ops: list[str]) -> str:
    """The batch as the vectors write it; the bytes of its last read."""
    answer = b""
    for op in ops:
        if write := re.fullmatch(r"W (..): (.+)", op):
            board.write(bytes.fromhex(write[1] + write[2]))
        elif read := re.fullmatch(r"R (..) x(\d+)", op):
            board.write(bytes.fromhex(read[1]))
            answer = board.read(int(read[2]))
    return answer.hex(" ").upper()


def prepared(batch: dict[str, Any]) -> Mcp23017:
    """The chip as the batch finds it."""
    board = Mcp23017()
    if batch["kind"] == "poll" or batch.get("found") == "kept":
        is_input = batch["chip"].startswith(("keys", "sensors"))
        config = bytes.fromhex(INPUTS if is_input else OUTPUTS)
        board.write(bytes((0x14,)) + bytes.fromhex(batch.get("olat", "00 00")))
        if batch.get("found") == "kept":  # the sequence that the former run wrote last
            config = config[:6] + bytes.fromhex(batch["answer"])[6:8] + config[8:]
        board.write(b"\x00" + config)
    for port, pressed in enumerate(bytes.fromhex(batch.get("inputs", ""))):
        for bit in range(8):
            if pressed >> bit & 1:
                board.drive(port, bit, False)
    return board


@pytest.mark.parametrize("batch", BATCHES, ids=lambda b: b["title"])
def test_batches(batch: dict[str, Any]) -> None:
    answer = run(prepared(batch), batch["ops"])
    expected = batch["answer"]
    if batch["kind"] == "poll":
        # Which pins had interrupted before is history that the batch does not tell: 0E to 11.
        answer, expected = (text[:42] + text[54:] for text in (answer, expected))
    assert answer == expected


@pytest.mark.parametrize("key", KEYS)
def test_every_key_reads_as_the_console_page_says(key: str) -> None:
    boards = (Mcp23017(), Mcp23017())
    clock = Clock()
    for board in boards:
        board.write(b"\x00" + bytes.fromhex(INPUTS))
    Keyboard(*boards, clock).press(key)
    which, port, bit = KEYS[key]
    blocks = [run(board, ["R 12 x2"]) for board in boards]
    expected = ["00 00", "00 00"]
    pair = [0, 0]
    pair[port] = 1 << bit
    expected[which] = bytes(pair).hex(" ").upper()
    assert blocks == expected
    clock.run_until(150 * MS)  # one reading does not make a key count: the finger stays
    assert [run(board, ["R 12 x2"]) for board in boards] == expected
    clock.run_until(200 * MS)
    assert [run(board, ["R 12 x2"]) for board in boards] == ["00 00", "00 00"]


def test_a_finger_does_not_wait_for_ever_for_a_table_that_does_not_look() -> None:
    board, clock = Mcp23017(), Clock()
    board.write(b"\x00" + bytes.fromhex(INPUTS))
    Keyboard(board, Mcp23017(), clock).press("1")
    clock.run_until(4_900 * MS)
    assert not board.pins(A) & 1
    clock.run_until(5_100 * MS)
    assert board.pins(A) & 1


def test_the_keys_sit_where_the_console_page_has_them() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "protocols" / "console.md"
    rows = re.findall(r"^\| key \| (.+) \|$", page.read_text("utf-8"), re.MULTILINE)
    caps = [[cell.strip("` ") for cell in row.split("|")] for row in rows]
    assert [len(row) for row in caps] == [14, 14]
    placed = {(board, port, bit): key for key, (board, port, bit) in KEYS.items()}
    for board, row in enumerate(caps):
        assert [placed[board, at // 7, at % 7] for at in range(14)] == row


def test_keys_listed_by_the_vectors_are_those_we_press() -> None:
    for batch in BATCHES:
        for key in batch.get("keys", []):
            assert KEYS[key][0] == int(batch["chip"][-1]) - 1
            pressed = bytes.fromhex(batch["inputs"])[KEYS[key][1]]
            assert pressed >> KEYS[key][2] & 1


@pytest.mark.parametrize("order", VECTORS["lamps"], ids=lambda o: o["lamps-1"])
def test_lamps(order: dict[str, Any]) -> None:
    boards = (Mcp23017(), Mcp23017())
    for board, latch in zip(boards, (order["lamps-1"], order["lamps-2"]), strict=True):
        board.write(b"\x14" + bytes.fromhex(latch))
        assert set(lamp_states(*boards)) <= {"off", *order["seats"]}
        board.write(b"\x00" + bytes.fromhex(OUTPUTS))
    assert lamp_states(*boards) == order["seats"]
    assert (beacon(boards[1]), buzzer(boards[1])) == (order["beacon"], order["buzzer"])


def desk() -> tuple[Mcp23017, Mcp23017, Clock, Acceptors]:
    sensors, acceptors, clock = Mcp23017(), Mcp23017(), Clock()
    each = Acceptors(sensors, acceptors, clock)
    sensors.write(b"\x00" + bytes.fromhex(INPUTS))
    acceptors.write(b"\x00" + bytes.fromhex(OUTPUTS))
    return sensors, acceptors, clock, each


def later(clock: Clock, us: int) -> None:
    clock.run_until(clock.now_us + us)


def test_a_credit_goes_through_its_four_steps() -> None:
    sensors, acceptors, clock, each = desk()
    assert not each.insert(3), "not enabled"
    acceptors.write(bytes.fromhex("14 00 7F"))
    assert each.insert(3)
    later(clock, 20 * MS)
    assert run(sensors, ["R 13 x1"]) == "04"
    assert not each.insert(3), "one chip at a time"
    acceptors.write(bytes.fromhex("14 04 7F"))
    later(clock, 300 * MS)
    assert run(sensors, ["R 13 x1"]) == "00"
    assert each.boxes[3] == 1
    assert not each.insert(3), "acknowledge still stands"
    acceptors.write(bytes.fromhex("14 00 7F"))
    later(clock, 110 * MS)
    assert each.insert(3)


def test_disabled_for_half_a_second_it_gives_the_chip_back() -> None:
    sensors, acceptors, clock, each = desk()
    acceptors.write(bytes.fromhex("14 00 7F"))
    each.insert(5)
    later(clock, 20 * MS)
    acceptors.write(bytes.fromhex("14 00 00"))
    later(clock, 300 * MS)
    acceptors.write(bytes.fromhex("14 00 7F"))
    later(clock, 2_000 * MS)
    assert each.returned[5] == 0, "enabled again in time"
    acceptors.write(bytes.fromhex("14 00 00"))
    later(clock, 510 * MS)
    acceptors.write(bytes.fromhex("14 10 7F"))
    later(clock, 2_000 * MS)
    assert (each.returned[5], each.boxes[5]) == (1, 0), "on its way back nothing stops it"
    assert run(sensors, ["R 13 x1"]) == "00"


def test_after_a_power_cut_the_chip_is_still_in_the_throat() -> None:
    sensors, acceptors, clock, each = desk()
    acceptors.write(bytes.fromhex("14 00 7F"))
    each.insert(1)
    later(clock, 20 * MS)
    each.power_up()
    later(clock, 2_000 * MS)
    assert run(sensors, ["R 13 x1"]) == "01"
    assert each.returned[1] == 0, "enable 0 counts only after enable 1 was seen"


def test_the_interrupt_line_follows_changes_and_reads() -> None:
    board = Mcp23017()
    board.write(b"\x00" + bytes.fromhex(INPUTS))
    told: list[bool] = []
    board.on_interrupt = lambda: told.append(board.interrupt)
    board.drive(A, 2, False)
    run(board, ["R 12 x2"])
    board.release(A, 2)
    assert told == [True, False, True]
    board.power_cycle()
    assert run(board, ["R 00 x2"]) == "FF FF"


@given(st.lists(st.binary(min_size=1, max_size=33), max_size=20), st.integers(0, 32))
def test_any_transfers_leave_it_answering(writes: list[bytes], length: int) -> None:
    board = Mcp23017()
    for data in writes:
        board.write(data)
    assert len(board.read(length)) == length
    assert board.pins(B) in range(256)
