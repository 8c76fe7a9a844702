"""Finding chips, not going back, and what a spot is worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.chips import edit
from controller.chips.batch import Row
from controller.chips.errors import NotPermittedError, RegisterError
from controller.chips.layout import Kind, Status, key_of, offset_of
from controller.chips.register import Chip, ChipRegister, Seen, check_rollback
from controller.chips.valuation import SpotValue, value_spot
from tests.chips.vector import FILE, LONGEST, PUBLIC, SOURCE, content, saved, stamp, uid


def test_uids_of_every_length_live_together_and_only_they_are_found(tmp_path: Path) -> None:
    uids = [LONGEST[:size] for size in range(1, 17)] + [bytes(size) for size in range(1, 17)]
    rows = [Row(one, place + 1, "cash", "A") for place, one in enumerate(uids)]
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
    rows = [Row(one, 1, "cash", "A") for one in sorted(uids)]
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
        check_rollback(seen, offered, people)
        return
    with pytest.raises(NotPermittedError) as caught:
        check_rollback(seen, offered, people)
    assert caught.value.code == code


# --- what a spot is worth ----------------------------------------------------------------------


def chips(*listed: Chip) -> Callable[[str], Chip | None]:
    return {chip.uid: chip for chip in listed}.get


def chip(
    name: str,
    cents: int,
    kind: Kind = "cash",
    status: Status = "in play",
    *,
    foreign: bool = False,
) -> Chip:
    return Chip(name, cents, kind, "H", status, "S", foreign, 1, 0)


def test_cash_and_tokens_are_summed_apart() -> None:
    find = chips(chip("A", 500), chip("B", 2500), chip("C", 1000, "promo"))
    value = value_spot(frozenset("ABC"), find)
    assert value == SpotValue(3000, 1000, (), (), (), ())
    assert value.clean


def test_an_empty_spot_is_worth_nothing() -> None:
    assert value_spot(frozenset(), chips()) == SpotValue(0, 0, (), (), (), ())


def test_what_does_not_count_is_reported_and_counts_nothing() -> None:
    find = chips(
        chip("A", 500),
        chip("S", 100, status="stolen"),
        chip("R", 100, status="retired"),
        chip("T", 100, "promo", "stolen"),
        chip("F", 100, foreign=True),
    )
    value = value_spot(frozenset("ASRTFUV"), find)
    assert value == SpotValue(500, 0, ("U", "V"), ("S", "T"), ("R",), ("F",))
    assert not value.clean


@pytest.mark.parametrize("status", ["in play", "stolen", "retired"])
def test_another_houses_chip_is_foreign_whatever_its_status(status: Status) -> None:
    value = value_spot(frozenset("F"), chips(chip("F", 100, status=status, foreign=True)))
    assert value == SpotValue(0, 0, (), (), (), ("F",))


CHIPS = st.builds(
    chip,
    st.sampled_from("ABCDEFGH"),
    st.integers(1, 10**13),
    st.sampled_from(["cash", "promo"]),
    st.sampled_from(["in play", "stolen", "retired"]),
    foreign=st.booleans(),
)


@given(listed=st.lists(CHIPS), tags=st.frozensets(st.sampled_from("ABCDEFGHIJ")))
def test_every_tag_falls_into_exactly_one_place(listed: list[Chip], tags: frozenset[str]) -> None:
    find = chips(*listed)
    value = value_spot(tags, find)
    reported = [*value.unknown, *value.stolen, *value.retired, *value.foreign_house]
    assert len(set(reported)) == len(reported)
    counted = [find(tag) for tag in tags - set(reported)]
    assert all(c and c.status == "in play" and not c.foreign for c in counted)
    assert value.cents + value.promo_cents == sum(c.cents for c in counted if c)
    assert value.promo_cents == sum(c.cents for c in counted if c and c.kind == "promo")
    assert value.clean == (not reported)


def test_the_vector_on_one_spot(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    path.write_bytes(FILE)
    register = ChipRegister.open(path, PUBLIC, 3)
    tags = frozenset(c.uid for c in register) | {"E0040100FFFFFFFF"}
    assert value_spot(tags, register.find) == SpotValue(
        cents=500,
        promo_cents=1000,
        unknown=("E0040100FFFFFFFF",),
        stolen=("E0040100123456A0",),
        retired=(),
        foreign_house=("E2003412DC03011812345678",),
    )
