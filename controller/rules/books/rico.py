"""Ricochet Poker: ante, play, a shared pot, kickout hands, Rapid Fire and HedgeBet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.rules import events as ev
from controller.rules.book import Book, DealClauses, WagerClauses
from controller.rules.cards import cards
from controller.rules.hands import rank5
from controller.rules.rulings import Exposures, Ruling, Rulings, ask

KICKOUT_HANDS: Final[Mapping[int, str]] = {
    1: "Kc Kd Qh 3s 2c",
    2: "Ac Ad Qh 3s 2c",
    3: "Tc Td 2h 2s 3c",
    4: "Ac Ad 2h 2s 3c",
    5: "2c 2d 2h 4s 3c",
    6: "Qc Qd Qh 3s 2c",
    7: "Ac 2d 3h 4s 5c",
}
"""The lowest dealer hand that folds, by the number of hands with an ante (RICO-K1 to RICO-K7)."""

KICKOUT_LIMITS: Final[Mapping[int, int]] = {
    hands: rank5(*cards(lowest)) for hands, lowest in KICKOUT_HANDS.items()
}
"""Least strength at which the dealer folds, by number of hands."""

_CLAUSES: Final[Mapping[type[ev.Event], str]] = {
    ev.ForeignCard: "RICO-I2",
    ev.DeckCount: "RICO-I2",
    ev.LateWager: "RICO-1",
    ev.LateWithdrawal: "RICO-1",
    ev.UnequalWagers: "RICO-1",
    ev.OverMaxPreviousRound: "RICO-1",
    ev.AbsentPlayer: "RICO-4",
}
"""The clause an irregularity touches; all others touch the deal."""


def _silent(e: ev.Event) -> Ruling:
    """This book has no irregularities: whatever happens is the supervisor's."""
    name = ev.NAME_OF[type(e)].replace("_", " ")
    return ask(_CLAUSES.get(type(e), "RICO-2"), f"Reported: {name}")


RULINGS: Final[Rulings] = {
    **{cls: _silent for cls in ev.NAME_OF if cls not in (ev.SupervisorConfirmed, ev.ExposedCards)},
    Exposures: lambda _: ask("RICO-2", "Reported: exposed cards"),
}

BOOK: Final = Book(
    key="RICO",
    title="Ricochet Poker",
    version="1",
    effective=None,
    family="ricochet",
    wagers=("ante", "rapid_fire", "hedge"),
    rulings=RULINGS,
    max_seats=7,
    clauses=WagerClauses(equal="RICO-1", side_needs_base="RICO-1", late="RICO-1"),
    round_clauses=DealClauses(
        open="RICO-1",
        close="RICO-1",
        deal="RICO-2",
        community="RICO-2",
        decide_1="RICO-4",
        decide_2="RICO-4",
        turn_1="RICO-2",
        turn_2="RICO-2",
        dollar="RICO-1",
        settle="RICO-9",
        order="RICO-4",
        deck="RICO-I2",
        excess="RICO-4b",
        late_wager="RICO-1",
        late_withdrawal="RICO-1",
        round="RICO-1",
    ),
    card_count=2,
)
