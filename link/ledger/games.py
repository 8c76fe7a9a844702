"""Can a pool pay what its tables will claim?

A table claims the shares of its rule book, whatever the pool says. A hand that the pool does not
know, or knows with another share, would halt the table's journal on the day of the jackpot; a hand
that no table claims would never be paid. Both are refused when terms come in: from the
configuration, and by orders of people.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from link.ledger.errors import PoolError
from link.ledger.terms import Pool
from record.games import PROGRESSIVES, Progressive


def check_pays(pool: Pool, judged: str = "") -> None:
    """``PoolError`` if a table of the pool could win what the pool does not pay, or the reverse.
    ``judged``: look at the hands of this level alone."""
    games = {game: _progressive(pool, table, game) for table, game in pool.terms.tables.items()}
    known: dict[str, dict[str, int]] = {}
    """Hand to game to share."""
    for game, progressive in games.items():
        for hand, percent in progressive.shares.items():
            known.setdefault(hand, {})[game] = percent
    stated = {hand: p for level in pool.levels for hand, p in level.shares.items()}
    for level in pool.levels:
        for hand, percent in level.shares.items():
            where = f"pool {pool.pool}.{level.level}.shares"
            if games and judged in ("", level.level):
                _check_hand(where, hand, percent, known)
    for hand, shares in known.items():
        for game, percent in shares.items():
            if hand not in stated:
                raise PoolError(
                    "E-POOL-034",
                    f"pool {pool.pool}: {game} pays {percent} % of the jackpot for {hand}, and no "
                    f'level has it; expected "{hand}" = {percent} in the shares of one level',
                )


def _progressive(pool: Pool, table: str, game: str) -> Progressive:
    found = PROGRESSIVES.get(game)
    if found is not None:
        return found
    listed = ", ".join(name for name, one in PROGRESSIVES.items() if one is not None)
    why = "has no progressive wager" if game in PROGRESSIVES else "is no game"
    raise PoolError(
        "E-POOL-033", f'pool {pool.pool}.tables.{table}: "{game}" {why}; expected one of {listed}'
    )


def _check_hand(where: str, hand: str, percent: int, known: Mapping[str, dict[str, int]]) -> None:
    shares = known.get(hand)
    if shares is None:
        near = get_close_matches(hand, known, 1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        raise PoolError(
            "E-POOL-034",
            f'{where}: no table of the pool takes a share for "{hand}"; expected '
            f"{', '.join(known)}{hint}",
        )
    for game, expected in shares.items():
        if percent != expected:
            raise PoolError(
                "E-POOL-034",
                f'{where}: "{hand}" = {percent}; {game} pays {expected} % of the jackpot for it',
            )
