"""The demonstration as a newcomer sees it: real processes, a real terminal, twice."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.floor.watched import LEAVE, LIMIT_S, ROOT, Watched, hands, meters, processes

GRAND = {"mbs3 grand": 2_500_000, "mega grand": 5_000_000}
"""What the jackpots begin with."""
Start = Callable[..., Watched]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    made: list[Watched] = []

    def begin(*options: str) -> Watched:
        made.append(Watched(tmp_path / "d", *options))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def gone(folder: Path) -> bool:
    deadline = time.monotonic() + LIMIT_S
    while processes(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes(folder)


def test_a_floor_plays_ends_without_a_trace_and_goes_on_where_it_was(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "d"

    def played(screen: list[str]) -> bool:
        ended = hands(screen)
        return (
            len(ended) == 3
            and all(house for _, house in ended.values())
            and any(meters(screen)[name][0] > base for name, base in GRAND.items())
        )

    first = start()
    shown = first.until(played, "a settled hand at each table, and a meter that moves")
    assert [line for line in shown if "settled, house" in line]
    assert shown[-1] == "Ctrl-C ends it; the next start goes on from here."
    assert not first.as_before()  # no echo while the floor is on it
    first.press_ctrl_c()
    assert first.wait() == 0, first.output[-2000:]
    assert LEAVE in first.output
    assert "The floor is closed; nothing runs any more." in first.output
    assert first.as_before()
    assert processes(folder) == []
    last = first.output.split(LEAVE)[1]
    assert all(f"{name}: $ " in last for name in GRAND)

    before, counted = meters(shown), hands(shown)
    second = start()

    def goes_on(screen: list[str]) -> bool:
        now = meters(screen)
        return now.keys() >= GRAND.keys() and all(now[name] >= before[name] for name in GRAND)

    again = second.until(goes_on, "meters that are at least those of the first time")
    assert all(meters(again)[name][1] >= before[name][1] for name in before)  # generations
    seated = second.until(lambda screen: len(hands(screen)) == 3, "three tables that answer")
    assert all(hands(seated)[name][0] >= counted[name][0] for name in counted)
    assert processes(folder)
    second.hang_up()
    second.process.wait(LIMIT_S)
    assert gone(folder)


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "controller.cli", "demo", "floor", *arguments], cwd=ROOT,
        env={**os.environ, **environ}, capture_output=True, text=True, check=False,
        timeout=2 * LIMIT_S,
    )  # fmt: skip


def closing(told: str) -> dict[str, tuple[int, int]]:
    """By table: its hand at the end, and how many were settled in the run."""
    found = re.findall(r"^  (\w+): hand (\d+), (\d+) settled in this run$", told, re.MULTILINE)
    return {table: (int(hand), int(settled)) for table, hand, settled in found}


def test_none_outlives_a_demonstration_that_is_killed(tmp_path: Path) -> None:
    """The simulator's process, under a parent that gets no chance to end it."""
    code = (
        "import sys, time; from pathlib import Path;"
        "from controller.demo.processes import Child, Children;"
        "c = Children();"
        "c.start(Child('s', ('sim', '--run', sys.argv[1]), Path(sys.argv[1] + '.log')));"
        "time.sleep(600)"
    )
    folder = tmp_path / "d"
    parent = subprocess.Popen([sys.executable, "-c", code, str(folder)], cwd=ROOT)
    try:
        deadline = time.monotonic() + LIMIT_S
        while not (folder / "control").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(processes(folder)) == 2
    finally:
        parent.kill()
        parent.wait()
    assert gone(folder)
    assert not (folder / "table.sock").exists()  # it ended in good order


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    done = run("--folder", str(tmp_path))
    assert done.returncode == 1
    assert "not a folder of the demonstration" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_folder_keeps_the_tables_it_was_made_for(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "underfelt-demo").touch()
    (folder / "ready").write_text("mega", "ascii")
    done = run("--folder", str(folder), "--tables", "rico,mega")
    assert done.returncode == 1
    assert "made with --tables mega; use these or --folder" in done.stderr


def test_one_demonstration_in_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    with open(f"{folder}.lock", "w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run("--folder", str(folder))
    assert done.returncode == 75
    assert "another demonstration runs here" in done.stderr
    assert not folder.exists()


def test_a_path_that_no_socket_can_have(tmp_path: Path) -> None:
    done = run("--folder", str(tmp_path / ("d" * 100)))
    assert done.returncode == 1
    assert "too long a path for sockets" in done.stderr


@pytest.mark.parametrize(
    ("option", "said"),
    [("--pace=9", "expected 1 to 4"), ("--players=0", "expected 1 to 7"),
     ("--tables=mega,nsw", "expected one or more of mbs3,mega,rico"),
     ("--rounds=0", "expected 1 to 1000000"), ("--seconds=-1", "expected 1 to 10000000")],
)  # fmt: skip
def test_usage(option: str, said: str) -> None:
    done = run(option)
    assert done.returncode == 64
    assert said in done.stderr


@pytest.mark.slow
def test_without_a_terminal_it_plays_its_rounds_line_by_line_and_ends(tmp_path: Path) -> None:
    """Twice: the second time the tables are taken over as they were left."""
    options = ("--folder", str(tmp_path / "d"), "--rounds", "1", "--players", "2", "--pace", "2")
    first, second = run(*options), run(*options)
    for done in (first, second):
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        assert "The floor is closed; nothing runs any more." in done.stdout
    before, after = closing(first.stdout), closing(second.stdout)
    assert before.keys() == after.keys() == {"mbs3", "mega", "rico"}
    for table, (hand, settled) in after.items():
        assert settled >= 1
        assert hand >= before[table][0]  # bets that were still open belong to the same hand
    assert gone(tmp_path / "d")
