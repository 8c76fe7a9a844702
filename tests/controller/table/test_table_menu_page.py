"""The printed menu table has every code; closing an occupied table, and calling a round off."""

from __future__ import annotations

import pytest

from controller.rules.engine.phases import TABLE
from controller.rules.engine.state import Phase
from controller.table.menu import MENU
from docs import menu_page
from tests.clauses.tables import base, table
from tests.controller.table.console_player import ConsolePlayer, Table, console_player


def test_every_code_has_a_row_and_a_way_to_undo_it() -> None:
    assert [row[0] for row in menu_page.rows()] == list(MENU)
    assert set(menu_page.UNDO) == set(MENU)


def occupied() -> ConsolePlayer:
    hand = console_player(table("NSW", {2: "TcTd7h"}, "4s5s"), {2: base(1000)})
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
    hand = console_player(table("NSW", {2: "TcTd7h"}, "4s5s"), {})
    while hand.table.phase() is not Phase.BETTING:
        hand.do(hand.words[0])
    assert hand.words == ["WAIT", "END"]
    hand.table.press("END")
    assert hand.table.phase() is Phase.IDLE


def test_both_families_are_printed() -> None:
    assert set(TABLE) == {"let it ride", "ricochet"}
