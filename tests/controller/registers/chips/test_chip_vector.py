"""The literal register: read, written again byte for byte, and refused when a byte differs."""

from __future__ import annotations

import re
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from controller.registers.chips import bank, edit
from controller.registers.chips.audit import history_problems
from controller.registers.chips.history import ChipStamp
from controller.registers.chips.load import load
from controller.registers.chips.register import ChipRegister
from controller.registers.errors import SignedError
from controller.registers.keys import fingerprint
from controller.registers.rollout import Seen
from tests.controller.registers.chips.vector import FILE, KEY, PARTS, PUBLIC, VECTOR

CODE = re.compile(r"E-CHIP-\d{3}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "house.chips"
    made.write_bytes(FILE)
    return made


def test_the_typed_parts_are_the_file() -> None:
    assert len(FILE) == PARTS["bytes"]
    assert sha256(FILE).hexdigest() == PARTS["sha256"]


def test_a_reader_makes_of_it_what_the_vector_says(path: Path) -> None:
    expected = VECTOR["expect"]
    register = ChipRegister.open(path, PUBLIC, 3, "SYD-1")
    assert register.seen == Seen(expected["version"], expected["digest"])
    assert register.house == expected["house"]
    assert register.issued_at == expected["issued_at"]
    assert [asdict(chip) for chip in register] == expected["chips"]
    assert len(register) == len(expected["chips"])
    for chip in expected["chips"]:
        found = register.find(chip["uid"])
        assert found is not None
        assert asdict(found) == chip


def test_its_history_tells_the_story_of_its_chips(path: Path) -> None:
    assert history_problems(load(path, PUBLIC), "") == []


def test_the_same_batches_people_and_times_make_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "made.chips"
    first, second = VECTOR["batches"]
    at = (1762161300, 1762250400, 1762386070)
    batch = bank.Batch(first["name"], first["text"].encode())
    note = ChipStamp("k.lee", "delivery note 88213", at[0])
    bank.import_batch(path, batch, KEY, note, new_house=first["house"])
    other = bank.Batch(second["name"], second["text"].encode(), second["house"])
    bank.import_batch(path, other, KEY, ChipStamp("k.lee", "", at[1]))
    stolen = [bytes.fromhex("E0040100123456A0")]
    bank.mark(path, stolen, "stolen", KEY, ChipStamp("m.ng", "cage report 4711", at[2]))
    assert path.read_bytes() == FILE


def test_what_was_loaded_can_be_written_again(path: Path) -> None:
    loaded = load(path, PUBLIC)
    assert loaded.file == FILE
    assert edit.seal(edit.of(loaded), KEY) == FILE


def test_the_fingerprint() -> None:
    assert fingerprint(PUBLIC) == VECTOR["key"]["fingerprint"]
    assert KEY.public == PUBLIC


@pytest.mark.parametrize("case", VECTOR["refused"], ids=lambda case: str(case["what"]))
def test_one_changed_byte_is_refused_with_its_code(case: dict[str, Any], path: Path) -> None:
    changed = bytearray(FILE)
    assert changed[case["offset"]] != case["value"]
    changed[case["offset"]] = case["value"]
    path.write_bytes(changed)
    with pytest.raises(SignedError) as caught:
        ChipRegister.open(path, PUBLIC, 0)
    assert caught.value.code == case["code"]


def test_the_page_lists_every_code_that_is_given_and_no_other() -> None:
    root = Path(__file__).parents[4]
    sources = [
        *(root / "controller/registers/chips").glob("*.py"),
        root / "controller/commands/chips.py",
    ]
    given = {code for path in sources for code in CODE.findall(path.read_text("utf-8"))}
    for path in (root / "controller/registers").glob("*.py"):
        shared = re.findall(r"codes}-(\d{3})", path.read_text("utf-8"))
        given |= {f"E-CHIP-{number}" for number in shared}
    page = (root / "docs/protocols/chip-register.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(E-CHIP-\d{3})`", page, re.MULTILINE)) == given


def test_the_page_shows_the_vectors_bytes() -> None:
    root = Path(__file__).parents[4]
    page = "".join((root / "docs/protocols/chip-register.md").read_text("utf-8").split())
    for part in (*PARTS["head"].split(), *PARTS["signature"].split()):
        assert part in page
    for line in PARTS["chips"].splitlines():
        assert line.replace(" ", "") in page
