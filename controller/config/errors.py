"""What is wrong with a configuration: every problem with its file, key, value and choices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from controller.rules import errors
from controller.rules.errors import UnderfeltError


class Problem(NamedTuple):
    """``file`` is None for the site file, or for a key that no file states."""

    code: str
    key: str
    text: str
    file: Path | None = None


class ConfigError(UnderfeltError, ValueError):
    """A configuration that cannot be used: exit 78, or that of the first problem."""

    def __init__(
        self,
        path: Path,
        problems: Sequence[Problem | tuple[str, str, str]],
        exit_code: int = os.EX_CONFIG,
    ) -> None:
        self.problems = [Problem(*problem) for problem in problems]
        lines = (f"{p.file or path}: {p.key}: {p.text} ({p.code})" for p in self.problems)
        # A key may hold half a character; the message must be printable all the same.
        super().__init__("\n".join(lines).encode("utf-8", "backslashreplace").decode())
        self.code = self.problems[0].code
        self.path, self.exit_code = path, exit_code


def shown(value: object) -> str:
    """A value as the file has it, cut to a readable length."""
    try:
        return errors.shown(value)
    except ValueError:  # a hexadecimal number of more than 4300 decimal digits
        return "a number too long to show"
