"""Everything that must hold between the rows of a store, recomputed from the rows themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from link.rows import chain_of, staff_head
from link.store.contract import Counts
from link.store.reading import PAGE, Query
from link.store.tables import KEYS, MARK_EVERY, SEALED, Row, listed, sealed

MOST_FINDINGS: Final = 100

_SUMS: Final = (
    "SELECT pool, level, account, SUM(units) FROM (SELECT pool, level, credit AS account, units"
    " FROM entries UNION ALL SELECT pool, level, debit, -units FROM entries) AS both_sides"
    " GROUP BY pool, level, account"
)
_EVENTS: Final = (
    "SELECT id, journal, n, previous, seq, hash, at_ms, received_ms, body, chain FROM events"
    f" WHERE id > ? ORDER BY id LIMIT {PAGE}"
)


class Checker:
    """One check; ``findings`` say what does not hold and where. An empty list is the only good."""

    def __init__(
        self, query: Query, damage: list[str], between: Callable[[], object] | None = None
    ) -> None:
        """``between`` is called after every page of rows."""
        self.findings: Final = damage
        self._query = query
        self._between = between or (lambda: None)

    def run(self, recent: int | None) -> Counts:
        if self.findings:
            # Pages are damaged: what the rows say is no longer worth a word.
            return Counts(0, 0, 0, 0, 0, 0, 0, "")
        last = self._one("SELECT COALESCE(MAX(id), 0) FROM events")
        self._seals()
        chain = self._events(last, recent)
        self._staff()
        self._numbered("entries")
        self._numbered("alarms")
        self._entries(last)
        self._balances()
        self._awards(last)
        self._leader(last)
        return Counts(
            events=last,
            entries=self._count("entries"),
            balances=self._count("balances"),
            journals=self._count("journals") - 1,
            awards=self._count("awards"),
            steps=self._count("steps"),
            alarms=self._count("alarms"),
            chain=chain,
        )

    def _one(self, sql: str) -> int:
        return int(self._query(sql)[0][0])

    def _count(self, table: str) -> int:
        return self._one(f"SELECT COUNT(*) FROM {table}")

    def _found(self, text: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(text)

    def _seals(self) -> None:
        for table in SEALED:
            key = KEYS[table][0]
            for row in self._rows(table):
                if sealed(row[:-1])[-1] != row[-1]:
                    self._found(f"{table}: the row with {key} {row[0]!r} is damaged")

    def _rows(self, table: str) -> Iterator[Row]:
        sql = f"SELECT {listed(table)} FROM {table}"
        if KEYS[table] != ("id",):
            yield from self._query(sql)
            return
        after = -1
        while rows := self._query(f"{sql} WHERE id > ? ORDER BY id LIMIT {PAGE}", (after,)):
            yield from rows
            after = rows[-1][0]
            self._between()

    # --- events ------------------------------------------------------------------------------

    def _events(self, last: int, recent: int | None) -> str:
        """Ids and numbers without gaps, each row chained to the one before, watermarks and marks
        where the events end. Returns the last chain value."""
        if self._count("events") != last:
            self._found("events: the ids have gaps")
        names = {r[0]: r for r in self._query("SELECT id, journal, table_id FROM journals")}
        start = max(0, last - recent) if recent is not None else 0
        before = self._query("SELECT chain FROM events WHERE id = ?", (start,)) if start else []
        chain = before[0][0].hex() if before else ""
        ends: dict[int, tuple[int, int]] = {}
        at = start
        while rows := self._query(_EVENTS, (at,)):
            for row in rows:
                chain = self._event(row, at, chain, names, ends, whole=start == 0)
                at = row[0]
            self._between()
        self._watermarks(ends, whole=start == 0)
        self._marks(whole=start == 0)
        return chain

    def _event(
        self,
        row: Row,
        before: int,
        chain: str,
        names: dict[int, Row],
        ends: dict[int, tuple[int, int]],
        *,
        whole: bool,
    ) -> str:
        id_, journal, n, previous, seq, hash_, at_ms, received_ms, body, stored = row
        if id_ != before + 1:
            self._found(f"event {id_}: follows {before}")
        if journal not in names:
            self._found(f"event {id_}: its journal {journal} is not known")
            return str(stored.hex())
        if (whole or journal in ends) and (n - 1, previous) != ends.get(journal, (0, 0)):
            self._found(f"event {id_}: number {n} of its journal does not follow the one before")
        ends[journal] = (n, id_)
        made = chain_of(
            chain,
            id=id_,
            table=names[journal][2],
            journal=names[journal][1],
            n=n,
            seq=seq,
            hash=hash_.hex(),
            at_ms=at_ms,
            received_ms=received_ms,
            body=body,
        )
        found = str(stored.hex())
        if made != found:
            self._found(f"event {id_}: its chain value is not that of its content")
        return found

    def _watermarks(self, ends: dict[int, tuple[int, int]], *, whole: bool) -> None:
        wrong = self._query(
            "SELECT w.id FROM watermarks w JOIN events e ON e.id = w.event"
            " WHERE e.journal <> w.id OR e.n <> w.n OR e.seq <> w.seq OR e.hash <> w.hash"
        )
        for (journal,) in wrong:
            self._found(f"journal {journal}: its watermark is not its last event")
        stored = {r[0]: (r[1], r[2]) for r in self._query("SELECT id, n, event FROM watermarks")}
        for journal, end in ends.items():
            if stored.get(journal) != end:
                self._found(
                    f"journal {journal}: watermark {stored.get(journal)}, its events end at {end}"
                )
        for journal, end in stored.items():
            if whole and journal not in ends and end != (0, 0):
                self._found(f"journal {journal}: watermark {end}, and it has no event")
        missing = self._query("SELECT id FROM journals WHERE id NOT IN (SELECT id FROM watermarks)")
        for (journal,) in missing:
            self._found(f"journal {journal}: no watermark")
        ids = sorted(stored)
        if ids != list(range(len(ids))):
            self._found("journals: their numbers have gaps")

    def _marks(self, *, whole: bool) -> None:
        """Every 256th event of a journal, and nothing else."""
        wrong = self._one(
            "SELECT COUNT(*) FROM marks m LEFT JOIN events e ON e.id = m.event"
            " WHERE e.id IS NULL OR e.journal <> m.journal OR e.n <> m.n"
            f" OR m.n / {MARK_EVERY} * {MARK_EVERY} <> m.n"
        )
        due = self._one(f"SELECT COALESCE(SUM(n / {MARK_EVERY}), 0) FROM watermarks")
        if whole and (wrong or self._count("marks") != due):
            self._found("marks: not those of the events")

    def _staff(self) -> None:
        """The chain of staff orders, from its first to the one that the watermark names."""
        sql = (
            "SELECT s.number, s.head, e.id, e.journal, e.seq, e.hash, e.received_ms, e.body"
            " FROM staff s LEFT JOIN events e ON e.id = s.event WHERE s.number > ?"
            f" ORDER BY s.number LIMIT {PAGE}"
        )
        at, head = 0, ""
        while rows := self._query(sql, (at,)):
            for number, stored, event, journal, seq, hash_, received_ms, body in rows:
                if (number, journal, seq, hash_) != (at + 1, 0, number, stored):
                    self._found(f"staff order {number}: event {event} is not it, or one is missing")
                    return
                at, head = number, staff_head(head, number, received_ms, body)
                if head != stored.hex():
                    self._found(f"staff order {number}: its head is not that of its content")
                    return
            self._between()
        end = self._query("SELECT seq, hash FROM watermarks WHERE id = 0")[0]
        if (end[0], end[1].hex()) != (at, head):
            self._found(f"staff orders: they end at {at}, the watermark says {end[0]}")

    # --- money -------------------------------------------------------------------------------

    def _numbered(self, table: str) -> None:
        count, low, high = self._query(
            f"SELECT COUNT(*), COALESCE(MIN(id), 1), COALESCE(MAX(id), 0) FROM {table}"
        )[0]
        if (low, high) != (1, count):
            self._found(f"{table}: {count} rows numbered {low} to {high}")

    def _entries(self, last: int) -> None:
        wrong = self._query(
            "SELECT id FROM entries WHERE first_event > through_event OR through_event > ?"
            " OR first_event < 1 ORDER BY id LIMIT 10",
            (last,),
        )
        for (id_,) in wrong:
            self._found(f"entry {id_}: names events that are not there")
        strange = self._query(
            "SELECT DISTINCT e.pool, e.level FROM entries e WHERE NOT EXISTS"
            " (SELECT 1 FROM levels l WHERE l.pool = e.pool AND l.level = e.level)"
        )
        for pool, level in strange:
            self._found(f"{pool}/{level}: has entries and is no level")

    def _balances(self) -> None:
        """Each balance is the sum of its entries, and those of a level add up to nothing."""
        sums = {(r[0], r[1], r[2]): int(r[3]) for r in self._query(_SUMS)}
        stored = {
            (r[0], r[1], r[2]): r[3]
            for r in self._query("SELECT pool, level, account, units FROM balances")
        }
        totals: dict[tuple[str, str], int] = {}
        for key, units in stored.items():
            totals[key[:2]] = totals.get(key[:2], 0) + units
        for key in sorted(sums.keys() | stored.keys()):
            if sums.get(key, 0) != stored.get(key, 0):
                self._found(
                    f"{'/'.join(key)}: balance {stored.get(key, 0)}, entries {sums.get(key, 0)}"
                )
        for level, total in sorted(totals.items()):
            if total:
                self._found(f"{'/'.join(level)}: the balances add up to {total}, not to 0")

    # --- awards, leaders ---------------------------------------------------------------------

    def _awards(self, last: int) -> None:
        steps: dict[str, list[tuple[int, str]]] = {}
        for award, step, state in self._query(
            "SELECT award, step_no, state FROM steps ORDER BY award, step_no"
        ):
            steps.setdefault(award, []).append((step, state))
        for award, state, event in self._query("SELECT award, state, event FROM awards"):
            taken = steps.pop(award, [])
            if [step for step, _ in taken] != list(range(1, len(taken) + 1)):
                self._found(f"award {award}: its steps have gaps")
            if not taken or taken[-1][1] != state:
                self._found(f"award {award}: {state}, and its last step says otherwise")
            states = [""] + [s for _, s in taken]
            if sum(b == "paid" != a for a, b in pairwise(states)) > 1:
                self._found(f"award {award}: paid more than once")
            if not 0 < event <= last:
                self._found(f"award {award}: its claim is event {event}, which is not there")
        for award in steps:
            self._found(f"award {award}: has steps and no row")

    def _leader(self, last: int) -> None:
        """I13: an epoch begins where the one before it ended, never earlier."""
        began = self._query("SELECT epoch, after_event FROM epochs ORDER BY epoch")
        for (_, before), (epoch, after) in pairwise([(0, 0), *began, (0, last)]):
            if after < before:
                name = f"epoch {epoch} begins" if epoch else "the events end"
                self._found(f"{name} after event {after}, the epoch before after {before}")
        newest = self._one("SELECT COALESCE(MAX(epoch), 0) FROM epochs")
        rows = self._query("SELECT epoch FROM leader")
        if [r[0] for r in rows] != ([newest] if newest else []):
            self._found(f"leader: epoch {rows}, the last one given was {newest}")
