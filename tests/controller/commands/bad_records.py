"""Malformed records, each with the JSON path the message must name."""

from __future__ import annotations

import copy
import json
from typing import Any

Json = dict[str, Any]

NSW: Json = {
    "game": "NSW",
    "settings": {},
    "round": {
        "seats": [
            {
                "seat": 1,
                "wagers": {"1": 500, "2": 500, "$": 500},
                "cards": ["Ac", "Ad", "7h"],
                "decisions": {"1": "ride", "2": "withdraw"},
            }
        ],
        "community": ["Js", "4c"],
        "events": [],
    },
}
RICO: Json = {
    "game": "RICO",
    "settings": {},
    "round": {
        "ante": 500,
        "dealer": ["Ah", "Kd", "9c", "7s", "3d"],
        "seats": [
            {
                "seat": 1,
                "wagers": {"ante": 500},
                "cards": ["Qc", "8d"],
                "action": "play",
                "draw": ["Qd", "4h", "2s"],
            },
            {"seat": 3, "wagers": {"ante": 500}, "cards": ["6h", "5s"], "action": "fold"},
        ],
        "events": [],
    },
}
SEAT = "round.seats[0]"
WAGER = SEAT + ".wagers.1"
EVENT = "round.events[0]"
GONE = object()


def changed(record: Json, path: str, value: object) -> Json:
    """A copy with the value at a path such as ``round.seats[0].seat`` replaced, or taken out."""
    copied = copy.deepcopy(record)
    node: Any = copied
    *steps, last = path.replace("[", ".").replace("]", "").split(".")
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node[step]
    if value is GONE:
        del node[last]
    elif isinstance(node, list):
        node[int(last)] = value
    else:
        node[last] = value
    return copied


def with_event(name: str, **fields: object) -> Json:
    return changed(NSW, "round.events", [{"type": name, **fields}])


VOID = with_event("foreign_card")
PP6 = changed(changed(NSW, "game", "PP6"), "round.bonus_card", "Kh")
FOUR = ["Ac", "Ad", "7h", "8h"]

# What is wrong, the record, a path (or its start) the message must name.
BAD: dict[str, tuple[Json, str]] = {
    "unknown game": (changed(NSW, "game", "UTH"), "game"),
    "game of the wrong type": (changed(NSW, "game", 5), "game"),
    "game missing": (changed(NSW, "game", GONE), "game"),
    "round missing": (changed(NSW, "round", GONE), "round"),
    "round not an object": (changed(NSW, "round", []), "round"),
    "seats missing": (changed(NSW, "round.seats", GONE), "round.seats"),
    "seats not a list": (changed(NSW, "round.seats", {}), "round.seats"),
    "seat not an object": (changed(NSW, "round.seats[0]", 5), SEAT),
    "settings not an object": (changed(NSW, "settings", []), "settings"),
    "events not a list": (changed(NSW, "round.events", {}), "round.events"),
    "event not an object": (changed(NSW, "round.events", ["foreign_card"]), EVENT),
    "event without a type": (changed(NSW, "round.events", [{}]), EVENT),
    "unknown field of the record": (changed(NSW, "table", 4), "table"),
    "unknown field of the round": (changed(NSW, "round.shoe", 1), "round.shoe"),
    "unknown field of a seat": (changed(NSW, SEAT + ".name", "x"), SEAT + ".name"),
    "unknown wager": (changed(NSW, SEAT + ".wagers.3", 500), SEAT + ".wagers.3"),
    "wager of another game": (
        changed(NSW, SEAT + ".wagers.progressive", 100),
        SEAT + ".wagers.progressive",
    ),
    "unknown decision spot": (changed(NSW, SEAT + ".decisions.$", "ride"), SEAT + ".decisions"),
    "unknown decision": (changed(NSW, SEAT + ".decisions.1", "stay"), SEAT + ".decisions.1"),
    "unknown event": (with_event("earthquake"), EVENT),
    "unknown field of an event": (with_event("foreign_card", colour="red"), EVENT + ".colour"),
    "unknown setting": (changed(NSW, "settings.max_bet", 5), "settings.max_bet"),
    "negative money": (changed(NSW, WAGER, -500), WAGER),
    "fractional money": (changed(NSW, WAGER, 500.5), WAGER),
    "money with a point": (changed(NSW, WAGER, 500.0), WAGER),
    "money in words": (changed(NSW, WAGER, "500"), WAGER),
    "money as a truth": (changed(NSW, WAGER, True), WAGER),
    "money as a list": (changed(NSW, WAGER, [500]), WAGER),
    "money not a number": (changed(NSW, WAGER, float("nan")), ""),
    "money without end": (changed(NSW, WAGER, float("inf")), ""),
    "money in a setting as a truth": (
        changed(NSW, "settings.max_payout", True),
        "settings.max_payout",
    ),
    "seat as a truth": (changed(NSW, SEAT + ".seat", True), SEAT + ".seat"),
    "seat with a point": (changed(NSW, SEAT + ".seat", 1.0), SEAT + ".seat"),
    "seat nought": (changed(NSW, SEAT + ".seat", 0), SEAT + ".seat"),
    "seat missing": (changed(NSW, SEAT + ".seat", GONE), SEAT + ".seat"),
    "a seat twice": (
        changed(NSW, "round.seats", [NSW["round"]["seats"][0], NSW["round"]["seats"][0]]),
        "round.seats[1]",
    ),
    "a card twice in a hand": (changed(NSW, SEAT + ".cards[1]", "Ac"), SEAT + ".cards"),
    "a card twice on the table": (changed(NSW, "round.community[0]", "Ac"), "round."),
    "no such rank": (changed(NSW, SEAT + ".cards[1]", "1h"), SEAT + ".cards[1]"),
    "ten in two digits": (changed(NSW, SEAT + ".cards[1]", "10h"), SEAT + ".cards[1]"),
    "small rank letter": (changed(NSW, SEAT + ".cards[1]", "ah"), SEAT + ".cards[1]"),
    "large suit letter": (changed(NSW, SEAT + ".cards[1]", "AH"), SEAT + ".cards[1]"),
    "empty card": (changed(NSW, SEAT + ".cards[1]", ""), SEAT + ".cards[1]"),
    "card as a number": (changed(NSW, SEAT + ".cards[1]", 7), SEAT + ".cards[1]"),
    "hidden card in a whole round": (changed(NSW, SEAT + ".cards[1]", None), SEAT + ".cards"),
    "two cards": (changed(NSW, SEAT + ".cards", ["Ac", "Ad"]), SEAT + ".cards"),
    "four cards": (changed(NSW, SEAT + ".cards", ["Ac", "Ad", "7h", "8h"]), SEAT + ".cards"),
    "no cards": (changed(NSW, SEAT + ".cards", GONE), SEAT + ".cards"),
    "cards as a string": (changed(NSW, SEAT + ".cards", "AcAd7h"), SEAT + ".cards"),
    "one community card": (changed(NSW, "round.community", ["Js"]), "round.community"),
    "three community cards": (
        changed(NSW, "round.community", ["Js", "4c", "5c"]),
        "round.community",
    ),
    "no community cards": (changed(NSW, "round.community", GONE), "round.community"),
    "late above the stake": (with_event("late_wager", seat=1, spot="1", amount=501), EVENT),
    "late on an unknown spot": (with_event("late_wager", seat=1, spot="3", amount=1), EVENT),
    "late with a point": (with_event("late_wager", seat=1, spot="1", amount=1.0), EVENT),
    "late below nothing": (with_event("late_wager", seat=1, spot="1", amount=-1), EVENT),
    "late wager of a seat not there": (
        with_event("late_wager", seat=2, spot="1", amount=1),
        EVENT + ".seat",
    ),
    "absent from a seat not there": (
        with_event("absent_player", seat=2, viewed=True),
        EVENT + ".seat",
    ),
    "voided at a seat not there": (
        with_event("wagers_voided_by_supervisor", seat=2),
        EVENT + ".seat",
    ),
    "count of a seat not there": (
        with_event("player_card_count", seat=2, count=2),
        EVENT + ".seat",
    ),
    "withdrawal of a seat not there": (
        with_event("late_withdrawal", seat=2, spot="1"),
        EVENT + ".seat",
    ),
    "unequal at a seat not there": (
        with_event("unequal_wagers", seat=2, players_handled=True, resolution="fold"),
        EVENT + ".seat",
    ),
    "forfeit of a seat not there": (with_event("game_invalidated", forfeit_seats=[2]), EVENT),
    "deck count missing": (with_event("deck_count"), EVENT + ".count"),
    "deck count as a truth": (with_event("deck_count", count=True), EVENT + ".count"),
    "flag as a number": (with_event("foreign_card", after_round_concluded=1), EVENT),
    "handled missing": (with_event("dealt_incorrectly"), EVENT + ".players_handled"),
    "viewed missing": (with_event("absent_player", seat=1), EVENT + ".viewed"),
    "unknown resolution": (
        with_event("unequal_wagers", seat=1, players_handled=True, resolution="shrug"),
        EVENT + ".resolution",
    ),
    "corrected to what": (
        with_event("unequal_wagers", seat=1, players_handled=True, resolution="corrected"),
        EVENT + ".corrected_to",
    ),
    "unknown from_spot": (
        with_event("absent_player", seat=1, viewed=True, from_spot="3"),
        EVENT + ".from_spot",
    ),
    "confirmed by nobody": (with_event("supervisor_confirmed", what="x"), EVENT + ".by"),
    "draw in a game without": (changed(NSW, SEAT + ".draw", ["2c"]), SEAT + ".draw"),
    "dealer in a game without": (changed(NSW, "round.dealer", ["2c"]), "round.dealer"),
    "draw on a fold": (
        changed(RICO, "round.seats[1].draw", ["2c", "3c", "4c"]),
        "round.seats[1].draw",
    ),
    "draw of two": (changed(RICO, SEAT + ".draw", ["Qd", "4h"]), SEAT + ".draw"),
    "play without a draw": (changed(RICO, SEAT + ".draw", GONE), SEAT + ".draw"),
    "unknown action": (changed(RICO, SEAT + ".action", "raise"), SEAT + ".action"),
    "three first cards": (changed(RICO, SEAT + ".cards", ["Qc", "8d", "8c"]), SEAT + ".cards"),
    "four dealer cards": (
        changed(RICO, "round.dealer", ["Ah", "Kd", "9c", "7s"]),
        "round.dealer",
    ),
    "no dealer": (changed(RICO, "round.dealer", GONE), "round.dealer"),
    "unequal ante": (changed(RICO, SEAT + ".wagers.ante", 400), SEAT + ".wagers.ante"),
    "ante missing": (changed(RICO, "round.ante", GONE), "round.ante"),
    "a play wager typed in": (changed(RICO, SEAT + ".wagers.play", 500), SEAT + ".wagers.play"),
    "draw holds a dealt card": (changed(RICO, SEAT + ".draw[1]", "Ah"), "round."),
    "unknown field that says null": (changed(NSW, "table", None), "table"),
    "unknown field of a seat that says null": (changed(NSW, SEAT + ".name", None), SEAT + ".name"),
    # A broken-off round explains cards that are missing, not cards too many.
    "four cards in a void round": (changed(VOID, SEAT + ".cards", FOUR), SEAT + ".cards"),
    "three shared cards in a void round": (
        changed(VOID, "round.community", ["Js", "4c", "5c"]),
        "round.community",
    ),
    "six dealer cards in a supervisor's round": (
        changed(
            changed(RICO, "round.events", [{"type": "foreign_card"}]),
            "round.dealer",
            ["Ah", "Kd", "9c", "7s", "3d", "2d"],
        ),
        "round.dealer",
    ),
    "one shared card and no seats": (
        changed(changed(NSW, "round.seats", []), "round.community", ["Js"]),
        "round.community",
    ),
    "a hidden shared card and no seats": (
        changed(changed(NSW, "round.seats", []), "round.community", ["Js", None]),
        "round.community",
    ),
    "one dealer card and no seats": (
        changed(changed(RICO, "round.seats", []), "round.dealer", ["Ah"]),
        "round.dealer",
    ),
    "the middle card twice": (changed(PP6, "round.bonus_card", "Ac"), "round.bonus_card: "),
    "community in Ricochet": (changed(RICO, "round.community", ["2c", "3c"]), "round.community"),
}
# Not records at all, or not JSON.
NOT_RECORDS: dict[str, bytes] = {
    "nothing": b"",
    "a blank": b"  ",
    "half a record": b'{"game": "NSW",',
    "two records": b"{} {}",
    "a list": b"[]",
    "null": b"null",
    "a number": b"5",
    "a word": b'"NSW"',
    "broken UTF-8": b'{"game": "\xff"}',
    "UTF-16": json.dumps(NSW).encode("utf-16"),
    "a deep list": b"[" * 100_000 + b"]" * 100_000,
    "a deep object": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a key twice": b'{"game": "NSW", "game": "NSW"}',
    "a wager twice": json.dumps(NSW).replace('"2": 500', '"1": 500').encode(),
    "a number of 5000 digits": json.dumps(NSW).replace('"1": 500', '"1": ' + "9" * 5000).encode(),
    "half a surrogate pair": b'{"game": "\\ud800"}',
    "a field named by half a pair": json.dumps(NSW).replace('"game"', '"\\udfff"').encode(),
}
