"""A real table: the simulator's process and the daemon's, joined by ptys and a socket."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller.config.keys import key_line
from controller.registers.keys import make_keys
from controller.registers.kinds import CHIPS
from hw_sim.scenario import Scenario, cents, find, load
from tests.patience import PATIENCE_S
from tests.sim.table import METER, differences

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: str, shim: str = "") -> list[str]:
    """``shim`` is Python to run instead of the command's own first lines."""
    return [sys.executable, *(("-c", shim) if shim else ("-m", "controller.cli")), *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COVERAGE_PROCESS_START": ""}


def underfelt(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """``given`` is what is typed into it."""
    return subprocess.run(
        command(*arguments), cwd=ROOT, env=environment(), text=True, capture_output=True,
        check=False, timeout=PATIENCE_S, input=given,
    )  # fmt: skip


def start(*arguments: str, shim: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments, shim=shim), cwd=ROOT, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def configure(run: Path, game: str, settings: dict[str, Any]) -> Path:
    """Everything a table needs beside its devices: chip register, sealing key, configuration."""
    make_keys(CHIPS, run / "chips.key", run / "chips.pub")
    made = underfelt(
        "chips", "import", str(run / "house.chips"), str(run / "chips.csv"), "--new", "OURS",
        "--key", str(run / "chips.key"), "--by", "tests",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    key = run / "sealing.key"
    key.write_text(key_line(), "ascii")
    key.chmod(0o400)
    rows = [f"{name} = {toml(value)}" for name, value in settings.items()]
    config = run / "table.toml"
    config.write_text(
        f'game = "{game}"\nlayout = "layout.toml"\n[settings]\n' + "\n".join(rows) + "\n"
        '[journal]\npath = "journal"\n'
        '[chips]\nregister = "house.chips"\npublic_key = "chips.pub"\nhouse = "OURS"\n'
        '[staff]\nregister = "none"\npublic_key = "none"\n'
        '[keys]\nsealing = "sealing.key"\n'
        '[service]\nsocket = "service.sock"\n',
        "utf-8",
    )
    return config


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"{path} did not appear: {process.communicate()}")
        time.sleep(0.05)


@dataclass
class Played:
    """What a scenario left behind."""

    sim: tuple[int, str, str]
    table: tuple[int, str, str]
    rounds: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def table_arguments(scenario: Scenario, config: Path) -> list[str]:
    magic = next((s.words[0] for s in scenario.steps if s.verb == "magic"), "-")
    lucky = next((s.words[0] for s in scenario.steps if s.verb == "lucky"), "-")
    told = [s.words[0].split()[1] for s in scenario.steps if s.verb == "link"]
    meter = cents(told[0]) if told else METER
    arguments = ["table", "--config", str(config), "--meter", str(meter)]
    return [*arguments, f"--selection={magic}/{lucky}"] if scenario.game == "MEGA" else arguments


def play(name: str, run: Path) -> Played:
    """One scenario with real processes; the journal is read, verified and settled afterwards."""
    path = find(name)
    scenario = load(path)
    sim = start("sim", "--scenario", str(path), "--run", str(run), "--link-elsewhere")
    table: subprocess.Popen[str] | None = None
    try:
        wait_for(run / "control", sim)
        config = configure(run, scenario.game, scenario.settings)
        table = start(*table_arguments(scenario, config))
        out, err = sim.communicate(timeout=PATIENCE_S)
        table.send_signal(signal.SIGTERM)
        ended = (*table.communicate(timeout=PATIENCE_S),)
    finally:
        for process in (sim, table):
            if process is not None and process.poll() is None:
                process.kill()
                process.communicate()
    played = Played((sim.returncode, out, err), (table.returncode, *ended))
    if sim.returncode:
        played.problems.append(f"simulator: {err.strip()}")
    if table.returncode or unlogged(ended[1]):
        played.problems.append(f"table: exit {table.returncode}: {ended[1].strip()}")
    evidence(played, scenario, run)
    return played


def unlogged(errors: str) -> list[str]:
    """Lines on a daemon's standard error that are not of its log, or say that something failed."""
    return [line for line in errors.splitlines() if not re.match(r"<[3-6]>\S", line)]


def evidence(played: Played, scenario: Scenario, run: Path) -> None:
    journal = str(run / "journal")
    verifier = ROOT / "record" / "verify_journal.py"
    checked = subprocess.run(
        [sys.executable, "-I", str(verifier), journal], text=True, capture_output=True, check=False
    )
    if checked.returncode:
        played.problems.append(f"verifier: {checked.stdout}{checked.stderr}")
    for number, expected in enumerate(scenario.rounds, 1):
        exported = underfelt("journal", "export-round", journal, str(number))
        if exported.returncode:
            played.problems.append(f"round {number}: {exported.stderr.strip()}")
            continue
        found = json.loads(exported.stdout)
        played.rounds.append(found)
        played.problems += differences(expected, found["result"])
        record = run / f"round-{number}.json"
        record.write_text(json.dumps(found["record"]), "utf-8")
        settled = underfelt("settle", str(record))
        if json.loads(settled.stdout or "null") != found["result"]:
            played.problems.append(f"round {number}: settle says otherwise: {settled.stderr}")
