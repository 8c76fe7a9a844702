"""A floor of real processes: a link server, tables with a load, tables with devices and people.

Everything is in one folder. A process is killed by its id and started again with the same words;
each one dies with the test, so that nothing is left behind.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hw_sim.scenario import HERE, find, load
from record.journal import JournalError
from record.journal.reader import JournalReader
from record.link.keys import load_public
from tests.controller.link.files import with_link
from tests.e2e.table import ROOT, configure, environment, underfelt
from tests.kills.checker import Book, book_of, check_all, check_promises
from tests.kills.sums import CONFIG
from tests.kills.witness import Witness
from tests.patience import PATIENCE_S
from tests.ports import two_ports

LOOK_S: Final = 0.02
QUICK_S: Final = 0.001
DAWDLE_S: Final = 30.0
"""A round of people has two or three events."""
PASSWORD: Final = "three cards and a river"
SETTINGS: Final = "[server]\nbeat_ms = 500\nlease_ms = 1000\n"
CLI: Final = (sys.executable, "-m", "controller.cli")
DIES_WITH_US: Final = ("setpriv", "--pdeathsig", "KILL")
"""Below those that connections are given: nobody takes the port while the server is dead."""
DEVICES: Final = {"mbs3": "MBS3", "mega": "MEGA"}
"""Reference tables whose games have a progressive."""
ROUNDS: Final = 5_000
"""More than anybody plays."""


class GaveUp(Exception):
    """Something never came."""


def until(seen: Callable[[], bool], what: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not seen():
        if time.monotonic() > end:
            raise GaveUp(what())
        time.sleep(LOOK_S)


@dataclass
class Worker:
    """One process after the other, all with the same words."""

    name: str
    words: Sequence[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *self.words], cwd=ROOT, env=environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self.starts += 1

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def end(self, how: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        if self.alive:
            self.end(signal.SIGKILL)

    def last_words(self) -> str:
        return self.log.read_text("utf-8", errors="replace")[-400:].strip()


@dataclass
class Table:
    worker: Worker
    folder: Path
    witness: Witness
    people: Worker | None = None
    """The simulator of a table with devices; nobody kills it."""
    _journal: str = field(default="", init=False)

    @property
    def name(self) -> str:
        return self.worker.name

    @property
    def journal(self) -> str:
        """Its id, once there is one."""
        if not self._journal:
            try:
                self._journal = JournalReader(self.folder / "journal").report().journal_id
            except JournalError:
                return ""
        return self._journal


class Floor:
    """``server``: the words that the server is started with, ``underfelt link`` if not stated."""

    def __init__(
        self,
        folder: Path,
        *,
        loads: int,
        devices: Sequence[str] = (),
        store: str = "sqlite:link.db",
        seed: str = "1",
        server: Sequence[str] = CLI,
    ) -> None:
        self.folder, self.seed = folder, seed
        folder.mkdir(parents=True)
        self.config = folder / "link" / "link.toml"
        self.port = two_ports()
        names = [f"load-{n}" for n in range(1, loads + 1)]
        self._init(store, {**dict.fromkeys(names, "MBS3"), **{n: DEVICES[n] for n in devices}})
        self.where = str(folder / "link" / "link.db") if store.startswith("sqlite:") else store
        words = [*server, "link", "--config", str(self.config)]
        self.server = Worker("server", words, folder / "server.log")
        self.names = (*names, *devices)
        self.tables: list[Table] = []
        self.problems: list[str] = []
        self._people: list[Worker] = []

    # --- making it ------------------------------------------------------------------------------

    def _run(self, *words: str, stdin: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [*CLI, *words], cwd=ROOT, env=environment(), input=stdin, text=True,
            capture_output=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def _init(self, store: str, games: dict[str, str]) -> None:
        code, said = self._run(
            "link", "init", str(self.config.parent), "--account=m.ng=manager",
            "--account=k.lee=supervisor", "--passwords-stdin",
            "--store", store, "--port", str(self.port), stdin=f"{PASSWORD}\n" * 2,
        )  # fmt: skip
        if code:
            raise GaveUp(f"link init: {said}")
        tables = ", ".join(f'{name} = "{game}"' for name, game in games.items())
        text = self.config.read_text("utf-8").replace("[server]\n", SETTINGS)
        self.config.write_text(text + CONFIG.format(tables=tables), "utf-8")

    @property
    def endpoint(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    @property
    def server_key(self) -> Path:
        return self.config.parent / "link.pub"

    def _load(self, name: str) -> Table:
        folder = self.folder / name
        folder.mkdir()
        (folder / "table.toml").touch()
        with_link(folder / "table.toml", [self.endpoint], self.server_key)
        words = [sys.executable, "-m", "tests.kills.load", str(folder), name]
        words += [self.endpoint, str(self.server_key), self.seed]
        return self._table(name, folder, words)

    def _real(self, name: str) -> Table:
        """The simulator makes the folder, with the people at the table waiting for the daemon."""
        folder = self.folder / name
        game = DEVICES[name]
        people = Worker(
            f"people of {name}",
            [*CLI, "sim", "--layout", str(HERE / "tables" / f"{name}.toml"), "--game", game,
             "--random", str(ROUNDS), "--seed", str(zlib.crc32(self.seed.encode())),
             "--link-elsewhere", "--run", str(folder)],
            self.folder / f"{name}-people.log",
        )  # fmt: skip
        people.start()
        self._people.append(people)
        until((folder / "control").exists, lambda: f"no simulator: {people.last_words()}")
        config = configure(folder, game, load(find(f"{name}-plain")).settings)
        with_link(config, [self.endpoint], self.server_key)
        words = [sys.executable, "-m", "tests.kills.daemon", str(folder / "witness")]
        table = self._table(name, folder, [*words, "table", "--config", str(config)])
        table.people = people
        return table

    def _table(self, name: str, folder: Path, words: Sequence[str]) -> Table:
        worker = Worker(name, words, self.folder / f"{name}.log")
        return Table(worker, folder, Witness(folder / "witness"))

    # --- running it -----------------------------------------------------------------------------

    def open(self) -> None:
        """People enrol the tables, as they do in a casino; then everybody starts."""
        self.server.start()
        for name in self.names:
            self.tables.append(self._real(name) if name in DEVICES else self._load(name))
        keys = self.folder / "keys.csv"
        lines = [f"{t.name},{load_public(t.folder / 'link.pub')}\n" for t in self.tables]
        keys.write_text("".join(lines), "utf-8")
        said = ""

        def enrolled() -> bool:
            nonlocal said
            code, said = self._run(
                "keys", "enrol", "--csv", str(keys), "--by", "m.ng", "--by", "k.lee",
                "--passwords-stdin", "--config", str(self.config), stdin=f"{PASSWORD}\n" * 2,
            )  # fmt: skip
            return code == 0

        until(enrolled, lambda: f"nobody enrolled: {said}; {self.server.last_words()}")
        for table in self.tables:
            table.worker.start()

    def worker(self, name: str) -> Worker:
        workers = (self.server, *(table.worker for table in self.tables))
        return next(worker for worker in workers if worker.name == name)

    def kill(self, names: Sequence[str]) -> int:
        """All at once; how many events were under way at that moment."""
        workers = [self.worker(name) for name in names]
        for worker in workers:
            if not worker.alive:
                code = worker.process.returncode if worker.process else None
                self.problems.append(
                    f"{worker.name} ended by itself, {code}: {worker.last_words()}"
                )
        for worker in workers:
            if worker.process is not None:
                worker.process.kill()
        for worker in workers:
            if worker.process is not None:
                worker.process.wait()
        self.look()
        return sum(table.witness.under_way for table in self.tables)

    def start(self, names: Sequence[str]) -> None:
        for name in names:
            self.worker(name).start()

    def look(self) -> None:
        for table in self.tables:
            table.witness.look()

    @property
    def loads(self) -> list[Table]:
        return [table for table in self.tables if table.people is None]

    def await_load(self) -> None:
        """Every table with a load has been acknowledged something new."""
        self.look()
        before = {table.name: table.witness.promised for table in self.loads}

        def moved() -> bool:
            self.look()
            self._complain_of_the_dead()
            return all(table.witness.promised > before[table.name] for table in self.loads)

        until(moved, lambda: f"no acknowledgement: {self.standing()}")

    def await_event(self, name: str) -> None:
        """This table has just written an event into its journal; not for ever, people dawdle."""
        witness = next(table.witness for table in self.tables if table.name == name)
        witness.look()
        before, end = witness.written, time.monotonic() + DAWDLE_S
        while witness.written == before and time.monotonic() < end:
            time.sleep(QUICK_S)
            witness.look()

    def _complain_of_the_dead(self) -> None:
        for worker in (self.server, *(table.worker for table in self.tables)):
            if not worker.alive:
                raise GaveUp(f"{worker.name} ended by itself: {worker.last_words()}")

    def standing(self) -> str:
        rows = [f"{t.name} {t.witness.written}/{t.witness.promised}" for t in self.tables]
        return f"{', '.join(rows)}; server: {self.server.last_words()}"

    def check_promises(self) -> None:
        """While the server is dead."""
        journals = {t.journal: t.witness for t in self.tables if t.journal}
        self.problems += check_promises(self.where, journals)

    # --- the end --------------------------------------------------------------------------------

    def drain(self) -> None:
        """Nobody plays any more, and everything that was written is acknowledged."""
        (self.folder / "quiet").touch()
        for table in self.tables:
            if table.people is not None:
                if not table.people.alive:
                    self.problems.append(f"{table.people.name}: {table.people.last_words()}")
                table.people.close()

        def drained() -> bool:
            loads = [table for table in self.tables if table.people is None]
            quiet = all((table.folder / "quiet").exists() for table in loads)
            self.look()  # after the last of them was written
            self._complain_of_the_dead()
            return quiet and all(self._drained(table) for table in self.tables)

        until(drained, lambda: f"never drained: {self.standing()}")
        for worker in (*(table.worker for table in self.tables), self.server):
            code = worker.end(signal.SIGTERM)
            if code:
                self.problems.append(f"{worker.name} ended with {code}: {worker.last_words()}")

    def _drained(self, table: Table) -> bool:
        if table.witness.under_way or table.people is None:
            return not table.witness.under_way
        told = underfelt("status", "--config", str(table.folder / "table.toml"), "--json").stdout
        return '"waiting":0' in told.replace(" ", "")

    def check(self) -> list[Book]:
        """Everybody has stopped: the findings are in ``problems``."""
        books = []
        for table in self.tables:
            book, wrong = book_of(table.folder / "journal", table.name, table.witness)
            books.append(book)
            self.problems += wrong
        code, said = self._run("link", "check", "--config", str(self.config))
        if code:
            self.problems.append(f"link check: {said}")
        self.problems += check_all(self.where, books)
        return books

    def close(self) -> None:
        for worker in (*(table.worker for table in self.tables), *self._people, self.server):
            worker.close()
