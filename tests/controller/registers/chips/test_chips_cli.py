"""``underfelt chips``: from the keys to the roll-out, its exits, and its answers for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from controller.commands import chips as command
from controller.registers.chips import edit
from controller.registers.files import locked
from controller.registers.kinds import CHIPS
from tests.controller.registers.chips.vector import (
    FILE,
    OTHER_KEY,
    PUBLIC_LINE,
    SECRET_LINE,
    VECTOR,
    content,
    row,
    saved,
    stamp,
    uid,
)

STOLEN = "E0040100123456A0"


class House:
    """A folder with the keys of the vector, in which the command is run."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capture = folder, capture
        (folder / "k").write_text(SECRET_LINE)
        (folder / "k").chmod(0o400)
        (folder / "p").write_text(PUBLIC_LINE)
        self.register = folder / "house.chips"
        self.key = ("--key", str(folder / "k"), "--by", "k.lee")
        self.pubkey = ("--pubkey", str(folder / "p"))
        self.err = ""

    def run(self, *arguments: str | Path) -> tuple[int, str]:
        try:
            code = command.run([str(one) for one in arguments])
        except SystemExit as exit_:
            code = int(str(exit_.code))
        out, self.err = self.capture.readouterr()
        assert VECTOR["key"]["secret"] not in out + self.err
        return code, out

    def answer(self, *arguments: str | Path) -> tuple[int, Any]:
        code, out = self.run(*arguments, "--json")
        return code, json.loads(out)

    def batch(self, number: int = 0) -> Path:
        given = VECTOR["batches"][number]
        path = self.folder / str(given["name"])
        path.write_text(given["text"])
        return path

    def vector(self) -> Path:
        self.register.write_bytes(FILE)
        return self.register


@pytest.fixture
def house(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> House:
    return House(tmp_path, capsys)


def test_from_the_keys_to_the_table(house: House) -> None:
    """What a clerk does on the first day, with keys of its own."""
    k, p, table = house.folder / "k2", house.folder / "p2", house.folder / "table.chips"
    assert house.run("keygen", "--secret", k, "--public", p)[0] == 0
    who = ("--key", k, "--by", "k.lee")
    assert house.run("import", house.register, house.batch(), *who, "--new", "SYD-1")[0] == 0
    assert house.run("roll-out", house.register, "--to", table, "--pubkey", p)[0] == 0
    why = ("--reason", "report 4711")
    assert house.run("mark", house.register, STOLEN, "stolen", *who, *why)[0] == 0
    assert house.run("roll-out", house.register, "--to", table, "--pubkey", p)[0] == 0
    code, out = house.run("show", table, STOLEN.lower(), "--pubkey", p)
    assert (code, house.err) == (0, "")
    assert out.splitlines()[0] == f"{STOLEN}  25.00 cash, stolen, series 2025-A, house SYD-1"
    assert out.splitlines()[2].endswith(f"k.lee marked {STOLEN} stolen: report 4711")
    assert table.read_bytes() == house.register.read_bytes()


@pytest.mark.parametrize("verb", command.VERBS)
def test_every_verb_explains_itself_with_an_example(verb: str, house: House) -> None:
    code, out = house.run(verb, "--help")
    assert code == 0
    assert f"example: underfelt chips {verb} " in out
    assert "--json" in out
    assert f"  underfelt chips {verb} " in house.run("--help")[1]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("shuffle",),
        ("keygen",),
        ("import", "a"),
        ("import", "a", "b"),
        ("mark", "a", "E0", "lost", "--reason", "x", "--key", "k", "--by", "x"),
        ("mark", "a", "stolen", "--reason", "x", "--key", "k", "--by", "x"),
        ("mark", "a", "E0", "stolen", "--key", "k", "--by", "x"),
        ("check", "a"),
        ("diff", "a"),
        ("roll-out", "a", "--pubkey", "p"),
        ("export", "a", "--csv", "--json"),
        ("check", "a", "--pubkey", "p", "--at-least", "x"),
    ],
)
def test_a_usage_error_exits_64(arguments: tuple[str, ...], house: House) -> None:
    code, out = house.run(*arguments)
    assert (code, out) == (64, "")
    assert "underfelt chips" in house.err


def test_a_bad_batch_is_told_in_full_and_nothing_is_written(house: House) -> None:
    house.vector()
    bad = house.folder / "bad.csv"
    bad.write_text(f"uid,value,class,series\n{STOLEN},5.00,vip,A\nE0FF,1,cash,?\n")
    code, out = house.run("import", house.register, bad, *house.key)
    assert (code, out) == (65, "")
    expected = "expected whole minor units (cents), digits only, 1 to 10000000000000"
    said = [
        f'line 2: value: "5.00": {expected} (E-CHIP-024)',
        'line 2: class: "vip": expected cash or promo (E-CHIP-025)',
        f'line 2: uid: "{STOLEN}": already in the register since version 1 (E-CHIP-023)',
        'line 3: series: "?": expected 1 to 32 of A-Z a-z 0-9 . _ - (E-CHIP-026)',
    ]
    assert house.err.splitlines() == [f"underfelt chips import: {bad}: {one}" for one in said]
    code, row_ = house.answer("import", house.register, bad, *house.key)
    assert (code, row_["ok"]) == (65, False)
    assert row_["problems"][0] == {
        "code": "E-CHIP-024",
        "text": expected,
        "file": str(bad),
        "line": 2,
        "field": "value",
        "value": "5.00",
    }
    assert house.register.read_bytes() == FILE


def test_a_rehearsal_says_what_it_would_do_and_does_nothing(house: House) -> None:
    who = (*house.key, "--dry-run")
    code, row_ = house.answer("import", house.register, house.batch(), *who, "--new", "SYD-1")
    assert (code, row_["written"], row_["imported"]) == (0, False, 3)
    assert [(p["class"], p["value"], p["chips"]) for p in row_["piles"]] == [
        ("cash", 500, 1),
        ("promo", 1000, 1),
        ("cash", 2500, 1),
    ]
    assert not house.register.exists()
    house.vector()
    why = ("--reason", "x")
    code, row_ = house.answer("mark", house.register, STOLEN, "retired", *who, *why)
    assert (code, row_["written"], row_["marked"]) == (0, False, [STOLEN])
    assert house.register.read_bytes() == FILE


def test_a_register_is_started_only_when_told_and_only_once(house: House) -> None:
    assert house.run("import", house.register, house.batch(), *house.key)[0] == 66
    assert "--new HOUSE" in house.err
    started = ("import", house.register, house.batch(), *house.key, "--new", "SYD-1")
    assert house.run(*started)[0] == 0
    assert house.run(*started)[0] == 73
    assert "E-CHIP-031" in house.err


def test_chips_are_marked_from_a_list(house: House) -> None:
    house.vector()
    listed = house.folder / "list"
    listed.write_text(f"# drop\n{STOLEN}\ne0040100ab000001\n")
    arguments = ("mark", house.register, "--file", listed, "stolen", *house.key, "--reason", "r")
    code, row_ = house.answer(*arguments)
    assert code == 0
    assert (row_["version"], row_["written"]) == (4, True)
    assert (row_["marked"], row_["already"]) == (["E0040100AB000001"], [STOLEN])
    before = house.register.read_bytes()
    code, row_ = house.answer(*arguments)
    assert (code, row_["version"], row_["written"], row_["marked"]) == (0, 4, False, [])
    assert house.register.read_bytes() == before


def test_options_may_stand_anywhere_between_the_chips(house: House) -> None:
    house.vector()
    arguments = ("mark", "--reason", "r", house.register, STOLEN, *house.key)
    code, row_ = house.answer(*arguments, "E004010012345678", "in-play")
    assert (code, row_["marked"], row_["already"]) == (0, [STOLEN], ["E004010012345678"])


def test_only_the_key_that_signed_a_register_may_change_it(house: House) -> None:
    saved(house.folder, content(), OTHER_KEY, "house.chips")
    why = ("--reason", "r")
    assert house.run("mark", house.register, uid(1), "stolen", *house.key, *why)[0] == 65
    assert "E-CHIP-003" in house.err


def test_exits_by_kind_of_failure(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.vector()
    mark = ("mark", house.register, STOLEN, "retired", *house.key, "--reason", "r")
    assert house.run("show", house.register, "E0FF", *house.pubkey)[0] == 65
    assert house.run("show", house.register, "xyz", *house.pubkey)[0] == 65
    assert house.run("show", house.folder / "none", STOLEN, *house.pubkey)[0] == 66
    assert house.run("import", house.register, house.folder / "none", *house.key)[0] == 66
    assert house.run("mark", house.folder / "no" / "a", *mark[2:])[0] == 73
    with locked(CHIPS, house.register):
        assert house.run(*mark)[0] == 77
    assert house.run("check", house.register, "--pubkey", house.folder / "k")[0] == 78
    monkeypatch.setattr(command, "now", lambda: 5)
    assert house.run(*mark)[0] == 65
    assert "E-CHIP-030" in house.err
    (house.folder / "k").chmod(0o440)
    assert house.run(*mark)[0] == 77
    assert "E-CHIP-040" in house.err
    assert house.register.read_bytes() == FILE


def test_a_check_counts_what_is_there(house: House) -> None:
    code, row_ = house.answer("check", house.vector(), *house.pubkey)
    assert (code, row_["version"], row_["house"], row_["chips"]) == (0, 3, "SYD-1", 4)
    assert row_["digest"] == VECTOR["expect"]["digest"]
    assert row_["fingerprint"] == VECTOR["key"]["fingerprint"]
    assert [tuple(pile.values()) for pile in row_["piles"]] == [
        ("MEL-2", "cash", 10000, "in play", 1),
        ("SYD-1", "cash", 500, "in play", 1),
        ("SYD-1", "cash", 2500, "stolen", 1),
        ("SYD-1", "promo", 1000, "in play", 1),
    ]
    assert house.run("check", house.register, *house.pubkey, "--at-least", "4")[0] == 77
    text = house.run("check", house.register, *house.pubkey)[1]
    assert "signature, length, hashes, order, duplicates, history: all correct" in text


def test_a_check_refuses_chips_that_the_history_does_not_explain(house: House) -> None:
    old = content()
    new = edit.mark_chips(old, [row(1).uid], "stolen", stamp()).content
    assert new is not None
    lie = edit.Content(2, new.house, new.issued_at, new.series, old.chips, new.history)
    path = saved(house.folder, lie)
    assert house.run("check", path, *house.pubkey)[0] == 65
    assert "E-CHIP-008" in house.err
    assert house.run("roll-out", path, "--to", house.folder / "t", *house.pubkey)[0] == 65
    assert not (house.folder / "t").exists()


def test_without_a_key_a_register_is_shown_with_a_warning(house: House) -> None:
    house.vector()
    code, out = house.run("export", house.register)
    assert code == 0
    assert "to check who signed it" in house.err
    assert out.splitlines()[2] == f"{STOLEN},2500,cash,2025-A,SYD-1,stolen,1,3"
    assert len(out.splitlines()) == 5
    code, row_ = house.answer("export", house.register, *house.pubkey)
    assert house.err == ""
    assert [chip["uid"] for chip in row_["chips"]] == [c["uid"] for c in VECTOR["expect"]["chips"]]


def test_a_difference_is_told_and_a_rewritten_history_exits_65(house: House) -> None:
    new = edit.mark_chips(content(), [row(1).uid], "stolen", stamp()).content
    assert new is not None
    old_path, new_path = saved(house.folder, content()), saved(house.folder, new, name="b")
    code, out = house.run("diff", old_path, new_path, *house.pubkey)
    assert code == 0
    assert f"  marked   {uid(1)}  in play -> stolen" in out
    code, row_ = house.answer("diff", old_path, old_path, *house.pubkey)
    assert (code, row_["ok"], row_["marked"], row_["rewritten"]) == (0, True, [], False)
    code, row_ = house.answer("diff", new_path, old_path, *house.pubkey)
    assert (code, row_["ok"], row_["rewritten"]) == (65, False, True)
    big = saved(house.folder, content(30), name="c")
    assert house.run("diff", big, old_path)[1].count("GONE") == 25


def test_many_new_chips_are_counted_not_listed(house: House) -> None:
    first = content(1)
    rows = [row(n) for n in range(1, 40)]
    more = edit.import_chips(first, rows, "SYD-1", edit.Source("b", "00" * 32), stamp())
    old_path, new_path = saved(house.folder, first), saved(house.folder, more, name="b")
    code, out = house.run("diff", old_path, new_path, *house.pubkey)
    assert code == 0
    assert "  added    39 chips" in out
    assert uid(5) not in out


# --- roll-out ----------------------------------------------------------------------------------


@pytest.fixture
def versions(house: House) -> tuple[Path, Path, Path]:
    """Version 1, version 2 that continues it, and another version 2."""
    made = content()
    right = edit.mark_chips(made, [row(1).uid], "stolen", stamp()).content
    wrong = edit.mark_chips(made, [row(2).uid], "stolen", stamp()).content
    assert right is not None
    assert wrong is not None
    one = saved(house.folder, made, name="v1")
    return one, saved(house.folder, right, name="v2"), saved(house.folder, wrong, name="w2")


TWO_PEOPLE = ("--approved-by", "Ann", "--approved-by", "Bob")


def test_a_roll_out_goes_forward_only(house: House, versions: tuple[Path, Path, Path]) -> None:
    one, two, other = versions
    table = house.folder / "table"

    def to_table(path: Path, *more: str) -> tuple[int, Any]:
        return house.answer("roll-out", path, "--to", table, *house.pubkey, *more)

    assert to_table(one)[1]["written"] is True
    assert to_table(one)[1]["written"] is False
    assert to_table(two)[1]["replaced"] == 1
    for path, code in ((one, "E-CHIP-009"), (other, "E-CHIP-010")):
        exit_, row_ = to_table(path)
        assert (exit_, row_["problems"][0]["code"]) == (77, code)
        exit_, row_ = to_table(path, "--approved-by", "Ann", "--approved-by", "ann")
        assert (exit_, row_["problems"][0]["code"]) == (77, "E-CHIP-011")
        assert table.read_bytes() == two.read_bytes()
    exit_, row_ = to_table(other, *TWO_PEOPLE)
    assert (exit_, row_["overruled"], row_["approved_by"]) == (0, "E-CHIP-010", ["Ann", "Bob"])
    assert table.read_bytes() == other.read_bytes()


def test_a_higher_version_with_another_past_is_refused(
    house: House, versions: tuple[Path, Path, Path]
) -> None:
    _, two, other = versions
    third = house.folder / "w3"
    third.write_bytes(other.read_bytes())
    why = ("--reason", "r")
    assert house.run("mark", third, uid(3), "retired", *house.key, *why)[0] == 0
    table = house.folder / "table"
    table.write_bytes(two.read_bytes())
    arguments = ("roll-out", third, "--to", table, *house.pubkey)
    assert house.run(*arguments)[0] == 77
    assert "E-CHIP-010" in house.err
    code, out = house.run(*arguments, *TWO_PEOPLE)
    assert code == 0
    assert out.endswith("version 3 instead of 2; E-CHIP-010 overruled by Ann and Bob\n")


def test_what_cannot_be_verified_is_neither_rolled_out_nor_lightly_replaced(
    house: House, versions: tuple[Path, Path, Path]
) -> None:
    one, two, _ = versions
    table = house.folder / "table"
    two.write_bytes(two.read_bytes()[:-1] + b" ")
    assert house.run("roll-out", two, "--to", table, *house.pubkey, *TWO_PEOPLE)[0] == 65
    assert not table.exists()
    table.write_bytes(b"rotten")
    arguments = ("roll-out", one, "--to", table, *house.pubkey)
    assert house.run(*arguments)[0] == 77
    assert table.read_bytes() == b"rotten"
    assert house.run(*arguments, *TWO_PEOPLE)[0] == 0
    assert table.read_bytes() == one.read_bytes()
