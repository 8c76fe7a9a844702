"""``web.toml``: what would leave pages or passwords without protection is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.web.conftest import written


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ('listen = "0.0.0.0:0"', "E-WEB-054"),
        ('listen = "192.0.2.1:443"\nhosts = ["floor.example"]', "E-WEB-054"),
        ('listen = "[::]:0"\nhosts = ["floor.example"]', "E-WEB-054"),
        ("behind_proxy = true", "E-WEB-054"),
        ('certificate = "a.pem"', "E-WEB-054"),
        ('listen = "somewhere"', "E-WEB-052"),
        ('hosts = ["a b"]', "E-WEB-052"),
        ("sesion = 1", "E-WEB-051"),
    ],
)
def test_what_is_unsafe_is_refused_at_the_start(tmp_path: Path, more: str, code: str) -> None:
    path = written(tmp_path, more=more)
    if "listen" in more:
        path.write_text(path.read_text().replace('listen = "127.0.0.1:0"\n', ""))
    done = checked(path)
    assert (done.returncode, done.stdout) == (os.EX_CONFIG, "")
    assert code in done.stderr


@pytest.mark.parametrize(
    "more",
    [
        "login = false\nbehind_proxy = true\nhosts = ['a.example']",
        "login = false\nlisten = '0.0.0.0:0'\nhosts = ['a.example']\ncertificate = 'a'\nkey = 'b'",
    ],
)
def test_login_is_left_out_for_this_machine_alone(tmp_path: Path, more: str) -> None:
    path = tmp_path / "web.toml"
    path.write_text(f"[web]\n{more}\n")
    done = checked(path)
    assert (done.returncode, "web.login" in done.stderr) == (os.EX_CONFIG, True)


def test_the_examples_of_the_page_can_be_used(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations" / "web.md").read_text("utf-8")
    examples = re.findall(r"```\n(\[web\]\nlisten.*?)```", page, re.DOTALL)
    assert len(examples) == 3, "the floor's machine, a table's with tickets, and without"
    path = tmp_path / "web.toml"
    for example in examples:
        path.write_text(example, "utf-8")
        done = checked(path)
        assert done.returncode == 0, done.stderr


def test_login_needs_someone_who_checks_passwords(tmp_path: Path) -> None:
    path = tmp_path / "web.toml"
    path.write_text("[web]\n")
    assert "link.control" in checked(path).stderr
    path.write_text("[web]\nlogin = false\n")
    assert checked(path).returncode == 0


def checked(path: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-P",
        "-m",
        "controller.cli",
        "web",
        "--check",
        "--config",
        str(path),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_a_simulated_table_is_only_for_this_machine(tmp_path: Path) -> None:
    """Its steps need no password, so a session would do more than look."""
    path = written(tmp_path, login=True)
    assert checked(path).returncode == 0
    path.write_text(path.read_text().replace('"table.sock"', '"table.sock"\nsimulator = "control"'))
    done = checked(path)
    assert done.returncode == os.EX_CONFIG
    assert "E-WEB-054" in done.stderr
    assert "table.simulator" in done.stderr
    assert checked(written(tmp_path, login=False)).returncode == 0
