"""The command as a user runs it: a process, its exit code and its two streams."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

COMMAND = (sys.executable, "-m", "controller.cli")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def run(*arguments: str, stdin: bytes = b"") -> Outcome:
    done = subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, check=False)
    err = done.stderr.decode("utf-8", "backslashreplace")
    assert "Traceback" not in err, err
    return Outcome(done.returncode, done.stdout.decode("utf-8"), err)
