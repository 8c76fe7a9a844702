"""Keys: one report per press, none from a disturbance, a restart or a stuck panel."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.base import DeviceState, StateReported, WriteBlock
from drivers.bus import Ordered
from drivers.mcp23017.keys import KEYS_1, KEYS_2, PINS, KeysDriver
from drivers.readings import KeyPressed
from tests.drivers.mcp23017.model import MS, Bench, Board, of_kind


def bench() -> tuple[Bench, KeysDriver, Board]:
    driver, board = KeysDriver("keys-1", 0x20, KEYS_1), Board()
    return Bench([(driver, board)]), driver, board


def ready() -> tuple[Bench, KeysDriver, Board]:
    table, driver, board = bench()
    table.run(200)
    assert states(table.said) == [("ready", "")]
    return table, driver, board


def states(readings: Sequence[object]) -> list[tuple[str, str]]:
    return [
        (report.state.value, report.reason.code if report.reason else "")
        for report in of_kind(StateReported, readings)
    ]


def caps(readings: Sequence[object]) -> list[str]:
    return [press.key for press in of_kind(KeyPressed, readings)]


def key(*names: str) -> int:
    return sum(1 << PINS[KEYS_1.index(name)] for name in names)


def test_each_key_is_one_press_however_long_it_is_held() -> None:
    for names, name in ((KEYS_1, "keys-1"), (KEYS_2, "keys-2")):
        driver, board = KeysDriver(name, 0x20, names), Board()
        table = Bench([(driver, board)])
        table.run(200)
        for pin in PINS:
            board.low = 1 << pin
            table.run(400)
            board.low = 0
            table.run(120)
        assert caps(table.said) == list(names)


def test_a_press_is_reported_within_90_ms_and_again_only_after_a_release() -> None:
    table, _, board = ready()
    start = table.now_us
    board.low = key("ENTER")
    (press,) = of_kind(KeyPressed, table.run(300))
    assert 20 * MS <= press.at_us - start <= 90 * MS
    board.low = 0
    table.run(120)
    board.low = key("ENTER")
    assert caps(table.run(120)) == ["ENTER"]


def test_two_keys_at_once_come_lowest_bit_first() -> None:
    table, _, board = ready()
    board.low = key("UNDO", "3")
    assert caps(table.run(120)) == ["3", "UNDO"]


def test_three_keys_at_once_are_a_stuck_panel_and_none_counts() -> None:
    table, _, board = ready()
    board.low = key("1", "2", "3")
    said = table.run(200)
    assert caps(said) == []
    assert states(said) == [("degraded", "E-KEY-001")]
    board.low = key("1", "2")  # still down, never up: no press
    said = table.run(200)
    assert caps(said) == []
    assert states(said) == [("ready", "")]
    board.low = key("1", "9")
    assert caps(table.run(200)) == ["9"]


def test_a_key_down_at_the_start_is_no_press() -> None:
    table, _, board = bench()
    board.low = key("7")
    assert caps(table.run(500)) == []
    board.low = 0
    table.run(120)
    board.low = key("7")
    assert caps(table.run(120)) == ["7"]


def test_a_key_down_after_a_brown_out_is_no_press() -> None:
    table, _, board = ready()
    board.brown_out()
    board.low = key("7")
    said = table.run(500)
    assert caps(said) == []
    assert states(said) == [("unknown", "E-EXP-003"), ("ready", "")]


def test_a_contact_that_bounces_for_15_ms_is_one_press() -> None:
    table, _, board = ready()
    start = table.now_us

    def bounce(now_us: int) -> None:
        age = (now_us - start) // MS
        board.low = key("5") if age > 15 or age % 2 else 0

    assert caps(table.run(400, bounce)) == ["5"]


@given(at=st.integers(0, 300), pins=st.integers(1, 0x7F7F))
@settings(max_examples=60)
def test_one_corrupted_read_never_is_a_press(at: int, pins: int) -> None:
    """The flipped bits are in GPIO alone, where no check sees them."""
    table, _, board = ready()

    def flip(read: bytes) -> bytes:
        value = int.from_bytes(read[0x12:0x14], "little") ^ pins & 0x7F7F
        return read[:0x12] + value.to_bytes(2, "little") + read[0x14:]

    table.run(at)
    board.corrupt = flip
    said = table.run(400)
    assert board.corrupted == 1
    assert caps(said) == []


def test_a_corrupted_first_read_does_not_make_a_held_key_a_press() -> None:
    table, _, board = bench()
    board.low = key("7")
    table.run(2)  # the search is through; the next read is the first that is looked at
    board.corrupt = lambda read: read[:0x12] + b"\x00\x00" + read[0x14:]
    assert caps(table.run(400)) == []
    assert board.corrupted == 1


def test_the_block_of_an_earlier_poll_is_refused() -> None:
    table, driver, board = ready()
    board.low = key("7")
    old = board.block()
    board.low = 0
    for _ in range(5):
        board.corrupt = lambda _read: old
        table.run(11)
    assert caps(table.run(300)) == []
    assert driver.counters["E-EXP-002"] >= 3


@pytest.mark.parametrize("errno", [121, 6, 19, 110, 5, 0])
def test_a_board_that_does_not_answer_is_degraded_then_unknown_within_a_second(errno: int) -> None:
    table, driver, board = ready()
    start = table.now_us
    board.errno = errno or 77
    said = table.run(1000)
    assert states(said) == [("degraded", "E-EXP-001"), ("unknown", "E-EXP-001")]
    reports = of_kind(StateReported, said)
    assert reports[0].at_us - start <= 100 * MS
    assert reports[1].at_us - start <= 1000 * MS
    assert driver.counters["retries"] == 3
    table.run(5000)
    assert driver.counters["E-EXP-001"] < 60  # searching is slow
    board.errno = 0
    board.low = key("4")
    said = table.run(600)
    assert states(said) == [("ready", "")]
    assert caps(said) == []


def test_up_to_three_failures_are_a_retry_and_no_news() -> None:
    table, driver, board = ready()
    board.errno = 121
    while driver.counters["E-EXP-001"] < 3:
        table.run(1)
    board.errno = 0
    assert states(table.run(500)) == []
    assert driver.counters["retries"] == 3


def test_a_press_during_two_refused_polls_is_not_lost() -> None:
    table, driver, board = ready()
    board.errno = 121
    board.low = key("2")
    while driver.counters["E-EXP-001"] < 2:
        table.run(1)
    board.errno = 0
    assert caps(table.run(200)) == ["2"]


def test_a_board_missing_from_the_start_is_unknown_once() -> None:
    table, _, board = bench()
    board.errno = 19
    assert states(table.run(3000)) == [("unknown", "E-EXP-001")]
    board.errno = 0
    assert states(table.run(500)) == [("ready", "")]


def test_a_register_that_was_changed_by_a_disturbance_is_written_again() -> None:
    table, _, board = ready()
    board.regs[0x03] = 0x00
    said = table.run(500)
    assert states(said) == [("degraded", "E-EXP-002"), ("ready", "")]
    assert board.regs[0x03] == 0x7F
    assert caps(said) == []


def test_a_board_in_an_unknown_configuration_is_configured_after_three_reads() -> None:
    table, driver, board = bench()
    board.regs[:] = bytes.fromhex("55" * 22)
    board.regs[0x0A] = board.regs[0x0B] = 0x20
    assert states(table.run(500)) == [("ready", "")]
    assert driver.counters["E-EXP-002"] == 4


def test_the_configuration_frees_a_board_in_the_other_bank_first() -> None:
    _, _, board = ready()
    writes = [op for op in board.log if isinstance(op, WriteBlock)]
    assert writes[0] == WriteBlock(0x05, b"\x00")
    assert writes[1] == WriteBlock(0x0A, b"\x44")


def test_a_lost_bus_is_unknown_at_once() -> None:
    table, driver, board = ready()
    board.low = key("3")
    assert states(driver.bus_lost("E-BUS-001", table.now_us)) == [("unknown", "E-EXP-006")]
    said = table.run(300)
    assert states(said) == [("ready", "")]
    assert caps(said) == []


def test_int_makes_the_poll_come_sooner_but_not_more_often_than_every_20_ms() -> None:
    table, driver, _ = ready()
    before = driver.counters["batches"]
    table.run(200, driver.nudge)
    assert 8 <= driver.counters["batches"] - before <= 11
    calm, quiet, _ = ready()
    before = quiet.counters["batches"]
    calm.run(200)
    assert 3 <= quiet.counters["batches"] - before <= 5


def test_keys_take_no_orders_and_need_fourteen_caps() -> None:
    _, driver, _ = ready()
    assert not isinstance(driver, Ordered)
    with pytest.raises(ValueError, match="14"):
        KeysDriver("keys-1", 0x20, ("1", "2"))


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 0x7F7F), st.integers(0, 4))))
@settings(max_examples=40)
def test_whatever_happens_no_key_counts_that_was_not_down(
    story: list[tuple[int, int, int]],
) -> None:
    """Random pins, failures and stale reads: a press only ever names a key that was down."""
    table, _, board = ready()
    ever_down = 0
    for ms, low, trouble in story:
        board.low = low & 0x7F7F
        ever_down |= board.low
        board.errno = 121 if trouble == 1 else 0
        if trouble == 2:
            board.brown_out()
        elif trouble == 3:
            board.corrupt = lambda read: read[4:] + read[:4]
        elif trouble == 4:
            board.corrupt = lambda read: bytes(len(read))
        for press in of_kind(KeyPressed, table.run(ms)):
            assert ever_down & key(press.key)
    board.errno, board.corrupt, board.low = 0, None, 0
    table.run(1500)
    last = of_kind(StateReported, table.said)[-1]
    assert last.state is DeviceState.READY
    board.low = key("6")
    assert caps(table.run(120)) == ["6"]
