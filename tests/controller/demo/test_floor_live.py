"""The demonstration as a newcomer sees it: real processes, a real terminal, twice."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.controller.demo.watched import LEAVE, ROOT, Watched, died, hands, meters, processes
from tests.patience import PATIENCE_S

TABLES = {"mbs3": "MBS3", "mega": "MEGA", "nsw": "NSW", "pp6": "PP6", "rico": "RICO"}
GRAND = ("mbs3", "mega")
BASE = 5_000_000
"""What Megalink's jackpot begins with."""
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
    deadline = time.monotonic() + PATIENCE_S
    while processes(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes(folder)


def shown_at(floor: Watched) -> str:
    """The address that it prints when every page and every process behind it answers."""
    deadline = time.monotonic() + PATIENCE_S
    while "Ctrl-C stops everything" not in floor.output:
        assert floor.process.poll() is None, floor.output
        assert time.monotonic() < deadline, floor.output
        floor.read()
    found = re.search(r"^  (http://127\.0\.0\.1:\d+)/", floor.output, re.MULTILINE)
    assert found, floor.output
    return found[1]


def asked(url: str, **body: Any) -> Any:
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def told(url: str, part: str) -> Any:
    """A part of what is followed; it comes a moment after the table is known."""
    end = time.monotonic() + PATIENCE_S
    while part not in (parts := asked(url)["parts"]):
        assert time.monotonic() < end, parts.keys()
        time.sleep(0.2)
    return parts[part]


def test_five_tables_in_the_browser_a_visitor_and_an_end_without_a_trace(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "d"
    floor = start("--port", "0")
    address = shown_at(floor)
    api = f"{address}/api/v1"
    found = {row["name"]: row for row in asked(f"{api}/tables")["tables"]}
    assert found.keys() == TABLES.keys()
    for name, game in TABLES.items():
        assert told(f"{api}/tables/{name}", "table")["game"] == game
    assert all(row["followed"] and row["simulated"] for row in found.values())
    pools = {(row["pool"], row["level"]) for row in asked(f"{api}/pools")["parts"]["meters"]}
    assert pools == {(pool, level) for pool in GRAND for level in ("grand", "major", "mini")}

    notice = asked(f"{api}/session")["notice"]
    for name in ("vera", "victor"):
        password = (folder / f"{name}.password").read_text("ascii").strip()
        assert password in notice
        assert f"{name} (" in floor.output
        assert password in floor.output
    vera = {"name": "vera", "password": (folder / "vera.password").read_text("ascii").strip()}
    assert asked(f"{api}/session", **vera)["role"] == "supervisor"

    assert asked(f"{api}/tables/nsw/do", do="seat 3 bets 5.00 on 1 2 $")["ok"]
    simulator = (folder / "nsw" / "control").read_text("ascii").strip()
    people = asked(f"{simulator}/changes")["parts"]["people"][1]
    assert people["seats"]["3"] == "paused"  # its bot steps back
    assert people["dealer"] == "bot"

    assert len(processes(folder)) == 1 + 1 + 2 * len(TABLES) + 1
    died(folder, "sim", "MEGA")
    died(folder, "web")
    floor.press_ctrl_c()
    assert floor.wait() == 0, floor.output[-2000:]
    assert "The demo has stopped and all its processes with it." in floor.output
    assert gone(folder)


def test_a_floor_in_the_terminal_plays_and_resumes_where_it_was(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "d"
    options = ("--terminal", "--tables", "mega")

    def played(screen: list[str]) -> bool:
        ended = hands(screen)
        return "mega" in ended and bool(ended["mega"][1]) and meters(screen)["mega grand"][0] > BASE

    first = start(*options)
    shown = first.until(played, "a settled hand, and a meter that moves")
    assert [line for line in shown if "settled, house" in line]
    assert shown[-1] == "Ctrl-C stops the demo; the next start resumes from here."
    assert not first.as_before()  # no echo while the floor is on it
    assert not [line for line in processes(folder).values() if "web.toml" in line]
    first.press_ctrl_c()
    assert first.wait() == 0, first.output[-2000:]
    assert LEAVE in first.output
    assert "The demo has stopped and all its processes with it." in first.output
    assert first.as_before()
    assert not processes(folder)
    last = first.output.split(LEAVE)[1]
    assert "mega grand: $ " in last

    before, counted = meters(shown), hands(shown)
    second = start(*options)

    def resumes(screen: list[str]) -> bool:
        now = meters(screen)
        return now.keys() >= before.keys() and now["mega grand"] >= before["mega grand"]

    again = second.until(resumes, "meters that are at least those of the first time")
    assert all(meters(again)[name][1] >= before[name][1] for name in before)  # generations
    seated = second.until(lambda screen: len(hands(screen)) == 1, "a table that answers")
    assert hands(seated)["mega"][0] >= counted["mega"][0]
    assert processes(folder)
    second.hang_up()
    second.process.wait(PATIENCE_S)
    assert gone(folder)


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "controller.cli", "demo", "floor", *arguments], cwd=ROOT,
        env={**os.environ, **environ}, capture_output=True, text=True, check=False,
        timeout=2 * PATIENCE_S,
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
        deadline = time.monotonic() + PATIENCE_S
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
    (folder / "ready-2").write_text("mega", "ascii")
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
     ("--tables=mega,bingo", "expected one or more of mbs3,mega,nsw,pp6,rico"),
     ("--port=70000", "expected 0 to 65535"), ("--rounds=0", "expected 1 to 1000000"),
     ("--seconds=-1", "expected 1 to 10000000")],
)  # fmt: skip
def test_usage(option: str, said: str) -> None:
    done = run(option)
    assert done.returncode == 64
    assert said in done.stderr


@pytest.mark.slow
def test_without_a_terminal_it_plays_its_rounds_line_by_line_and_ends(tmp_path: Path) -> None:
    """Twice: the second time the tables are taken over as they were left."""
    options = ("--folder", str(tmp_path / "d"), "--rounds", "1", "--players", "2", "--port", "0")
    first, second = run(*options), run(*options)
    for done in (first, second):
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        assert "The demo has stopped and all its processes with it." in done.stdout
    before, after = closing(first.stdout), closing(second.stdout)
    assert before.keys() == after.keys() == TABLES.keys()
    for table, (hand, settled) in after.items():
        assert settled >= 1
        assert hand >= before[table][0]  # bets that were still open belong to the same hand
    assert gone(tmp_path / "d")
