"""One tag on two antennas: when that is a fact and when it is a chip on its way.

Pure (docs/protocols/chip-sensing.md section 2). A chip that moves is seen first here, then there:
the next inventory of the first antenna misses it. Only when both antennas, after both had it in
their latest inventories, keep seeing it in turn, three times in all, is it on two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from drivers.readings import Antenna, Uid

CERTAIN_AFTER = 3
"""Turns between the two antennas: one wrong reading and a chip that moves make at most two."""
CLEARED_AFTER = 2
"""Inventories in a row of one antenna without the tag that end a confirmed pair."""


@dataclass(slots=True)
class _Pair:
    last: Antenna | None = None
    turns: int = 0
    """Sightings since it was suspected, now on the one antenna, now on the other."""
    confirmed: bool = False
    misses: dict[Antenna, int] = field(default_factory=dict)


class Twins:
    def __init__(self) -> None:
        self._latest: dict[Antenna, frozenset[Uid]] = {}
        self._holders: dict[Uid, set[Antenna]] = {}
        self._pairs: dict[tuple[Uid, Antenna, Antenna], _Pair] = {}

    def read(
        self, antenna: Antenna, tags: frozenset[Uid]
    ) -> list[tuple[Uid, tuple[Antenna, Antenna]]]:
        """Take an inventory; what became certain with it."""
        if not tags and not self._pairs and not self._latest.get(antenna):
            self._latest[antenna] = tags
            return []  # an empty spot that was empty before: most inventories of a day
        self._hold(antenna, tags)
        for key, pair in list(self._pairs.items()):
            if antenna not in key[1:]:
                continue
            if key[0] in tags:
                pair.misses[antenna] = 0
                continue
            missed = pair.misses.get(antenna, 0) + 1
            pair.misses[antenna] = missed
            if not pair.confirmed or missed >= CLEARED_AFTER:
                del self._pairs[key]
        return [found for tag in sorted(tags) for found in self._seen(antenna, tag)]

    def _seen(self, antenna: Antenna, tag: Uid) -> list[tuple[Uid, tuple[Antenna, Antenna]]]:
        found = []
        for other in sorted(self._holders[tag] - {antenna}):
            first, second = min(antenna, other), max(antenna, other)
            pair = self._pairs.get((tag, first, second))
            if pair is None:
                self._pairs[tag, first, second] = _Pair()
                continue
            if pair.last != antenna:
                pair.last = antenna
                pair.turns += 1
            if pair.turns >= CERTAIN_AFTER and not pair.confirmed:
                pair.confirmed = True
                found.append((tag, (first, second)))
        return found

    def _hold(self, antenna: Antenna, tags: frozenset[Uid]) -> None:
        before = self._latest.get(antenna, frozenset())
        for tag in before - tags:
            holders = self._holders[tag]
            holders.discard(antenna)
            if not holders:
                del self._holders[tag]
        for tag in tags - before:
            self._holders.setdefault(tag, set()).add(antenna)
        self._latest[antenna] = tags

    def forget(self, antenna: Antenna) -> None:
        """The antenna is not read any more: nothing is known of it."""
        self._hold(antenna, frozenset())
        del self._latest[antenna]
        self._pairs = {key: pair for key, pair in self._pairs.items() if antenna not in key[1:]}

    def contested(self, antenna: Antenna) -> frozenset[Uid]:
        """Tags of this antenna that another one has, or may have, too."""
        return frozenset(tag for tag, *pair in self._pairs if antenna in pair)
