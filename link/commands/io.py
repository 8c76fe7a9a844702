"""What the server's commands share: exit codes, arguments, passwords, the control socket.

A password is asked for, or read from standard input or a file, and is never an argument: arguments
are there for every user of the machine to read. Every command takes them in the order in which it
asks for them: a present one before a new one, a new one before those of ``--by``.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from link.accounts import weakness
from link.config import LinkConfig, load
from link.server.replies import (
    AccountsReply,
    AlarmsReply,
    AwardsReply,
    JournalsReply,
    KeysReply,
    Ordered,
    Reply,
)
from link.store.errors import StoreError
from record.kit.arguments import add_config
from record.kit.config import ConfigError
from record.kit.lines import ask
from record.kit.outside import printable, printable_json, printable_lines
from record.kit.places import LINK
from record.kit.verbs import Command, Stop, Verb
from record.link.keys import KeyFileError
from record.shape import why

R = TypeVar("R", bound=Reply)
P = TypeVar("P", AccountsReply, AlarmsReply, AwardsReply, JournalsReply, KeysReply)
LONGEST_LINE: Final = 1_024

_BY_CODE: Final = {
    "E-ACT-001": os.EX_NOPERM,
    "E-ACT-008": os.EX_NOPERM,
    "E-ACT-009": os.EX_NOPERM,
    "E-ACT-010": os.EX_TEMPFAIL,
    "E-ACT-013": os.EX_NOPERM,
    "E-POOL-023": os.EX_NOPERM,
    "E-POOL-024": os.EX_NOPERM,
    "E-SVC-007": os.EX_NOPERM,
    "E-LNK-020": os.EX_TEMPFAIL,
    "E-SVC-003": os.EX_TEMPFAIL,
    "E-SVC-006": os.EX_UNAVAILABLE,
}


def command(name: str, text: str, verbs: Mapping[str, Verb]) -> Command:
    """Every command of the server may meet a key file or a store that it cannot use."""

    def ended(error: KeyFileError | StoreError) -> Stop:
        return Stop(str(error), error.exit_code)

    return Command(name, text, verbs, stops={KeyFileError: ended, StoreError: ended})


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
    add_passwords(parser)


def add_passwords(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--passwords-stdin", action="store_true", help="a line of standard input for each password"
    )
    parser.add_argument(
        "--password-file",
        metavar="FILE",
        action="append",
        default=[],
        help="of mode 0400, one for each password, in the order in which they are asked for",
    )


def control_of(options: argparse.Namespace) -> Path:
    if options.socket:
        return Path(options.socket)
    return load_config(options.config).server.control


def load_config(path: str) -> LinkConfig:
    try:
        return load(Path(path))
    except ConfigError as error:
        raise Stop(str(error), os.EX_CONFIG) from None
    except OSError as error:
        raise Stop(f"{path}: {error.strerror}", os.EX_NOINPUT) from None


def asked(control: Path, request: Mapping[str, Any], kind: type[R], timeout_s: float = 15.0) -> R:
    """``kind`` is what the server answers if it does not refuse."""
    try:
        answer = ask(control, request, timeout_s)
    except OSError as error:
        said = f"{control}: {error.strerror or 'no answer'}; is the server running?"
        raise Stop(said, os.EX_UNAVAILABLE) from None
    except ValueError:
        answer = {}  # the server ended in the middle of a line
    if not answer:
        raise Stop(f"{control}: no answer; is the server running?", os.EX_UNAVAILABLE)
    if "error" in answer:
        code = str(answer["error"])
        raise Stop(f"{answer.get('text', '')} ({code})", _BY_CODE.get(code, os.EX_DATAERR))
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        said = f"cannot read the answer: {why(error, answer, kind)}"
        raise Stop(f"{control}: {said}; is the server of another version?", os.EX_DATAERR) from None


def listed(
    control: Path, verb: str, kind: type[P], timeout_s: float = 15.0, **wanted: str
) -> Iterator[P]:
    """The pages of a list, one answer after the other."""
    cursor = ""
    while True:
        page = asked(control, {"verb": verb, **wanted, "cursor": cursor}, kind, timeout_s)
        yield page
        cursor = page.next
        if not cursor:
            return


def ordered(
    options: argparse.Namespace, order: Mapping[str, Any], given: Sequence[str] | None = None
) -> dict[str, Any]:
    """Given by the people of ``--by``; answered when it is durable. ``given`` are their passwords,
    if they have been asked for."""
    control = control_of(options)
    secrets = passwords(options, *map(present, options.by)) if given is None else given
    by = [list(pair) for pair in zip(options.by, secrets, strict=True)]
    return plain(asked(control, {"verb": "order", "by": by, "order": order}, Ordered))


def plain(reply: msgspec.Struct) -> dict[str, Any]:
    """As JSON has it, to be printed."""
    found: dict[str, Any] = msgspec.to_builtins(reply)
    return found


class Asked(NamedTuple):
    """A password to ask for; a new one is asked for twice."""

    name: str
    prompt: str
    new: bool = False


def present(name: str) -> Asked:
    return Asked(name, f"password of {name}: ")


def fresh(name: str) -> Asked:
    return Asked(name, f"new password of {name}, typed by {name}: ", new=True)


def passwords(options: argparse.Namespace, *wanted: Asked) -> list[str]:
    """One for each, all by the same of the three ways. A new one that will not do is refused."""
    files = options.password_file
    if files and options.passwords_stdin:
        raise Stop("expected --password-file or --passwords-stdin, not both", os.EX_USAGE)
    if files and len(files) != len(wanted):
        names = ", ".join(f"{'new, ' if one.new else ''}{one.name}" for one in wanted)
        said = f"{len(files)} --password-file; expected {len(wanted)}: {names}"
        raise Stop(said, os.EX_USAGE)
    found = []
    for at, one in enumerate(wanted):
        if files:
            password = _from_file(files[at])
        elif options.passwords_stdin:
            password = _read_line(f"no {'new ' if one.new else ''}password for {one.name}")
        else:
            password = _typed(one.prompt)
            if one.new and _typed("once more: ") != password:
                raise Stop("the two are not the same", os.EX_DATAERR)
        wrong = weakness(password, one.name) if one.new else None
        if wrong is not None:
            raise Stop(f"new password of {one.name}: {wrong} (E-ACT-003)", os.EX_DATAERR)
        found.append(password)
    return found


def _read_line(missing: str) -> str:
    line = "" if sys.stdin is None else sys.stdin.readline(LONGEST_LINE)
    if not line:
        raise Stop(f"standard input: {missing}", os.EX_NOINPUT)
    return line.rstrip("\r\n")


def _typed(prompt: str) -> str:
    if sys.stdin is None or not sys.stdin.isatty():
        said = "no terminal to ask for a password; use --passwords-stdin or --password-file"
        raise Stop(said, os.EX_NOINPUT)
    return getpass.getpass(prompt)


def _from_file(name: str) -> str:
    """A file that others can read is no secret."""
    try:
        with Path(name).open(encoding="utf-8") as stream:
            held = os.fstat(stream.fileno())
            if stat.S_IMODE(held.st_mode) != 0o400 or held.st_uid != os.geteuid():
                mode = f"{stat.S_IMODE(held.st_mode):04o}"
                said = f"{name}: mode {mode}, user {held.st_uid}; expected 0400 and your own"
                raise Stop(said, os.EX_NOPERM)
            return stream.readline(LONGEST_LINE).rstrip("\r\n")
    except OSError as error:
        raise Stop(f"{name}: {error.strerror}", os.EX_NOINPUT) from None
    except UnicodeDecodeError:
        raise Stop(f"{name}: not UTF-8; expected a line with the password", os.EX_DATAERR) from None


def print_answer(options: argparse.Namespace, row: Mapping[str, Any], said: str) -> int:
    """Prints one of them, and returns the exit code of success. Texts from outside may be in
    either: they move no cursor and colour nothing."""
    if options.json:
        whole = msgspec.to_builtins(row)
        print(printable_json(json.dumps(whole, indent=2, ensure_ascii=False)))
    else:
        print(printable_lines(said))
    return os.EX_OK


def table_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text; nothing if there are no rows."""
    if not rows:
        return "none"
    cells = [list(head), *([printable(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
