"""With ``--json`` every command that fails says so as JSON: the one place for that rule.

Commands print messages for people to standard error and end with an exit code. If one of them ends
with a code other than 0 and has printed no answer, its messages become one object on standard
output: ``{"ok": false, "exit": 66, "problems": [{"code": "E-CFG-011", "text": "..."}]}``. A command
that has more to say about a problem prints an object of the same shape itself.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

JSON: Final = ("--json", "--jso", "--js")
"""The option and what argparse takes for it."""
_CODE: Final = re.compile(r"\b(E-[A-Z]+-[0-9]{3})\b")
_MESSAGE: Final = re.compile(r"underfelt(?: [a-z-]+){0,3}: (.*)")


def wanted(arguments: Sequence[str]) -> bool:
    """Did the caller ask for JSON?"""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return any(word in JSON for word in own)


class Watched:
    """A stream that knows whether anything was written to it, and keeps what was."""

    def __init__(self, stream: Any, kept: list[str] | None = None) -> None:
        self._stream, self.kept, self.used = stream, kept, False

    def write(self, data: Any) -> Any:
        self.used = self.used or bool(data)
        if self.kept is not None:
            self.kept.append(data)
        return self._stream.write(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        return _Bytes(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Bytes:
    """The bytes below a watched stream."""

    def __init__(self, watched: Watched) -> None:
        self._watched, self._stream = watched, watched._stream.buffer

    def write(self, data: bytes) -> Any:
        self._watched.used = self._watched.used or bool(data)
        return self._stream.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def as_json(run: Callable[[], int]) -> int:
    """The exit code of ``run``, its failure told as JSON."""
    out, err = sys.stdout, sys.stderr
    if out is None or err is None:
        return run()
    said: list[str] = []
    watched, heard = Watched(out), Watched(err, said)
    sys.stdout, sys.stderr = watched, heard
    try:
        code = run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout, sys.stderr = out, err
    if code and not watched.used:
        row = {"ok": False, "exit": code, "problems": problems("".join(said))}
        print(json.dumps(row, indent=2, ensure_ascii=False))
    return code


def problems(said: str) -> list[dict[str, str]]:
    """Messages for people as rows: each with its code, if it has one."""
    lines = [line for line in said.splitlines() if line.strip()]
    messages = [found[1] for line in lines if (found := _MESSAGE.fullmatch(line))]
    return [_problem(text) for text in messages or [" ".join(lines)]]


def _problem(text: str) -> dict[str, str]:
    codes = _CODE.findall(text)
    return {"code": codes[-1] if codes else "", "text": text}
