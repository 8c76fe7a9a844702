"""The outbox in the journal: what a fact owes the server, numbered, mended, never changed."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controller.demo.scripted_dealer import DEALER_AT_TABLE, SUPERVISOR, ScriptedDealer
from controller.history.errors import ReplayError
from controller.history.link_events import MOST_BYTES, bodies_of, fixed_awards
from controller.rules.engine import facts as f
from controller.rules.engine.state import Archive
from controller.rules.engine.step import step
from record.journal.format import Record
from record.link.codec import WireError, encode, encode_body, from_table
from record.link.events import (
    Claimed,
    Contributed,
    FixedAward,
    Reversed,
    RoundPlayed,
    SelectionWanted,
    Wager,
)
from record.link.messages import LONGEST, Event
from record.link.outbox import OUTBOX, event_of, outbox_body, outbox_number
from record.verify_journal import Broken, Outbox
from tests.clauses.tables import base, table
from tests.controller.history.desk import GAMES, Desk, random_desk
from tests.paper import Row

VECTORS = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "entries.toml").read_text("utf-8")
)["outbox"]


@pytest.mark.parametrize("row", VECTORS, ids=lambda r: json.loads(r["body"])["event"]["what"])
def test_every_event_is_on_disk_and_on_the_wire_as_it_was(row: dict[str, str]) -> None:
    record = Record(17, OUTBOX, row["body"].encode(), 1_700_000_000_000, bytes([0xA0] * 32))
    event = event_of(record)
    assert encode(event).decode() == row["frame"]
    assert outbox_body(event.n, event.body).decode() == row["body"]
    assert outbox_number(record.body) == event.n


def test_there_is_a_vector_of_every_event() -> None:
    named = {json.loads(row["body"])["event"]["what"] for row in VECTORS}
    assert named == {
        "contributed", "reversed", "claimed", "withdrawn", "round", "selection wanted",
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"v":2,"n":1,"event":{}}', b'{"v":1,"n":0,"event":{}}', b'{"v":1,"n":1}',
     b'{"v":1,"n":1,"event":{"what":"withdrawn","round":1,"seats":[]},"x":1}'],
)  # fmt: skip
def test_what_is_no_outbox_record_refuses(body: bytes) -> None:
    with pytest.raises(WireError, match="E-LNK-064"):
        event_of(Record(1, OUTBOX, body, 0, bytes(32)))


# --- whole rounds --------------------------------------------------------------------------------


def outbox(desk: Desk) -> list[Event]:
    rows = [row for row in desk.paper.rows if row.kind == OUTBOX]
    return [event_of(Record(r.seq, r.kind, r.body, r.at_ms, r.hash)) for r in rows]


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_every_round_is_told_and_replayed_byte_for_byte(game: str, device: str) -> None:
    for seed in range(3):
        desk = random_desk(game, device, seed, rounds=2)
        events = outbox(desk)
        assert [event.n for event in events] == list(range(1, len(events) + 1))
        assert desk.table_log.memory.sent == len(events)
        rounds = {e.body.round: e.body for e in events if isinstance(e.body, RoundPlayed)}
        assert {n: (b.record, b.result) for n, b in rounds.items()} == {
            archive.round_no: archive.current for archive in desk.state.history
        }
        for event in events:
            assert from_table(encode(event)) == event
            assert len(encode(event)) <= LONGEST
        for whole in (False, True):
            back = desk.back(whole=whole)
            assert (back.missing, back.memory.sent) == ((), len(events))
        assert desk.table_log.outgoing == events


def test_what_the_power_cut_took_is_written_at_the_start() -> None:
    """Cut after every record: the numbers go on without a gap and the bodies are the same."""
    desk = random_desk("MBS3", "shoe", 5)
    rows = desk.paper.rows
    whole = [(row.kind, row.body) for row in rows]
    for cut in range(1, len(rows)):
        back = desk.back(rows[:cut])
        missing = list(back.missing)
        assert whole[cut : cut + len(missing)] == missing
        told = [row for row in rows[: cut + len(missing)] if row.kind == OUTBOX]
        assert back.memory.sent == len(told)


def test_an_event_that_is_missing_or_altered_refuses() -> None:
    desk = random_desk("MBS3", "shoe", 5)
    rows = desk.paper.rows
    at = next(i for i, row in enumerate(rows) if row.kind == OUTBOX)
    gone = [*rows[:at], *rows[at + 1 :]]
    with pytest.raises(ReplayError, match="E-RPL-004"):
        desk.back(gone)
    other = replace(rows[at], body=rows[at].body.replace(b'"n":1', b'"n":2'))
    with pytest.raises(ReplayError, match="E-RPL-003"):
        desk.back([*rows[:at], other, *rows[at + 1 :]])


def without_sent(rows: list[Row]) -> list[Row]:
    """As a program wrote it that had no link."""
    found = []
    for row in rows:
        if row.kind == "standing":
            body = json.loads(row.body)
            del body["sent"]
            row = replace(row, body=json.dumps(body, separators=(",", ":")).encode())
        if row.kind != OUTBOX:
            found.append(row)
    return [replace(row, seq=i) for i, row in enumerate(found, 1)]


def test_a_journal_from_before_the_link_replays_and_counts_from_its_next_snapshot() -> None:
    desk = random_desk("NSW", "shoe", 2)
    old = without_sent(desk.paper.rows)
    assert any(row.kind == OUTBOX for row in desk.paper.rows)
    back = desk.back(old)
    assert back.missing == ()
    assert back.memory.sent is None
    assert back.memory.snapshot().sent == 0
    back.memory.snapshot_written()
    assert back.memory.sent == 0


def test_the_verifier_misses_no_event() -> None:
    checked = Outbox()
    for number in (1, 2, 3):
        checked.take("f", 0, number, "outbox", outbox_body(number, Claimed(1, ())))
    with pytest.raises(Broken, match="event 5, expected 4"):
        checked.take("f", 0, 9, "outbox", outbox_body(5, Claimed(1, ())))
    with pytest.raises(Broken, match="cannot be read"):
        checked.take("f", 0, 9, "outbox", b"{}")
    cut = Outbox()
    cut.cut = True
    for number in (71, 72):
        cut.take("f", 0, number, "outbox", outbox_body(number, Claimed(1, ())))
    with pytest.raises(Broken, match="event 74, expected 73"):
        cut.take("f", 0, 9, "outbox", outbox_body(74, Claimed(1, ())))


# --- bodies --------------------------------------------------------------------------------------


def told(croupier: ScriptedDealer, what: f.What, by: f.Source) -> list[Any]:
    after, effects = step(croupier.state, f.Fact(what, by))
    found = bodies_of(croupier.state, after, effects)
    croupier.state = after
    return found


def test_credits_are_counted_and_a_void_takes_back_what_was_posted() -> None:
    croupier = table("MEGA", {1: "2c3d9s", 4: "5h6h8h"}, "7c9h")
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for seat, cents in ((1, 100), (4, 500)):
        for spot, amount in base(1000, progressive=cents).items():
            croupier.place(seat, spot, amount)
    dealer = f.Declared("D1", f.Role.DEALER)
    wagers = (Wager(1, 100, 1), Wager(4, 500, 5))
    assert told(croupier, f.BetsClosed(), dealer) == [Contributed(1, wagers)]
    croupier.deal()
    assert told(croupier, f.CardFaultReported("foreign"), dealer) == []
    assert told(croupier, f.SupervisorRuled("confirmed"), SUPERVISOR) == [Reversed(1, wagers)]


def test_a_server_that_draws_is_asked_and_a_table_that_draws_asks_nobody() -> None:
    for selector, asked in (("server", [SelectionWanted(1, (4,))]), ("table", [])):
        croupier = table("MEGA", {4: "5h6h8h"}, "7c9h", selector=selector)
        croupier.prepare()
        croupier.do(f.BetsOpened())
        for spot, amount in base(1000, progressive=100).items():
            croupier.place(4, spot, amount)
        found = told(croupier, f.BetsClosed(), f.Declared("D1", f.Role.DEALER))
        assert found == [Contributed(1, (Wager(4, 100, 1),)), *asked]


def test_what_was_paid_at_the_table_is_told_and_shares_are_not() -> None:
    """A straight flush pays a share and envy to seat 5, whose full house pays by odds."""
    croupier = table("MBS3", {2: "5h6h8h", 5: "7c7d9c"}, "7h9h")
    croupier.do(f.MeterReported(1_000_000), f.Measured("link"))
    croupier.round({n: base(1000, progressive=100) for n in (2, 5)})
    archive = croupier.state.history[-1]
    assert fixed_awards(croupier.state.rules.book, archive.result) == (
        FixedAward(5, "full house", 50 * 100),
        FixedAward(5, "envy", 30_000),
    )


def test_a_corrected_round_is_told_again_and_a_mispay_is_not() -> None:
    croupier = table("MBS3", {4: "TcTd2h"}, "4s5s")
    croupier.round({4: base(1000)})
    assert told(croupier, f.PayCorrected(1, 4, 5500, "short"), SUPERVISOR) == []
    assert told(croupier, f.RulingSeconded(), DEALER_AT_TABLE) == []
    assert told(croupier, f.CountFound(4, 4), SUPERVISOR) == []
    (anew,) = told(croupier, f.RulingSeconded(), DEALER_AT_TABLE)
    assert isinstance(anew, RoundPlayed)
    assert anew.result["round_status"] == "void"


def test_a_round_that_does_not_fit_goes_without_its_record() -> None:
    """A thousand supervisor's notes: the journal has them, the message says how long and which."""
    croupier = table("MBS3", {4: "TcTd2h"}, "4s5s")
    croupier.round({4: base(1000, progressive=100)})
    before = croupier.state
    archive = before.history[-1]
    notes = [{"type": "supervisor_confirmed", "by": "S9", "what": "x" * 80}] * 1000
    played = {**archive.record["round"], "events": notes}
    long = Archive(2, {**archive.record, "round": played}, archive.result)
    after = type(before)(before.rules, history=(*before.history, long))
    (body,) = bodies_of(before, after, ())
    assert isinstance(body, RoundPlayed)
    assert set(body.record) == set(body.result) == {"left_out_bytes", "sha256"}
    assert body.record["left_out_bytes"] > MOST_BYTES
    assert len(encode_body(body)) < 1000
    assert body.awards == fixed_awards(before.rules.book, archive.result)
