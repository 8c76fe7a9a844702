"""PURE: the parts of the feed, from what the loop holds. docs/protocols/feed.md lists the fields.

Times are absolute and nothing is an age: a part changes only when something happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from link.ledger import level as accounts
from link.ledger.ledger import Ledger
from link.ledger.level import Level
from link.ledger.rounds import OPEN
from link.ledger.state import State, TableJournal
from link.ledger.units import to_cents
from link.rows import AwardRow, AwardStep, KeyRow
from link.server.alarm_board import AlarmBoard
from link.server.floor import Floor
from record.link.notes import shown_note

Part = Any


def meters(ledger: Ledger) -> Part:
    return [
        {
            "pool": meter.pool,
            "level": meter.level,
            "cents": meter.cents,
            "generation": meter.generation,
            "pending": meter.pending,
        }
        for meter in ledger.meters()
    ]


def pools(ledger: Ledger) -> Part:
    ledger.state.settle()
    return [
        {
            "pool": pool.pool,
            "closed": pool.closed,
            "tables": dict(pool.terms.tables),
            "levels": [_level(level) for level in pool.levels],
        }
        for pool in ledger.state.pools.values()
    ]


def _level(level: Level) -> Part:
    held = level.meters()
    following = level.next_terms
    return {
        "level": level.name,
        "generation": level.generation,
        "cents": level.shown_cents,
        "pending": level.open_awards,
        "hits": level.hits,
        "terms": msgspec.json.decode(level.terms_json),
        "next_terms": None if following is None else msgspec.to_builtins(following),
        "wagers": held.wagers,
        "wagered_cents": held.wagered_cents,
        "wins_cents": held.wins_cents,
        "in_cents": to_cents(held.in_units),
        "reserve_cents": to_cents(held.reserve_units),
        "next_cents": to_cents(held.next_units),
        "revenue_cents": to_cents(held.revenue_units),
        "seeds_cents": to_cents(held.house_units),
        "pending_cents": to_cents(held.pending_units),
        "paid_cents": to_cents(held.paid_units),
        "deficit_cents": to_cents(held.deficit_units),
        "envy_cents": to_cents(held.envy_units),
        "overflow_cents": to_cents(held.overflow_units),
    }


def conservation(ledger: Ledger) -> Part:
    """In units, as texts: exact, and too large for some readers' numbers."""
    state = ledger.state
    state.settle()
    total = dict.fromkeys(accounts.ACCOUNTS, 0)
    for level in state.levels():
        for account, units in level.balances.items():
            total[account] += units
    told = {
        "in": -total[accounts.WAGERS],
        "seeds": -total[accounts.HOUSE],
        "deficit": -total[accounts.DEFICIT],
        **{
            account: total[account]
            for account in (
                accounts.DISPLAY, accounts.PENDING, accounts.PAID, accounts.RESERVE,
                accounts.NEXT, accounts.REVENUE, accounts.ENVY, accounts.TRANSFER,
            )
        },
        "difference": sum(total.values()),
    }  # fmt: skip
    return {"event": state.event - 1, **{name: str(units) for name, units in told.items()}}


def waiting(state: State) -> list[str]:
    """Awards that are not final."""
    return [held.award for held in state.awards.values() if held.state in OPEN]


def awards(state: State, latest: Iterable[AwardRow], steps: Mapping[str, list[AwardStep]]) -> Part:
    """Open ones first, then the latest."""
    found = [state.awards[name].row() for name in waiting(state)]
    found.sort(key=lambda row: (row.event, row.order), reverse=True)
    names = {row.award for row in found}
    rows = [*found, *(row for row in latest if row.award not in names)]
    return [_award(row, steps.get(row.award, [])) for row in rows]


def _award(row: AwardRow, steps: Sequence[AwardStep]) -> Part:
    locked = [step.at_ms for step in steps if step.state == "locked"]
    return {
        "award": row.award,
        "pool": row.pool,
        "level": row.level,
        "generation": row.generation,
        "table": row.table,
        "round": row.round,
        "seat": row.seat,
        "hand": row.hand,
        "percent": row.percent,
        "cents": row.cents,
        "state": row.state,
        "jackpot_cents": row.jackpot_cents,
        "reset_cents": row.reset_cents,
        "at_ms": steps[0].at_ms if steps else None,
        "locked_ms": locked[0] if locked else None,
        "steps": [
            {
                "state": step.state,
                "by": step.by,
                "role": step.role,
                "at_ms": step.at_ms,
                "note": shown_note(step.role, step.note),
            }
            for step in steps
        ],
    }


def alarms(board: AlarmBoard) -> Part:
    return [
        {
            "alarm": one.alarm,
            "code": one.code,
            "table": one.table,
            "about": one.about,
            "text": one.text,
            "at_ms": one.at_ms,
            "last_ms": one.last_ms,
            "count": one.count,
            "acknowledged": None if one.acknowledged is None else one.acknowledged._asdict(),
        }
        for one in board.shown()
    ]


# --- tables ---------------------------------------------------------------------------------------


def tables(floor: Floor, keys: Iterable[KeyRow]) -> Part:
    """Every table with a pool, a journal or a key that is not revoked."""
    state = floor.ledger.state
    named = {row.table for row in keys if row.role == "table" and not row.revoked_ms}
    return [_table(floor, name) for name in sorted({*named, *state.pool_of, *state.journals_of})]


def _table(floor: Floor, table: str) -> Part:
    state = floor.ledger.state
    pool, session = state.pool_of.get(table), floor.sessions.of(table)
    journal = _journal(state.journals_of.get(table, ()))
    now = session.now if session else None
    heard_ms = max(floor.sessions.left_ms.get(table, 0), journal.received_ms if journal else 0)
    return {
        "table": table,
        "pool": pool.pool if pool else "",
        "game": pool.terms.tables[table] if pool else session.game if session else "",
        "journal": journal.journal if journal else "",
        "state": journal.state if journal else "",
        "why": journal.why if journal else "",
        "events": journal.n if journal else 0,
        "connected": session is not None,
        "version": session.version if session else None,
        "test_mode": session.test if session else False,
        "heard_ms": None if session else heard_ms or None,
        "phase": now.phase if now else None,
        "round": now.round if now else max(journal.rounds, default=None) if journal else None,
        "waiting": now.waiting if now else None,
        "waiting_ms": (session.waiting_ms or None) if session else None,
        "troubles": list(now.troubles) if now else [],
    }


def _journal(known: Sequence[TableJournal]) -> TableJournal | None:
    """The one in force; where there is none, the newest."""
    in_force = [one for one in known if one.state in ("active", "halted")]
    found = in_force or known
    return found[-1] if found else None
