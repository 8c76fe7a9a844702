"""Pools as their file states them, TOML or JSON, into the terms the ledger runs by.

Amounts are whole cents, rates are text such as "0.37 %" or "37/10000". Whatever is unknown, missing
or impossible is refused with the file, the field, the value and what is expected.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec

from link.ledger.equal_cost import Cost, compare, costs_of
from link.ledger.errors import PoolError
from link.ledger.games import check_pays
from link.ledger.terms import (
    Amount,
    Funding,
    MeterRule,
    MustHit,
    Pool,
    PoolTerms,
    Route,
    Strict,
    Terms,
    Ties,
    check_pools,
)
from link.ledger.units import parse_rate
from record.link.events import Percent, Word
from record.link.messages import Hash
from record.shape import why

ReadFile = Callable[[str], bytes]
"""The bytes of a file named in the configuration; raises ``OSError``."""

Rate = Annotated[str, msgspec.Meta(max_length=40)]
Cents = Annotated[int, msgspec.Meta(ge=1, le=10**12)]


class LevelFile(Strict, frozen=True, kw_only=True):
    level: Word
    base_cents: Amount
    reset_cents: Amount
    rate: Rate
    hidden_rate: Rate = "0 %"
    envy_rate: Rate = "0 %"
    reserve_max_cents: Amount | None = None
    ceiling_cents: Amount | None = None
    overflow: Route = "next"
    shares: dict[Word, Percent] = msgspec.field(default_factory=dict)
    must_hit: MustHit | None = None


class GameFile(Strict, frozen=True, kw_only=True):
    """A game that plays for the pool, with its par sheet (``underfelt par GAME --json``)."""

    par: str
    sha256: Hash


class PoolFile(Strict, frozen=True, kw_only=True):
    tables: dict[Word, Word]
    levels: tuple[LevelFile, ...]
    meter_rule: MeterRule
    games: dict[Word, GameFile] = msgspec.field(default_factory=dict)
    unequal_cost: str = ""
    """Why games of unequal cost may share the pool all the same; the reason is recorded."""
    denominations_cents: tuple[Cents, ...] = (100,)
    max_credits: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    seats: Annotated[int, msgspec.Meta(ge=1, le=12)] = 7
    ties: Ties = "strict_order"
    tie_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 0
    fixed_awards: Funding = "table"
    envy: Funding = "table"
    award_max_cents: Amount = 0


class File(Strict, frozen=True):
    pools: dict[Word, PoolFile]


MOST_REASON: Final = 400


def read_pools(text: bytes, file: str, read_file: ReadFile) -> tuple[Pool, ...]:
    """The pools of a file. ``read_file`` brings par sheets where games share a pool."""
    return pools_from(_parse(text, file), file, read_file)


def pools_from(value: object, file: str, read_file: ReadFile) -> tuple[Pool, ...]:
    """The same from what was parsed already: an object with ``pools``."""
    try:
        stated = msgspec.convert(value, File)
    except msgspec.ValidationError as error:
        raise PoolError("E-POOL-002", f"{file}: {why(error, value, File)}") from None
    try:
        pools = tuple(_pool(name, pool, read_file) for name, pool in stated.pools.items())
        check_pools(pools)
        for pool in pools:
            check_pays(pool)
    except PoolError as error:
        raise PoolError(error.code, f"{file}: {error.text}") from None
    return pools


def _parse(text: bytes, file: str) -> Any:
    try:
        if file.endswith(".json"):
            return msgspec.json.decode(text)
        return tomllib.loads(text.decode())
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PoolError("E-POOL-001", f"{file}: cannot be read: {error}") from None


def _pool(name: str, stated: PoolFile, read_file: ReadFile) -> Pool:
    levels = tuple(_terms(f"pools.{name}.{level.level}", level, stated) for level in stated.levels)
    members = PoolTerms(
        tables=stated.tables,
        games={game: sheet.sha256 for game, sheet in stated.games.items()},
        equal_cost=_equal_cost(f"pools.{name}", stated, levels, read_file),
        denominations_cents=stated.denominations_cents,
        max_credits=stated.max_credits,
        seats=stated.seats,
        award_max_cents=stated.award_max_cents,
    )
    return Pool(pool=name, terms=members, levels=levels)


def _terms(where: str, level: LevelFile, pool: PoolFile) -> Terms:
    return Terms(
        level=level.level,
        base_cents=level.base_cents,
        reset_cents=level.reset_cents,
        rate_ppm=parse_rate(level.rate, f"{where}.rate"),
        hidden_ppm=parse_rate(level.hidden_rate, f"{where}.hidden_rate"),
        envy_ppm=parse_rate(level.envy_rate, f"{where}.envy_rate"),
        reserve_max_cents=level.reserve_max_cents,
        ceiling_cents=level.ceiling_cents,
        overflow=level.overflow,
        shares=level.shares,
        must_hit=level.must_hit,
        meter_rule=pool.meter_rule,
        ties=pool.ties,
        tie_ms=pool.tie_ms,
        fixed_awards=pool.fixed_awards,
        envy=pool.envy,
    )


def _equal_cost(
    where: str, stated: PoolFile, levels: tuple[Terms, ...], read_file: ReadFile
) -> str:
    """What the comparison found, or the reason why it need not be equal."""
    if len(stated.unequal_cost) > MOST_REASON:
        text = f"{where}.unequal_cost: {len(stated.unequal_cost)} characters"
        raise PoolError("E-POOL-002", f"{text}; expected at most {MOST_REASON}")
    games = sorted(set(stated.tables.values()))
    costs: list[Cost] = []
    for game, sheet in stated.games.items():
        at = f"{where}.games.{game}"
        if game not in games:
            raise PoolError("E-POOL-016", f"{at}: no table of the pool plays it")
        try:
            par = read_file(sheet.par)
        except OSError as error:
            raise PoolError("E-POOL-016", f"{at}.par: {sheet.par}: {error.strerror}") from None
        found = hashlib.sha256(par).hexdigest()
        if found != sheet.sha256:
            raise PoolError(
                "E-POOL-016", f"{at}.sha256: {sheet.par} has {found}, not {sheet.sha256}"
            )
        shares = {hand: share for terms in levels for hand, share in terms.shares.items()}
        stakes = stated.denominations_cents
        costs += costs_of(par, game, shares, stakes, f"{at}.par")
    if len(games) < 2:
        return ""
    missing = [game for game in games if game not in stated.games]
    if not missing:
        return compare(costs, where, stated.unequal_cost)
    if not stated.unequal_cost:
        raise PoolError(
            "E-POOL-016",
            f"{where}.games: {', '.join(games)} share the pool and {', '.join(missing)} has no par "
            "sheet; expected one of each game, or the reason in unequal_cost",
        )
    return f"exception: {stated.unequal_cost} (without a par sheet: {', '.join(missing)})"[:500]
