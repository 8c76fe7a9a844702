"""Let It Ride (MBS), version 3: progressive and envy. Its irregularities are clauses 5.1 to 5.7."""

from __future__ import annotations

from datetime import date
from typing import Final

from controller.rules import events as ev
from controller.rules.book import Book, DealClauses, WagerClauses
from controller.rules.paytables import MBS3_ENVY_CENTS, MBS3_PROGRESSIVE, main_table
from controller.rules.rulings import (
    Exposures,
    KeepLive,
    RefusePart,
    Ruling,
    Rulings,
    VoidHand,
    VoidRound,
    absent,
    ask,
    unequal,
)


def mbs_rulings(book: str) -> Rulings:
    """The irregularities that MBS3 and MEGA state in the same words."""

    def foreign_card(e: ev.ForeignCard) -> Ruling | None:
        return None if e.after_round_concluded else VoidRound(f"{book}-5.1.1")

    def deck_count(e: ev.DeckCount) -> Ruling | None:
        if e.count == ev.FULL_DECK:
            return None
        if e.after_round_concluded:
            return ask(
                f"{book}-5.2",
                f"The deck held {e.count} cards, found after the round",
                "let the result stand, or void the round",
            )
        return VoidRound(f"{book}-5.2")

    def dealt_incorrectly(e: ev.DealtIncorrectly) -> Ruling | None:
        if e.players_handled:
            return ask(f"{book}-5.3", "The cards were dealt incorrectly, found after handling")
        return None if e.reconstructed else VoidRound(f"{book}-5.3")

    def community_count(e: ev.CommunityCount) -> Ruling | None:
        if e.count == 2 or e.reconstructed or e.after_next_game_began:
            return None
        return VoidRound(f"{book}-5.4")

    def exposed(e: Exposures) -> Ruling | None:
        if e.in_deal >= 2:
            return VoidRound(f"{book}-5.5")
        if e.after_handling:
            return ask(f"{book}-5.5", "A card was exposed after the players handled their cards")
        return None

    def hand_dealt_no_wager(e: ev.HandDealtNoWager) -> Ruling | None:
        if e.players_handled:
            return ask(f"{book}-5.3", f"Seat {e.seat} was dealt a hand without a wager")
        return None if e.reconstructed else VoidRound(f"{book}-5.3")

    def shuffler_malfunction(e: ev.ShufflerMalfunction) -> Ruling | None:
        if not e.cards_dealt:
            return None
        return ask(f"{book}-3.6", f"The shuffler failed after {e.cards_dealt} cards")

    return {
        ev.ForeignCard: foreign_card,
        ev.DeckCount: deck_count,
        ev.DealtIncorrectly: dealt_incorrectly,
        ev.CommunityCount: community_count,
        Exposures: exposed,
        ev.HandDealtNoWager: hand_dealt_no_wager,
        ev.ShufflerMalfunction: shuffler_malfunction,
        ev.LateWager: lambda e: RefusePart(e.seat, e.spot, e.amount, f"{book}-5.6"),
        ev.LateWithdrawal: lambda e: KeepLive(e.seat, e.spot, f"{book}-5.7"),
        ev.AbsentPlayer: lambda e: absent(
            e.seat, f"{book}-3.8" if e.from_spot == "1" else f"{book}-3.12"
        ),
        ev.UnequalWagers: lambda e: unequal(e.seat, f"{book}-3.4"),
        ev.WagersVoidedBySupervisor: lambda e: VoidHand(e.seat, None),
        ev.GameInvalidated: lambda _: ask(
            None, "The outcome is to be invalidated", "void the round, or let the result stand"
        ),
    }


def mbs_round_clauses(book: str, round_clause: str) -> DealClauses:
    return DealClauses(
        open=f"{book}-3.1",
        close=f"{book}-3.2",
        deal=f"{book}-3.6",
        community=f"{book}-3.7",
        decide_1=f"{book}-3.8",
        decide_2=f"{book}-3.12",
        turn_1=f"{book}-3.11",
        turn_2=f"{book}-3.15",
        dollar=f"{book}-3.16",
        settle=f"{book}-3.17",
        order=f"{book}-3.8",
        deck=f"{book}-5.1",
        excess=f"{book}-3.7",
        late_wager=f"{book}-5.6",
        late_withdrawal=f"{book}-5.7",
        round=round_clause,
    )


def _player_card_count(e: ev.PlayerCardCount) -> Ruling | None:
    if e.count == 3 or e.reconstructed or e.after_next_game_began:
        return None
    return VoidRound("MBS3-5.4")


RULINGS: Final[Rulings] = {
    **mbs_rulings("MBS3"),
    ev.PlayerCardCount: _player_card_count,
}

BOOK: Final = Book(
    key="MBS3",
    title="Let It Ride (MBS)",
    version="3",
    effective=date(2012, 12, 27),
    family="let it ride",
    wagers=("1", "2", "$", "progressive"),
    rulings=RULINGS,
    clauses=WagerClauses(equal="MBS3-3.4", side_needs_base="MBS3-3.5", late="MBS3-5.6"),
    round_clauses=mbs_round_clauses("MBS3", "MBS3-1.1.7"),
    main=main_table("MBS3-4.1.1-T"),
    progressive=MBS3_PROGRESSIVE,
    envy_cents=MBS3_ENVY_CENTS,
    remap_allowed=True,
    exposure_in_deal_only=True,
)
