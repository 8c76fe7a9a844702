"""Batches and lists as people hand them in: every problem, with its line, field and value."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.registers.chips.batch import BatchRow, read_batch, read_uid_list
from controller.registers.errors import BatchError

HEADER = b"uid,value,class,series\n"
GOOD = b"E004010012345678,500,cash,2025-A\n"


def nowhere(_: bytes) -> int:
    return 0


def problems(content: bytes, known: frozenset[str] = frozenset()) -> list[tuple[str, int, str]]:
    with pytest.raises(BatchError) as caught:
        read_batch(content, "b.csv", lambda uid: 7 if uid.hex().upper() in known else 0)
    assert all(problem.file == "b.csv" for problem in caught.value.problems)
    return [(p.code, p.line, p.field) for p in caught.value.problems]


@pytest.mark.parametrize(
    "content",
    [
        HEADER + GOOD,
        b"\xef\xbb\xbf" + HEADER + GOOD,
        (HEADER + GOOD).replace(b"\n", b"\r\n"),
        (HEADER + GOOD).rstrip(),
        HEADER + b"\n" + GOOD + b"\n\n",
        HEADER + b'"E004010012345678","500","cash","2025-A"\n',
        (HEADER + GOOD).replace(b"E0", b"e0"),
    ],
)
def test_a_batch_as_spreadsheets_write_it(content: bytes) -> None:
    row = BatchRow(bytes.fromhex("E004010012345678"), 500, "cash", "2025-A")
    assert read_batch(content, "b.csv", nowhere) == [row]


def line(
    uid: str = "E004010012345678", value: str = "500", kind: str = "cash", s: str = "A"
) -> str:
    return f"{uid},{value},{kind},{s}\n"


FIELDS = {
    "no uid": (line(uid=""), "E-CHIP-021", "uid"),
    "half a byte": (line(uid="E00"), "E-CHIP-021", "uid"),
    "no hex": (line(uid="G004010012345678"), "E-CHIP-021", "uid"),
    "a number from a spreadsheet": (line(uid="1.23457E+15"), "E-CHIP-021", "uid"),
    "blanks in a uid": (line(uid="E0 04 01"), "E-CHIP-021", "uid"),
    "17 bytes": (line(uid="00" * 17), "E-CHIP-021", "uid"),
    "Arabic digits": (line(uid="\u0660\u0661"), "E-CHIP-021", "uid"),
    "money with a point": (line(value="25.00"), "E-CHIP-024", "value"),
    "nothing": (line(value="0"), "E-CHIP-024", "value"),
    "less than nothing": (line(value="-500"), "E-CHIP-024", "value"),
    "with a sign": (line(value="+500"), "E-CHIP-024", "value"),
    "with a blank": (line(value=" 500"), "E-CHIP-024", "value"),
    "with an underscore": (line(value="5_00"), "E-CHIP-024", "value"),
    "too much": (line(value=str(10**13 + 1)), "E-CHIP-024", "value"),
    "5000 digits": (line(value="9" * 5000), "E-CHIP-024", "value"),
    "no value": (line(value=""), "E-CHIP-024", "value"),
    "unknown class": (line(kind="vip"), "E-CHIP-025", "class"),
    "class in capitals": (line(kind="CASH"), "E-CHIP-025", "class"),
    "no series": (line(s=""), "E-CHIP-026", "series"),
    "a series with a blank": (line(s="2025 A"), "E-CHIP-026", "series"),
    "a series of 33": (line(s="A" * 33), "E-CHIP-026", "series"),
    "a formula": (line(s="=1+1"), "E-CHIP-026", "series"),
    "three fields": ("E004,500,cash\n", "E-CHIP-020", ""),
    "five fields": ("E004,500,cash,A,B\n", "E-CHIP-020", ""),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_bad_field_is_named_with_its_line(name: str) -> None:
    bad, code, field = FIELDS[name]
    assert problems(HEADER + b"E0FF,1,cash,A\n" + bad.encode()) == [(code, 3, field)]


def test_the_largest_value_and_the_longest_names_pass() -> None:
    text = line(uid="00" * 16, value=str(10**13), s="A" * 32)
    assert read_batch(HEADER + text.encode(), "b", nowhere)[0].cents == 10**13


@pytest.mark.parametrize(
    ("content", "at"),
    [
        (b"", 1),
        (b"\n", 1),
        (GOOD, 1),
        (b"UID,VALUE,CLASS,SERIES\n" + GOOD, 1),
        (b"uid;value;class;series\n", 1),
        (HEADER, 0),
        (HEADER + b"\n\n", 0),
        (HEADER + GOOD + b"\xff", 3),
        (HEADER + b'"E004,500', 2),
    ],
)
def test_what_is_not_a_batch_at_all(content: bytes, at: int) -> None:
    assert problems(content) == [("E-CHIP-020", at, "")]


def test_all_problems_are_listed_at_once() -> None:
    text = line(uid="X", value="x", kind="x", s="?") + line() + line() + "a,b\n"
    assert problems(HEADER + text.encode(), frozenset({"E004010012345678"})) == [
        ("E-CHIP-021", 2, "uid"),
        ("E-CHIP-024", 2, "value"),
        ("E-CHIP-025", 2, "class"),
        ("E-CHIP-026", 2, "series"),
        ("E-CHIP-023", 3, "uid"),
        ("E-CHIP-022", 4, "uid"),
        ("E-CHIP-020", 5, ""),
    ]


def test_a_uid_twice_in_two_spellings_is_twice() -> None:
    text = line() + line(uid="e004010012345678", value="100")
    with pytest.raises(BatchError) as caught:
        read_batch(HEADER + text.encode(), "b.csv", nowhere)
    said = 'b.csv: line 3: uid: "e004010012345678": already on line 2 (E-CHIP-022)'
    assert str(caught.value) == said


def test_a_batch_written_backwards_is_refused_as_a_whole() -> None:
    backwards = line(uid="78563412000104E0") + line(uid="79563412000104E0")
    assert problems(HEADER + backwards.encode()) == [("E-CHIP-027", 0, "uid")]


@pytest.mark.parametrize("uid", ["E0040100123456E0", "0102030405060708", "0102E0"])
def test_a_batch_with_one_uid_that_is_not_backwards_passes(uid: str) -> None:
    text = line(uid=uid) + (line(uid="78563412000104E0") if len(uid) == 16 else "")
    assert read_batch(HEADER + text.encode(), "b", nowhere)


@given(
    content=st.binary(max_size=300)
    | st.text(max_size=100).map(lambda t: HEADER + t.encode("utf-8", "replace"))
)
def test_any_bytes_give_rows_or_problems(content: bytes) -> None:
    rows: list[BatchRow] = []
    with suppress(BatchError):
        rows = read_batch(content, "b.csv", nowhere)
        assert rows


def test_a_list_of_uids() -> None:
    text = b"\xef\xbb\xbf# found in the drop\r\nE004010012345678\r\n\r\n e0ff # torn\nE0FF\n"
    assert read_uid_list(text, "l") == [bytes.fromhex("E004010012345678"), b"\xe0\xff"]


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (b"", ["E-CHIP-020"]),
        (b"# nothing\n", ["E-CHIP-020"]),
        (b"E0\nX\nE0FF\nE0F\n", ["E-CHIP-021", "E-CHIP-021"]),
        (b"\xff", ["E-CHIP-020"]),
    ],
)
def test_a_bad_list(content: bytes, codes: list[str]) -> None:
    with pytest.raises(BatchError) as caught:
        read_uid_list(content, "l")
    assert [p.code for p in caught.value.problems] == codes
