"""Lamps: shown is what was read back; a board that forgets is written again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from drivers.base import StateReported, WriteBlock
from drivers.mcp23017.lamps import LAMPS_1, LAMPS_2, LampsDriver
from drivers.orders import Lamp, Order, ShowLamps, ShowSign
from drivers.readings import Shown
from tests.drivers.mcp23017.model import MS, Bench, Board, of_kind

SEVEN: tuple[Lamp, ...] = ("live", "your turn", "open", "off", "pay", "collect", "void")


def bench() -> tuple[Bench, LampsDriver, Board, LampsDriver, Board]:
    one, two = (
        LampsDriver("lamps-1", 0x24, LAMPS_1),
        LampsDriver("lamps-2", 0x25, LAMPS_2, signals=True),
    )
    board_1, board_2 = Board(), Board()
    return Bench([(one, board_1), (two, board_2)]), one, board_1, two, board_2


def contents(readings: Sequence[object]) -> list[str]:
    return [shown.content for shown in of_kind(Shown, readings)]


def states(readings: Sequence[object]) -> list[tuple[str, str, str]]:
    return [
        (report.device, report.state.value, report.reason.code if report.reason else "")
        for report in of_kind(StateReported, readings)
    ]


def test_an_order_is_on_the_pins_at_once_and_shown_once() -> None:
    table, one, board_1, two, board_2 = bench()
    table.run(100)
    for driver in (one, two):
        assert driver.order(ShowLamps(SEVEN, beacon=True), table.now_us) == []
    said = table.run(3)
    assert (board_1.driven(), board_2.driven()) == (0x07B2, 0x1154)
    assert contents(said) == [
        "1 live, 2 your turn, 3 open, 4 off",
        "5 pay, 6 collect, 7 void, beacon on, buzzer off",
    ]
    one.order(ShowLamps(SEVEN, beacon=True), table.now_us)
    assert contents(table.run(2000)) == []


def test_lamps_are_read_back_at_least_every_second() -> None:
    table, one, _, _, _ = bench()
    table.run(100)
    before = one.counters["batches"]
    table.run(3000)
    assert 5 <= one.counters["batches"] - before <= 7


def test_lamps_stay_as_found_until_the_first_order() -> None:
    table, one, board, _, _ = bench()
    one.order(ShowLamps(SEVEN), table.now_us)
    table.run(100)
    again = LampsDriver("lamps-1", 0x24, LAMPS_1)
    later = Bench([(again, board)], now_us=table.now_us)
    said = later.run(1000)
    assert board.driven() == 0x07B2
    assert contents(said) == []
    assert not any(
        op.register == 0x14 and op.data == b"\0\0"
        for op in board.log[8:]
        if isinstance(op, WriteBlock)
    )


def test_a_brown_out_is_seen_and_the_lamps_lit_again() -> None:
    table, one, board, _, _ = bench()
    one.order(ShowLamps(SEVEN), table.now_us)
    table.run(100)
    board.brown_out()
    assert board.driven() == 0
    said = table.run(600)
    assert board.driven() == 0x07B2
    assert states(said) == [("lamps-1", "unknown", "E-EXP-003"), ("lamps-1", "ready", "")]
    assert contents(said) == ["1 live, 2 your turn, 3 open, 4 off"]


def test_a_latch_that_lost_a_bit_is_written_again_without_news() -> None:
    table, one, board, _, _ = bench()
    one.order(ShowLamps(SEVEN), table.now_us)
    table.run(100)
    board.regs[0x14] = 0x32
    said = table.run(600)
    assert board.driven() == 0x07B2
    assert states(said) == []
    assert one.counters["E-EXP-004"] == 1


def test_a_shorted_pin_degrades_and_names_itself() -> None:
    table, one, board, _, _ = bench()
    table.run(100)
    board.shorted = 0x0100
    one.order(ShowLamps(SEVEN), table.now_us)
    said = table.run(5000)
    assert states(said) == [("lamps-1", "degraded", "E-EXP-005")]
    (report,) = of_kind(StateReported, said)
    assert report.reason is not None
    assert "B0" in report.reason.detail
    assert contents(said) == []
    board.shorted = 0
    said = table.run(200)
    assert states(said) == [("lamps-1", "ready", "")]
    assert contents(said) == ["1 live, 2 your turn, 3 open, 4 off"]


def test_an_unplugged_lamp_board_is_unknown_within_a_second_and_comes_back_lit() -> None:
    table, one, board, _, _ = bench()
    one.order(ShowLamps(SEVEN), table.now_us)
    table.run(137)
    start = table.now_us
    board.errno = 121
    said = table.run(1000)
    assert states(said) == [
        ("lamps-1", "degraded", "E-EXP-001"),
        ("lamps-1", "unknown", "E-EXP-001"),
    ]
    assert of_kind(StateReported, said)[-1].at_us - start <= 1000 * MS
    board.brown_out()
    one.order(ShowLamps(("off",) * 7), table.now_us)
    table.run(1000)
    board.errno = 0
    said = table.run(400)
    assert contents(said) == ["1 off, 2 off, 3 off, 4 off"]
    assert board.driven() == 0


def test_an_order_during_a_batch_is_not_said_to_be_shown_by_it() -> None:
    table, one, board, _, _ = bench()
    table.run(100)
    one.order(ShowLamps(SEVEN), table.now_us)
    outcome = board.run(one.plan(table.now_us))
    one.order(ShowLamps(("void",) * 7), table.now_us)
    assert contents(one.finish(outcome, table.now_us)) == []
    assert contents(table.run(5)) == ["1 void, 2 void, 3 void, 4 void"]


@pytest.mark.parametrize(
    "order",
    [
        ShowSign("x"),
        ShowLamps(("off",) * 6),
        ShowLamps(cast("tuple[Lamp, ...]", ("blue",) * 7)),
    ],
)
def test_orders_that_make_no_sense_change_nothing(order: Order) -> None:
    table, one, board, _, _ = bench()
    one.order(ShowLamps(SEVEN), table.now_us)
    table.run(100)
    assert one.order(order, table.now_us) == []
    table.run(100)
    assert board.driven() == 0x07B2
