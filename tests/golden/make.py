"""Write the files of this version: ``python -m tests.golden.make v2``.

A generation is added once and never written again: what an earlier version wrote cannot be written
by a later one.
"""

from __future__ import annotations

import contextlib
import io
import json
import lzma
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from controller.commands import journal as journal_command
from controller.registers.chips import bank
from controller.registers.chips.history import ChipStamp
from controller.registers.chips.register import ChipRegister
from record.journal.reader import JournalReader
from record.verify_evidence import verify
from tests.controller.evidence.house import random_house
from tests.controller.registers.chips.vector import KEY as CHIPS_KEY
from tests.controller.registers.staff import house as staff_house
from tests.controller.shell.inside import inside
from tests.golden import desks, script, tables
from tests.golden.files import HERE, pack
from tests.golden.server import link_at
from tests.golden.tables import Kept, fixed_chance, of_folder

BATCH: Final = (
    "uid,value,class,series\n"
    "E004010000000001,500,cash,A\nE004010000000002,2500,cash,A\n"
    "E004010000000003,10000,promo,B\nE004010000000004,100,cash,A\n"
)
PACKS: Final = {"three-tables": "pool/3/13", "mystery-paid": "pool/2/3"}


def text_of(told: Any) -> str:
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def exported(folder: Path, number: int) -> str:
    """What ``underfelt journal export-round`` prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert journal_command.run(["export-round", str(folder), str(number)]) == 0
    return said.getvalue()


def all_tables(folder: Path) -> Iterator[Kept]:
    for name in tables.SCENARIOS:
        yield tables.scenario_table(name, folder / name)
    for game, changes, seed in tables.MISCHIEF:
        yield tables.mischief_table(game, changes, seed, folder / f"{game}-mischief")
    for game, seed, cut_at in tables.LONG:
        yield tables.long_table(game, seed, cut_at, folder / f"{game}-long")
    with fixed_chance("shell"):
        desk = inside("mbs3-plain", None)
        desks.asked_at(desk, desks.lines())
    yield tables.whole_table("in-test-mode", desk.table)


def keep(kept: Kept, target: Path, work: Path) -> dict[str, Any]:
    """Packed with the exports of its rounds; what is told of it."""
    for name, data in kept.files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    bodies = [json.loads(r.body) for r in JournalReader(work / "journal").records()
              if r.kind == "round"]  # fmt: skip
    rounds = sorted({body["round"] for body in bodies})
    exports = {f"rounds/{n}.json": exported(work / "journal", n).encode() for n in rounds}
    pack(target / f"{kept.name}.tar.xz", kept.files | exports)
    ended = {str(body["round"]): body["result"]["round_status"] for body in bodies}
    return {**kept.told, "rounds": ended}


def make_tables(target: Path, work: Path) -> None:
    (target / "tables").mkdir()
    told = {}
    for kept in all_tables(work / "playing"):
        told[kept.name] = keep(kept, target / "tables", work / kept.name)
    with link_at(_made(work / "link")) as link:
        for scenario, name in tables.LINKED:
            kept = tables.linked_table(scenario, name, link)
            told[kept.name] = keep(kept, target / "tables", work / kept.name)
        script.play(link, link.rows[-1].at_ms)
        told_link = asdict(link.store.check())
        said = "".join(row.row() for row in link.rows)
        (target / "link.tsv.xz").write_bytes(lzma.compress(said.encode(), preset=9))
    (target / "tables.json").write_text(text_of(told), "utf-8")
    pack(target / "link.tar.xz", {"link.db": (work / "link" / "link.db").read_bytes()})
    (target / "link.json").write_text(text_of({"counts": told_link}), "utf-8")


def make_floor(target: Path, work: Path) -> None:
    """Three tables, staff orders, mysteries: store, journals of its tables, evidence."""
    (target / "evidence").mkdir()
    told: dict[str, Any] = {}
    with fixed_chance("floor"):
        house = random_house(_made(work), 4, ties="share")
        for name, award in PACKS.items():
            house.pack(award, work / name, whole=name == "three-tables")
            answer = verify(work / name)
            assert answer["ok"], answer
            pack(target / "evidence" / f"{name}.tar.xz", of_folder(work / name))
            told[name] = answer
        told["awards"] = {a.award: [a.state, a.cents] for a in house.store.awards.values()}
        told["meters"] = [[m.pool, m.level, m.cents] for m in house.ledger.meters()]
        told["counts"] = asdict(house.real.check())
        house.close()
    pack(target / "floor.tar.xz", {"link.db": (work / "link.db").read_bytes()})
    (target / "floor.json").write_text(text_of(told), "utf-8")


def make_desks(target: Path) -> None:
    rows: list[dict[str, Any]] = []
    lines = desks.lines()
    for moment in desks.MOMENTS:
        for (uid, line), answer in zip(lines, desks.asked(moment, lines), strict=True):
            rows.append({"moment": moment, "uid": uid, "line": line, "answer": answer})
    (target / "shell.json.xz").write_bytes(lzma.compress(text_of(rows).encode(), preset=9))


def make_registers(target: Path, work: Path) -> None:
    chips, staff = work / "house.chips", work / "house.staff"
    stamp = ChipStamp("k.lee", "delivery note 1", 1_762_161_300)
    batch = bank.Batch("one.csv", BATCH.encode())
    bank.import_batch(chips, batch, CHIPS_KEY, stamp, new_house="SYD-1")
    gone = [bytes.fromhex("E004010000000004")]
    bank.mark(chips, gone, "stolen", CHIPS_KEY, ChipStamp("m.ng", "cage report", 1_762_200_000))
    staff_house.write_anew(staff)
    opened = ChipRegister.open(chips, CHIPS_KEY.public, 0)
    told = {
        "chips_key": CHIPS_KEY.public.hex(),
        "chips": [asdict(chip) for chip in opened],
        "staff_key": staff_house.KEY.public.hex(),
        "staff": [
            [staff_house.DEALER, staff_house.PIN],
            [staff_house.CHIEF, staff_house.CHIEF_PIN],
        ],
    }
    for path in (chips, staff):
        (target / path.name).write_bytes(path.read_bytes())
    (target / "registers.json").write_text(text_of(told), "utf-8")


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def make(target: Path) -> None:
    target.mkdir()  # an older generation is never written again
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        make_tables(target, _made(work / "tables"))
        make_floor(target, work / "floor")
        make_desks(target)
        make_registers(target, _made(work / "registers"))


if __name__ == "__main__":
    make(HERE / sys.argv[1])
