"""The bus: one batch at a time, nobody starves, a stuck bus is everybody's silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from errno import errorcode
from itertools import pairwise
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.base import (
    BusDone,
    BusFailed,
    BusOp,
    Counters,
    DeviceState,
    Fault,
    ReadByte,
    StateReported,
)
from drivers.bus import BusAction, BusMachine, RecoverBus
from drivers.mcp23017.keys import KEYS_1, KeysDriver
from drivers.mcp23017.lamps import LAMPS_1, LampsDriver
from drivers.orders import Kinds, Order, ShowPrompt, ShowSign
from drivers.readings import Reading, Shown
from tests.drivers.mcp23017.model import Board

MS = 1_000
SECOND = 1_000_000
T = 9_000 * SECOND
DONE = BusDone((b"\x00",))


class Part:
    """A board driver that counts; due ``every_us`` after its last batch."""

    takes: ClassVar[Kinds] = frozenset((ShowSign,))

    def __init__(self, address: int, every_us: int, *, idle: bool = False) -> None:
        self.name = f"part-{address:02x}"
        self.address = address
        self.counters: Counters = Counter()
        self.every_us = every_us
        self.idle = idle
        self.due_us = 0
        self.ran_us: list[int] = []
        self.lost: list[str] = []

    @property
    def wake_us(self) -> int:
        return self.due_us

    def plan(self, now_us: int) -> tuple[BusOp, ...]:
        self.due_us = now_us + self.every_us
        return () if self.idle else (ReadByte(),)

    def finish(self, outcome: BusDone | BusFailed, now_us: int) -> list[Reading]:
        self.ran_us.append(now_us)
        self.due_us = now_us + self.every_us if self.every_us else 0
        return [Shown(self.name, str(outcome), now_us)]

    def order(self, order: Order, now_us: int) -> list[Reading]:
        return [Shown(self.name, str(order), now_us)]

    def bus_lost(self, why: str, now_us: int) -> list[Reading]:
        self.lost.append(why)
        return [Shown(self.name, "lost", now_us)]


def name_of(batch: tuple[object, object] | None) -> str | None:
    return None if batch is None else getattr(batch[0], "name", None)


def test_one_batch_at_a_time_earliest_due_first() -> None:
    early, late = Part(0x20, 50 * MS), Part(0x21, 50 * MS)
    early.due_us, late.due_us = T + 5, T + 3
    bus = BusMachine([early, late])
    assert bus.wake_us == T + 3
    assert bus.next_batch(T) is None
    assert name_of(bus.next_batch(T + 10)) == "part-21"
    assert bus.next_batch(T + 10) is None
    assert bus.wake_us == T + 10 + 500 * MS
    assert bus.finished(DONE, T + 12) == [Shown("part-21", str(DONE), T + 12)]
    assert name_of(bus.next_batch(T + 12)) == "part-20"


def test_a_board_that_is_always_due_does_not_starve_the_others() -> None:
    greedy, modest, third = Part(0x20, 0), Part(0x21, 50 * MS), Part(0x22, 50 * MS)
    bus, now = BusMachine([greedy, modest, third]), T
    while now < T + SECOND:
        batch = bus.next_batch(now)
        now += 3 * MS
        if batch is not None:
            bus.finished(BusFailed(0, 121) if batch[0] is greedy else DONE, now)
    assert len(modest.ran_us) >= 17
    assert len(third.ran_us) >= 17
    gaps = [b - a for a, b in pairwise(modest.ran_us)]
    assert max(gaps) <= 60 * MS


@given(st.lists(st.integers(0, 40), min_size=2, max_size=11), st.integers(1, 30))
@settings(max_examples=40)
def test_every_board_gets_its_turn_even_on_a_bus_that_is_too_slow(
    periods: list[int], batch_ms: int
) -> None:
    parts = [Part(0x20 + i, period * MS) for i, period in enumerate(periods)]
    bus, now = BusMachine(parts), T
    for _ in range(60):
        batch = bus.next_batch(now)
        now += batch_ms * MS
        if batch is not None:
            bus.finished(DONE, now)
    # Nobody waits longer than one round of all the others after being due.
    longest = (max(periods) + (len(parts) + 1) * batch_ms) * MS
    for part in parts:
        runs = [T, *part.ran_us, now]
        assert max(b - a for a, b in pairwise(runs)) <= longest + batch_ms * MS


def test_a_board_with_nothing_to_do_is_passed_over() -> None:
    idle, other = Part(0x20, 50 * MS, idle=True), Part(0x21, 50 * MS)
    bus = BusMachine([idle, other])
    assert name_of(bus.next_batch(T)) == "part-21"
    alone = BusMachine([Part(0x20, 0, idle=True)])
    assert alone.next_batch(T) is None


def test_a_batch_without_outcome_loses_every_board_and_asks_for_one_recovery() -> None:
    one, two = Part(0x20, 50 * MS), Part(0x21, 50 * MS)
    bus = BusMachine([one, two])
    bus.next_batch(T)
    assert bus.timed_out(T + 500 * MS - 1) == []
    deadline = bus.wake_us
    assert deadline == T + 500 * MS
    said = bus.timed_out(deadline)
    assert [(s.device, s.content) for s in said if isinstance(s, Shown)] == [
        ("part-20", "lost"),
        ("part-21", "lost"),
    ]
    assert isinstance(said[-1], RecoverBus)
    assert said[-1].reason.code == "E-BUS-001"
    assert bus.stuck
    assert bus.next_batch(deadline + 1) is None
    assert bus.finished(DONE, deadline + 2) == [], "too late"
    assert bus.counters["late"] == 1
    assert bus.recovered(worked=True, now_us=deadline + 3) == []
    assert name_of(bus.next_batch(deadline + 3)) is not None


def test_recovery_comes_at_most_every_ten_seconds() -> None:
    part = Part(0x20, 50 * MS)
    bus, now = BusMachine([part]), T
    asked: list[int] = []
    while now < T + 45 * SECOND:
        said: list[BusAction] = []
        if bus.next_batch(now) is None:
            said = bus.timed_out(now)  # no batch ever ends
        if any(isinstance(s, RecoverBus) for s in said):
            asked.append(now)
            bus.recovered(worked=len(asked) % 2 == 0, now_us=now + MS)
        now += 50 * MS
    assert len(asked) == 5
    assert all(b - a >= 10 * SECOND for a, b in pairwise(asked))
    assert bus.counters["recoveries"] == 2
    assert bus.counters["recoveries failed"] == 3


def test_a_recovery_without_answer_fails_after_two_seconds() -> None:
    bus = BusMachine([Part(0x20, 50 * MS)])
    bus.next_batch(T)
    bus.timed_out(T + 500 * MS)
    assert bus.wake_us == T + 2_500 * MS
    assert bus.timed_out(T + 2_499 * MS) == []
    assert bus.timed_out(T + 2_500 * MS) == []
    assert bus.wake_us == T + 10_500 * MS
    (again,) = bus.timed_out(T + 10_500 * MS)
    assert isinstance(again, RecoverBus)


def test_time_outs_of_two_boards_in_a_row_are_a_stuck_bus() -> None:
    one, two = Part(0x20, 50 * MS), Part(0x21, 50 * MS)
    bus = BusMachine([one, two])
    bus.next_batch(T)
    failed = BusFailed(0, 110)
    assert bus.finished(failed, T + MS) == [Shown("part-20", str(failed), T + MS)]
    bus.next_batch(T + MS)
    said = bus.finished(BusFailed(0, 110), T + 2 * MS)
    assert isinstance(said[-1], RecoverBus)
    assert said[-1].reason.code == "E-BUS-002"
    assert one.lost
    assert two.lost


def test_a_board_that_times_out_alone_leaves_the_bus_alone() -> None:
    ill, well = Part(0x20, 10 * MS), Part(0x21, 50 * MS)
    bus, now = BusMachine([ill, well]), T
    for _ in range(100):
        batch = bus.next_batch(now)
        now += 5 * MS
        if batch is not None:
            bus.finished(BusFailed(0, 110) if batch[0] is ill else DONE, now)
    assert not bus.stuck
    assert well.ran_us


def test_time_outs_of_two_boards_with_a_good_batch_between_are_no_stuck_bus() -> None:
    bus, now = BusMachine([Part(0x20 + n, SECOND) for n in range(3)]), T
    for outcome in (BusFailed(0, 110), DONE, BusFailed(0, 110)):
        assert bus.next_batch(now) is not None
        now += MS
        bus.finished(outcome, now)
    assert not bus.stuck


def run_for(
    bus: BusMachine, from_us: int, long_us: int, outcome: Callable[[str], BusDone | BusFailed]
) -> list[tuple[int, RecoverBus]]:
    """Batches end as ``outcome`` says by board; recoveries work. When each was asked for."""
    asked = []
    for now in range(from_us, from_us + long_us, 5 * MS):
        said = bus.timed_out(now) if bus.stuck else []
        if (batch := bus.next_batch(now)) is not None:
            said += bus.finished(outcome(batch[0].name), now)
        for one in said:
            if isinstance(one, RecoverBus):
                asked.append((now, one))
                bus.recovered(worked=True, now_us=now)
    return asked


def failing(errno: int, only: str = "") -> Callable[[str], BusDone | BusFailed]:
    return lambda name: DONE if only and name != only else BusFailed(0, errno)


def test_whatever_error_every_board_fails_with_the_bus_is_opened_again() -> None:
    for errno in sorted(errorcode):
        parts = [Part(0x20 + n, 50 * MS) for n in range(5)]
        bus = BusMachine(parts)
        run_for(bus, T, SECOND, lambda _: DONE)
        asked = run_for(bus, T + SECOND, 10 * SECOND, failing(errno))
        assert asked, errorcode[errno]
        held = errno == 110
        assert {one.reason.code for _, one in asked} == {"E-BUS-002" if held else "E-BUS-004"}
        assert asked[0][0] - (T + SECOND) <= SECOND
        apart = [b - a for (a, _), (b, _) in pairwise(asked)]
        assert all(gap >= (10 if held else 1) * SECOND for gap in apart)
        assert held or max(apart) <= 1_100 * MS
        later = T + 30 * SECOND
        assert not [at for at, _ in run_for(bus, later, SECOND, lambda _: DONE) if at > later]
        assert not bus.stuck


def test_whatever_error_one_board_fails_with_the_others_keep_the_bus() -> None:
    for errno in sorted(errorcode):
        ill, *well = parts = [Part(0x20 + n, 50 * MS) for n in range(5)]
        asked = run_for(BusMachine(parts), T, 10 * SECOND, failing(errno, ill.name))
        assert asked == [], errorcode[errno]
        assert all(len(part.ran_us) > 100 for part in well)


def test_an_adapter_that_is_gone_loses_the_bus_at_once_and_is_looked_for_every_second() -> None:
    one, two = Part(0x20, 50 * MS), Part(0x21, 50 * MS)
    bus = BusMachine([one, two])
    gone = BusFailed(0, 19, "/dev/i2c-1: No such device")
    asked = run_for(bus, T, 5 * SECOND, lambda _: gone)
    assert {r.reason for _, r in asked} == {Fault("E-BUS-003", "/dev/i2c-1: No such device")}
    assert asked[0][0] == T
    assert len(asked) == 5
    assert one.lost[0] == two.lost[0] == "E-BUS-003: /dev/i2c-1: No such device"


def test_the_only_board_of_a_bus_times_out_twice() -> None:
    bus = BusMachine([Part(0x20, 0)])
    for n in (1, 2):
        assert bus.next_batch(T + n * MS) is not None
        bus.finished(BusFailed(0, 110), T + n * MS)
    assert bus.stuck


def test_an_outcome_with_an_old_number_is_ignored() -> None:
    part = Part(0x20, 0)
    bus = BusMachine([part])
    bus.next_batch(T)
    old = bus.number
    bus.timed_out(T + SECOND)
    bus.recovered(worked=True, now_us=T + SECOND)
    bus.next_batch(T + 2 * SECOND)
    assert bus.finished(DONE, T + 2 * SECOND, old) == []
    assert part.ran_us == []
    told = Shown("part-20", str(DONE), T + 2 * SECOND)
    assert bus.finished(DONE, T + 2 * SECOND, bus.number) == [told]


def test_orders_go_to_whom_they_concern_and_nudges_to_boards_with_inputs() -> None:
    keys, lamps = KeysDriver("keys-1", 0x20, KEYS_1), LampsDriver("lamps-1", 0x24, LAMPS_1)
    bus = BusMachine([keys, lamps, part := Part(0x30, SECOND)])
    assert bus.order(ShowSign("x"), T) == [Shown("part-30", str(ShowSign("x")), T)]
    assert bus.takes(ShowSign("x"))
    assert not bus.takes(ShowPrompt(("", "", "", "")))
    assert bus.order(ShowPrompt(("", "", "", "")), T) == []
    boards = {0x20: Board(), 0x24: Board()}
    now = T
    while (batch := bus.next_batch(now)) is not None or now < T + 100 * MS:
        if batch is not None:
            board = boards.get(batch[0].address)
            bus.finished(board.run(batch[1]) if board else DONE, now)
        now += MS
    due = keys.wake_us
    bus.nudge(due - 5 * MS)
    assert keys.wake_us == due - 5 * MS
    assert lamps.wake_us > now + 100 * MS
    assert part.ran_us


def test_two_boards_at_one_address_are_refused_and_an_empty_bus_sleeps() -> None:
    with pytest.raises(ValueError, match="0x20"):
        BusMachine([Part(0x20, 0), Part(0x20, 0)])
    assert BusMachine([]).wake_us is None
    assert BusMachine([]).next_batch(T) is None


def test_a_stuck_bus_makes_real_boards_unknown_within_a_second_and_they_come_back() -> None:
    boards = {0x20: Board(), 0x24: Board()}
    bus = BusMachine([KeysDriver("keys-1", 0x20, KEYS_1), LampsDriver("lamps-1", 0x24, LAMPS_1)])
    now, said, stuck_at, hangs = T, list[StateReported](), T + SECOND, 0

    def hear(readings: list[BusAction]) -> None:
        nonlocal hangs
        said.extend(r for r in readings if isinstance(r, StateReported))
        for reading in readings:
            if isinstance(reading, RecoverBus):
                hangs += 1
                bus.recovered(worked=True, now_us=now)

    while now < T + 30 * SECOND:
        stuck = stuck_at <= now < T + 15 * SECOND
        if (batch := bus.next_batch(now)) is not None and not stuck:
            hear(bus.finished(boards[batch[0].address].run(batch[1]), now))
        hear(bus.timed_out(now))
        now += 5 * MS
    first = [r for r in said if r.state is DeviceState.UNKNOWN]
    assert {r.device for r in first} == {"keys-1", "lamps-1"}
    assert max(r.at_us for r in first[:2]) - stuck_at <= SECOND
    assert [r.state for r in said[-2:]] == [DeviceState.READY, DeviceState.READY]
    assert hangs == 3
