"""From what the store has to the ledger's state."""

from __future__ import annotations

from collections.abc import Sequence

from link.ledger import invariants, mystery
from link.ledger.errors import LedgerBroken, PoolError
from link.ledger.level import NEVER, Level
from link.ledger.mystery import Sealer
from link.ledger.pools import digest
from link.ledger.rounds import HELD
from link.ledger.state import PoolState, State, TableJournal
from link.ledger.terms import Pool
from link.rows import Saved


def load(saved: Saved, pools: Sequence[Pool], sealer: Sealer | None) -> State:
    """``LedgerBroken`` if it does not hold together."""
    state = State()
    state.event, state.last_order = saved.last_event + 1, saved.last_order
    state.last_entry, state.last_alarm = saved.last_entry, saved.last_alarm
    state.chain, state.staff, state.staff_head = saved.chain, saved.staff, saved.staff_head
    _levels(state, saved, sealer)
    _journals(state, saved)
    for pool in pools:
        known = state.pools.get(pool.pool)
        if known is not None and known.first.state.members == digest(pool.terms):
            known.link(pool.terms)
            state.pool_of |= dict.fromkeys(pool.terms.tables, known)
    invariants.check_state(state)
    return state


def _levels(state: State, saved: Saved, sealer: Sealer | None) -> None:
    for row in saved.levels:
        level = Level.load(row)
        pool = state.pools.setdefault(row.pool, PoolState(row.pool))
        pool.levels.append(level)
    for pool in state.pools.values():
        pool.arrange()
    for balance in saved.balances:
        state.pool(balance.pool).level(balance.level).balances[balance.account] = balance.units
    for level in state.levels():
        if level.terms.must_hit is None or level.state.closed:
            continue
        held = level.state.trigger
        mystery.arm(level, sealer)
        if held is None or held.generation != level.generation:
            state.undrawn.append(level)
        elif level.trigger_units == NEVER:
            raise PoolError(
                "E-POOL-018",
                f"{level.pool}/{level.name}: its trigger cannot be unsealed; give the key that it "
                "was sealed with",
            )


def _journals(state: State, saved: Saved) -> None:
    for row in saved.journals:
        journal = TableJournal.load(row)
        state.add_journal(journal)
        for book in journal.rounds.values():
            for held in book.awards:
                state.awards[held.award] = held
                state.level_of(held).open_awards += held.state in HELD
            if any(held.state == "claimed" for held in book.awards):
                state.pools[book.pool].waiting.append((journal, book))
    for award in saved.awards:
        known = state.awards.get(award.award)
        if known is None or known.row() != award:
            raise LedgerBroken("I5", f"award {award.award} is not what its journal remembers")
