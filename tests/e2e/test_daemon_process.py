"""The real daemon under what happens to processes, while the people at the table play on.

Fault rows 22, 24, 25, 27, 28, 30 and SIGKILL: whatever happens, the round ends with the settlement
that is written in its scenario, and an auditor's verifier finds the journal sound. The sittings run
side by side, because a table waits for its people most of the time.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from controller.identity import PACKAGES
from record.journal import Record
from tests.e2e.keeper import Keeper, Sitting, bodies
from tests.e2e.table import ROOT, Played, underfelt
from tests.patience import PATIENCE_S

IDLE, BETTING, DEALING, PAYING = "between rounds", "bets are open", "dealing", "settlement"
IN_PLAY: Final = (DEALING, "first decision", "second decision", "players act")
STOPPED_S: Final = 6
RUN: Final = "from controller.cli import main; import sys; sys.exit(main(sys.argv[1:]))"
HANGING: Final = f"""
import signal
def hang(*_):
    while True:
        pass
signal.signal(signal.SIGUSR1, hang)
{RUN}"""
"""A driver's endless loop: the process lives, its event loop does not."""

GREEDY: Final = f"""
import signal
held = []
def take(*_):
    for size in (1 << 20, 1 << 14, 1 << 10, 1 << 6):
        try:
            while True:
                held.append(bytes(size))
        except MemoryError:
            pass
signal.signal(signal.SIGUSR1, take)
{RUN}"""
"""Takes whatever memory there is and keeps it."""


@dataclass
class Sat:
    """What one sitting left behind."""

    played: Played
    exits: list[tuple[int, str]]
    records: list[Record]
    seen: dict[str, Any] = field(default_factory=dict)


def sat(sitting: Sitting, **seen: Any) -> Sat:
    played = sitting.finish()
    return Sat(played, sitting.keeper.exits, sitting.records(), seen)


def betting(sitting: Sitting) -> dict[str, Any]:
    """Bets are open, and the people at the table see it."""
    found = sitting.until_phase(BETTING)
    sitting.until(lambda: sitting.prompt()[0].startswith("BETS OPEN"), "bets open for the people")
    return found


def killed(sitting: Sitting) -> str:
    """SIGKILL; the phase that the next daemon stands in."""
    keeper = sitting.keeper
    before = len(keeper.exits)
    keeper.signal(signal.SIGKILL)
    sitting.until(lambda: len(keeper.exits) > before, "killed")
    return str(sitting.until(sitting.status, "started again")["phase"])


# --- the sittings ------------------------------------------------------------------------------


def killed_three_times(run: Path) -> Sat:
    """The first daemon runs from a tree that differs in one comment: it is another program."""
    tree = run.parent / "other-version"
    for package in PACKAGES:
        if (ROOT / package).is_dir():
            shutil.copytree(
                ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__")
            )
    with (tree / "controller" / "croupier.py").open("a", encoding="utf-8") as stream:
        stream.write("# of another version\n")
    with Sitting(run, "nsw-shoe-plain") as sitting:
        sitting.keeper.program = tree
        sitting.keeper.start()
        betting(sitting)
        sitting.keeper.program = ROOT
        phases = [killed(sitting)]
        for phase in (DEALING, PAYING):
            sitting.until_phase(phase)
            phases.append(killed(sitting))
        return sat(sitting, phases=phases)


def changed_paused_and_hung(run: Path) -> Sat:
    """A file edited and a second daemon started while bets are open, a pause in the deal, and an
    endless loop before the money is paid."""
    with Sitting(run, "rico-plain", shim=HANGING) as sitting:
        keeper = sitting.keeper
        keeper.start()
        opened = betting(sitting)
        text = sitting.config.read_text("utf-8")
        assert "ante = 500" in text
        sitting.config.write_text(text.replace("ante = 500", "ante = 700"), "utf-8")
        sound = underfelt("config", "check", str(sitting.config))
        second = underfelt(*keeper.arguments)
        sitting.until_phase(*IN_PLAY)
        first, fed = keeper.pid, paused(sitting)
        before = sitting.until_phase(PAYING)
        same = keeper.pid == first
        keeper.signal(signal.SIGUSR1)
        sitting.until(lambda: keeper.starved, "starved")
        sitting.until(lambda: keeper.exits and sitting.status(), "started again")
        after = sitting.status()
        return sat(
            sitting, opened=opened, sound=sound, second=second, fed=fed, before=before,
            same=same, after=after, starved=keeper.starved,
        )  # fmt: skip


def paused(sitting: Sitting) -> int:
    """Stopped, and gone on; how often it said that it lives while it was stopped."""
    keeper = sitting.keeper
    keeper.signal(signal.SIGSTOP)
    sitting.until(lambda: _state(keeper) == "T", "stopped")
    keeper.notified.look()
    fed, until = 0, time.monotonic() + STOPPED_S
    while time.monotonic() < until:
        fed += keeper.notified.look()
        time.sleep(0.1)
    keeper.signal(signal.SIGCONT)
    sitting.until(keeper.notified.look, "fed again")
    return fed


def _state(keeper: Keeper) -> str:
    stat = Path(f"/proc/{keeper.pid}/stat").read_text("ascii")
    return stat.rpartition(")")[2].split()[0]


def exhausted(run: Path) -> Sat:
    """No descriptor for a while when bets are open, no memory from the deal on."""
    with Sitting(run, "pp6-plain", shim=GREEDY) as sitting:
        keeper = sitting.keeper
        keeper.start()
        betting(sitting)
        first = keeper.pid
        before = resource.prlimit(first, resource.RLIMIT_NOFILE)
        free = min(set(range(before[0])) - {int(n) for n in os.listdir(f"/proc/{first}/fd")})
        resource.prlimit(first, resource.RLIMIT_NOFILE, (free, before[1]))
        unanswered = sitting.status(wait_s=1.0) == {}  # people play on: the round must not end
        resource.prlimit(first, resource.RLIMIT_NOFILE, before)
        sitting.until(sitting.status, "answering again")
        sitting.until_phase(*IN_PLAY)
        same = keeper.pid == first
        pages = int(Path(f"/proc/{first}/statm").read_text("ascii").split()[0])
        resource.prlimit(first, resource.RLIMIT_AS, (pages * 4096, resource.RLIM_INFINITY))
        keeper.signal(signal.SIGUSR1)
        return sat(sitting, same=same, unanswered=unanswered)


Sittings = dict[str, Future[Sat]]
SITTINGS: Final[tuple[Callable[[Path], Sat], ...]] = (
    killed_three_times,
    changed_paused_and_hung,
    exhausted,
)


def of(sittings: Sittings, one: Callable[[Path], Sat]) -> Sat:
    """What it left; the round ended as its scenario states, and the verifier found it sound."""
    found = sittings[one.__name__].result(2 * PATIENCE_S)
    assert found.played.problems == []
    assert found.played.rounds
    return found


# --- the outcomes ------------------------------------------------------------------------------


def killed_while_betting_dealing_and_paying_the_round_ends_as_written(sittings: Sittings) -> None:
    found = of(sittings, killed_three_times)
    *killed_, last = [code for code, _ in found.exits]
    assert (set(killed_), last) == ({-signal.SIGKILL}, 0)
    assert len(killed_) >= 3  # more if the machine was so slow that the watchdog bit as well
    assert len(bodies(found.records, "opened")) >= 4
    assert len(bodies(found.records, "closed")) == 1
    assert IDLE not in found.seen["phases"]


def a_round_opened_by_another_version_is_resumed(sittings: Sittings) -> None:
    found = of(sittings, killed_three_times)
    old, new, *_ = bodies(found.records, "opened")
    assert old["program"] != new["program"]
    assert old["rule_book"] == new["rule_book"]


def a_second_daemon_says_so_and_goes(sittings: Sittings) -> None:
    found = of(sittings, changed_paused_and_hung)
    second: subprocess.CompletedProcess[str] = found.seen["second"]
    assert second.returncode == os.EX_TEMPFAIL
    assert "another process has this journal open" in second.stderr
    assert "E-JRN-020" in second.stderr
    assert second.stdout == ""
    assert found.seen["same"]


def a_file_edited_in_a_round_changes_nothing_of_it(sittings: Sittings) -> None:
    found = of(sittings, changed_paused_and_hung)
    assert found.seen["sound"].returncode == 0, found.seen["sound"].stdout
    hash_ = found.seen["opened"]["configuration"]
    assert found.seen["before"]["configuration"] == hash_
    assert bodies(found.records, "opened")[0]["configuration"] == hash_


def a_paused_daemon_goes_on_where_it_was(sittings: Sittings) -> None:
    found = of(sittings, changed_paused_and_hung)
    assert found.seen["same"]
    assert found.seen["fed"] == 0


def a_hung_loop_starves_the_watchdog_and_the_round_is_restored(sittings: Sittings) -> None:
    found = of(sittings, changed_paused_and_hung)
    assert found.seen["starved"] >= 1
    assert {code for code, _ in found.exits} == {-signal.SIGKILL, 0}
    assert found.seen["after"]["phase"] == PAYING


def without_descriptors_and_without_memory_nothing_is_lost(sittings: Sittings) -> None:
    found = of(sittings, exhausted)
    assert found.seen["unanswered"]
    assert found.seen["same"]  # what was open stays open: no descriptor is no reason to stop
    codes = [code for code, _ in found.exits]
    assert codes[-1] == 0
    assert len(codes) > 1  # no memory is a reason to start again
    assert set(codes[:-1]) <= {os.EX_IOERR, os.EX_TEMPFAIL, -signal.SIGKILL}, found.exits


OUTCOMES: Final = (
    killed_while_betting_dealing_and_paying_the_round_ends_as_written,
    a_round_opened_by_another_version_is_resumed,
    a_second_daemon_says_so_and_goes,
    a_file_edited_in_a_round_changes_nothing_of_it,
    a_paused_daemon_goes_on_where_it_was,
    a_hung_loop_starves_the_watchdog_and_the_round_is_restored,
    without_descriptors_and_without_memory_nothing_is_lost,
)


def test_whatever_happens_to_the_process_the_round_ends_as_written(tmp_path: Path) -> None:
    """One test, because it is one run of all sittings; each outcome that is not so is named."""
    wrong = {}
    with ThreadPoolExecutor(len(SITTINGS)) as pool:
        made = {one.__name__: pool.submit(one, tmp_path / one.__name__ / "run") for one in SITTINGS}
        for outcome in OUTCOMES:
            try:
                outcome(made)
            except Exception as error:
                wrong[outcome.__name__] = f"{type(error).__name__}: {error}"
    assert wrong == {}
