"""The office: every change is signed, told in the history, and never goes backwards at a table."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from controller.registers import files
from controller.registers.errors import (
    BatchError,
    CreateError,
    NotPermittedError,
    RegisterError,
    UnreadableError,
    WriteError,
)
from controller.registers.staff import edit
from controller.registers.staff.document import load
from tests.controller.registers.staff.house import (
    CHIEF,
    DEALER,
    KEY,
    OTHER,
    PIN,
    SALT,
    TODAY,
    make,
    person,
)

STAMP = edit.StaffStamp("m.ng", 1_767_225_601)


def test_a_disabled_person_is_out_and_may_come_back(path: Path) -> None:
    make(path)
    assert edit.set_status(path, DEALER, active=False, key=KEY, stamp=STAMP) == 4
    assert not load(path, KEY.public).document.people[DEALER].may_sign_on(TODAY)
    assert edit.set_status(path, DEALER, active=True, key=KEY, stamp=STAMP) == 5
    document = load(path, KEY.public).document
    assert document.people[DEALER].may_sign_on(TODAY)
    assert [entry.did for entry in document.history] == [
        "added 1042: dealer",
        "added 7: games supervisor, casino supervisor",
        "added 300: technician",
        "disabled 1042",
        "enabled 1042",
    ]
    with pytest.raises(BatchError, match=r"is active already \(E-STAF-027\)"):
        edit.set_status(path, DEALER, active=True, key=KEY, stamp=STAMP)


def test_a_new_pin_counts_and_the_old_one_does_not(path: Path) -> None:
    make(path)
    edit.set_pin(path, DEALER, "5830", KEY, STAMP, salt=bytes(16))
    pin = load(path, KEY.public).document.people[DEALER].pin
    assert pin.fits("5830")
    assert not pin.fits(PIN)
    with pytest.raises(BatchError, match="PIN in place"):
        edit.set_pin(path, DEALER, "5830", KEY, STAMP, salt=SALT)


def test_a_weak_pin_is_refused_without_being_repeated(path: Path) -> None:
    make(path)
    before = path.read_bytes()
    with pytest.raises(BatchError, match="E-STAF-026") as refused:
        edit.add(path, person("9"), "123456", KEY, STAMP, salt=SALT)
    assert "123456" not in str(refused.value)
    with pytest.raises(BatchError, match="E-STAF-026") as refused:
        edit.set_pin(path, DEALER, "123456", KEY, STAMP, salt=SALT)
    assert "123456" not in str(refused.value)
    assert path.read_bytes() == before


def test_all_that_is_wrong_with_a_person_is_told_at_once(path: Path) -> None:
    new = edit.NewPerson("007", " ", frozenset(), date(2026, 2, 1), date(2026, 1, 1))
    with pytest.raises(BatchError) as refused:
        edit.add(path, new, PIN, KEY, STAMP, salt=SALT, new_house="SYD-1")
    codes = [problem.code for problem in refused.value.problems]
    assert codes == ["E-STAF-021", "E-STAF-022", "E-STAF-024", "E-STAF-025"]
    assert not path.exists()


def test_ids_are_given_once_and_registers_started_once(path: Path) -> None:
    make(path)
    with pytest.raises(BatchError, match="E-STAF-023"):
        edit.add(path, person(CHIEF), PIN, KEY, STAMP, salt=SALT)
    with pytest.raises(CreateError, match="E-STAF-031"):
        edit.add(path, person("9"), PIN, KEY, STAMP, salt=SALT, new_house="SYD-1")
    missing = path.with_name("other.staff")
    with pytest.raises(UnreadableError, match="E-STAF-050"):
        edit.add(missing, person("9"), PIN, KEY, STAMP, salt=SALT)
    with pytest.raises(BatchError, match="E-STAF-029"):
        edit.add(missing, person("9"), PIN, KEY, STAMP, salt=SALT, new_house="no house")
    with pytest.raises(BatchError, match="E-STAF-028"):
        edit.set_status(path, "9", active=False, key=KEY, stamp=STAMP)


def test_only_the_key_in_use_may_change_a_register_and_only_forwards_in_time(path: Path) -> None:
    make(path)
    with pytest.raises(RegisterError, match="E-STAF-003"):
        edit.set_status(path, DEALER, active=False, key=OTHER, stamp=STAMP)
    with pytest.raises(BatchError, match="E-STAF-030"):
        edit.set_status(path, DEALER, active=False, key=KEY, stamp=edit.StaffStamp("m.ng", 5))
    with pytest.raises(BatchError, match="E-STAF-029"):
        edit.set_status(path, DEALER, active=False, key=KEY, stamp=edit.StaffStamp("", 2**31))


def test_a_failing_disk_leaves_the_old_register(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(path)
    before = path.read_bytes()

    class Broken:
        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

        def fsync(self, _: int) -> None:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "os", Broken())
    with pytest.raises(WriteError, match="E-STAF-052"):
        edit.set_status(path, DEALER, active=False, key=KEY, stamp=STAMP)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


# --- roll-out ----------------------------------------------------------------------------------


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "table").mkdir()
    return tmp_path / "table" / "house.staff"


def test_a_roll_out_goes_forwards(path: Path, target: Path) -> None:
    make(path)
    first = edit.roll_out(path, target, KEY.public)
    assert (first.version, first.replaced, first.written) == (3, 0, True)
    assert target.read_bytes() == path.read_bytes()
    assert target.stat().st_mode & 0o027 == 0
    assert not edit.roll_out(path, target, KEY.public).written
    edit.set_status(path, DEALER, active=False, key=KEY, stamp=STAMP)
    assert edit.roll_out(path, target, KEY.public).replaced == 3


def test_a_way_back_needs_two_people(path: Path, target: Path) -> None:
    """An old register is one in which somebody dismissed may still sign on."""
    make(path)
    old = path.with_name("old.staff")
    old.write_bytes(path.read_bytes())
    edit.set_status(path, DEALER, active=False, key=KEY, stamp=STAMP)
    edit.roll_out(path, target, KEY.public)
    with pytest.raises(NotPermittedError, match="E-STAF-009"):
        edit.roll_out(old, target, KEY.public)
    with pytest.raises(NotPermittedError, match="E-STAF-011"):
        edit.roll_out(old, target, KEY.public, ["M. Ng", "m.  ng"])
    done = edit.roll_out(old, target, KEY.public, ["m.ng", "a.sato"])
    assert (done.overruled, done.replaced) == ("E-STAF-009", 4)


def test_a_second_truth_and_a_rewritten_history_need_two_people(path: Path, target: Path) -> None:
    make(path)
    other = path.with_name("other.staff")
    other.write_bytes(path.read_bytes())
    edit.set_status(path, DEALER, active=False, key=KEY, stamp=STAMP)
    edit.set_status(other, CHIEF, active=False, key=KEY, stamp=STAMP)
    edit.roll_out(path, target, KEY.public)
    with pytest.raises(NotPermittedError, match="E-STAF-010"):
        edit.roll_out(other, target, KEY.public)
    edit.set_status(other, DEALER, active=False, key=KEY, stamp=STAMP)
    with pytest.raises(NotPermittedError, match="does not continue"):
        edit.roll_out(other, target, KEY.public)


def test_what_cannot_be_verified_is_not_replaced_by_one_person(path: Path, target: Path) -> None:
    make(path)
    target.write_bytes(b"noise")
    with pytest.raises(NotPermittedError, match="E-STAF-001"):
        edit.roll_out(path, target, KEY.public)
    assert edit.roll_out(path, target, KEY.public, ["a", "b"]).overruled == "E-STAF-001"
    with pytest.raises(RegisterError, match="E-STAF-003"):
        edit.roll_out(path, target, OTHER.public)
