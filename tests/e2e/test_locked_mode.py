"""Fault row 26 and the lock-out, at a real table whose people can only press keys.

That systemd starts the locked mode after five failed starts is in tests/systemd/.
"""

from __future__ import annotations

import signal
from pathlib import Path

from record.journal import Journal
from tests.e2e.keeper import Sitting, bodies
from tests.e2e.table import underfelt

AT_MS = 1_800_000_000_000
WHY = "card in the wrong place"


def pressed(sitting: Sitting, *keys: str) -> None:
    for key in keys:
        sitting.ask_sim("/do", f"press {key}")


def locked(sitting: Sitting) -> bool:
    lines = sitting.prompt()  # written line by line
    return lines[0] == "TABLE LOCKED" and lines[3] == "WAIT"


def noted(sitting: Sitting, kind: str, body: bytes) -> None:
    """Somebody wrote this before the daemon was started."""
    journal = Journal.open(
        sitting.run / "journal", table=sitting.table_name, create=False, now_ms=AT_MS
    )
    journal.append(kind, body, AT_MS)
    journal.sync()
    journal.close()


def fed_often(sitting: Sitting, times: int = 3) -> None:
    """Keys and all: it goes on being alive."""
    heard = sitting.keeper.notified.heard
    before = heard.count("WATCHDOG=1")
    sitting.until(lambda: heard.count("WATCHDOG=1") >= before + times, "fed")


def test_the_locked_mode_and_a_lock_out(tmp_path: Path) -> None:
    with Sitting(tmp_path / "run") as sitting:
        _locked_mode(sitting)
        _locked_without_a_configuration(sitting)
        _lock_out(sitting)


def _locked_mode(sitting: Sitting) -> None:
    keeper = sitting.keeper
    play = keeper.arguments
    keeper.arguments = ["table", "--locked", "--config", str(sitting.config)]
    keeper.start()
    sitting.until(lambda: locked(sitting), "locked")
    assert "READY=1" in keeper.notified.heard
    told = underfelt("shell", "--config", str(sitting.config), "why")
    assert (told.returncode, told.stderr.splitlines()[0]) == (69, "the table is locked (E-TBL-017)")
    pressed(sitting, "OPEN", "MENU", "3", "6", "ENTER")
    fed_often(sitting)
    assert locked(sitting)
    told = underfelt("status", "--config", str(sitting.config))
    assert (told.returncode, "!! E-TBL-017  table: locked mode" in told.stdout) == (1, True)
    keeper.stop()
    assert keeper.exits[-1] == (0, "")
    assert not (sitting.run / "journal").exists()  # it wrote nothing
    keeper.arguments = play


def _locked_without_a_configuration(sitting: Sitting) -> None:
    """What it may be locked for: then it cannot tell on the prompt, but it lives."""
    keeper = sitting.keeper
    play, broken = keeper.arguments, sitting.run / "broken.toml"
    broken.write_text("game = [", "utf-8")
    keeper.arguments = ["table", "--locked", "--config", str(broken)]
    keeper.notified.look()  # what the last one said is still waiting there
    keeper.notified.heard.clear()
    keeper.start()
    fed_often(sitting)
    assert "READY=1" in keeper.notified.heard
    keeper.stop()
    assert keeper.exits[-1] == (0, "")
    keeper.arguments = play


def _lock_out(sitting: Sitting) -> None:
    keeper = sitting.keeper
    keeper.start()
    sitting.until_phase("between rounds")
    sitting.until(lambda: sitting.prompt()[0].startswith("READY"), "ready to play")
    keeper.stop()
    noted(sitting, "lock", b'{"v":1,"why":"' + WHY.encode() + b'","by":"tests"}')
    keeper.start()
    sitting.until(lambda: sitting.status().get("locked") == WHY and locked(sitting), "locked out")
    pressed(sitting, "OPEN")
    before = len(keeper.exits)
    keeper.signal(signal.SIGKILL)
    sitting.until(lambda: len(keeper.exits) > before, "killed")
    found = sitting.until(sitting.status, "started again")
    assert found["locked"] == WHY
    assert found["round"] == 0
    assert locked(sitting)
    told = underfelt("status", "--config", str(sitting.config))
    assert told.returncode == 1
    assert f"!! E-TBL-006  table: locked out; {WHY} -> Fix the cause" in told.stdout
    keeper.stop()
    noted(sitting, "unlock", b'{"v":1,"by":["S1","S2"]}')
    keeper.start()
    sitting.until(lambda: sitting.prompt()[0].startswith("READY"), "free again")
    assert sitting.status()["locked"] == ""
    keeper.stop()
    assert [code for code, _ in keeper.exits][-2:] == [0, 0]
    assert not [b for b in bodies(sitting.records(), "fact") if b["what"] == "bets opened"]
