"""Field and reader together, down to the bytes: what is agreed is what lies there."""

from __future__ import annotations

import pytest

from drivers.base import Reopen
from drivers.chips.budget import sweep_deadline_us
from drivers.chips.field import ChipField
from drivers.orders import Order, SweepAntennas, WatchAntennas
from drivers.readings import Antenna, SpotLost, SpotSettled, SweepAgreed
from tests.drivers.feig.reader import TAG, Bench, Reader, Sent, answer

ANTENNAS = tuple(Antenna("chips-1", 1, channel) for channel in range(1, 5))
A1, A2, A3, A4 = ANTENNAS
TAGS = {(1, n): {TAG[10 * n + k] for k in range(n)} for n in range(1, 5)}
TRUTH = {antenna: frozenset(TAGS[antenna.mux, antenna.channel]) for antenna in ANTENNAS}


class Rig:
    def __init__(self) -> None:
        self.bench = Bench(Reader(tags={key: set(tags) for key, tags in TAGS.items()})).start()
        self.field = ChipField()
        self.told: list[object] = []

    def order(self, order: Order) -> None:
        self.told += self.field.order(order, self.bench.now_us)
        self.bench.order(order)

    def run(self, run_us: int) -> None:
        for _ in range(run_us // 1_000):
            self.bench.run(1_000)
            for reading in self.bench.flush():
                assert not isinstance(reading, Reopen)
                self.told += self.field.heard(reading, self.bench.now_us)
            self.told += self.field.advance(self.bench.now_us)

    def sweep(self) -> SweepAgreed:
        (result,) = [item for item in self.told if isinstance(item, SweepAgreed)]
        return result


def test_watched_spots_settle_with_what_lies_there() -> None:
    rig = Rig()
    rig.order(WatchAntennas(frozenset(ANTENNAS)))
    rig.run(2_000_000)
    settled = {item.antenna: item.tags for item in rig.told if isinstance(item, SpotSettled)}
    assert settled == TRUTH
    assert len(rig.told) == 4


def test_a_sweep_of_unwatched_antennas_agrees_on_what_lies_there() -> None:
    rig = Rig()
    rig.order(SweepAntennas(1, frozenset(ANTENNAS)))
    rig.run(1_000_000)
    assert (dict(rig.sweep().tags), rig.sweep().uncertain) == (TRUTH, ())


@pytest.mark.parametrize("kind", ["silent", "warning", "noise"])
def test_a_sweep_with_a_bad_antenna_ends_in_time_and_says_which(kind: str) -> None:
    rig = Rig()
    started_us = rig.bench.now_us

    def bad(request: bytes, sent: Sent) -> Sent:
        if request[4] != 0xB0 or rig.bench.reader.selected != (1, 2):
            return sent
        answers = {"silent": b"", "warning": answer(0xB0, 0x84), "noise": b"\x02\x00\x08\x55"}
        return [(10_000, answers[kind])] if answers[kind] else []

    rig.bench.reader.spoil = bad
    rig.order(SweepAntennas(1, frozenset(ANTENNAS)))
    rig.run(4_000_000)
    result = rig.sweep()
    assert result.uncertain == (A2,)
    assert dict(result.tags) == {a: TRUTH[a] for a in (A1, A3, A4)}
    assert result.at_us - started_us < sweep_deadline_us(4)


def test_a_reader_lost_in_a_sweep_leaves_everything_uncertain() -> None:
    rig = Rig()
    rig.order(WatchAntennas(frozenset(ANTENNAS)))
    rig.run(2_000_000)
    rig.told.clear()
    rig.order(SweepAntennas(1, frozenset(ANTENNAS)))
    rig.run(50_000)
    rig.bench.reader.powered = False
    rig.run(1_000_000)
    assert rig.sweep().uncertain == ANTENNAS
    assert {item.antenna for item in rig.told if isinstance(item, SpotLost)} == set(ANTENNAS)


def test_a_chip_laid_down_during_a_sweep_counts_as_two_readings_agree_on_it() -> None:
    for late_us in range(0, 240_000, 20_000):
        rig = Rig()
        rig.order(SweepAntennas(1, frozenset({A1, A2})))
        rig.run(late_us)
        rig.bench.reader.tags[1, 1].add(TAG[50])
        rig.run(2_000_000)
        found = dict(rig.sweep().tags)[A1]
        assert found in (TRUTH[A1], TRUTH[A1] | {TAG[50]})
