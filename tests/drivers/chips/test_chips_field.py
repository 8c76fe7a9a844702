"""The chip field: when a reading becomes a fact, and when it never does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import DeviceState, Fault, StateReported
from drivers.chips.field import ChipField
from drivers.chips.policy import NOT_READ, Policy
from drivers.orders import LockCards, WatchAntennas
from drivers.readings import (
    Antenna,
    AntennaFailed,
    AntennaRead,
    KeyPressed,
    SpotLost,
    SpotMoving,
    SpotSettled,
    TagOnTwoSpots,
    Uid,
)

A, B, C = Antenna("chips-1", 1, 1), Antenna("chips-1", 1, 2), Antenna("chips-2", 5, 1)
T, U, V = Uid("E004010000000001"), Uid("E004010000000002"), Uid("E004010000000003")
STEP_US = 100_000


class Table:
    """A field with its clock: every read takes a tenth of a second."""

    def __init__(self, *antennas: Antenna, policy: Policy | None = None) -> None:
        self.field = ChipField(policy)
        self.now_us = 1_000_000
        self.heard: list[object] = []
        self.take(self.field.order(WatchAntennas(frozenset(antennas)), self.now_us))

    def take(self, out: Sequence[object]) -> None:
        self.heard += out
        settled = self.settled_now()
        tags = [tag for some in settled.values() for tag in some]
        assert len(tags) == len(set(tags)), "a tag is settled on two spots"

    def settled_now(self) -> dict[Antenna, frozenset[Uid]]:
        """What a listener holds to be settled, after everything reported so far."""
        held: dict[Antenna, frozenset[Uid]] = {}
        for item in self.heard:
            if isinstance(item, SpotSettled):
                held[item.antenna] = item.tags
            elif isinstance(item, SpotMoving | SpotLost):
                held.pop(item.antenna, None)
        return held

    def read(self, antenna: Antenna, *tags: Uid, after_us: int = STEP_US) -> Table:
        self.now_us += after_us
        reading = AntennaRead(antenna.reader, antenna, frozenset(tags), self.now_us)
        self.take(self.field.heard(reading, self.now_us))
        return self

    def reads(self, times: int, antenna: Antenna, *tags: Uid) -> Table:
        for _ in range(times):
            self.read(antenna, *tags)
        return self

    def state(self, device: str, state: DeviceState, code: str = "E-FEIG-010") -> Table:
        reason = Fault(code, "") if state is not DeviceState.READY else None
        reported = StateReported(device, state, reason, self.now_us)
        self.take(self.field.heard(reported, self.now_us))
        return self

    def told(self) -> Sequence[object]:
        """What was reported, without times; forgets it."""
        out: list[object] = []
        for item in self.heard:
            if isinstance(item, SpotSettled):
                out.append((item.antenna, set(item.tags)))
            elif isinstance(item, SpotMoving):
                out.append((item.antenna, "moving"))
            elif isinstance(item, SpotLost):
                out.append((item.antenna, item.code))
            elif isinstance(item, TagOnTwoSpots):
                out.append((item.tag, item.antennas))
            else:
                out.append(item)
        self.heard = [SpotSettled(a, tags, 0) for a, tags in self.settled_now().items()]
        return out


def test_a_chip_counts_after_two_inventories_three_tenths_of_a_second_apart() -> None:
    table = Table(A).reads(3, A, T)
    assert table.told() == []
    assert table.read(A, T).told() == [(A, {T})]
    assert table.reads(20, A, T).told()[1:] == []


def test_a_settled_spot_says_when_it_was_first_read_so() -> None:
    table = Table(A).reads(2, A, U).reads(4, A, T, U)
    (settled,) = table.heard
    assert settled == SpotSettled(A, frozenset((T, U)), 1_600_000, since_us=1_300_000)


def test_two_inventories_far_apart_are_enough_and_one_never_is() -> None:
    table = Table(A).read(A, T, after_us=10_000_000)
    assert table.told() == []
    assert table.read(A, T, after_us=300_000).told() == [(A, {T})]


def test_many_inventories_in_no_time_are_not_enough() -> None:
    table = Table(A)
    for _ in range(100):
        table.read(A, T, after_us=2_999)
    assert table.told() == []


def test_an_empty_spot_is_said_to_be_empty_once() -> None:
    assert Table(A).reads(30, A).told() == [(A, set())]


def test_leaving_takes_three_inventories_and_a_second() -> None:
    table = Table(A).reads(5, A, T, U)
    table.told()
    table.reads(10, A, T)
    assert table.told()[1:] == []
    assert table.read(A, T).told()[1:] == [(A, {T})]


def test_leaving_needs_three_inventories_however_slow() -> None:
    table = Table(A).reads(5, A, T)
    table.told()
    table.read(A, after_us=5_000_000).read(A, after_us=5_000_000)
    assert table.told()[1:] == []
    assert table.read(A, after_us=5_000_000).told()[1:] == [(A, set())]


@pytest.mark.parametrize("wrong", [(), (U,), (T, U)], ids=["none", "another", "one more"])
def test_a_single_wrong_inventory_is_not_even_noticed(wrong: tuple[Uid, ...]) -> None:
    table = Table(A).reads(5, A, T)
    table.told()
    table.reads(5, A, T).read(A, *wrong).reads(30, A, T)
    assert table.told()[1:] == []


@given(
    st.lists(st.sets(st.sampled_from([T, U, V])).map(frozenset), min_size=1, max_size=40),
    st.integers(1, 2_000_000),
)
def test_nothing_settles_that_was_not_read_twice_in_a_row(
    reads: list[frozenset[Uid]], step_us: int
) -> None:
    field = ChipField()
    field.order(WatchAntennas(frozenset({A})), 0)
    now = 0
    last: frozenset[Uid] | None = None
    for tags in reads:
        now += step_us
        for item in field.heard(AntennaRead("chips-1", A, tags, now), now):
            if isinstance(item, SpotSettled):
                assert item.tags == tags == last
        last = tags


@pytest.mark.parametrize("cycle_us", [31_000, 43_000, 67_000, 77_000, 88_000, 130_000, 170_000])
def test_a_tag_flapping_at_twenty_hertz_moves_once_and_settles_once(cycle_us: int) -> None:
    table = Table(A).reads(5, A, T, U)
    table.told()
    end_us = table.now_us + 20_000_000
    while table.now_us < end_us:
        there = (table.now_us + cycle_us) // 50_000 % 2
        table.read(A, *((T, U) if there else (T,)), after_us=cycle_us)
    assert table.told()[1:] == [(A, "moving")]
    for _ in range(60):
        table.read(A, T, U, after_us=cycle_us)
    assert table.told() == [(A, {T, U})]


def test_a_stack_of_twenty_laid_down_chip_by_chip_settles_once() -> None:
    table = Table(A)
    stack = [Uid(f"E0040100000001{n:02X}") for n in range(20)]
    for n in range(20):
        table.read(A, *stack[: n + 1])
    table.reads(15, A, *stack)
    assert table.told() == [(A, "moving"), (A, set(stack))]


# --- losses ------------------------------------------------------------------------------------


def test_a_failed_antenna_loses_its_spot_once_and_settles_anew() -> None:
    table = Table(A, B).reads(5, A, T).reads(5, B, U)
    table.told()
    for _ in range(5):
        failed = AntennaFailed("chips-1", A, "E-FEIG-020", table.now_us)
        table.take(table.field.heard(failed, table.now_us))
    assert table.told()[2:] == [(A, "E-FEIG-020")]
    assert table.reads(5, A, T).told()[1:] == [(A, {T})]


def test_a_chip_gone_after_a_loss_counts_as_leaving() -> None:
    table = Table(A).reads(5, A, T)
    table.state("chips-1", DeviceState.UNKNOWN).state("chips-1", DeviceState.READY)
    table.told()
    assert table.reads(10, A).told() == []
    assert table.read(A).told() == [(A, set())]


@pytest.mark.parametrize("state", [DeviceState.UNKNOWN, DeviceState.LOCKED])
def test_a_lost_reader_loses_its_spots_and_no_others(state: DeviceState) -> None:
    table = Table(A, B, C).reads(5, A, T).reads(5, C, U)
    table.told()
    assert table.state("chips-1", state).told()[2:] == [(A, "E-FEIG-010"), (B, "E-FEIG-010")]


def test_a_degraded_reader_loses_nothing() -> None:
    table = Table(A).reads(5, A, T)
    table.told()
    assert table.state("chips-1", DeviceState.DEGRADED).told()[1:] == []


def test_a_spot_watched_while_its_reader_is_away_is_lost_from_the_start() -> None:
    table = Table().state("chips-1", DeviceState.UNKNOWN)
    table.take(table.field.order(WatchAntennas(frozenset({A})), table.now_us))
    assert table.told() == [(A, "E-FEIG-010")]
    assert table.field.wake_us is None


def test_an_antenna_that_nobody_reads_is_lost_in_the_end() -> None:
    table = Table(A, C).reads(5, A, T)
    table.told()
    wake_us = table.field.wake_us
    assert wake_us == 1_000_000 + Policy().stale_us(1)
    table.take(table.field.advance(wake_us - 1))
    assert table.told()[1:] == []
    table.take(table.field.advance(wake_us))
    assert table.told()[1:] == [(C, NOT_READ)]


def test_a_spot_watched_again_settles_anew_and_one_still_watched_does_not() -> None:
    table = Table(A, B).reads(5, A, T).reads(5, B, U)
    table.told()
    table.take(table.field.order(WatchAntennas(frozenset({A})), table.now_us))
    table.take(table.field.order(WatchAntennas(frozenset({A, B})), table.now_us))
    table.reads(5, A, T).reads(5, B, U)
    assert table.told()[2:] == [(B, {U})]


def test_what_is_not_about_watched_chips_is_ignored() -> None:
    table = Table(A).reads(5, B, T)
    table.take(table.field.heard(KeyPressed("keys-1", "RIDE", 0), table.now_us))
    table.take(table.field.order(LockCards(locked=True), table.now_us))
    assert table.told() == []
    assert table.field.counters["readings not wanted"] == 5


# --- one tag, two spots ------------------------------------------------------------------------


def test_a_chip_moved_to_another_spot_is_no_duplicate_and_counts_once() -> None:
    table = Table(A, B).reads(5, A, T).reads(5, B)
    table.told()
    table.read(B, T)
    for _ in range(12):
        table.read(A).read(B, T)
    assert table.told()[2:] == [(A, set()), (B, {T})]


def test_a_tag_that_two_antennas_keep_seeing_is_on_two_spots() -> None:
    table = Table(A, B).reads(5, A, T).reads(5, B)
    table.told()
    table.read(B, T).read(A, T)
    assert table.told()[2:] == []
    table.read(B, T)
    assert table.told()[2:] == []
    table.read(A, T)
    assert table.told()[2:] == [(T, (A, B)), (A, "moving"), (B, "moving")]
    for _ in range(30):
        table.read(A, T).read(B, T)
    assert table.told() == []


def test_a_duplicate_ends_when_one_antenna_sees_it_no_more() -> None:
    table = Table(A, B)
    for _ in range(10):
        table.read(A, T).read(B, T)
    assert (T, (A, B)) in table.told()
    table.read(A, T).read(B)
    for _ in range(8):
        table.read(A, T).read(B)
    assert table.told() == [(A, {T}), (B, set())]


def test_one_look_at_a_neighbours_chip_is_no_duplicate() -> None:
    table = Table(A, B)
    for n in range(40):
        table.read(A, T).read(B, *((T,) if n % 16 == 15 else ()))
    told = table.told()
    assert [item for item in told if item in [(A, {T}), (B, set())]] == told
    assert len(told) == 2


def test_two_spots_that_swap_their_chips_both_settle() -> None:
    table = Table(A, B)
    for _ in range(5):
        table.read(A, T).read(B, U)
    table.told()
    for _ in range(15):
        table.read(A, U).read(B, T)
    told = table.told()[2:]
    assert told[-2:] in ([(A, {U}), (B, {T})], [(B, {T}), (A, {U})])
    assert len(told) == 3


def test_a_duplicate_across_two_readers_is_seen_too() -> None:
    table = Table(A, C)
    for _ in range(3):
        table.read(A, T, U).read(C, T)
    assert (T, (A, C)) in table.told()


@given(
    st.lists(
        st.tuples(
            st.sampled_from([A, B, C]),
            st.sampled_from([(), (T,), (U,), (T, U), (T, U, V)]),
            st.integers(1, 4),
            st.sampled_from([10_000, 150_000, 400_000]),
        ),
        max_size=60,
    )
)
def test_no_tag_is_ever_settled_on_two_spots(
    steps: list[tuple[Antenna, tuple[Uid, ...], int, int]],
) -> None:
    table = Table(A, B, C)
    for antenna, tags, times, after_us in steps:
        for _ in range(times):
            table.read(antenna, *tags, after_us=after_us)


def test_a_policy_that_believes_one_reading_is_refused() -> None:
    with pytest.raises(ValueError, match="never a fact"):
        Policy(arrive_reads=1)
    with pytest.raises(ValueError, match="at least as many"):
        Policy(leave_reads=1)
    with pytest.raises(ValueError, match="as long"):
        Policy(leave_us=1)
