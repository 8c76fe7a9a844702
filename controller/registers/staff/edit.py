"""What the staff office does to its register: read, change, sign and write it under one lock.

The time, the salt, the names and the key are the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Literal

from controller.registers import rollout
from controller.registers.checks import check_start
from controller.registers.errors import BatchError, Problem
from controller.registers.files import locked, write_atomically
from controller.registers.keys import SigningSecret
from controller.registers.kinds import STAFF
from controller.registers.staff.document import (
    HOUSE,
    Document,
    StaffEntry,
    load,
    sealed,
    text_fault,
)
from controller.registers.staff.people import DUTIES, STAFF_ID, Duty, Person, name_fault
from controller.registers.staff.pins import hashed, weakness


@dataclass(frozen=True, slots=True)
class StaffStamp:
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class NewPerson:
    staff_id: str
    name: str
    duties: frozenset[Duty]
    valid_from: date
    valid_until: date | None


Change = Callable[[Document], tuple[Document, str]]
"""The changed document, and what was done for the history."""


def add(
    path: Path,
    new: NewPerson,
    pin: str,
    key: SigningSecret,
    stamp: StaffStamp,
    *,
    salt: bytes,
    new_house: str | None = None,
) -> int:
    def change(old: Document) -> tuple[Document, str]:
        if new.staff_id in old.people:
            raise _refused("E-STAF-023", "id", new.staff_id, "is in the register already")
        person = Person(
            new.staff_id, new.name, new.duties, "active", new.valid_from, new.valid_until,
            hashed(pin, salt),
        )  # fmt: skip
        roles = ", ".join(d for d in DUTIES if d in new.duties)
        people = {**old.people, new.staff_id: person}
        return replace(old, people=people), f"added {new.staff_id}: {roles}"

    _check_person(new)
    _check_pin(pin, new.staff_id)
    return _change(path, key, stamp, change, new_house)


def set_status(
    path: Path, staff_id: str, *, active: bool, key: SigningSecret, stamp: StaffStamp
) -> int:
    def change(old: Document) -> tuple[Document, str]:
        person = _known(old, staff_id)
        status: Literal["active", "disabled"] = "active" if active else "disabled"
        if person.status == status:
            raise _refused("E-STAF-027", "id", staff_id, f"is {status} already")
        word = "enabled" if active else "disabled"
        people = {**old.people, staff_id: replace(person, status=status)}
        return replace(old, people=people), f"{word} {staff_id}"

    return _change(path, key, stamp, change)


def set_pin(
    path: Path, staff_id: str, pin: str, key: SigningSecret, stamp: StaffStamp, *, salt: bytes
) -> int:
    def change(old: Document) -> tuple[Document, str]:
        person = _known(old, staff_id)
        if person.pin.fits(pin):
            raise BatchError(Problem("E-STAF-026", "the PIN in place; choose another", field="PIN"))
        people = {**old.people, staff_id: replace(person, pin=hashed(pin, salt))}
        return replace(old, people=people), f"new PIN for {staff_id}"

    _check_pin(pin, staff_id)
    return _change(path, key, stamp, change)


def roll_out(
    source: Path, target: Path, public_key: bytes, approved_by: Sequence[str] = ()
) -> rollout.RolledOut:
    new = load(source, public_key)
    return rollout.roll_out(STAFF, new, target, lambda path: load(path, public_key), approved_by)


def _change(
    path: Path, key: SigningSecret, stamp: StaffStamp, change: Change, new_house: str | None = None
) -> int:
    if (fault := text_fault(stamp.by)) is not None:
        raise _refused("E-STAF-029", "by", stamp.by, fault)
    with locked(STAFF, path):
        old = _before(path, key, new_house)
        if stamp.at < old.issued_at:
            said = "the clock is behind the register's last entry; set the clock"
            raise BatchError(Problem("E-STAF-030", said, str(path)))
        new, did = change(old)
        version = old.version + 1
        entry = StaffEntry(version, stamp.at, stamp.by, did)
        history = (*old.history, entry)
        new = replace(new, version=version, issued_at=stamp.at, history=history)
        write_atomically(STAFF, path, sealed(new, key))
    return version


def _before(path: Path, key: SigningSecret, new_house: str | None) -> Document:
    check_start(STAFF, path, new_house, "add --new HOUSE")
    if new_house is None:
        return load(path, key.public).document
    if not HOUSE.fullmatch(new_house):
        said = "expected 1 to 16 letters, digits, '.', '_' or '-'"
        raise _refused("E-STAF-029", "house", new_house, said)
    return Document(new_house, 0, 0, {}, ())


def _known(document: Document, staff_id: str) -> Person:
    person = document.people.get(staff_id)
    if person is None:
        raise _refused("E-STAF-028", "id", staff_id, "nobody in the register has it")
    return person


def _check_person(new: NewPerson) -> None:
    problems = []
    if not STAFF_ID.fullmatch(new.staff_id):
        said = "expected 1 to 8 digits, not beginning with 0, as typed at the console"
        problems.append(Problem("E-STAF-021", said, field="id", value=new.staff_id))
    if (fault := name_fault(new.name)) is not None:
        problems.append(Problem("E-STAF-022", fault, field="name", value=new.name))
    if not new.duties:
        said = f"expected at least one of {', '.join(DUTIES)}"
        problems.append(Problem("E-STAF-024", said, field="role"))
    if new.valid_until is not None and new.valid_until < new.valid_from:
        until = new.valid_until.isoformat()
        said = f"before the first day, {new.valid_from.isoformat()}"
        problems.append(Problem("E-STAF-025", said, field="valid until", value=until))
    if problems:
        raise BatchError(*problems)


def _check_pin(pin: str, staff_id: str) -> None:
    if (fault := weakness(pin, staff_id)) is not None:
        raise BatchError(Problem("E-STAF-026", f"{fault}; choose another", field="PIN"))


def _refused(code: str, field: str, value: str, text: str) -> BatchError:
    return BatchError(Problem(code, text, field=field, value=value))
