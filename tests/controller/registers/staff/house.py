"""A house's staff for the tests. The key is the published one of RFC 8032, section 7.1, TEST 1."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from controller.registers.keys import SigningSecret
from controller.registers.staff import edit
from controller.registers.staff.people import Duty

KEY = SigningSecret(
    bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
)
OTHER = SigningSecret(bytes(32))
SALT = bytes(range(16))
TODAY = date(2026, 3, 14)
DEALER, PIN = "1042", "80415926"
CHIEF, CHIEF_PIN = "7", "271828"
TECHNICIAN, TECHNICIAN_PIN = "300", "5830"


def person(
    staff_id: str = DEALER,
    *duties: Duty,
    name: str = "K. Lee",
    begin: date = date(2026, 1, 1),
    end: date | None = None,
) -> edit.NewPerson:
    return edit.NewPerson(staff_id, name, frozenset(duties or ("dealer",)), begin, end)


VECTOR = Path(__file__).parent / "house.staff"


def make(path: Path) -> None:
    """Three people, version 3: the written-down file, so that no test waits for its hashes."""
    path.write_bytes(VECTOR.read_bytes())
    path.chmod(0o640)


def write_anew(path: Path) -> None:
    """What made the file."""
    stamp = edit.StaffStamp("m.ng", 1_767_225_600)
    edit.add(path, person(), PIN, KEY, stamp, salt=SALT, new_house="SYD-1")
    chief = person(CHIEF, "casino supervisor", "games supervisor", name="A. Sato")
    edit.add(path, chief, CHIEF_PIN, KEY, stamp, salt=SALT)
    technician = person(TECHNICIAN, "technician", name="T. Ek")
    edit.add(path, technician, TECHNICIAN_PIN, KEY, stamp, salt=SALT)
