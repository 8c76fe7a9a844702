"""Who of the people is played by random play, and who was paused so that a visitor can play."""

from __future__ import annotations

from typing import Final

from hw_sim.scenario import Step

DEALER: Final = "dealer"
OTHERS: Final = ("supervisor menu", "key", "fault", "wait")
"""Steps of a supervisor or a technician, and of nobody; so is everything that is expected."""


class BotsError(ValueError):
    """Nobody that could be paused; the text says who can."""


class Bots:
    """``on``: random play runs at this table. ``paused``: everybody is, until a visitor resumes
    them."""

    def __init__(self, seats: int, *, on: bool, paused: bool = False) -> None:
        self.on = on
        self._names = (DEALER, *(f"seat {seat}" for seat in range(1, seats + 1)))
        self._paused = set(self._names) if paused else set[str]()

    def pause(self, who: str) -> None:
        self._paused.add(self._known(who))

    def resume(self, who: str) -> None:
        self._paused.discard(self._known(who))

    def step_back(self, step: Step) -> bool:
        """A visitor does what the dealer or a player does: that bot pauses. Did one?"""
        who = f"seat {step.words[0]}" if step.text.startswith("seat ") else DEALER
        if not self.on or step.verb.startswith(("expect", *OTHERS)) or who in self._paused:
            return False
        self.pause(who)
        return True

    @property
    def dealer_plays(self) -> bool:
        return DEALER not in self._paused

    def seats(self) -> list[int]:
        """Those that random play may bet at."""
        playing = [name for name in self._names if name != DEALER and name not in self._paused]
        return [int(name.rpartition(" ")[2]) for name in playing]

    @property
    def can_begin(self) -> bool:
        """A round of random play needs its dealer and somebody who bets."""
        return self.dealer_plays and bool(self.seats())

    def look(self) -> dict[str, object]:
        states = {name: self._state(name) for name in self._names}
        dealer = states.pop(DEALER)
        return {DEALER: dealer, "seats": {name.split()[1]: how for name, how in states.items()}}

    def _state(self, name: str) -> str:
        if not self.on:
            return "none"
        return "paused" if name in self._paused else "bot"

    def _known(self, who: str) -> str:
        if not self.on:
            raise BotsError(f"{who!r}: no random play runs at this table (underfelt sim --random)")
        if who not in self._names:
            raise BotsError(f"{who!r}: expected {', '.join(self._names)}")
        return who
