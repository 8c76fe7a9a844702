"""Open alarms: one for each code and table, silent once acknowledged, armed again once clear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from link.rows import AlarmRow
from link.server.alarm_board import (
    MOST_ABOUT,
    MOST_OPEN,
    OLD_MS,
    QUIET_MS,
    Acknowledged,
    AlarmBoard,
    Attended,
    about,
    no_table,
)

MINUTE = 60_000


def row(number: int, at_ms: int, code: str = "E-LNK-042", table: str = "") -> AlarmRow:
    return AlarmRow(number, code, table, f"text {number}", at_ms, number)


def test_rows_of_one_kind_are_one_alarm() -> None:
    board = AlarmBoard()
    assert board.raised(row(1, 0))
    assert board.raised(row(2, 5))
    assert board.raised(row(3, 6, table="table-1"))
    assert [(one.alarm, one.count, one.last_ms) for one in board.shown()] == [(3, 1, 6), (1, 2, 5)]


def test_an_acknowledged_alarm_is_silent_until_it_clears_and_then_armed_again() -> None:
    board = AlarmBoard()
    board.raised(row(1, 0))
    assert board.acknowledge(1, Acknowledged("k.lee", "known", 10))
    assert not board.raised(row(2, 20))
    assert not board.refresh(QUIET_MS)  # the second row was later
    assert board.refresh(20 + QUIET_MS)
    assert board.raised(row(3, QUIET_MS + MINUTE))
    assert [(one.alarm, one.acknowledged) for one in board.shown()] == [(3, None)]


def test_an_alarm_whose_cause_is_seen_clears_with_it() -> None:
    board = AlarmBoard()
    board.raised(row(1, 0, table="table-1"))
    assert not board.refresh(10 * OLD_MS, lambda _code, _table: True)
    assert board.refresh(10 * OLD_MS, lambda _code, _table: None)
    assert not board.shown()


def test_an_alarm_that_nobody_saw_stays_for_a_day() -> None:
    board = AlarmBoard()
    board.raised(row(1, 0))
    assert not board.refresh(OLD_MS - 1)
    assert board.refresh(OLD_MS)


def test_it_is_bounded() -> None:
    board = AlarmBoard()
    for number in range(1, MOST_OPEN + 10):
        board.raised(row(number, number, table=f"table-{number}"))
    assert len(board.shown()) == MOST_OPEN
    assert board.shown()[0].alarm == MOST_OPEN + 9


# --- about accounts, users and addresses ---------------------------------------------------------


def wrong(number: int, at_ms: int, subject: str, code: str = "E-ACT-002") -> AlarmRow:
    return AlarmRow(number, code, "", f"{subject}: 5 wrong passwords", at_ms, number)


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("account k.lee", "account k.lee: 5 wrong passwords, last from user 0 of this machine"),
        ("user 1000 of this machine", "user 1000 of this machine: 5 wrong passwords"),
        ("address fe80::1", "address fe80::1: handshake refused: no key"),
        ("", "5 wrong passwords for account k.lee, last from user 0 of this machine"),
        ("", "the clock is 60 s behind the last record: set it right"),
    ],
)
def test_a_text_begins_with_whom_it_is_about(subject: str, text: str) -> None:
    assert about(AlarmRow(1, "E-ACT-002", "", text, 0, 1)) == subject
    assert not about(AlarmRow(1, "E-ACT-002", "table-1", text, 0, 1))


def test_who_acknowledged_one_account_has_not_acknowledged_another() -> None:
    board = AlarmBoard()
    assert board.raised(wrong(1, 0, "account bob"))
    board.acknowledge(1, Acknowledged("k.lee", "forgot it", 10))
    assert board.raised(wrong(2, 20, "account alice"))
    assert not board.raised(wrong(3, 30, "account bob"))
    assert [(one.about, one.count, bool(one.acknowledged)) for one in board.shown()] == [
        ("account alice", 1, False),
        ("account bob", 2, True),
    ]


def test_many_addresses_push_out_only_their_like() -> None:
    board = AlarmBoard()
    board.raised(row(1, 0, "E-LNK-017", "table-1"))
    board.raised(wrong(2, 1, "account bob"))
    board.raised(row(3, 2))  # of the same code as the addresses, and about nobody
    for number in range(4, 4 + MOST_OPEN):
        assert board.raised(wrong(number, number, f"address 10.0.0.{number}", "E-LNK-042"))
        board.acknowledge(5, Acknowledged("k.lee", "known", 10))
        oldest = board.find(4)
        assert (oldest is None) == (number > 4 + MOST_ABOUT), "acknowledged ones give way first"
    assert len([one for one in board.shown() if one.about]) == 1 + MOST_ABOUT
    assert {1, 2, 3} <= {one.alarm for one in board.shown()}


Act = tuple[int, str]
ACTS = st.lists(st.tuples(st.integers(0, 3 * QUIET_MS), st.sampled_from("abcdABCD")), max_size=30)


def acknowledged(event: int, at_ms: int, alarm: int) -> Attended:
    return Attended(event, at_ms, alarm, Acknowledged("k.lee", "known", at_ms))


@given(ACTS)
def test_after_a_restart_the_board_is_as_it_was(acts: list[Act]) -> None:
    """Small letters raise, capital ones acknowledge what is open of that kind. Two of them are one
    code about two accounts."""
    codes = {"a": "a", "b": "b", "c": "E", "d": "E"}
    board, rows, said, now = AlarmBoard(), list[AlarmRow](), list[Attended](), 0
    for event, (pause, kind) in enumerate(acts):
        now += pause
        board.refresh(now)
        if kind.islower():
            made = AlarmRow(len(rows) + 1, codes[kind], "", f"account {kind}: text", now, event)
            subject = f"account {kind}"
            silent = any(one.about == subject and one.acknowledged for one in board.shown())
            assert board.raised(made) is not silent
            rows.append(made)
            continue
        for one in board.shown():
            if one.about == f"account {kind.lower()}" and one.acknowledged is None:
                said.append(acknowledged(event, now, one.alarm))
                board.attend(said[-1], no_table)
    again = AlarmBoard().rebuild(rows, said)
    again.refresh(now)
    assert again.shown() == board.shown()


# --- journals, after a restart --------------------------------------------------------------------


def halted(number: int, at_ms: int) -> AlarmRow:
    return AlarmRow(number, "E-LNK-017", "table-1", "halted", at_ms, 10 * number)


def table_of(journal: str) -> str:
    return {"j1": "table-1", "j2": "table-2"}.get(journal, "")


def resumed(event: int, journal: str = "j1") -> Attended:
    return Attended(event, event, journal=journal, resumed=True)


def test_a_resumed_journal_clears_the_alarms_of_its_table() -> None:
    rows = [halted(1, 10), row(2, 20)]
    assert [one.alarm for one in AlarmBoard().rebuild(rows, [], table_of).shown()] == [2, 1]
    for journal, left in (("j1", [2]), ("j2", [2, 1]), ("j3", [2, 1])):
        board = AlarmBoard().rebuild(rows, [resumed(30, journal)], table_of)
        assert [one.alarm for one in board.shown()] == left


def test_who_acknowledged_one_halt_has_not_acknowledged_the_next() -> None:
    """Resumed in between; or retired and another journal accepted, which the record does not tell
    from a decision about a journal that was never halted."""
    for decided in (resumed(15), Attended(15, 15, journal="j1")):
        acts = [acknowledged(12, 12, 1), decided]
        board = AlarmBoard().rebuild([halted(1, 10), halted(2, 20)], acts, table_of)
        assert [(one.alarm, one.acknowledged) for one in board.shown()] == [(2, None)]


def test_what_may_be_over_stays_open_until_it_is_raised_again() -> None:
    board = AlarmBoard().rebuild([halted(1, 10)], [Attended(15, 15, journal="j1")], table_of)
    assert [one.alarm for one in board.shown()] == [1]
    assert board.raised(halted(2, 20))
    assert [(one.alarm, one.count) for one in board.shown()] == [(2, 1)]


def test_a_journal_that_is_still_halted_stays_on_the_board() -> None:
    later = row(2, 2 * OLD_MS)
    rows, acts = [halted(1, 10), later], [acknowledged(12, 12, 1)]

    def stands(_code: str, table: str) -> bool | None:
        return True if table == "table-1" else None

    assert [one.alarm for one in AlarmBoard().rebuild(rows, acts, table_of).shown()] == [2]
    board = AlarmBoard().rebuild(rows, acts, table_of, stands)
    assert [(one.alarm, bool(one.acknowledged)) for one in board.shown()] == [(2, False), (1, True)]
    # The cause that stands may be a later one: that is nobody's word about it.
    again = AlarmBoard().rebuild([*rows, halted(3, 2 * OLD_MS)], acts, table_of, stands)
    assert [(one.alarm, one.acknowledged) for one in again.shown()] == [(3, None), (2, None)]
