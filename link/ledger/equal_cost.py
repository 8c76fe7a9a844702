"""May two games play for one pool? Only if a wager costs the pool the same at each.

From their par sheets (``underfelt par GAME --json``): how many cents must be wagered, on average,
between two hits that take the whole jackpot, and what share of the jackpot each cent wagered takes
on average, all awards counted. Equal in both, to the last digit, or an explicit exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import msgspec

from link.ledger.errors import PoolError

SCHEMA: Final = "underfelt.par/1"
MOST_TEXT: Final = 500


@dataclass(frozen=True, slots=True)
class Cost:
    game: str
    between_hits_cents: Fraction
    """Wagered on average between two awards of 100 %."""
    per_cent: Fraction
    """Share of the jackpot that a wagered cent takes on average, all percentage awards together."""


def cost_of(sheet: bytes, game: str, shares: Mapping[str, int], where: str) -> Cost:
    """What the par sheet of a game says about awards of these shares, by class of hand."""
    try:
        found = msgspec.json.decode(sheet)
        chances, stake = _chances(found, game)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PoolError(
            "E-POOL-017",
            f"{where}: no par sheet of {game} with a progressive wager ({error}); expected what "
            f"`underfelt par {game} --json` prints",
        ) from None
    missing = [hand for hand in shares if hand not in chances]
    if missing:
        raise PoolError("E-POOL-017", f"{where}: the sheet knows no {missing[0]}")
    resets = sum((chances[hand] for hand, share in shares.items() if share == 100), Fraction(0))
    taken = sum((chances[hand] * share / 100 for hand, share in shares.items()), Fraction(0))
    if not resets:
        raise PoolError("E-POOL-017", f"{where}: no hand takes the whole jackpot")
    return Cost(game, stake / resets, taken / stake)


def _chances(sheet: Any, game: str) -> tuple[dict[str, Fraction], Fraction]:
    """Hand to its probability, and the wager in cents."""
    if sheet["schema"] != SCHEMA or sheet["game"] != game:
        raise ValueError(f"schema {sheet['schema']}, game {sheet['game']}")
    wager = sheet["wagers"]["progressive"]
    stake = Fraction(wager["figures"]["stake_cents"])
    rows = wager["tables"]["classes"]
    if stake <= 0:
        raise ValueError(f"a stake of {stake}")
    return {row["hand"]: Fraction(row["probability"]) for row in rows}, stake


def compare(costs: Sequence[Cost], where: str, unequal_cost: str = "") -> str:
    """The figures of record; ``PoolError`` if they differ and no reason allows it."""
    figures = "; ".join(
        f"{cost.game}: {_text(cost.between_hits_cents)} cents wagered between hits, "
        f"{_text(cost.per_cent)} of the jackpot per cent wagered"
        for cost in costs
    )
    equal = len({(cost.between_hits_cents, cost.per_cent) for cost in costs}) == 1
    if equal:
        return f"equal cost: {figures}"[:MOST_TEXT]
    if not unequal_cost:
        raise PoolError(
            "E-POOL-016",
            f"{where}: its games do not cost the pool the same ({figures}); give them pools of "
            "their own, or state the reason in unequal_cost",
        )
    return f"exception: {unequal_cost} ({figures})"[:MOST_TEXT]


def _text(value: Fraction) -> str:
    return (
        str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    )
