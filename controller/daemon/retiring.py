"""Clearing a table's memory: its counters are sealed first, two people consent at the link, and
nothing is deleted. The journal is put aside; the next start begins another one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from controller.daemon.compose import Table
from controller.history.entries import dump
from controller.history.gamingday import fold
from controller.rules.engine.state import Phase
from controller.rules.errors import UnderfeltError

RETIRED: Final = "retired"


class NotNow(UnderfeltError):
    """The journal cannot be retired as it is: exit 75."""

    exit_code = os.EX_TEMPFAIL

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code = code


def unfinished(table: Table) -> str:
    """What must be ended before, or nothing."""
    state = table.replayed.state
    if state.phase is not Phase.IDLE:
        return f"round {state.round_no} is under way"
    pending = [award.award for award in state.awards if award.pending]
    if pending:
        return f"award {pending[0]} is not paid or rejected"
    if table.replayed.missing:
        return "the last fact is not complete: start the table once"
    return ""


def counters(table: Table) -> dict[str, Any]:
    """Everything that a clearing would lose, as the last record of the journal."""
    memory, journal = table.replayed.memory, table.journal
    return {
        "v": 1,
        "rounds": memory.state.round_no,
        "events": memory.sent,
        "records": journal.next_seq - 1,
        "head": journal.head.hex(),
        "day": fold.put(memory.day),
    }


def seal(table: Table, at_ms: int) -> None:
    why = unfinished(table)
    if why:
        raise NotNow("E-RUN-007", f"{why}; end it first")
    table.journal.append(RETIRED, dump(counters(table)), at_ms)
    table.journal.sync()


def put_aside(folder: Path, journal_id: str) -> Path:
    """Renamed, durable; the frame log beside it stays where it is."""
    aside = folder.with_name(f"{folder.name}.retired-{journal_id[:12]}")
    folder.rename(aside)
    parent = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)
    return aside
