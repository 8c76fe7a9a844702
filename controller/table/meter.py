"""The jackpot meter, the sign and the magic card: whole contents, in the words of console.md 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controller.rules.cards import name
from controller.rules.engine.effects import Effect, ShowJackpot
from controller.rules.engine.state import Phase, TableState
from controller.table.amounts import CELLS, DOLLARS, Amounts
from drivers.orders import ShowMagicCard, ShowMeter, ShowSign

MINUTE_US: Final = 60_000_000


@dataclass(slots=True)
class Meter:
    cents: int
    told_us: int
    """When the value was last told by the link, for the age of a stale one."""
    amounts: Amounts = DOLLARS

    def take(self, effect: Effect, now_us: int) -> None:
        if isinstance(effect, ShowJackpot):
            self.cents = effect.cents
            if not effect.stale:
                self.told_us = now_us

    def _word(self, state: TableState, now_us: int, *, closed: bool) -> str:
        if state.claims and state.jackpot is None and state.phase is Phase.SETTLEMENT:
            return "PENDING"
        betting = state.phase is Phase.BETTING and not state.link_up
        if closed or betting or state.progressive_closed:
            return "CLOSED"
        if not state.link_up:
            age = f"{max(0, now_us - self.told_us) // MINUTE_US}M"
            return f"STALE{age:>{CELLS - 5}}"
        return ""

    def order(self, state: TableState, now_us: int, *, closed: bool) -> ShowMeter:
        """Dark where the game has no progressive; else a word or the amount, right-aligned."""
        if state.rules.book.progressive is None:
            return ShowMeter("")
        if word := self._word(state, now_us, closed=closed):
            return ShowMeter(word, blink=word == "PENDING")
        return ShowMeter(self.amounts.on_meter(self.cents))

    def sign(self, state: TableState, now_us: int, *, closed: bool) -> ShowSign:
        word = self._word(state, now_us, closed=closed)
        return ShowSign(" ".join(word.split()) or self.amounts.on_sign(self.cents))

    def wake_us(self, state: TableState, now_us: int) -> int | None:
        """When the age of a stale value changes next."""
        if state.link_up or state.rules.book.progressive is None:
            return None
        return self.told_us + ((now_us - self.told_us) // MINUTE_US + 1) * MINUTE_US


def magic_card(state: TableState) -> ShowMagicCard:
    """Shown from the reveal to the end of the round; a void round has none."""
    shown = state.magic_card if state.phase is not Phase.IDLE else None
    return ShowMagicCard(None if shown is None else name(shown))
