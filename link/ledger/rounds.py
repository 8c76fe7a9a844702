"""What a journal remembers of its last rounds: wagers, where their money went, awards.

A reversal takes back exactly what a seat put in, a repeated claim finds its awards, a claim finds
the wager behind it; all of it after a restart too, so it is kept as JSON in the journal's row.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from link.rows import AwardRow, AwardState
from record.link.events import FixedAward, Wager
from record.link.messages import Locked

KEPT: Final = 3
"""Rounds kept per journal, beside those with an award that is not final."""

OPEN: Final = frozenset(("claimed", "locked", "verified", "approved"))
HELD: Final = frozenset(("locked", "verified", "approved"))
"""States with money in ``pending``."""

Part = tuple[str, int]
"""Account and units."""


class Row(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    """A tree without cycles, like all that is read from JSON: nothing for the collector."""


class FixedRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """The same, and nobody changes it."""


class Streams(FixedRow, frozen=True):
    """Where one seat's money went, in the order it went there."""

    visible: tuple[Part, ...]
    hidden: tuple[Part, ...]
    envy: int


class Spread(FixedRow, frozen=True):
    """How the wagers of an event were spread over a level. ``exact`` only where it mattered: a
    ceiling or a full reserve was reached, or a mystery trigger; by seat."""

    level: str
    generation: int
    rate: int
    hidden: int
    envy: int
    exact: dict[int, tuple[int, Streams]] | None = None
    """Seat to the generation it went to, and the streams."""


class Post(FixedRow, frozen=True):
    """One ``Contributed`` event."""

    wagers: tuple[Wager, ...]
    spreads: tuple[Spread, ...]


class Held(Row):
    """An award, from claim to end."""

    award: str
    pool: str
    level: str
    generation: int
    order: int
    table: str
    journal: str
    round: int
    seat: int
    hand: str
    percent: int
    event: int
    claimed_ms: int
    state: AwardState = "claimed"
    cents: int = 0
    policy: str = ""
    rule: str = ""
    jackpot_cents: int = 0
    reset_cents: int = 0
    seed_units: int = 0
    pot_units: int = 0
    """Of its money, what came from the jackpot; the rest was added by the house."""
    reset: int = 0
    """The generation that began with this award, if it took 100 %."""
    steps: int = 0
    first: tuple[str, str] = ("", "")
    """Account and role of the first of the two who approve."""
    restored: bool = False
    lent: int = 0
    """Units of its money that were reversed meanwhile: paid by ``deficit``."""

    @property
    def top_up_units(self) -> int:
        return self.cents * 1_000_000 - self.pot_units

    def row(self) -> AwardRow:
        return AwardRow(
            award=self.award,
            pool=self.pool,
            level=self.level,
            generation=self.generation,
            order=self.order,
            table=self.table,
            journal=self.journal,
            round=self.round,
            seat=self.seat,
            hand=self.hand,
            percent=self.percent,
            cents=self.cents,
            state=self.state,
            policy=self.policy,
            event=self.event,
            jackpot_cents=self.jackpot_cents,
            reset_cents=self.reset_cents,
            seed_units=self.seed_units,
        )


class RoundBook(Row):
    """One round of a journal."""

    round: int
    pool: str
    """The pool it contributed to, whatever the table plays for later."""
    posts: list[Post] = []
    back: dict[int, int] = {}
    """Seat to cents that were reversed."""
    awards: list[Held] = []
    """Percentage awards in settlement order after those withdrawn, and mystery awards."""
    fixed: tuple[FixedAward, ...] = ()
    fixed_from: dict[str, int] = {}
    """Account to units that the pool paid for them."""
    locked: Locked | None = None

    def wagered(self, seat: int) -> int:
        """Cents of the seat that still stand."""
        put = sum(w.cents for post in self.posts for w in post.wagers if w.seat == seat)
        return put - self.back.get(seat, 0)

    def claims(self) -> list[Held]:
        """Percentage awards that were not withdrawn, in settlement order."""
        return [held for held in self.awards if held.percent and held.state != "withdrawn"]

    def mysteries(self) -> list[Held]:
        return [held for held in self.awards if not held.percent]

    @property
    def open(self) -> bool:
        return any(held.state in OPEN for held in self.awards)


class Selection(FixedRow, frozen=True):
    """What the server drew for a round, as the table receives it."""

    round: int
    digest: str
    draw: dict[str, Any]


class Memory(Row, omit_defaults=True):
    """The JSON of ``JournalRow.rounds``."""

    rounds: list[RoundBook] = []
    forgotten: int = 0
    """No round up to here is remembered, except those in ``rounds``."""
    skip: int = 0
    skip_hash: str = ""
    """The event that people decided to leave without effect."""
    selection: Selection | None = None
    """The last one drawn."""
    played: int = 0
    """The last round that was reported; a report of an earlier one corrects it."""


_memory: Final = msgspec.json.Decoder(Memory)
_encoder: Final = msgspec.json.Encoder()


def read_memory(text: bytes) -> Memory:
    return _memory.decode(text) if text else Memory()


def write_memory(memory: Memory) -> bytes:
    return _encoder.encode(memory)
