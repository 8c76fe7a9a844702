"""Two processes over ptys, a socket and real time: simulator on one side, drivers on the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from hw_sim.scenario import find

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 240
"""Only so that a hang ends; nothing is measured."""


def start(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def stop(process: subprocess.Popen[str]) -> tuple[str, str]:
    process.kill()
    return process.communicate()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not path.exists():
        assert process.poll() is None, stop(process)
        assert time.monotonic() < deadline, stop(process)
        time.sleep(0.05)


def test_a_scenario_over_real_ptys_ends_as_written(tmp_path: Path) -> None:
    path = find("mega-plain")
    run = tmp_path / "run"
    sim = start("-m", "controller.cli", "sim", "--scenario", str(path), "--run", str(run))
    wait_for(run / "control", sim)
    host = start("-m", "tests.sim.live_host", str(run), str(path))
    try:
        played = sim.communicate(timeout=LIMIT_S)
        settled, complaint = host.communicate(timeout=30)
    finally:
        stop(sim)
        stop(host)
    assert sim.returncode == 0, played
    assert complaint == ""
    results = [json.loads(line) for line in settled.splitlines()]
    expected = tomllib.loads(path.read_text("utf-8"))["round"]
    assert [r["round_status"] for r in results] == [r["status"] for r in expected]
    nets = [{str(row["seat"]): row["net"] for row in r["seats"]} for r in results]
    assert nets == [r["net"] for r in expected]
