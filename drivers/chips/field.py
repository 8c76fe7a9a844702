"""The chip field: inventories of all readers in, settled spots and agreed sweeps out.

A pure machine (docs/protocols/chip-sensing.md). It sends nothing and knows no value, seat or rule.
No single reading ever becomes a fact, and no tag is ever settled on two spots at once.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from drivers.base import Counters, DeviceState, StateReported
from drivers.chips.policy import NOT_READ, Policy
from drivers.chips.spot import Spot
from drivers.chips.sweep import Sweep
from drivers.chips.twins import Twins
from drivers.orders import Kinds, Order, SweepAntennas, WatchAntennas
from drivers.readings import (
    Antenna,
    AntennaFailed,
    AntennaRead,
    Reading,
    SpotLost,
    SpotMoving,
    SpotSettled,
    TagOnTwoSpots,
    Uid,
)


class ChipField:
    takes: ClassVar[Kinds] = frozenset((WatchAntennas, SweepAntennas))

    def __init__(self, policy: Policy | None = None) -> None:
        self.counters: Counters = Counter()
        self._policy = policy if policy is not None else Policy()
        self._spots: dict[Antenna, Spot] = {}
        self._news: set[Antenna] = set()
        """Spots that are sure of something that is not settled yet."""
        self._twins = Twins()
        self._sweep: Sweep | None = None
        self._sweep_number: int | None = None
        self._down: dict[str, str] = {}
        """Readers that are not at work, and the code that says why."""
        self._stale: dict[str, int] = {}
        """How long a spot of this reader may go unread; computed again when the spots change."""
        self._wake_us: int | None = None
        self._out: list[Reading] = []

    @property
    def wake_us(self) -> int | None:
        """When ``advance`` wants to be called next, or earlier: a reading puts the time off, and
        computing it for every reading is not worth it."""
        return self._wake_us

    def order(self, order: Order, now_us: int) -> list[Reading]:
        """Take an order, before the readers get it: what they read later is then new to it."""
        if isinstance(order, WatchAntennas):
            self._watch(order.antennas, now_us)
        elif isinstance(order, SweepAntennas) and order.number != self._sweep_number:
            self._end_sweep(now_us)
            self._stale.clear()
            self._sweep_number = order.number
            per_reader = Counter(antenna.reader for antenna in order.antennas)
            spots = max(per_reader.values(), default=0)
            deadline_us = now_us + self._policy.sweep_deadline_us(spots)
            self._sweep = Sweep(
                order.number, order.antennas, now_us, deadline_us, self._policy.sweep_reads
            )
            self._check_sweep(now_us)
        self._reckon_wake()
        return self._flush()

    def heard(self, reading: Reading, now_us: int) -> list[Reading]:
        """Take what a reader reported; anything that is not about chips is ignored."""
        if isinstance(reading, AntennaRead):
            self._read(reading, now_us)
        elif isinstance(reading, AntennaFailed):
            self._lose(reading.antenna, reading.code, now_us)
        elif isinstance(reading, StateReported):
            self._state(reading, now_us)
        else:
            return []
        if self._sweep is not None:
            self._check_sweep(now_us)
        return self._flush()

    def advance(self, now_us: int) -> list[Reading]:
        for antenna, spot in self._spots.items():
            if not spot.lost and now_us >= spot.heard_us + self._stale_us(antenna.reader):
                self._lose(antenna, NOT_READ, now_us)
        self._check_sweep(now_us)
        self._reckon_wake()
        return self._flush()

    # --- spots -----------------------------------------------------------------------------

    def _flush(self) -> list[Reading]:
        out, self._out = self._out, []
        return out

    def _reckon_wake(self) -> None:
        times = [
            spot.heard_us + self._stale_us(antenna.reader)
            for antenna, spot in self._spots.items()
            if not spot.lost
        ]
        if self._sweep is not None:
            times.append(self._sweep.deadline_us)
        self._wake_us = min(times, default=None)

    def _stale_us(self, reader: str) -> int:
        found = self._stale.get(reader)
        if found is None:
            swept = self._sweep.antennas if self._sweep is not None else frozenset()
            spots = sum(antenna.reader == reader for antenna in swept | self._spots.keys())
            found = self._stale[reader] = self._policy.stale_us(spots)
        return found

    def _watch(self, antennas: frozenset[Antenna], now_us: int) -> None:
        """A newly watched spot knows nothing; one that was watched before keeps what it knows."""
        self._stale.clear()
        for antenna in sorted(self._spots.keys() - antennas):
            del self._spots[antenna]
            self._news.discard(antenna)
            self._twins.forget(antenna)
        for antenna in sorted(antennas - self._spots.keys()):
            self._spots[antenna] = Spot(self._policy, now_us)
            if antenna.reader in self._down:
                self._lose(antenna, self._down[antenna.reader], now_us)
        self._settle_all(now_us)

    def _read(self, reading: AntennaRead, now_us: int) -> None:
        antenna = reading.antenna
        spot = self._spots.get(antenna)
        swept = self._sweep is not None and antenna in self._sweep.antennas
        if spot is None and not swept:
            self.counters["readings not wanted"] += 1
            return
        if self._sweep is not None:
            self._sweep.read(antenna, reading.tags, reading.at_us)
        if spot is not None:
            self._read_spot(spot, reading, now_us)
        for tag, pair in self._twins.read(antenna, reading.tags):
            self.counters["tags on two spots"] += 1
            self._out.append(TagOnTwoSpots(tag, pair, now_us))
            for one in pair:
                self._stir(one, now_us)
        if self._news:
            self._settle_all(now_us)

    def _read_spot(self, spot: Spot, reading: AntennaRead, now_us: int) -> None:
        antenna = reading.antenna
        if spot.read(reading.tags, reading.at_us, now_us):
            self._out.append(SpotMoving(antenna, now_us))
        self._note_news(antenna, spot)
        stale_at_us = now_us + self._stale_us(antenna.reader)
        if self._wake_us is None or stale_at_us < self._wake_us:
            self._wake_us = stale_at_us  # it was lost, and nobody waited for it

    def _stir(self, antenna: Antenna, now_us: int) -> None:
        spot = self._spots.get(antenna)
        if spot is not None and spot.stir():
            self._out.append(SpotMoving(antenna, now_us))
            self._note_news(antenna, spot)

    def _note_news(self, antenna: Antenna, spot: Spot) -> None:
        (self._news.add if spot.news else self._news.discard)(antenna)

    def _settle_all(self, now_us: int) -> None:
        """Settle what is sure, until nothing more follows: a tag given up here may count there."""
        waiting = [antenna for antenna in self._spots if antenna in self._news]
        progress = True
        while progress:
            progress = False
            for antenna in list(waiting):
                if self._settle(antenna, now_us):
                    waiting.remove(antenna)
                    progress = True

    def _settle(self, antenna: Antenna, now_us: int) -> bool:
        spot = self._spots[antenna]
        tags = spot.run or frozenset()
        if tags & self._twins.contested(antenna):
            return False
        owners = self._owners(antenna, tags)
        if any(not self._given_up(owner, tags) for owner in owners):
            return False
        for owner in owners:
            # Two spots swapped tags: the other's old tags must not stand while we take them.
            self._stir(owner, now_us)
        self._out.append(SpotSettled(antenna, spot.settle(), now_us, spot.since_us))
        self._news.discard(antenna)
        return True

    def _owners(self, antenna: Antenna, tags: frozenset[Uid]) -> list[Antenna]:
        """Other spots on which one of these tags is settled."""
        return [
            other
            for other, spot in self._spots.items()
            if other != antenna and spot.settled is not None and spot.settled & tags
        ]

    def _given_up(self, owner: Antenna, tags: frozenset[Uid]) -> bool:
        """That spot is sure that none of its tags among these lies there any more."""
        spot = self._spots[owner]
        return spot.sure and spot.run is not None and not spot.run & tags

    # --- losses and sweeps -----------------------------------------------------------------

    def _lose(self, antenna: Antenna, code: str, now_us: int) -> None:
        self._twins.forget(antenna)
        if self._sweep is not None:
            self._sweep.fail(antenna)
        spot = self._spots.get(antenna)
        self._news.discard(antenna)
        if spot is not None and spot.lose():
            self._out.append(SpotLost(antenna, code, now_us))

    def _state(self, reported: StateReported, now_us: int) -> None:
        if reported.state in (DeviceState.READY, DeviceState.DEGRADED):
            self._down.pop(reported.device, None)
            return
        code = reported.reason.code if reported.reason is not None else NOT_READ
        self._down[reported.device] = code
        for antenna in sorted(self._spots):
            if antenna.reader == reported.device:
                self._lose(antenna, code, now_us)
        if self._sweep is not None:
            self._sweep.fail_reader(reported.device)

    def _check_sweep(self, now_us: int) -> None:
        if self._sweep is not None and self._sweep.over(now_us):
            self._end_sweep(now_us)

    def _end_sweep(self, now_us: int) -> None:
        sweep = self._sweep
        if sweep is None:
            return
        self._sweep = None
        self._stale.clear()
        self._reckon_wake()
        self._out.append(sweep.result(self._twins.contested, now_us))
        for antenna in sweep.antennas - self._spots.keys():
            self._twins.forget(antenna)
