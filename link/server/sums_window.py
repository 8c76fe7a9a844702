"""The sums of the last hours and gaming days, for those who follow.

Loaded from the store span by span while somebody follows, then kept up to date by the groups that
are committed. What is over and what is not are told apart: only the latter changes with play.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from link.ledger.units import to_cents
from link.reports.days import GamingDays
from link.rows import SLICE_MS, SumRow
from link.store.contract import Span

HOUR_MS: Final = 3_600_000
MOST_ROWS: Final = 5_000
"""Of all hours, and of all days. Of a floor with more tables the oldest are left out."""
COLUMNS: Final = (
    "pool", "level", "table", "wagers", "wagered_cents", "rounds", "hands", "in_units", "hits",
    "win_cents",
)  # fmt: skip

Kind = Literal["hours", "days"]
Key = tuple[str, str, str]
Begins = tuple[Kind, int]
MOST: Final[dict[Kind, int]] = {"hours": 48, "days": 14}
KINDS: Final[tuple[Kind, Kind]] = ("hours", "days")


class SumsWindow:
    def __init__(self, days: GamingDays) -> None:
        self._days = days
        self._held: dict[Begins, dict[Key, list[int]]] = {}
        self._missing: list[tuple[Begins, Span]] = []
        """The next to be loaded last."""
        self._now: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self.ready = False

    def clear(self) -> None:
        """Nobody follows: what is committed from now on is not counted here."""
        self._held, self._missing, self.ready = {}, [], False

    def begin(self, now_ms: int) -> None:
        """Somebody follows again: all of it is to be loaded, what is newest first."""
        self.clear()
        self._now = {kind: self._begun(kind, now_ms) for kind in KINDS}
        wanted = [one for kind in KINDS for one in self._past(kind)]
        self._missing = sorted(wanted, key=lambda one: one[0][1])
        self.ready = True

    @property
    def complete(self) -> bool:
        return not self._missing

    def load(self, sums: Callable[[Span], list[SumRow]], until: Callable[[], bool]) -> None:
        """Span by span, at least one, as long as there is time."""
        while self._missing:
            begins, span = self._missing[-1]
            self._held[begins] = {_key(row): _counts(row) for row in sums(span)}
            self._missing.pop()  # only now: it is tried again if the store fails
            if until():
                return

    def add(self, rows: Iterable[SumRow]) -> None:
        """A group is durable; what is not loaded yet will have it."""
        for row in rows:
            for kind in KINDS:
                at_ms = self._begun(kind, row.at_ms)
                held = self._held.get((kind, at_ms))
                if held is None and at_ms > self._now[kind]:
                    held = self._held[kind, at_ms] = {}
                if held is not None:
                    found = held.setdefault(_key(row), [0] * 7)
                    for place, count in enumerate(_counts(row)):
                        found[place] += count

    def roll(self, now_ms: int) -> bool:
        """Whether an hour is over since the last time."""
        now = {kind: self._begun(kind, now_ms) for kind in KINDS}
        if now["hours"] <= self._now["hours"]:
            return False
        self._now = now
        first = {kind: min(at for (_, at), _ in self._past(kind)) for kind in KINDS}
        self._held = {
            begins: held for begins, held in self._held.items() if begins[1] >= first[begins[0]]
        }
        self._missing = [one for one in self._missing if one[0][1] >= first[one[0][0]]]
        for kind in KINDS:
            self._held.setdefault((kind, now[kind]), {})
        return True

    # --- time -------------------------------------------------------------------------------------

    def hour_of(self, at_ms: int) -> int:
        """When this hour of the house's clock began."""
        offset = datetime.fromtimestamp(at_ms // 1000, UTC).astimezone(self._days.zone).utcoffset()
        ahead_ms = (offset or timedelta()) // timedelta(milliseconds=1)
        return (at_ms + ahead_ms) // HOUR_MS * HOUR_MS - ahead_ms

    def day_of(self, at_ms: int) -> int:
        """When the gaming day of this slice began, at a slice."""
        day = self._days.day_of(at_ms // SLICE_MS * SLICE_MS + SLICE_MS - 1)
        return self._days.begins_ms(day) // SLICE_MS * SLICE_MS

    def _begun(self, kind: Kind, at_ms: int) -> int:
        return self.hour_of(at_ms) if kind == "hours" else self.day_of(at_ms)

    def _past(self, kind: Kind) -> Iterator[tuple[Begins, Span]]:
        """The present one and those before it."""
        begins = self._now[kind]
        after = begins + HOUR_MS if kind == "hours" else self.day_of(begins + 36 * HOUR_MS)
        for _ in range(MOST[kind]):
            yield (kind, begins), Span(begins, after)
            after, begins = begins, self._begun(kind, begins - 1)

    # --- parts ------------------------------------------------------------------------------------

    def past(self) -> Any:
        """Hours and gaming days that are over, oldest first."""
        return {"columns": COLUMNS} | {kind: self._over(kind) for kind in KINDS}

    def _over(self, kind: Kind) -> list[Any]:
        found: list[Any] = []
        left = MOST_ROWS
        for begins in sorted((b for b in self._held if b[0] == kind), reverse=True):
            left -= len(self._held[begins])
            if left < 0:
                break
            if begins[1] < self._now[kind]:
                found.append(self._told(begins))
        return found[::-1]

    def present(self) -> Any:
        """The hour and the gaming day that it is."""
        return {
            "columns": COLUMNS,
            "hour": self._told(("hours", self._now["hours"])),
            "day": self._told(("days", self._now["days"])),
        }

    def _told(self, begins: Begins) -> Any:
        kind, at_ms = begins
        rows = [
            (*key, *found[:4], str(found[4]), found[5], to_cents(found[6]))
            for key, found in sorted(self._held.get(begins, {}).items())[:MOST_ROWS]
            if any(found)
        ]
        told: dict[str, Any] = {"at_ms": at_ms, "rows": rows}
        if kind == "days":
            told["day"] = self._days.day_of(at_ms + SLICE_MS - 1).isoformat()
        return told


def _key(row: SumRow) -> Key:
    return row.pool, row.level, row.table


def _counts(row: SumRow) -> list[int]:
    return [
        row.wagers, row.wagered_cents, row.rounds, row.hands, row.in_units, row.hits, row.win_units,
    ]  # fmt: skip
