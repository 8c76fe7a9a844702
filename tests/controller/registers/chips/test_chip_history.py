"""Changing a register: one version and one line each, nothing lost, chips and history agree."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.registers.chips import edit
from controller.registers.chips.audit import difference, history_problems, story_of
from controller.registers.chips.batch import BatchRow
from controller.registers.chips.history import entries
from controller.registers.chips.layout import STATUSES, Status
from controller.registers.chips.load import LoadedChips, load
from controller.registers.chips.register import ChipRegister
from controller.registers.errors import BatchError, RegisterError
from tests.controller.registers.chips.vector import (
    FIRST_AT,
    PUBLIC,
    SOURCE,
    content,
    row,
    saved,
    stamp,
    uid,
)


def loaded(made: edit.Content, folder: Path, name: str = "a.chips") -> LoadedChips:
    return load(saved(folder, made, name=name), PUBLIC)


def mark(old: edit.Content, numbers: list[int], status: Status, at: int) -> edit.Content:
    made = edit.mark_chips(old, [row(n).uid for n in numbers], status, stamp(at)).content
    assert made is not None
    return made


def test_a_mark_changes_these_chips_and_no_other(tmp_path: Path) -> None:
    old = content()
    new = mark(old, [3, 1], "stolen", FIRST_AT + 1)
    register = ChipRegister(loaded(new, tmp_path))
    marked = {c.uid: (c.status, c.marked_in) for c in register if c.marked_in}
    assert marked == {uid(1): ("stolen", 2), uid(3): ("stolen", 2)}
    assert new.version == 2
    assert len(register) == 5


def test_an_auditor_can_tell_who_marked_a_chip_when_and_why(tmp_path: Path) -> None:
    made = mark(mark(content(), [1, 2], "stolen", FIRST_AT), [1], "in play", FIRST_AT + 5)
    book = loaded(made, tmp_path)
    chip = ChipRegister(book).find(uid(1))
    assert chip is not None
    told = [(e.version, e.did, e.stamp.by, e.stamp.why) for e in story_of(chip, book, "")]
    assert told == [
        (1, "import", "k.lee", "because"),
        (2, "mark stolen", "k.lee", "because"),
        (3, "mark in play", "k.lee", "because"),
    ]


def test_what_already_has_the_status_is_left_alone() -> None:
    old = mark(content(), [1], "retired", FIRST_AT)
    result = edit.mark_chips(old, [row(1).uid, row(2).uid], "retired", stamp())
    assert (result.changed, result.already) == ((uid(2),), (uid(1),))
    again = edit.mark_chips(old, [row(1).uid], "retired", stamp())
    assert again == edit.MarkResult(None, (), (uid(1),))


def test_all_unknown_chips_are_listed_and_none_is_marked() -> None:
    with pytest.raises(BatchError) as caught:
        edit.mark_chips(content(), [row(n).uid for n in (1, 77, 78)], "stolen", stamp())
    assert [(p.code, p.value) for p in caught.value.problems] == [
        ("E-CHIP-028", uid(77)),
        ("E-CHIP-028", uid(78)),
    ]


@pytest.mark.parametrize(
    ("by", "why", "fields"),
    [
        ("", "x", ["by"]),
        ("  ", "x", ["by"]),
        ("x" * 65, "x", ["by"]),
        ("a\nb", "x", ["by"]),
        ("a\u202eb", "x", ["by"]),
        ("x", "", ["reason"]),
        ("x", "x" * 201, ["reason"]),
        ("", "", ["by", "reason"]),
    ],
)
def test_a_change_without_who_or_why_is_refused(by: str, why: str, fields: list[str]) -> None:
    with pytest.raises(BatchError) as caught:
        edit.mark_chips(content(), [row(1).uid], "stolen", stamp(by=by, why=why))
    assert [(p.code, p.field) for p in caught.value.problems] == [
        ("E-CHIP-029", field) for field in fields
    ]


def test_a_clock_behind_the_last_entry_is_refused() -> None:
    with pytest.raises(BatchError, match="E-CHIP-030"):
        edit.mark_chips(content(), [row(1).uid], "stolen", stamp(FIRST_AT - 1))


@pytest.mark.parametrize("house", ["", "syd", "A" * 17, "A B", "É"])
def test_a_house_needs_a_name(house: str) -> None:
    with pytest.raises(BatchError, match="E-CHIP-029"):
        edit.start(house)
    with pytest.raises(BatchError, match="E-CHIP-029"):
        edit.import_chips(edit.start("H"), [row(1)], house, SOURCE, stamp())


@pytest.mark.parametrize(
    ("limit", "most"),
    [("MAX_CHIPS", 4), ("MAX_SERIES", 0), ("MAX_HISTORY_BYTES", 150), ("MAX_VERSION", 0)],
)
def test_every_limit_is_reached_and_refused(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit, limit, most)
    with pytest.raises(BatchError, match="E-CHIP-013"):
        content(5)


def test_names_in_any_script_survive(tmp_path: Path) -> None:
    who = 'Łucja "Ann" 李'
    made = edit.mark_chips(content(), [row(1).uid], "stolen", stamp(by=who)).content
    assert made is not None
    book = loaded(made, tmp_path)
    assert [entry.stamp.by for entry in entries(book.history)] == ["k.lee", who]
    assert who.split(maxsplit=1)[0].encode() in book.history


ACTS = st.lists(
    st.tuples(st.sampled_from((*STATUSES, "import")), st.sets(st.integers(0, 12), min_size=1)),
    max_size=12,
)


@given(acts=ACTS)
def test_any_sequence_of_changes_keeps_chips_and_history_together(
    acts: list[tuple[str, set[int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Beside a plain dictionary: number of the chip to status and versions."""
    folder = tmp_path_factory.mktemp("any")
    made = content(3)
    model: dict[int, tuple[str, int, int]] = dict.fromkeys(range(3), ("in play", 1, 0))
    older = loaded(made, folder)
    for act, numbers in acts:
        version = made.version + 1
        if act == "import":
            fresh = [n for n in sorted(numbers) if n not in model]
            if not fresh:
                continue
            rows = [row(n, series=f"S{n % 2}") for n in fresh]
            made = edit.import_chips(made, rows, "SYD-1", SOURCE, stamp())
            model |= dict.fromkeys(fresh, ("in play", version, 0))
        else:
            status = next(s for s in STATUSES if s == act)
            known = [n for n in numbers if n in model]
            result = edit.mark_chips(made, [row(n).uid for n in known], status, stamp())
            made = result.content or made
            for n in known:
                if model[n][0] != status:
                    model[n] = (status, model[n][1], version)
    newer = loaded(made, folder, "b.chips")
    assert history_problems(newer, "") == []
    assert difference(older, newer, "").sound
    register = ChipRegister(newer)
    assert {c.uid: (c.status, c.added_in, c.marked_in) for c in register} == {
        uid(n): facts for n, facts in model.items()
    }


# --- histories that lie ------------------------------------------------------------------------


def story(made: edit.Content, folder: Path) -> str:
    book = loaded(made, folder)
    return " | ".join(p.text for p in history_problems(book, ""))


def test_a_status_without_a_line_of_history_is_found(tmp_path: Path) -> None:
    old = content()
    new = mark(old, [1], "stolen", FIRST_AT)
    lie = replace(new, chips=old.chips)
    assert f"chip {uid(1)} is in play, by history stolen" in story(lie, tmp_path)


def test_lines_left_out_and_chips_left_out_are_found(tmp_path: Path) -> None:
    new = mark(content(), [1], "stolen", FIRST_AT)
    assert "version 2 has 1 lines" in story(replace(new, history=content().history), tmp_path)
    assert "added 5 chips, 4 are there" in story(replace(new, chips=new.chips[40:]), tmp_path)
    gone = replace(new, chips=new.chips[:40] + new.chips[80:])
    assert f"marks chip {uid(1)}, which is not there" in story(gone, tmp_path)


def test_a_wrong_house_or_time_is_found(tmp_path: Path) -> None:
    made = content()
    other = replace(made, history=made.history.replace(b'"SYD-1"', b'"MEL-2"'))
    assert "no line of history added" in story(other, tmp_path)
    later = replace(made, issued_at=made.issued_at + 1)
    assert "not of the time of issue" in story(later, tmp_path)


LINE = content().history
TWO = mark(content(), [1], "stolen", FIRST_AT).history
BAD_LINES = {
    "no end": LINE[:-1],
    "not JSON": b"x\n",
    "a list": b"[]\n",
    "a number": b"5\n",
    "no keys": b"{}\n",
    "deep": b"[" * 100_000 + b"\n",
    "not UTF-8": LINE.replace(b"k.lee", b"k.\xff"),
    "a key too many": LINE.replace(b"}", b', "x": 1}'),
    "a key twice": LINE.replace(b"{", b'{"version": 1, '),
    "other spacing": LINE.replace(b": ", b":"),
    "the wrong number": LINE.replace(b'"version": 1', b'"version": 2'),
    "a truth for a number": LINE.replace(b'"version": 1', b'"version": true'),
    "no such time": LINE.replace(b"2025-11-03T", b"2025-02-30T"),
    "another form of time": LINE.replace(b":00Z", b":00+00:00"),
    "nobody": LINE.replace(b"k.lee", b""),
    "who as a number": LINE.replace(b'"k.lee"', b"5"),
    "no chips": LINE.replace(b'"chips": 5', b'"chips": 0'),
    "chips as a list": LINE.replace(b'"chips": 5', b'"chips": [5]'),
    "no hash": LINE.replace(b"ab" * 32, b"ab"),
    "an unknown act": LINE.replace(b'"import"', b'"forget"'),
    "a mark without a reason": TWO.replace(
        b'"chips": ["' + uid(1).encode() + b'"], "why": "because"',
        b'"chips": ["' + uid(1).encode() + b'"], "why": ""',
    ),
    "a mark of nothing": TWO.replace(b'"' + uid(1).encode() + b'"', b""),
    "a mark of no UID": TWO.replace(uid(1).encode(), b"E0X"),
    "time running back": TWO.replace(b'"version": 1, "at": "2025', b'"version": 1, "at": "2026'),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_line_that_is_none_is_refused(name: str) -> None:
    assert BAD_LINES[name] not in (LINE, TWO)
    with pytest.raises(RegisterError) as caught:
        list(entries(BAD_LINES[name], "a.chips"))
    assert caught.value.code == "E-CHIP-008"


@given(
    history=st.binary(max_size=200)
    | st.text(max_size=80).map(lambda t: LINE + t.encode("utf-8", "replace") + b"\n")
)
def test_any_bytes_give_lines_or_a_refusal(history: bytes) -> None:
    with suppress(RegisterError):
        assert len(list(entries(history))) == history.count(b"\n")


def test_a_difference_shows_what_can_never_rightly_happen(tmp_path: Path) -> None:
    old = content()
    new = mark(old, [1], "stolen", FIRST_AT)
    before, after = loaded(old, tmp_path), loaded(new, tmp_path, "b.chips")
    forward = difference(before, after, "")
    assert forward.sound
    assert [(was.status, now.status) for was, now in forward.marked] == [("in play", "stolen")]
    assert [entry.version for entry in forward.lines] == [2]
    back = difference(after, before, "")
    assert back.rewritten
    assert not back.sound
    worth = edit.import_chips(
        edit.start("SYD-1"),
        [replace_cents(row(n), n) for n in range(1, 5)],
        "SYD-1",
        SOURCE,
        stamp(),
    )
    altered = difference(before, loaded(worth, tmp_path, "c.chips"), "")
    assert [chip.uid for chip in altered.gone] == [uid(0)]
    assert [was.uid for was, _ in altered.altered] == [uid(2), uid(3), uid(4)]


def replace_cents(one: BatchRow, number: int) -> BatchRow:
    return replace(one, cents=500 if number == 1 else 1)
