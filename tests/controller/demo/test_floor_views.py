"""From rows of the sockets to words on the screen; and what the demonstration's people do when."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controller.demo import views
from controller.demo.screen import FloorNote, TableView
from controller.demo.views import (
    AlarmRow,
    AwardRow,
    EventRow,
    MeterRow,
    StepRow,
    last_hand,
    meter_view,
    note_of_alarm,
    note_of_event,
    note_of_step,
    signed,
    table_view,
)

STATUS: dict[str, Any] = {
    "phase": "settlement",
    "round": 9,
    "progressive": True,
    "link": {"state": "open", "waiting": 2},
    "devices": {"shoe": {"state": "ready"}, "prompt": {"state": "lost"}},
    "prompt": ["SETTLEMENT       R 9", "SEAT 4 PAY    175.00", "", "PAID"],
    "troubles": [{"level": "note", "code": "E-X-1", "about": "a", "what": "b", "do": "c"}],
}
AWARD: AwardRow = {
    "award": "mbs3/2/2", "table": "mbs3", "round": 12, "seat": 3, "hand": "", "percent": 0,
    "cents": 2_180, "state": "locked",
}  # fmt: skip
STEP: StepRow = {
    "award": "mbs3/2/2", "step": 1, "event": 1, "state": "locked", "by": "link", "role": "",
    "at_ms": 1_000,
}  # fmt: skip


def clock(at_ms: int) -> str:
    return f"t{at_ms}"


def event(table: str = "mega", **body: Any) -> EventRow:
    return {"id": 1, "table": table, "received_ms": 5, "body": json.dumps(body)}


def played(status: str = "settled", awards: tuple[Any, ...] = (), ruled: str = "") -> EventRow:
    wagers = {"$": {"status": "win"}}
    events = [{"type": "supervisor_confirmed", "by": "S1", "what": ruled}] if ruled else []
    record = {"round": {"events": events}}
    seats = [
        {"seat": 2, "net": 4_000, "hand": "two pair", "wagers": wagers},
        {"seat": 4, "net": 6_100, "hand": "flush", "wagers": wagers},
        {"seat": 5, "net": -3_000, "hand": "high card", "wagers": wagers},
    ]
    result = {"round_status": status, "house_net": -7_100, "seats": seats}
    return event(what="round", round=9, record=record, result=result, awards=list(awards))


def test_a_tables_status_in_one_line() -> None:
    seen = table_view("mega", "MEGA", STATUS)
    assert seen == TableView(
        "mega", "Megalink", "settlement", 9, True, "open", 2, 1, 2, tuple(STATUS["prompt"])
    )
    assert table_view("mega", "MEGA", {}) == TableView("mega", "Megalink")
    by = {"uid": 1000, "user": "mia", "role": "technician", "cards": False}
    assert table_view("mega", "MEGA", {**STATUS, "test_mode": by}).phase == "TEST MODE"


def test_what_is_degraded_is_said_and_a_note_is_not() -> None:
    ill = {"level": "degraded", "code": "E-TBL-003", "about": "link", "what": "no heartbeat"}
    assert table_view("mega", "MEGA", STATUS).trouble == ""
    seen = table_view("mega", "MEGA", {**STATUS, "troubles": [*STATUS["troubles"], ill]})
    assert seen.trouble == "E-TBL-003 link: no heartbeat"


def test_a_settled_round_names_its_biggest_winner_and_what_the_progressive_paid() -> None:
    told = "hand 9 settled, house -71.00; seat 4 wins 61.00 with flush"
    assert note_of_event(played(), clock) == FloorNote(5, "t5", "mega", told)
    with_award = note_of_event(played(awards=([4, "magic card", 1_500],)), clock)
    assert with_award == FloorNote(5, "t5", "mega", told + "; magic card pays 15.00", "hit")
    assert last_hand(played()) == "-71.00"


def test_rounds_that_were_not_settled() -> None:
    assert note_of_event(played("void"), clock) == FloorNote(
        5, "t5", "mega", "hand 9: void", "alarm"
    )
    assert last_hand(played("supervisor")) == "ruled on"
    assert last_hand(played(ruled="play on: a card was exposed")) == "-71.00"
    assert last_hand(played(ruled="void: a card was exposed")) == "void"
    assert note_of_event(played("supervisor", ruled="void: a card fell"), clock) == (
        FloorNote(5, "t5", "mega", "hand 9: void", "alarm")
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"what": "contributed", "round": 9, "wagers": [[1, 100, 1]]}, None),
        (
            {"what": "reversed", "round": 9, "wagers": [[1, 100, 1], [3, 300, 3]]},
            "hand 9: 4.00 of progressive wagers taken back",
        ),
        (
            {"what": "claimed", "round": 9, "claims": [[1, "royal flush", 100]]},
            "hand 9 claims the jackpot: seat 1 royal flush, 100 %",
        ),
        ({"what": "withdrawn", "round": 9, "seats": [1]}, "hand 9: the claim is withdrawn"),
    ],
)
def test_other_events(body: dict[str, Any], text: str | None) -> None:
    note = note_of_event(event(**body), clock)
    assert (note.text if note else None) == text
    assert last_hand(event(**body)) == ""


def test_an_order_of_the_server_is_no_tables_event() -> None:
    assert note_of_event(event(table="", what="open"), clock) is None
    assert last_hand(event(table="", what="round")) == ""


def test_an_awards_way() -> None:
    locked = note_of_step(STEP, AWARD, clock)
    assert locked.text == "JACKPOT $ 21.80 mystery, hand 12 seat 3: mbs3/2/2 locked"
    flush: AwardRow = {**AWARD, "percent": 10, "hand": "straight flush"}
    assert note_of_step(STEP, flush, clock).text.startswith("JACKPOT $ 21.80 straight flush, ")
    first: StepRow = {**STEP, "state": "verified", "by": "sue", "role": "supervisor"}
    assert note_of_step(first, AWARD, clock, before="locked").text == (
        "mbs3/2/2 $ 21.80 verified by sue"
    )
    assert note_of_step(first, AWARD, clock, before="verified").text == (
        "mbs3/2/2 $ 21.80 approved by sue; one more approval needed"
    )
    paid: StepRow = {**STEP, "state": "paid", "by": "max", "role": "manager"}
    assert note_of_step(paid, AWARD, clock).text == "mbs3/2/2 $ 21.80 paid by max"


def test_alarms_meters_and_signs() -> None:
    row: AlarmRow = {
        "id": 1,
        "at_ms": 7,
        "code": "E-LNK-042",
        "table": "",
        "text": "an unknown key",
    }
    assert note_of_alarm(row, clock) == FloorNote(
        7, "t7", "link", "E-LNK-042 an unknown key", "alarm"
    )
    told: MeterRow = {"pool": "mbs3", "level": "mini", "cents": 2_180, "generation": 2}
    seen = meter_view(told, {("mbs3", "mini"): 2_200})
    assert (seen.cents, seen.generation, seen.pending, seen.must_hit_cents) == (2_180, 2, 0, 2_200)
    assert [signed(cents) for cents in (1, 0, -1, None)] == ["+0.01", "0.00", "-0.01", "open"]


# --- people --------------------------------------------------------------------------------------


def test_each_step_is_due_some_time_after_the_one_before_by_the_right_people() -> None:
    for state, what, by in (
        ("locked", "verify", ("sue",)),
        ("verified", "approve", ("sue", "max")),
        ("approved", "pay", ("max",)),
    ):
        steps: list[StepRow] = [STEP, {**STEP, "at_ms": 2_000}]
        assert views.due([{**AWARD, "state": state}], steps) == [(what, "mbs3/2/2", by, 17_000)]


def test_the_staff_leave_an_award_to_the_visitor_who_took_a_step() -> None:
    verified: StepRow = {**STEP, "step": 2, "state": "verified", "by": "vera", "at_ms": 2_000}
    (one,) = views.due([{**AWARD, "state": "verified"}], [STEP, verified])
    assert one.at_ms == 182_000


@pytest.mark.parametrize("state", ["claimed", "paid", "rejected", "withdrawn"])
def test_nothing_is_due_where_nobody_has_to_act(state: str) -> None:
    assert views.due([{**AWARD, "state": state}], [STEP]) == []


def test_the_oldest_comes_first() -> None:
    other: AwardRow = {**AWARD, "award": "mega/1/1"}
    steps: list[StepRow] = [{**STEP, "at_ms": 9_000}, {**STEP, "award": "mega/1/1", "at_ms": 8_000}]
    assert [one.award for one in views.due([AWARD, other], steps)] == ["mega/1/1", "mbs3/2/2"]


def test_a_pending_award_says_who_when_and_how() -> None:
    one = views.DueStep("approve", "mbs3/2/2", ("sue", "max"), 10_000)
    passwords = {"vera": ".demo/vera.password", "victor": ".demo/victor.password"}
    told = views.pending(
        one, AWARD, 2_500, command="underfelt", config="link.toml", passwords=passwords, bots=True
    )
    assert told.text == (
        "mbs3/2/2 $ 21.80: sue (supervisor) and max (manager) approve in 8 s, or you:"
    )
    assert told.command == (
        "underfelt jackpot approve mbs3/2/2 --by vera --password-file .demo/vera.password "
        "--by victor --password-file .demo/victor.password --config link.toml"
    )
    pay = views.DueStep("pay", "mbs3/2/2", ("max",), 0)
    alone = views.pending(
        pay, AWARD, 0, command="underfelt", config="l", passwords=passwords, bots=False
    )
    assert alone.text == "mbs3/2/2 $ 21.80: max (manager) must pay:"
    assert alone.command.startswith("underfelt jackpot paid mbs3/2/2 --by victor ")
