"""Which antenna a reader visits next: polling in turn, sweeps first, failed ones seldom.

Pure bookkeeping (docs/protocols/feig.md section 5). It compares two inventories of a sweep only to
know whether a third is worth taking; whether they agree is decided in ``drivers.chips``.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from drivers.base import SECOND
from drivers.readings import Antenna, Uid

TRIES: Final = 3
SWEEP_VISITS: Final = 2
SWEEP_MOST_VISITS: Final = 6
FAILED_REST_US: Final = 1 * SECOND


@dataclass(slots=True)
class _Swept:
    visits: int = 0
    last: frozenset[Uid] | None = None
    agreed: bool = False
    given_up: bool = False

    @property
    def wanted(self) -> bool:
        if self.given_up or self.visits >= SWEEP_MOST_VISITS:
            return False
        return self.visits < SWEEP_VISITS or not self.agreed


class Plan:
    def __init__(self) -> None:
        self.failed: dict[Antenna, int] = {}
        """Antennas that failed their tries, and when they may be tried again."""
        self.fresh_sweep = False
        """A sweep was ordered and no antenna has been taken for it yet."""
        self._watched: tuple[Antenna, ...] = ()
        self._last: Antenna | None = None
        self._sweep: dict[Antenna, _Swept] = {}
        self._sweep_number: int | None = None

    def watch(self, antennas: frozenset[Antenna]) -> None:
        self._watched = tuple(sorted(antennas))
        wanted = antennas | self._sweep.keys()
        self.failed = {a: at for a, at in self.failed.items() if a in wanted}

    def sweep(self, number: int, antennas: frozenset[Antenna]) -> None:
        if number == self._sweep_number:
            return
        self._sweep_number = number
        self._sweep = {antenna: _Swept() for antenna in sorted(antennas)}
        self.fresh_sweep = bool(antennas)

    def lost(self) -> None:
        """The reader is gone: what it was sweeping is uncertain by now, what failed may be well."""
        self.failed.clear()
        self._sweep.clear()
        self.fresh_sweep = False

    def next(self, now_us: int) -> Antenna | None:
        """The antenna to visit now, if any."""
        self.fresh_sweep = False
        wanted = [antenna for antenna, swept in self._sweep.items() if swept.wanted]
        if wanted:
            antenna = min(wanted, key=lambda a: (self._sweep[a].visits, a))
            self._sweep[antenna].visits += 1
            return antenna
        for antenna in self._in_turn():
            if self.failed.get(antenna, now_us) <= now_us:
                self._last = antenna
                return antenna
        return None

    def _in_turn(self) -> tuple[Antenna, ...]:
        last = self._last
        if last is None:
            return self._watched
        after = bisect_right(self._watched, last)
        return self._watched[after:] + self._watched[:after]

    @property
    def wake_us(self) -> int | None:
        """When a failed antenna may be tried again, if that is all there is to do."""
        return min((self.failed.get(a, 0) for a in self._watched), default=None)

    def tries(self, antenna: Antenna) -> int:
        return 1 if antenna in self.failed else TRIES

    def read(self, antenna: Antenna, tags: frozenset[Uid]) -> None:
        self.failed.pop(antenna, None)
        swept = self._sweep.get(antenna)
        if swept is not None:
            swept.agreed = swept.last == tags
            swept.last = tags

    def withdraw(self, antenna: Antenna) -> None:
        """The last reading of this antenna did not count after all."""
        swept = self._sweep.get(antenna)
        if swept is not None:
            swept.agreed = False
            swept.last = None

    def fail(self, antenna: Antenna, now_us: int) -> None:
        self.failed[antenna] = now_us + FAILED_REST_US
        swept = self._sweep.get(antenna)
        if swept is not None:
            swept.given_up = True
