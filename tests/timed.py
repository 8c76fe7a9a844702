"""Runs commands one after the other until one fails, and prints how long they took.

``python -m tests.timed [--clean] COMMAND ...``; CPU time includes every process that they waited
for. With ``--clean`` they must also leave the checkout as it was.
"""

from __future__ import annotations

import resource
import shlex
import subprocess
import sys
import time
from typing import Final

CLEAN: Final = "--clean"


def tree() -> list[str] | None:
    """What differs from the last commit, in short and in full; None where there is no checkout, as
    in a tarball."""
    found = []
    for words in ("status --porcelain -- .", "diff HEAD -- ."):
        # Without the lock of the index, which somebody who commits meanwhile needs.
        command = ["git", "--no-optional-locks", *words.split()]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError:
            return None
        if done.returncode:
            return None
        found.append(done.stdout.decode("utf-8", "replace"))
    return found


def main(arguments: list[str]) -> int:
    commands = [one for one in arguments if one != CLEAN]
    before = tree() if CLEAN in arguments else None
    began, code = time.monotonic(), 0
    for command in commands:
        print(command, flush=True)
        code = subprocess.run(shlex.split(command), check=False).returncode
        if code:
            break
    wall = time.monotonic() - began
    if before is not None and (after := tree()) != before:
        print(f"the run changed the checkout, which is now:\n{after[0] if after else '?'}")
        code = code or 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    said = "passed" if code == 0 else "FAILED"
    print(f"{said} in {wall:.0f} s, {cpu:.0f} s of CPU time (set-up not counted)")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
