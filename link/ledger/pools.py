"""Orders about whole levels: open one, change its terms, link tables, move its money, close it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from link.ledger.errors import PoolError
from link.ledger.games import check_pays
from link.ledger.level import DISPLAY, ENVY, HOUSE, NEXT, PENDING, RESERVE, TRANSFER, Level
from link.ledger.orders import Change, Close, LinkTables, Open, Transfer
from link.ledger.state import PoolState, State
from link.ledger.terms import Pool, PoolTerms, check_borne, check_members, check_pool
from link.ledger.units import money_text, to_units

HOLDS = (DISPLAY, RESERVE, NEXT, ENVY)
"""Accounts whose money belongs to the players to come."""


def digest(terms: PoolTerms) -> str:
    return hashlib.sha256(msgspec.json.encode(terms, order="deterministic")).hexdigest()


def check_plan(state: State, pools: Sequence[Pool]) -> None:
    """Whether a configuration can follow what there is; before anything is done about it."""
    for stated in pools:
        known = state.pools.get(stated.pool)
        if known is None:
            continue
        where = f"pool {stated.pool}"
        if known.closed and stated.terms.tables:
            raise PoolError("E-POOL-026", f"{where} is closed; take its tables out")
        terms = {level.level: level for level in stated.levels}
        for level in known.levels:
            if level.name not in terms:
                raise PoolError(
                    "E-POOL-019",
                    f"{where}: level {level.name} is not stated any more; a level ends with its "
                    "pool, after its money was moved",
                )
            if (terms[level.name].must_hit is None) != (level.terms.must_hit is None):
                raise PoolError("E-POOL-027", f"{where}.{level.name}: a mystery stays one")


def open_level(state: State, order: Open) -> None:
    """The house pays the base amount of the first generation."""
    pool = state.pools.get(order.pool) or PoolState(order.pool)
    if any(level.name == order.terms.level for level in pool.levels):
        raise PoolError("E-POOL-026", f"{order.pool} has a level {order.terms.level} already")
    if pool.levels and pool.closed:
        raise PoolError("E-POOL-026", f"pool {order.pool} is closed")
    levels = (*(level.coming for level in pool.levels), order.terms)
    check_pool(Pool(pool=order.pool, terms=pool.terms, levels=levels))
    level = Level(order.pool, order.terms)
    level.state.position = len(pool.levels)
    state.pools[order.pool] = pool
    pool.levels.append(level)
    pool.arrange()
    state.touch(level)
    state.move(level, HOUSE, DISPLAY, to_units(order.terms.base_cents), "base")
    if order.terms.must_hit is not None:
        state.undrawn.append(level)


def change(state: State, order: Change) -> None:
    """From the next generation on; the terms of the one that runs take a planned change back."""
    level = _planned(state, order)[0]
    level.next_terms = None if order.terms == level.terms else order.terms
    state.touch(level)


def check_change(state: State, order: Change) -> None:
    """Terms that people state must also pay what the pool's tables claim. Not asked when a stored
    order is applied again: it was taken when other rules held."""
    check_pays(_planned(state, order)[1], order.terms.level)


def _planned(state: State, order: Change) -> tuple[Level, Pool]:
    """The level, and its pool as it would be."""
    pool = state.pool(order.pool)
    level = pool.level(order.terms.level)
    if (order.terms.must_hit is None) != (level.terms.must_hit is None):
        raise PoolError("E-POOL-027", f"{order.pool}/{level.name}: a mystery stays one; open a new")
    levels = tuple(order.terms if other is level else other.coming for other in pool.levels)
    planned = Pool(pool=order.pool, terms=pool.terms, levels=levels)
    check_pool(planned)
    check_borne(planned)
    return level, planned


def link(state: State, order: LinkTables) -> None:
    pool = state.pool(order.pool)
    check_members(order.terms, f"pool {order.pool}")
    for table in order.terms.tables:
        other = state.pool_of.get(table)
        if other is not None and other is not pool:
            raise PoolError("E-POOL-013", f"{table} plays for {other.pool} already")
    if order.terms.tables and pool.closed:
        raise PoolError("E-POOL-026", f"pool {order.pool} is closed")
    for table in pool.terms.tables:
        state.pool_of.pop(table, None)
    pool.link(order.terms)
    state.pool_of |= dict.fromkeys(order.terms.tables, pool)
    pool.first.state.members = digest(order.terms)
    state.touch(pool.first)


def transfer(state: State, order: Transfer) -> None:
    """Out of one level into another, at its ceiling by that one's overflow route."""
    source = state.pool(order.pool).level(order.level)
    target_pool = state.pool(order.to_pool)
    target = target_pool.level(order.to_level)
    if source is target:
        raise PoolError("E-POOL-027", f"{order.pool}/{order.level}: nothing to move to itself")
    if state.pool(order.pool).waiting:
        raise PoolError("E-POOL-027", f"pool {order.pool}: claims wait for their lock")
    if target_pool.closed or target.terms.must_hit is not None:
        why = (
            "is closed" if target_pool.closed else "is a mystery, whose next hit it would give away"
        )
        raise PoolError("E-POOL-027", f"{order.to_pool}/{order.to_level} {why}")
    there = source.balances[DISPLAY]
    held = sum(source.balances[account] for account in HOLDS)
    if (to_units(order.cents) or held) > target.headroom:
        raise PoolError("E-POOL-027", f"{order.to_pool}/{order.to_level}: its accounts are full")
    moved = {DISPLAY: to_units(order.cents)}
    if not order.cents:
        moved = {account: source.balances[account] for account in HOLDS}
    if moved[DISPLAY] > there or not any(moved.values()):
        raise PoolError(
            "E-POOL-027",
            f"{order.pool}/{order.level} shows {money_text(there)}; {money_text(moved[DISPLAY])} "
            "cannot be moved",
        )
    for account, units in moved.items():
        state.move(source, account, TRANSFER, units, "transfer out")
        parts = [(account, units)]
        if account == DISPLAY:
            parts = target.to_display(units)
            target.state.overflow_units += sum(part for to, part in parts if to != DISPLAY)
        elif account == RESERVE:
            parts = target.to_reserve(units)
        state.move_parts(target, TRANSFER, parts, "transfer in")


def close(state: State, order: Close) -> None:
    pool = state.pool(order.pool)
    if pool.closed:
        raise PoolError("E-POOL-026", f"pool {order.pool} is closed already")
    if pool.terms.tables:
        raise PoolError(
            "E-POOL-028", f"pool {order.pool}: {len(pool.terms.tables)} tables play for it"
        )
    for level in pool.levels:
        for account in (*HOLDS, PENDING):
            if level.balances[account]:
                text = money_text(level.balances[account])
                raise PoolError(
                    "E-POOL-028", f"{order.pool}/{level.name}: {text} in {account}; move it first"
                )
    if pool.waiting:
        raise PoolError("E-POOL-028", f"pool {order.pool}: claims wait for their lock")
    for level in pool.levels:
        level.state.closed = True
        state.touch(level)
