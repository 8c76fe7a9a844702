"""What is on the table now: wagers, decisions and cards by seat. Pure: a state in, rows out.

A card that nobody may know is ``FACE_DOWN`` and not a ``Card``: it cannot be shown by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from controller.rules.cards import NAMES, Card
from controller.rules.engine.deal import DEALER, assign
from controller.rules.engine.state import Phase, TableState

POT: Final = "pot"
DECIDED: Final[Mapping[str, str]] = {"ride": "rides", "withdraw": "back"}


class FaceDown(Enum):
    FACE_DOWN = "??"


FACE_DOWN: Final = FaceDown.FACE_DOWN
OnTable = Card | FaceDown


def card_text(card: OnTable) -> str:
    return card.value if isinstance(card, FaceDown) else NAMES[card]


class OnSpot(NamedTuple):
    """A wager. ``decided`` is what became of it: ``rides``, ``back`` or nothing yet."""

    spot: str
    cents: int
    decided: str = ""


class SeatRow(NamedTuple):
    """What is at a seat; seat 0 is the dealer."""

    seat: int
    wagers: tuple[OnSpot, ...]
    cards: tuple[OnTable, ...]
    note: str = ""
    credits: int = 0
    """Progressive credits that the acceptor took."""

    def row(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "seat": self.seat,
            "wagers": [{**one._asdict(), "decided": one.decided or None} for one in self.wagers],
            "cards": [card_text(card) for card in self.cards],
            "note": self.note or None,
            "credits": self.credits,
        }


class Felt(NamedTuple):
    """All of it. ``board`` has the shared cards in the order in which they are turned, in Ricochet
    the dealer's; ``bonus`` is the dealer's middle card, where the game has one and it was dealt."""

    rows: tuple[SeatRow, ...] = ()
    board: tuple[OnTable, ...] = ()
    bonus: OnTable | None = None
    pot_cents: int | None = None
    """What lies on the pot; None in a game without one."""

    def row(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "rows": [one.row() for one in self.rows],
            "board": [card_text(card) for card in self.board],
            "bonus": None if self.bonus is None else card_text(self.bonus),
            "pot_cents": self.pot_cents,
        }


def felt(state: TableState) -> Felt:
    """The whole felt, of a table that plays and of a past moment alike."""
    has_pot = state.rules.book.family == "ricochet"
    pot = state.spots.get((DEALER, POT), 0) if has_pot else None
    if state.phase is Phase.IDLE or state.phase is Phase.BETTING:
        return Felt(rows(state), pot_cents=pot)
    dealt = assign(state)
    hidden_bonus = None if dealt.bonus is None else FACE_DOWN
    # Only how many cards lie there is taken from what is closed.
    return Felt(
        rows(state),
        _shown(_dealer_s(state), len(dealt.community)),
        hidden_bonus if state.bonus is None else state.bonus,
        pot,
    )


def rows(state: TableState) -> tuple[SeatRow, ...]:
    """Every seat with something on it, and the dealer's cards as seat 0."""
    if state.phase is Phase.IDLE or state.phase is Phase.BETTING:
        return tuple(_betting(state, seat) for seat in _with_chips(state))
    hands = assign(state).seats if state.drawn else {}
    found = [_seat(state, n, len(hands.get(n, ()))) for n in sorted(state.seats)]
    return (*found, *_dealer(state))


def _with_chips(state: TableState) -> list[int]:
    placed = {seat for (seat, _), cents in state.spots.items() if cents}
    return sorted(placed | {seat for seat in state.credits if state.credits_now(seat)})


def _betting(state: TableState, number: int) -> SeatRow:
    placed = [
        OnSpot(spot, cents)
        for (seat, spot), cents in state.spots.items()
        if seat == number and cents
    ]
    if credits := state.credits_now(number):
        placed.append(OnSpot("progressive", credits * (state.rules.table.credit_cents or 0)))
    return SeatRow(number, tuple(sorted(placed)), (), credits=credits)


def _seat(state: TableState, number: int, dealt: int) -> SeatRow:
    seat = state.seats[number]
    placed = tuple(
        OnSpot(spot, cents, DECIDED.get(seat.decisions.get(spot, ""), ""))
        for spot, cents in seat.locked.items()
        if cents
    )
    public = seat.opened or state.face_up.get(number, ())
    notes = (
        state.actions.get(number, ""),
        "void" if seat.out else "",
        "held" if seat.held else "",
        "settled" if seat.settled else "",
    )
    note, credits = " ".join(filter(None, notes)), state.credits_now(number)
    return SeatRow(number, placed, _shown(public, dealt), note, credits)


def _shown(public: tuple[Card, ...], dealt: int) -> tuple[OnTable, ...]:
    """So many cards were dealt, and these of them are open."""
    return (*public, *(FACE_DOWN,) * max(0, dealt - len(public)))


def _dealer_s(state: TableState) -> tuple[Card, ...]:
    return state.face_up.get(DEALER, ()) or state.turned


def _dealer(state: TableState) -> list[SeatRow]:
    public = _dealer_s(state)
    note = "" if state.bonus is None else f"middle {NAMES[state.bonus]}"
    return [SeatRow(DEALER, (), public, note)] if public or note else []
