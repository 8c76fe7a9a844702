"""Finding chips, not going back, and what a spot is worth."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.registers.chips import edit
from controller.registers.chips.batch import BatchRow
from controller.registers.chips.layout import key_of, offset_of
from controller.registers.chips.register import ChipRegister
from controller.registers.errors import NotPermittedError, RegisterError
from controller.registers.kinds import CHIPS
from controller.registers.rollout import Seen, check_rollback
from tests.controller.registers.chips.vector import (
    FILE,
    LONGEST,
    PUBLIC,
    SOURCE,
    content,
    saved,
    stamp,
    uid,
)


def test_uids_of_every_length_live_together_and_only_they_are_found(tmp_path: Path) -> None:
    uids = [LONGEST[:size] for size in range(1, 17)] + [bytes(size) for size in range(1, 17)]
    rows = [BatchRow(one, place + 1, "cash", "A") for place, one in enumerate(uids)]
    made = edit.import_chips(edit.start("H"), rows, "H", SOURCE, stamp())
    register = ChipRegister.open(saved(tmp_path, made), PUBLIC, 1)
    for one in rows:
        found = register.find(one.uid.hex().upper())
        assert found is not None
        assert (found.uid, found.cents) == (one.uid.hex().upper(), one.cents)
    assert register.find("01FF") is None
    assert register.find("FF" * 16) is None


@given(uids=st.sets(st.binary(min_size=1, max_size=16), max_size=40), other=st.binary(max_size=18))
def test_a_search_by_halves_finds_what_is_there_and_nothing_else(
    uids: set[bytes], other: bytes
) -> None:
    rows = [BatchRow(one, 1, "cash", "A") for one in sorted(uids)]
    chips = edit.import_chips(edit.start("H"), rows, "H", SOURCE, stamp()).chips if rows else b""
    for one in uids:
        assert chips[offset_of(chips, key_of(one)) :].startswith(key_of(one))
    if other not in uids:
        assert offset_of(chips, key_of(other)) == -1


@pytest.mark.parametrize(
    "spelling",
    ["", "E0", "e004010000000000", "E0 04010000000000", "E00401000000000", "0x00", "é", "00" * 17],
)
def test_only_the_one_spelling_of_a_uid_is_found(spelling: str, tmp_path: Path) -> None:
    """Two spellings of one tag must not count twice."""
    register = ChipRegister.open(saved(tmp_path, content()), PUBLIC, 1)
    assert register.find(uid(0)) is not None
    assert register.find(spelling) is None


def test_an_older_version_than_the_minimum_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    path.write_bytes(FILE)
    assert ChipRegister.open(path, PUBLIC, 3).version == 3
    with pytest.raises(NotPermittedError, match="E-CHIP-009"):
        ChipRegister.open(path, PUBLIC, 4)


def test_the_register_of_another_house_of_the_group_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    path.write_bytes(FILE)
    with pytest.raises(RegisterError, match="E-CHIP-012"):
        ChipRegister.open(path, PUBLIC, 0, "MEL-2")


SEEN = Seen(5, "aa")
ROLLBACKS: list[tuple[Seen | None, Seen, tuple[str, ...], str]] = [
    (None, Seen(1, "bb"), (), ""),
    (SEEN, Seen(5, "aa"), (), ""),
    (SEEN, Seen(6, "bb"), (), ""),
    (SEEN, Seen(4, "bb"), (), "E-CHIP-009"),
    (SEEN, Seen(4, "bb"), ("Ann",), "E-CHIP-011"),
    (SEEN, Seen(4, "bb"), ("Ann", "ann"), "E-CHIP-011"),
    (SEEN, Seen(4, "bb"), ("Ann Lee", " ann  lee "), "E-CHIP-011"),
    (SEEN, Seen(4, "bb"), ("Ann", " "), "E-CHIP-011"),
    (SEEN, Seen(4, "bb"), ("", " "), "E-CHIP-009"),
    (SEEN, Seen(4, "bb"), ("Ann", "Bob"), ""),
    (SEEN, Seen(5, "bb"), (), "E-CHIP-010"),
    (SEEN, Seen(5, "bb"), ("Ann", "Ann"), "E-CHIP-011"),
    (SEEN, Seen(5, "bb"), ("Ann", "Bob"), ""),
]


@pytest.mark.parametrize(("seen", "offered", "people", "code"), ROLLBACKS)
def test_no_way_back_without_two_people(
    seen: Seen | None, offered: Seen, people: tuple[str, ...], code: str
) -> None:
    if not code:
        check_rollback(CHIPS, seen, offered, people)
        return
    with pytest.raises(NotPermittedError) as caught:
        check_rollback(CHIPS, seen, offered, people)
    assert caught.value.code == code
