"""Awards paid at the table by odds or as fixed sums, and what of them the pool bears."""

from __future__ import annotations

from link.ledger.claims import POISON
from link.ledger.level import DISPLAY, ENVY, HOUSE, PAID, Level
from link.ledger.rounds import RoundBook
from link.ledger.state import (
    UNREASONABLE,
    Poison,
    PoolState,
    Reply,
    State,
    TableJournal,
    must_fit,
)
from link.ledger.sums import HANDS, ROUNDS
from link.ledger.units import money_text, to_units
from record.link.events import FixedAward, RoundPlayed
from record.rounds import hands

ENVY_AWARD = "envy"


def played(state: State, journal: TableJournal, body: RoundPlayed) -> list[Reply]:
    """Counted in the pool's first level. A later report of the same round takes its place."""
    replies = _awarded(state, journal, body)
    if body.round > journal.played:
        journal.played = body.round
        pool = state.pool_of.get(journal.table)
        sums = state.tally.of(state.at_ms, pool.pool if pool else "", "", journal.table)
        sums[ROUNDS] += 1
        sums[HANDS] += hands(body.result)
    return replies


def _awarded(state: State, journal: TableJournal, body: RoundPlayed) -> list[Reply]:
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
    pool = state.pools[book.pool]
    _check(pool, body)
    level = pool.first
    _take_back(state, level, book)
    _pay(state, level, book, body.awards)
    return []


def _check(pool: PoolState, body: RoundPlayed) -> None:
    """What the pool bears is bounded by its terms and by what its accounts hold. Beyond that the
    event is held with an alarm: two people raise the bound, or leave it without effect."""
    level, most = pool.first, pool.most_award_cents
    borne = [award for award in body.awards if _funding(level, award)[1] == "pool"]
    for award in borne:
        if award.cents > most:
            raise Poison(
                UNREASONABLE,
                f"round {body.round}, seat {award.seat}: {award.kind} of "
                f"{money_text(to_units(award.cents))}; pool {pool.pool} bears at most "
                f"{money_text(to_units(most))} for one award. Raise award_max_cents, or leave the "
                "event without effect",
            )
    total, all_of = sum(award.cents for award in borne), most * pool.terms.seats
    if total > all_of:
        raise Poison(
            UNREASONABLE,
            f"round {body.round}: awards of {money_text(to_units(total))}; pool {pool.pool} bears "
            f"at most {money_text(to_units(all_of))} a round, {pool.terms.seats} seats with the "
            "largest award",
        )
    must_fit(level, to_units(total), f"round {body.round}")


def _funding(level: Level, award: FixedAward) -> tuple[str, str]:
    """The account it is paid from, and who bears it."""
    if award.kind == ENVY_AWARD:
        return ENVY, level.terms.envy
    return DISPLAY, level.terms.fixed_awards


def _pay(state: State, level: Level, book: RoundBook, awards: tuple[FixedAward, ...]) -> None:
    book.fixed = awards
    for award in awards:
        _count(level, award, 1)
        source, funding = _funding(level, award)
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
