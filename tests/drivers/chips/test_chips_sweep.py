"""Sweeps: two fresh inventories must agree, and it ends in time whatever happens."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from drivers.base import DeviceState, Fault, StateReported
from drivers.chips.budget import sweep_deadline_us
from drivers.chips.field import ChipField
from drivers.orders import SweepAntennas, WatchAntennas
from drivers.readings import (
    Antenna,
    AntennaFailed,
    AntennaRead,
    SweepAgreed,
    Uid,
)

A, B, C = Antenna("chips-1", 1, 1), Antenna("chips-1", 1, 2), Antenna("chips-2", 5, 1)
T, U = Uid("E004010000000001"), Uid("E004010000000002")
ORDERED_US = 5_000_000


def swept(*antennas: Antenna, number: int = 1) -> ChipField:
    field = ChipField()
    assert field.order(SweepAntennas(number, frozenset(antennas)), ORDERED_US) == []
    return field


def read(field: ChipField, antenna: Antenna, at_us: int, *tags: Uid) -> list[SweepAgreed]:
    reading = AntennaRead(antenna.reader, antenna, frozenset(tags), ORDERED_US + at_us)
    return agreed(field.heard(reading, ORDERED_US + at_us + 20_000))


def agreed(out: Sequence[object]) -> list[SweepAgreed]:
    return [item for item in out if isinstance(item, SweepAgreed)]


def test_two_fresh_inventories_that_agree_end_the_sweep() -> None:
    field = swept(A, B)
    assert read(field, A, 1, T) == read(field, B, 2) == read(field, A, 3, T) == []
    (result,) = read(field, B, 4)
    assert result.number == 1
    assert result.tags == ((A, frozenset({T})), (B, frozenset()))
    assert result.uncertain == ()


def test_an_inventory_that_began_before_the_order_does_not_count() -> None:
    field = swept(A)
    assert read(field, A, -10, T) == read(field, A, 0, T) == read(field, A, 1, T) == []
    assert len(read(field, A, 2, T)) == 1


def test_an_antenna_that_disagreed_may_agree_later() -> None:
    field = swept(A)
    assert read(field, A, 1, T) == read(field, A, 2, T, U) == []
    (result,) = read(field, A, 3, T, U)
    assert result.tags == ((A, frozenset({T, U})),)


def test_an_antenna_that_never_agrees_is_uncertain_after_six_inventories() -> None:
    field = swept(A, B)
    read(field, B, 1, U)
    read(field, B, 2, U)
    for n in range(5):
        assert read(field, A, 3 + n, *((T,) if n % 2 else ())) == []
    (result,) = read(field, A, 8, T)
    assert (result.tags, result.uncertain) == (((B, frozenset({U})),), (A,))


def test_a_failed_antenna_is_uncertain_and_holds_nothing_up() -> None:
    field = swept(A, B)
    read(field, A, 1, T)
    read(field, A, 2, T)
    (result,) = agreed(field.heard(AntennaFailed("chips-1", B, "E-FEIG-020", 0), ORDERED_US + 3))
    assert (result.tags, result.uncertain) == (((A, frozenset({T})),), (B,))


def test_a_lost_reader_makes_all_its_antennas_uncertain_even_those_that_agreed() -> None:
    field = swept(A, B, C)
    read(field, A, 1, T)
    read(field, A, 2, T)
    reason = Fault("E-FEIG-031", "")
    field.heard(StateReported("chips-1", DeviceState.UNKNOWN, reason, 0), ORDERED_US + 3)
    read(field, C, 4)
    (result,) = read(field, C, 5)
    assert (result.tags, result.uncertain) == (((C, frozenset()),), (A, B))


def test_the_deadline_ends_it_and_comes_from_the_budget() -> None:
    field = swept(A, B, C)
    read(field, A, 1, T)
    read(field, A, 2, T)
    deadline_us = ORDERED_US + sweep_deadline_us(2)
    assert field.wake_us == deadline_us
    assert field.advance(deadline_us - 1) == []
    (result,) = agreed(field.advance(deadline_us))
    assert (result.tags, result.uncertain) == (((A, frozenset({T})),), (B, C))
    assert field.wake_us is None


def test_a_tag_that_two_antennas_agreed_on_makes_both_uncertain() -> None:
    field = swept(A, B, C)
    read(field, A, 1, T)
    read(field, A, 2, T)
    read(field, C, 3)
    read(field, B, 4, T)
    read(field, C, 5)
    (result,) = read(field, B, 6, T)
    assert (result.tags, result.uncertain) == (((C, frozenset()),), (A, B))


def test_a_copied_tag_makes_both_uncertain() -> None:
    field = swept(A, B)
    out: list[object] = []
    for n, antenna in enumerate((A, B, A, B)):
        reading = AntennaRead(antenna.reader, antenna, frozenset({T}), ORDERED_US + 1 + n)
        out += field.heard(reading, ORDERED_US + 1 + n)
    (result,) = out
    assert isinstance(result, SweepAgreed)
    assert result.uncertain == (A, B)


def test_a_watched_spot_that_holds_the_tag_too_makes_the_swept_one_uncertain() -> None:
    field = ChipField()
    field.order(WatchAntennas(frozenset({C})), 0)
    field.heard(AntennaRead("chips-2", C, frozenset({T}), 1), 1)
    field.order(SweepAntennas(1, frozenset({A})), ORDERED_US)
    read(field, A, 1, T)
    (result,) = read(field, A, 2, T)
    assert result.uncertain == (A,)


def test_a_new_sweep_ends_the_one_before_it_and_the_same_number_does_nothing() -> None:
    field = swept(A, B)
    read(field, A, 1, T)
    read(field, A, 2, T)
    assert field.order(SweepAntennas(1, frozenset({A})), ORDERED_US + 3) == []
    (result,) = agreed(field.order(SweepAntennas(2, frozenset({B})), ORDERED_US + 4))
    assert (result.number, result.tags, result.uncertain) == (1, ((A, frozenset({T})),), (B,))
    assert read(field, B, 4) == read(field, B, 5) == []
    (result,) = read(field, B, 6)
    assert (result.number, result.uncertain) == (2, ())
    assert field.order(SweepAntennas(2, frozenset({B})), ORDERED_US + 7) == []
    assert field.wake_us is None


def test_a_sweep_of_nothing_agrees_at_once() -> None:
    (result,) = agreed(ChipField().order(SweepAntennas(9, frozenset()), 0))
    assert (result.number, result.tags, result.uncertain) == (9, (), ())


@given(
    st.lists(
        st.tuples(
            st.sampled_from([A, B, C]),
            st.sampled_from(["read", "fail", "lost"]),
            st.sets(st.sampled_from([T, U])).map(frozenset),
            st.integers(1, 900_000),
        ),
        max_size=40,
    )
)
def test_whatever_happens_a_sweep_is_answered_once_and_says_only_what_was_read_twice(
    steps: list[tuple[Antenna, str, frozenset[Uid], int]],
) -> None:
    field = swept(A, B, C)
    now = ORDERED_US
    last: dict[Antenna, list[frozenset[Uid]]] = {A: [], B: [], C: []}
    out: list[object] = []
    for antenna, kind, tags, after_us in steps:
        now += after_us
        running = not agreed(out)
        if kind == "read":
            if running:
                last[antenna].append(tags)
            out += field.heard(AntennaRead(antenna.reader, antenna, tags, now), now)
        elif kind == "fail":
            out += field.heard(AntennaFailed(antenna.reader, antenna, "E-FEIG-009", now), now)
        else:
            lost = StateReported(antenna.reader, DeviceState.UNKNOWN, None, now)
            out += field.heard(lost, now)
    out += field.advance(ORDERED_US + sweep_deadline_us(2))
    (result,) = agreed(out)
    named = [antenna for antenna, _ in result.tags]
    assert sorted([*named, *result.uncertain]) == [A, B, C]
    for antenna, tags in result.tags:
        assert last[antenna][-2:] == [tags, tags]
    claimed = [tag for _, tags in result.tags for tag in tags]
    assert len(claimed) == len(set(claimed))
