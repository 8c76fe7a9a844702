"""A real table in the browser: simulator, daemon and web process, joined as on a Pi."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hw_sim.scenario import Scenario
from tests.e2e.table import configure, start, table_arguments, underfelt, wait_for
from tests.patience import PATIENCE_S
from tests.web.browser import Web, until


@dataclass
class Table:
    """One table of a game, with ``underfelt web`` in front of it."""

    name: str
    run: Path
    sim: subprocess.Popen[str]
    daemon: subprocess.Popen[str]
    web: Web

    def simulator(self, path: str) -> Any:
        """What the simulator itself says, not through the web process."""
        address = (self.run / "control").read_text("ascii").strip()
        with urllib.request.urlopen(f"{address}{path}", timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def do(self, sentence: str) -> None:
        """A step at the simulator, without the page."""
        done = underfelt("sim", "do", *sentence.split(), "--run", str(self.run))
        assert done.returncode == 0, done.stderr

    def displays(self) -> Any:
        """The display boards' memory, now."""
        return self.simulator("/changes")["parts"]["displays"][1]

    def round(self, number: int) -> dict[str, Any]:
        """The record in the table's journal and what settling it gives."""
        out = underfelt("journal", "export-round", str(self.run / "journal"), str(number))
        assert out.returncode == 0, out.stderr
        found: dict[str, Any] = json.loads(out.stdout)
        record = self.run / f"round-{number}.json"
        record.write_text(json.dumps(found["record"]), "utf-8")
        settled = underfelt("settle", str(record))
        assert json.loads(settled.stdout) == found["result"], settled.stderr
        return found


@contextmanager
def running(run: Path, scenario: Scenario) -> Iterator[Table]:
    """With the scenario's table and settings; nobody plays yet."""
    game, layout = scenario.game, str(scenario.layout_path)
    sim = start(
        "sim", "--game", game, "--layout", layout, "--run", str(run), "--seed", "7", "--pace", "4"
    )  # fmt: skip
    daemon = web = None
    try:
        wait_for(run / "control", sim)
        config = configure(run, game, scenario.settings)
        daemon = start(*table_arguments(scenario, config))
        wait_for(run / "service.sock", daemon)
        file = run / "web.toml"
        file.write_text(
            '[web]\nlisten = "127.0.0.1:0"\nlogin = false\n'
            f'[[table]]\nname = "{game.lower()}"\nsocket = "service.sock"\nsimulator = "control"\n'
            'journal = "journal"\n',
            "utf-8",
        )
        web = Web(file)
        made = Table(game.lower(), run, sim, daemon, web)
        until(lambda: made.web.get("/readyz").status == 200)
        yield made
    finally:
        if web is not None and web.process.poll() is None:
            web.stop()
        for process in (daemon, sim):
            if process is not None:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=PATIENCE_S)
