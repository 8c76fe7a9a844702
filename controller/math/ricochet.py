"""The par sheet of Ricochet: kickout, Rapid Fire and HedgeBet.

Ante and Play have no par sheet: what they win is a pot other players pay into, or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import Final

from controller.math.frequencies import five_by_strength, five_card_counts
from controller.math.sheet import Column, Figure, Kind, Table, Wager
from controller.math.wagers import Outcome, bars, odds_wager, outcomes
from controller.rules.books.rico import KICKOUT_LIMITS
from controller.rules.cards import RANKS
from controller.rules.hands import HAND_NAMES, RANKS_OF, two_card_value_of_five
from controller.rules.paytables import Odds, PayTable
from controller.rules.settings import Settings

LOSE, TIE, WIN = range(3)
RAPID_FIRE_NAMES: Final = ("lose", "tie", "win")

LEFT_OUT: Final = {
    "ante": "it wins a pot that depends on how many play and on what they choose",
    "play": "it rides with the ante and depends on the same choices",
}


def kickout_table() -> Table:
    """How often the dealer folds, by the number of hands in the round."""
    counts = five_by_strength()
    rows = []
    for hands, limit in KICKOUT_LIMITS.items():
        folds = sum(counts[limit:])
        lowest = "".join(RANKS[r] for r in RANKS_OF[limit])
        rows.append((hands, lowest, folds, Fraction(folds, sum(counts))))
    columns = (
        Column("hands", "hands", Kind.COUNT),
        Column("limit", "lowest that folds", Kind.TEXT),
        Column("combinations", "dealer hands", Kind.COUNT),
        Column("probability", "kickout", Kind.PERCENT),
    )
    return Table("kickout", "kickout of the dealer", columns, tuple(rows))


def rapid_fire_counts() -> tuple[int, int, int]:
    """(lose, tie, win) over every dealer hand and every two cards left for the player.

    Two cards have ranks and no suits that matter, so dealer hands of one strength leave the same
    pairs of ranks: each strength is worked out once and counts for all its hands.
    """
    lose = tie = win = 0
    for strength, hands in enumerate(five_by_strength()):
        if hands:
            loses, ties, wins = rapid_fire_against(strength)
            lose, tie, win = lose + hands * loses, tie + hands * ties, win + hands * wins
    return lose, tie, win


def rapid_fire_against(strength: int) -> tuple[int, int, int]:
    """(lose, tie, win) of the player's C(47, 2) hands against one dealer hand of a strength."""
    dealer = two_card_value_of_five(strength)
    if dealer is None:
        return comb(47, 2), 0, 0
    result = [0, 0, 0]
    for player, ways in _player_values(RANKS_OF[strength]):
        result[WIN if player > dealer else TIE if player == dealer else LOSE] += ways
    return result[LOSE], result[TIE], result[WIN]


def _player_values(dealer: tuple[int, ...]) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Every value of two cards, and its ways to come from the 47 the dealer has left."""
    left = [4 - dealer.count(rank) for rank in range(13)]
    for high in range(13):
        yield (1, high, high), comb(left[high], 2)
        for low in range(high):
            yield (0, high, low), left[high] * left[low]


def _rapid_fire(settings: Settings) -> Wager:
    counts = rapid_fire_counts()
    clause, title = "RICO-RFP", "Rapid Fire"
    pay = settings.rapid_fire_pay
    if pay is not None:
        table = PayTable(title, clause, {TIE: Odds(pay["tie"]), WIN: Odds(pay["win"])})
        rows = outcomes(table, RAPID_FIRE_NAMES, counts)
        return odds_wager("rapid_fire", title, clause, rows)
    return _unpaid("rapid_fire", title, clause, RAPID_FIRE_NAMES, counts)


def _hedge(settings: Settings) -> Wager:
    clause, title = "RICO-HBP", "HedgeBet"
    if settings.hedge_pay:
        rows = {int(hand): Odds(to_one) for hand, to_one in settings.hedge_pay.items()}
        table = PayTable(title, clause, rows)
        return odds_wager("hedge", title, clause, outcomes(table, HAND_NAMES, five_card_counts()))
    return _unpaid("hedge", title, clause, HAND_NAMES, five_card_counts())


def _unpaid(
    key: str, title: str, clause: str, names: tuple[str, ...], counts: tuple[int, ...]
) -> Wager:
    """A wager without a pay table: how often each result comes, and no return."""
    total = sum(counts)
    rows = tuple(
        (names[i], counts[i], Fraction(counts[i], total)) for i in reversed(range(len(names)))
    )
    columns = (
        Column("hand", "result" if key == "rapid_fire" else "dealer's hand", Kind.TEXT),
        Column("combinations", "deals", Kind.COUNT),
        Column("probability", "probability", Kind.PERCENT),
    )
    shown = tuple(Outcome(names[i], counts[i], 0, "") for i in reversed(range(len(names))))
    return Wager(
        key,
        title,
        clause,
        (Figure("combinations", "combinations", total, Kind.COUNT),),
        (Table("classes", "results", columns, rows),),
        (f"{key}_pay names nothing that pays, so the wager has no return.",),
        (bars(shown, f"{title}: one in ..."),),
    )


def ricochet_wagers(settings: Settings) -> tuple[Wager, ...]:
    return (_rapid_fire(settings), _hedge(settings))
