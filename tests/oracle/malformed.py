"""Records the contract calls malformed, as far as a whole record of sound types can be."""

from __future__ import annotations

from typing import Any

from .event_rulings import rule
from .hand_values import UndecidedError

ANYWHERE = ("hand_dealt_no_wager", "over_max_previous_round", "cards_shown")


class MalformedError(Exception):
    """The record must be refused with exit 65."""


def check(record: dict[str, Any]) -> None:
    game, round_ = record["game"], record["round"]
    events = round_.get("events") or []
    _check_events(round_["seats"], events)
    _check_twice(round_, events)
    try:
        broken_off = rule(game, events).status() != "settled"
    except UndecidedError:
        broken_off = True
    _check_too_many(game, round_, events)
    if game == "RICO":
        _check_ricochet(round_, broken_off)
    else:
        _check_counts(game, round_, events, broken_off)


def _check_events(seats: list[dict[str, Any]], events: list[dict[str, Any]]) -> None:
    numbers = [seat["seat"] for seat in seats]
    if len(set(numbers)) < len(numbers):
        raise MalformedError("a seat twice")
    stakes = {seat["seat"]: dict(seat.get("wagers") or {}) for seat in seats}
    for event in events:
        seat = event.get("seat")
        if seat is not None and seat not in numbers and event["type"] not in ANYWHERE:
            raise MalformedError("an event for a seat not in the round")
        if event["type"] == "late_wager":
            left = (stakes[event["seat"]].get(event["spot"]) or 0) - event["amount"]
            if left < 0:
                raise MalformedError("a late amount above the stake")
            stakes[event["seat"]][event["spot"]] = left


def _check_twice(round_: dict[str, Any], events: list[dict[str, Any]]) -> None:
    """A card that appears twice is evidence if the events name a foreign card or a wrong deck."""
    cards = [*(round_.get("community") or []), *(round_.get("dealer") or [])]
    cards.append(round_.get("bonus_card"))
    for seat in round_["seats"]:
        cards += [*(seat.get("cards") or []), *(seat.get("draw") or [])]
    known = [card for card in cards if card]
    evidence = any(
        event["type"] == "foreign_card" or (event["type"] == "deck_count" and event["count"] != 52)
        for event in events
    )
    if len(set(known)) < len(known) and not evidence:
        raise MalformedError("a card twice")


def _check_too_many(game: str, round_: dict[str, Any], events: list[dict[str, Any]]) -> None:
    """A broken-off round explains cards that are missing, not cards too many."""
    counted = {event["seat"] for event in events if event["type"] == "player_card_count"}
    recounted = any(event["type"] == "community_count" for event in events)
    for seat in round_["seats"]:
        most = 2 if game == "RICO" else 3
        if seat["seat"] not in counted and len(seat.get("cards") or []) > most:
            raise MalformedError("a hand of too many cards")
        if len(seat.get("draw") or []) > 3:
            raise MalformedError("a draw of too many cards")
    if len(round_.get("community") or []) > 2 and not recounted:
        raise MalformedError("too many community cards")
    if len(round_.get("dealer") or []) > 5:
        raise MalformedError("too many dealer cards")


def _whole(cards: list[str | None] | None, count: int) -> bool:
    return cards is not None and len(cards) == count and None not in cards


def _check_counts(
    game: str, round_: dict[str, Any], events: list[dict[str, Any]], broken_off: bool
) -> None:
    if broken_off:
        return
    counted = {event["seat"] for event in events if event["type"] == "player_card_count"}
    rulings = rule(game, events)
    out = rulings.void | rulings.held | {seat for seat, _ in rulings.late}
    for seat in round_["seats"]:
        if seat["seat"] not in counted and not _whole(seat.get("cards"), 3):
            if seat["seat"] in out:
                raise UndecidedError("an event takes the seat out: may its cards be missing?")
            raise MalformedError("a hand of other than three cards")
    if not any(event["type"] == "community_count" for event in events) and not _whole(
        round_.get("community"), 2
    ):
        raise MalformedError("other than two community cards")
    if game == "PP6" and not round_.get("bonus_card"):
        raise MalformedError("no bonus card")


def _check_ricochet(round_: dict[str, Any], broken_off: bool) -> None:
    for seat in round_["seats"]:
        if seat["action"] == "fold" and seat.get("draw"):
            raise MalformedError("a draw on a fold")
        if seat["wagers"]["ante"] != round_["ante"]:
            raise MalformedError("an ante other than the common ante")
        if broken_off:
            continue
        if not _whole(seat.get("cards"), 2):
            raise MalformedError("a hand of other than two cards")
        if seat["action"] == "play" and not _whole(seat.get("draw"), 3):
            raise MalformedError("a draw of other than three cards")
    if not broken_off and not _whole(round_.get("dealer"), 5):
        raise MalformedError("the dealer has other than five cards")
