"""Credits: no chip is lost or counted twice, whoever restarts at whatever moment."""

from __future__ import annotations

import pytest

from drivers.base import StateReported
from drivers.orders import AcknowledgeCredit, EnableAcceptors, ReleaseCredit, ShowSign
from drivers.readings import CreditOffered, CreditReturned, CreditTaken, SwitchRead
from tests.drivers.mcp23017.credits import ALL_SEATS, SEAT, Floor, ready_floor
from tests.drivers.mcp23017.model import MS, of_kind


def credits_said(readings: list[object]) -> list[tuple[str, int, int]]:
    return [
        (type(r).__name__.removeprefix("Credit").lower(), r.seat, r.number)
        for r in readings
        if isinstance(r, CreditOffered | CreditTaken | CreditReturned)
    ]


def states(readings: list[object], device: str = "acceptors") -> list[tuple[str, str]]:
    return [
        (r.state.value, r.reason.code if r.reason else "")
        for r in of_kind(StateReported, readings)
        if r.device == device
    ]


def finish_and_play_one_more(floor: Floor, boards: int) -> None:
    """Let it settle; then the next chip must go its way as if nothing had been."""
    floor.run(2800)
    assert floor.disk.counted == floor.acceptor.box
    assert not floor.acceptor.throat
    assert floor.acceptor.box + floor.acceptor.returned == boards
    box = floor.acceptor.box
    assert floor.insert()
    floor.run(1000)
    assert floor.acceptor.box == box + 1 == floor.disk.counted
    assert not floor.disk.open
    assert states(floor.said)[-1][0] == "ready"


def test_a_credit_goes_through_its_four_steps() -> None:
    floor = ready_floor()
    assert floor.enable()
    floor.said.clear()
    assert floor.insert()
    floor.run(1000)
    assert credits_said(floor.said) == [("offered", SEAT, 1), ("taken", SEAT, 1)]
    assert (floor.acceptor.box, floor.disk.counted) == (1, 1)
    assert not floor.ack()
    assert floor.insert()
    floor.run(1000)
    assert credits_said(floor.said)[2:] == [("offered", SEAT, 2), ("taken", SEAT, 2)]


def test_nothing_is_acknowledged_before_the_table_says_so_nor_released() -> None:
    floor = ready_floor(write_ms=10_000_000)
    floor.insert()
    floor.run(3000)
    assert floor.acceptor.throat
    assert not floor.ack()
    floor.order(AcknowledgeCredit(SEAT, 1))
    floor.run(3000)
    assert credits_said(floor.said) == [("offered", SEAT, 1), ("taken", SEAT, 1)]
    assert floor.ack(), "acknowledge stands until the taken credit is on disk"
    assert not floor.insert()
    floor.order(ReleaseCredit(SEAT, 1))
    floor.run(100)
    assert not floor.ack()


def test_orders_for_another_number_seat_or_step_are_ignored() -> None:
    floor = ready_floor(write_ms=10_000_000)
    floor.order(AcknowledgeCredit(SEAT, 0))
    floor.order(ReleaseCredit(SEAT, 0))
    floor.insert()
    floor.run(300)
    for order in (
        AcknowledgeCredit(SEAT, 2),
        AcknowledgeCredit(4, 1),
        AcknowledgeCredit(0, 1),
        AcknowledgeCredit(8, 1),
        ReleaseCredit(SEAT, 1),
        ReleaseCredit(99, 1),
        ShowSign("x"),
    ):
        floor.order(order)
    floor.run(1000)
    assert floor.acceptor.throat
    assert not floor.ack()
    assert floor.acceptors.counters["orders ignored"] == 8


@pytest.mark.parametrize("write_ms", [0, 35, 140])
@pytest.mark.parametrize("down_ms", [1, 1700])
def test_host_restart_at_every_moment_of_the_handshake(write_ms: int, down_ms: int) -> None:
    """The expanders keep their registers: the latch remembers what the host forgot."""
    seen: set[tuple[bool, bool, bool]] = set()
    for crash_ms in range(0, 900, 17):
        floor = ready_floor(write_ms)
        floor.insert()
        floor.run(crash_ms)
        seen.add((floor.acceptor.throat, floor.ack(), floor.disk.open))
        floor.down(down_ms)
        floor.boot()
        finish_and_play_one_more(floor, boards=1)
        assert floor.acceptor.box >= 1
    assert {(line, ack) for line, ack, _ in seen} >= {(True, False), (True, True), (False, False)}
    if write_ms:
        assert (False, True, True) in seen, "step 3: dropped, not yet on disk"


@pytest.mark.parametrize("write_ms", [0, 35])
def test_two_restarts_in_one_handshake(write_ms: int) -> None:
    for first in range(0, 500, 80):
        for second in range(0, 500, 80):
            floor = ready_floor(write_ms)
            floor.insert()
            floor.run(first)
            floor.down(3)
            floor.boot()
            floor.run(second)
            floor.down(3)
            floor.boot()
            finish_and_play_one_more(floor, boards=1)


@pytest.mark.parametrize("write_ms", [0, 35])
def test_power_cut_at_every_moment_of_the_handshake(write_ms: int) -> None:
    """Registers are gone too: no chip is counted twice or lost, or a person is asked."""
    doubts = 0
    for crash_ms in range(0, 900, 17):
        floor = ready_floor(write_ms)
        floor.insert()
        floor.run(crash_ms)
        acknowledged = floor.ack()
        floor.sensors_board.brown_out()
        floor.acceptors_board.brown_out()
        floor.acceptor.power_cycle()
        floor.down(700)
        floor.boot()
        floor.run(2800)
        if floor.disk.doubts:
            doubts += 1
            assert acknowledged, "only a chip that was acknowledged can have gone unseen"
        assert floor.disk.counted == floor.acceptor.box == 1
        assert states(floor.said)[-1] == ("ready", "E-ACC-003")
    assert doubts <= 20


def test_a_lost_register_beside_ready_is_said_once_per_start() -> None:
    floor = ready_floor()
    assert states(floor.said) == [("ready", "E-ACC-003")]
    floor.said.clear()
    floor.boot()
    floor.run(500)
    assert states(floor.said) == [("ready", "")]


@pytest.mark.parametrize("outage_ms", [0, 30, 700])
def test_a_brown_out_of_the_acceptors_board_at_every_moment(outage_ms: int) -> None:
    """The host lives: it gives the chip back, goes on, or says that it does not know."""
    doubts = 0
    for moment in range(0, 700, 17):
        floor = ready_floor(35)
        floor.insert()
        floor.run(moment)
        floor.acceptors_board.brown_out()
        floor.acceptors_board.errno = 121 if outage_ms else 0
        floor.run(outage_ms)
        floor.acceptors_board.errno = 0
        floor.run(3500)
        if states(floor.said)[-1] == ("degraded", "E-ACC-002"):
            doubts += 1
            assert floor.ack(), "blocked until a person has ruled"
            assert floor.acceptors_board.driven() & 0x80
            assert not floor.insert()
            assert floor.disk.open
            floor.boot()  # even a restart does not take the rewritten latch for proof
            floor.run(1000)
            assert states(floor.said)[-1] == ("degraded", "E-ACC-002")
            floor.order(ReleaseCredit(SEAT, 0))
            floor.run(500)
            assert states(floor.said)[-1] == ("ready", "")
            assert floor.insert()
            continue
        finish_and_play_one_more(floor, boards=1)
    assert 0 < doubts <= 30


@pytest.mark.parametrize("board", ["sensors_board", "acceptors_board"])
@pytest.mark.parametrize("outage_ms", [40, 400, 1500])
def test_a_chip_that_does_not_answer_for_a_while(board: str, outage_ms: int) -> None:
    """Registers stay. The credit may come late; it may be in doubt only if its write failed."""
    for moment in range(0, 700, 23):
        floor = ready_floor()
        floor.insert()
        floor.run(moment)
        getattr(floor, board).errno = 121
        floor.run(outage_ms)
        getattr(floor, board).errno = 0
        finish_and_play_one_more(floor, boards=1)
        assert floor.acceptor.returned == 0


def test_a_write_that_was_never_verified_proves_nothing() -> None:
    floor = ready_floor(write_ms=10_000_000)
    floor.insert()
    floor.run(200)
    floor.order(AcknowledgeCredit(SEAT, 1))
    board = floor.acceptors_board
    ops = floor.acceptors.plan(floor.now_us)
    board.run(ops[:1])  # the latch took it, the rest of the batch did not come through
    board.errno = 121
    floor.run(600)
    assert floor.acceptor.box == 1
    board.errno = 0
    floor.run(500)
    assert ("taken", SEAT, 1) not in credits_said(floor.said)
    assert states(floor.said)[-1] == ("degraded", "E-ACC-002")


def test_a_seat_disabled_at_step_1_gives_the_chip_back_and_is_never_acknowledged() -> None:
    floor = ready_floor(write_ms=120)
    floor.insert()
    floor.run(100)
    assert credits_said(floor.said) == [("offered", SEAT, 1)]
    floor.order(EnableAcceptors(frozenset()))
    floor.run(50)  # now the acknowledgement for it arrives, and a change of mind
    floor.order(AcknowledgeCredit(SEAT, 1))
    floor.order(EnableAcceptors(ALL_SEATS))
    floor.run(100)
    assert not floor.ack()
    assert not floor.enable()
    floor.run(2500)
    assert credits_said(floor.said) == [("offered", SEAT, 1), ("returned", SEAT, 1)]
    assert floor.acceptor.returned == 1
    assert floor.disk.counted == 0
    assert floor.enable()
    finish_and_play_one_more(floor, boards=1)


def test_a_chip_drawn_in_while_its_seat_is_disabled_goes_back() -> None:
    for ms in range(0, 60, 3):
        floor = ready_floor()
        floor.insert()
        floor.run(ms)
        if floor.ack():
            break
        floor.order(EnableAcceptors(frozenset()))
        floor.run(2800)
        assert floor.disk.counted == floor.acceptor.box == 0
        assert floor.acceptor.returned == 1
    else:
        pytest.fail("the credit was never acknowledged")


def test_a_seat_disabled_after_step_2_keeps_its_enable_until_step_4() -> None:
    floor = ready_floor()
    floor.insert()
    while not floor.ack():
        floor.run(1)
    floor.order(EnableAcceptors(frozenset()))
    floor.run(100)
    assert floor.enable()
    floor.run(1000)
    assert (floor.acceptor.box, floor.disk.counted) == (1, 1)
    assert not floor.enable()


def test_restart_while_a_chip_goes_back() -> None:
    for ms in range(0, 1300, 50):
        floor = ready_floor(write_ms=200)
        floor.insert()
        floor.run(80)
        floor.order(EnableAcceptors(frozenset()))
        floor.run(60 + ms)
        floor.down(5)
        floor.boot()  # orders all seats enabled at once
        floor.run(3000)
        assert floor.acceptor.box == floor.disk.counted == 0
        assert floor.acceptor.returned == 1
        finish_and_play_one_more(floor, boards=1)


def test_an_acceptor_that_does_not_let_go_is_reported_after_two_seconds() -> None:
    floor = ready_floor()
    floor.insert()
    floor.acceptor.jammed = True
    floor.said.clear()
    floor.run(1900)
    assert states(floor.said) == []
    floor.run(500)
    assert states(floor.said) == [("degraded", "E-ACC-001")]
    floor.acceptor.jammed = False
    floor.run(1000)
    assert states(floor.said)[-1] == ("ready", "")
    assert (floor.acceptor.box, floor.disk.counted) == (1, 1)


def test_lost_credit_lines_are_said_and_nothing_is_acknowledged_meanwhile() -> None:
    floor = ready_floor(write_ms=10_000_000)
    floor.insert()
    floor.run(200)
    floor.sensors_board.errno = 121
    floor.run(1000)
    assert states(floor.said)[-1] == ("degraded", "E-ACC-004")
    floor.order(AcknowledgeCredit(SEAT, 1))
    floor.run(1000)
    assert not floor.ack()
    floor.sensors_board.errno = 0
    floor.run(1000)
    assert states(floor.said)[-1] == ("ready", "")
    assert floor.acceptor.box == 1
    assert credits_said(floor.said) == [("offered", SEAT, 1), ("taken", SEAT, 1)]


def test_one_corrupted_read_of_the_lines_is_no_credit_and_no_release() -> None:
    floor = ready_floor()

    def flip(read: bytes) -> bytes:
        return read[:0x13] + bytes((read[0x13] ^ 0x7F,)) + read[0x14:]

    for _ in range(20):
        floor.sensors_board.corrupt = flip
        floor.run(130)
    assert credits_said(floor.said) == []
    floor.write_ms = 10_000_000
    floor.insert()
    floor.run(200)
    for _ in range(20):
        floor.sensors_board.corrupt = flip
        floor.run(130)
    assert credits_said(floor.said) == [("offered", SEAT, 1)]


def test_the_line_is_unknown_at_the_start_and_nobody_is_ready_before_it_is_not() -> None:
    floor = Floor()
    floor.sensors_board.errno = 19
    floor.run(2000)
    assert states(floor.said) == []
    floor.sensors_board.errno = 0
    floor.run(600)
    assert states(floor.said) == [("ready", "E-ACC-003")]


def test_progressive_sensors_report_their_level_at_the_start_and_each_change() -> None:
    floor = ready_floor()
    first = [(r.name, r.on) for r in of_kind(SwitchRead, floor.said)]
    assert first == [(f"progressive seat {n}", False) for n in range(1, 8)]
    floor.said.clear()
    floor.bench.now_us = floor.now_us
    floor.sensors_board.low = 0x41
    said = floor.bench.run(200)
    assert [(r.name, r.on) for r in of_kind(SwitchRead, said)] == [
        ("progressive seat 1", True),
        ("progressive seat 7", True),
    ]
    floor.sensors_board.brown_out()
    said = floor.bench.run(300)
    assert len(of_kind(SwitchRead, said)) == 7
    assert states(said, "sensors") == [("unknown", "E-EXP-003"), ("ready", "")]


def test_at_rest_the_acceptors_board_is_polled_seldom() -> None:
    floor = ready_floor()
    floor.run(1000)
    before = floor.acceptors.counters["batches"]
    floor.run(3000)
    assert floor.acceptors.counters["batches"] - before <= 7
    assert floor.sensors.wake_us - floor.now_us <= 50 * MS
