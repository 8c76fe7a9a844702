"""The files in systemd/, and the programs of systemd that judge them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
SYSTEMD = ROOT / "systemd"


def tool(name: str) -> str:
    """A program of systemd. Its absence fails the test: what is not judged is not known."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is missing; run: apt-get install -y systemd")
    return found


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [tool(name), *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


def directives(path: Path) -> list[tuple[str, str, str]]:
    """Section, key and value of every line, in order; a key may come several times."""
    found, section = [], ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found.append((section, key, value))
    return found


def values(path: Path, key: str) -> list[str]:
    return [value for _, name, value in directives(path) if name == key]
