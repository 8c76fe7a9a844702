"""Let It Ride under the 1992 Act: shoe or shuffler, posted limits, the richest irregularities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from controller.rules import events as ev
from controller.rules.book import Book, DealClauses, WagerClauses
from controller.rules.paytables import main_table
from controller.rules.rulings import (
    CorrectTo,
    Exposures,
    Forfeit,
    KeepLive,
    RefusePart,
    RideFrom,
    Ruling,
    Rulings,
    VoidHand,
    VoidRound,
    ask,
    hold,
    unequal,
)


def _foreign_card(e: ev.ForeignCard) -> Ruling | None:
    return None if e.after_round_concluded else VoidRound("NSW-12.9.2")


def _deck_count(e: ev.DeckCount) -> Ruling | None:
    if e.count == ev.FULL_DECK or e.after_round_concluded:
        return None
    return VoidRound("NSW-12.9.2")


def _dealt_incorrectly(e: ev.DealtIncorrectly) -> Ruling | None:
    if e.players_handled:
        return ask("NSW-12.1", "The cards were dealt incorrectly, found after handling")
    return VoidRound("NSW-12.1")


def _community_count(e: ev.CommunityCount) -> Ruling | None:
    if e.count == 2 or e.after_next_game_began:
        return None
    return VoidRound("NSW-12.2")


def _player_card_count(e: ev.PlayerCardCount) -> Ruling | None:
    if e.count == 3 or e.after_next_game_began:
        return None
    if e.players_handled:
        return VoidHand(e.seat, "NSW-12.7")
    return VoidRound("NSW-12.1")


def _exposed(e: Exposures) -> Ruling | None:
    if e.community_in_deal:
        return VoidRound("NSW-12.6")
    if e.in_deal >= 2:
        return VoidRound("NSW-12.3")
    if (others := e.after_handling - e.community_after_handling) >= 2:
        return ask("NSW-12.3", f"{others} cards were exposed after the deal")
    return None


def _hand_dealt_no_wager(e: ev.HandDealtNoWager) -> Ruling | None:
    return None if e.players_handled else VoidRound("NSW-12.1")


def _absent_player(e: ev.AbsentPlayer) -> Ruling:
    if not e.viewed:
        return VoidHand(e.seat, "NSW-12.13")
    return RideFrom(e.seat, e.from_spot, "NSW-12.14")


def _shuffler_malfunction(e: ev.ShufflerMalfunction) -> Ruling | None:
    return VoidRound("NSW-13.2.1") if e.cards_dealt else None


def _unequal_wagers(e: ev.UnequalWagers) -> Ruling:
    if e.resolution == "corrected" and e.corrected_to is not None:
        clause = "NSW-12.11" if e.players_handled else "NSW-12.10.1"
        return CorrectTo(e.seat, e.corrected_to, clause)
    if e.resolution == "fold" and not e.players_handled:
        return VoidHand(e.seat, "NSW-12.10.2")
    if e.players_handled:
        return hold(
            e.seat,
            "NSW-12.11",
            "it would not correct its unequal wagers after handling",
            "return the wagers, or play on with the amounts as they lie, and exclude the player",
        )
    return unequal(e.seat, "NSW-12.10")


def _game_invalidated(e: ev.GameInvalidated) -> Iterable[Ruling]:
    rulings: list[Ruling] = [VoidRound("NSW-14.4")]
    if e.forfeit_seats:
        rulings.append(Forfeit(e.forfeit_seats, "NSW-14.5"))
    return rulings


RULINGS: Final[Rulings] = {
    ev.ForeignCard: _foreign_card,
    ev.DeckCount: _deck_count,
    ev.DealtIncorrectly: _dealt_incorrectly,
    ev.CommunityCount: _community_count,
    ev.PlayerCardCount: _player_card_count,
    Exposures: _exposed,
    ev.HandDealtNoWager: _hand_dealt_no_wager,
    ev.AbsentPlayer: _absent_player,
    ev.ShufflerMalfunction: _shuffler_malfunction,
    ev.UnequalWagers: _unequal_wagers,
    ev.LateWager: lambda e: RefusePart(e.seat, e.spot, e.amount, "NSW-5.3"),
    ev.LateWithdrawal: lambda e: KeepLive(e.seat, e.spot, "NSW-5.4"),
    ev.WagersVoidedBySupervisor: lambda e: VoidHand(e.seat, "NSW-14.3.1"),
    ev.GameInvalidated: _game_invalidated,
}

BOOK: Final = Book(
    key="NSW",
    title="Let It Ride (NSW, Casino Control Act 1992)",
    version="1992",
    effective=None,
    family="let it ride",
    wagers=("1", "2", "$"),
    rulings=RULINGS,
    max_seats=7,
    clauses=WagerClauses(equal="NSW-5.2", late="NSW-5.3", over_area_limit="NSW-6.3"),
    round_clauses=DealClauses(
        open="NSW-1.1-round",
        close="NSW-7.2.1",
        deal="NSW-7.2.2",
        community="NSW-1.1-community",
        decide_1="NSW-8.3",
        decide_2="NSW-8.4",
        turn_1="NSW-8.4",
        turn_2="NSW-8.6",
        dollar="NSW-8.9",
        settle="NSW-9.2",
        order="NSW-8.3",
        deck="NSW-12.9",
        excess="NSW-7.4.2",
        late_wager="NSW-5.3",
        late_withdrawal="NSW-5.4",
        round="NSW-1.1-round",
    ),
    main=main_table("NSW-10.1-T"),
    posted_limits=True,
    withdraw_until_first_card=True,
    in_play_from_first_card=True,
    correct_unequal=True,
    tuck_rides_all=True,
    one_hand_clause="NSW-5.5",
    shuffle_clause="NSW-4.1",
    deck_check_clause="NSW-3.4",
    closing_clause="NSW-14.8",
)
