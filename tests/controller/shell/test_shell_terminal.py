"""The shell through a real terminal of 80 columns and 24 lines, as over SSH or a serial console."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controller.shell.screen import Screen
from tests.e2e.keeper import Sitting
from tests.e2e.table import ROOT, command, environment
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def sitting() -> Iterator[Sitting]:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        with Sitting(run, game="MBS3") as made:
            made.keeper.start()
            made.until_phase("between rounds")
            yield made


def is_ready(sitting: Sitting) -> bool:
    return all(one["state"] == "ready" for one in sitting.status()["devices"].values())


def test_a_session_at_a_serial_console(sitting: Sitting, tmp_path: Path) -> None:
    sitting.until(lambda: is_ready(sitting), "every device ready")  # another test may restart it
    screen = Screen(sitting, tmp_path)
    screen.until("mbs3 round 0 between rounds[^>]*> ")
    assert "16 of 16 ready" in screen.says("status")
    assert "identity     vendor UFELT, model SHOE-1" in screen.says("device shoe")
    wrong = screen.says("devise shoe")
    assert "devise: no such verb; did you mean device? (E-SHL-006)" in wrong.replace("\r\n", "\n")
    # Tab completes the verb and the device of this table.
    screen.child.send("device sho\t\r")
    assert "SHOE-1" in screen.until(r"round 0 [^>]*> ")
    # Where there are several, one Tab lists them.
    screen.child.send("dev\t")
    screen.until(r"device +devices[^>]*> device")
    screen.child.send("\x03")
    screen.until(r"round 0 [^>]*> ")
    # A long answer stops at each screen.
    screen.child.send("config\r")
    screen.until("-- Enter for more, q to stop -- ")
    screen.child.send("q")
    screen.until(r"round 0 [^>]*> ")
    # Any other key ends the listing as well, and is the first letter of the next command.
    screen.child.send("config\r")
    screen.until("-- Enter for more, q to stop -- ")
    screen.child.send("device shoe\r")
    screen.until("SHOE-1")
    screen.until(r"round 0 [^>]*> ")
    # A command typed behind a long one is neither an answer to the pages nor lost.
    screen.child.send("config\rdevice shoe\r")
    assert "-- Enter" not in screen.until("SHOE-1")
    screen.until(r"round 0 [^>]*> ")
    # Ctrl-C gives up a line and a command, not the shell.
    screen.child.send("stat\x03")
    screen.until(r"round 0 [^>]*> ")
    screen.child.send("watch\r")
    sitting.ask_sim("/do", "seat 2 bets 10.00 on 1")
    screen.until("SpotSettled")
    screen.child.sendintr()
    screen.until(r"round 0 [^>]*> ")
    screen.leave()
    assert "\x1b[3" not in screen.seen, "no colour"
    assert "\x1b[?2004" not in screen.seen, "nothing a plain console does not know"
    history = tmp_path / "underfelt" / "shell_history"
    kept = history.read_text("utf-8").splitlines()
    assert "device shoe" in kept
    assert "q" not in kept, "commands alone"
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_terminal_that_can_do_nothing(sitting: Sitting, tmp_path: Path) -> None:
    screen = Screen(sitting, tmp_path, term="dumb")
    screen.until("mbs3 round 0 between rounds[^>]*> ")
    told = screen.says("why")
    assert "(MBS3-" in told
    assert "\x1b" not in screen.seen
    screen.leave()


def test_lines_from_a_pipe_and_their_exit_code(sitting: Sitting, tmp_path: Path) -> None:
    done = subprocess.run(
        command("shell", "--socket", str(sitting.run / "service.sock")),
        input="why\nround 7\nquit\nstatsu\n", text=True, capture_output=True, check=False,
        cwd=ROOT, env={**environment(), "HOME": str(tmp_path)}, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 66
    assert "(MBS3-" in done.stdout
    assert "> " not in done.stdout.splitlines()[0], "no prompt"
    assert "E-SHL-011" in done.stderr
    assert "statsu" not in done.stderr


def test_the_shell_outlives_the_daemon(sitting: Sitting, tmp_path: Path) -> None:
    """A reboot from the shell: the daemon ends, and the same shell goes on with the next one."""
    screen = Screen(sitting, tmp_path)
    screen.until("mbs3 round 0 between rounds[^>]*> ")
    assert "say: reboot yes" in screen.says("reboot").replace("\r\n", " ")
    pid = sitting.keeper.pid
    screen.says("reboot yes")
    sitting.until(lambda: sitting.keeper.process is None, "the daemon ended")
    assert sitting.keeper.exits[-1] == (0, "")
    assert "no table answers there" in screen.says("status").replace("\r\n", " ")
    sitting.keeper.start()
    sitting.until_phase("between rounds")
    assert sitting.keeper.pid != pid
    assert "table        mbs3, MBS3" in screen.says("status")
    screen.leave()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)
