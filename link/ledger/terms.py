"""What a pool runs by: the terms of each level, fixed for a generation, and who plays for it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from link.ledger.errors import PoolError
from link.ledger.units import PPM, rate_text
from record.kit.money import dollars
from record.link.events import Percent, Word
from record.link.messages import Hash, Text

MOST_CENTS: Final = 10**12
"""No amount of a parameter is above ten thousand million: every sum fits a 64-bit column."""

Amount = Annotated[int, msgspec.Meta(ge=0, le=MOST_CENTS)]
Ppm = Annotated[int, msgspec.Meta(ge=0, le=PPM)]
MeterRule = Literal["sequential", "snapshot"]
Ties = Literal["strict_order", "same_cycle_full", "share"]
Route = Literal["next", "reserve", "revenue"]
Funding = Literal["table", "pool"]


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class MustHit(Strict, frozen=True):
    """A mystery level: won by the contribution that reaches a hidden amount in between."""

    min_cents: Amount
    max_cents: Amount


class Terms(Strict, frozen=True, kw_only=True):
    """Everything that decides about the money of one level during one generation."""

    level: Word
    base_cents: Amount
    """What the first generation starts with."""
    reset_cents: Amount
    """What every later one starts with."""
    rate_ppm: Ppm
    """Of each wager, to the jackpot that is shown."""
    hidden_ppm: Ppm = 0
    """Of each wager, to the reserve that later jackpots start from."""
    envy_ppm: Ppm = 0
    """Of each wager, to the fund that envy is paid from."""
    reserve_max_cents: Amount | None = None
    """A full reserve takes nothing more; what would go there is revenue."""
    ceiling_cents: Amount | None = None
    overflow: Route = "next"
    """Where contributions go that do not fit under the ceiling."""
    shares: dict[Word, Percent] = {}
    """Class of hand to its share of the jackpot, in per cent; 100 resets."""
    must_hit: MustHit | None = None
    meter_rule: MeterRule = "sequential"
    ties: Ties = "strict_order"
    tie_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 0
    fixed_awards: Funding = "table"
    envy: Funding = "table"

    @property
    def limit_cents(self) -> int | None:
        """The most that the meter may show."""
        return self.ceiling_cents if self.must_hit is None else self.must_hit.max_cents


class PoolTerms(Strict, frozen=True, kw_only=True):
    """Who plays for a pool and what a wager may be. Changes at once, by an order of record."""

    tables: dict[Word, Word]
    """Table to its game."""
    games: dict[Word, Hash] = {}
    """Game to the SHA-256 of its par sheet."""
    equal_cost: Text = ""
    """Why games may share the pool: the figures compared, or the reason given for an exception."""
    denominations_cents: tuple[Annotated[int, msgspec.Meta(ge=1, le=MOST_CENTS)], ...] = (100,)
    max_credits: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1
    seats: Annotated[int, msgspec.Meta(ge=1, le=12)] = 7

    award_max_cents: Amount = 0
    """The largest fixed award or envy that the pool bears; 0: what its first level starts with."""

    def award_most(self, first: Terms) -> int:
        return self.award_max_cents or max(first.base_cents, first.reset_cents)

    @property
    def most_cents(self) -> int:
        """More than this in one round is unreasonable: every seat with the largest wager."""
        return self.seats * self.max_credits * max(self.denominations_cents)


class Pool(Strict, frozen=True, kw_only=True):
    pool: Word
    terms: PoolTerms
    levels: tuple[Terms, ...]


def check_terms(terms: Terms, where: str) -> None:
    """What no single field can tell."""
    total = terms.rate_ppm + terms.hidden_ppm + terms.envy_ppm
    if total > PPM:
        raise PoolError(
            "E-POOL-006", f"{where}: the rates together take {rate_text(total)} of a wager"
        )
    if terms.must_hit is None and not terms.shares:
        raise PoolError("E-POOL-007", f"{where}: nothing wins it; expected shares or must_hit")
    if terms.must_hit is not None:
        _check_mystery(terms, terms.must_hit, where)
    elif terms.ceiling_cents is not None:
        # One cent of room, so that what is left below a cent has a place beside the reset amount.
        start = max(terms.base_cents, terms.reset_cents)
        if terms.ceiling_cents <= start:
            raise PoolError(
                "E-POOL-008",
                f"{where}.ceiling_cents: {terms.ceiling_cents}; expected more than {start}, the "
                "amount the jackpot starts with",
            )
    if terms.reserve_max_cents is not None and not (
        terms.hidden_ppm or (terms.overflow == "reserve" and terms.limit_cents is not None)
    ):
        raise PoolError(
            "E-POOL-009", f"{where}.reserve_max_cents: nothing goes to the reserve; take it out"
        )
    if (terms.ties == "strict_order") != (terms.tie_ms == 0):
        raise PoolError(
            "E-POOL-010",
            f"{where}: ties {terms.ties!r} with tie_ms {terms.tie_ms}; expected tie_ms with "
            "same_cycle_full or share, and only with them",
        )


def _check_mystery(terms: Terms, hit: MustHit, where: str) -> None:
    if terms.shares:
        raise PoolError("E-POOL-011", f"{where}: both shares and must_hit; expected one of them")
    if terms.ceiling_cents is not None:
        raise PoolError(
            "E-POOL-011", f"{where}.ceiling_cents: take it out; must_hit.max_cents is the ceiling"
        )
    start = max(terms.base_cents, terms.reset_cents)
    if not start < hit.min_cents <= hit.max_cents:
        raise PoolError(
            "E-POOL-011",
            f"{where}.must_hit: {hit.min_cents} to {hit.max_cents}; expected min_cents above "
            f"{start}, the amount it starts with, and max_cents not below min_cents",
        )
    if not terms.rate_ppm:
        raise PoolError("E-POOL-011", f"{where}.rate: 0; it would never be hit")


def check_pools(pools: tuple[Pool, ...]) -> None:
    """What one level alone cannot tell."""
    at: dict[str, str] = {}
    names = [pool.pool for pool in pools]
    for name in names:
        if names.count(name) > 1:
            raise PoolError("E-POOL-012", f"pool {name}: stated twice")
    for pool in pools:
        check_pool(pool)
        check_borne(pool)
        for table in pool.terms.tables:
            if table in at:
                raise PoolError(
                    "E-POOL-013",
                    f"pool {pool.pool}.tables: {table} plays for {at[table]} already; a table "
                    "plays for one pool",
                )
            at[table] = pool.pool


def check_pool(pool: Pool) -> None:
    where = f"pool {pool.pool}"
    if not pool.levels:
        raise PoolError("E-POOL-012", f"{where}.levels: none; expected at least one")
    hands: dict[str, str] = {}
    for terms in pool.levels:
        check_terms(terms, f"{where}.{terms.level}")
        if [t.level for t in pool.levels].count(terms.level) > 1:
            raise PoolError("E-POOL-012", f"{where}: level {terms.level} stated twice")
        for hand in terms.shares:
            if hand in hands:
                raise PoolError(
                    "E-POOL-014",
                    f"{where}.{terms.level}.shares: {hand} takes from {hands[hand]} already",
                )
            hands[hand] = terms.level
    rates = sum(t.rate_ppm + t.hidden_ppm + t.envy_ppm for t in pool.levels)
    if rates > PPM:
        raise PoolError(
            "E-POOL-006", f"{where}: its levels together take {rate_text(rates)} of a wager"
        )
    check_members(pool.terms, where)


def check_borne(pool: Pool) -> None:
    """A pool that bears awards has a bound for them."""
    first = pool.levels[0]
    if "pool" in (first.fixed_awards, first.envy) and not pool.terms.award_most(first):
        raise PoolError(
            "E-POOL-032",
            f"pool {pool.pool}.award_max_cents: 0, and its first level starts with 0; expected the "
            "largest fixed award or envy that the pool bears",
        )


def check_members(terms: PoolTerms, where: str) -> None:
    if not terms.denominations_cents:
        raise PoolError("E-POOL-015", f"{where}.denominations_cents: none; expected at least one")
    if terms.most_cents > MOST_CENTS:
        raise PoolError(
            "E-POOL-030",
            f"{where}: {terms.seats} seats with {terms.max_credits} credits of "
            f"{dollars(max(terms.denominations_cents))} are {dollars(terms.most_cents)} in one "
            f"round; expected at most {dollars(MOST_CENTS)}",
        )
    games = sorted(set(terms.tables.values()))
    if len(games) > 1 and not terms.equal_cost:
        raise PoolError(
            "E-POOL-016",
            f"{where}: {', '.join(games)} share it; expected a comparison of their par sheets, or "
            "an exception with its reason",
        )
