"""Random records, biased toward jackpot hands, ties, late and unequal wagers, several events."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from .event_rulings import rule
from .hand_values import NAMES, RANKS, UndecidedError

Json = dict[str, Any]
GAMES = ("MBS3", "MEGA", "NSW", "PP6", "RICO")
STAKES = (100, 333, 500, 1000, 2500)
LIR_EVENTS = (
    "foreign_card",
    "deck_count",
    "dealt_incorrectly",
    "community_count",
    "player_card_count",
    "exposed_cards",
    "exposed_cards",
    "late_wager",
    "late_wager",
    "late_withdrawal",
    "hand_dealt_no_wager",
    "absent_player",
    "absent_player",
    "shuffler_malfunction",
    "unequal_wagers",
    "unequal_wagers",
    "wagers_voided_by_supervisor",
    "game_invalidated",
    "over_max_previous_round",
    "cards_shown",
    "supervisor_confirmed",
)
EXTRA = {
    "MBS3": {"progressive": (0, 100, 100, 500)},
    "MEGA": {"progressive": (0, 100, 200, 300)},
    "NSW": {},
    "PP6": {"pair_plus": (0, 100, 500, 1000), "six_card": (0, 100, 500, 1000)},
}


def make(rng: Random, game: str) -> Json:
    record = _ricochet(rng) if game == "RICO" else _let_it_ride(rng, game)
    if rng.random() < 0.04:
        _spoil(rng, record)
    return record


def _deck(rng: Random, seats: int, per_seat: int, shared: int) -> list[str]:
    """A narrow deck makes flushes, sets, runs and ties common."""
    needed = seats * per_seat + shared + 3
    ranks, suits = list(RANKS), list("cdhs")
    narrow = rng.random()
    if narrow < 0.25:
        suits = rng.sample(suits, 1 if needed <= 12 and rng.random() < 0.7 else 2)
    elif narrow < 0.5:
        ranks = rng.sample(ranks, rng.randint(5, 9))
    elif narrow < 0.7:
        low = rng.randint(0, 7)
        ranks = (ranks + ranks)[low : low + rng.randint(6, 8)]
        suits = rng.sample(suits, rng.choice((1, 2, 3)))
    deck = [r + s for r in ranks for s in suits]
    if len(deck) < needed:
        deck = [r + s for r in RANKS for s in "cdhs"]
    rng.shuffle(deck)
    return deck


def _seat_numbers(rng: Random) -> list[int]:
    return rng.sample(range(1, 8), rng.choice((1, 2, 2, 3, 3, 4, 5, 6, 7)))


def _let_it_ride(rng: Random, game: str) -> Json:
    numbers = _seat_numbers(rng)
    deck = _deck(rng, len(numbers), 3, 3)
    seats = []
    for number in numbers:
        seat: Json = {"seat": number, "wagers": _wagers(rng, game)}
        seat["cards"] = [deck.pop() for _ in range(3)]
        decisions = {
            spot: choice
            for spot in ("1", "2")
            if (choice := rng.choice(("ride", "withdraw", "withdraw", None))) or rng.random() < 0.1
        }
        if decisions or rng.random() < 0.5:
            seat["decisions"] = decisions or rng.choice(({}, None))
        seats.append(seat)
    round_: Json = {"seats": seats, "community": [deck.pop(), deck.pop()]}
    if game == "PP6":
        round_["bonus_card"] = deck.pop()
    _plant(rng, round_)
    count = rng.choice((0, 0, 0, 0, 1, 1, 1, 2, 2, 3))
    events = _events(rng, round_, count, [card for card in deck if not _in_play(round_, card)])
    if events or rng.random() < 0.5:
        round_["events"] = events or rng.choice(([], None))
    record = {"game": game, "settings": _settings(rng, game, round_), "round": round_}
    _evidence(rng, round_, events)
    _break_off(rng, record)
    return record


def _in_play(round_: Json, card: str) -> bool:
    held = [c for seat in round_["seats"] for c in seat["cards"]]
    return card in held or card in round_["community"] or card == round_.get("bonus_card")


def _plant(rng: Random, round_: Json) -> None:
    """One or two straight flushes of one suit, perhaps a royal, over adjacent community cards."""
    if rng.random() > 0.25:
        return
    seats, suit = rng.sample(round_["seats"], min(2, len(round_["seats"]))), rng.choice("cdhs")
    line = ["A" + suit] + [r + suit for r in RANKS]
    low = rng.randint(3, 9)
    groups = [line[low - 3 : low]]
    if low <= 9:
        groups.append(line[low + 2 : low + 5])
    rng.shuffle(groups)
    wanted = {**dict(zip((s["seat"] for s in seats), groups, strict=False))}
    taken = [*line[low : low + 2], *(card for group in wanted.values() for card in group)]
    spare = [r + s for r in RANKS for s in "cdhs" if r + s not in taken]
    rng.shuffle(spare)
    round_["community"] = rng.sample(line[low : low + 2], 2)
    for seat in round_["seats"]:
        if seat["seat"] in wanted:
            seat["cards"] = rng.sample(wanted[seat["seat"]], 3)
        else:
            seat["cards"] = [spare.pop() for _ in range(3)]
    if "bonus_card" in round_:
        round_["bonus_card"] = spare.pop()


def _wagers(rng: Random, game: str) -> Json:
    stake = rng.choice(STAKES)
    wagers: Json = dict.fromkeys(("1", "2", "$"), stake)
    if game == "PP6":
        for spot in ("1", "2"):
            if rng.random() < 0.3:
                del wagers[spot]
    if rng.random() < 0.08:
        wagers[rng.choice(("1", "2", "$"))] = rng.choice((*STAKES, 0, None))
    if rng.random() < 0.02:
        wagers.update(dict.fromkeys(wagers, 0))
    for spot, amounts in EXTRA[game].items():
        amount = rng.choice(amounts)
        if amount or rng.random() < 0.3:
            wagers[spot] = amount
    return wagers


def _flags(rng: Random, *names: str) -> Json:
    return {name: rng.random() < 0.7 for name in names if rng.random() < 0.5}


def _events(rng: Random, round_: Json, count: int, deck: list[str]) -> list[Json]:
    events = _all_late(rng, round_)
    settled_unequal: set[int] = set()
    left = {
        (seat["seat"], spot): amount
        for seat in round_["seats"]
        for spot, amount in seat["wagers"].items()
        if amount and not events
    }
    for _ in range(count):
        name = rng.choice(LIR_EVENTS)
        seat = rng.choice(round_["seats"])
        event: Json = {"type": name}
        if name == "foreign_card":
            event |= _flags(rng, "after_round_concluded")
        elif name == "deck_count":
            event["count"] = rng.choice((51, 52, 53))
            event |= _flags(rng, "after_round_concluded")
        elif name == "dealt_incorrectly":
            event["players_handled"] = rng.random() < 0.5
            event |= _flags(rng, "reconstructed")
        elif name in ("community_count", "player_card_count"):
            event["count"] = _count_cards(rng, name, seat, round_, deck)
            event |= _flags(rng, "players_handled", "reconstructed", "after_next_game_began")
            if name == "player_card_count":
                event["seat"] = seat["seat"]
        elif name == "exposed_cards":
            event["count"] = rng.choice((1, 1, 1, 2, 3))
            event |= _flags(rng, "community", "players_handled")
        elif name == "late_wager":
            key = rng.choice(sorted(left) or [(0, "")])
            if not left.get(key):
                continue
            part = rng.choice((left[key], left[key], 100, 1, left[key] // 2))
            event |= {"seat": key[0], "spot": key[1], "amount": max(1, min(left[key], part))}
            left[key] -= event["amount"]
        elif name == "late_withdrawal":
            event |= {"seat": seat["seat"], "spot": rng.choice(("1", "2", "2", "$"))}
        elif name == "hand_dealt_no_wager":
            event["seat"] = rng.randint(1, 7)
            event |= _flags(rng, "players_handled", "reconstructed")
        elif name == "absent_player":
            event |= {"seat": seat["seat"], "viewed": rng.random() < 0.6}
            if rng.random() < 0.5:
                event["from_spot"] = rng.choice(("1", "2"))
        elif name == "shuffler_malfunction":
            event["cards_dealt"] = rng.choice((0, 0, 5))
        elif name == "unequal_wagers":
            if seat["seat"] in settled_unequal:
                continue
            settled_unequal.add(seat["seat"])
            resolution = rng.choice(("corrected", "corrected", "fold", "refused"))
            event |= {"seat": seat["seat"], "players_handled": rng.random() < 0.5}
            event["resolution"] = resolution
            if resolution == "corrected":
                event["corrected_to"] = rng.choice(STAKES)
        elif name == "game_invalidated":
            if rng.random() < 0.7:
                event["forfeit_seats"] = [seat["seat"]]
        elif name == "supervisor_confirmed":
            event |= {"by": "S-17", "what": "the cards on the table"}
        else:
            event["seat"] = seat["seat"]
        events.append(event)
    return events


def _all_late(rng: Random, round_: Json) -> list[Json]:
    """The same part of every wager of a seat, or all of it, came too late."""
    if rng.random() > 0.06:
        return []
    seat, whole = rng.choice(round_["seats"]), rng.random() < 0.6
    events = []
    for spot, amount in seat["wagers"].items():
        if amount and (spot in ("1", "2", "$") or rng.random() < 0.5):
            late = amount if whole else min(amount, 60)
            events.append(
                {"type": "late_wager", "seat": seat["seat"], "spot": spot, "amount": late}
            )
    return events


def _count_cards(rng: Random, name: str, seat: Json, round_: Json, deck: list[str]) -> int:
    """The cards that were dealt, or the right number after a repair."""
    owner, key, right = (seat, "cards", 3) if name[0] == "p" else (round_, "community", 2)
    count = rng.choice((right - 1, right, right + 1))
    if rng.random() < 0.6 and len(owner[key]) == right:
        if count < right:
            owner[key] = owner[key][:count]
        elif count > right and deck:
            owner[key] = [*owner[key], deck.pop()]
    return count


def _maybe(rng: Random, settings: Json, name: str, *values: object, chance: float = 0.4) -> None:
    if rng.random() < chance:
        settings[name] = rng.choice(values)


def _settings(rng: Random, game: str, round_: Json) -> Json:
    settings: Json = {}
    _maybe(rng, settings, "jackpot", 12345678, 5000009, 99, 0, chance=0.8)
    _maybe(rng, settings, "jackpot_reset", 1000000, 7, 0)
    _maybe(rng, settings, "meter_rule", "sequential", "snapshot", None)
    _maybe(rng, settings, "progressive_stake_returned", True, False)
    _maybe(rng, settings, "envy_self", True, False, chance=0.2)
    _maybe(rng, settings, "envy_per_hand", True, False)
    if game == "NSW" or rng.random() < 0.1:
        _maybe(rng, settings, "min_wager", 500, 1000)
        _maybe(rng, settings, "max_wager", 400, 1000, 3000)
        _maybe(rng, settings, "limit_scope", "per_spot", "per_area")
        _maybe(rng, settings, "max_payout", 500, 4000, 15000)
        _maybe(rng, settings, "max_payout_scope", "per_hand", "per_wager")
    if game == "MEGA" or rng.random() < 0.1:
        cards = [card for seat in round_["seats"] for card in seat["cards"]]
        cards += round_.get("community") or []
        _maybe(rng, settings, "magic_card", *cards, "2c", "As", None, chance=0.6)
        _maybe(rng, settings, "lucky_seat", 1, 2, 3, 4, 5, 6, 7, chance=0.6)
    if game == "RICO" or rng.random() < 0.1:
        _maybe(rng, settings, "smallest_chip", 1, 25, 100, 300, 500)
        _maybe(rng, settings, "odd_chips", "last_actor", "one_each_from_last")
        _maybe(rng, settings, "orphan_pot", "last_player", "house", "carry", None)
        _maybe(rng, settings, "pot_carried_in", 0, 500, 1700, None)
        win, tie = rng.choice((0, 1, 5)), rng.choice((0, 1, 5))
        _maybe(rng, settings, "rapid_fire_pay", {"win": win, "tie": tie}, None, chance=0.7)
        table = {name: rng.choice((1, 3, 10)) for name in rng.sample(NAMES, 4)}
        _maybe(rng, settings, "hedge_pay", table, None, chance=0.7)
        _maybe(rng, settings, "ricochet_order", "literal", "must_top_all", chance=0.6)
    return settings


def _evidence(rng: Random, round_: Json, events: list[Json]) -> None:
    """A card twice, where the events already say that the deck is wrong."""
    wrong = any(
        event["type"] == "foreign_card" or (event["type"] == "deck_count" and event["count"] != 52)
        for event in events
    )
    if wrong and rng.random() < 0.5:
        seat = rng.choice(round_["seats"])
        source = rng.choice(round_["seats"])["cards"] + (round_.get("community") or [])
        if source and seat["cards"]:
            seat["cards"] = [rng.choice(source), *seat["cards"][1:]]


def _break_off(rng: Random, record: Json) -> None:
    """In a broken-off round cards that never became public are null or missing."""
    round_ = record["round"]
    try:
        status = rule(record["game"], round_.get("events") or []).status()
    except UndecidedError:
        return
    if status == "settled" or rng.random() < 0.5:
        return
    for owner, key in [
        *((seat, name) for seat in round_["seats"] for name in ("cards", "draw")),
        *((round_, name) for name in ("community", "bonus_card", "dealer")),
    ]:
        if not owner.get(key):
            continue
        how = rng.random()
        if how < 0.3:
            owner[key] = None
        elif how < 0.5:
            del owner[key]
        elif how < 0.8 and isinstance(owner[key], list):
            owner[key] = [card if rng.random() < 0.5 else None for card in owner[key]]


def _ricochet(rng: Random) -> Json:
    numbers = _seat_numbers(rng)
    deck = _deck(rng, len(numbers), 5, 5)
    if rng.random() < 0.3:
        deck = _alike(rng)
    ante, eager = rng.choice((100, 250, 333, 500)), rng.choice((0.2, 0.7, 0.95))
    dealer = [deck.pop() for _ in range(5)] if rng.random() < 0.5 else []
    seats = []
    for number in numbers:
        seat: Json = {"seat": number, "wagers": {"ante": ante}}
        for spot in ("rapid_fire", "hedge"):
            if rng.random() < 0.3:
                seat["wagers"][spot] = rng.choice((100, 250, 0))
        hand = [deck.pop() for _ in range(5)]
        seat["cards"] = hand[:2]
        seat["action"] = "play" if rng.random() < eager else "fold"
        if seat["action"] == "play":
            seat["draw"] = hand[2:]
        elif rng.random() < 0.5:
            seat["draw"] = None
        seats.append(seat)
    dealer = dealer or [deck.pop() for _ in range(5)]
    round_: Json = {"ante": ante, "dealer": dealer, "seats": rng.sample(seats, len(seats))}
    if rng.random() < 0.06:
        events: list[Json] = [
            {"type": "foreign_card"},
            {"type": "dealt_incorrectly", "players_handled": False},
            {"type": "supervisor_confirmed", "by": "S-17", "what": "the draw"},
            {"type": "wagers_voided_by_supervisor", "seat": seats[0]["seat"]},
        ]
        round_["events"] = rng.sample(events, rng.choice((1, 1, 2)))
    record = {"game": "RICO", "settings": _settings(rng, "RICO", round_), "round": round_}
    _break_off(rng, record)
    return record


def _alike(rng: Random) -> list[str]:
    """The last twenty cards make four hands of the same ranks, two cards of each in any order."""
    ranks = rng.sample(RANKS, 5)
    columns = [rng.sample("cdhs", 4) for _ in ranks]
    alike = []
    for suits in zip(*columns, strict=True):
        alike += rng.sample([r + s for r, s in zip(ranks, suits, strict=True)], 5)
    rest = [r + s for r in RANKS for s in "cdhs" if r + s not in alike]
    rng.shuffle(rest)
    return rest + alike


def _spoil(rng: Random, record: Json) -> None:
    """One fault that the contract calls malformed, unless an event of the record explains it."""
    round_ = record["round"]
    seat = rng.choice(round_["seats"])
    fault = rng.randrange(6)
    cards = seat.get("cards") or []
    if fault == 0 and len(cards) > 1:
        seat["cards"] = [cards[0], cards[0], *cards[2:]]
    elif fault == 1 and cards:
        seat["cards"] = cards[:-1]
    elif fault == 2:
        spot = "ante" if record["game"] == "RICO" else "1"
        amount = (seat["wagers"].get(spot) or 0) + 1
        event = {"type": "late_wager", "seat": seat["seat"], "spot": spot, "amount": amount}
        round_["events"] = [*(round_.get("events") or []), event]
    elif fault == 3:
        event = {"type": "wagers_voided_by_supervisor", "seat": 8}
        round_["events"] = [*(round_.get("events") or []), event]
    elif fault == 4:
        owner, key = rng.choice(((seat, "cards"), (round_, "community"), (round_, "dealer")))
        if owner.get(key):
            held = json.dumps(round_)
            spare = [r + s for r in RANKS for s in "cdhs" if r + s not in held]
            owner[key] = [*owner[key], rng.choice(spare)]
    elif record["game"] == "RICO":
        seat["action"] = "fold"
