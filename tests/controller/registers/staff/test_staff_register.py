"""The register at a table: who is let in, what is refused, and what gives nothing away."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from controller.registers.errors import (
    NotPermittedError,
    RegisterError,
    SignedError,
    UnreadableError,
)
from controller.registers.keys import SigningSecret
from controller.registers.staff.attempts import CONSOLE, Attempt, Attempts
from controller.registers.staff.document import FORMAT, load
from controller.registers.staff.pins import PinHash
from controller.registers.staff.register import StaffDesk, StaffRegister
from controller.rules.engine.facts import Role
from controller.table.staff import Staff
from tests.controller.registers.staff.house import (
    CHIEF,
    CHIEF_PIN,
    DEALER,
    KEY,
    OTHER,
    PIN,
    TECHNICIAN,
    TECHNICIAN_PIN,
    TODAY,
    VECTOR,
    make,
    write_anew,
)


@pytest.fixture
def register(path: Path) -> StaffRegister:
    make(path)
    return StaffRegister.open(path, KEY.public)


class Table:
    """A desk with its journal and clocks."""

    def __init__(self, register: StaffRegister) -> None:
        self.told: list[Attempt] = []
        self.now_ms = 0
        self.today = TODAY
        self.desk = StaffDesk(
            register,
            Attempts(),
            self.told.append,
            now_ms=lambda: self.now_ms,
            today=lambda: self.today,
        )


@pytest.fixture
def table(register: StaffRegister) -> Table:
    return Table(register)


def test_an_id_and_its_pin_are_somebody(table: Table) -> None:
    desk: Staff = table.desk
    assert desk.check(DEALER, PIN) == (DEALER, frozenset([Role.DEALER]))
    both = frozenset([Role.CASINO_SUPERVISOR, Role.GAMES_SUPERVISOR])
    assert desk.check(CHIEF, CHIEF_PIN) == (CHIEF, both)
    assert table.told == []


@pytest.mark.parametrize(
    ("staff_id", "pin"),
    [(DEALER, CHIEF_PIN), (CHIEF, PIN), (DEALER, ""), ("01042", PIN), ("9", PIN), ("", "")],
)
def test_anything_else_is_nobody(table: Table, staff_id: str, pin: str) -> None:
    assert table.desk.check(staff_id, pin) is None
    assert [one.what for one in table.told] == ["failed"]


def test_a_technician_has_no_role_in_a_round(table: Table) -> None:
    assert table.desk.check(TECHNICIAN, TECHNICIAN_PIN) == (TECHNICIAN, frozenset())
    person = table.desk.person(TECHNICIAN, TECHNICIAN_PIN)
    assert person is not None
    assert person.duties == {"technician"}


def test_before_the_first_day_and_after_the_last_nobody_signs_on(path: Path) -> None:
    make(path)
    found = load(path, KEY.public).document.people[DEALER]
    assert not found.may_sign_on(date(2025, 12, 31))
    assert found.may_sign_on(date(2026, 1, 1))
    table = Table(StaffRegister.open(path, KEY.public))
    table.today = date(2025, 12, 31)
    assert table.desk.check(DEALER, PIN) is None


def test_a_locked_id_stays_out_with_the_right_pin(table: Table) -> None:
    for _ in range(5):
        assert table.desk.check(DEALER, "9999") is None
    assert table.desk.wait_ms(DEALER) == 15 * 60_000
    assert table.desk.check(DEALER, PIN) is None
    assert table.told[-1] == Attempt("locked", DEALER)
    table.now_ms = 15 * 60_000
    assert table.desk.check(DEALER, PIN) is not None
    assert table.told[-2:] == [Attempt("lapsed", DEALER), Attempt("passed", DEALER)]


def test_unknown_ids_share_a_count_and_a_supervisor_clears_it(table: Table) -> None:
    for number in range(4):
        table.desk.check(str(900 + number), PIN)
    assert {one.who for one in table.told} == {"?"}
    table.desk.check(CHIEF, CHIEF_PIN)
    assert table.told[-2:] == [Attempt("cleared", "?"), Attempt("cleared", CONSOLE)]


def test_the_work_is_the_same_for_everybody(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: one hash of one cost, whether the id exists, is locked, or neither."""
    costs: list[tuple[int, int, int]] = []
    original = PinHash.fits

    def counted(self: Any, pin: str) -> bool:
        costs.append((self.n, self.r, self.p))
        return original(self, pin)

    monkeypatch.setattr(PinHash, "fits", counted)
    for staff_id, pin in [(DEALER, PIN), (DEALER, "1"), ("999", PIN), *[(DEALER, "1")] * 9]:
        costs.clear()
        table.desk.check(staff_id, pin)
        assert costs == [(8192, 8, 1)]


def test_what_the_journal_hook_refuses_lets_nobody_in(register: StaffRegister) -> None:
    def broken(_: Attempt) -> None:
        raise OSError("disk")

    desk = StaffDesk(register, Attempts(), broken, now_ms=lambda: 0, today=lambda: TODAY)
    with pytest.raises(OSError, match="disk"):
        desk.check(DEALER, "1")


# --- the file ----------------------------------------------------------------------------------


def test_the_vector_opens_and_is_what_is_written_today(path: Path) -> None:
    write_anew(path)
    assert path.stat().st_mode & 0o007 == 0
    assert path.read_bytes() == VECTOR.read_bytes()
    register = StaffRegister.open(VECTOR, KEY.public)
    assert (register.house, register.version, len(register)) == ("SYD-1", 3, 3)
    assert register.verify(DEALER, PIN, TODAY) is not None


def test_no_pin_is_in_the_file_or_in_what_prints(path: Path) -> None:
    make(path)
    loaded = load(path, KEY.public)
    for pin in (PIN, CHIEF_PIN):
        assert pin.encode() not in path.read_bytes()
        assert pin not in repr(loaded.document)


def test_every_flipped_bit_is_refused(path: Path) -> None:
    """Every byte, one bit of it each: none is believed."""
    raw = VECTOR.read_bytes()
    for offset in range(len(raw)):
        changed = bytearray(raw)
        changed[offset] ^= 1 << (offset % 8)
        path.write_bytes(changed)
        with pytest.raises(RegisterError) as refused:
            load(path, KEY.public)
        assert refused.value.code in ("E-STAF-001", "E-STAF-002", "E-STAF-003", "E-STAF-004")


@pytest.mark.parametrize("size", [0, 1, 17, 200, 211, 212, 900, -1])
def test_a_cut_file_is_refused(path: Path, size: int) -> None:
    path.write_bytes(VECTOR.read_bytes()[:size])
    with pytest.raises(RegisterError):
        load(path, KEY.public)


def test_another_key_is_refused_and_named_by_fingerprint(path: Path) -> None:
    make(path)
    with pytest.raises(RegisterError, match="expected 139e3940e64b5491") as refused:
        load(path, OTHER.public)
    assert refused.value.code == "E-STAF-003"


def test_an_old_version_and_a_missing_file(path: Path) -> None:
    make(path)
    with pytest.raises(NotPermittedError, match="E-STAF-009"):
        StaffRegister.open(path, KEY.public, minimum_version=4)
    with pytest.raises(UnreadableError, match="E-STAF-050"):
        StaffRegister.open(path.with_name("none"), KEY.public)


def signed(row: Any, key: SigningSecret = KEY) -> bytes:
    body = json.dumps(row).encode()
    signature = key.sign(FORMAT.encode() + key.public + body)
    return f"{FORMAT} {key.public.hex()} {signature.hex()}\n".encode() + body


def rows() -> Any:
    return json.loads(VECTOR.read_bytes().partition(b"\n")[2])


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("people", 0, "id"), "01"),
        (("people", 0, "id"), 1042),
        (("people", 0, "id"), "7"),
        (("people", 0, "name"), ""),
        (("people", 0, "name"), "a\nb"),
        (("people", 0, "roles"), []),
        (("people", 0, "roles"), ["owner"]),
        (("people", 0, "roles"), [["dealer"]]),
        (("people", 0, "status"), "away"),
        (("people", 0, "valid_from"), "20260101"),
        (("people", 0, "valid_until"), "2025-01-01"),
        (("people", 0, "pin", "salt"), ""),
        (("people", 0, "pin", "n"), 2**20),
        (("people", 0, "pin", "n"), 8193),
        (("people", 0, "pin", "n"), 2),
        (("people", 0, "pin", "p"), 1000),
        (("people", 0, "pin"), "8041"),
        (("people",), {}),
        (("people", 0), None),
        (("house",), "a b"),
        (("version",), 4),
        (("version",), True),
        (("history",), []),
        (("history", 0, "version"), 2),
        (("history", 0), {}),
    ],
)
def test_signed_nonsense_is_refused(path: Path, where: tuple[Any, ...], value: Any) -> None:
    row = rows()
    if where[:2] == ("people", 0):
        where = ("people", -1, *where[2:])
    inner = row
    for step in where[:-1]:
        inner = inner[step]
    inner[where[-1]] = value
    path.write_bytes(signed(row))
    with pytest.raises(RegisterError) as refused:
        load(path, KEY.public)
    assert refused.value.code == "E-STAF-007"
    path.write_bytes(signed(rows()))
    load(path, KEY.public)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000])
def test_signed_garbage_is_refused(path: Path, body: bytes) -> None:
    signature = KEY.sign(FORMAT.encode() + KEY.public + body)
    head = f"{FORMAT} {KEY.public.hex()} {signature.hex()}\n".encode()
    path.write_bytes(head + body)
    with pytest.raises(SignedError, match="E-STAF-007"):
        load(path, KEY.public)
