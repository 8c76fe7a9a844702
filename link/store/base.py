"""What both stores share: every statement that means something, in SQL that both understand.

A subclass knows how to reach its database: run a statement, run one for many rows, begin, commit,
roll back, and what an error of its driver says about the group. ``?`` stands for a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from link.rows import (
    AlarmRow,
    AwardRow,
    AwardStep,
    Entry,
    EventRow,
    Group,
    JournalRow,
    Saved,
    Standing,
    SumRow,
)
from link.store import reading
from link.store import tables as t
from link.store.checking import Checker
from link.store.contract import ALWAYS, INT64_MAX, Counts, Leader, Manifest, Numbered, Span
from link.store.errors import (
    Broken,
    Conflict,
    Failed,
    Fenced,
    Missing,
    Rewound,
    StoreError,
    Unknown,
)
from link.store.migrations import TABLE, Dialect, Migration, migrations, pending
from link.store.plan import MOVE, PAY, RESTATE, CommitPlan, Known, StoredJournal, plan
from link.store.summing import ADD, check_sums, fill
from link.store.tables import RESTORE, Row

T = TypeVar("T")

_NEW: Final = ("entries", "balances", "steps", "alarms", "marks", "staff")
_REPLACED: Final = ("levels", "awards", "keys", "accounts")


class Store(ABC):
    """Opened by ``link.store.open_store``.

    A store has one owner: one thread of one process. ``commit`` takes a whole group or nothing;
    what it raises says which. After ``Fenced``, ``Conflict``, ``Broken`` or ``NotStorable`` the
    ledger in memory is not what is stored: stop, or load again. After ``Failed`` the same group may
    be given again. After ``Unknown`` ask ``settle`` with the same group until it answers.
    """

    dialect: ClassVar[Dialect]
    clock: ClassVar[str]
    """SQL: the database's time in milliseconds."""
    fence: ClassVar[str] = "SELECT epoch FROM leader WHERE id = 1"
    """SQL: the epoch, so that nobody can raise it before this transaction ends."""

    def __init__(self, place: str, steps: Sequence[Migration] | None = None) -> None:
        self.place: Final = place
        self._steps: Final = migrations(self.dialect) if steps is None else tuple(steps)
        self._pending: tuple[Migration, ...] = ()
        self._known: Known | None = None

    # --- the database ------------------------------------------------------------------------

    @abstractmethod
    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement; its rows."""

    @abstractmethod
    def change(self, sql: str, rows: Sequence[Row]) -> int:
        """Run a statement for each row; how many rows it changed in all."""

    @abstractmethod
    def append(self, table: str, rows: Sequence[Row]) -> None:
        """New rows, many of them."""

    @abstractmethod
    def _begin(self, *, snapshot: bool) -> None:
        """``snapshot``: everything read in it is of one moment."""

    @abstractmethod
    def _commit(self) -> None:
        """Raises ``Unknown`` if it may have happened, another ``StoreError`` if it has not."""

    @abstractmethod
    def _rollback(self) -> None: ...

    @abstractmethod
    def _mapped(self) -> Any:
        """A context in which errors of the driver become errors of the store."""

    @abstractmethod
    def close(self) -> None: ...

    @contextmanager
    def transaction(self, *, snapshot: bool = False) -> Iterator[None]:
        """All or nothing; whatever goes wrong in it, what is remembered is read again."""
        try:
            with self._mapped():
                self._begin(snapshot=snapshot)
                try:
                    yield
                    self._commit()
                except BaseException:
                    self._rollback()
                    raise
        except BaseException:
            self._known = None
            raise

    def attempt(self, act: Callable[[], T], *, snapshot: bool = False) -> T:
        """``act`` in a transaction. Where the database may ask for another try, it gets the same
        rows again."""
        with self.transaction(snapshot=snapshot):
            return act()

    # --- schema ------------------------------------------------------------------------------

    @abstractmethod
    def _has_table(self, name: str) -> bool: ...

    def _applied(self) -> list[tuple[int, str, str]]:
        if not self._has_table("migrations"):
            return []
        rows = self.query("SELECT number, name, sha256 FROM migrations ORDER BY number")
        return [(number, name, sha256) for number, name, sha256 in rows]

    def _read_schema(self) -> None:
        self._pending = pending(self.place, self._applied(), self._steps)

    def migrate(self, *, at_ms: int) -> tuple[str, ...]:
        """Bring the schema up to this program's; the names of the steps taken."""
        taken: list[str] = []
        while True:
            name = self.attempt(lambda: self._next_step(at_ms))
            self._read_schema()
            if not name:
                return tuple(taken)
            taken.append(name)

    def _next_step(self, at_ms: int) -> str:
        """One step and its record in one transaction: interrupted anywhere, it never was."""
        self._lock_schema()
        self._read_schema()
        if not self._pending:
            return ""
        step = self._pending[0]
        self.query(TABLE)
        for statement in step.statements:
            self.query(statement)
        if step.name == "0003_sums":
            fill(self.query, self.change)
        row = (step.number, step.name, step.sha256, at_ms)
        self.query("INSERT INTO migrations VALUES (?, ?, ?, ?)", row)
        return step.name

    @abstractmethod
    def _lock_schema(self) -> None:
        """Two programs that migrate at the same time take turns."""

    @abstractmethod
    def unhurried(self) -> None:
        """In a transaction that may take long: no limit of time."""

    @property
    def schema(self) -> int:
        return len(self._steps) - len(self._pending)

    def _ready(self) -> None:
        if self._pending:
            raise Missing(
                self.place,
                f"the schema is {self.schema}, this program needs {len(self._steps)};"
                " a server brings it up to date at its start",
            )

    # --- who leads ---------------------------------------------------------------------------

    def lead(self, holder: str, lease_ms: int, above: int = 0) -> int | None:
        """Take the lead: a new epoch above every one before it and ``above``, or None while another
        holder's lease lasts. The lease counts by the database's clock. The same holder is given a
        new epoch at once: its name must be its own."""
        self._ready()
        return self.attempt(lambda: self._take_lead(holder, lease_ms, above))

    def _take_lead(self, holder: str, lease_ms: int, above: int) -> int | None:
        now = self.query(f"SELECT {self.clock}")[0][0]
        found = self.locked_leader()
        if found is not None:
            _, other, lease, renewed = found
            if other != holder and now < renewed + lease and not self._predecessor_is_gone():
                return None
        return self.raise_epoch(holder, lease_ms, above)

    def raise_epoch(self, holder: str, lease_ms: int, above: int = 0) -> int:
        """In a transaction: a new epoch above every one that was given here, and ``above``."""
        given: int = self.query("SELECT COALESCE(MAX(epoch), 0) FROM epochs")[0][0]
        now: int = self.query(f"SELECT {self.clock}")[0][0]
        if holder == RESTORE:
            # What was given since the backup nobody knows any more; but never one in a second.
            above = max(above, now // 1_000)
        epoch = max(given, above) + 1
        self.query(t.upsert("leader"), (1, epoch, holder, lease_ms, now))
        self.query(t.insert("epochs"), (epoch, holder, now, self._last("events")))
        self._known = None
        return epoch

    def locked_leader(self) -> Row | None:
        """In a transaction: epoch, holder, lease, renewed; no group is committed until it ends."""
        rows = self.query("SELECT epoch, holder, lease_ms, renewed_ms FROM leader WHERE id = 1")
        return rows[0] if rows else None

    def _predecessor_is_gone(self) -> bool:
        """Whether a lease may be broken because its holder certainly no longer runs."""
        return False

    def renew(self, epoch: int) -> None:
        """Renew the lease; ``Fenced`` if the epoch is not the leader's."""
        self.attempt(lambda: self._set_renewed(epoch, self.clock))

    def _set_renewed(self, epoch: int, when: str) -> None:
        statement = f"UPDATE leader SET renewed_ms = {when} WHERE id = 1 AND epoch = ?"
        if self.change(statement, [(epoch,)]) != 1:
            raise self._fenced(epoch)

    def _fenced(self, epoch: int) -> Fenced:
        rows = self.query("SELECT epoch, holder FROM leader WHERE id = 1")
        who = f"epoch {rows[0][0]} of {rows[0][1]} leads" if rows else "nobody leads"
        return Fenced(self.place, f"epoch {epoch} is over: {who}")

    def resign(self, epoch: int) -> None:
        """End the lease now, so that another may lead at once. Nothing if somebody else leads."""

        def act() -> None:
            self.change("UPDATE leader SET lease_ms = 0 WHERE id = 1 AND epoch = ?", [(epoch,)])

        self.attempt(act)

    def leader(self) -> Leader | None:
        """None before the first."""
        rows = self._read(
            f"SELECT epoch, holder, renewed_ms + lease_ms - {self.clock} FROM leader WHERE id = 1"
        )
        return Leader(*rows[0]) if rows else None

    # --- a group -----------------------------------------------------------------------------

    def commit(self, group: Group) -> None:
        """All of it, durably, or none."""
        self._ready()
        known = self._known or self.know()
        try:
            made = plan(self.place, group, known)
        except StoreError:
            # What another leader has committed meanwhile does not fit either: say why.
            self.attempt(lambda: self._hold(group.epoch))
            raise
        self.attempt(lambda: self.write(group.epoch, made))
        known.adopt(made)
        self._known = known

    def know(self) -> Known:
        with self._mapped():
            rows = self.query(
                "SELECT j.id, j.journal, j.table_id, j.state, j.why, j.accepted_by, w.n, w.event"
                " FROM journals j JOIN watermarks w ON w.id = j.id"
            )
            held = {
                r[1]: StoredJournal(r[0], (r[2], r[3], r[4], t.to_names(r[5])), r[6], r[7])
                for r in rows
            }
            last = [self._last(name) for name in ("events", "entries", "alarms")]
            keys = {(r[0], r[1], r[2]) for r in self.query("SELECT * FROM balances")}
            staff = self.query("SELECT COALESCE(MAX(number), 0) FROM staff")[0][0]
            return Known(last[0], last[1], last[2], staff, held, keys)

    def _last(self, table: str) -> int:
        return int(self.query(f"SELECT COALESCE(MAX(id), 0) FROM {table}")[0][0])

    def write(self, epoch: int, made: CommitPlan) -> None:
        """In a transaction: the fence, then every row, each comparison with what was stored."""
        self._hold(epoch)
        for name in ("journals", "watermarks"):
            if made.rows[name]:
                self.change(t.insert(name), made.rows[name])
        if made.restated:
            self.change(RESTATE, made.restated)
        if made.moved and self._move(made.moved) != len(made.moved):
            raise Conflict(self.place, "a watermark is not what the group was built on")
        if made.rows["events"]:
            self.append("events", made.rows["events"])
        if made.paid and self.change(PAY, made.paid) != len(made.paid):
            raise Broken(self.place, "a stored balance is not what the entries say")
        for name in _REPLACED:
            if made.replaced[name]:
                self.change(t.upsert(name), made.replaced[name])
        for name in _NEW:
            if made.rows[name]:
                self.change(t.insert(name), made.rows[name])
        if made.rows["sums"]:
            self.change(ADD, made.rows["sums"])

    def _hold(self, epoch: int) -> None:
        rows = self.query(self.fence)
        if not rows or rows[0][0] != epoch:
            raise self._fenced(epoch)

    def _move(self, rows: Sequence[Row]) -> int:
        return self.change(MOVE, rows)

    def settle(self, group: Group) -> bool:
        """The question is asked in a transaction that waits for the group's to end and is itself
        as durable as a group must be: its answer holds."""

        def act() -> bool:
            self._set_renewed(group.epoch, self.clock)
            return reading.has(self.query, group)

        try:
            return self.attempt(act)
        except Failed as error:
            raise Unknown(self.place, f"nobody to ask: {error.what}") from error

    # --- reading -----------------------------------------------------------------------------

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        self._ready()
        with self._mapped():
            return self.query(sql, values)

    def load(self) -> Saved:
        """What the ledger needs to go on. Call ``check`` first."""
        self._ready()
        return self.attempt(lambda: reading.load(self.query), snapshot=True)

    def standing(self, *, awards: bool = False) -> Standing:
        """Balances and levels, and open awards if asked for, at one moment."""
        self._ready()
        return self.attempt(lambda: reading.standing(self.query, awards=awards), snapshot=True)

    def caution(self) -> str:
        """What a person should know about what this store does not promise; or nothing."""
        return ""

    def check(
        self, *, recent: int | None = None, between: Callable[[], object] | None = None
    ) -> Counts:
        """Everything that must hold; ``Broken`` with every finding. ``recent`` limits the chain and
        the numbers of events to the last so many. ``between`` is called again and again."""
        self._ready()
        return self.attempt(lambda: self.checked(recent, between), snapshot=True)

    def checked(self, recent: int | None, between: Callable[[], object] | None = None) -> Counts:
        """In a transaction, so that all of it is of one moment."""
        checker = Checker(self.query, self._damage(whole=recent is None), between)
        counts = checker.run(recent)
        if checker.findings:
            raise Broken(self.place, *checker.findings)
        return counts

    def check_sums(self) -> int:
        """How many sums there are; ``Broken`` with those that differ from what they come from."""
        self._ready()
        return self.attempt(lambda: check_sums(self.query, self.place), snapshot=True)

    def _damage(self, *, whole: bool) -> list[str]:  # noqa: ARG002
        """What the database itself finds wrong with its pages."""
        return []

    @abstractmethod
    def tend(self) -> None:
        """Housekeeping that can wait; the server calls it when no message waits."""

    def event(self, journal: str, n: int) -> EventRow | None:
        """Event ``n`` of a journal, or order ``n`` with journal ``""``."""
        return reading.event(self._read, journal, n)

    def last_ms(self) -> int:
        """The latest time at which an event was received; 0 if there is none."""
        return int(self._read("SELECT COALESCE(MAX(received_ms), 0) FROM events")[0][0])

    def chain_of(self, event: int) -> str:
        """The chain value of the event with this id; empty if there is none."""
        rows = self._read("SELECT chain FROM events WHERE id = ?", (event,))
        return rows[0][0].hex() if rows else ""

    def restored_since(self, epoch: int) -> int | None:
        """The last event that a restore after this epoch began with; None if there was none."""
        sql = "SELECT MIN(after_event) FROM epochs WHERE holder = ? AND epoch > ?"
        found: int | None = self._read(sql, (RESTORE, epoch))[0][0]
        return found

    def rewound(self) -> str:
        """The alarm that says the store went back, unless a restore explained it since."""
        rows = self._read(
            "SELECT said FROM alarms WHERE code = ? AND event > (SELECT COALESCE(MAX(after_event),"
            " -1) FROM epochs WHERE holder = ?) ORDER BY id LIMIT 1",
            (Rewound.code, RESTORE),
        )
        return rows[0][0] if rows else ""

    def events(
        self,
        span: Span = ALWAYS,
        *,
        table: str | None = None,
        journal: str | None = None,
        after: int = 0,
        upto: int = INT64_MAX,
    ) -> Iterator[EventRow]:
        """In order of record, by the time they were received. No read transaction stays open
        between two rows: a slow reader holds nothing up. Only ids above ``after`` and up to
        ``upto`` are looked at, here and below."""
        return reading.events(self._read, span, table, journal, (after, upto))

    def events_before(self, span: Span) -> int:
        """The id before the first event of the span."""
        return reading.events_before(self._read, span)

    def entries(
        self,
        span: Span = ALWAYS,
        *,
        pool: str | None = None,
        level: str | None = None,
        after: int = 0,
        upto: int = INT64_MAX,
    ) -> Iterator[Entry]:
        """By the time of their last event."""
        return reading.entries(self._read, span, pool, level, (after, upto))

    def awards(self, span: Span = ALWAYS, *, pool: str | None = None) -> Iterator[AwardRow]:
        """By the time of their claim."""
        return reading.awards(self._read, span, pool)

    def steps(self, span: Span = ALWAYS, *, award: str | None = None) -> Iterator[AwardStep]:
        return reading.steps(self._read, span, award)

    def sums(self, span: Span = ALWAYS) -> list[SumRow]:
        """By pool, level and table, added up; a span of whole slices."""
        return reading.sums(self._read, span)

    def staff(self) -> Iterator[EventRow]:
        """The chain of staff orders, from its first."""
        return reading.staff(self._read)

    def alarms(
        self,
        span: Span = ALWAYS,
        *,
        table: str | None = None,
        after: int = 0,
        upto: int = INT64_MAX,
    ) -> Iterator[AlarmRow]:
        return reading.alarms(self._read, span, table, (after, upto))

    def last_id(self, table: Numbered) -> int:
        """0 if it has no rows."""
        with self._mapped():
            return self._last(table)

    def journals(self) -> Iterator[JournalRow]:
        return iter(reading.journals(self._read))

    def latest_alarms(self, most: int, *, before: int = INT64_MAX) -> list[AlarmRow]:
        """Newest first, with ids below ``before``."""
        return reading.latest_alarms(self._read, most, before)

    def latest_journals(self, most: int, *, before: str = "", prefix: str = "") -> list[JournalRow]:
        """Newest first, only those that came before journal ``before`` and whose ids begin with
        ``prefix``, hexadecimal digits."""
        return reading.latest_journals(self._read, most, before, prefix)

    def latest_awards(self, most: int, *, before: str = "") -> list[AwardRow]:
        """Newest first, only those claimed before award ``before``."""
        return reading.latest_awards(self._read, most, before)

    @abstractmethod
    def backup(
        self,
        path: Path,
        *,
        at_ms: int,
        between: Callable[[], None] | None = None,
        verify: bool = True,
    ) -> Manifest:
        """A consistent copy and, at ``path`` + ``.manifest``, its manifest. ``between`` is called
        again and again while it is written: commits may go on in it. ``verify`` reads the copy back
        and checks it whole; a server that must go on leaves that to ``verify_backup`` in another
        process."""
