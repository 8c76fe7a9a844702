"""What the server's commands share: exit codes, arguments, passwords, the control socket.

A password is asked for, or read from standard input, and is never an argument: arguments are there
for every user of the machine to read.
"""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from link.config import ConfigError, LinkConfig, load
from link.server.control import ask
from record.arguments import add_config
from record.places import LINK

EX_OK: Final = 0
EX_TROUBLE: Final = 1
EX_USAGE: Final = 64
EX_DATAERR: Final = 65
EX_NOINPUT: Final = 66
EX_UNAVAILABLE: Final = 69
EX_SOFTWARE: Final = 70
EX_OSERR: Final = 71
EX_CANTCREAT: Final = 73
EX_IOERR: Final = 74
EX_TEMPFAIL: Final = 75
EX_NOPERM: Final = 77
EX_CONFIG: Final = 78
LONGEST_LINE: Final = 1_024

_BY_CODE: Final = {
    "E-ACT-001": EX_NOPERM,
    "E-ACT-008": EX_NOPERM,
    "E-ACT-009": EX_NOPERM,
    "E-POOL-023": EX_NOPERM,
    "E-POOL-024": EX_NOPERM,
    "E-SVC-007": EX_NOPERM,
    "E-LNK-020": EX_TEMPFAIL,
    "E-SVC-003": EX_TEMPFAIL,
    "E-SVC-006": EX_UNAVAILABLE,
}


class Stop(Exception):
    """The command ends here: what to say, and the exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.text, self.code = text, code


def add_place(parser: argparse.ArgumentParser) -> None:
    add_config(parser, LINK, "the server's configuration", "socket")
    parser.add_argument("--socket", metavar="PATH", help="its control socket, instead")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def add_people(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--by",
        metavar="ACCOUNT",
        action="append",
        required=True,
        help="who orders it; twice for two",
    )
    parser.add_argument(
        "--passwords-stdin", action="store_true", help="one line of standard input for each"
    )


def control_of(options: argparse.Namespace) -> Path:
    if options.socket:
        return Path(options.socket)
    return load_config(options.config).control


def load_config(path: str) -> LinkConfig:
    try:
        return load(Path(path))
    except ConfigError as error:
        raise Stop(str(error), EX_CONFIG) from None
    except OSError as error:
        raise Stop(f"{path}: {error.strerror}", EX_NOINPUT) from None


def asked(control: Path, request: Mapping[str, Any], timeout_s: float = 15.0) -> dict[str, Any]:
    try:
        answer = ask(control, request, timeout_s)
    except OSError as error:
        said = f"{control}: {error.strerror or 'no answer'}; is the server running?"
        raise Stop(said, EX_UNAVAILABLE) from None
    if "error" in answer:
        code = str(answer["error"])
        raise Stop(f"{answer.get('text', '')} ({code})", _BY_CODE.get(code, EX_DATAERR))
    return answer


def ordered(options: argparse.Namespace, order: Mapping[str, Any]) -> dict[str, Any]:
    """Given by the people of ``--by``; answered when it is durable."""
    control = control_of(options)
    by = [[name, password] for name, password in passwords(options)]
    return asked(control, {"verb": "order", "by": by, "order": order})


def passwords(options: argparse.Namespace) -> list[tuple[str, str]]:
    if options.passwords_stdin:
        return [(name, read_line(f"no password for {name}")) for name in options.by]
    return [(name, typed(f"password of {name}: ")) for name in options.by]


def read_line(missing: str) -> str:
    line = "" if sys.stdin is None else sys.stdin.readline(LONGEST_LINE)
    if not line:
        raise Stop(f"standard input: {missing}", EX_NOINPUT)
    return line.rstrip("\r\n")


def typed(prompt: str) -> str:
    if sys.stdin is None or not sys.stdin.isatty():
        said = "no terminal to ask for a password; give it on standard input"
        raise Stop(said, EX_NOINPUT)
    return getpass.getpass(prompt)


def new_password(name: str, *, from_stdin: bool) -> str:
    if from_stdin:
        return read_line(f"no new password for {name}")
    first = typed(f"new password of {name}: ")
    if typed("once more: ") != first:
        raise Stop("the two are not the same", EX_DATAERR)
    return first


def print_answer(options: argparse.Namespace, row: Mapping[str, Any], said: str) -> None:
    print(json.dumps(row, indent=2, ensure_ascii=False) if options.json else said)


def table_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text; nothing if there are no rows."""
    if not rows:
        return "none"
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
