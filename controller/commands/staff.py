"""``underfelt staff``: the house's staff register, from the office to the table.

Format, rules and codes: docs/operations/staff.md. A PIN is asked for, or read from standard input,
and is never an argument: every user of the machine can read arguments. With ``--json``
the answer is one JSON object on standard output, also when it is a refusal.
"""

from __future__ import annotations

import argparse
import getpass
import os
import secrets
import sys
import time
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from controller.commands.registers import (
    declare_change,
    declare_pubkey,
    keygen,
    roll_out,
    trusted,
)
from controller.registers.errors import BatchError, Problem, SignedError, UnreadableError
from controller.registers.keys import SigningSecret, load_secret
from controller.registers.kinds import STAFF
from controller.registers.staff import edit
from controller.registers.staff.document import LoadedStaff, load
from controller.registers.staff.people import DUTIES, Duty, Person, as_row
from controller.registers.staff.pins import SALT_BYTES
from record.kit.verbs import Answer, Command, Stop, Verb, add_json
from record.kit.words import counted

ROLE_WORDS: Final[dict[str, Duty]] = {duty.replace(" ", "-"): duty for duty in DUTIES}
MAX_PIN_LINE: Final = 64


def now() -> int:
    return int(time.time())


def today() -> date:
    return datetime.now().astimezone().date()


# --- add, disable, enable, pin -----------------------------------------------------------------


def _declare_change(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    parser.add_argument("id", metavar="ID", help="1 to 8 digits, as typed at the console")
    declare_change(parser)


def _declare_pin(parser: argparse.ArgumentParser) -> None:
    _declare_change(parser)
    parser.add_argument(
        "--pin-stdin", action="store_true", help="read the PIN from standard input, one line"
    )


def _declare_add(parser: argparse.ArgumentParser) -> None:
    _declare_pin(parser)
    parser.add_argument("--name", required=True, help="the person's name")
    parser.add_argument(
        "--role", action="append", choices=ROLE_WORDS, required=True, metavar="ROLE",
        help=f"may be given repeatedly: {', '.join(ROLE_WORDS)}",
    )  # fmt: skip
    parser.add_argument("--from", dest="begin", metavar="DATE", help="first day (default: today)")
    parser.add_argument("--until", metavar="DATE", help="last day (default: no end)")
    parser.add_argument("--new", metavar="HOUSE", help="start a new register of this house")


def _add(arguments: argparse.Namespace) -> Answer:
    path = Path(arguments.register)
    new = edit.NewPerson(
        arguments.id,
        arguments.name,
        frozenset(ROLE_WORDS[word] for word in arguments.role),
        today() if arguments.begin is None else _date("--from", arguments.begin),
        None if arguments.until is None else _date("--until", arguments.until),
    )
    key, stamp = _authority(arguments)
    salt, house = secrets.token_bytes(SALT_BYTES), arguments.new
    version = edit.add(path, new, _pin(arguments), key, stamp, salt=salt, new_house=house)
    row = {"register": str(path), "version": version, "id": arguments.id}
    return os.EX_OK, row, f"{path}: version {version}: added {arguments.id}, {arguments.name}"


def _disable(arguments: argparse.Namespace) -> Answer:
    return _set_status(arguments, active=False)


def _enable(arguments: argparse.Namespace) -> Answer:
    return _set_status(arguments, active=True)


def _set_status(arguments: argparse.Namespace, *, active: bool) -> Answer:
    path = Path(arguments.register)
    key, stamp = _authority(arguments)
    version = edit.set_status(path, arguments.id, active=active, key=key, stamp=stamp)
    status = "active" if active else "disabled"
    row = {"register": str(path), "version": version, "id": arguments.id, "status": status}
    return (
        os.EX_OK,
        row,
        f"{path}: version {version}: {arguments.id} is {status}; roll it out to the tables",
    )


def _set_pin(arguments: argparse.Namespace) -> Answer:
    path = Path(arguments.register)
    key, stamp = _authority(arguments)
    salt = secrets.token_bytes(SALT_BYTES)
    version = edit.set_pin(path, arguments.id, _pin(arguments), key, stamp, salt=salt)
    row = {"register": str(path), "version": version, "id": arguments.id}
    return os.EX_OK, row, f"{path}: version {version}: new PIN for {arguments.id}"


def _authority(arguments: argparse.Namespace) -> tuple[SigningSecret, edit.StaffStamp]:
    return load_secret(STAFF, Path(arguments.key)), edit.StaffStamp(arguments.by, now())


def _pin(arguments: argparse.Namespace) -> str:
    """Typed twice and not shown, or one line of standard input; never repeated in a message."""
    if arguments.pin_stdin:
        line = "" if sys.stdin is None else sys.stdin.readline(MAX_PIN_LINE)
        if not line:
            raise UnreadableError(Problem("E-STAF-050", "standard input has no PIN"))
        return line.rstrip("\r\n")
    if sys.stdin is None or not sys.stdin.isatty():
        said = "no terminal to ask for the PIN; give it on standard input with --pin-stdin"
        raise UnreadableError(Problem("E-STAF-050", said))
    pin = getpass.getpass(f"PIN for {arguments.id}: ")
    if getpass.getpass("once more: ") != pin:
        raise BatchError(Problem("E-STAF-026", "the two are not the same", field="PIN"))
    return pin


def _date(option: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        said = "expected a date, YYYY-MM-DD"
        raise BatchError(Problem("E-STAF-025", said, field=option, value=text)) from None


# --- check, show -------------------------------------------------------------------------------


def _declare_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    declare_pubkey(parser, required=True)


def _loaded(arguments: argparse.Namespace) -> LoadedStaff:
    public_key = trusted(STAFF, "staff", arguments.pubkey, [arguments.register])
    return load(Path(arguments.register), public_key)


def _check(arguments: argparse.Namespace) -> Answer:
    loaded = _loaded(arguments)
    document = loaded.document
    day = today()
    may = sum(person.may_sign_on(day) for person in document.people.values())
    counts = {
        duty: sum(duty in p.duties and p.may_sign_on(day) for p in document.people.values())
        for duty in DUTIES
    }
    row = {
        "register": arguments.register,
        "house": document.house,
        "version": document.version,
        "digest": loaded.seen.digest,
        "issued_at": document.issued_at,
        "people": len(document.people),
        "may_sign_on": may,
        "roles": counts,
    }
    said = f"{arguments.register}: sound; house {document.house}, version {document.version}, "
    said += f"{counted(len(document.people), 'person', 'people')}, {may} may sign on today"
    listed = "".join(f"\n  {count:5}  {duty}" for duty, count in counts.items() if count)
    return os.EX_OK, row, said + listed


def _declare_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    parser.add_argument("id", metavar="ID", nargs="?", help="one person, with the history")
    declare_pubkey(parser, required=False)


def _show(arguments: argparse.Namespace) -> Answer:
    document = _loaded(arguments).document
    if arguments.id is None:
        people = sorted(document.people.values(), key=lambda p: int(p.staff_id))
        rows = [_person_json(p) for p in people]
        return os.EX_OK, {"people": rows}, "\n".join(map(_person_text, people))
    person = document.people.get(arguments.id)
    if person is None:
        said = "nobody in the register has it"
        raise BatchError(Problem("E-STAF-028", said, field="id", value=arguments.id))
    entries = [e for e in document.history if arguments.id in e.did.replace(":", " ").split()]
    lines = [_person_text(person)]
    for e in entries:
        when = datetime.fromtimestamp(e.at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        lines.append(f"  version {e.version}, {when}, {e.by}: {e.did}")
    row = {"person": _person_json(person), "history": [asdict(e) for e in entries]}
    return os.EX_OK, row, "\n".join(lines)


def _person_json(person: Person) -> dict[str, Any]:
    """Everything but the PIN's hash."""
    row = as_row(person)
    del row["pin"]
    return row


def _person_text(person: Person) -> str:
    row = _person_json(person)
    until = row["valid_until"] or "no end"
    roles = ", ".join(row["roles"])
    days = f"{row['valid_from']} to {until}"
    return f"{row['id']:>8}  {row['name']}  ({roles})  {row['status']}, {days}"


VERBS: Final = {
    "keygen": keygen(
        STAFF,
        "office",
        "make the office's pair of keys",
        "keygen --secret staff.key --public staff.pub",
    ),
    "add": Verb(
        _declare_add,
        _add,
        "add a person; asks for the PIN",
        "add house.staff 1042 --name 'K. Lee' --role dealer --key staff.key --by m.ng --new SYD-1",
    ),
    "disable": Verb(
        _declare_change,
        _disable,
        "a person may no longer sign on",
        "disable house.staff 1042 --key staff.key --by m.ng",
    ),
    "enable": Verb(
        _declare_change,
        _enable,
        "a disabled person may sign on again",
        "enable house.staff 1042 --key staff.key --by m.ng",
    ),
    "pin": Verb(
        _declare_pin,
        _set_pin,
        "set a new PIN; asks for it",
        "pin house.staff 1042 --key staff.key --by m.ng",
    ),
    "check": Verb(
        _declare_check,
        _check,
        "verify a register and count who is in it",
        "check house.staff --pubkey staff.pub",
    ),
    "show": Verb(
        _declare_show,
        _show,
        "list everybody, or one person with the history",
        "show house.staff 1042 --pubkey staff.pub",
    ),
    "roll-out": roll_out(
        STAFF,
        edit.roll_out,
        "roll-out house.staff --to /var/lib/underfelt/house.staff --pubkey staff.pub",
    ),
}

COMMAND: Final = Command(
    "staff",
    "The house's signed staff register.",
    VERBS,
    common=add_json,
    stops={
        SignedError: lambda error: Stop(
            str(error),
            error.exit_code,
            [{"code": p.code, "text": str(p)} for p in error.problems],
        )
    },
)
run: Final = COMMAND.run
