"""``underfelt evidence`` as people call it: a running server, a backup, one half, refusals."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.commands.evidence import run
from controller.evidence.server import server_half
from link.commands.report_source import StoreSource
from record.link.events import SelectionWanted
from record.verify_evidence import as_text, check_chain, verify
from tests.controller.evidence.house import KEY, House
from tests.link.ledger.support import pool, terms
from tests.link.server.house import House as ServerHouse
from tests.link.server.house import house_of

AWARD = "main/1/1"


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A house whose server and table are down; one straight flush was locked."""
    made = House(tmp_path, pool(terms(rate_ppm=10_000), tables=("T1",)))
    made.join("T1")
    made.play("T1", {4: "straight flush"})
    made.close()
    key = tmp_path / "table.key"
    key.write_text(f"underfelt-table-key-1 {KEY.hex()}\n")
    key.chmod(0o400)
    return tmp_path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerHouse]:
    with house_of(tmp_path, "table-1") as made:
        yield made


def asked(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> tuple[int, dict[str, Any], str]:
    code = run([str(word) for word in argv])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out.startswith("{") else {}, said.err


def test_a_running_server_is_asked_through_its_control_socket(
    server: ServerHouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run" / "control.sock"
    live = server.start(control=path)
    table = server.stranger("table-1", live)
    table.join()
    table.wager(1, 100, 2)
    table.wager(3, 100, 4)
    table.write({"what": "claimed", "round": 3, "claims": [[4, "royal flush", 100]]})
    table.deliver()
    code, row, _ = asked(capsys, AWARD, "--socket", path, "--output", tmp_path / "pack", "--json")
    live.stop()
    assert (code, row["amount_cents"], row["state"]) == (0, 100_002, "locked")
    assert row["missing"] == ["the table's half: the journal of table-1 was not given"]
    assert verify(tmp_path / "pack")["ok"]


def test_a_backup_and_a_copied_journal_are_enough(
    closed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(closed / "T1", closed / "copy")
    both = ("--backup", closed / "link.db", "--journal", closed / "copy" / "journal")
    code, row, _ = asked(
        capsys, "pool/1/1", *both, "--key", closed / "table.key", "--json", "--output",
        closed / "pack", "--time-zone", "Asia/Singapore",
    )  # fmt: skip
    assert (code, row["missing"], row["problems"]) == (0, [], [])
    assert "(Asia/Singapore)" in (closed / "pack" / "index.html").read_text()
    code, _, err = asked(capsys, "pool/1/1", *both, "--output", closed / "pack")
    assert (code, "E-EVD-008" in err) == (73, True)


def test_the_table_alone(closed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = ("pool/1/1", "--journal", closed / "T1" / "journal", "--output")
    code, row, _ = asked(capsys, *mine, closed / "pack", "--round", "1", "--json")
    assert (code, row["amount_cents"]) == (0, None)
    assert row["missing"][0].startswith("the link server's half")
    code, _, err = asked(capsys, *mine, closed / "none")
    assert (code, "--round" in err) == (64, True)
    code, _, err = asked(capsys, *mine, closed / "none", "--round", "9")
    assert (code, "E-EVD-005" in err) == (66, True)
    code, _, err = asked(capsys, *mine, closed / "none", "--round", "1", "--seat", "7")
    assert (code, "seat 7" in err) == (66, True)


@pytest.mark.parametrize(
    "case",
    [
        (("pool/1/9", "--backup", "link.db"), 66, "the last ones are pool/1/1"),
        (("pool/1/1", "--backup", "none.db"), 66, "E-EVD-002"),
        (("pool/1/1", "--backup", "link.db", "--time-zone", "Atlantis"), 64, "E-EVD-007"),
        (("pool/1/1", "--backup", "link.db", "--journal", "T9"), 66, "E-EVD-004"),
    ],
)
def test_refusals(
    closed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    case: tuple[tuple[str, ...], int, str],
) -> None:  # fmt: skip
    argv, code, said = case
    monkeypatch.chdir(closed)
    found, _, err = asked(capsys, *argv, "--output", "pack")
    assert found == code, err
    assert said in err
    assert not Path("pack").exists()


@pytest.mark.parametrize("place", [20, 514, 700])
def test_a_damaged_journal_is_not_made_into_evidence(
    closed: Path, capsys: pytest.CaptureFixture[str], place: int
) -> None:
    path = closed / "T1" / "journal" / "00000001.ufj"
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    code, _, err = asked(
        capsys, "pool/1/1", "--backup", closed / "link.db", "--journal", path.parent, "--output",
        closed / "pack",
    )  # fmt: skip
    assert (code, "E-JRN-" in err) == (65, True)


def floor_with_a_draw(folder: Path) -> tuple[House, str]:
    """The server has drawn for T2, whose round is not over; then T1 wins."""
    house = House(folder, pool(terms(rate_ppm=10_000), tables=("T1", "T2")))
    house.join("T1", "T2")
    house.bet("T2", 1, 3)
    house.tell("T2", SelectionWanted(1, (3,)))
    (award,) = house.play("T1", {4: "straight flush"})
    return house, award


def draw_in(house: House) -> tuple[int, dict[str, Any]]:
    """The event of the draw and its order, as the store has it."""
    rows = [(row.id, json.loads(row.body)) for row in house.real.events() if not row.table]
    ((event, body),) = [(n, b) for n, b in rows if b["order"]["what"] == "select"]
    return event, body["order"]


def test_a_draw_for_a_round_that_is_not_over_is_left_out_and_nothing_waits(tmp_path: Path) -> None:
    """Another table may be off for days; this award is proven today, and the seed stays at home."""
    house, award = floor_with_a_draw(tmp_path)
    event, order = draw_in(house)
    parts = house.pack(award, tmp_path / "early")
    (said,) = parts.missing
    assert said.startswith(f"event {event}: the draw for round 1 at table ")
    answer = verify(tmp_path / "early")
    assert (answer["ok"], answer["left_out"]) == (True, [event])
    assert answer["amount_cents"] == house.store.awards[award].cents
    assert f"event {event} is LEFT OUT" in "\n".join(as_text(answer, lines=False))
    for path in (tmp_path / "early").iterdir():
        for secret in (order["seed"], order["salt"], order["digest"]):
            assert secret.encode() not in path.read_bytes(), path.name
    house.tell("T2", house.table("T2").close(1, {3: "high card"}, {}))
    house.pack(award, tmp_path / "late")
    later = verify(tmp_path / "late")
    assert (later["ok"], later["left_out"], later["missing"]) == (True, [], [])
    assert (later["amount_cents"], later["chain"]) == (answer["amount_cents"], answer["chain"])
    assert order["seed"] in (tmp_path / "late" / "events.jsonl").read_text()
    house.close()


def test_a_chain_value_proves_nothing_before_an_event_that_is_left_out(tmp_path: Path) -> None:
    house, award = floor_with_a_draw(tmp_path)
    event, _ = draw_in(house)
    house.pack(award, tmp_path / "pack")
    chains = {row.id: row.chain for row in house.real.events()}
    assert verify(tmp_path / "pack", {event - 1: chains[event - 1]})["ok"]
    (problem,) = verify(tmp_path / "pack", {event + 1: chains[event + 1]})["problems"]
    assert problem["what"].startswith(f"event {event} is left out, so the chain value of event")
    house.close()


def test_nothing_but_a_draw_of_the_server_may_be_left_out(tmp_path: Path) -> None:
    house, award = floor_with_a_draw(tmp_path)
    half = server_half(StoreSource(house.real), award)
    told = next(row for row in half.events if row["table"])
    told["body"] = None
    (said,) = check_chain(half.events, "", 1)
    assert said == f"event {told['id']}: only a draw of the server may be left out"
    house.close()
