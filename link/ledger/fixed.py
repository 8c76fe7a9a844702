"""Awards paid at the table by odds or as fixed sums, and what of them the pool bears."""

from __future__ import annotations

from link.ledger.claims import POISON
from link.ledger.level import DISPLAY, ENVY, HOUSE, PAID, Level
from link.ledger.rounds import RoundBook
from link.ledger.state import Journal, Poison, Reply, State
from link.ledger.units import to_units
from record.link.events import FixedAward, RoundPlayed

ENVY_AWARD = "envy"


def played(state: State, journal: Journal, body: RoundPlayed) -> list[Reply]:
    """Counted in the pool's first level. A later report of the same round takes its place."""
    book = journal.rounds.get(body.round)
    if book is None:
        if not body.awards:
            return []
        if body.round > journal.forgotten:
            raise Poison(POISON, f"round {body.round}: awards, but no wager is known")
        text = f"round {body.round} is reported again and forgotten here: meters stay as they are"
        state.alarm("E-POOL-044", journal.table, text)
        return []
    if body.awards == book.fixed:
        return []
    for award in body.awards:
        if not book.wagered(award.seat):
            where = f"round {body.round}, seat {award.seat}"
            raise Poison(POISON, f"{where}: {award.kind} without a wager in this round")
    level = state.pools[book.pool].first
    _take_back(state, level, book)
    _pay(state, level, book, body.awards)
    return []


def _pay(state: State, level: Level, book: RoundBook, awards: tuple[FixedAward, ...]) -> None:
    book.fixed = awards
    for award in awards:
        _count(level, award, 1)
        source, funding = DISPLAY, level.terms.fixed_awards
        if award.kind == ENVY_AWARD:
            source, funding = ENVY, level.terms.envy
        if funding == "table":
            continue
        units = to_units(award.cents)
        there = min(units, level.balances[source])
        state.move(level, source, PAID, there, award.kind)
        state.move(level, HOUSE, PAID, units - there, "top-up")
        for account, part in ((source, there), (HOUSE, units - there)):
            if part:
                book.fixed_from[account] = book.fixed_from.get(account, 0) + part
    state.touch(level)


def _take_back(state: State, level: Level, book: RoundBook) -> None:
    for award in book.fixed:
        _count(level, award, -1)
    for account, units in book.fixed_from.items():
        parts = level.to_display(units) if account == DISPLAY else [(account, units)]
        state.move_parts(level, PAID, parts, "correction")
        if account == DISPLAY:
            level.state.overflow_units += sum(part for to, part in parts if to != DISPLAY)
    book.fixed, book.fixed_from = (), {}


def _count(level: Level, award: FixedAward, one: int) -> None:
    hits, cents = level.state.fixed.get(award.kind, (0, 0))
    level.state.fixed[award.kind] = (hits + one, cents + one * award.cents)
    if not level.state.fixed[award.kind][0]:
        del level.state.fixed[award.kind]
