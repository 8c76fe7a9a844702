"""The four lines of the dealer prompt: state and round, seat and amount, the question, the keys.

Lines 1 to 3 come from the language file, line 4 is key caps only. Nothing here advises a player and
nothing depends on a closed card (docs/protocols/console.md section 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from controller.rules.engine.state import TableState
from controller.table.amounts import DOLLARS, Amounts
from controller.table.asks import Ask
from controller.table.menu import RULINGS
from controller.table.texts import COLUMNS, Texts

Lines = tuple[str, str, str, str]
_AMOUNTS: Final = ("amount",)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something line 1 tells until it is over or CLEARed."""

    code: str
    seat: int | None = None
    cents: int | None = None
    spot: str = ""
    other: int | None = None
    """Another seat that it speaks of."""
    cause: object = None
    """What must go away for the notice to go away by itself; None: it stays until CLEAR."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is reported besides the question: a refusal, a wrong entry, an entry, a notice."""

    wrong: tuple[str, str, int | None] | None = None
    """Section, key and seat of a refusal."""
    entry: tuple[str, str, str] | None = None
    """The menu code, the argument asked for, and its digits."""
    notice: Notice | None = None


@dataclass(frozen=True, slots=True)
class Prompter:
    texts: Texts
    amounts: Amounts = DOLLARS

    def lines(self, state: TableState, ask: Ask, said: Said) -> Lines:
        last = " ".join(("ENTER", "CLEAR") if said.entry is not None else ask.keys)
        first = self._first(state, ask, said.notice)
        found = (first, self._second(ask), self._third(ask, said), last)
        one, two, three, four = (line[:COLUMNS] for line in found)
        return one, two, three, four

    def _first(self, state: TableState, ask: Ask, notice: Notice | None) -> str:
        """A notice is shown above the question, never in its place; stop and offer come first."""
        if ask.offer:
            return self.texts["ask"][ask.offer]
        if notice is not None and state.frozen is None:
            return self.notice(notice)
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
        return money_line(who, about, ask.amount, self.amounts)

    def _spot(self, spot: str) -> str:
        return self.texts["spot"].get(spot, spot.upper()) if spot else ""

    def _third(self, ask: Ask, said: Said) -> str:
        if said.wrong is not None:
            section, key, seat = said.wrong
            return self._fill(self.texts[section][key], seat=seat)
        if said.entry is not None:
            return self._entry(*said.entry)
        if ask.parts and (listed := self._parts(ask.parts)):
            return listed
        return self._fill(
            self.texts["ask"][ask.code],
            ask.cents,
            seat=ask.seat,
            spot=self._spot(ask.spot),
            detail=self._detail(ask.detail),
            about=ask.about,
            of=self._spot(ask.of),
        )

    def notice(self, notice: Notice) -> str:
        """As line 1 tells it."""
        text, spot = self.texts["notice"][notice.code], self._spot(notice.spot)
        return self._fill(text, notice.cents or 0, seat=notice.seat, spot=spot, other=notice.other)

    def _detail(self, detail: str) -> str:
        for section in ("deck", "hand"):
            if detail in self.texts[section]:
                return self.texts[section][detail]
        return detail

    def _parts(self, parts: tuple[tuple[str, int], ...]) -> str:
        """Every wager's pay, if all of them fit."""
        short = self.amounts.short
        listed = " ".join(f"{self._spot(spot)}:{short(cents)}" for spot, cents in parts)
        return listed if len(listed) <= COLUMNS else ""

    def _entry(self, code: str, name: str, typed: str) -> str:
        if not code:
            word = self.texts["word"]["seat"] if name == "seat" else "MENU"
            return f"{word} {typed}_"
        value = self.amounts.grouped(int(typed)) if name in _AMOUNTS and typed else typed
        asked = self.texts["arg"][name]
        # What was typed is never cut: the code it belongs to gives way.
        offered = (f"MENU {code} {asked}{value}_", f"{code} {asked}{value}_", f"{value}_")
        return next((line for line in offered if len(line) <= COLUMNS), offered[-1])

    def _fill(self, text: str, cents: int = 0, **values: Any) -> str:
        """The text with its fields filled in; an amount is never cut, the words before it are."""
        amount = self.amounts.short(cents)
        line = text.format(**values, cents=amount)
        if len(line) <= COLUMNS or "{cents}" not in text:
            return line
        head, _, tail = text.partition("{cents}")
        words, _, sign = head.format(**values).rpartition(" ")  # a sign belongs to its amount
        told = f"{sign}{amount}{tail.format(**values)}"
        return f"{words[: max(0, COLUMNS - len(told) - 1)].rstrip()} {told}".lstrip()


def spread(left: str, right: str) -> str:
    """Two words at the ends of a line; the left one gives way."""
    room = COLUMNS - len(right) - 1
    return f"{left[:room]:<{room}} {right}"


def money_line(who: str, about: str, cents: int, amounts: Amounts) -> str:
    """``SEAT 3  PAY   175.00``: the amount is never cut, whatever else has to give way."""
    grouped, plain = amounts.grouped(cents), amounts.plain(cents)
    for left in (f"{who}  {about}".rstrip(), f"{who} {about}".rstrip(), who):
        for amount in (grouped, plain):
            if len(left) + 1 + len(amount) <= COLUMNS:
                return f"{left}{amount:>{COLUMNS - len(left)}}"
    return plain[:COLUMNS]
