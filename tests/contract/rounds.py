"""Short ways to write a record, and the one way to settle it."""

from __future__ import annotations

import copy
from typing import Any

from controller.rules.decode import decode_record
from controller.rules.settle import settle

Json = dict[str, Any]


def settled(record: Json) -> Json:
    result: Json = settle(decode_record(copy.deepcopy(record)))
    return result


def seat(number: int, cards: str, stake: int = 500, **more: Any) -> Json:
    """``cards`` as one string; ``wagers`` adds to three equal base wagers of ``stake``."""
    wagers = {"1": stake, "2": stake, "$": stake} | more.pop("wagers", {})
    return {"seat": number, "wagers": wagers, "cards": hand(cards), **more}


def player(number: int, cards: str, draw: str = "", ante: int = 500, **wagers: int) -> Json:
    """A Ricochet seat: with a draw it plays, without it folds."""
    shown: Json = {"seat": number, "wagers": {"ante": ante, **wagers}, "cards": hand(cards)}
    return shown | ({"action": "play", "draw": hand(draw)} if draw else {"action": "fold"})


def hand(cards: str) -> list[str]:
    """``"AcAd7h"`` as a list of cards."""
    return [cards[place : place + 2] for place in range(0, len(cards), 2)]


def ride(
    game: str, seats: list[Json], community: str, *events: Json, settings: Json | None = None
) -> Json:
    round_: Json = {"seats": seats, "community": hand(community), "events": list(events)}
    if game == "PP6":
        round_["bonus_card"] = "Kh"
    return {"game": game, "settings": settings or {}, "round": round_}


def ricochet(
    dealer: str, seats: list[Json], *events: Json, settings: Json | None = None, ante: int = 500
) -> Json:
    round_ = {"ante": ante, "dealer": hand(dealer), "seats": seats, "events": list(events)}
    return {"game": "RICO", "settings": settings or {}, "round": round_}


def nets(result: Json) -> list[int | None]:
    return [shown["net"] for shown in result["seats"]]


def statuses(result: Json) -> list[dict[str, str]]:
    return [
        {spot: paid["status"] for spot, paid in shown["wagers"].items()}
        for shown in result["seats"]
    ]


def by_seat(result: Json, number: int) -> Json:
    (found,) = [shown for shown in result["seats"] if shown["seat"] == number]
    assert isinstance(found, dict)
    return found
