"""PURE: which alarms are open, and who has acknowledged them.

Rows of alarms are a record and never change. Here they are what people attend to: rows of one code
and one table are one alarm from the first until it clears. Where there is no table, rows are one
alarm if they are about the same account, user or address. Acknowledged, it is silent: further rows
only count. When it has cleared it is armed again: the next row opens another one.

An alarm whose cause the server can see clears when the cause is over. Of a moment (a refused
handshake, a wrong password) it clears when it was acknowledged and is quiet for a while, or after a
day.

People say what becomes of a halted journal. An order that resumes it clears the alarms of its
table. Where the board is made again from the record, other orders about a journal leave open
whether they did: then the next row of the same code opens an alarm of its own, so that what was
acknowledged before never hides it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import msgspec

from link.ledger import orders
from link.ledger.orders import Given
from link.rows import AlarmRow, EventRow

QUIET_MS: Final = 600_000
OLD_MS: Final = 86_400_000
MOST_OPEN: Final = 200
MOST_ABOUT: Final = 20
"""Of one code about accounts, users or addresses: who can choose addresses hides nothing else."""
_ABOUT: Final = re.compile(r"(account [^ ]+|user [^ ]+ of this machine|address [^ ]+): ")

Key = tuple[str, str, str]
"""Code, table, and whom it is about where there is no table."""
Stands = Callable[[str, str], bool | None]
"""Whether the cause of a code at a table stands; None: the server cannot see."""
TableOf = Callable[[str], str]
"""The table of a journal; empty if it is not known."""


def about(row: AlarmRow) -> str:
    """Whom a row without a table is about: its text begins with that. Empty if nobody is named."""
    found = None if row.table else _ABOUT.match(row.text)
    return found[1] if found else ""


class Acknowledged(NamedTuple):
    by: str
    reason: str
    at_ms: int


class Attended(NamedTuple):
    """What people did about alarms, in the order of the record."""

    event: int
    at_ms: int
    alarm: int = 0
    said: Acknowledged | None = None
    """They acknowledged this alarm."""
    journal: str = ""
    resumed: bool = False
    """They decided about this journal."""


def attended(row: EventRow, given: Given) -> Attended | None:
    """None: the order is about something else."""
    order, at_ms = given.order, row.received_ms
    match order:
        case orders.AcknowledgeAlarm():
            said = Acknowledged(given.by[0].account, order.why, at_ms)
            return Attended(row.id, at_ms, order.alarm, said)
        case orders.Resume():
            return Attended(row.id, at_ms, journal=order.journal, resumed=True)
        case orders.Accept() | orders.Retire() | orders.Restore():
            return Attended(row.id, at_ms, journal=order.journal) if order.journal else None
    return None


class OpenAlarm(msgspec.Struct):
    alarm: int
    """The id of the row that opened it: what people acknowledge."""
    code: str
    table: str
    about: str
    text: str
    at_ms: int
    last_ms: int
    """When it opened, and when it was last raised."""
    count: int = 1
    acknowledged: Acknowledged | None = None
    stood: bool = False
    """The server has seen its cause."""
    loose: bool = False
    """It may be over; a board that was made again cannot say."""


def nothing_seen(_code: str, _table: str) -> bool | None:
    return None


def no_table(_journal: str) -> str:
    return ""


class AlarmBoard:
    def __init__(self) -> None:
        self._open: dict[Key, OpenAlarm] = {}

    def rebuild(
        self,
        rows: Iterable[AlarmRow],
        acts: Iterable[Attended],
        table_of: TableOf = no_table,
        stands: Stands = nothing_seen,
    ) -> AlarmBoard:
        """As it was: rows oldest first, and what people did about them. ``stands`` is of now."""
        waiting = deque(acts)
        for row in rows:
            while waiting and waiting[0].event < row.event:
                self._again(waiting.popleft(), table_of, stands)
            self._pass(row.at_ms, stands)
            self.raised(row)
        for act in waiting:
            self._again(act, table_of, stands)
        return self

    def _again(self, act: Attended, table_of: TableOf, stands: Stands) -> None:
        self._pass(act.at_ms, stands)
        self.attend(act, table_of)
        for one in self._open.values():
            if act.journal and one.table and one.table == table_of(act.journal):
                one.loose = True

    def _pass(self, now_ms: int, stands: Stands) -> None:
        """Time goes by. An alarm of a cause that stands now is never over for its age; but the
        cause may be a later one."""
        for key, one in list(self._open.items()):
            if _is_over(one, now_ms, None):
                if stands(one.code, one.table):
                    one.loose = True
                else:
                    del self._open[key]

    def attend(self, act: Attended, table_of: TableOf) -> None:
        if act.said is not None:
            self.acknowledge(act.alarm, act.said)
        if act.resumed and (of := table_of(act.journal)):
            self._open = {key: one for key, one in self._open.items() if one.table != of}

    def raised(self, row: AlarmRow) -> bool:
        """True if people are to notice it: it is not acknowledged."""
        key = (row.code, row.table, about(row))
        known = self._open.get(key)
        if known is None or known.loose:
            if known is None:
                self._make_room(*key)
            self._open[key] = OpenAlarm(row.id, *key, row.text, row.at_ms, row.at_ms)
            return True
        known.text, known.last_ms = row.text, row.at_ms
        known.count += 1
        return known.acknowledged is None

    def _make_room(self, code: str, _table: str, subject: str) -> None:
        """For one more: what was acknowledged gives way first, then what was raised longest ago."""
        alike = [key for key, one in self._open.items() if one.about and one.code == code]
        if subject and len(alike) >= MOST_ABOUT:
            del self._open[min(alike, key=self._gives_way)]
        elif len(self._open) >= MOST_OPEN:
            del self._open[min(self._open, key=self._gives_way)]

    def _gives_way(self, key: Key) -> tuple[bool, int]:
        one = self._open[key]
        return one.acknowledged is None, one.last_ms

    def find(self, alarm: int) -> OpenAlarm | None:
        return next((one for one in self._open.values() if one.alarm == alarm), None)

    def acknowledge(self, alarm: int, said: Acknowledged) -> bool:
        """False if it is not open."""
        found = self.find(alarm)
        if found is not None:
            found.acknowledged = said
        return found is not None

    def refresh(self, now_ms: int, stands: Stands = nothing_seen) -> bool:
        """Clear what is over; True if anything was."""
        over = [
            key
            for key, one in self._open.items()
            if _is_over(one, now_ms, stands(one.code, one.table))
        ]
        for key in over:
            del self._open[key]
        return bool(over)

    def shown(self) -> list[OpenAlarm]:
        """Newest first."""
        return sorted(self._open.values(), key=lambda one: one.alarm, reverse=True)


def _is_over(one: OpenAlarm, now_ms: int, stands: bool | None) -> bool:
    if stands:
        one.stood = True
        return False
    if one.stood or stands is False:
        return True
    if one.acknowledged is None:
        return now_ms - one.last_ms >= OLD_MS
    return now_ms - max(one.last_ms, one.acknowledged.at_ms) >= QUIET_MS
