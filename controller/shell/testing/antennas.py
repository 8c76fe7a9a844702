"""Spot by spot: put a chip there, take it away. Which antenna reads it, how well, and who else?

A chip that only another antenna reads was put on the wrong spot, or two antennas are swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from controller.shell.testing.steps import SECOND, Answer, Guided, Looped, Wishes
from controller.table.spots import Spot, named
from drivers.orders import WatchAntennas
from drivers.readings import Antenna, AntennaFailed, AntennaRead, Reading, Uid

PATIENCE_US: Final = 45 * SECOND
"""So long a person may take; a spot where nothing is read by then has failed."""
FIRST_US: Final = 20 * SECOND
"""By then every antenna that works has been read once."""
READS: Final = 6
"""Readings of an antenna after the first that say that it reads well, if none misses the chip."""
READS_MOST: Final = 20
"""After a miss it is looked at so long: by chance a chip that comes and goes is there a few times
in a row."""
WELL: Final = 18
"""Of those."""
GONE: Final = 2
"""Readings without the chip until it counts as taken away."""

Worth = Callable[[Uid], str]
"""What the register says of a chip, for people."""


@dataclass
class _Trial:
    """One spot."""

    spot: Spot
    antenna: Antenna
    until_us: int
    tag: Uid | None = None
    reads: int = 0
    """Of the spot's own antenna, after the chip was seen."""
    hits: int = 0
    elsewhere: set[Antenna] = field(default_factory=set)
    again: set[Antenna] = field(default_factory=set)
    """Other antennas that have been read since the chip was seen."""
    judged: bool = False
    absent: int = 0


class AntennaTest(Guided):
    name = "antenna test"

    def __init__(
        self,
        spots: Mapping[Antenna, Spot],
        seat: int | None,
        worth: Worth,
        serials: Mapping[str, str],
    ) -> None:
        super().__init__()
        self._spots, self._worth, self._serials = dict(spots), worth, dict(serials)
        self._antennas = {spot: antenna for antenna, spot in spots.items()}
        wanted = [spot for spot in self._antennas if seat is None or spot[0] == seat]
        self._waiting = sorted(wanted)
        self._lying: dict[Antenna, frozenset[Uid]] = {}
        self._dead: dict[Antenna, str] = {}
        """Antennas that failed when they were last asked, and the code."""
        self._trial: _Trial | None = None
        self._first_us: int | None = None
        """Until then the felt is read as it lies."""

    def begin(self, now_us: int) -> Wishes:
        self.say("note", "the felt is read as it lies: hands off; then use one other chip")
        self._first_us = now_us + FIRST_US
        return [WatchAntennas(frozenset(self._spots))]

    def take(self, reading: Reading | Looped, now_us: int) -> Wishes:
        match reading:
            case AntennaRead(antenna=antenna, tags=tags) if antenna in self._spots:
                self._read(antenna, tags, now_us)
            case AntennaFailed(antenna=antenna, code=code):
                self._failed(antenna, code, now_us)
            case _:
                pass
        if self._first_us is not None and self._spots.keys() <= self._lying.keys() | self._dead:
            self._look_over(now_us)
        return []

    def _look_over(self, now_us: int) -> None:
        self._first_us = None
        self._next(now_us)

    def answer(self, answer: Answer, now_us: int) -> Wishes:
        trial = self._trial
        if answer == "no" and trial is not None and not trial.judged:
            self._judge(trial, "fail", "left out by the technician")
            self._next(now_us)
        return []

    def advance(self, now_us: int) -> Wishes:
        if self._first_us is not None and now_us >= self._first_us:
            self._look_over(now_us)
        trial = self._trial
        if trial is None or now_us < trial.until_us:
            return []
        if not trial.judged:
            self._judge(trial, "fail", "no chip was read: none lay there, or the antenna is dead")
        elif trial.tag is not None:
            self.say("note", f"the chip is still on {named(trial.spot)}: left out from here on")
            for antenna, tags in list(self._lying.items()):
                self._lying[antenna] = tags | {trial.tag}
        self._next(now_us)
        return []

    # --- one spot ------------------------------------------------------------------------------

    def _next(self, now_us: int) -> None:
        self._trial = None
        if not self._waiting:
            self.finish()
            return
        spot = self._waiting.pop(0)
        trial = self._trial = _Trial(spot, self._antennas[spot], now_us + PATIENCE_US)
        if code := self._dead.get(trial.antenna):
            self._judge(trial, "fail", f"the antenna cannot be read ({code})")
            self._next(now_us)
            return
        self.say("ask", f"put one chip on {named(spot)}", spot=named(spot))

    def _read(self, antenna: Antenna, tags: frozenset[Uid], now_us: int) -> None:
        self._dead.pop(antenna, None)
        before = self._lying.get(antenna)
        if before is None:
            self._lying[antenna] = tags  # the first reading of each: what lay there before
            return
        trial, new = self._trial, tags - before
        if trial is None:
            return
        if trial.tag is None and new:
            trial.tag = min(new)
            said = f"{trial.tag}, {self._worth(trial.tag)}, by {antenna}"
            self.say("seen", said, uid=trial.tag, antenna=str(antenna))
            if antenna == trial.antenna:
                return  # how well it reads is seen from the next one on
        if trial.tag is None:
            return
        if trial.judged:
            self._leaving(trial, antenna, tags, now_us)
        elif antenna == trial.antenna:
            trial.reads += 1
            trial.hits += trial.tag in tags
            self._decide(trial, now_us)
        else:
            trial.again.add(antenna)
            if trial.tag in tags:
                trial.elsewhere.add(antenna)
            self._decide(trial, now_us)

    def _decide(self, trial: _Trial, now_us: int) -> None:
        others = self._spots.keys() - {trial.antenna}
        known = {a for a in others if a in self._lying and a not in self._dead}
        if trial.reads < READS or not known <= trial.again:
            return
        missed = trial.hits < trial.reads
        swapped = bool(trial.elsewhere) and not trial.hits
        if missed and not swapped and trial.reads < READS_MOST:
            return
        places = ", ".join(f"{named(self._spots[a])} ({a})" for a in sorted(trial.elsewhere))
        quality = f"read {trial.hits} of {trial.reads} times"
        if swapped:
            said = f"read at {places} instead: another spot, or these antennas are swapped"
            self._judge(trial, "fail", said)
        elif trial.elsewhere:
            self._judge(trial, "fail", f"{quality}, but also at {places}")
        elif missed and trial.hits < WELL:
            self._judge(trial, "fail", f"weak: {quality}")
        else:
            self._judge(trial, "pass", quality)
        self.say("ask", f"take the chip away from {named(trial.spot)}", spot=named(trial.spot))
        trial.until_us = now_us + PATIENCE_US

    def _leaving(self, trial: _Trial, antenna: Antenna, tags: frozenset[Uid], now_us: int) -> None:
        where = trial.elsewhere or {trial.antenna}
        if antenna not in where:
            return
        trial.absent = 0 if trial.tag in tags else trial.absent + 1
        if trial.absent >= GONE * len(where):
            self._next(now_us)

    def _failed(self, antenna: Antenna, code: str, now_us: int) -> None:
        self._dead[antenna] = code
        trial = self._trial
        if trial is not None and antenna == trial.antenna and not trial.judged:
            self._judge(trial, "fail", f"the antenna cannot be read ({code})")
            self._next(now_us)

    def _judge(self, trial: _Trial, kind: str, text: str) -> None:
        trial.judged = True
        antenna = trial.antenna
        more = {
            "spot": named(trial.spot),
            "antenna": str(antenna),
            "reader": self._serials.get(antenna.reader, ""),
            "uid": trial.tag or "",
        }
        said = f"{named(trial.spot)}: {text}"
        if kind == "pass":
            self.say("pass", said, **more)
        else:
            self.say("fail", said, **more)
