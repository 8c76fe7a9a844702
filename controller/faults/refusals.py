"""Why a table does not start: text, exit code and problems, the same for everyone who asks."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from controller.rules.errors import SettingsError, UnderfeltError
from record.journal import JournalError
from record.kit.config import ConfigError, Problem
from record.link.keys import KeyFileError

REFUSED: Final = (
    ConfigError, UnderfeltError, JournalError, KeyFileError, OSError, MemoryError,
)  # fmt: skip
"""What loading a configuration and starting a table can raise."""
UNREADABLE: Final = "E-CFG-011"
EXHAUSTED: Final = "E-RUN-004"


class StartRefusal(NamedTuple):
    text: str
    """With its code; a line for each problem."""
    exit_code: int
    problems: tuple[Problem, ...]

    @property
    def code(self) -> str:
        return self.problems[0].code


def refusal_of(error: BaseException, about: str = "file") -> StartRefusal:
    """Of one of ``REFUSED``. ``about`` is the key of the configuration that it belongs to."""
    if isinstance(error, ConfigError):
        return StartRefusal(str(error), error.exit_code, tuple(error.problems))
    if isinstance(error, SettingsError):
        found = tuple(Problem(*problem) for problem in error.problems)
        return StartRefusal(str(error), error.exit_code, found)
    if isinstance(error, UnderfeltError | JournalError | KeyFileError):
        exit_code = getattr(error, "exit_code", os.EX_DATAERR)
        problem = Problem(error.code, about, str(error).removesuffix(f" ({error.code})"))
        return StartRefusal(str(error), exit_code, (problem,))
    match error:
        case FileNotFoundError():
            return _system(error, about, UNREADABLE, os.EX_NOINPUT, "no such file")
        case PermissionError():
            said = f"{error.strerror}; underfelt doctor, as root, says what is needed"
            return _system(error, about, UNREADABLE, os.EX_NOPERM, said)
        case IsADirectoryError() | NotADirectoryError():
            return _system(error, about, UNREADABLE, os.EX_NOINPUT, str(error.strerror))
        case _:
            return exhausted(error, about)


def exhausted(error: BaseException, about: str = "file") -> StartRefusal:
    """No descriptor, no memory: the journal is as it was at the last sync."""
    said = (isinstance(error, OSError) and error.strerror) or "no memory"
    said = f"{said}; the system gives out, try again"
    return _system(error, about, EXHAUSTED, os.EX_TEMPFAIL, said)


def _system(error: BaseException, about: str, code: str, exit_code: int, said: str) -> StartRefusal:
    named = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
    problem = Problem(code, about, f"{named}{said}")
    return StartRefusal(f"{named}{said} ({code})", exit_code, (problem,))
