"""A configuration in TOML: read whole, and every problem with its file, key, value and choices."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from record.kit.words import did_you_mean, shown

LONGEST: Final = 1 << 20


class Problem(NamedTuple):
    """``file`` is None for the file that was named, or for a key that no file states."""

    code: str
    key: str
    text: str
    file: Path | None = None


class ConfigError(ValueError):
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


def read_toml(path: Path, code: str) -> dict[str, Any]:
    """OSError if it cannot be read; ConfigError with this code if it is no TOML."""
    with path.open("rb") as stream:
        raw = stream.read(LONGEST + 1)
    if len(raw) > LONGEST:
        text = f"more than {LONGEST:,} bytes; expected a configuration"
        raise ConfigError(path, [Problem(code, "file", text, path)])
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        text = f"byte {error.start} is not UTF-8; expected a TOML file in UTF-8"
    except (ValueError, RecursionError) as error:  # a number too long is a plain ValueError
        text = f"{error or 'nested too deeply'}; expected TOML"
    raise ConfigError(path, [Problem(code, "file", text, path)])


def unknown(
    code: str, key: str, value: object, choices: Iterable[str], file: Path | None = None
) -> Problem:
    """``key`` is the whole name, ``choices`` what its last part may be."""
    said = did_you_mean(key.rpartition(".")[2], choices, "expected one of")
    return Problem(code, key, f"{shown(value)}: no such key; {said}", file)
