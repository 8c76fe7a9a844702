"""``[[shell.people]]``: who may use the diagnostic shell, as what, and until when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from controller.rules.settings import Bad
from controller.shell.verbs import ROLES, Role

KEYS: Final = ("user", "role", "until")
MOST: Final = 200


@dataclass(frozen=True, slots=True)
class ShellPerson:
    user: str
    role: Role
    until: date | None = None
    """The last day; None: no end."""


def people(value: object) -> tuple[ShellPerson, ...]:
    """A list of tables, each user once. What is wrong names the entry and its key."""
    if not isinstance(value, list | tuple) or len(value) > MOST:
        raise Bad(f"expected a list of at most {MOST} tables, [[shell.people]]")
    found = tuple(_person(number, one) for number, one in enumerate(value, 1))
    users = [one.user for one in found]
    for user in users:
        if users.count(user) > 1:
            raise Bad(f"user {user} is there twice; expected one entry for each user")
    return found


def _person(number: int, row: object) -> ShellPerson:
    if not isinstance(row, Mapping):
        raise Bad(f"entry {number}: expected a table, [[shell.people]]")
    for key in row:
        if key not in KEYS:
            raise Bad(f"entry {number}: {key}: no such key; expected {', '.join(KEYS)}")
    user = row.get("user")
    if not isinstance(user, str) or re.fullmatch(r"[a-z_][a-z0-9_.-]{0,31}\$?", user) is None:
        raise Bad(f"entry {number}: user: expected a user of this machine")
    role = row.get("role")
    if role not in ROLES:
        raise Bad(f"entry {number}: role: expected one of {', '.join(ROLES)}")
    return ShellPerson(user, role, _until(number, row))


def _until(number: int, row: Mapping[str, Any]) -> date | None:
    if "until" not in row:
        return None
    until = row["until"]
    if isinstance(until, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", until):
        try:
            return date.fromisoformat(until)
        except ValueError:
            pass
    raise Bad(f'entry {number}: until: expected the last day as text, "2027-03-31"')
