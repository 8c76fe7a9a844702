"""PURE: what a group did, in words for the feed's log: orders, locks, wins, alarms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from link.ledger import orders as money
from link.ledger.orders import Given
from link.rows import AlarmRow, AwardStep, EventRow, Group
from record.kit.money import dollars
from record.link.notes import shown_note

Entry = dict[str, Any]
SUBJECTS: Final = ("award", "journal", "pool", "name", "which", "alarm", "topic", "number")
"""Fields that name what an order is about; never a key, a proof or a salt."""
_STEPS: Final = (money.Verify, money.Approve, money.Pay, money.Reject)
"""Told as steps of the award."""


def orders_of(group: Group) -> list[tuple[EventRow, Given]]:
    """Of people, and of the server and the clock."""
    return [(row, money.read_given(row.body)) for row in group.events if not row.table]


def order(row: EventRow, given: Given) -> Entry | None:
    """None: nobody ordered it, or it is told as something else."""
    if not any(person.role for person in given.by) or isinstance(given.order, _STEPS):
        return None
    fields: dict[str, Any] = msgspec.to_builtins(given.order)
    if isinstance(given.order, money.Office):
        fields = msgspec.json.decode(given.order.text)
    words = [str(fields["what"])]
    words += [str(fields[name]) for name in SUBJECTS if fields.get(name)][:1]
    names = " and ".join(f"{person.account} ({person.role})" for person in given.by)
    reason = fields.get("why") or fields.get("note") or ""
    text = f"{' '.join(words)} by {names}{reason and f': {reason}'}"
    return {"at_ms": row.received_ms, "kind": "order", "text": text}


def steps(group: Group) -> Iterator[Entry]:
    for step in group.steps:
        yield _step(step, group)


def _step(step: AwardStep, group: Group) -> Entry:
    row = group.awards[step.award]
    where = f"table {row.table}, round {row.round}, seat {row.seat}"
    text = f"award {step.award}: {step.state}, {dollars(row.cents)}, {where}"
    if step.role:
        text += f", by {step.by} ({step.role})"
    if step.note:
        text += f": {shown_note(step.role, step.note)}"
    kinds = {"locked": "lock", "approved": "win"}
    return {
        "at_ms": step.at_ms,
        "kind": kinds.get(step.state, "award"),
        "text": text,
        "award": step.award,
        "table": row.table,
        "cents": row.cents,
    }


def alarm(row: AlarmRow) -> Entry:
    return {
        "at_ms": row.at_ms,
        "kind": "alarm",
        "text": f"{row.table and f'{row.table}: '}{row.text} ({row.code})",
        "alarm": row.id,
        "code": row.code,
        "table": row.table,
    }
