"""The jackpot meter, the sign and the magic card: whole contents, in the words of console.md 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controller.rules.cards import name
from controller.rules.engine.awards import waits_for_server
from controller.rules.engine.effects import ShowJackpot
from controller.rules.engine.state import Phase, TableState
from controller.table.amounts import CELLS, DOLLARS, Amounts
from controller.table.odometer import SIGN_STEP_US, CountUp
from drivers.orders import ShowMagicCard, ShowMeter, ShowSign

MINUTE_US: Final = 60_000_000
_AT_REST: Final = (Phase.IDLE, Phase.SETTLEMENT)
"""Where a hit that is not paid yet stands on the meter: players who wager must see the amount."""


@dataclass(slots=True)
class Meter:
    cents: int
    """The value that the link has told last; nothing above it is ever shown."""
    told_us: int
    """When the value was last told by the link, for the age of a stale one."""
    amounts: Amounts = DOLLARS
    odometer_us: int = 0
    """How long a count-up takes; 0: it jumps."""
    run: CountUp | None = None
    """The count-up under way."""

    def take(self, told: ShowJackpot, now_us: int, word: str) -> CountUp | None:
        """Another value. A higher one is counted up to where an amount can be seen that was there
        before; a lower one, and whatever is hidden by a word, is there at once. Returns a new run.
        """
        if not told.stale:
            self.told_us = now_us
        if told.cents == self.cents:
            return None
        shown, rises = self._at(now_us), told.cents > self.cents
        self.cents, self.run = told.cents, None
        if rises and shown and self.odometer_us and not told.stale and not word:
            self.run = CountUp(shown, told.cents, now_us, self.odometer_us)
        return self.run

    def follow(self, now_us: int, *, seen: bool) -> None:
        """Time has passed, or a word stands there: a run that is over or hidden is no run."""
        if self.run is not None and (now_us >= self.run.end_us or not seen):
            self.run = None

    def _at(self, now_us: int) -> int:
        return self.cents if self.run is None else self.run.at(now_us)

    def word(self, state: TableState, now_us: int, *, closed: bool) -> str:
        """What stands there instead of an amount; empty if the amount does."""
        claimed = state.phase is Phase.SETTLEMENT and waits_for_server(state)
        if claimed or (state.phase in _AT_REST and any(a.pending for a in state.awards if a.share)):
            return "PENDING"
        betting = state.phase is Phase.BETTING and not state.link_up
        if closed or betting or state.progressive_closed:
            return "CLOSED"
        if not state.link_up:
            age = f"{max(0, now_us - self.told_us) // MINUTE_US}M"
            return f"STALE{age:>{CELLS - 5}}"
        return ""

    def order(self, now_us: int, word: str) -> ShowMeter:
        """A word, or the amount, right-aligned."""
        if word:
            return ShowMeter(word, blink=word == "PENDING")
        return ShowMeter(self.amounts.on_meter(self._at(now_us)))

    def sign(self, now_us: int, word: str) -> ShowSign:
        if word:
            return ShowSign(" ".join(word.split()))
        cents = self.cents if self.run is None else self.run.at(now_us, SIGN_STEP_US)
        return ShowSign(self.amounts.on_sign(cents))

    def wake_us(self, state: TableState, now_us: int) -> int | None:
        """When a count-up continues, or the age of a stale value changes."""
        if self.run is not None:
            return self.run.next_us(now_us)
        if state.link_up or state.rules.book.progressive is None:
            return None
        return self.told_us + ((now_us - self.told_us) // MINUTE_US + 1) * MINUTE_US


def magic_card(state: TableState) -> ShowMagicCard:
    """Shown from the reveal to the end of the round; a void round has none."""
    shown = state.magic_card if state.phase is not Phase.IDLE else None
    return ShowMagicCard(None if shown is None else name(shown))
