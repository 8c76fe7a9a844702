"""Tells a round in the terminal as it happens, in the words of a replay."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Final

from controller.replay import words
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from record.kit.money import cents_text

PIPS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
COLUMNS: Final = 76
"""A ten has three signs where the words have two."""
RED, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
_CARD: Final = re.compile(r"\b([2-9TJQKA])([cdhs])\b")
_FACTS: Final = (
    f.BetsOpened, f.BetsClosed, f.Decided, f.PlayerAbsent, f.Folded, f.Played, f.JackpotLocked,
)  # fmt: skip
_EFFECTS: Final = (
    fx.Refused, fx.ShowSelection, fx.ShowCommunity, fx.ShowBonusCard, fx.ShowMagicHit, fx.ShowHand,
    fx.ShowAward, fx.ClaimJackpot, fx.ShowDealtCard, fx.ShowKickout, fx.ShowPot, fx.RaiseAlarm,
    fx.PublishRound,
)  # fmt: skip
"""What a guest would see or hear; lamps, timers and prompts are left out."""


class Narrator:
    def __init__(self, write: Callable[[str], object], *, colour: bool) -> None:
        self.write, self.colour = write, colour
        self.placed: Mapping[int, Mapping[str, int]] = {}
        """The wagers of the round; they are told when bets close."""

    def style(self, text: str, code: str) -> str:
        return f"{code}{text}{PLAIN}" if self.colour else text

    def title(self, text: str) -> None:
        self.write("\n" + self.style(text, BOLD) + "\n" + "─" * min(len(text), 78) + "\n")

    def line(self, text: str, indent: int = 2) -> None:
        deeper = " " * (indent + 4)
        for row in textwrap.wrap(" " * indent + text, COLUMNS, subsequent_indent=deeper):
            self.write(f"{_CARD.sub(self._card, row)}\n")

    def _card(self, found: re.Match[str]) -> str:
        shown = found[1].replace("T", "10") + PIPS[found[2]]
        return self.style(shown, RED) if found[2] in "dh" else shown

    def _wagers(self) -> None:
        for seat, spots in self.placed.items():
            told = ", ".join(f"{cents_text(c)} on {words.spot(spot)}" for spot, c in spots.items())
            self.line(f"Seat {seat} bets {told}")

    def tell(self, fact: f.Fact, effects: tuple[fx.Effect, ...]) -> None:
        if isinstance(fact.what, f.BetsClosed):
            self._wagers()
        if isinstance(fact.what, _FACTS):
            self.line(words.fact(fact.what))
        for said in words.effects(one for one in effects if isinstance(one, _EFFECTS)):
            self.line(str(said), 4)
