"""``underfelt staff`` as a person uses it: answers, exit codes, and no PIN anywhere."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from controller.commands import staff as command

PIN = "80415926"
ROOT = Path(__file__).parents[4]


class Office:
    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.folder, self.capsys, self.monkeypatch = folder, capsys, monkeypatch
        self.register = str(folder / "house.staff")
        monkeypatch.setattr(command, "now", lambda: 1_767_225_600)
        pair = ("--secret", str(folder / "k"), "--public", str(folder / "p"))
        assert self.run("keygen", *pair)[0] == 0

    def run(self, *arguments: str, pin: str = "") -> tuple[int, str, str]:
        self.monkeypatch.setattr("sys.stdin", io.StringIO(pin + "\n" if pin else ""))
        try:
            code = command.run(list(arguments))
        except SystemExit as left:
            code = int(str(left.code))
        said = self.capsys.readouterr()
        assert not pin or pin not in said.out + said.err
        return code, said.out, said.err

    def add(self, staff_id: str, *more: str, pin: str = PIN) -> tuple[int, str, str]:
        who = ("--name", "K. Lee", "--role", "dealer", *self.authority)
        return self.run("add", self.register, staff_id, *who, "--pin-stdin", *more, pin=pin)

    @property
    def authority(self) -> tuple[str, ...]:
        return ("--key", str(self.folder / "k"), "--by", "m.ng")

    @property
    def public(self) -> tuple[str, str]:
        return ("--pubkey", str(self.folder / "p"))


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Office:
    return Office(tmp_path, capsys, monkeypatch)


def test_from_the_first_person_to_the_table(desk: Office) -> None:
    assert desk.add("1042", "--new", "SYD-1", "--until", "2099-12-31")[0] == 0
    assert desk.add("1043", "--role", "inspector", "--json")[0] == 0
    code, out, _ = desk.run("check", desk.register, *desk.public)
    assert code == 0
    assert "version 2, 2 people, 2 may sign on today" in out
    assert desk.run("disable", desk.register, "1042", *desk.authority)[0] == 0
    row = answer(desk.run("check", desk.register, *desk.public, "--json"))
    assert (row["version"], row["may_sign_on"], row["roles"]["dealer"]) == (3, 1, 1)
    assert desk.run("enable", desk.register, "1042", *desk.authority)[0] == 0
    new = desk.run("pin", desk.register, "1042", *desk.authority, "--pin-stdin", pin="5830")
    assert new[0] == 0
    code, out, _ = desk.run("show", desk.register, "1042", *desk.public)
    assert re.findall(r"m\.ng: (.*)", out) == [
        "added 1042: dealer", "disabled 1042", "enabled 1042", "new PIN for 1042",
    ]  # fmt: skip
    target = str(desk.folder / "table.staff")
    code, out, _ = desk.run("roll-out", desk.register, "--to", target, *desk.public)
    assert (code, "version 5 is new here" in out) == (0, True)


@pytest.mark.usefixtures("as_root")
def test_a_table_that_could_read_its_register_can_read_the_next_one(desk: Office) -> None:
    desk.add("1042", "--new", "SYD-1")
    target = desk.folder / "table.staff"
    rolled = ("roll-out", desk.register, "--to", str(target), *desk.public)
    assert desk.run(*rolled)[0] == 0
    os.chown(target, 0, 12_345)
    desk.add("1043")
    umask = os.umask(0o077)
    try:
        assert desk.run(*rolled)[0] == 0
    finally:
        os.umask(umask)
    about = target.stat()
    assert (about.st_gid, about.st_mode & 0o777) == (12_345, 0o640)


def answer(done: tuple[int, str, str]) -> Any:
    return json.loads(done[1])


def test_show_lists_everybody_without_hashes_and_says_who_signed_is_unchecked(desk: Office) -> None:
    desk.add("1042", "--new", "SYD-1")
    code, out, err = desk.run("show", desk.register, "--json")
    assert code == 0
    assert "to check who signed it" in err
    (person,) = json.loads(out)["people"]
    assert sorted(person) == ["id", "name", "roles", "status", "valid_from", "valid_until"]


@pytest.mark.parametrize(
    ("who", "pin", "code", "error"),
    [
        (("1042", "--new", "SYD-1"), "1234", 65, "E-STAF-026"),
        (("0042", "--new", "SYD-1"), PIN, 65, "E-STAF-021"),
        (("1042",), PIN, 66, "E-STAF-050"),
        (("1042", "--new", "SYD-1"), "", 66, "E-STAF-050"),
        (("1042", "--new", "SYD-1", "--until", "soon"), PIN, 65, "E-STAF-025"),
        (("1042", "--new", "SYD-1", "--role", "owner"), PIN, 64, "invalid choice"),
    ],
    ids=("weak", "id", "no register", "no PIN", "date", "role"),  # no PIN in the folder's name
)
def test_refusals(desk: Office, who: tuple[str, ...], pin: str, code: int, error: str) -> None:
    found, _, err = desk.add(*who, pin=pin)
    assert (found, error in err) == (code, True)
    assert not Path(desk.register).exists()


def test_a_pin_is_never_an_argument(desk: Office) -> None:
    assert desk.run("pin", desk.register, "1042", *desk.authority, "--pin", "8041")[0] == 64
    code, _, err = desk.run("pin", desk.register, "1042", *desk.authority)
    assert (code, "--pin-stdin" in err) == (66, True)


def test_a_pin_typed_at_a_terminal_is_typed_twice(
    desk: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.add("1042", "--new", "SYD-1")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    arguments = ["pin", desk.register, "1042", *desk.authority]
    for typed, code in ((["5830", "5831"], 65), (["5830", "5830"], 0)):
        answers = iter(typed)
        monkeypatch.setattr("sys.stdin", Terminal())
        monkeypatch.setattr("getpass.getpass", lambda _, a=answers: next(a))
        assert command.run(arguments) == code


def test_other_exits(desk: Office) -> None:
    desk.add("1042", "--new", "SYD-1")
    assert desk.run()[0] == 64
    assert desk.run("fire")[0] == 64
    assert desk.run("--help")[0] == 0
    pair = ("--secret", str(desk.folder / "k"), "--public", str(desk.folder / "p2"))
    assert desk.run("keygen", *pair)[0] == 73
    (desk.folder / "k").chmod(0o644)
    assert desk.run("disable", desk.register, "1042", *desk.authority)[0] == 77
    code, out, _ = desk.run("check", desk.register, "--pubkey", str(desk.folder / "k"), "--json")
    assert code == 78
    assert json.loads(out)["problems"][0]["code"] == "E-STAF-041"


def test_the_page_lists_every_code_that_is_given_and_no_other() -> None:
    sources = [
        *(ROOT / "controller/registers/staff").glob("*.py"),
        ROOT / "controller/commands/staff.py",
    ]
    given = {c for p in sources for c in re.findall(r"E-STAF-\d{3}", p.read_text("utf-8"))}
    for path in (ROOT / "controller/registers").glob("*.py"):
        found = re.findall(r"codes}-(\d{3})", path.read_text("utf-8"))
        given |= {f"E-STAF-{number}" for number in found}
    page = (ROOT / "docs/operations/staff.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(E-STAF-\d{3})`", page, re.MULTILINE)) == given
