"""The table's log: what changed, once, with its class; and nobody waits for it."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import urllib.request
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.inputs import Released
from controller.daemon.journald import MESSAGE_IDS
from controller.daemon.logbook import (
    PATIENCE_US,
    Entry,
    Logbook,
    LogKeeper,
    refused_sign_ons,
    say,
)
from controller.faults.status import AwardStatus, DeviceStatus, Status
from controller.link.session import Head
from controller.registers.staff.attempts import Attempt
from record.kit.outside import printable
from tests.e2e.keeper import LogSocket, Sitting
from tests.e2e.table import ROOT, command, environment
from tests.patience import PATIENCE_S
from tests.pipes import full_pipe
from tests.systemd.test_systemd_journald import parse

READY: DeviceStatus = {"state": "ready", "code": "", "detail": ""}
CALM: Status = {"devices": {"shoe": READY}, "round": 7, "link_up": True}


def new(*statuses: Status) -> list[Entry]:
    """What the last of these adds."""
    book = Logbook(0)
    return [book.look({**CALM, **status}, PATIENCE_US) for status in statuses][-1]


def alarm(code: str, **more: Any) -> Status:
    return {"alarms": [{"code": code, **more}], "alarm_counts": {code: 1}}


def device(state: str, code: str, name: str = "shoe") -> Status:
    return {"devices": {name: {"state": state, "code": code, "detail": "seen"}}}


AWARD: AwardStatus = {
    "award": "mega/1/1",
    "round": 7,
    "seat": 3,
    "cents": 123_456,
    "state": "locked",
    "share": True,
}
TROUBLES: dict[str, Status] = {
    "table locked": {"locked": "journal damaged"},
    "journal full": {"journal": {"full": True}},
    "link lost": {"link_up": False},
    "power failing": {"power_failing": True},
    "door open": {"door_open": True},
    "configuration refused": {"configuration_change": {"verdict": "refused", "why": "x"}},
    "degraded": {"supply_low": True},
}
OVER = {"table locked": "table unlocked", "link lost": "link ready"}
ALARMS = {
    "deck alarm": "E-DCK-003", "selection lost": "selection lost", "foreign chip": "tag foreign",
    "irregularity": "late wager", "alarm": "usb refused",
}  # fmt: skip
DEVICES = {
    "device failed": ("unknown", "E-CDP-010"), "wrong device": ("locked", "E-CDP-020"),
    "display wrong": ("degraded", "E-DSP-022"),
}  # fmt: skip
SAID_ELSEWHERE = {
    "started", "stopping", "failed", "journal failed", "watchdog starving", "authorisation refused",
}  # fmt: skip


@pytest.mark.parametrize("alarm", TROUBLES)
def test_a_trouble_is_logged_when_it_comes_and_when_it_is_over(alarm: str) -> None:
    (came,) = new({}, TROUBLES[alarm])
    assert came.alarm == alarm
    assert came.level >= logging.WARNING
    assert came.fault_code is not None
    assert came.fault_code.startswith("E-TBL-")
    assert new({}, TROUBLES[alarm], TROUBLES[alarm]) == []
    (over,) = new({}, TROUBLES[alarm], {})
    assert (over.alarm, over.level) == (OVER.get(alarm, "restored"), logging.INFO)
    assert over.fault_code == came.fault_code


@pytest.mark.parametrize(("kind", "code"), ALARMS.items())
def test_an_alarm_is_logged_once(kind: str, code: str) -> None:
    told = alarm(code, seat=3, detail="what", what_to_do="do", round=6)
    (entry,) = new({}, told)
    assert entry == Entry(kind, logging.WARNING, f"{code}; seat 3; what; do", None, code, 6)
    assert new({}, told, told) == []


def test_more_alarms_than_a_status_keeps_are_counted() -> None:
    told: Status = {"alarms": [{"code": "late wager"}] * 20, "alarm_counts": {"late wager": 50}}
    entries = new({}, told)
    assert len(entries) == 21
    assert entries[0].text.startswith("30 alarms too many")


@pytest.mark.parametrize(("kind", "told"), DEVICES.items())
def test_a_device_is_logged_with_its_code_and_when_it_is_back(
    kind: str, told: tuple[str, str]
) -> None:
    (entry,) = new({}, device(*told))
    assert (entry.alarm, entry.device, entry.fault_code) == (kind, "shoe", told[1])
    assert "seen" in entry.text
    assert new({}, device(*told), device(*told)) == []
    (back,) = new({}, device(*told), {})
    assert back == Entry("device ready", logging.INFO, "shoe: ready", "shoe")


def test_a_device_that_never_answered_is_logged_after_ten_seconds() -> None:
    silent: Status = {**CALM, **device("unknown", "")}
    book = Logbook(0)
    assert book.look(silent, PATIENCE_US - 1) == []
    (entry,) = book.look(silent, PATIENCE_US)
    assert (entry.alarm, entry.fault_code) == ("device failed", "E-TBL-011")


def test_an_award_is_logged_at_every_step() -> None:
    texts = [
        new({}, {"awards": [AWARD]}),
        new({}, {"awards": [AWARD]}, {"awards": [{**AWARD, "state": "verified"}]}),
        new({}, {"awards": [AWARD]}, {}),
    ]
    assert [[(e.alarm, e.text, e.round_id) for e in one] for one in texts] == [
        [("award", f"award mega/1/1: seat 3, $1,234.56: {state}", 7)]
        for state in ("locked", "verified", "no longer pending")
    ]
    assert new({}, {"awards": [AWARD]}, {"awards": [AWARD]}) == []


def test_refused_sign_ons_are_logged_and_passed_ones_are_not() -> None:
    tried = [Attempt("failed", "D17"), Attempt("locked", "D17"), Attempt("passed", "D18"),
             Attempt("failed", "?"), Attempt("locked", "*")]  # fmt: skip
    assert [(e.alarm, e.text.partition(": ")[2]) for e in refused_sign_ons(tried)] == [
        ("authorisation refused", text)
        for text in (
            "D17: failed", "D17: locked", "an unknown id: failed", "the console: locked",
        )
    ]  # fmt: skip


def test_every_class_of_the_catalogue_is_logged_somewhere() -> None:
    ends = {OVER.get(kind, "restored") for kind in TROUBLES}
    made = {*TROUBLES, *ends, *ALARMS, *DEVICES, "device ready", "award", *SAID_ELSEWHERE}
    assert made == set(MESSAGE_IDS)
    source = "".join(p.read_text("utf-8") for p in (ROOT / "controller").rglob("*.py"))
    for kind in SAID_ELSEWHERE:
        assert re.search(rf'Entry\(\s*"{kind}"|alarm = "{kind}"|: "{kind}",', source), kind


def test_text_of_others_cannot_steer_a_terminal() -> None:
    assert printable("a\x1b[2J\nb\u202e") == "a\\x1b[2J\\x0ab\\u202e"


def test_a_log_that_stumbles_does_not_end_the_table(caplog: pytest.LogCaptureFixture) -> None:
    def status() -> Status:
        raise KeyError("Qs")

    keeper = LogKeeper(status, lambda: 0, deque([Attempt("failed", "D1")]))
    with caplog.at_level(logging.INFO):
        keeper.released(Released((), (), None, {"locked": "x"}, Head(0, 0, "")))
    assert [r.getMessage() for r in caplog.records] == [
        "sign-on at the console: D1: failed", "the log stumbled: KeyError",
    ]  # fmt: skip


def test_say_carries_every_field(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        say(Entry("device failed", logging.ERROR, "text", "shoe", "E-CDP-010", 7))
    (record,) = caplog.records
    assert (record.alarm, record.device) == ("device failed", "shoe")  # type: ignore[attr-defined]


# --- a real daemon -----------------------------------------------------------------------------

JOURNALD = """
import os, sys
from controller.daemon import journald
from controller.cli import main
journald.SOCKET, read = {path!r}, os.fstat(2)
os.environ["JOURNAL_STREAM"] = f"{{read.st_dev}}:{{read.st_ino}}"
sys.exit(main(sys.argv[1:]))
"""


class Logged(Sitting):
    def __init__(self, run: Path) -> None:
        run.mkdir()
        self._log = LogSocket(run / "journald")
        super().__init__(run, game="MBS3")

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._log.close()

    @property
    def lines(self) -> list[dict[str, str]]:
        return [parse(data) for data in list(self._log.datagrams)]

    def find(self, alarm: str, device: str | None = None) -> dict[str, str] | None:
        lines = [row for row in self.lines if row.get("MESSAGE_ID") == MESSAGE_IDS[alarm]]
        return next((row for row in reversed(lines) if device in (None, row.get("DEVICE"))), None)

    def fault(self, words: str) -> None:
        address = (self.run / "control").read_text("ascii").strip()
        body = json.dumps({"do": words}).encode()
        asked = urllib.request.Request(
            f"{address}/fault", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
            assert json.load(answer) == {"ok": True}


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Logged(tmp_path_factory.mktemp("log") / "run") as table:
        yield table


def all_ready(table: Logged) -> bool:
    devices = table.status().get("devices", {})
    return bool(devices) and all(told["state"] == "ready" for told in devices.values())


def test_a_real_daemon_logs_to_journald(logged: Logged) -> None:
    """Start, a device that goes and comes back, the door, stop."""
    logged.keeper.shim = JOURNALD.format(path=str(logged.run / "journald"))
    logged.keeper.start()
    logged.until(lambda: all_ready(logged), "all devices ready")
    logged.until(lambda: logged.find("device ready", "sign"), "the sign is logged")
    started = logged.find("started")
    assert started is not None
    assert started["PRIORITY"] == "6"
    assert started["TABLE_ID"] == logged.table_name
    assert started["SYSLOG_IDENTIFIER"] == f"underfelt-{logged.table_name}"
    assert not [row for row in logged.lines if row["PRIORITY"] < "4"]

    logged.fault("unplug shoe")
    lost = logged.until(lambda: logged.find("device failed", "shoe"), "the shoe's line")
    assert lost["PRIORITY"] == "3"  # no card can be dealt
    assert lost["FAULT_CODE"].startswith("E-CDP-")
    before = len(logged.lines)
    logged.fault("replug shoe")
    logged.until(
        lambda: logged.find("device ready", "shoe") in logged.lines[before:], "the shoe is back"
    )
    logged.fault("door open")
    door = logged.until(lambda: logged.find("door open"), "the door's line")
    assert door["PRIORITY"] == "4"
    logged.keeper.stop()
    stopping = logged.find("stopping")
    assert stopping is not None
    assert "SIGTERM" in stopping["MESSAGE"]
    assert (logged.keeper.exits[-1], logged.keeper.errors) == ((0, ""), "")


def test_without_journald_the_same_lines_are_on_standard_error(logged: Logged) -> None:
    logged.keeper.shim = ""
    logged.keeper.start()
    logged.until(lambda: all_ready(logged), "all devices ready")
    logged.keeper.stop()
    assert logged.keeper.exits[-1] == (0, "")
    errors = logged.keeper.errors
    lines = errors.splitlines()
    assert all(re.match(r"<[2-6]>\S", line) for line in lines), errors
    for alarm, text in (("started", f"table {logged.table_name}"), ("device ready", "shoe: ready")):
        said = rf"<6>{text}.* \[MESSAGE_ID={MESSAGE_IDS[alarm]}"
        assert any(re.match(said, line) for line in lines), errors


def test_a_standard_error_that_nobody_reads_holds_up_nothing(logged: Logged) -> None:
    reading, writing = full_pipe()
    process = subprocess.Popen(
        command(*logged.keeper.arguments), cwd=ROOT, env=environment(), stderr=writing,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        logged.until(lambda: all_ready(logged), "all devices ready")
        for _ in range(3):
            logged.fault("unplug shoe")
            logged.until(lambda: not all_ready(logged), "the shoe is gone")
            logged.fault("replug shoe")
            logged.until(lambda: all_ready(logged), "the shoe is back")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reading)
        os.close(writing)
