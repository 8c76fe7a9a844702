"""One sweep: each antenna read afresh until two inventories agree, or given up in time.

Pure (docs/protocols/chip-sensing.md section 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from drivers.readings import Antenna, SweepAgreed, Uid


@dataclass(slots=True)
class _Reads:
    last: frozenset[Uid] | None = None
    agreed: bool = False
    failed: bool = False
    count: int = 0


class Sweep:
    def __init__(
        self, number: int, antennas: frozenset[Antenna], now_us: int, deadline_us: int, most: int
    ) -> None:
        self.number = number
        self.deadline_us = deadline_us
        self._ordered_us = now_us
        self._most = most
        self._reads = {antenna: _Reads() for antenna in sorted(antennas)}

    @property
    def antennas(self) -> frozenset[Antenna]:
        return frozenset(self._reads)

    def read(self, antenna: Antenna, tags: frozenset[Uid], at_us: int) -> None:
        """Take an inventory. One that began before the order says nothing about after it."""
        reads = self._reads.get(antenna)
        if reads is None or at_us <= self._ordered_us:
            return
        reads.count += 1
        reads.agreed = reads.last == tags
        reads.last = tags
        if reads.agreed:
            reads.failed = False

    def fail(self, antenna: Antenna) -> None:
        """What was read of it in this sweep is in doubt; two further ones may still agree."""
        reads = self._reads.get(antenna)
        if reads is not None:
            reads.failed, reads.agreed, reads.last = True, False, None

    def fail_reader(self, reader: str) -> None:
        for antenna in self._reads:
            if antenna.reader == reader:
                self.fail(antenna)

    def over(self, now_us: int) -> bool:
        return now_us >= self.deadline_us or all(
            reads.agreed or reads.failed or reads.count >= self._most
            for reads in self._reads.values()
        )

    def result(self, contested: Callable[[Antenna], frozenset[Uid]], now_us: int) -> SweepAgreed:
        """What agreed. A tag that two antennas claim makes both uncertain."""
        agreed = {
            antenna: reads.last
            for antenna, reads in self._reads.items()
            if reads.agreed and reads.last is not None
        }
        claims = Counter(tag for tags in agreed.values() for tag in tags)
        sure = {
            antenna: tags
            for antenna, tags in agreed.items()
            if all(claims[tag] == 1 for tag in tags) and not tags & contested(antenna)
        }
        uncertain = tuple(antenna for antenna in self._reads if antenna not in sure)
        return SweepAgreed(self.number, tuple(sure.items()), uncertain, now_us)
