"""The progressive kept out by a technician and taken in by a supervisor; nothing locked moves."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from controller.rules.engine.state import Phase
from tests.controller.shell.inside import Inside, answered, fed_table, inside
from tests.e2e.keeper import Sitting, bodies
from tests.e2e.table import underfelt
from tests.sim.table import VirtualTable

ME = pwd.getpwuid(os.geteuid()).pw_name
OLGA, TOM, SUE = 1, 2, 3
BY_TOM = {"safe_mode": True, "by": "tom", "waits": None}


def test_a_technician_closes_it_and_a_supervisor_opens_it() -> None:
    desk = inside("mbs3-plain", None)
    assert answered(desk, OLGA, "safe-mode", "on")["error"] == "E-SHL-002"
    assert answered(desk, TOM, "safe-mode", "on")["data"] == BY_TOM
    assert answered(desk, TOM, "safe-mode", "on")["data"] == BY_TOM, "said twice, told once"
    assert answered(desk, OLGA, "safe-mode")["data"] == BY_TOM
    refused = answered(desk, TOM, "safe-mode", "off")
    assert (refused["error"], refused["text"]) == (
        "E-SHL-002", "safe-mode off is for a supervisor; tom is a technician",
    )  # fmt: skip
    assert answered(desk, SUE, "safe-mode", "off")["data"]["safe_mode"] is False
    facts = [json.loads(r.body) for r in desk.table.journal.records() if r.kind == "fact"]
    closed, opened = facts[-2:]
    assert (closed["what"], closed["of"], closed["by"]) == (
        "progressive closed", {"why": "safe mode, ordered by tom"}, {"device": "shell"},
    )  # fmt: skip
    assert (opened["what"], opened["by"]) == ("progressive opened", {"device": "shell"})


def test_not_while_bets_are_open() -> None:
    desk = inside("mbs3-plain", Phase.BETTING)
    for uid, word in ((TOM, "on"), (SUE, "off")):
        refused = answered(desk, uid, "safe-mode", word)
        assert refused["error"] == "E-SHL-005"
        assert refused["text"] == "round 1: bets are open; say it again after the closing call"
    assert desk.now() == desk.before


def test_not_where_there_is_no_progressive_nor_in_test_mode() -> None:
    desk = inside("rico-plain", None)
    refused = answered(desk, TOM, "safe-mode", "on")
    assert (refused["error"], refused["text"]) == ("E-SHL-014", "this game has no progressive")
    refused = answered(inside("rico-plain", Phase.BETTING), TOM, "safe-mode", "on")
    assert refused["error"] == "E-SHL-014", "the end of the round would not help"
    desk = inside("mbs3-plain", None)
    assert answered(desk, TOM, "test", "on")["ok"]
    refused = answered(desk, TOM, "safe-mode", "on")
    assert (refused["error"], refused["text"]) == ("E-SHL-014", "the table is in test mode")


def test_what_the_configuration_holds_is_not_opened_here() -> None:
    desk = inside("mbs3-plain", None)
    core = desk.table.writer.core
    core.configure(core.prompter.texts, type(core.options)(safe_mode=True))
    core.set_mode(core.now_us)
    refused = answered(desk, SUE, "safe-mode", "off")
    assert refused["error"] == "E-SHL-014"
    assert refused["text"].startswith("policy.safe_mode stands in the configuration")
    assert answered(desk, SUE, "safe-mode")["data"]["by"] == "policy.safe_mode"


def test_the_configuration_does_not_take_back_what_a_person_has_ordered() -> None:
    desk = inside("mbs3-plain", None)
    answered(desk, TOM, "safe-mode", "on")
    core = desk.table.writer.core
    core.set_mode(core.now_us)
    assert core.state.progressive_closed == "safe mode, ordered by tom"


def sent(table: VirtualTable) -> list[Any]:
    return [json.loads(r.body)["event"] for r in table.journal.records() if r.kind == "outbox"]


@pytest.mark.parametrize("phase", [Phase.LOCKED, Phase.DEALING, Phase.DECISION_1, Phase.SETTLEMENT])
def test_a_locked_round_keeps_its_contribution_and_its_award(phase: Phase) -> None:
    alone = fed_table("mbs3-plain")
    alone.play()
    table = fed_table("mbs3-plain")
    closed: list[dict[str, Any]] = []

    def at_once() -> bool:
        if not closed and table.starts and table.writer.core.state.phase is phase:
            desk = Inside(table, Path(folder), written=False, plays=True)
            closed.append(asyncio.run(desk.line(TOM, ["safe-mode", "on"])))
        return False

    with tempfile.TemporaryDirectory() as folder:
        table.play(at_once)
    assert closed[0]["data"] == BY_TOM
    assert table.results == alone.results
    assert sent(table) == sent(alone)
    assert sent(table)[:2] == [
        {"what": "contributed", "round": 1, "wagers": [[2, 100, 1], [5, 100, 1]]},
        {"what": "claimed", "round": 1, "claims": [[2, "straight flush", 10]]},
    ]
    assert table.writer.core.state.progressive_closed == "safe mode, ordered by tom"


def test_it_holds_over_a_restart_and_the_dealer_reads_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    with Sitting(run, game="MBS3") as sitting:
        sitting.keeper.start()
        sitting.until_phase("between rounds")
        path = str(run / "service.sock")
        told = underfelt("shell", "--socket", path, "safe-mode", "on")
        assert told.returncode == 0
        assert told.stdout.splitlines() == [
            f"safe mode is on, ordered by {ME}: nothing is contributed",
            "-> it ends with: safe-mode off, by a supervisor",
        ]
        refused = underfelt("shell", "--socket", path, "safe-mode", "off")
        assert (refused.returncode, "E-SHL-002" in refused.stderr) == (77, True)
        pid = sitting.keeper.pid
        sitting.keeper.signal(signal.SIGKILL)
        sitting.until(lambda: sitting.keeper.process and sitting.keeper.pid != pid, "a start")
        status = sitting.until(sitting.status, "an answer")
        assert (status["safe_mode"], status["safe_mode_by"]) == (True, ME)
        sitting.until(lambda: sitting.ask_sim("/state")["meter"].strip() == "CLOSED", "CLOSED")
        (trouble,) = [one for one in sitting.status()["troubles"] if one["code"] == "E-TBL-005"]
        assert f"ordered by {ME}" in trouble["what"]
        sitting.keeper.stop()
        facts = bodies(sitting.records(), "fact")
        assert sum(one["what"] == "progressive closed" for one in facts) == 1
