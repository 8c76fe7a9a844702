"""Row 70: a daemon that others can look into or steer does not start."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from controller.daemon.selfaudit import findings
from hw_sim.scenario import HERE, find, load
from tests.e2e.table import ROOT, configure, underfelt

QUIET = "Name:\tunderfelt\nTracerPid:\t0\n"
AUDIT = "import sys; from controller.daemon.selfaudit import audit; audit(bool(sys.flags.inspect))"


@pytest.mark.parametrize(
    ("environ", "status", "listening", "prompt", "said"),
    [
        ({}, "TracerPid:\t812\n", (), False, "process 812 is attached as a debugger"),
        ({"LD_PRELOAD": "x.so"}, QUIET, (), False, "LD_PRELOAD is set"),
        ({"PYTHONPATH": "/tmp"}, QUIET, (), False, "PYTHONPATH is set"),
        ({"PYTHONINSPECT": "1"}, QUIET, (), False, "PYTHONINSPECT is set"),
        ({}, QUIET, ("('0.0.0.0', 5678)",), False, "a port is open that is not the table's"),
        ({}, QUIET, (), True, "started with -i"),
    ],
)
def test_row_70_what_is_exposed_is_said(
    environ: dict[str, str], status: str, listening: tuple[str, ...], prompt: bool, said: str
) -> None:
    (found,) = findings(environ, status, listening, prompt=prompt)
    assert said in found


def test_row_70_an_orderly_process_starts() -> None:
    assert list(findings({"LANG": "C", "PYTHONPATH": ""}, QUIET, (), prompt=False)) == []


def audited(*options: str, handed: tuple[int, ...] = (), **environ: str) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, *options, "-c", AUDIT], cwd=ROOT, pass_fds=handed, text=True,
        capture_output=True, check=False, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], **environ},
    )  # fmt: skip
    return ran.returncode, ran.stderr


def test_row_70_the_real_process_looks_at_itself() -> None:
    assert audited() == (0, "")
    assert "PYTHONSTARTUP is set" in audited(PYTHONSTARTUP="x.py")[1]
    with socket.create_server(("127.0.0.1", 0)) as port, socket.socket() as quiet:
        assert audited(handed=(quiet.fileno(),)) == (0, "")
        code, err = audited(handed=(port.fileno(), quiet.fileno()))
        assert code != 0
        assert f"('127.0.0.1', {port.getsockname()[1]})" in err
        assert "(E-RUN-005)" in err


def test_row_70_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    shutil.copy(HERE / "tables" / "mbs3.toml", tmp_path / "layout.toml")
    (tmp_path / "chips.csv").write_text("uid,value,class,series\nE004010100000001,100,cash,sim\n")
    config = configure(tmp_path, "MBS3", load(find("mbs3-plain")).settings)
    (tmp_path / "sealing.key").chmod(0o444)
    ran = underfelt("table", "--config", str(config))
    assert (ran.returncode, ran.stdout) == (77, "")
    assert "mode 0444: the table's key must be a file of mode 0400" in ran.stderr
    assert not (tmp_path / "journal").exists()


def test_the_memory_of_a_daemon_is_nobodys() -> None:
    code = (
        "from record.kit.process import keep_memory_private as private; import resource; private();"
        "print(resource.getrlimit(resource.RLIMIT_CORE)[0]);"
        "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=True
    )
    assert ran.stdout.split() == ["0", "0"]
