"""What a gaming day counts: plain values that go into the journal and come back.

Every list and every table of kinds is bounded, so that a day that nobody closes cannot grow without
end; totals are always whole.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

MOST_ROWS: Final = 200
"""Single cases that are listed; more are only counted."""
MOST_KINDS: Final = 200
OTHER: Final = "other"
MINUTE_MS: Final = 60_000


class Sheet(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=False):
    """A part of the day's sheet."""


class Money(Sheet):
    """So many, so much."""

    count: int = 0
    cents: int = 0

    def add(self, cents: int) -> None:
        self.count += 1
        self.cents += cents


class Wagers(Sheet):
    """One kind of wager. ``staked = returned + paid + held + house``, always."""

    count: int = 0
    staked: int = 0
    returned: int = 0
    """Stakes that went back to players: won, pushed, taken back, void, refused."""
    paid: int = 0
    """Winnings."""
    held: int = 0
    """Stakes whose outcome the record leaves to a supervisor."""
    house: int = 0


class Rows(Sheet):
    """Single cases, the first ones in full."""

    count: int = 0
    rows: list[list[Any]] = []

    def add(self, *row: Any) -> None:
        self.count += 1
        if len(self.rows) < MOST_ROWS:
            self.rows.append(list(row))


class Rounds(Sheet):
    opened: int = 0
    """Opening calls. What has no card out when it is called off makes no record."""
    settled: int = 0
    void: int = 0
    held: int = 0
    """Closed with something that the rule book does not decide."""
    first: int = 0
    last: int = 0


class Hands(Sheet):
    played: int = 0
    void: int = 0


class Progressive(Sheet):
    posted: Money = msgspec.field(default_factory=Money)
    """Wagers accepted at the lock, of rounds that were closed."""
    reversed: Money = msgspec.field(default_factory=Money)
    """Those of them whose hand or round went void."""
    pays: dict[str, Money] = {}
    """By the class of the hand."""
    claims: Rows = msgspec.field(default_factory=Rows)
    """Shares of the jackpot: round, seat, hand, odds, cents."""
    claimed: int = 0
    """Cents of all claims."""
    locks: int = 0
    """Amounts of record that the server fixed."""
    awards: dict[str, Money] = {}
    """What became of awards at the server, by state: verified, approved, paid, rejected."""
    mystery: Rows = msgspec.field(default_factory=Rows)
    """Hidden triggers of the server that fell here: round, seat, level, cents."""


class Corrections(Sheet):
    """Mis-pays put right: they make what was handed out what was due, and change no result."""

    paid: int = 0
    collected: int = 0
    cases: Rows = msgspec.field(default_factory=Rows)
    """Round, seat, cents to the seat, who and why."""


class RuledAnew(Sheet):
    """Rounds whose result changed after they were closed."""

    house: int = 0
    """What that changes of the house's net."""
    cases: Rows = msgspec.field(default_factory=Rows)
    """Round, clauses, cents to the house."""


class Pot(Sheet):
    """A pot that nobody won and that stays on the felt.

    ``carried_in + put = to_seats + to_house + ruled + carried_out``, always.
    """

    carried_in: int = 0
    put: int = 0
    """What rounds left there, less what later rounds paid out of it to their winners."""
    to_seats: int = 0
    """Paid out beside the record of its round, which older programs wrote."""
    to_house: int = 0
    ruled: int = 0
    """Went where a supervisor said."""
    carried_out: int = 0


class Dealer(Sheet):
    from_ms: int
    to_ms: int
    turns: int = 0
    rounds: int = 0


class Starts(Sheet):
    """How often the daemon was started, and what torn writes were cut off then."""

    count: int = 0
    repaired_bytes: int = 0


class Closing(Sheet):
    """The record that closed the day, and who declared it."""

    seq: int
    head: str
    """The journal's hash after that record."""
    at_ms: int
    person: str
    role: str


class Carry(Sheet):
    """What a day takes over from the one before."""

    dealer: str = ""
    round: int = 0
    """The newest closed round."""
    rewritten: dict[int, tuple[int, int | None, int]] = {}
    """Rounds recorded again: corrections, house net and events that are counted already."""
    game: str = ""
    configuration: str = ""
    program: str = ""
    rule_book: str = ""
    utc_offset_min: int = 0


class Total(Sheet):
    """The bottom line, exact."""

    staked: int = 0
    returned: int = 0
    paid: int = 0
    held: int = 0
    awards: int = 0
    capped: int = 0
    ruled_anew: int = 0
    pot: int = 0
    """What the carried pot moves between days and to the house."""
    house_net: int = 0


class Day(Sheet):
    """A gaming day, open or closed."""

    number: int = 1
    first_seq: int = 1
    from_ms: int | None = None
    bets_ms: int | None = None
    """The first opening call."""
    closing: Closing | None = None
    rounds: Rounds = msgspec.field(default_factory=Rounds)
    hands: Hands = msgspec.field(default_factory=Hands)
    voids: Rows = msgspec.field(default_factory=Rows)
    """Round, what happened, clauses."""
    wagers: dict[str, Wagers] = {}
    awards: dict[str, Money] = {}
    capped: int = 0
    """Winnings above the posted maximum payout, not paid."""
    progressive: Progressive = msgspec.field(default_factory=Progressive)
    pot: Pot = msgspec.field(default_factory=Pot)
    ruled_anew: RuledAnew = msgspec.field(default_factory=RuledAnew)
    corrections: Corrections = msgspec.field(default_factory=Corrections)
    irregularities: dict[str, int] = {}
    rulings: dict[str, int] = {}
    decks: dict[str, int] = {}
    devices: dict[str, dict[str, int]] = {}
    alarms: dict[str, int] = {}
    dealers: dict[str, Dealer] = {}
    supervisors: dict[str, int] = {}
    """What each of them declared, counted."""
    starts: Starts = msgspec.field(default_factory=Starts)
    configurations: list[str] = []
    programs: list[str] = []
    rule_books: list[str] = []
    unbalanced: Rows = msgspec.field(default_factory=Rows)
    """Rounds whose parts do not make their own total: a fault of the program."""
    unread: int = 0
    """Records of a kind counted here whose body could not be read."""
    carry: Carry = msgspec.field(default_factory=Carry)
    total: Total | None = None
    date: str = ""


def count(table: dict[str, int], kind: str, by: int = 1) -> None:
    kind = kind if kind in table or len(table) < MOST_KINDS else OTHER
    table[kind] = table.get(kind, 0) + by


def listed(values: list[str], value: str) -> None:
    """A hash that comes into force; the one in force is the last."""
    if value and value not in values and len(values) < MOST_ROWS:
        values.append(value)
