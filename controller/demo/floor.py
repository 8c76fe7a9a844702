"""The loop: start the floor, look at it, show it, let its people act, end it."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from controller.demo.awards import PEOPLE, pending
from controller.demo.processes import Child, ChildFailed, Children
from controller.demo.screen import Floor, Note, Terminal, lines, plain, screen_possible
from controller.demo.setup import FloorFolder, SetupError
from controller.demo.sources import Sources, clock, now_ms
from record.kit.exits import TROUBLE
from record.kit.money import cents_text

LOOK_S: Final = 0.4
START_S: Final = 120.0
TITLE: Final = "UNDERFELT  demonstration floor"
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class FloorOptions:
    folder: Path
    tables: tuple[str, ...]
    rounds: int
    """End when every table has settled so many; 0: not for that."""
    seconds: int
    """End after so long; 0: not for that."""
    players: int
    pace: int
    bots: bool


class Stopped(Exception):
    """A signal asks for the end."""


class Running:
    """One demonstration from start to end."""

    def __init__(self, options: FloorOptions) -> None:
        self._options = options
        self.folder = FloorFolder(options.folder, options.tables)
        self.sources = Sources(self.folder)
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

    def open(self) -> Iterator[str]:
        """Says before each step what comes."""
        home = self.folder
        if not home.ready:
            yield f"making {shown(home.folder)}: keys, accounts, chip register, configurations"
        home.begin()
        yield f"starting the link server; simulated tables: {', '.join(home.tables)}"
        self._start("link", "link", "--config", str(home.config))
        for name, game in home.tables.items():
            self._start(
                f"{name} devices", "sim", "--game", game, "--run", str(home.table(name)),
                "--random", "0", "--players", str(self._options.players),
                "--pace", str(self._options.pace), "--seed", "*", "--link-elsewhere",
                *(() if self._options.bots else ("--no-supervisor",)),
            )  # fmt: skip
        self._until(self.sources.leads, "the link server to lead")
        for name in home.tables:
            self._until((home.table(name) / "layout.toml").exists, f"the devices of {name}")
        home.finish()
        self.sources.open_sign()
        yield "starting the tables"
        for name in home.tables:
            config = str(home.table(name) / "table.toml")
            self._start(name, "table", "--config", config, needs=f"{name} devices")

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

    # --- one turn -------------------------------------------------------------------------------

    def turn(self) -> list[Note]:
        """Look at everything and do what is due; what is new."""
        fresh = self._look_after_children() + self.sources.look()
        if self._options.bots:
            for one, _ in self.sources.due():
                if one.at_ms <= now_ms():
                    self.sources.order(one)
        return fresh

    def _look_after_children(self) -> list[Note]:
        said = self._children.look()
        notes = [Note(now_ms(), clock(now_ms()), "floor", text, "alarm") for text in said]
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
    def late(self) -> bool:
        limit = self._options.seconds
        return limit > 0 and time.monotonic() - self._began_s > limit

    def floor(self, ending: str = "") -> Floor:
        sources, config = self.sources, shown(self.folder.config)
        secrets_of = {name: shown(self.folder.password(name)) for name in PEOPLE}
        waiting = [
            pending(
                one, award, now_ms(), command=command(), config=config, passwords=secrets_of,
                bots=self._options.bots,
            )
            for one, award in sources.due()
        ]  # fmt: skip
        run = shown(self.folder.table(self._options.tables[-1]))
        return Floor(
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
        """The tables first, so that their last events reach the server."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        self._children.stop(self.folder.tables)
        self._children.stop()
        self.sources.close()

    def summary(self) -> Iterator[str]:
        sources = self.sources
        for meter in sources.meters:
            amount = f"$ {cents_text(meter.cents)}"
            yield f"  {meter.pool} {meter.level}: {amount}, generation {meter.generation}"
        for table in sources.tables:
            many = sources.settled[table.name]
            yield f"  {table.name}: hand {table.hand}, {many} settled in this run"


def shown(path: Path) -> str:
    """From here, if it lies below."""
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
        running = Running(options)
        with _one_at_a_time(running.folder.folder):
            running.listen()
            return _play(running, out)
    except SetupError as error:
        print(f"underfelt demo floor: {error}", file=sys.stderr)
        return TROUBLE
    except BlockingIOError:
        where = shown(options.folder.absolute())
        print(f"underfelt demo floor: {where}: another demonstration runs here", file=sys.stderr)
        return os.EX_TEMPFAIL


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """One demonstration in a folder; the lock lies beside it, as the folder may be made anew."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(f"{folder}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _play(running: Running, out: TextIO) -> int:
    failed = ""
    try:
        for said in running.open():
            print(said, file=out, flush=True)
        if screen_possible():
            _on_screen(running)
        else:
            failed = _line_by_line(running, out)
    except Stopped:
        pass
    except ChildFailed as error:
        failed = str(error)
    except OSError as error:  # whoever read it is gone
        failed = f"cannot write: {error.strerror}"
    finally:
        running.close()
    if failed:
        print(f"underfelt demo floor: {failed}", file=sys.stderr)
        return TROUBLE
    print("The floor is closed; nothing runs any more. As it was at the end:", file=out)
    for row in running.summary():
        print(row, file=out)
    print(f"The next start goes on from here; logs: {shown(running.folder.logs)}", file=out)
    return os.EX_OK


def _on_screen(running: Running) -> None:
    with Terminal() as terminal:
        try:
            while not (running.enough or running.late):
                running.turn()
                _draw(running, terminal)
                running.pause(LOOK_S)
        finally:
            _draw(running, terminal, "Ending: tables first, then the link server ...")


def _draw(running: Running, terminal: Terminal, ending: str = "") -> None:
    size = terminal.size()
    floor = running.floor(ending)
    terminal.show(lines(floor, size.columns, size.lines, colour=terminal.colour))


def _line_by_line(running: Running, out: TextIO) -> str:
    """For pipes and dumb terminals; what is missing if it ended before enough was played."""
    while not running.enough:
        for note in running.turn():
            print(plain(note), file=out, flush=True)
        if running.late:
            settled = running.sources.settled
            played = ", ".join(f"{name} {settled[name]}" for name in running.folder.tables)
            return f"the time is over before every table had settled its rounds: {played}"
        running.pause(LOOK_S)
    return ""
