"""One level of a pool: its accounts, its generation, what it must remember. Double entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from link.ledger.rounds import Part, Spread
from link.ledger.terms import Terms
from link.ledger.units import MOST_UNITS, to_cents, to_units
from link.rows import BalanceRow, LevelRow
from record.link.messages import MeterValue

WAGERS: Final = "wagers"
DISPLAY: Final = "display"
RESERVE: Final = "reserve"
NEXT: Final = "next"
REVENUE: Final = "revenue"
HOUSE: Final = "house"
PENDING: Final = "pending"
PAID: Final = "paid"
DEFICIT: Final = "deficit"
ENVY: Final = "envy"
TRANSFER: Final = "transfer"
ACCOUNTS: Final = (
    WAGERS, DISPLAY, RESERVE, NEXT, REVENUE, HOUSE, PENDING, PAID, DEFICIT, ENVY, TRANSFER,
)  # fmt: skip

NEVER: Final = 1 << 200
"""A limit that is not there."""
KEPT_RESETS: Final = 8


class Remembered(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Part of a level's state."""


class Reset(Remembered, kw_only=True):
    """A generation's start: where its seed came from, and which awards made it start."""

    generation: int
    """The one that began."""
    living: list[int]
    """The generations whose contributions were in the jackpot that went out."""
    awards: list[str]
    """The 100 % awards; the seed goes back when none of them stands."""
    locked: list[str]
    """All awards of that lock, for top-ups among them."""
    next: int = 0
    reserve: int = 0
    house: int = 0
    """Units of the seed by source."""
    lent: dict[str, int] = {}
    """Source to units that were reversed while they were out as this seed: paid by ``deficit``."""
    restored: bool = False


class Trigger(Remembered, kw_only=True):
    """The hidden amount of a mystery level. Its seed stays sealed until the hit."""

    generation: int
    low_cents: int
    high_cents: int
    commitment: str
    sealed: str


class LevelState(Remembered, kw_only=True):
    """The JSON of ``LevelRow.state``."""

    position: int = 0
    wagers: int = 0
    wagered_cents: int = 0
    wins_cents: int = 0
    overflow_units: int = 0
    fixed: dict[str, tuple[int, int]] = {}
    """Kind of a fixed award to how often, and cents."""
    living: list[int] = []
    """The generations whose contributions are in the jackpot now."""
    owed: dict[int, int] = {}
    """Generation to units that were reversed while its jackpot was out: paid by ``deficit``."""
    resets: list[Reset] = []
    trigger: Trigger | None = None
    closed: bool = False
    awards: int = 0
    """Of the pool, counted in its first level."""
    members: str = ""
    """SHA-256 of the pool's terms, in its first level."""


@dataclass(frozen=True, slots=True)
class LevelMeters:
    """The meters of a level for reports. Units, but for wagers, hits and what says cents."""

    pool: str
    level: str
    generation: int
    wagers: int
    wagered_cents: int
    in_units: int
    display_units: int
    hits: int
    wins_cents: int
    overflow_units: int
    reserve_units: int
    next_units: int
    revenue_units: int
    house_units: int
    """Seeds and top-ups, net of what went back."""
    pending_units: int
    paid_units: int
    deficit_units: int
    envy_units: int
    fixed: dict[str, tuple[int, int]]


class Sum:
    """Contributions of a group from one account to another."""

    __slots__ = ("first", "through", "units")

    def __init__(self, units: int, first: int, through: int = 0) -> None:
        self.units, self.first, self.through = units, first, through or first


class Level:
    """``balances`` add up to 0 at all times."""

    __slots__ = (
        "balances",
        "brink",
        "committed_generation",
        "committed_terms_json",
        "generation",
        "hits",
        "limit",
        "name",
        "next_terms",
        "open_awards",
        "plain",
        "pool",
        "reserve_limit",
        "state",
        "sums",
        "terms",
        "terms_json",
        "touched",
        "trigger_units",
    )

    def __init__(self, pool: str, terms: Terms, generation: int = 1) -> None:
        self.pool, self.name = pool, terms.level
        self.generation = self.committed_generation = generation
        self.balances = dict.fromkeys(ACCOUNTS, 0)
        self.next_terms: Terms | None = None
        self.hits = 0
        self.state = LevelState(living=[generation])
        self.open_awards = 0
        """Locked and not yet final."""
        self.trigger_units = NEVER
        self.sums: dict[tuple[str, str, str], Sum] = {}
        self.touched: set[str] = set()
        self.committed_terms_json = b""
        """Of the generation, as it was stored last; nothing before the first time."""
        self.adopt(terms)

    def adopt(self, terms: Terms) -> None:
        """The terms of the generation that begins."""
        self.terms = terms
        self.terms_json = msgspec.json.encode(terms)
        limit, reserve = terms.limit_cents, terms.reserve_max_cents
        self.limit = NEVER if limit is None else to_units(limit)
        self.reserve_limit = NEVER if reserve is None else to_units(reserve)
        self.plain = Spread(
            self.name, self.generation, terms.rate_ppm, terms.hidden_ppm, terms.envy_ppm
        )
        self.set_brink()

    def set_brink(self) -> None:
        """Above it a contribution is looked at seat by seat."""
        self.brink = min(self.limit, self.trigger_units - 1)

    @property
    def shown_cents(self) -> int:
        return to_cents(self.balances[DISPLAY])

    @property
    def headroom(self) -> int:
        """Units that can still come in. Every account is at most what all that hold money have
        together, so no column overflows while this is not below 0."""
        return MOST_UNITS - sum(units for units in self.balances.values() if units > 0)

    @property
    def coming(self) -> Terms:
        """The terms that the next generation begins with."""
        return self.next_terms or self.terms

    # --- moving money ---------------------------------------------------------------------------

    def add(self, credit: str, units: int, why: str, first: int, through: int) -> None:
        """Part of contributions: summed up with the others of the group."""
        if not units:
            return
        self.balances[WAGERS] -= units
        self.balances[credit] += units
        found = self.sums.get((WAGERS, credit, why))
        if found is None:
            self.sums[WAGERS, credit, why] = Sum(units, first, through)
        else:
            found.units += units
            found.through = through

    def room_cents(self) -> int:
        """Wagers of so many cents fit without a look at ceiling, reserve, trigger and columns."""
        rate, hidden = self.plain.rate, self.plain.hidden
        room = self.headroom // max(1, rate + hidden + self.plain.envy)
        if rate and self.brink < NEVER:
            room = min(room, (self.brink - self.balances[DISPLAY]) // rate)
        if hidden and self.reserve_limit < NEVER:
            room = min(room, (self.reserve_limit - self.balances[RESERVE]) // hidden)
        return room

    def add_plain(self, cents: int, wagers: int, first: int, through: int) -> None:
        """Contributions that fit."""
        plain = self.plain
        self.add(DISPLAY, cents * plain.rate, "contribution", first, through)
        self.add(RESERVE, cents * plain.hidden, "hidden", first, through)
        self.add(ENVY, cents * plain.envy, "envy fund", first, through)
        self.state.wagers += wagers
        self.state.wagered_cents += cents

    def to_reserve(self, units: int) -> list[Part]:
        """What fits into the reserve; the rest is revenue."""
        fits = min(units, max(0, self.reserve_limit - self.balances[RESERVE]))
        parts = [(RESERVE, fits), (REVENUE, units - fits)]
        return [part for part in parts if part[1]]

    def to_display(self, units: int) -> list[Part]:
        """What fits under the ceiling; the rest by the overflow route."""
        fits = min(units, max(0, self.limit - self.balances[DISPLAY]))
        parts = [(DISPLAY, fits)] if fits else []
        return parts + self.over(units - fits) if fits < units else parts

    def over(self, units: int) -> list[Part]:
        """Where money goes that has no room under the ceiling."""
        route = self.terms.overflow
        return self.to_reserve(units) if route == RESERVE else [(route, units)]

    # --- rows -----------------------------------------------------------------------------------

    def meter(self) -> MeterValue:
        return MeterValue(self.pool, self.name, self.shown_cents, self.generation, self.open_awards)

    def meters(self) -> LevelMeters:
        held, state = self.balances, self.state
        return LevelMeters(
            pool=self.pool,
            level=self.name,
            generation=self.generation,
            wagers=state.wagers,
            wagered_cents=state.wagered_cents,
            in_units=-held[WAGERS],
            display_units=held[DISPLAY],
            hits=self.hits,
            wins_cents=state.wins_cents,
            overflow_units=state.overflow_units,
            reserve_units=held[RESERVE],
            next_units=held[NEXT],
            revenue_units=held[REVENUE],
            house_units=-held[HOUSE],
            pending_units=held[PENDING],
            paid_units=held[PAID],
            deficit_units=-held[DEFICIT],
            envy_units=held[ENVY],
            fixed=dict(state.fixed),
        )

    def row(self) -> LevelRow:
        return LevelRow(
            pool=self.pool,
            level=self.name,
            generation=self.generation,
            parameters=self.terms_json,
            next_parameters=b""
            if self.next_terms is None
            else msgspec.json.encode(self.next_terms),
            hits=self.hits,
            state=msgspec.json.encode(self.state),
        )

    def balance_row(self, account: str) -> BalanceRow:
        return BalanceRow(self.pool, self.name, account, self.balances[account])

    @classmethod
    def load(cls, row: LevelRow) -> Level:
        level = cls(row.pool, msgspec.json.decode(row.parameters, type=Terms), row.generation)
        if row.next_parameters:
            level.next_terms = msgspec.json.decode(row.next_parameters, type=Terms)
        level.hits = row.hits
        level.state = msgspec.json.decode(row.state, type=LevelState)
        level.committed_terms_json = level.terms_json
        return level

    def keep_resets(self, open_awards: set[str]) -> None:
        """Forget what nobody can restore any more."""
        resets = self.state.resets
        if len(resets) > KEPT_RESETS:
            old = [r for r in resets[:-KEPT_RESETS] if not open_awards.isdisjoint(r.locked)]
            self.state.resets = resets = old + resets[-KEPT_RESETS:]
        alive = set(self.state.living).union(*(r.living for r in resets))
        self.state.owed = {g: units for g, units in self.state.owed.items() if g in alive}
