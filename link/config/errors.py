"""What is wrong with ``link.toml``: every problem with its file, key, value and choices."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from record.words import did_you_mean


class Problem(NamedTuple):
    code: str
    key: str
    text: str


class ConfigError(ValueError):
    """A configuration that cannot be used: exit 78."""

    exit_code = os.EX_CONFIG

    def __init__(self, path: Path, problems: Sequence[Problem]) -> None:
        lines = (f"{path}: {p.key}: {p.text} ({p.code})" for p in problems)
        # A key may hold half a character; the message must be printable all the same.
        super().__init__("\n".join(lines).encode("utf-8", "backslashreplace").decode())
        self.path, self.problems = path, list(problems)
        self.code = problems[0].code


def shown(value: object, limit: int = 80) -> str:
    """A value as the file has it, cut to a readable length."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def unknown(where: str, name: str, value: object, choices: Sequence[str]) -> Problem:
    said = did_you_mean(name, choices, "expected one of")
    key = f"{where}.{name}" if where else name
    return Problem("E-LNK-051", key, f"{shown(value)}: no such key; {said}")
