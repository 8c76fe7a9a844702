"""Seven-seat round records of all five games from a seed, one JSON line each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from controller.rules.cards import NAMES

SEATS = 7
GAMES = ("MBS3", "PP6", "NSW", "MEGA", "RICO")


def records(count: int, seed: int) -> Iterator[str]:
    """The games in turn; the same seed gives the same lines."""
    random = Random(seed)
    for number in range(count):
        game = GAMES[number % len(GAMES)]
        made = _ricochet(random) if game == "RICO" else _let_it_ride(random, game)
        yield json.dumps({"game": game, **made}, separators=(",", ":")) + "\n"


def _let_it_ride(random: Random, game: str) -> dict[str, Any]:
    deck = random.sample(NAMES, 3 * SEATS + 3)
    seats = []
    for seat in range(1, SEATS + 1):
        base = random.choice((200, 500, 1000))
        wagers = {"1": base, "2": base, "$": base}
        if game in ("MBS3", "MEGA") and random.random() < 0.7:
            wagers["progressive"] = 100
        if game == "PP6":
            wagers |= {"pair_plus": random.choice((100, 200)), "six_card": 100}
        decisions = {spot: random.choice(("ride", "withdraw")) for spot in ("1", "2")}
        own, deck = deck[:3], deck[3:]
        seats.append({"seat": seat, "wagers": wagers, "cards": own, "decisions": decisions})
    settings: dict[str, Any] = {}
    if game in ("MBS3", "MEGA"):
        settings = {"jackpot": random.randrange(1_000_000, 50_000_000), "jackpot_reset": 1_000_000}
    if game == "MEGA":
        settings |= {"magic_card": random.choice(NAMES), "lucky_seat": random.randint(1, SEATS)}
    if game == "NSW":
        settings = {"max_wager": 50_000, "max_payout": 2_500_000}
    made: dict[str, Any] = {"seats": seats, "community": deck[:2]}
    if game == "PP6":
        made["bonus_card"] = deck[2]
    return {"settings": settings, "round": made}


def _ricochet(random: Random) -> dict[str, Any]:
    deck = random.sample(NAMES, 5 + 5 * SEATS)
    dealer, deck = deck[:5], deck[5:]
    seats = []
    for seat in range(1, SEATS + 1):
        own, draw, deck = deck[:2], deck[2:5], deck[5:]
        plays = random.random() < 0.6
        wagers = {"ante": 500}
        if random.random() < 0.5:
            wagers["rapid_fire"] = 200
        seats.append(
            {
                "seat": seat,
                "wagers": wagers,
                "cards": own,
                "action": "play" if plays else "fold",
                "draw": draw if plays else None,
            }
        )
    settings = {"orphan_pot": "house", "rapid_fire_pay": {"win": 5, "tie": 5}}
    return {"settings": settings, "round": {"seats": seats, "dealer": dealer, "ante": 500}}
