"""Packs of everything that a floor can award, verified; and every way to tamper with one found."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller.evidence import server as server_module
from controller.evidence import table as table_module
from controller.evidence.errors import EvidenceError
from controller.evidence.pack import lines, manifest_of, seal, whole, write
from controller.evidence.page import page_html
from controller.evidence.server import server_half
from link.commands.report_source import StoreSource
from link.ledger.orders import Reject
from record import verify_evidence as v
from tests.controller.evidence.changes import missed
from tests.controller.evidence.house import BURNT, CLOCK, House, random_house
from tests.hidden.search import needles
from tests.link.ledger.support import BOTH, pool, terms

Row = dict[str, Any]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path, pool(terms(rate_ppm=10_000), tables=("T1", "T2")))
    made.join("T1", "T2")
    yield made
    made.close()


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, Path]]:
    """One that has everything: both halves, frames, several claims, a reversal before it."""
    folder = tmp_path_factory.mktemp("floor")
    made = House(folder, pool(terms(rate_ppm=10_000), tables=("T1", "T2")))
    made.join("T1", "T2")
    made.play("T2", {1: "high card", 2: "high card"}, back=[2])
    awards = made.play("T1", {3: "straight flush", 5: "straight flush"})
    made.pay(awards[0])
    made.pack(awards[0], folder / "pack")
    yield made, folder / "pack"
    made.close()


def copied(pack: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pack, tmp_path / "copy"))


def redo(folder: Path) -> None:
    """Hashes, sizes and the manifest as a forger would leave them."""
    row = json.loads((folder / v.MANIFEST).read_bytes())
    for name in row["files"]:
        data = (folder / name).read_bytes()
        row["files"][name] |= {"sha256": v.sha(data), "size": len(data)}
    (folder / v.MANIFEST).write_bytes(seal(row))


# --- sound ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", ["strict_order", "same_cycle_full", "share"])
def test_every_award_of_a_random_floor_verifies(tmp_path: Path, seed: int, ties: str) -> None:
    house = random_house(tmp_path, seed, ties=ties)
    seen: set[str] = set()
    for number, (name, award) in enumerate(house.store.awards.items()):
        folder = tmp_path / f"pack-{number}"
        house.pack(name, folder, whole=number % 2 == 0)
        found = v.verify(folder)
        assert found["problems"] == [], name
        assert (found["amount_cents"], found["state"]) == (award.cents, award.state)
        if award.state not in ("claimed", "withdrawn"):
            assert sum(line["units"] for line in found["lines"]) // v.UNITS >= 0
        seen.add(award.hand)
    house.close()
    assert seen


def test_the_lines_are_those_of_a_sum_on_paper(pack: tuple[House, Path]) -> None:
    """1,000.00 base; 1 % of two, one and two dollars; one of the first two went back."""
    found = v.verify(pack[1])
    told = [(line["table"], line["why"], line["units"]) for line in found["lines"]]
    cent = 1_000_000
    assert told == [
        ("", "base", 100_000 * cent),
        ("T2", "contribution", cent), ("T2", "contribution", cent), ("T2", "reversal", -cent),
        ("T1", "contribution", cent), ("T1", "contribution", cent),
    ]  # fmt: skip
    assert (found["amount_cents"], found["cards"]) == (10_000, ["9s", "8s", "7s", "6s", "5s"])
    assert found["ok"]
    assert found["opened"] == 5
    assert found["cards_in_frames"] == ["5s", "6s", "7s", "8s", "9s"]


def test_a_pack_from_the_generation_on_states_what_was_there(house: House, tmp_path: Path) -> None:
    house.pay(house.play("T1", {1: "royal flush"})[0])
    house.play("T2", {2: "high card"})
    (award,) = house.play("T1", {4: "straight flush"})
    house.pack(award, tmp_path / "pack", whole=False)
    found = v.verify(tmp_path / "pack")
    assert found["ok"]
    assert found["stated_opening"]
    assert [line["why"] for line in found["lines"]] == ["stated", "contribution", "contribution"]
    assert found["lines"][0]["units"] == 50_000_000_000  # 500.00, the reset amount
    assert found["from_event"] > 1


def test_a_long_history_is_stated_and_only_the_generation_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the bound a pack begins where the jackpot did, and proves the same amount."""
    small = pool(terms(rate_ppm=10_000), name="small", tables=("T3",))
    house = House(tmp_path, pool(terms(rate_ppm=10_000), tables=("T1", "T2")), small)
    house.join("T1", "T2", "T3")
    for _ in range(6):
        house.play("T2", {1: "high card", 2: "high card"})
        house.play("T3", {5: "high card"})
    (first,) = house.play("T1", {1: "royal flush"})
    for _ in range(3):
        house.play("T3", {5: "high card"})
        house.play("T2", {2: "high card"})
    (award,) = house.play("T1", {4: "straight flush"})
    whole_half = server_half(StoreSource(house.real), award)
    assert (len(whole_half.events), whole_half.opening) == (whole_half.events[-1]["id"], None)
    bound = len(whole_half.events) - 1
    monkeypatch.setattr(server_module, "MOST_EVENTS", bound)
    half = server_half(StoreSource(house.real), award)
    assert half.opening is not None
    assert half.events == whole_half.events[half.opening["after"] :]
    assert len(half.events) < bound // 2
    assert (half.award, half.wrong) == (whole_half.award, [])
    assert half.award["cents"] == house.store.awards[award].cents
    house.pack(award, tmp_path / "long")
    found = v.verify(tmp_path / "long")
    assert (found["ok"], found["stated_opening"]) == (True, True)
    house.pack(award, tmp_path / "whole", whole=True)
    asked = v.verify(tmp_path / "whole")
    assert (asked["ok"], asked["stated_opening"]) == (True, False)
    assert (asked["amount_cents"], asked["chain"]) == (found["amount_cents"], found["chain"])
    # The first jackpot has no generation before it: nothing can be stated, all of it is there.
    begun = server_half(StoreSource(house.real), first)
    assert (begun.opening, begun.events[0]["id"]) == (None, 1)
    house.close()


def test_lines_of_other_pools_are_not_kept(tmp_path: Path) -> None:
    small = pool(terms(rate_ppm=10_000), name="small", tables=("T3",))
    house = House(tmp_path, pool(terms(rate_ppm=10_000), tables=("T1",)), small)
    house.join("T1", "T3")
    house.play("T3", {5: "high card"})
    (award,) = house.play("T1", {4: "straight flush"})
    half = server_half(StoreSource(house.real), award)
    pools = v.Pools({})
    derived = v.Derivation(pools, award)
    for row in half.events:
        pools.take(row)
    assert {name for name, _ in derived.lines} == {"pool"}
    assert derived.found == half.lines != []
    house.close()


@pytest.mark.parametrize("ending", ["waits", "rejected", "withdrawn"])
def test_a_claim_that_was_never_locked_has_its_evidence(tmp_path: Path, ending: str) -> None:
    """It has no amount and nothing that it is made of; the pack says so and verifies."""
    made = House(tmp_path, pool(terms(ties="share", tie_ms=50), tables=("T1",)))
    made.join("T1")
    table = made.table("T1")
    table.open_bets()
    made.bet("T1", 1, 4)
    table.deal({4: "royal flush"})
    made.claim("T1", 1, (4, "royal flush"))
    if ending == "rejected":
        made.order(Reject("pool/1/1", "a dead hand"), BOTH)
    elif ending == "withdrawn":
        made.withdraw("T1", 1, 4)
    made.tell("T1", table.close(1, {4: "royal flush"}, {}))
    made.pack("pool/1/1", tmp_path / "pack")
    found = v.verify(tmp_path / "pack")
    assert found["problems"] == []
    assert (found["amount_cents"], found["lines"]) == (0, [])
    assert found["state"] == {"waits": "claimed"}.get(ending, ending)
    assert "it has no amount yet" in (tmp_path / "pack" / v.PAGE).read_text()
    made.close()


def test_one_half_is_enough_and_the_other_is_said_to_be_missing(
    house: House, tmp_path: Path
) -> None:
    (award,) = house.play("T1", {4: "straight flush"})
    parts = house.parts(award)
    parts.table, parts.frames, parts.missing = None, [], ["the table's half"]
    write(tmp_path / "server", parts, CLOCK, 1)
    found = v.verify(tmp_path / "server")
    assert (found["ok"], found["missing"], found["amount_cents"]) == (
        True, ["the table's half"], 10_000
    )  # fmt: skip
    parts = house.parts(award)
    parts.server, parts.missing = None, ["the server's half"]
    write(tmp_path / "table", parts, CLOCK, 1)
    found = v.verify(tmp_path / "table")
    assert (found["ok"], "amount_cents" in found, found["cards"][0]) == (True, False, "9s")


def test_a_start_long_before_the_round_stands_apart(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its record is there whole, and the chain begins with the round."""
    monkeypatch.setattr(table_module, "LINKED", 5)
    house.play("T1", {1: "high card"})
    (award,) = house.play("T1", {4: "straight flush"})
    parts = house.pack(award, tmp_path / "pack")
    assert v.verify(tmp_path / "pack")["problems"] == []
    first, *rows = v.load_lines(tmp_path / "pack", v.TABLE)
    assert (rows[0]["kind"], rows[0]["seq"], "apart" in rows[0]) == ("opened", 1, True)
    assert '"what":"bets opened"' in rows[1]["body"]
    assert first["first_seq"] == rows[1]["seq"] > 10
    assert parts.identity["program"] == "a" * 64
    rows[0]["body"] = rows[0]["body"].replace("aaaa", "bbbb")
    (tmp_path / "pack" / v.TABLE).write_bytes(lines([first, *rows]))
    redo(tmp_path / "pack")
    assert [p["file"] for p in v.verify(tmp_path / "pack")["problems"]] == [v.TABLE]


def test_the_copy_in_the_pack_runs_alone(pack: tuple[House, Path]) -> None:
    program = pack[1] / v.PROGRAM
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(program), "--lines"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ran.returncode == v.UNSIGNED, ran.stdout + ran.stderr  # no PyNaCl there
    assert "amount 100.00, paid" in ran.stdout
    assert "signatures not checked" in ran.stdout
    wrong = subprocess.run(
        [sys.executable, "-I", "-S", str(program), "--wrong"], capture_output=True, check=False
    )
    assert wrong.returncode == 64


def test_the_verifier_imports_the_standard_library_alone() -> None:
    tree = ast.parse(Path(v.__file__).read_text("utf-8"))
    names = [n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)]
    names += [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert names
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


def test_witnesses_from_elsewhere_are_compared(pack: tuple[House, Path]) -> None:
    house, folder = pack
    events = house.store.events
    assert v.verify(folder, {events[4].id: events[4].chain})["ok"]
    found = v.verify(folder, {events[4].id: events[3].chain})
    assert [p["file"] for p in found["problems"]] == [v.EVENTS]
    table = house.table("T1")
    sent = table.sent[0]
    assert v.verify(folder, None, {sent.seq: sent.hash})["ok"]
    assert not v.verify(folder, None, {sent.seq: "0" * 64})["ok"]


# --- closed cards ---------------------------------------------------------------------------------


def test_no_file_of_a_pack_holds_a_card_that_nobody_saw(pack: tuple[House, Path]) -> None:
    house, folder = pack
    rows = v.load_lines(folder, v.FRAMES)
    closed = [row for row in rows if row["sealed"] and row["hex"] is None]
    assert len(closed) == 1  # the burnt card of the round
    assert closed[0]["bytes"] is None
    for path in folder.iterdir():
        if path.name == v.PROGRAM:
            continue
        for needle in needles([BURNT], []):
            assert needle.within(path.read_bytes()) == -1, f"{path.name}: {needle.form}"
    key = house.folder / "table.key"
    secret = key.read_text().split()[1]
    assert all(secret not in path.read_text("utf-8") for path in folder.iterdir())


def test_without_the_key_no_frame_of_a_card_device_is_open(house: House) -> None:
    (award,) = house.play("T1", {4: "straight flush"})
    parts = house.parts(award, key=False)
    assert parts.frames
    assert all(row["hex"] is None for row in parts.frames if row["sealed"])
    assert all(row["hex"] for row in parts.frames if not row["sealed"])
    assert "stay sealed" in parts.missing[0]


def test_an_opened_frame_with_a_card_that_was_never_told_is_found(
    pack: tuple[House, Path], tmp_path: Path
) -> None:
    folder = copied(pack[1], tmp_path)
    rows = v.load_lines(folder, v.FRAMES)
    frame = next(row for row in rows if row["cards"] == ["9s"])
    from hw_sim.devices import cdp

    data = bytes.fromhex(frame["hex"])
    made = cdp.decode(data[:-1])
    assert made is not None
    body = bytearray(made.payload)
    body[4] = 0x04  # the four of clubs
    frame["hex"] = cdp.encode(replace(made, payload=bytes(body))).hex()
    (folder / v.FRAMES).write_bytes(lines(rows))
    redo(folder)
    assert [p["file"] for p in v.verify(folder)["problems"]] == [v.FRAMES]


# --- tampering ------------------------------------------------------------------------------------


def test_single_byte_changes_are_found_and_the_file_is_named(pack: tuple[House, Path]) -> None:
    random = Random(20260310)
    assert [said for _ in range(100) if (said := missed(pack[1], random))] == []


def test_added_missing_and_renamed_files_are_named(
    pack: tuple[House, Path], tmp_path: Path
) -> None:
    folder = copied(pack[1], tmp_path)
    (folder / "note.txt").write_text("paid in full")
    (folder / v.SERVER).unlink()
    found = {p["file"]: p["what"] for p in v.verify(folder)["problems"]}
    assert found == {"note.txt": "added: the manifest does not name it", v.SERVER: "missing"}
    (folder / v.MANIFEST).unlink()
    assert v.verify(folder)["problems"] == [{"file": v.MANIFEST, "what": "missing"}]


def rechained(rows: list[Row]) -> list[Row]:
    chain = ""
    for row in rows:
        row["chain"] = chain = v.chain_value(chain, row)
    return rows


def _more_wagered(folder: Path) -> None:
    """A wager that nobody made, in the server's events alone, chained anew."""
    rows = v.load_lines(folder, v.EVENTS)
    row = next(r for r in rows if '"contributed"' in r["body"] and r["table"] == "T2")
    row["body"] = row["body"].replace("[1,100]", "[1,900]").replace("[1,100,1]", "[1,900,1]")
    (folder / v.EVENTS).write_bytes(lines(rechained(rows)))


def _larger_share(folder: Path) -> None:
    rows = v.load_lines(folder, v.EVENTS)
    row = next(r for r in rows if '"what":"open"' in r["body"])
    row["body"] = row["body"].replace('"straight flush":10', '"straight flush":11')
    (folder / v.EVENTS).write_bytes(lines(rechained(rows)))


def _one_approver(folder: Path) -> None:
    rows = v.load_lines(folder, v.EVENTS)
    for row in rows:
        if '"what":"approve"' in row["body"]:
            row["body"] = row["body"].replace('"ben","cage"', '"anna","supervisor"')
    (folder / v.EVENTS).write_bytes(lines(rechained(rows)))


def _other_amount(folder: Path) -> None:
    """The same larger amount in the statement, the manifest and on the page."""
    for name in (v.SERVER, v.MANIFEST):
        text = (folder / name).read_text().replace('"cents": 10000', '"cents": 20000')
        (folder / name).write_text(text)
    page = (folder / v.PAGE).read_text().replace(">100.00<", ">200.00<")
    (folder / v.PAGE).write_text(page)


def _other_page(folder: Path) -> None:
    page = (folder / v.PAGE).read_text()
    (folder / v.PAGE).write_text(page.replace(">100.00<", ">900.00<"))


def _script(folder: Path) -> None:
    page = (folder / v.PAGE).read_text()
    (folder / v.PAGE).write_text(page.replace("</body>", "<script>1</script></body>"))


def _journal(folder: Path, old: str, new: str) -> None:
    """Records altered and hashed anew from there on, as whoever has the disk could."""
    head, *rows = v.load_lines(folder, v.TABLE)
    chain = bytes.fromhex(head["previous"])
    for row in rows:
        row["body"] = row["body"].replace(old, new)
        row["hash"] = v.sha(chain, v.record_bytes(row, chain))
        chain = bytes.fromhex(row["hash"])
    (folder / v.TABLE).write_bytes(lines([head, *rows]))


def _other_card(folder: Path) -> None:
    _journal(folder, '"card":"9s"', '"card":"Ts"')


def _other_hand(folder: Path) -> None:
    _journal(folder, '"cards":["9s","8s","7s"]', '"cards":["9s","8s","2d"]')


def _other_wager(folder: Path) -> None:
    _journal(folder, "[3,100", "[3,500")


PLANTED: list[tuple[Callable[[Path], None], str]] = [
    (_more_wagered, v.SERVER), (_larger_share, v.EVENTS), (_one_approver, v.EVENTS),
    (_other_amount, v.SERVER), (_other_page, v.PAGE), (_script, v.PAGE), (_other_card, v.TABLE),
    (_other_hand, v.TABLE), (_other_wager, v.TABLE),
]  # fmt: skip


@pytest.mark.parametrize(("plant", "file"), PLANTED, ids=[p.__name__ for p, _ in PLANTED])
def test_what_is_planted_with_all_hashes_redone_is_found_all_the_same(
    pack: tuple[House, Path], tmp_path: Path, plant: Callable[[Path], None], file: str
) -> None:
    folder = copied(pack[1], tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    plant(folder)
    assert before != {path.name: path.read_bytes() for path in folder.iterdir()}
    redo(folder)
    found = v.verify(folder)
    assert file in [problem["file"] for problem in found["problems"]], found["problems"]


# --- refusals -------------------------------------------------------------------------------------


def test_what_is_not_there_is_said(house: House, tmp_path: Path) -> None:
    from controller.evidence.server import server_half
    from controller.evidence.table import table_half
    from link.commands.report_source import StoreSource

    (award,) = house.play("T1", {4: "straight flush"})
    with pytest.raises(EvidenceError, match="E-EVD-001"):
        server_half(StoreSource(house.real), "pool/9/9")
    folder = house.folder / "T1" / "journal"
    with pytest.raises(EvidenceError, match=r"rounds 1 to 1.*E-EVD-005"):
        table_half(folder, 77, None, None)
    with pytest.raises(EvidenceError, match="E-EVD-006"):
        table_half(folder, 1, "0" * 32, "T1")
    with pytest.raises(EvidenceError, match="E-EVD-004"):
        table_half(tmp_path / "nowhere", 1, None, None)
    house.pack(award, tmp_path / "pack")
    with pytest.raises(EvidenceError, match="E-EVD-008"):
        house.pack(award, tmp_path / "pack")


def test_the_page_needs_nothing_from_anywhere(pack: tuple[House, Path]) -> None:
    page = (pack[1] / v.PAGE).read_text("utf-8")
    assert "http" not in page
    assert "<script" not in page
    assert "@page{size:A4" in page
    assert 'class="amount"><span data-figure="amount">100.00<' in page
    assert "9♠" in page
    assert "2026-03-10" in page


def test_a_pack_is_the_same_bytes_for_the_same_sources(house: House) -> None:
    (award,) = house.play("T1", {4: "straight flush"})
    first, second = house.parts(award), house.parts(award)
    assert page_html(first, CLOCK) == page_html(second, CLOCK)
    assert manifest_of(first, {}, 1) == manifest_of(second, {}, 1)
    assert whole({"a": 1}) == b'{\n "a": 1\n}\n'
