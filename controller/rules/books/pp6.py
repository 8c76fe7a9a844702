"""Let It Ride with Pair Plus and 6 Card Bonus. The book states no irregularities (AMB-V10)."""

from __future__ import annotations

from typing import Final

from controller.rules import events as ev
from controller.rules.book import Book, DealClauses, Limits, WagerClauses
from controller.rules.paytables import PAIR_PLUS, SIX_CARD_BONUS, main_table
from controller.rules.rulings import (
    Exposures,
    KeepLive,
    RefusePart,
    Ruling,
    Rulings,
    VoidHand,
    absent,
    ask,
    unequal,
)

_STAYS_LIVE: Final = {"1": "PP6-M2b", "2": "PP6-M3d", "$": "PP6-M3d"}


def _deck_count(e: ev.DeckCount) -> Ruling | None:
    return None if e.count == ev.FULL_DECK else ask("PP6-E3", f"The deck held {e.count} cards")


def _community_count(e: ev.CommunityCount) -> Ruling | None:
    return None if e.count == 2 else ask("PP6-M1c", f"The dealer was dealt {e.count} shared cards")


def _player_card_count(e: ev.PlayerCardCount) -> Ruling | None:
    return None if e.count == 3 else ask("PP6-M1c", f"Seat {e.seat} was dealt {e.count} cards")


def _exposed(e: Exposures) -> Ruling | None:
    total = e.in_deal + e.after_handling
    return ask("PP6-R5b", f"{total} cards were exposed in error") if total else None


def _shuffler_malfunction(e: ev.ShufflerMalfunction) -> Ruling | None:
    if not e.cards_dealt:
        return None
    return ask("PP6-M1c", f"The shuffler failed after {e.cards_dealt} cards")


RULINGS: Final[Rulings] = {
    ev.ForeignCard: lambda _: ask("PP6-E3", "A foreign card was found"),
    ev.DeckCount: _deck_count,
    ev.DealtIncorrectly: lambda _: ask("PP6-M1c", "The cards were dealt incorrectly"),
    ev.CommunityCount: _community_count,
    ev.PlayerCardCount: _player_card_count,
    Exposures: _exposed,
    ev.HandDealtNoWager: lambda e: ask(
        "PP6-M1c", f"Seat {e.seat} was dealt a hand without a wager"
    ),
    ev.ShufflerMalfunction: _shuffler_malfunction,
    ev.AbsentPlayer: lambda e: absent(e.seat, "PP6-M2a" if e.from_spot == "1" else "PP6-M3b"),
    ev.UnequalWagers: lambda e: unequal(e.seat, "PP6-R2b"),
    ev.LateWager: lambda e: RefusePart(e.seat, e.spot, e.amount, "PP6-M1a"),
    ev.LateWithdrawal: lambda e: KeepLive(e.seat, e.spot, _STAYS_LIVE.get(e.spot, "PP6-M3d")),
    ev.WagersVoidedBySupervisor: lambda e: VoidHand(e.seat, None),
    ev.GameInvalidated: lambda _: ask(
        None, "The outcome is to be invalidated", "void the round, or let the result stand"
    ),
}

_CIRCLE: Final = Limits(200, 1000, "PP6-W1")

BOOK: Final = Book(
    key="PP6",
    title="Let It Ride with Pair Plus and 6 Card Bonus",
    version="1",
    effective=None,
    family="let it ride",
    wagers=("1", "2", "$", "pair_plus", "six_card"),
    rulings=RULINGS,
    clauses=WagerClauses(
        equal="PP6-R2b",
        side_needs_base="PP6-R2c",
        side_at_most_base={"pair_plus": "PP6-W2a", "six_card": "PP6-W3a"},
        late="PP6-M1a",
    ),
    round_clauses=DealClauses(
        open="PP6-M1a",
        close="PP6-M1c",
        deal="PP6-M1c",
        community="PP6-M1c",
        decide_1="PP6-M2a",
        decide_2="PP6-M3b",
        turn_1="PP6-M3a",
        turn_2="PP6-M4",
        dollar="PP6-M3d",
        settle="PP6-M5a",
        order="PP6-M2a",
        deck="PP6-E3",
        excess="PP6-M1c",
        late_wager="PP6-M1a",
        late_withdrawal="PP6-M2b",
        round="PP6-M1a",
    ),
    circles_optional=True,
    main=main_table("PP6-P1"),
    side={"pair_plus": PAIR_PLUS, "six_card": SIX_CARD_BONUS},
    wager_limits={
        "1": _CIRCLE,
        "2": _CIRCLE,
        "$": _CIRCLE,
        "pair_plus": Limits(100, 1000, "PP6-W2"),
        "six_card": Limits(100, 1000, "PP6-W3"),
    },
    bonus_card=True,
)
