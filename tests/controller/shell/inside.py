"""A desk without a process: a whole table in virtual time, its writer, its devices, no socket.

What the daemon's runtime does between its loop and the writer's thread is done at once here.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeVar, cast

from controller.commands.table_process import compose_process
from controller.config.people import ShellPerson
from controller.daemon.inputs import Beside
from controller.daemon.linking import NoLink
from controller.daemon.service import Peer
from controller.daemon.status import beside_of
from controller.daemon.writer import Released, Writer
from controller.faults.status import Status
from controller.history.replay import TEST
from controller.history.snapshot import round_body
from controller.history.table_log import Appends
from controller.rules.engine.state import Archive, Phase
from controller.shell.desk.acts import Acts
from controller.shell.desk.audit import Audit
from controller.shell.desk.desk import Access
from controller.shell.desk.recent import Recent
from hw_sim.scenario import find, load
from record.journal import Journal, Position
from tests.sim.table import VirtualTable

OWN: Final = 999
PEOPLE: Final = (
    ShellPerson("olga", "observer"),
    ShellPerson("tom", "technician", date(2030, 12, 31)),
    ShellPerson("sue", "supervisor"),
)
UIDS: Final = {1: "olga", 2: "tom", 3: "sue", 4: "eve", OWN: "underfelt"}
Seen = TypeVar("Seen")


def fed_table(scenario: str) -> VirtualTable:
    """With the readings and frames that the shell shows."""
    return VirtualTable(load(find(scenario)), recent=Recent())


def table_in(scenario: str, phase: Phase | None) -> VirtualTable:
    """Played until it is in this phase for the first time; None: to the end."""
    table = fed_table(scenario)
    table.play(lambda: phase is not None and table.writer.core.state.phase is phase)
    return table


class Watched:
    """The table's journal; whatever the shell may not write is kept."""

    def __init__(self, journal: Appends) -> None:
        self._journal, self.strange = journal, list[tuple[str, bytes]]()

    @property
    def next_seq(self) -> int:
        return self._journal.next_seq

    def append(self, kind: str, body: bytes, at_ms: int) -> Position:
        if kind != TEST and not _safe_mode(kind, body):
            self.strange.append((kind, body))
        return self._journal.append(kind, body, at_ms)


def _safe_mode(kind: str, body: bytes) -> bool:
    told = json.loads(body) if kind == "fact" else {}
    closes = ("progressive closed", "progressive opened")
    return told.get("what") in closes and told["by"] == {"device": "shell"}


class Quiet:
    """The runtime, as far as the shell reaches it. ``release``: what is released has devices."""

    def __init__(self, writer: Writer, release: Callable[[Released], None]) -> None:
        self.writer, self.overflows, self.stopped = writer, 0, list[str]()
        self._release = release
        self.listeners, self.watchers = list[Any](), list[Any]()

    @property
    def status(self) -> Status:
        return self.writer.status()

    @property
    def beside(self) -> Beside:
        return beside_of(self.writer)

    async def look(self, ask: Callable[[Writer], Seen]) -> Seen:
        return ask(self.writer)

    async def direct(self, work: Callable[[Writer, int], tuple[Any, Seen]]) -> Seen:
        released, seen = work(self.writer, self.writer.core.now_us)
        self._release(released)
        return seen

    def order(self, order: object) -> None: ...

    def probe(self, *_: object) -> bool:
        return False

    def unprobe(self) -> None: ...

    def challenge(self, *_: object) -> bool:
        return False

    def stop(self, why: str) -> None:
        self.stopped.append(why)


class Unwritten(Audit):
    """Keeps what it should write: for a million lines."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    async def note(self, uid: int, body: Any) -> None:
        self.kept = [*self.kept[-9:], (uid, body)]

    async def keep(self, kind: str, body: Any) -> None:
        self.kept = [*self.kept[-9:], (kind, body)]

    async def rows_of(self, kind: str) -> list[dict[str, Any]]:
        return [body for told, body in self.kept if told == kind]


class Inside:
    """Ask it lines; ``before`` and ``now`` are everything that may not change."""

    def __init__(
        self, table: VirtualTable, folder: Path, *, written: bool = True, plays: bool = False
    ) -> None:
        """``plays``: the table goes on in between; else its devices are still for good."""
        self.table, self.folder = table, folder
        quiet = Quiet(table.writer, table._release if plays else lambda _released: None)
        self.watched = Watched(table.writer.table_log._journal)
        table.writer.table_log._journal = self.watched
        journal = folder / "journal"
        if not journal.exists():
            _small_journal(journal)
        assert table.recent is not None
        made = compose_process(
            _config(table, journal),
            replace(table.table, link=NoLink()),
            cast(Any, SimpleNamespace(lost=0)),
            runtime=cast(Any, quiet),
            recent=table.recent,
            audit=None if written else Unwritten(),
            access=Access(lambda: PEOPLE, lambda: date(2027, 1, 1), OWN, _user_of),
        )
        self.runtime, self.desk, self.tests = quiet, made.desk, made.desk.tests
        self.acts: Acts = made.desk._table
        self.service = made.service
        self.before = self.now()

    def now(self) -> tuple[Any, ...]:
        """State, meter, wagers, journal, orders: what no line may move. That the progressive is
        kept out from the next betting on may be ordered, and is left out here."""
        writer = self.table.writer
        memory = writer.table_log.memory
        core, state = writer.core, writer.core.state
        return (
            memory._digest.of(replace(state, progressive_closed="", notes=())),
            state.meter,
            dict(state.spots),
            dict(state.credits),
            [(n, dict(seat.locked)) for n, seat in sorted(state.seats.items())],
            [one.result for one in state.history],
            tuple(self.watched.strange),
            dict(core.chips.tags),
            len(core.outbox),
            dict(writer.counts),
        )

    async def leave(self) -> None:
        """Everybody hangs up: test mode ends with it."""
        for uid in UIDS:
            self.desk.left(Peer(uid, uid))
        while self.tests._tasks:
            await asyncio.gather(*self.tests._tasks)

    async def line(self, uid: int, words: Sequence[Any], **more: Any) -> dict[str, Any]:
        return await self.raw(uid, json.dumps({"verb": "shell", "words": words, **more}).encode())

    async def raw(self, uid: int, line: bytes) -> dict[str, Any]:
        """As the socket gives it, and through JSON as the socket sends it."""
        answer = await self.service._answer(line, Peer(uid, uid))
        return cast(dict[str, Any], json.loads(json.dumps(answer)))


async def _user_of(uid: int) -> str:
    return UIDS.get(uid, "")


def _config(table: VirtualTable, journal: Path) -> Any:
    layout = table.bench.layout
    return SimpleNamespace(
        name="crash",
        game=table.scenario.game,
        table=SimpleNamespace(seats=layout.seats),
        layout=layout,
        link=None,
        simulated=True,
        service=SimpleNamespace(
            http=False, address="", port=0, socket=journal.parent / "none.sock"
        ),
        journal=SimpleNamespace(path=journal, segment_mib=4, retention_days=30),
        path=journal.parent / "table.toml",
        files=(),
        values={},
        effective_hash="0" * 64,
        layout_sha256="1" * 64,
    )


def _small_journal(path: Path) -> None:
    """For the verbs that read the journal's files."""
    journal = Journal.open(path, table="crash", now_ms=1)
    record = {"game": "MBS3", "settings": {}, "round": {"seats": [], "events": []}}
    result = {"round_status": "void", "clauses": [], "house_net": 0, "seats": []}
    journal.append("round", round_body(Archive(900, record, result)), 2)
    journal.sync()
    journal.close()


def inside(scenario: str, phase: Phase | None, *, written: bool = False) -> Inside:
    return Inside(table_in(scenario, phase), Path(tempfile.mkdtemp()), written=written)


def answered(desk: Inside, uid: int, *words: Any, **more: Any) -> dict[str, Any]:
    return asyncio.run(desk.line(uid, words, **more))
