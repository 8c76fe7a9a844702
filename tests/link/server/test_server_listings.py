"""Lists of a large house: more than a thousand journals, alarms and keys, each within reach."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from link.commands import keys, link
from link.ledger.ledger import Ledger
from link.server.requests import MOST_ROWS
from record.kit.lines import ask
from record.link.events import Contributed, Wager
from tests.link.ledger.support import Table
from tests.link.people import PASSWORD
from tests.link.server.house import House, house_of, pool

MANY = 1_010
NAMES = tuple(f"table-{number:04}" for number in range(MANY))
SECOND = "ab" * 16


@pytest.fixture(scope="module")
def control(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Every table's journal is halted with an alarm; the first table has a proposed one too."""
    folder = tmp_path_factory.mktemp("large")
    with house_of(folder, *NAMES) as house:
        _halt_all(house)
        path = folder / "control.sock"
        house.start(control=path, beat_ms=60_000)
        yield path


def _halt_all(house: House) -> None:
    store = house.store()
    epoch = store.lead("test", 60_000)
    assert epoch is not None
    ledger = Ledger((pool(*NAMES),), store.load())
    ledger.open(1_000)
    poison = Contributed(1, (Wager(1, 12_345),))
    for name in NAMES:
        table = Table(name)
        assert ledger.hello(name, table.hello(), 1_000).refused is None
        ledger.take(name, table.journal, table.event(poison), 1_000)
        if name == NAMES[0]:
            ledger.hello(name, Table(name, SECOND).hello(), 1_000)
    store.commit(ledger.group(epoch))
    store.resign(epoch)
    store.close()


class Desk:
    def __init__(self, control: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.control, self._capsys, self._patch = control, capsys, monkeypatch

    def __call__(self, command: Any, *argv: str, by: tuple[str, ...] = ()) -> Any:
        people = [word for name in by for word in ("--by", name)]
        people += ["--passwords-stdin"] if by else []
        self._patch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n" * len(by)))
        code = command.run([*argv, *people, "--socket", str(self.control), "--json"])
        said = self._capsys.readouterr()
        assert code == 0, said.err
        return json.loads(said.out)


@pytest.fixture
def desk(
    control: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(control, capsys, monkeypatch)


def test_every_journal_is_listed_newest_first(desk: Desk) -> None:
    rows = desk(link, "journals")["journals"]
    assert len({row["journal"] for row in rows}) == len(rows) == MANY + 1
    assert (rows[0]["table"], rows[-1]["table"]) == (NAMES[-1], NAMES[0])


def test_alarms_are_listed_newest_first(desk: Desk) -> None:
    rows = desk(link, "alarms", "--all")["alarms"]
    ids = [row["id"] for row in rows]
    assert ids == list(range(ids[0], 0, -1))
    tables = [row["table"] for row in rows if row["table"]]
    assert tables == [*reversed(NAMES), NAMES[0]]
    assert desk(link, "alarms")["alarms"] == rows[:100]


def test_every_key_is_listed(desk: Desk) -> None:
    tables = [row["table"] for row in desk(keys, "list")["keys"] if row["role"] == "table"]
    assert tables == list(NAMES)


def test_the_oldest_journals_are_resumed_accepted_and_retired(desk: Desk) -> None:
    both = ("m.ng", "k.lee")
    (first, second), last = (Table(name).journal for name in NAMES[:2]), Table(NAMES[-1]).journal
    desk(link, "resume", second[:10], "--why", "looked at", by=both)
    desk(link, "retire", last[:10], "--why", "new card", by=both)
    for person in both:
        told = desk(link, "accept", SECOND[:8], by=(person,))
    assert told["state"] == "active"
    states = {row["journal"]: row["state"] for row in desk(link, "journals")["journals"]}
    found = [states[journal] for journal in (first, SECOND, second, last)]
    assert found == ["retired", "active", "active", "retired"]


def test_a_beginning_that_fits_several_journals_or_none(
    control: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for beginning, said in (("0", "journals begin like this"), ("zz", "no such journal")):
        argv = ["retire", beginning, "--why", "no", "--by", "m.ng", "--socket", str(control)]
        assert link.run(argv) == 65
        assert said in capsys.readouterr().err


def test_pages_are_bounded_and_bad_cursors_refused(control: Path) -> None:
    for verb in ("journals", "alarms", "keys"):
        page = ask(control, {"verb": verb})
        assert len(page[verb]) == MOST_ROWS
        assert page["next"]
    for verb in ("tables", "accounts"):
        assert ask(control, {"verb": verb})["next"] == ""
    for verb, field, wrong in (
        ("journals", "cursor", "x"),
        ("journals", "prefix", "0%"),
        ("alarms", "cursor", "9" * 19),
        ("alarms", "cursor", -1),
        ("alarms", "prefix", "a"),
        ("keys", "cursor", 7),
        ("accounts", "cursor", "x" * 301),
        ("tables", "after", 0),
    ):
        assert ask(control, {"verb": verb, field: wrong})["error"] == "E-SVC-001"
