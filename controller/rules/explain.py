"""Why each wager of a closed round was paid or lost: the cards, the hand in words, the clause.

Pure, over the record and its result as they were written: what a player disputes is answered from
what the table knew, and cards that never became public are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from controller.rules.book import BASE_SPOTS, SPOT_1, Book
from controller.rules.books import BOOKS
from controller.rules.cards import BY_NAME, RANKS
from controller.rules.hands import RANKS_OF, rank5
from controller.rules.paytables import MAIN_OF, MainHand
from record.kit.money import cents_text

Row = Mapping[str, Any]
TENS: Final = "tens or better"
LESS: Final = "less than a pair of tens"
_RANK_NAMES: Final = dict(
    zip(RANKS, ("twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines", "tens",
                "jacks", "queens", "kings", "aces"), strict=True)
)  # fmt: skip
_RICOCHET: Final = {"rapid_fire": "RICO-RFP", "hedge": "RICO-HBP"}


class Why(NamedTuple):
    cards: tuple[str, ...]
    """The cards that decided the wager."""
    text: str
    clause: str


def explain(record: Row, result: Row, seat: int) -> dict[str, Why]:
    """By wager of the seat; empty for a seat that is not in the round."""
    book, played = BOOKS[record["game"]], record["round"]
    own = next((s for s in played["seats"] if s["seat"] == seat), None)
    row = next((s for s in result["seats"] if s["seat"] == seat), None)
    if own is None or row is None:
        return {}
    return {
        spot: _decided(book, played, own, row, spot)
        if wager["status"] in ("win", "lose", "push")
        else _undecided(book, result, spot, str(wager["status"]))
        for spot, wager in row["wagers"].items()
    }


def _undecided(book: Book, result: Row, spot: str, status: str) -> Why:
    if status == "withdrawn":
        clauses = book.round_clauses
        taken = clauses.decide_1 if spot == SPOT_1 else clauses.decide_2
        return Why((), "taken back by the player", taken)
    said = {
        "void": "void: the stake goes back",
        "refused": "refused: the stake goes back",
        "forfeited": "forfeited",
        "supervisor": "the supervisor decides",
    }
    return Why((), said.get(status, status), ", ".join(result["clauses"]))


def _decided(book: Book, played: Row, own: Row, row: Row, spot: str) -> Why:
    if book.family == "ricochet":
        return _ricochet(played, own, row, spot)
    cards = (*own["cards"], *played["community"])
    if spot == "pair_plus":
        return Why(tuple(own["cards"]), row["three_card_hand"], book.side[spot].clause)
    if spot == "six_card":
        return Why(
            (*cards, str(played["bonus_card"])), row["six_card_hand"], book.side[spot].clause
        )
    if spot in BASE_SPOTS:
        assert book.main is not None
        return Why(cards, _main_hand(cards, row["hand"]), book.main.clause)
    assert book.progressive is not None
    return Why(cards, row["hand"], book.progressive.clause)


def _main_hand(cards: tuple[str, ...], hand: str) -> str:
    """The hand as the main pay table knows it: a pair is tens or better, or it is less."""
    one, two, three, four, five = (BY_NAME[name] for name in cards)
    strength = rank5(one, two, three, four, five)
    main = MainHand(MAIN_OF[strength])
    if main not in (MainHand.TENS_OR_BETTER, MainHand.LESS):
        return hand
    if hand == "one pair":
        hand = f"pair of {_RANK_NAMES[RANKS[RANKS_OF[strength][0]]]}"
    return f"{hand}, {TENS if main is MainHand.TENS_OR_BETTER else LESS}"


def _ricochet(played: Row, own: Row, row: Row, spot: str) -> Why:
    cards = tuple(own["cards"])
    if spot in _RICOCHET:
        return Why((*cards, *played["dealer"]), "against the dealer's five", _RICOCHET[spot])
    text = f"{row['hand'] or 'two cards'}, {row['final']}"
    return Why((*cards, *(own.get("draw") or ())), text, "RICO-9")


def event_text(event: Row) -> str:
    """An irregularity in words: ``late wager: seat 3, wager 1, amount 5.00``."""
    parts = []
    for name, value in event.items():
        if name == "type" or value in (None, False, []):
            continue
        words = name.replace("_", " ")
        if name in ("amount", "corrected_to"):
            value = cents_text(value)
        elif name in ("spot", "from_spot"):
            words, value = words.replace("spot", "wager"), str(value)
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        parts.append(words if value is True else f"{words} {value}")
    said = str(event["type"]).replace("_", " ")
    return f"{said}: {', '.join(parts)}" if parts else said
