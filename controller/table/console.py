"""The key grammar of docs/protocols/console.md as a pure machine: keys in, what they mean out.

It declares nothing itself and knows no rule; a wrong entry names the text that says so and leaves
what was typed before it alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from controller.rules.engine import facts as f
from controller.rules.engine.authority import AUTHORITY
from controller.rules.engine.common import spot_of
from controller.rules.engine.state import Phase, TableState
from controller.table.menu import (
    ARGUMENTS,
    LONGEST,
    MASKED,
    MENU,
    VOIDS,
    BadEntry,
    Meant,
    arguments_of,
    meaning,
)

DIGITS: Final = "0123456789"
Control = Literal["call", "undo", "clear"]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong entry: the text that says so; nothing changed."""

    key: str


Outcome = Meant | Control | Wrong | None


@dataclass(slots=True)
class Console:
    """What was typed so far."""

    seat: int | None = None
    code: str | None = None
    """None: no menu entry; else the digits of its code so far."""
    void: bool = False
    """The entry began with VOID: its code is closed by ENTER and is one of four."""
    chosen: bool = False
    given: tuple[str, ...] = ()
    typed: str = ""

    def clear(self) -> None:
        self.seat, self.code, self.void, self.chosen = None, None, False, False
        self.given, self.typed = (), ""

    @property
    def busy(self) -> bool:
        return self.seat is not None or self.code is not None

    def press(self, key: str, state: TableState, prompted: int | None, turned: bool) -> Outcome:
        """One key. ``prompted`` is the seat asked now, ``turned`` the supervisor key."""
        if key == "CLEAR":
            self.clear()
            return "clear"
        if key == "CALL":
            return "call"
        if self.code is not None:
            return self._in_menu(key, state, turned)
        if key in DIGITS:
            return self._seat_digit(int(key), state)
        seat, self.seat = self.seat, None
        if key in ("MENU", "VOID"):
            self.code, self.void = "", key == "VOID"
            return None
        if key == "UNDO":
            return "undo"
        return game_key(key, seat, prompted, state)

    def _seat_digit(self, digit: int, state: TableState) -> Outcome:
        if self.seat is not None:
            self.seat = None
            return Wrong("one seat digit")
        if not 1 <= digit <= state.rules.table.seats:
            return Wrong("no such seat")
        self.seat = digit
        return None

    # --- the menu ------------------------------------------------------------------------------

    def _in_menu(self, key: str, state: TableState, turned: bool) -> Outcome:
        assert self.code is not None
        if key in DIGITS:
            return self._digit(key, state, turned)
        if key != "ENTER":
            return Wrong("finish or clear")
        if not self.chosen:
            return self._choose(turned, state) if self.void else Wrong("two digits")
        return self._argument(state)

    def _digit(self, key: str, state: TableState, turned: bool) -> Outcome:
        assert self.code is not None
        if self.chosen:
            if len(self.typed) >= LONGEST:
                return Wrong("too long")
            self.typed += key
            return None
        if len(self.code) == 2:
            return Wrong("press enter")
        self.code += key
        if self.void or len(self.code) < 2:
            return None
        return self._choose(turned, state)

    def _choose(self, turned: bool, state: TableState) -> Outcome:
        code = self.code or ""
        if code not in (VOIDS if self.void else MENU):
            self.clear()
            return Wrong("no such code")
        if needs_key(code) and not turned:
            self.clear()
            return Wrong("turn the key")
        self.chosen = True
        return self._argument(state) if not MENU[code].arguments else None

    def _argument(self, state: TableState) -> Outcome:
        """One argument is complete, or none is needed: ask for the next, or it is all said."""
        assert self.code is not None
        names = arguments_of(self.code, self.given)
        if names:
            if not self.typed:
                return Wrong("type digits")
            try:
                ARGUMENTS[names[len(self.given)]](self.typed, state)
            except BadEntry as bad:
                self.typed = ""
                return Wrong(bad.key)
            self.given, self.typed = (*self.given, self.typed), ""
        if len(self.given) < len(arguments_of(self.code, self.given)):
            return None
        code, given = self.code, self.given
        self.clear()
        try:
            return meaning(code, given, state)
        except BadEntry as bad:
            return Wrong(bad.key)

    def shown(self) -> tuple[str, str, str] | None:
        """What line 3 shows of the entry: the code, the argument asked for, the digits."""
        if self.code is None:
            return None if self.seat is None else ("", "seat", str(self.seat))
        if not self.chosen:
            return self.code, "code", ""
        name = arguments_of(self.code, self.given)[len(self.given)]
        return self.code, name, "*" * len(self.typed) if name in MASKED else self.typed


_KIND: Final = {
    "14": f.HandsRemapped, "17": f.HandVoided, "34": f.DeckChanged, "35": f.CountOrdered,
    "51": f.SupervisorRuled, "52": f.SeatRuled, "53": f.WagerDeclared, "54": f.WagerRefused,
    "55": f.SeatExcluded, "56": f.SeatReadmitted, "57": f.OrderDirected,
    "58": f.OutcomeInvalidated, "62": f.DisputeDecided,
    "64": f.CardCorrected, "71": f.LimitsChanged,
}  # fmt: skip
"""What the codes of a supervisor declare, so that the key is asked for before the arguments."""


def needs_key(code: str) -> bool:
    return MENU[code].supervisor or (code in _KIND and _KIND[code] in AUTHORITY)


# --- the game keys -----------------------------------------------------------------------------

_PLAIN: Final = {
    "OPEN": f.BetsOpened(),
    "CLOSE": f.BetsClosed(),
    "COMM1": f.CommunityTurned(1),
    "COMM2": f.CommunityTurned(2),
}
_ENDS: Final[dict[Phase, f.What]] = {
    Phase.VOIDING: f.VoidCleared(),
    Phase.BETTING: f.RoundCalledOff(),
    Phase.LOCKED: f.RoundCalledOff(),
}
"""What END means where it does not end a settled round."""
_FOR_A_SEAT: Final = ("RIDE", "BACK", "PLAY", "FOLD", "SHOW", "PAID")


def game_key(key: str, seat: int | None, prompted: int | None, state: TableState) -> Outcome:
    """What a game key declares, for the seat typed before it or else the one prompted."""
    if key in _PLAIN:
        return Wrong("no seat here") if seat is not None else _PLAIN[key]
    if key == "END":
        return _ENDS.get(state.phase, f.RoundEnded())
    if key == "HANDLED":
        return f.CardsHandled(seat)
    if key not in _FOR_A_SEAT:
        return Wrong("no menu entry" if key == "ENTER" else "no such key")
    number = seat if seat is not None else prompted
    if number is None:
        return Wrong("not now")
    spot = spot_of(state.phase)
    match key:
        case "RIDE" | "BACK" if spot is None:
            return Wrong("not now")
        case "RIDE" | "BACK" if spot is not None:
            return f.Decided(number, spot, "ride" if key == "RIDE" else "withdraw")
        case "PLAY":
            return f.Played(number)
        case "FOLD":
            return f.Folded(number)
        case "SHOW":
            return f.HandOpened(number)
        case _:
            return f.SeatSettled(number)
