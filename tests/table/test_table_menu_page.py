"""The printed menu table is what the engine does, cell by cell."""

from __future__ import annotations

import pytest

from controller.croupier import DEALER_AT_TABLE, SUPERVISOR
from controller.rules.engine import facts as f
from controller.rules.engine.phases import TABLE
from controller.rules.engine.state import Phase
from controller.rules.engine.step import step
from controller.table.menu import MENU
from docs import menu_page
from tests.clauses.tables import base, table
from tests.rules.test_owed import STAGES
from tests.table.finger import Finger, Table, finger
from tests.table.test_table_console import CODES

FACTS = {entry.split()[0]: what for entry, what in CODES if isinstance(what, f.What)}


def test_every_code_has_a_row_and_a_way_to_undo_it() -> None:
    assert [row[0] for row in menu_page.rows()] == list(MENU)
    assert set(menu_page.UNDO) == set(MENU)


@pytest.mark.parametrize("code", FACTS)
def test_a_code_is_refused_in_every_phase_that_its_row_does_not_name(code: str) -> None:
    for stage, make in STAGES.items():
        state = make("NSW").state
        by = DEALER_AT_TABLE if menu_page.who(code) == "dealer" else SUPERVISOR
        _, effects = step(state, f.Fact(FACTS[code], by, 1000))
        reason = getattr(effects[0], "reason", "") if effects else ""
        named = state.phase in menu_page.phases_of(code, "let it ride")
        assert (": not while " in reason) is not named, (stage, reason)


@pytest.mark.parametrize("code", [c for c in FACTS if menu_page.who(c) != "dealer"])
def test_a_dealer_cannot_declare_what_is_a_supervisors(code: str) -> None:
    state = STAGES["opened"]("NSW").state
    after, effects = step(state, f.Fact(FACTS[code], DEALER_AT_TABLE, 1000))
    assert after is state
    assert " needs a " in effects[0].reason  # type: ignore[union-attr]


def occupied() -> Finger:
    hand = finger(table("NSW", {2: "TcTd7h"}, "4s5s"), {2: base(1000)})
    hand.play()
    return hand


def closed(table_: Table) -> bool:
    return table_.core.table_closed


@pytest.mark.clause("NSW-14.8")
@pytest.mark.parametrize("code", ["84", "85"])
def test_a_table_with_players_is_closed_only_after_its_sign_stood_twenty_minutes(code: str) -> None:
    table_ = occupied().table
    table_.turn_key(True)
    table_.menu(code)
    assert table_.lines[2] == "SIGN 20 MIN BEFORE"
    table_.menu("72", 2)
    table_.wait(19 * 60 * 1_000_000)
    table_.menu(code)
    assert closed(table_) is False
    table_.wait(60 * 1_000_000)
    table_.menu(code)
    assert closed(table_) is True
    table_.menu("83")
    assert table_.core.state.signs == {}


def test_end_calls_off_a_round_in_which_nobody_bets() -> None:
    hand = finger(table("NSW", {2: "TcTd7h"}, "4s5s"), {})
    while hand.table.phase() is not Phase.BETTING:
        hand.do(hand.words[0])
    assert hand.words == ["WAIT", "END"]
    hand.table.press("END")
    assert hand.table.phase() is Phase.IDLE


def test_both_families_are_printed() -> None:
    assert set(TABLE) == {"let it ride", "ricochet"}
