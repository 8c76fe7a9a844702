"""Chips: what a tag is worth, the closing call as a sweep, and sensors that are gone."""

from __future__ import annotations

import pytest

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.facts import Declared, Role
from controller.rules.engine.state import Phase
from controller.table.spots import SeatMap
from drivers.base import DeviceState, Fault, StateReported
from drivers.orders import SweepAntennas
from drivers.readings import (
    Antenna,
    CardEvent,
    SpotLost,
    SpotMoving,
    SpotSettled,
    SweepAgreed,
    TagOnTwoSpots,
    Uid,
)
from tests.clauses.tables import base, table
from tests.controller.table.console_player import (
    ConsolePlayer,
    FakeChip,
    Table,
    console_player,
    nets,
)

WAGERS = {2: base(1000), 5: base(500)}


def betting(game: str = "MBS3", *, placed: bool = True) -> ConsolePlayer:
    hand = console_player(table(game, {2: "TcTd7h", 5: "2c3d9h"}, "4s5s"), WAGERS)
    while not hand.table.lines[0].startswith("BETS OPEN"):
        hand.do(hand.words[0])
    if placed:
        hand.bet()
    return hand


def wagers(table_: Table) -> list[f.What]:
    return [w for w in table_.facts if isinstance(w, f.WagerRead)]


# --- the map -----------------------------------------------------------------------------------


def test_the_layout_names_antennas_and_spots() -> None:
    found = SeatMap.from_layout({"chips-1": {"1/3": "1/$"}, "chips-2": {"8/1": "0/pot"}})
    assert found.spot(Antenna("chips-1", 1, 3)) == (1, "$")
    assert found.antenna((0, "pot")) == Antenna("chips-2", 8, 1)
    assert found.spot(Antenna("chips-1", 1, 4)) is None
    assert found.readers == {"chips-1", "chips-2"}


@pytest.mark.parametrize(
    ("place", "spot"), [("1", "1/1"), ("16/1", "1/1"), ("1/9", "1/1"), ("1/1", "8/1"), ("1/1", "1")]
)
def test_a_place_that_cannot_be_is_refused(place: str, spot: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        SeatMap.from_layout({"chips-1": {place: spot}})


def test_a_spot_has_one_antenna() -> None:
    with pytest.raises(ValueError, match="two antennas"):
        SeatMap.from_layout({"chips-1": {"1/1": "1/1", "1/2": "1/1"}})


# --- values ------------------------------------------------------------------------------------


def test_a_stack_is_worth_the_sum_of_its_tags_and_only_a_change_is_a_fact() -> None:
    table_ = betting(placed=False).table
    tags = frozenset((table_.tag(FakeChip(2500)), table_.tag(FakeChip(500))))
    table_.lay(3, "1", tags)
    exchanged = frozenset((table_.tag(FakeChip(3000)),))
    table_.lay(3, "1", exchanged)
    assert wagers(table_) == [f.WagerRead(3, "1", 3000)]
    assert table_.said_by[-1][1] == f.Measured("chips")
    table_.lay(3, "1", frozenset())
    assert wagers(table_)[-1] == f.WagerRead(3, "1", 0)


@pytest.mark.parametrize(
    ("chip", "told"),
    [
        (None, "SEAT 3: NO CHIP"),
        (FakeChip(2500, status="stolen"), "SEAT 3: STOLEN CHIP"),
        (FakeChip(2500, status="retired"), "SEAT 3: OLD CHIP"),
        (FakeChip(2500, house="THEIRS"), "SEAT 3: FOREIGN"),
        (FakeChip(2500, kind="promo"), "SEAT 3: NO PROMO"),
    ],
)
def test_a_tag_that_is_no_live_chip_never_counts_and_is_told(
    chip: FakeChip | None, told: str
) -> None:
    table_ = betting(placed=False).table
    bad = Uid("E004FFFF00000000") if chip is None else table_.tag(chip)
    table_.lay(3, "1", frozenset((bad, table_.tag(FakeChip(500)))))
    assert wagers(table_) == [f.WagerRead(3, "1", 500)]
    assert table_.lines[0] == told
    assert table_.lamps[2] == "fault"
    alarms = [e for e in table_.core.outbox if isinstance(e, fx.RaiseAlarm)]
    assert [(a.code.split()[0], a.seat) for a in alarms] == [("tag", 3)]
    table_.lay(3, "1", frozenset())
    assert table_.lines[2] == "PLACE YOUR BETS"


def test_clear_takes_away_everything_that_reads_the_same() -> None:
    """Three spots, one line: a CLEAR that changes nothing looks like a key that failed."""
    table_ = betting(placed=False).table
    for number, spot in enumerate(("1", "2", "$")):
        table_.lay(3, spot, frozenset({Uid(f"E004FFFF0000000{number}")}))
    table_.lay(4, "1", frozenset({Uid("E004FFFF00000009")}))
    assert table_.lines[0] == "SEAT 4: NO CHIP"
    table_.press("CLEAR")
    assert table_.lines[0] == "SEAT 3: NO CHIP"
    table_.press("CLEAR")
    assert table_.lines[0] == "BETS OPEN        R 1"
    table_.press("CLEAR")
    assert table_.lines[0] == "BETS OPEN        R 1"


def test_promotional_tokens_count_in_the_nsw_book() -> None:
    table_ = betting("NSW", placed=False).table
    table_.lay(3, "1", frozenset((table_.tag(FakeChip(2500, kind="promo")),)))
    assert wagers(table_) == [f.WagerRead(3, "1", 2500)]


def test_a_tag_on_two_spots_counts_on_neither_until_one_is_clear() -> None:
    table_ = betting(placed=False).table
    uid = table_.tag(FakeChip(500))
    table_.lay(3, "1", frozenset((uid,)))
    table_.feed(TagOnTwoSpots(uid, (table_.antenna(3, "1"), table_.antenna(4, "2")), 0))
    assert wagers(table_)[-1] == f.WagerRead(3, "1", 0)
    assert table_.lines[0] == "SEAT 3: CHIP TWICE"
    table_.lay(4, "2", frozenset((table_.tag(FakeChip(100)),)))
    assert wagers(table_)[-2:] == [f.WagerRead(3, "1", 500), f.WagerRead(4, "2", 100)]


def test_a_copied_tag_does_not_lower_a_locked_wager() -> None:
    hand = betting()
    hand.do("CLOSE")
    table_ = hand.table
    (uid,) = table_.lies[table_.antenna(2, "1")]
    before = wagers(table_)
    table_.feed(TagOnTwoSpots(uid, (table_.antenna(2, "1"), table_.antenna(4, "2")), 0))
    assert wagers(table_) == before
    assert "tag double" in [e.code for e in table_.core.outbox if isinstance(e, fx.RaiseAlarm)]


# --- the closing call --------------------------------------------------------------------------


def test_close_orders_a_sweep_and_locks_only_when_it_agrees() -> None:
    hand = betting()
    table_ = hand.table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    pressed_ms = table_.now_us // 1000
    assert len(order.antennas) == 7 * 4
    assert table_.lines[2:] == ("READING THE CHIPS", "WAIT")
    assert f.BetsClosed() not in table_.facts
    table_.press("CLOSE")
    assert table_.lines[2] == "READING THE CHIPS"
    # The sweep finds a chip that did not lie there at the call: nobody can say when it came.
    antenna, before = table_.antenna(6, "$"), len(table_.facts)
    table_.lies[antenna] = frozenset((table_.tag(FakeChip(100)),))
    table_.now_us += 900_000
    table_.answer(order)
    assert len(table_.facts) == before
    assert table_.lines[1:] == ("SEAT 6", "CHIPS MOVED AT CLOSE", "CHIPS CLOSE MENU 24")
    # It settles and the call is made again: its wager is not valid, and line 4 says what to do.
    table_.feed(SpotSettled(antenna, table_.lies[antenna], table_.now_us))
    assert table_.told() == f.WagerRead(6, "$", 100)
    table_.sweeps = True
    table_.press("CLOSE")
    assert table_.lines[2:] == ("CORRECT OR LEAVE OUT", "CHIPS MENU 24")
    table_.put(6, "$", 0)
    table_.press("CLOSE")
    by = Declared("D1", Role.DEALER)
    assert table_.entries[-1][0] == f.Fact(f.BetsClosed(), by, table_.now_us // 1000)
    assert table_.now_us // 1000 > pressed_ms


def test_the_call_counts_from_its_press() -> None:
    table_ = betting().table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    pressed_ms = table_.now_us // 1000
    table_.now_us += 2_000_000
    table_.answer(order)
    assert table_.said_by[-1] == (f.BetsClosed(), Declared("D1", Role.DEALER), pressed_ms)


def test_chips_that_move_at_the_call_name_their_seat_and_the_call_is_made_again() -> None:
    table_ = betting().table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    moving = table_.antenna(5, "$")
    table_.feed(SpotMoving(moving, table_.now_us))
    table_.answer(order)
    assert table_.lines[1:] == ("SEAT 5", "CHIPS MOVED AT CLOSE", "CHIPS CLOSE MENU 24")
    assert table_.phase() is Phase.BETTING
    table_.lay(5, "$", frozenset((table_.tag(FakeChip(500)),)))
    assert table_.lines[3] == "CLOSE"
    table_.sweeps = True
    table_.press("CLOSE")
    assert table_.phase() is Phase.LOCKED


def test_a_seat_that_stays_uncertain_is_left_out() -> None:
    table_ = betting().table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    table_.answer(order, uncertain=(table_.antenna(5, "2"),))
    assert table_.lines[1] == "SEAT 5"
    table_.menu("24", 5)
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    table_.answer(order, uncertain=(table_.antenna(5, "2"),))
    assert table_.phase() is Phase.LOCKED
    assert list(table_.core.state.seats) == [2]


def test_a_card_drawn_during_the_sweep_is_told_after_it() -> None:
    hand = betting()
    table_ = hand.table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    assert table_.card(hand.deck.pop(), key=7) == []
    table_.answer(order)
    assert [type(w) for w in table_.facts[-2:]] == [f.BetsClosed, f.CardDrawn]
    assert table_.entries[-1][1] == ("shoe", 7)


def test_a_card_in_doubt_during_the_sweep_freezes_the_round_after_the_lock() -> None:
    table_ = betting().table
    table_.sweeps = False
    (order,) = [o for o in table_.press("CLOSE") if isinstance(o, SweepAntennas)]
    table_.feed(CardEvent("shoe", "misread", 1))
    table_.answer(order)
    assert table_.facts[-2:] == [f.BetsClosed(), f.UnknownCardSeen("misread", 1)]
    assert list(table_.core.state.seats) == [2, 5]


def test_a_sweep_that_never_answers_gives_the_held_card_to_the_engine_as_it_came() -> None:
    hand = betting()
    table_ = hand.table
    table_.sweeps = False
    table_.press("CLOSE")
    table_.card(hand.deck.pop())
    assert table_.core.wake_us == table_.now_us + 60_000_000
    table_.wait(60_000_000)
    assert type(table_.told()) is f.CardDrawn
    assert table_.lines[0] == "SENSORS SILENT"
    assert table_.lines[2:] == ("CARD OUT BEFORE CALL", "CLOSE DEAL")
    table_.press("CLOSE")
    assert table_.lines[3] == "DEAL"


def test_an_old_sweep_says_nothing() -> None:
    table_ = betting().table
    table_.sweeps = False
    table_.press("CLOSE")
    table_.feed(SweepAgreed(99, (), (), 0))
    assert table_.lines[3] == "WAIT"


def test_undo_takes_the_call_back_while_the_sweep_runs() -> None:
    table_ = betting().table
    table_.sweeps = False
    table_.press("CLOSE", "UNDO")
    assert table_.lines[3] == "CLOSE"


# --- sensors that are gone ---------------------------------------------------------------------


def test_a_lost_sensor_under_a_live_wager_holds_the_round_until_it_reads_again() -> None:
    hand = betting()
    hand.do("CLOSE")
    table_ = hand.table
    antenna = table_.antenna(5, "1")
    table_.feed(SpotLost(antenna, "E-FEIG-010", 0))
    assert table_.lines[1:] == ("SEAT 5  1", "CANNOT READ 1", "CHIPS KEY MENU 52")
    assert (table_.locked(), table_.lamps[4]) == (True, "fault")
    table_.lay(5, "1", table_.lies[antenna] | {table_.tag(FakeChip(0))})
    assert (table_.lines[3], table_.locked()) == ("DEAL", False)


def test_a_lost_sensor_without_a_wager_holds_nothing() -> None:
    hand = betting()
    hand.do("CLOSE")
    hand.table.feed(SpotLost(hand.table.antenna(4, "1"), "E-FEIG-010", 0))
    assert hand.table.lines[3] == "DEAL"


def test_a_supervisor_lets_the_round_go_on_over_a_lost_sensor() -> None:
    hand = betting()
    while not hand.table.lines[0].startswith("DECISION"):
        hand.do(hand.words[0])
    table_ = hand.table
    table_.press("RIDE", "RIDE")
    table_.feed(SpotLost(table_.antenna(5, "1"), "E-FEIG-010", 0))
    table_.press("COMM1")
    assert table_.lines[2] == "SENSOR DOWN: SEAT 5"
    table_.as_supervisor("52", 5, 4)
    assert table_.told() == f.BreachNoted((5,), "sensor lost: wager stays live")
    assert table_.lines[3] == "COMM1"


def test_a_lost_sensor_at_the_lock_is_noted_where_the_engine_has_no_ruling() -> None:
    hand = betting()
    hand.do("CLOSE")
    table_ = hand.table
    table_.feed(SpotLost(table_.antenna(5, "1"), "E-FEIG-010", 0))
    table_.as_supervisor("52", 5, 4)
    assert table_.told() == f.BreachNoted((5,), "sensor lost: wager stays live")
    assert table_.lines[3] == "DEAL"


def test_in_the_betting_a_wager_on_a_lost_sensor_is_declared_by_hand() -> None:
    hand = betting()
    table_ = hand.table
    table_.feed(SpotLost(table_.antenna(5, "1"), "E-FEIG-010", 0))
    assert table_.lines[3] == "MENU 24 KEY MENU 53"
    table_.press("CLOSE")
    assert table_.lines[2] == "SENSOR DOWN: SEAT 5"
    table_.as_supervisor("53", 5, 1, 500)
    table_.press("CLOSE")
    assert table_.phase() is Phase.LOCKED
    assert table_.core.state.seats[5].declared == {"1"}


def test_a_reader_that_is_gone_takes_all_its_spots_with_it() -> None:
    hand = betting()
    hand.do("CLOSE")
    gone = StateReported("chips-2", DeviceState.UNKNOWN, Fault("E-FEIG-001", "silent"), 0)
    hand.table.feed(gone)
    assert hand.table.lines[1:] == ("SEAT 5  $", "CANNOT READ $", "CHIPS KEY MENU 52")
    hand.table.feed(StateReported("chips-2", DeviceState.READY, None, 0))
    hand.play()
    assert nets(hand.table) == {2: 3000, 5: -1500}


# --- which antennas are polled -----------------------------------------------------------------


def test_only_spots_that_can_change_are_polled() -> None:
    hand = betting()
    table_ = hand.table
    assert len(table_.watched) == 28
    while not table_.lines[0].startswith("DECISION"):
        hand.do(hand.words[0])
    spots = ("1", "2", "$", "progressive")
    assert table_.watched == {(n, s) for n in (2, 5) for s in spots}
    while not table_.lines[0].startswith("SETTLEMENT"):
        hand.do(hand.words[0])
    assert table_.watched == {(n, s) for n in (2, 5) for s in ("1", "2", "$")}
    hand.do("SHOW")
    hand.do("PAID")
    assert table_.watched == {(2, s) for s in ("1", "2", "$")}
