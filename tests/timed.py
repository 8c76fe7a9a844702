"""Runs commands one after the other until one fails, and prints how long they took.

``python -m tests.timed COMMAND ...``; CPU time includes every process that they waited for.
"""

from __future__ import annotations

import resource
import shlex
import subprocess
import sys
import time


def main(commands: list[str]) -> int:
    began, code = time.monotonic(), 0
    for command in commands:
        print(command, flush=True)
        code = subprocess.run(shlex.split(command), check=False).returncode
        if code:
            break
    wall = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    said = "passed" if code == 0 else "FAILED"
    print(f"{said} in {wall:.0f} s, {cpu:.0f} s of CPU time (set-up not counted)")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
