"""The gaming day at the table: closed between rounds only, and owed after a power cut."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from controller.history.errors import ReplayError
from controller.history.gamingday import fold
from controller.history.gamingday.sheet import Day, Money
from controller.history.table_log import TableLog
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from record.rounds import ending
from tests.clauses.tables import base, table
from tests.controller.history.desk import GAMES, Desk, clear, desk, opening_of, random_desk
from tests.paper import Paper, Row, cards, tell


def close(live: Desk) -> None:
    """The closing sign has stood 20 minutes, which an occupied NSW table needs."""
    table = live.hand.table
    if table.state.rules.book.closing_clause:
        table.menu("72", 2)
        table.wait(20 * 60 * 1_000_000)
    table.as_supervisor("85")


def recounted(rows: list[Row]) -> Day:
    day = Day()
    for row in rows:
        day = fold.take(day, row)
    return day


def posted(live: Desk, kind: type[Any]) -> Money:
    found = [e for e in live.hand.table.core.outbox if isinstance(e, kind)]
    parts = [cents for effect in found for _, cents in effect.cents]
    return Money(len(parts), sum(parts))


@pytest.mark.parametrize(("game", "device"), GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_the_day_is_what_the_rounds_were(game: str, device: str, seed: int) -> None:
    """Random rounds with irregularities: the sums are those of the results and of the effects."""
    live = random_desk(game, device, seed, rounds=3)
    day, history = live.table_log.memory.day, live.state.history
    assert day == recounted(live.paper.rows)
    assert (day.unread, day.unbalanced.count) == (0, 0)
    assert day.rounds.settled + day.rounds.void + day.rounds.held == len(history)
    assert day.rounds.void == sum(ending(a.record, a.result) == "void" for a in history)
    assert day.hands.played + day.hands.void <= sum(len(a.result["seats"]) for a in history)
    nets = [a.current[1]["house_net"] for a in history]
    if None not in nets:
        assert fold.total(day).house_net + live.state.carried == sum(nets)
    for one in day.wagers.values():
        assert one.staked == one.returned + one.paid + one.held + one.house
    if live.state.rules.book.progressive is not None:
        assert day.progressive.posted == posted(live, fx.PostContributions)
        assert day.progressive.reversed == posted(live, fx.ReverseContributions)


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_the_power_goes_at_any_record_and_the_day_is_the_same(game: str, device: str) -> None:
    live = random_desk(game, device, 1, rounds=2)
    close(live)
    rows = live.paper.rows
    assert [row.kind for row in rows[-2:]] == ["table-call", "day"]
    for cut in range(1, len(rows) + 1):
        back = live.back(rows[:cut])
        assert back.memory.day == recounted(rows[:cut]), cut
        if cut == len(rows) - 1:
            assert back.missing == (("day", rows[-1].body),)
            assert back.table_closed
    assert live.back().memory.day.number == 2


def test_a_day_that_the_power_cut_took_is_written_by_the_next_start() -> None:
    live = random_desk("MBS3", "shoe", 2, rounds=1)
    close(live)
    rows = live.paper.rows[:-1]
    repaired = Row(len(rows) + 1, "repair", b"{}", 9, b"r" * 32)
    back = live.back([*rows, repaired])
    paper = Paper([*rows, repaired])
    table_log = TableLog(back.memory, paper, cards(), lambda: 77)
    table_log.write(list(back.missing))
    assert paper.rows[-1].kind == "day"
    assert paper.rows[-1].body == live.paper.rows[-1].body
    assert live.back(paper.rows).memory.day.first_seq == len(paper.rows) + 1


def test_a_day_that_is_not_what_the_records_make_is_refused() -> None:
    live = random_desk("MBS3", "shoe", 2, rounds=1)
    close(live)
    rows = live.paper.rows
    body = json.loads(rows[-1].body)
    body["total"]["house_net"] += 1
    wrong = replace(rows[-1], body=json.dumps(body).encode())
    with pytest.raises(ReplayError) as refused:
        live.back([*rows[:-1], wrong])
    assert (refused.value.code, refused.value.seq) == ("E-RPL-003", wrong.seq)
    tell(live.table_log, f.Fact(f.DeckShuffled("red"), f.Measured("shoe"), 9), None)
    with pytest.raises(ReplayError) as refused:
        live.back([*rows[:-2], live.paper.rows[-1]])
    assert refused.value.code == "E-RPL-004"


def test_a_start_needs_nothing_from_before_the_snapshot() -> None:
    live = random_desk("MEGA", "shoe", 3, rounds=2)
    live.table_log.write_snapshot()
    close(live)
    blank = [replace(r, body=b"?") if r.kind == "fact" else r for r in live.paper.rows]
    assert live.back(blank).memory.day == live.table_log.memory.day
    assert live.back(whole=True).memory.day == live.table_log.memory.day
    stands = next(i for i, r in enumerate(blank) if r.kind == "standing" and i)
    body = json.loads(blank[stands].body)
    body["day"]["hands"]["tips"] = 5
    blank[stands] = replace(blank[stands], body=json.dumps(body).encode())
    with pytest.raises(ReplayError, match="E-ENT-006"):
        live.back(blank)


def test_closed_between_rounds_only_and_with_the_key() -> None:
    live = desk(table("MBS3"), opening_of("MBS3"), {2: base(1000)})
    made, hand = live.hand.table, live.hand
    made.menu("85")
    assert made.lines[2] == "TURN THE KEY"
    made.menu("36", 1)
    made.press("OPEN")
    made.as_supervisor("85")
    assert made.lines[2] == "END THE ROUND FIRST"
    assert live.is_in(Phase.BETTING)
    assert "day" not in [row.kind for row in live.paper.rows]
    hand.play()
    made.as_supervisor("85")
    assert made.lines[0] == "GAMING DAY IS CLOSED"
    assert made.lines[3] == "KEY MENU 83"
    first = json.loads(live.paper.rows[-1].body)
    assert (first["number"], first["rounds"]["settled"], first["hands"]["played"]) == (1, 1, 1)
    assert first["wagers"]["$"]["staked"] == 1000
    made.press("OPEN")
    assert made.lines[2] == "TABLE IS CLOSED"
    made.as_supervisor("83")
    assert made.lines[2] == "SHUFFLE RED"
    clear(made)
    assert live.table_log.memory.day.number == 2
