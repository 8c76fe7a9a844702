"""Journals that earlier versions wrote open, replay and export as they did then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.commands import journal as journal_command
from controller.history.codec import no_hidden_card
from controller.history.entries import ENTRY_KINDS, decode_entry, encode_entry
from controller.history.errors import ReplayError
from controller.history.framelog import read_frames
from controller.history.replay import DIVERGED, Replayed, replay
from controller.history.sealing import CardSealer, Sealed
from controller.history.snapshot import (
    ROUND,
    SNAPSHOT,
    Opening,
    StateDigest,
    round_body,
    take_round,
)
from controller.rules.cards import HiddenCard
from controller.rules.engine.names import WHATS
from record import verify_journal
from record.frame_files import FrameFolder
from record.journal import Journal, Record
from record.journal.reader import JournalReader
from record.link.codec import encode_body
from record.link.outbox import OUTBOX, event_of
from tests.golden.files import GENERATIONS, HERE, TABLE_KEY, told, unpack

CHANGED: dict[str, Any] = told(HERE / "changed.json")["tables"]
"""Tables at which a rule was applied that is another one now."""


class Table:
    """One table's files, unpacked, and what was told of them then."""

    def __init__(self, archive: Path, folder: Path) -> None:
        self.folder = unpack(archive, folder)
        self.journal = self.folder / "journal"
        self.name = f"{archive.parent.parent.name}/{archive.name.removesuffix('.tar.xz')}"
        self.told: dict[str, Any] = told(archive.parent.parent / "tables.json")[
            archive.name.removesuffix(".tar.xz")
        ]
        self.records: list[Record] = list(JournalReader(self.journal).records())
        self.cards = CardSealer(TABLE_KEY, self.told["journal_id"])
        self.opening = Opening(self.told["game"], self.told["settings"], self.told["on"])

    def back(self, *, whole: bool) -> Replayed:
        return replay(self.records, self.cards, self.opening, whole=whole)


ARCHIVES = [path for one in GENERATIONS for path in sorted((one / "tables").glob("*.tar.xz"))]


@pytest.fixture(
    scope="module", params=ARCHIVES, ids=lambda p: f"{p.parent.parent.name} {p.name[:-7]}"
)
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Table:
    return Table(request.param, tmp_path_factory.mktemp("golden"))


def test_an_old_journal_is_sound_to_both_verifiers(table: Table) -> None:
    assert journal_command.run(["verify", str(table.journal)]) == 0
    expected = {table.told["last_seq"]: table.told["head"]}
    assert verify_journal.verify(table.journal, expected)["ok"]


def test_an_old_journal_replays_to_the_state_it_had(table: Table) -> None:
    """Every digest of every record is compared on the way; from the start and from a snapshot.

    Where a rule was changed on purpose, it replays up to exactly that record and is refused there.
    """
    if table.name in CHANGED:
        with pytest.raises(ReplayError) as refused:
            table.back(whole=True)
        assert (refused.value.code, refused.value.seq) == (DIVERGED, CHANGED[table.name]["record"])
        return
    whole, tail = table.back(whole=True), table.back(whole=False)
    for back in (whole, tail):
        assert StateDigest().of(back.state) == table.told["state"]
        assert back.state.phase.value == table.told["phase"]
    assert whole.state == tail.state
    assert whole.missing == tail.missing == ()


def test_an_old_journal_opens_for_writing(table: Table) -> None:
    name = JournalReader(table.journal).report().table
    journal = Journal.open(table.journal, table=name, now_ms=1 << 41)
    try:
        assert journal.journal_id == table.told["journal_id"]
        assert (journal.next_seq - 1, journal.head.hex()) == (
            table.told["last_seq"], table.told["head"],
        )  # fmt: skip
    finally:
        journal.close()


def test_old_rounds_are_exported_byte_for_byte(
    table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = {}
    for path in (table.folder / "rounds").iterdir():
        assert journal_command.run(["export-round", str(table.journal), path.stem]) == 0
        assert capsys.readouterr().out == path.read_text("utf-8")
        ended[path.stem] = json.loads(path.read_bytes())["result"]["round_status"]
    assert ended == table.told["rounds"]


def test_old_entries_are_encoded_as_they_were(table: Table) -> None:
    """What is sealed is put back as it was: a seal is never made twice."""
    for record in table.records:
        if record.kind in ENTRY_KINDS:
            sealed = Sealings(table.cards, record.seq)
            found = decode_entry(record.kind, record.body, sealed.take)
            again = encode_entry(found.entry, found.key, sealed.put, found.digest)
            assert again == (record.kind, record.body)
        elif record.kind == ROUND:
            assert round_body(take_round(record.body, no_hidden_card)) == record.body
        elif record.kind == OUTBOX:
            event = event_of(record)
            assert encode_body(event.body) in record.body


class Sealings:
    """Opens the cards of a record, and gives each its own seal back."""

    def __init__(self, cards: CardSealer, seq: int) -> None:
        self._cards, self._seq = cards, seq
        self._kept: list[Any] = []
        self._again: Iterator[Any] = iter(())

    def take(self, value: Any) -> HiddenCard:
        card, _ = self._cards.open(Sealed.from_json(value), self._seq, len(self._kept))
        self._kept.append(value)
        self._again = iter(self._kept)
        return card

    def put(self, _card: HiddenCard) -> Any:
        return next(self._again)


@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda p: p.name)
def test_the_frames_of_an_old_table_are_opened_with_its_key(
    generation: Path, tmp_path: Path
) -> None:
    folder = unpack(generation / "tables" / "pp6-put-back.tar.xz", tmp_path)
    frames = FrameFolder(folder / "frames")
    (number,) = frames.numbers()
    log = frames.file(number).read_bytes()
    found = list(read_frames(log, TABLE_KEY))
    assert len(found) == told(generation / "tables.json")["pp6-put-back"]["frames"]


@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda p: p.name)
def test_the_old_journals_have_most_kinds_of_facts(generation: Path, tmp_path: Path) -> None:
    """Else the tests above would say less than they seem to."""
    seen, kinds = set(), set()
    for number, archive in enumerate(sorted((generation / "tables").glob("*.tar.xz"))):
        folder = unpack(archive, tmp_path / str(number))
        for record in JournalReader(folder / "journal").records():
            kinds.add(record.kind)
            if record.kind == "fact":
                seen.add(json.loads(record.body)["what"])
    assert len(seen & set(WHATS)) == len(seen) >= 65
    assert kinds >= {SNAPSHOT, ROUND, OUTBOX, "revealed", "repair", "selection", "day", "test"}
