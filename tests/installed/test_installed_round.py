"""A simulated table with its link server, run and looked at by the installed commands alone."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installed.building import Machine
from tests.patience import PATIENCE_S

TABLE = "mega"
"""Its wagers of up to three credits bring the mystery level within a round or two."""


class Floor:
    """``underfelt demo floor`` with one table, from a folder that no checkout is near."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.folder = folder / "d"
        self.log = folder / "floor.log"
        self.table = str(self.folder / TABLE / "table.toml")
        self.link = str(self.folder / "link" / "link.toml")
        self.journal = self.folder / TABLE / "journal"
        self.process = machine.start(
            "demo", "floor", "--folder", str(self.folder), "--tables", TABLE, "--players", "7",
            "--pace", "4", "--rounds", "1000", "--terminal", log=self.log,
        )  # fmt: skip

    def ok(self, *arguments: str) -> str:
        done = self.machine.run(*arguments)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def until(self, wanted: str) -> str:
        """The log as soon as a line of it has the words."""
        deadline = time.monotonic() + PATIENCE_S
        while wanted not in (said := self.log.read_text("utf-8")):
            assert self.process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.1)
        return said

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0, self.log.read_text("utf-8")
        return self.log.read_text("utf-8")


@pytest.fixture
def floor(machine: Machine, tmp_path: Path) -> Iterator[Floor]:
    made = Floor(machine, tmp_path)
    yield made
    if made.process.poll() is None:
        made.process.terminate()
        try:
            made.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            made.process.kill()


def test_a_round_with_link_shell_replay_evidence_and_bundle(floor: Floor, tmp_path: Path) -> None:
    floor.until("starting the tables")
    floor.until("JACKPOT")
    hand = re.findall(r"hand (\d+) settled", floor.until(" settled, house"))[0]

    status = json.loads(floor.ok("shell", "--config", floor.table, "--json", "status"))
    assert status["table"] == TABLE
    assert "grand" in floor.ok("link", "status", "--config", floor.link)
    floor.ok("shell", "--config", floor.table, "devices")
    listed = json.loads(floor.ok("jackpot", "list", "--all", "--json", "--config", floor.link))
    award = next(row["award"] for row in listed["awards"] if row["award"].startswith(TABLE))
    proof = tmp_path / "proof"
    floor.ok(
        "evidence", award, "--config", floor.link, "--journal", str(floor.journal),
        "--output", str(proof),
    )  # fmt: skip
    assert "The demo has stopped" in floor.stop()

    told = floor.ok("replay", hand, "--config", floor.table, "--plain")
    assert "settled" in told.lower()
    floor.ok("journal", "verify", str(floor.journal))
    floor.ok("draws", "verify", str(floor.journal))
    record = tmp_path / "round.json"
    exported = json.loads(floor.ok("journal", "export-round", str(floor.journal), hand))
    record.write_text(json.dumps(exported["record"]), "utf-8")
    assert json.loads(floor.ok("settle", str(record))) == exported["result"]
    packed = tmp_path / "bundle.tar.gz"
    floor.ok("bundle", "--config", floor.table, "--output", str(packed))
    with tarfile.open(packed) as archive:
        assert any(name.endswith("identity.json") for name in archive.getnames())
    checked = subprocess.run(
        [floor.machine.python, "-I", proof / "verify.py"], cwd=tmp_path, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
