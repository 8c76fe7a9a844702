"""One person of the register: fields, limits, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal

from controller.registers.staff.pins import COST_N, HASH_BYTES, MOST_N, SALT_BYTES, PinHash
from controller.rules.engine.facts import Role
from record.kit.words import shown

Duty = Literal["dealer", "games supervisor", "casino supervisor", "inspector", "technician"]
DUTIES: Final[tuple[Duty, ...]] = (
    "dealer", "games supervisor", "casino supervisor", "inspector", "technician",
)  # fmt: skip
STATUSES: Final = ("active", "disabled")
STAFF_ID: Final = re.compile(r"[1-9][0-9]{0,7}")
"""As typed at the console; no leading zero, so that one person has one spelling."""
MAX_NAME: Final = 60
FIELDS: Final = ("id", "name", "roles", "status", "valid_from", "valid_until", "pin")
PIN_FIELDS: Final = ("salt", "hash", "n", "r", "p")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody of the house. ``valid_until`` is the last day, or None for no end."""

    staff_id: str
    name: str
    duties: frozenset[Duty]
    status: Literal["active", "disabled"]
    valid_from: date
    valid_until: date | None
    pin: PinHash

    @property
    def roles(self) -> frozenset[Role]:
        """The roles of a round; a technician has none."""
        return frozenset(role for role in Role if role.value in self.duties)

    def may_sign_on(self, today: date) -> bool:
        ended = self.valid_until is not None and today > self.valid_until
        return self.status == "active" and self.valid_from <= today and not ended


def name_fault(name: str) -> str | None:
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME or not name.isprintable():
        return f"expected a name of 1 to {MAX_NAME} printable characters"
    return None


def as_row(person: Person) -> dict[str, Any]:
    pin = person.pin
    return {
        "id": person.staff_id,
        "name": person.name,
        "roles": [duty for duty in DUTIES if duty in person.duties],
        "status": person.status,
        "valid_from": person.valid_from.isoformat(),
        "valid_until": None if person.valid_until is None else person.valid_until.isoformat(),
        "pin": {
            "salt": pin.salt.hex(), "hash": pin.digest.hex(), "n": pin.n, "r": pin.r, "p": pin.p,
        },
    }  # fmt: skip


def row_faults(row: object) -> Iterator[str]:
    """What is wrong with a row of a signed register; a sound one gives nothing."""
    if not isinstance(row, dict) or set(row) != set(FIELDS):
        yield f"a person does not have exactly the fields {', '.join(FIELDS)}"
        return
    who = f"person {shown(row['id'], 20)}"
    if not isinstance(row["id"], str) or not STAFF_ID.fullmatch(row["id"]):
        yield f"{who}: id: expected 1 to 8 digits, not beginning with 0"
    if not isinstance(row["name"], str) or name_fault(row["name"]):
        yield f"{who}: name: {name_fault('')}"
    roles = row["roles"]
    known = isinstance(roles, list) and roles == [d for d in DUTIES if d in roles]
    if not known or not roles:
        yield f"{who}: roles: expected some of {', '.join(DUTIES)}, in this order"
    if row["status"] not in STATUSES:
        yield f"{who}: status: expected one of {', '.join(STATUSES)}"
    begin = _date(row["valid_from"])
    end = None if row["valid_until"] is None else _date(row["valid_until"])
    if begin is None or (end is None and row["valid_until"] is not None):
        yield f"{who}: valid_from, valid_until: expected dates, YYYY-MM-DD"
    elif end is not None and end < begin:
        yield f"{who}: valid_until: before valid_from"
    if not _pin_is_sound(row["pin"]):
        yield f"{who}: pin: expected salt, hash and costs of this format"


def from_row(row: Mapping[str, Any]) -> Person:
    """Of a row without faults."""
    pin = row["pin"]
    salt, digest = bytes.fromhex(pin["salt"]), bytes.fromhex(pin["hash"])
    return Person(
        row["id"],
        row["name"],
        frozenset(row["roles"]),
        row["status"],
        date.fromisoformat(row["valid_from"]),
        None if row["valid_until"] is None else date.fromisoformat(row["valid_until"]),
        PinHash(salt, digest, pin["n"], pin["r"], pin["p"]),
    )


def _date(value: object) -> date | None:
    try:
        found = date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if found is not None and found.isoformat() == value else None


def _pin_is_sound(pin: object) -> bool:
    """The costs are bounded: a register must not be able to stop a table by its arithmetic."""
    if not isinstance(pin, dict) or set(pin) != set(PIN_FIELDS):
        return False
    texts = (_hex(pin["salt"], SALT_BYTES), _hex(pin["hash"], HASH_BYTES))
    n = pin["n"]
    power = type(n) is int and COST_N <= n <= MOST_N and n & (n - 1) == 0
    return all(texts) and power and (pin["r"], pin["p"]) == (8, 1)


def _hex(value: object, size: int) -> bool:
    return isinstance(value, str) and re.fullmatch(f"[0-9a-f]{{{2 * size}}}", value) is not None
