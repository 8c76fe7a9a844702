"""The loop: start the floor, look at it, show it, let its people act, end it.

Tests run a floor in their own process: ``with FloorDemo(FloorOptions(folder)) as floor`` starts it
and ends it; ``floor.address`` is that of its pages.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import OK
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self, TextIO

from controller.demo.processes import Child, ChildFailed, Children
from controller.demo.screen import FloorNote, FloorView, Terminal, lines, plain, screen_possible
from controller.demo.setup import TABLES, FloorFolder, SetupError
from controller.demo.sources import FloorSources, clock, now_ms
from controller.demo.views import VISITORS, pending
from record.kit.exits import TROUBLE
from record.kit.money import cents_text

LOOK_S, SELDOM_S = 0.4, 2.0
"""Between two looks at the floor: for a screen of our own, and where a browser is the screen."""
START_S: Final = 120.0
ANSWER_S: Final = 5.0
TITLE: Final = "UNDERFELT  demonstration floor"
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class FloorOptions:
    folder: Path
    tables: tuple[str, ...] = tuple(TABLES)
    rounds: int = 0
    """End when every table has settled so many; 0: not for that."""
    seconds: int = 0
    """End after so long; 0: not for that."""
    players: int = 3
    pace: int = 2
    seed: int | None = None
    """Of the bots and the decks; None: another one at every start."""
    bots: bool = True
    """False: dealers and players are paused until a visitor resumes them."""
    staff: bool = True
    """False: jackpots and stopped rounds wait for a visitor."""
    port: int | None = None
    """Of the pages; None: the usual one if it is free; 0: any."""
    terminal: bool = False
    """Show the floor here and serve no pages."""


class Stopped(Exception):
    """A signal asks for the end."""


class FloorDemo:
    """One demonstration from start to end."""

    def __init__(self, options: FloorOptions) -> None:
        self._options = options
        self.folder = FloorFolder(options.folder, options.tables)
        self.sources = FloorSources(self.folder)
        self.address = ""
        """Of the pages, once it is open."""
        self._children = Children()
        self._began_s = time.monotonic()
        self._asked = False
        self._wake, self._ring = os.pipe()
        os.set_blocking(self._ring, False)

    # --- signals --------------------------------------------------------------------------------

    def listen(self) -> None:
        def asked(*_: object) -> None:
            self._asked = True

        signal.set_wakeup_fd(self._ring, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, asked)
        signal.signal(signal.SIGWINCH, lambda *_: None)

    def pause(self, seconds: float) -> None:
        """A signal ends it: to stop, or because the terminal has another size."""
        if not self._asked and select.select([self._wake], [], [], seconds)[0]:
            os.read(self._wake, 64)
        if self._asked:
            raise Stopped

    # --- start ----------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        try:
            for _ in self.open():
                pass
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def open(self) -> Iterator[str]:
        """Says before each step what comes."""
        home, options = self.folder, self._options
        if not options.terminal and find_spec("uvicorn") is None:
            said = "pip install 'underfelt[web]', or --terminal"
            raise SetupError(f"the pages need uvicorn and starlette, which are missing: {said}")
        if not home.ready:
            again = " again, as it is incomplete or of an earlier version" if home.outdated else ""
            yield f"making {shown(home.folder)}{again}: keys, accounts, chips, configurations"
        home.begin()
        yield f"starting the link server; simulated tables: {', '.join(home.tables)}"
        self._start("link", "link", "--config", str(home.config))
        for name, game in home.tables.items():
            # Written last by a simulator, so it is there when its devices and its cable are.
            (home.table(name) / "control").unlink(missing_ok=True)
            self._start(
                f"{name} devices", "sim", "--game", game, "--run", str(home.table(name)),
                "--random", "0", "--players", str(options.players), "--pace", str(options.pace),
                "--seed", "*" if options.seed is None else str(options.seed), "--link-elsewhere",
                "--link-cable", home.endpoint("tables"),
                *(() if options.bots else ("--paused",)),
                *(() if options.staff else ("--no-supervisor",)),
            )  # fmt: skip
        self._until(self.sources.leads, "the link server to lead")
        for name in home.tables:
            self._until((home.table(name) / "control").exists, f"the devices of {name}")
        home.finish()
        self.sources.open_sign()
        yield "starting the tables"
        for name in home.tables:
            config = str(home.table(name) / "table.toml")
            self._start(name, "table", "--config", config, needs=f"{name} devices")
        if not options.terminal:
            yield "starting the pages"
            self.address = home.write_web(options.port)
            self._start("web", "web", "--config", str(home.web))
            self._until(self._served, "the pages")

    def _served(self) -> bool:
        """The pages are there and every process behind them answers."""
        try:
            with urllib.request.urlopen(f"{self.address}readyz", timeout=ANSWER_S) as answer:
                return bool(answer.status == OK)
        except OSError:
            return False

    def _start(self, name: str, *arguments: str, needs: str = "") -> None:
        log = self.folder.logs / f"{name.replace(' ', '-')}.log"
        self._children.start(Child(name, arguments, log, needs))

    def _until(self, seen: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + START_S
        while not seen():
            self._look_after_children()
            if time.monotonic() > deadline:
                raise SetupError(f"waited {START_S:.0f} s for {what}; logs: {self.folder.logs}")
            self.pause(0.05)

    def pids(self) -> dict[str, int]:
        """The processes that run, by name."""
        return self._children.pids()

    # --- one turn -------------------------------------------------------------------------------

    def turn(self) -> list[FloorNote]:
        """Look at everything and do what is due; what is new."""
        fresh = self._look_after_children() + self.sources.look()
        if self._options.staff:
            for one, _ in self.sources.due():
                if one.at_ms <= now_ms():
                    self.sources.order(one)
        return fresh

    def _look_after_children(self) -> list[FloorNote]:
        said = self._children.look()
        notes = [FloorNote(now_ms(), clock(now_ms()), "floor", text, "alarm") for text in said]
        self.sources.note(*notes)
        return notes

    @property
    def enough(self) -> bool:
        options, sources = self._options, self.sources
        if options.rounds == 0:
            return False
        linked = [table.name for table in sources.tables if table.progressive]
        return all(sources.settled[name] >= options.rounds for name in options.tables) and all(
            sources.contributed[name] for name in linked
        )

    @property
    def bounded(self) -> bool:
        """Must rounds be played before it ends?"""
        return self._options.rounds > 0

    @property
    def late(self) -> bool:
        limit = self._options.seconds
        return limit > 0 and time.monotonic() - self._began_s > limit

    def welcome(self) -> Iterator[str]:
        """Where the pages are, and who a visitor can be."""
        if not self.address:
            return
        seconds = time.monotonic() - self._began_s
        yield f"The floor is open after {seconds:.1f} s. Open it in a browser on this machine:"
        yield f"\n  {self.address}\n"
        yield "Play at a table, be its dealer, make trouble. For jackpots sign in as"
        for name, (role, password) in self.folder.accounts().items():
            yield f"  {name} ({role}): {password}"
        yield "These accounts exist in this demo only. Ctrl-C stops everything.\n"

    def floor(self, ending: str = "") -> FloorView:
        sources, config = self.sources, shown(self.folder.config)
        secrets_of = {name: shown(self.folder.password(name)) for name in VISITORS}
        waiting = [
            pending(
                one, award, now_ms(), command=command(), config=config, passwords=secrets_of,
                bots=self._options.staff,
            )
            for one, award in sources.due()
        ]  # fmt: skip
        run = shown(self.folder.table(self._options.tables[-1]))
        return FloorView(
            TITLE,
            sources.server,
            int(time.monotonic() - self._began_s),
            sources.meters,
            sources.stale_s,
            sources.tables,
            dict(sources.last),
            tuple(sources.notes),
            tuple(waiting),
            (
                ("a table", f"{command()} status --config {run}/table.toml"),
                ("jackpots", f"{command()} jackpot list --all --config {config}"),
                ("the day", f"{command()} report day --config {config}"),
                ("a ruling", f"{command()} sim do supervisor menu 51 3 --run {run}"),
            ),
            ending,
        )

    # --- end ------------------------------------------------------------------------------------

    def close(self) -> None:
        """The pages, then the tables, so that their last events reach the server."""
        self._children.stop(["web"])
        self._children.stop(self.folder.tables)
        self._children.stop()
        self.sources.close()
        for end in (self._wake, self._ring):
            os.close(end)

    def summary(self) -> Iterator[str]:
        sources = self.sources
        for meter in sources.meters:
            amount = f"$ {cents_text(meter.cents)}"
            yield f"  {meter.pool} {meter.level}: {amount}, generation {meter.generation}"
        for table in sources.tables:
            many = sources.settled[table.name]
            yield f"  {table.name}: hand {table.hand}, {many} settled in this run"


def shown(path: Path) -> str:
    """Relative to the working directory, if it is below it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def command() -> str:
    """This program, as it was called."""
    called = Path(sys.argv[0])
    if called.name != "underfelt":
        return "underfelt"
    return shown(called.absolute())


# --- on a screen, or line by line ----------------------------------------------------------------


def play(options: FloorOptions, out: TextIO) -> int:
    try:
        running = FloorDemo(options)
        with _one_at_a_time(running.folder.folder):
            running.listen()
            return _play(running, out, options)
    except SetupError as error:
        print(f"underfelt demo floor: {error}", file=sys.stderr)
        return TROUBLE
    except BlockingIOError:
        where = shown(options.folder.absolute())
        print(f"underfelt demo floor: {where}: another demonstration runs here", file=sys.stderr)
        return os.EX_TEMPFAIL


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """One demonstration per folder; the lock is beside it, as the folder may be made again."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(f"{folder}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _play(running: FloorDemo, out: TextIO, options: FloorOptions) -> int:
    failed = ""
    try:
        for said in running.open():
            print(said, file=out, flush=True)
        if options.terminal and screen_possible():
            _on_screen(running)
        else:
            for row in running.welcome():
                print(row, file=out, flush=True)
            failed = _line_by_line(running, out, all_of_them=options.terminal or not out.isatty())
    except Stopped:
        pass
    except ChildFailed as error:
        failed = str(error)
    except OSError as error:  # the reader of our output is gone
        failed = f"cannot write: {error.strerror}"
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        running.close()
    if failed:
        print(f"underfelt demo floor: {failed}", file=sys.stderr)
        return TROUBLE
    print("The demo has stopped and all its processes with it. At the end:", file=out)
    for row in running.summary():
        print(row, file=out)
    print(f"The next start resumes from here; logs: {shown(running.folder.logs)}", file=out)
    return os.EX_OK


def _on_screen(running: FloorDemo) -> None:
    with Terminal() as terminal:
        try:
            while not (running.enough or running.late):
                running.turn()
                _draw(running, terminal)
                running.pause(LOOK_S)
        finally:
            _draw(running, terminal, "Ending: tables first, then the link server ...")


def _draw(running: FloorDemo, terminal: Terminal, ending: str = "") -> None:
    size = terminal.size()
    floor = running.floor(ending)
    terminal.show(lines(floor, size.columns, size.lines, colour=terminal.colour))


def _line_by_line(running: FloorDemo, out: TextIO, *, all_of_them: bool) -> str:
    """For pipes and dumb terminals, and beside a browser, where jackpots and alarms are enough.
    What is missing if it ended before enough was played."""
    while not running.enough:
        for note in running.turn():
            if all_of_them or note.weight in ("jackpot", "alarm"):
                print(plain(note), file=out, flush=True)
        if running.late and not running.bounded:
            return ""
        if running.late:
            settled = running.sources.settled
            played = ", ".join(f"{name} {settled[name]}" for name in running.folder.tables)
            return f"time ran out before every table had settled its rounds: {played}"
        running.pause(SELDOM_S)
    return ""
