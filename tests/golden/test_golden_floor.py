"""Evidence packs, stores and registers that earlier versions wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from controller.registers.chips.load import load as load_chips
from controller.registers.chips.register import ChipRegister
from controller.registers.staff.register import StaffRegister
from link.ledger.ledger import Ledger
from link.store.sqlite import SqliteStore
from record import verify_evidence
from tests.controller.registers.staff.house import TODAY
from tests.golden.files import GENERATIONS, told, unpack
from tests.link.ledger.support import Sealed

PACKS = [path for one in GENERATIONS for path in sorted((one / "evidence").glob("*.tar.xz"))]
each_generation = pytest.mark.parametrize("generation", GENERATIONS, ids=lambda p: p.name)


@pytest.mark.parametrize("archive", PACKS, ids=lambda p: f"{p.parent.parent.name} {p.name[:-7]}")
def test_an_old_pack_proves_what_it_proved(archive: Path, tmp_path: Path) -> None:
    """To the verifier of today, and to the one inside it."""
    folder = unpack(archive, tmp_path)
    expected = told(archive.parent.parent / "floor.json")[archive.name.removesuffix(".tar.xz")]
    found = verify_evidence.verify(folder)
    assert found["ok"], found["problems"]
    assert found == expected
    own = subprocess.run(
        [sys.executable, "-I", str(folder / "verify.py"), str(folder), "--json"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert json.loads(own.stdout)["ok"]


@contextmanager
def store_in(archive: Path, folder: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(unpack(archive, folder) / "link.db", flush=False)
    try:
        store.migrate(at_ms=1)
        yield store
    finally:
        store.close()


@each_generation
def test_an_old_store_opens_with_the_same_totals(generation: Path, tmp_path: Path) -> None:
    """Its check adds up every balance and hashes every event anew."""
    expected = told(generation / "floor.json")
    with store_in(generation / "floor.tar.xz", tmp_path) as store:
        assert asdict(store.check()) == expected["counts"]
        assert {a.award: [a.state, a.cents] for a in store.awards()} == expected["awards"]
        meters = Ledger((), store.load(), sealer=Sealed()).meters()
        assert [[m.pool, m.level, m.cents] for m in meters] == expected["meters"]


@each_generation
def test_the_store_of_an_old_server_opens_with_the_same_totals(
    generation: Path, tmp_path: Path
) -> None:
    with store_in(generation / "link.tar.xz", tmp_path) as store:
        assert asdict(store.check()) == told(generation / "link.json")["counts"]


@each_generation
def test_an_old_chip_register_has_its_chips(generation: Path) -> None:
    expected, path = told(generation / "registers.json"), generation / "house.chips"
    key = bytes.fromhex(expected["chips_key"])
    register = ChipRegister.open(path, key, 0)
    assert [asdict(chip) for chip in register] == expected["chips"]
    assert load_chips(path, key).file == path.read_bytes()


@each_generation
def test_an_old_staff_register_lets_its_people_in(generation: Path) -> None:
    expected = told(generation / "registers.json")
    path = generation / "house.staff"
    register = StaffRegister.open(path, bytes.fromhex(expected["staff_key"]))
    for staff_id, pin in expected["staff"]:
        assert register.verify(staff_id, pin, TODAY) is not None
        assert register.verify(staff_id, pin + "0", TODAY) is None
