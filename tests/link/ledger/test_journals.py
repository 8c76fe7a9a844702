"""Journals: repeats, gaps, forks, ends that go back, new cards; what people decide about them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from link.ledger.errors import PoolError
from link.ledger.orders import Accept, Order, Person, Reject, Restore, Resume, Retire
from record.link.events import Claim, Claimed, Contributed, Wager
from record.link.messages import Ack, Checkpoint, Event, Noted, ServerRefused
from tests.link.ledger.support import (
    ANNA,
    BEN,
    BOTH,
    CARL,
    NIL,
    Floor,
    Table,
    locked,
    pool,
    refused,
    terms,
)

OTHER = "f" * 64


def refusal(floor: Floor, order: Order, by: object = BOTH) -> PoolError:
    before = len(floor.store.events)
    with pytest.raises(PoolError) as refused:
        floor.order(order, by)  # type: ignore[arg-type]
    assert len(floor.store.events) == before
    return refused.value


def journal_of(floor: Floor, name: str = "T1") -> str:
    return floor.tables[name].journal


# --- order ----------------------------------------------------------------------------------------


def test_a_repeat_is_acknowledged_and_not_counted() -> None:
    floor = Floor()
    for number in range(1, 4):
        floor.bet("T1", number, 1)
    before, events = floor.balances(), len(floor.store.events)
    for event in floor.tables["T1"].sent:
        assert floor.send("T1", event) == [("T1", Ack(3))]
    assert (floor.balances(), len(floor.store.events)) == (before, events)


def test_a_gap_is_refused_with_the_number_that_is_missing() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    first, second, third = (table.event(Contributed(n, (Wager(1, 100),))) for n in (1, 2, 3))
    told = refused(floor.send("T1", third))
    assert (told.code, told.n, told.expected, told.halted) == ("E-LNK-014", 3, 1, False)
    for event in (first, second, third):
        floor.send("T1", event)
    assert floor.balances()["wagers"] == -3 * 370_000
    floor.check()


def test_an_event_before_hello_or_of_anothers_journal() -> None:
    floor = Floor(tables=("T1",))
    event = floor.tables["T1"].event(Contributed(1, (Wager(1, 100),)))
    for table, journal in (("T2", "ab" * 16), ("T2", journal_of(floor))):
        ((to, told),) = floor.ledger.take(table, journal, event, 0)
        assert (to, told.code, told.n) == (table, "E-LNK-013", 1)  # type: ignore[union-attr]
    assert not floor.ledger.group(1)


def test_hello_tells_how_far_and_what_was_missed() -> None:
    floor = Floor()
    lock = floor.hit("T1", 1)
    floor.start()
    greeting = floor.hello("T1")
    assert (greeting.n, greeting.refused) == (2, None)
    assert locked(greeting.replies) == lock
    # A claim whose answer was lost is answered again, also as a repeat of the same event.
    assert locked(floor.send("T1", floor.tables["T1"].sent[1])) == lock


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"table": "T2"}, "E-LNK-012"),
        ({"meter_rule": "snapshot"}, "E-LNK-018"),
        ({"game": "MEGA"}, "E-POOL-031"),
    ],
)
def test_a_hello_that_does_not_fit(changes: dict[str, str], code: str) -> None:
    floor = Floor()
    told = floor.hello("T1", **changes).refused
    assert told is not None
    assert (told.code, told.halted) == (code, False)


# --- two hashes -----------------------------------------------------------------------------------


def forged(event: Event, **changes: object) -> Event:
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return Event(**{**fields, **changes})


@pytest.mark.parametrize("old", [False, True])
def test_a_number_with_another_hash_is_a_fork(old: bool) -> None:
    """Also if the number lies so far back that only the store knows its hash."""
    floor = Floor()
    for number in range(1, 31 if old else 3):
        floor.bet("T1", number, 1)
    before = floor.balances()
    clone = forged(floor.tables["T1"].sent[0], hash=OTHER, body=Contributed(1, (Wager(2, 100),)))
    told = refused(floor.send("T1", clone))
    assert (told.code, told.n, told.halted) == ("E-LNK-030", 1, True)
    assert floor.balances() == before
    (alarm,) = floor.store.alarms
    assert (alarm.code, alarm.table) == ("E-LNK-030", "T1")
    assert OTHER in floor.store.events[-1].body.decode()  # the evidence, as it came
    # Both are stopped: the honest one too, until people decide.
    assert refused(floor.bet("T1", 50, 1)).code == "E-LNK-015"
    greeting = floor.hello("T1")
    assert greeting.refused is not None
    assert (greeting.refused.code, greeting.refused.halted) == ("E-LNK-015", True)
    floor.check()


def test_the_next_number_in_a_record_that_was_seen_otherwise() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    floor.bet("T1", 1, 1)
    table.record("a key was turned")
    floor.ledger.checkpoint("T1", table.journal, table.checkpoint(), 0)
    clone = Event(2, table.seq, OTHER, 0, Contributed(2, (Wager(1, 100),)))
    assert refused(floor.send("T1", clone)).code == "E-LNK-030"
    floor.check()


def test_a_record_that_holds_two_events_or_an_older_one() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1)
    again = forged(floor.tables["T1"].sent[0], n=2)
    assert refused(floor.send("T1", again)).code == "E-LNK-030"


# --- the end of a journal -------------------------------------------------------------------------


def test_a_checkpoint_is_noted_and_survives() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    table.record()
    assert floor.ledger.checkpoint("T1", table.journal, table.checkpoint(), 5) == [
        ("T1", Noted(table.seq))
    ]
    floor.commit()
    row = floor.store.journals[table.journal]
    assert (row.head_seq, row.head_hash, row.n) == (1, table.head, 0)
    floor.start()
    table.head = OTHER
    told = refused(floor.ledger.checkpoint("T1", table.journal, table.checkpoint(), 6))
    assert (told.code, told.halted) == ("E-LNK-030", True)


@pytest.mark.parametrize("how", ["checkpoint", "hello", "hello without the last event"])
def test_an_end_that_went_back_is_halted(how: str) -> None:
    """The card was put back from a copy."""
    floor = Floor()
    table = floor.tables["T1"]
    floor.bet("T1", 1, 1)
    floor.bet("T1", 2, 1)
    table.record()
    floor.ledger.checkpoint("T1", table.journal, table.checkpoint(), 0)
    floor.commit()
    if how == "checkpoint":
        old = Checkpoint(2, table.sent[1].hash, 0)
        told = refused(floor.ledger.checkpoint("T1", table.journal, old, 0))
    else:
        back: dict[str, Any] = {"seq": 2, "head": table.sent[1].hash}
        greeting = floor.hello("T1", **(back if how == "hello" else {"sent": 1}))
        assert greeting.refused is not None
        told = greeting.refused
    floor.commit()
    assert (told.code, told.halted) == ("E-LNK-031", True)
    assert floor.store.journals[table.journal].state == "halted"
    floor.check()


def test_people_explain_an_end_that_went_back() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    floor.bet("T1", 1, 1)
    seen = table.checkpoint()
    table.record("lost with the card")
    floor.ledger.checkpoint("T1", table.journal, table.checkpoint(), 0)
    refused(floor.ledger.checkpoint("T1", table.journal, seen, 0))
    floor.commit()
    why = "card read back from image 7"
    assert (
        refusal(floor, Restore(why, table.journal, seen.seq, seen.hash), ANNA).code == "E-POOL-023"
    )
    too_far = refusal(floor, Restore(why, table.journal, 0, NIL))
    assert "the table needs a new journal" in too_far.text
    floor.order(Restore(why, table.journal, seen.seq, seen.hash), BOTH)
    table.seq, table.head = seen.seq, seen.hash
    assert floor.hello("T1").refused is None
    assert floor.bet("T1", 2, 1) == [("T1", Ack(2))]
    floor.order(Restore("backup of 06:00"), BOTH)  # of the server itself: for the record
    floor.check()


def test_a_restore_does_not_lift_another_halt() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    refused(floor.tell("T1", Claimed(1, (Claim(1, "royal flush", 100),))))
    floor.order(Restore("card read back", table.journal, 1, table.head), BOTH)
    assert floor.store.journals[table.journal].state == "halted"


# --- poison ---------------------------------------------------------------------------------------


def test_a_poison_event_is_never_skipped_silently() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    poison = table.event(Claimed(1, (Claim(1, "royal flush", 100),)))
    told = refused(floor.send("T1", poison))
    assert (told.code, told.n, told.halted) == ("E-LNK-017", 1, True)
    for _ in range(3):
        assert refused(floor.send("T1", poison)).code == "E-LNK-015"
    floor.start()
    # Resumed without more, it comes again and stops again.
    floor.order(Resume(table.journal, "try again"), BOTH)
    assert refused(floor.send("T1", poison)).code == "E-LNK-017"
    # Two people may decide that it has no effect; then it is recorded as it is.
    order = Resume(table.journal, "table was in training mode", 1, poison.hash)
    assert refusal(floor, order, ANNA).code == "E-POOL-023"
    assert refusal(floor, order, (ANNA, CARL)).code == "E-POOL-023"
    assert refusal(floor, order, (ANNA, Person("ben"))).code == "E-POOL-023"
    assert refusal(floor, Resume(table.journal, "no", 2, poison.hash)).code == "E-POOL-026"
    floor.order(order, BOTH)
    floor.start()
    assert floor.send("T1", poison) == [("T1", Ack(1))]
    assert not floor.store.awards
    assert floor.bet("T1", 2, 1) == [("T1", Ack(2))]
    assert [a.code for a in floor.store.alarms] == ["E-LNK-017", "E-LNK-017"]
    floor.check()


def test_only_the_event_that_people_looked_at_is_left_without_effect() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    refused(floor.tell("T1", Claimed(1, (Claim(1, "royal flush", 100),))))
    floor.order(Resume(table.journal, "no effect", 1, OTHER), BOTH)
    assert refused(floor.send("T1", table.sent[0])).code == "E-LNK-017"


def test_resume_needs_a_halted_journal() -> None:
    floor = Floor()
    assert refusal(floor, Resume(journal_of(floor), "why not")).code == "E-POOL-026"
    assert refusal(floor, Resume("ab" * 16, "why not")).code == "E-POOL-025"


# --- a new card -----------------------------------------------------------------------------------


def test_a_new_journal_waits_for_two_people() -> None:
    floor = Floor()
    floor.hit("T1", 1)
    old = journal_of(floor)
    new = Table("T1", "cd" * 16)
    floor.tables["T1"] = new
    greeting = floor.hello("T1")
    assert greeting.refused is not None
    assert (greeting.refused.code, greeting.refused.halted) == ("E-LNK-013", False)
    assert refused(floor.bet("T1", 1, 1)).code == "E-LNK-013"
    assert [a.code for a in floor.store.alarms] == ["E-LNK-013"]
    assert floor.hello("T1").refused is not None  # asked twice, proposed once
    assert len(floor.store.alarms) == 1
    floor.order(Accept(new.journal), ANNA)
    floor.start()
    assert floor.store.journals[new.journal].state == "proposed"
    assert refusal(floor, Accept(new.journal), ANNA).code == "E-POOL-024"
    assert refusal(floor, Accept(new.journal), CARL).code == "E-POOL-024"
    assert refusal(floor, Accept(new.journal), Person("anna", "cage")).code == "E-POOL-024"
    floor.order(Accept(new.journal), BEN)
    rows = floor.store.journals
    assert (rows[new.journal].state, rows[old].state) == ("active", "retired")
    assert rows[new.journal].accepted_by == ("anna", "supervisor", "ben", "cage")
    assert floor.send("T1", new.sent[0]) == [("T1", Ack(1))]
    # The old card is out; its award lives on.
    event = Event(3, 3, OTHER, 0, Contributed(2, (Wager(1, 100),)))
    ((_, told),) = floor.ledger.take("T1", old, event, 0)
    assert told.code == "E-LNK-021"  # type: ignore[union-attr]
    assert floor.state_of("pool/1/1") == "locked"
    assert refusal(floor, Accept(old), ANNA).code == "E-POOL-026"
    floor.check()


def test_a_card_that_forgets_its_journal_does_not_fill_the_record() -> None:
    floor = Floor()
    for number in range(9):
        floor.tables["T1"] = Table("T1", f"{number:032x}")
        greeting = floor.hello("T1")
        assert greeting.refused is not None
        assert greeting.refused.code == "E-LNK-013"
    assert [row.state for row in floor.store.journals.values()].count("proposed") == 4
    assert len(floor.store.alarms) == 4
    floor.check()


def test_a_new_journal_may_follow_a_halted_one() -> None:
    floor = Floor(pool(terms()))
    refused(floor.tell("T1", Claimed(1, (Claim(1, "royal flush", 100),))))
    old = journal_of(floor)
    floor.tables["T1"] = Table("T1", "cd" * 16)
    floor.hello("T1")
    floor.order(Accept("cd" * 16), ANNA)
    floor.order(Accept("cd" * 16), BEN)
    assert floor.store.journals[old].state == "retired"
    assert floor.hello("T1").refused is None
    floor.check()


def test_a_known_journal_stays_with_its_table() -> None:
    floor = Floor()
    said = floor.tables["T1"].hello(table="T2")
    greeting = floor.ledger.hello("T2", said, 0)
    assert greeting.refused is not None
    assert greeting.refused.code == "E-LNK-013"


# --- retired --------------------------------------------------------------------------------------


def test_two_people_retire_a_journal_and_nothing_more_is_taken() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1)
    journal = floor.tables["T1"].journal
    assert refusal(floor, Retire(journal, "new card"), ANNA).code == "E-POOL-023"
    floor.order(Retire(journal, "new card"), (ANNA, BEN))
    assert refused(floor.bet("T1", 2, 1)).code == "E-LNK-021"
    told = floor.hello("T1").refused
    assert told is not None
    assert (told.code, told.text, told.halted) == ("E-LNK-021", "retired: new card", False)
    assert refusal(floor, Retire(journal, "again"), (ANNA, BEN)).code == "E-POOL-026"
    floor.check()


def test_a_journal_with_an_award_that_waits_is_not_retired() -> None:
    floor = Floor()
    award = floor.hit("T1", 1).awards[0].award
    journal = floor.tables["T1"].journal
    assert refusal(floor, Retire(journal, "new card"), (ANNA, BEN)).code == "E-POOL-026"
    floor.order(Reject(award, "no hand"), BOTH)
    floor.order(Retire(journal, "new card"), (ANNA, BEN))
    assert floor.store.journals[journal].state == "retired"
    floor.check()


# --- the record that the server knew last ---------------------------------------------------------


def test_a_hello_is_asked_for_the_record_known_before() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    floor.bet("T1", 1, 1)
    known, digest = table.seq, table.head
    assert floor.hello("T1").seq == 0  # the end is the one known
    grown = {"seq": known + 5, "head": OTHER}
    assert floor.hello("T1", **grown).seq == known
    assert floor.hello("T1", seq=known + 9, head=OTHER).seq == known  # until it is told
    told = floor.ledger.checkpoint("T1", table.journal, Checkpoint(known, digest, 1), 1)
    assert told == [("T1", Noted(known))]
    assert floor.hello("T1", seq=known + 9, head=OTHER).seq == 0


def test_another_hash_for_the_record_known_before_is_a_fork() -> None:
    floor = Floor()
    table = floor.tables["T1"]
    floor.bet("T1", 1, 1)
    assert floor.hello("T1", seq=table.seq + 5, head=OTHER).seq == table.seq
    ((_, told),) = floor.ledger.checkpoint("T1", table.journal, Checkpoint(table.seq, OTHER, 1), 1)
    assert isinstance(told, ServerRefused)
    assert (told.code, told.halted) == ("E-LNK-030", True)
    assert refused(floor.bet("T1", 2, 1)).code == "E-LNK-015"


# --- the same number and hash, another body -------------------------------------------------------


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("later", [0, 20])
def test_another_body_under_the_same_number_and_hash_halts_the_journal(
    restarted: bool, later: int
) -> None:
    """Also when the ledger no longer remembers the event, and after a restart."""
    floor = Floor()
    floor.bet("T1", 1, 1)
    for number in range(2, 2 + later):
        floor.bet("T1", number, 1)
    if restarted:
        floor.start()
    event = floor.tables["T1"].sent[0]
    told = floor.send("T1", msgspec.structs.replace(event, body=Contributed(1, (Wager(2, 100),))))
    assert (refused(told).code, refused(told).halted) == ("E-LNK-030", True)
    assert "two bodies" in refused(told).text
    floor.check()


def test_another_body_in_the_same_group_is_found_too() -> None:
    floor = Floor()
    floor.grouped = False
    floor.bet("T1", 1, 1)
    event = floor.tables["T1"].sent[0]
    told = floor.send("T1", msgspec.structs.replace(event, body=Contributed(1, (Wager(2, 100),))))
    assert refused(told).code == "E-LNK-030"
    floor.commit()
    floor.check()


@pytest.mark.parametrize("restarted", [False, True])
def test_the_same_body_in_other_bytes_is_the_same(restarted: bool) -> None:
    floor = Floor()
    floor.bet("T1", 1, 1)
    if restarted:
        floor.start()
    event = floor.tables["T1"].sent[0]
    spaced = b'{ "what":"contributed","round":1, "wagers":[[1,100]] }'
    ((_, ack),) = floor.ledger.take("T1", floor.tables["T1"].journal, event, floor.now_ms, spaced)
    assert ack == Ack(1)
