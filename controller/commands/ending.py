"""How a command without verbs ends: one message for each problem, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps

from record.kit.verbs import Stop

Run = Callable[[list[str]], int]


def ends(name: str) -> Callable[[Run], Run]:
    """Around a command: an error that is not our bug becomes a message and its exit code."""

    def around(run: Run) -> Run:
        @wraps(run)
        def ended(argv: list[str]) -> int:
            try:
                return run(argv)
            except Stop as stop:
                return refused(name, str(stop), stop.code)
            except Exception as error:
                code = _exit_code(error)
                if code is None:
                    raise
                return refused(name, str(error), code)

        return ended

    return around


def refused(name: str, said: str, code: int) -> int:
    """A line on standard error for each line of ``said``; the exit code."""
    for line in said.splitlines():
        print(f"underfelt {name}: {line}", file=sys.stderr)
    return code


def _exit_code(error: Exception) -> int | None:
    """None for our own mistakes, and for what the system refused: ``controller.cli`` tells that."""
    from controller.rules.errors import UnderfeltError  # only where something went wrong
    from record.journal import JournalError
    from record.kit.config import ConfigError
    from record.link.keys import KeyFileError

    if not isinstance(error, UnderfeltError | ConfigError | JournalError | KeyFileError):
        return None
    code: int = getattr(error, "exit_code", os.EX_DATAERR)
    return code
