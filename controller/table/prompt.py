"""The four lines of the dealer prompt: state and round, seat and amount, the question, the keys.

Lines 1 to 3 come from the language file, line 4 is key caps only. Nothing here advises a player and
nothing depends on a closed card (docs/protocols/console.md section 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from controller.rules.engine.state import TableState
from controller.rules.money import format_cents
from controller.table.asks import Ask
from controller.table.menu import RULINGS
from controller.table.texts import COLUMNS, Texts

Lines = tuple[str, str, str, str]
_AMOUNTS: Final = ("amount",)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something line 3 tells until it is over or CLEARed."""

    code: str
    seat: int | None = None
    cents: int | None = None
    spot: str = ""
    cause: object = None
    """What must go away for the notice to go away by itself; None: it stays until CLEAR."""


@dataclass(frozen=True, slots=True)
class Said:
    """What stands over the question on line 3: a refusal, a wrong entry, an entry, a notice."""

    wrong: tuple[str, str, int | None] | None = None
    """Section, key and seat of a refusal."""
    entry: tuple[str, str, str] | None = None
    """The menu code, the argument asked for, and its digits."""
    notice: Notice | None = None


@dataclass(frozen=True, slots=True)
class Prompter:
    texts: Texts
    cut: int = field(default=COLUMNS)

    def lines(self, state: TableState, ask: Ask, said: Said) -> Lines:
        last = " ".join(("ENTER", "CLEAR") if said.entry is not None else ask.keys)
        found = (self._first(state), self._second(ask), self._third(ask, said), last)
        one, two, three, four = (line[: self.cut] for line in found)
        return one, two, three, four

    def _first(self, state: TableState) -> str:
        word = self.texts["state"][state.phase.value]
        return spread(word, f"R {state.round_no}")

    def _second(self, ask: Ask) -> str:
        words = self.texts["word"]
        if ask.answers:
            codes = " ".join(str(RULINGS.index(a) + 1) for a in ask.answers)
            who = f"{words['seat']} {ask.seat}  " if ask.seat is not None else ""
            return f"{who}{words['answers']} {codes}"
        if ask.seat is None and not ask.pot:
            return ""
        who = words["pot"] if ask.pot else f"{words['seat']} {ask.seat}"
        about = words[ask.word] if ask.word else self._spot(ask.spot)
        if ask.amount is None:
            return f"{who}  {about}".rstrip()
        return money_line(who, about, ask.amount)

    def _spot(self, spot: str) -> str:
        return self.texts["spot"].get(spot, spot.upper()) if spot else ""

    def _third(self, ask: Ask, said: Said) -> str:
        if said.wrong is not None:
            section, key, seat = said.wrong
            return self._fill(self.texts[section][key], seat=seat)
        if said.entry is not None:
            return self._entry(*said.entry)
        if said.notice is not None:
            n = said.notice
            cents = "" if n.cents is None else short(n.cents)
            text = self.texts["notice"][n.code]
            return self._fill(text, seat=n.seat, cents=cents, spot=self._spot(n.spot))
        if ask.parts and (listed := self._parts(ask.parts)):
            return listed
        return self._fill(
            self.texts["ask"][ask.code],
            seat=ask.seat,
            spot=self._spot(ask.spot),
            detail=self._detail(ask.detail),
            about=ask.about,
            cents=short(ask.cents),
            of=self._spot(ask.of),
        )

    def _detail(self, detail: str) -> str:
        for section in ("deck", "hand"):
            if detail in self.texts[section]:
                return self.texts[section][detail]
        return detail

    def _parts(self, parts: tuple[tuple[str, int], ...]) -> str:
        """Every wager's pay, if all of them fit."""
        listed = " ".join(f"{self._spot(spot)}:{short(cents)}" for spot, cents in parts)
        return listed if len(listed) <= self.cut else ""

    def _entry(self, code: str, name: str, typed: str) -> str:
        if not code:
            word = self.texts["word"]["seat"] if name == "seat" else "MENU"
            return f"{word} {typed}_"
        value = format_cents(int(typed)) if name in _AMOUNTS and typed else typed
        return f"MENU {code} {self.texts['arg'][name]}{value}_"

    def _fill(self, text: str, **values: Any) -> str:
        return text.format(**values)


def short(cents: int) -> str:
    """An amount without what says nothing: ``175`` for 175.00, ``2.50`` as it is."""
    return f"{cents // 100}" if cents % 100 == 0 else f"{cents // 100}.{cents % 100:02}"


def spread(left: str, right: str) -> str:
    """Two words at the ends of a line; the left one gives way."""
    room = COLUMNS - len(right) - 1
    return f"{left[:room]:<{room}} {right}"


def money_line(who: str, about: str, cents: int) -> str:
    """``SEAT 3  PAY   175.00``: the amount is never cut, whatever else has to give way."""
    grouped, plain = format_cents(cents), f"{cents // 100}.{cents % 100:02}"
    for left in (f"{who}  {about}".rstrip(), f"{who} {about}".rstrip(), who):
        for amount in (grouped, plain):
            if len(left) + 1 + len(amount) <= COLUMNS:
                return f"{left}{amount:>{COLUMNS - len(left)}}"
    return plain[:COLUMNS]
