"""Rows 63 and 69: a table's memory is neither rewritten nor cleared without the link's knowledge.

The real table's side and the real server, over real sockets.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from controller.config.live import load_live
from controller.daemon import compose as starting
from controller.daemon.setup import setup_of
from controller.rules.engine import facts as f
from link.ledger.orders import Accept, Retire
from link.server.staff_orders import NewKey, RotateKey
from record.journal import Journal
from record.journal.reader import JournalReader, verify
from record.link.keys import load_public
from tests.controller.link.test_link_sockets import Table
from tests.e2e.table import underfelt
from tests.link.server.house import House, Live, house_of
from tests.link.server.test_server_table import files, linked


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_of(tmp_path, "mbs3") as made:
        yield made


@pytest.fixture
def run(house: House, tmp_path: Path) -> Path:
    (tmp_path / "made").mkdir()
    live = house.start(beat_ms=200)
    folder = linked(files(tmp_path / "made", "mbs3"), house, live.endpoint)
    key = NewKey("mbs3", load_public(folder / "link.pub"))
    assert live.order(RotateKey(key), "a.kim", "m.ng")["ok"]
    return folder


def live_of(house: House) -> Live:
    return house.running[-1]


def played(run: Path, *, ended: bool = True) -> str:
    """A round's wagers, taken by the server, and its end; the answer is the journal's id."""

    async def play() -> str:
        table = Table(run)
        await table.until(lambda: table.table.writer.core.state.link_up)
        table.round()
        if ended:
            supervisor = f.Declared("S1", f.Role.CASINO_SUPERVISOR)
            table.tell(f.OutcomeInvalidated("disruption"), supervisor)
            table.tell(f.SupervisorRuled("void"), supervisor)
            table.tell(f.VoidCleared())
        await table.until(lambda: table.status()["waiting"] == 0)
        found = table.table.journal.journal_id
        await table.close()
        return found

    return asyncio.run(play())


def again(run: Path) -> str:
    """The same table at its next start: what the server has against it."""

    async def greet() -> str:
        table = Table(run)
        await table.until(lambda: bool(table.status()["trouble"] or table.status()["halted"]))
        said = json.dumps(table.status())
        await table.close()
        return said

    return asyncio.run(greet())


# --- row 69 ---------------------------------------------------------------------------------------


def retire(run: Path) -> dict[str, Any]:
    ran = underfelt("retire", "--config", str(run / "table.toml"), "--json")
    answer = {"put_aside": "", "said": ran.stderr, **json.loads(ran.stdout)}
    assert ran.returncode == (0 if answer["put_aside"] else 75), ran
    return dict(answer)


def test_row_69_memory_is_cleared_by_two_people_and_the_link_with_its_counters_sealed(
    house: House, run: Path
) -> None:
    journal = played(run)
    live = live_of(house)
    first = retire(run)
    assert f"two people at the link server: underfelt link retire {journal[:12]}" in first["said"]
    last = list(JournalReader(run / "journal").records())[-1]
    kept = json.loads(last.body)
    assert (last.kind, kept["rounds"], kept["events"], kept["records"]) == (
        "retired", 1, 3, last.seq - 1,
    )  # fmt: skip
    with pytest.raises(starting.Retired, match="E-RUN-006"):
        starting.compose(setup_of(load_live(run / "table.toml", starting.KINDS)))
    assert not retire(run)["put_aside"]  # nobody has consented
    assert live.order(Retire(journal, "new card"), "k.lee")["error"] == "E-POOL-023"
    assert not retire(run)["put_aside"]  # one person is not two
    assert live.order(Retire(journal, "new card"), "k.lee", "m.ng")["ok"]
    aside = Path(retire(run)["put_aside"])
    assert aside.name == f"journal.retired-{journal[:12]}"
    assert not (run / "journal").exists()
    assert verify(aside).head == last.hash  # whole, with its counters
    assert "E-LNK-013" in again(run)  # a new journal, which people must accept
    states = {row["journal"]: row["state"] for row in live.ask("journals")["journals"]}
    (new,) = set(states) - {journal}
    assert (states[journal], states[new]) == ("retired", "proposed")
    assert live.order(Accept(new), "k.lee")["ok"]
    assert live.order(Accept(new), "m.ng")["ok"]
    assert live.ask("journals")["journals"][0]["state"] == "active"


def test_row_69_not_in_a_round_and_not_with_events_on_their_way(house: House, run: Path) -> None:
    journal = played(run, ended=False)
    assert "round 1 is under way; end it first (E-RUN-007)" in retire(run)["said"]
    live_of(house).stop()
    ran = underfelt("retire", "--config", str(run / "table.toml"))
    assert (ran.returncode, "E-RUN-008" in ran.stderr) == (69, True)
    assert JournalReader(run / "journal").report().journal_id == journal


def test_row_69_not_without_a_link(run: Path) -> None:
    config = run / "table.toml"
    text = config.read_text("utf-8")
    config.write_text(text[: text.index("[link]")], "utf-8")
    assert "E-RUN-009" in retire(run)["said"]


# --- row 63 ---------------------------------------------------------------------------------------


def rewritten(run: Path, change: Callable[[list[tuple[str, bytes, int]]], None]) -> None:
    """By root, with every check sum and the whole chain made anew under the same journal id."""
    folder = run / "journal"
    records = [(r.kind, r.body, r.at_ms) for r in JournalReader(folder).records()]
    journal_id = JournalReader(folder).report().journal_id
    change(records)
    folder.rename(run / "journal.true")
    with mock.patch("secrets.token_bytes", return_value=bytes.fromhex(journal_id)):
        forged = Journal.open(folder, table="mbs3", now_ms=records[0][2])
    for kind, body, at_ms in records:
        forged.append(kind, body, at_ms)
    forged.sync()
    forged.close()
    assert verify(folder).records >= 1  # nothing in the file itself gives it away


def altered(records: list[tuple[str, bytes, int]]) -> None:
    at = next(i for i, (kind, *_) in enumerate(records) if kind == "opened")
    kind, body, at_ms = records[at]
    records[at] = kind, body, at_ms + 1


def cut(records: list[tuple[str, bytes, int]]) -> None:
    del records[-1]


@pytest.mark.parametrize("change", [altered, cut])
def test_row_63_a_rewritten_journal_is_found_by_the_checkpoint_at_the_link(
    change: Callable[[list[tuple[str, bytes, int]]], None], house: House, run: Path
) -> None:
    """Also after the start has written to it: the server asks for the record that it knew last."""
    journal, code = played(run), "E-LNK-030"
    rewritten(run, change)
    assert code in again(run)
    (row,) = live_of(house).ask("journals")["journals"]
    assert (row["journal"], row["state"]) == (journal, "halted")
    assert [alarm["code"] for alarm in live_of(house).alarms()] == [code]
