"""Fault rows 22 and 25 in one process, and the lock-out: it outlives every start until cleared."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from controller.config.live import LiveConfig, load_live
from controller.daemon import compose as starting
from controller.daemon import pulse as pulses
from controller.daemon.crash_policy import end_on_failure
from controller.daemon.runtime import Runtime
from controller.daemon.setup import setup_of
from controller.daemon.writer import Tick, Told
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.table.staff import DEALER_1
from drivers.orders import EnableAcceptors, LockCards, ShowPrompt
from drivers.readings import KeyPressed
from drivers.transport.clock import now_us
from hw_sim.scenario import HERE, find, load
from record.kit.notify import Notifier
from tests.e2e.keeper import Listening
from tests.e2e.table import ROOT, command, configure, environment
from tests.patience import PATIENCE_S

SECOND = 1_000_000
CHIPS = "uid,value,class,series\nE004010100000001,100,cash,sim\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table's files; none of its devices is there."""
    run = tmp_path_factory.mktemp("made")
    shutil.copy(HERE / "tables" / "mbs3.toml", run / "layout.toml")
    (run / "chips.csv").write_text(CHIPS, "utf-8")
    configure(run, "MBS3", load(find("mbs3-plain")).settings)
    return run


@pytest.fixture
def config(made: Path, tmp_path: Path) -> LiveConfig:
    shutil.copytree(made, tmp_path / "run")
    return load_live(tmp_path / "run" / "table.toml", starting.KINDS)


@contextmanager
def started(config: LiveConfig) -> Iterator[starting.Table]:
    table = starting.compose(setup_of(config))
    try:
        yield table
    finally:
        table.journal.close()


# --- the lock-out ------------------------------------------------------------------------------


def opened(table: starting.Table) -> None:
    table.writer.start(0)
    for what in (f.DeckShuffled("red"), f.BetsOpened()):
        table.writer.work([Told(what, DEALER_1)], 0)


def says_locked(orders: tuple[Any, ...]) -> bool:
    kinds = [type(order) for order in orders]
    prompt = next(order for order in orders if isinstance(order, ShowPrompt))
    return kinds == [LockCards, EnableAcceptors, ShowPrompt] and prompt.lines[0] == "TABLE LOCKED"


def test_a_lock_out_outlives_every_start_until_two_people_clear_it(config: LiveConfig) -> None:
    with started(config) as table:
        opened(table)
        assert table.writer.core.state.phase is Phase.BETTING
        assert says_locked(table.writer.lock("journal damaged", "technician").orders)
    for _ in range(2):
        with started(config) as table:
            released = table.writer.start(0)
            assert table.writer.locked == "journal damaged"
            assert says_locked(released.orders)
            assert released.status["locked"] == "journal damaged"
            later = table.writer.work([Told(f.BetsClosed(), DEALER_1), Tick()], 9 * SECOND)
            assert says_locked(later.orders)
            assert table.writer.core.state.phase is Phase.BETTING
    with started(config) as table:
        table.writer.start(0)
        assert not says_locked_any(table.writer.unlock(["S1", "S2"]).orders)
    with started(config) as table:
        table.writer.start(0)
        assert table.writer.locked == ""
        assert table.writer.core.state.phase is Phase.BETTING


def says_locked_any(orders: tuple[Any, ...]) -> bool:
    return any(isinstance(o, ShowPrompt) and o.lines[0] == "TABLE LOCKED" for o in orders)


def test_time_stands_still_for_a_locked_table(config: LiveConfig) -> None:
    """A wake that is always in the past would keep the writer at the disk for ever."""
    with started(config) as table:
        opened(table)
        table.writer.work([KeyPressed("keys-1", "CLOSE", SECOND)], SECOND)
        assert table.writer.core.wake_us is not None
        assert table.writer.lock("tamper", "door").wake_us is None
        assert table.writer.work([Tick()], 60 * SECOND).wake_us is None


# --- row 25: whoever hangs starves the watchdog ------------------------------------------------


def test_a_hung_writer_starves_the_watchdog_and_dead_devices_do_not(
    config: LiveConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening = Listening(tmp_path / "notify")
    notifier = Notifier(str(tmp_path / "notify"), 3 * SECOND)
    clock = [now_us()]
    at_work, gate = threading.Event(), threading.Event()

    async def run(table: starting.Table) -> None:
        runtime = Runtime(table)
        pulse = pulses.Pulse(runtime, table.rig, notifier, clock[0])

        def fed(seconds: int) -> int:
            times = 0
            for _ in range(seconds):
                clock[0] += SECOND
                pulse.look(clock[0])
                times += listening.look()
            return times

        async def until(seen: Any) -> None:
            async with asyncio.timeout(120):
                while not seen():
                    await asyncio.sleep(0.01)

        ready = asyncio.Event()
        running = asyncio.create_task(runtime.run(ready.set))
        names = {name for name in table.rig.counters() if name != "bus"}
        await until(lambda: ready.is_set() and runtime.is_idle)
        assert runtime.status["devices"].keys() == names
        assert all(_given_up(runtime.status, name) for name in names)
        assert fed(9) == 9  # every device is dead, and the table lives

        work = table.writer.work

        def hang(*arguments: Any) -> Any:
            at_work.set()
            gate.wait(PATIENCE_S)
            return work(*arguments)

        monkeypatch.setattr(table.writer, "work", hang)
        runtime.put(Tick())
        await until(at_work.is_set)
        fed(2)  # what passed before it hung still counts once
        assert fed(60) == 0
        assert "writer" in pulse.watchdog.waiting_for({}, clock[0])
        gate.set()
        await until(lambda: runtime.is_idle)
        assert fed(3) > 0
        runtime.stop("test")
        await running

    try:
        with started(config) as table:
            asyncio.run(run(table))
    finally:
        notifier.close()
        listening.close()


def _given_up(status: Any, name: str) -> bool:
    told = status.get("devices", {}).get(name)
    return told is not None and told["state"] in pulses.GIVEN_UP


# --- row 22: nothing left to work with ---------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"), [(MemoryError(), os.EX_TEMPFAIL), (KeyError("Qs"), os.EX_SOFTWARE)]
)
def test_what_goes_wrong_in_a_callback_ends_the_process(
    error: Exception,
    code: int,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The event loop would go on without the callback, half dead and well fed."""
    ends: list[int] = []

    def wrong() -> None:
        raise error

    async def run() -> None:
        loop = asyncio.get_running_loop()
        end_on_failure(loop, ends.append)
        loop.call_soon(wrong)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(run())
    assert ends[0] == code
    said = capfd.readouterr().err + caplog.text
    assert "KeyError" in said or "no memory" in said
    assert "Qs" not in said  # an error's text might name a card


def test_a_failed_request_or_a_missing_descriptor_does_not_end_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ends: list[int] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        end_on_failure(loop, ends.append)
        full = OSError(24, "Too many open files")
        loop.call_exception_handler({"message": "socket.accept()", "exception": full})
        loop.call_exception_handler({"message": "a request", "exception": KeyError("x")})

    asyncio.run(run())
    assert ends == []
    assert len(caplog.records) == 2


def test_a_start_without_descriptors_refuses_and_leaves_the_journal(config: LiveConfig) -> None:
    with started(config) as table:
        opened(table)
    folder = config.journal.path
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    shell = ["sh", "-c", 'ulimit -n "$1"; shift; exec "$@"', "sh"]
    for most in (5, 6, 7, 8):
        one = subprocess.run(
            [*shell, str(most), *command("table", "--config", str(config.path))],
            cwd=ROOT, env=environment(), text=True, capture_output=True, check=False,
            timeout=PATIENCE_S,
        )  # fmt: skip
        assert one.stdout == ""
        assert one.returncode in (66, 74, 75), one.stderr
        assert one.stderr.startswith("underfelt table: "), one.stderr
        assert "Too many open files" in one.stderr
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert after == before
    verifier = [sys.executable, "-I", str(ROOT / "record" / "verify_journal.py"), str(folder)]
    assert subprocess.run(verifier, capture_output=True, check=False).returncode == 0
