"""The field remembers which spots have news and when one may go stale: always as if it asked."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.base import DeviceState, Fault, StateReported
from drivers.chips.field import ChipField
from drivers.orders import SweepAntennas, WatchAntennas
from drivers.readings import Antenna, AntennaFailed, AntennaRead, Uid

ANTENNAS = (Antenna("chips-1", 1, 1), Antenna("chips-1", 1, 2), Antenna("chips-2", 5, 1))
TAGS = tuple(Uid(f"E00401000000000{n}") for n in range(1, 4))

antennas = st.sampled_from(ANTENNAS)
reads = st.tuples(st.just("read"), antennas, st.frozensets(st.sampled_from(TAGS), max_size=2))
events = st.one_of(
    reads,
    st.tuples(st.just("stays"), antennas, st.frozensets(st.sampled_from(TAGS), max_size=2)),
    st.tuples(st.just("on both"), antennas, antennas, st.sampled_from(TAGS)),
    st.tuples(st.just("fail"), antennas),
    st.tuples(st.just("state"), st.sampled_from(("chips-1", "chips-2")), st.booleans()),
    st.tuples(st.just("watch"), st.frozensets(antennas)),
    st.tuples(st.just("sweep"), st.frozensets(antennas)),
    st.tuples(st.just("wait"), st.integers(1, 60)),
)


class Checked:
    def __init__(self) -> None:
        self.field = ChipField()
        self.now_us = 1_000_000
        self.sweeps = 0
        self.field.order(WatchAntennas(frozenset(ANTENNAS)), self.now_us)

    def do(self, event: tuple[object, ...]) -> None:
        self.now_us += 400_000
        field, now = self.field, self.now_us
        match event:
            case ("read", Antenna() as antenna, frozenset() as tags):
                field.heard(AntennaRead(antenna.reader, antenna, tags, now), now)
            case ("stays", Antenna() as antenna, frozenset() as tags):
                for _ in range(4):
                    self.do(("read", antenna, tags))
            case ("on both", Antenna() as one, Antenna() as other, str(tag)):
                for antenna in (one, other) * 3:
                    self.do(("read", antenna, frozenset({tag})))
            case ("fail", Antenna() as antenna):
                field.heard(AntennaFailed(antenna.reader, antenna, "E-FEIG-020", now), now)
            case ("state", str(reader), bool(works)):
                state = DeviceState.READY if works else DeviceState.UNKNOWN
                fault = None if works else Fault("E-FEIG-010", "silent")
                field.heard(StateReported(reader, state, fault, now), now)
            case ("watch", frozenset() as watched):
                field.order(WatchAntennas(watched), now)
            case ("sweep", frozenset() as swept):
                self.sweeps += 1
                field.order(SweepAntennas(self.sweeps, swept), now)
            case ("wait", int(seconds)):
                self.now_us += seconds * 1_000_000
                if field.wake_us is not None and field.wake_us <= self.now_us:
                    field.advance(self.now_us)
        self.check()

    def check(self) -> None:
        field = self.field
        assert field._news == {antenna for antenna, spot in field._spots.items() if spot.news}
        due = [
            spot.heard_us + field._stale_us(antenna.reader)
            for antenna, spot in field._spots.items()
            if not spot.lost
        ]
        if field._sweep is not None:
            due.append(field._sweep.deadline_us)
        if due:
            assert field.wake_us is not None
            assert field.wake_us <= min(due)


@given(st.lists(events, min_size=1, max_size=40))
@settings(max_examples=150)
def test_what_is_remembered_is_what_asking_would_give(history: list[tuple[object, ...]]) -> None:
    table = Checked()
    for event in history:
        table.do(event)
