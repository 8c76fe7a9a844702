"""May two games play for one pool? Only if a wager costs the pool the same at each.

How many cents must be wagered, on average, between two hits that take the whole jackpot, and what
share of the jackpot each cent wagered takes on average, all awards counted. Equal in both, to the
last digit, or an explicit exception.

A par sheet (``underfelt par GAME --json``) and its hash are files that an operator can edit
together. So nothing of it is believed: the chances and shares are those of the game itself
(``record.games``), the stake is a wager of the pool, and a sheet that states any of them otherwise
is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import msgspec

from link.ledger.errors import PoolError
from record.games import COUNTS, PROGRESSIVES, Progressive, chance
from record.kit.money import dollars

SCHEMA: Final = "underfelt.par/1"
MOST_TEXT: Final = 500


@dataclass(frozen=True, slots=True)
class Cost:
    game: str
    between_hits_cents: Fraction
    """Wagered on average between two awards of 100 %."""
    per_cent: Fraction
    """Share of the jackpot that a wagered cent takes on average, all percentage awards together."""


def costs_of(
    sheet: bytes, game: str, shares: Mapping[str, int], stakes: Sequence[int], where: str
) -> list[Cost]:
    """What a wager of this game costs a pool with these shares, for each of ``stakes``, the wagers
    that the pool takes. ``PoolError`` if the sheet is not one of the game."""
    progressive = PROGRESSIVES.get(game)
    if progressive is None:
        raise PoolError("E-POOL-033", f"{where}: {game} has no progressive wager")
    try:
        stake = _checked(msgspec.json.decode(sheet), game, progressive)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PoolError(
            "E-POOL-017",
            f"{where}: no par sheet of {game} with a progressive wager ({error}); expected what "
            f"`underfelt par {game} --json` prints",
        ) from None
    if stake not in stakes:
        listed = ", ".join(map(str, stakes))
        raise PoolError(
            "E-POOL-017",
            f"{where}: a stake of {dollars(stake)} is no wager of the pool; expected one of "
            f"denominations_cents: {listed}",
        )
    missing = [hand for hand in shares if hand not in COUNTS]
    if missing:
        raise PoolError("E-POOL-017", f"{where}: {game} knows no {missing[0]}")
    resets = sum((chance(hand) for hand, share in shares.items() if share == 100), Fraction(0))
    taken = sum((chance(hand) * share / 100 for hand, share in shares.items()), Fraction(0))
    if not resets:
        raise PoolError("E-POOL-017", f"{where}: no hand takes the whole jackpot")
    names = [game] if len(stakes) == 1 else [f"{game} at {dollars(cents)}" for cents in stakes]
    return [
        Cost(name, cents / resets, taken / cents) for name, cents in zip(names, stakes, strict=True)
    ]


def _checked(sheet: Any, game: str, progressive: Progressive) -> int:
    """The stake in cents of a sheet whose every other figure the game itself makes."""
    if sheet["schema"] != SCHEMA or sheet["game"] != game:
        raise ValueError(f"schema {sheet['schema']}, game {sheet['game']}")
    wager = sheet["wagers"]["progressive"]
    stake = wager["figures"]["stake_cents"]
    if type(stake) is not int or stake <= 0:
        raise ValueError(f"a stake of {stake}")
    _same("slope", Fraction(wager["figures"]["slope"]), progressive.slope(stake))
    rows = {row["hand"]: row for row in wager["tables"]["classes"]}
    _same("hands", sorted(rows), sorted(COUNTS))
    for hand, row in rows.items():
        _same(f"combinations of {hand}", row["combinations"], COUNTS[hand])
        _same(f"probability of {hand}", Fraction(row["probability"]), chance(hand))
        _same(f"what {hand} pays", row["pays"], progressive.pays(hand))
    return stake


def _same(what: str, stated: object, made: object) -> None:
    if stated != made:
        raise ValueError(f"it states {what} as {stated}, the game makes it {made}")


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
