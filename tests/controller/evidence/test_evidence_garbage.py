"""Whatever lies in the folder, the verifier ends with a finding that names a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from record import verify_evidence as v
from tests.controller.evidence.house import House
from tests.controller.evidence.test_evidence_packs import redo
from tests.link.ledger.support import pool, terms
from tests.patience import PATIENCE_S

Row = dict[str, Any]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("floor")
    house = House(folder, pool(terms(rate_ppm=10_000), tables=("T1",)))
    house.join("T1")
    (award,) = house.play("T1", {3: "straight flush"})
    house.pay(award)
    house.pack(award, folder / "pack")
    house.close()
    return folder / "pack"


def manifest(folder: Path, change: Callable[[Row], Any]) -> None:
    row = json.loads((folder / v.MANIFEST).read_bytes())
    change(row)
    (folder / v.MANIFEST).write_text(json.dumps(row, indent=1))


def first(folder: Path, name: str, change: Callable[[Row], Any]) -> None:
    rows = (folder / name).read_bytes().splitlines()
    row = json.loads(rows[0])
    change(row)
    (folder / name).write_bytes(b"\n".join([json.dumps(row).encode(), *rows[1:]]) + b"\n")


def deep(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"[" * 200_000)


def twice(folder: Path) -> None:
    path = folder / v.SERVER
    path.write_bytes(path.read_bytes().replace(b'"place"', b'"place": "elsewhere",\n "place"', 1))


def linked(folder: Path) -> None:
    (folder / v.SERVER).rename(folder.parent / "elsewhere")
    (folder / v.SERVER).symlink_to(folder.parent / "elsewhere")


def crlf(folder: Path) -> None:
    path = folder / v.EVENTS
    path.write_bytes(path.read_bytes().replace(b'"chain":', b'"chain":"",\r\n"chain":'))


def swapped(folder: Path) -> None:
    (folder / v.EVENTS).rename(folder / "x")
    (folder / v.TABLE).rename(folder / v.EVENTS)
    (folder / "x").rename(folder / v.TABLE)


GARBAGE: list[tuple[str, Callable[[Path], Any], str]] = [
    ("nested", lambda f: deep(f, v.EVENTS), v.EVENTS),
    ("nested frames", lambda f: deep(f, v.FRAMES), v.FRAMES),
    ("a name twice", twice, v.SERVER),
    ("link", linked, v.SERVER),
    ("line ends", crlf, v.EVENTS),
    ("swapped", swapped, v.EVENTS),
    ("events of nothing", lambda f: (f / v.EVENTS).write_bytes(b"null\n"), v.EVENTS),
    ("no list", lambda f: (f / v.SERVER).write_bytes(b"7"), v.SERVER),
    ("no digits", lambda f: first(f, v.EVENTS, lambda r: r.update(id="\ud800")), v.EVENTS),
    ("frame", lambda f: first(f, v.FRAMES, lambda r: r.update(hex=[])), v.FRAMES),
    ("page", lambda f: (f / v.PAGE).write_bytes(b"\xff\xfe"), v.PAGE),
    ("missing", lambda f: manifest(f, lambda r: r.update(missing=7)), v.MANIFEST),
    ("award", lambda f: manifest(f, lambda r: r.update(award=None)), v.MANIFEST),
    ("who ran", lambda f: manifest(f, lambda r: r["identity"].update(program="c" * 64)),
     v.MANIFEST),
    ("claimed cents", lambda f: manifest(f, lambda r: r["claim"].update(cents=1)), v.SERVER),
    ("claimed seat", lambda f: manifest(f, lambda r: r["claim"].update(seat=7)), v.SERVER),
]  # fmt: skip


@pytest.mark.parametrize(("plant", "file"), [g[1:] for g in GARBAGE], ids=[g[0] for g in GARBAGE])
def test_garbage_with_all_hashes_redone_is_a_finding(
    pack: Path, tmp_path: Path, plant: Callable[[Path], Any], file: str
) -> None:
    folder = Path(shutil.copytree(pack, tmp_path / "copy"))
    plant(folder)
    redo(folder)
    found = v.verify(folder)
    assert file in [problem["file"] for problem in found["problems"]], found["problems"]
    assert "".join(v.as_text(found, lines=True))


def test_a_draw_without_room_ends() -> None:
    subject = {"pool": "p", "level": "l", "generation": 1, "low_cents": 5, "high_cents": 4}
    text = "\t".join(str(value) for value in subject.values()).encode()
    order = subject | {"commitment": v.sha(b"underfelt mystery 1\0", bytes(32), text)}
    with pytest.raises(v.Wrong, match="no room"):
        v.trigger(order, bytes(32))
    with pytest.raises(v.Wrong, match="no room"):
        v.below(0, bytes(32), "magic card", ("j", 1))


def test_the_program_itself_ends_well_in_any_folder(pack: Path, tmp_path: Path) -> None:
    """A manifest that is a pipe or a folder; words that a terminal would obey."""
    pipe, inner, shown = (tmp_path / name for name in ("pipe", "inner", "shown"))
    pipe.mkdir()
    os.mkfifo(pipe / v.MANIFEST)
    (inner / v.MANIFEST).mkdir(parents=True)
    shutil.copytree(pack, shown)
    manifest(shown, lambda row: row.update(missing=["\x1b[2J\ud800"]))
    redo(shown)
    codes, said = [], ""
    for folder in (pipe, inner, shown, tmp_path / "none"):
        done = subprocess.run(
            [sys.executable, "-I", "-S", v.__file__, str(folder)], capture_output=True, text=True,
            check=False, timeout=PATIENCE_S, env={"LC_ALL": "C"},
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        codes.append(done.returncode)
        said += done.stdout
    # Without site packages there is no PyNaCl: the signatures are not checked, and that is told.
    assert codes == [65, 65, v.UNSIGNED, 66]
    assert said.count("evidence.json: no regular file") == 2
    assert r"MISSING  \x1b[2J\ud800" in said
