"""From the opening call to the lock, and chips that move after it: what both MBS books say."""

from __future__ import annotations

import pytest

from controller.demo.scripted_dealer import CHIPS, SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.wagers import check_wagers
from tests.clauses.tables import base, only, refused, row, table

both = pytest.mark.parametrize("game", ["MBS3", "MEGA"])

LINK = f.Measured("link")
ACCEPTOR = f.Measured("acceptor")


def opened(game: str, hands: dict[int, str] | None = None, dealer: str = "") -> ScriptedDealer:
    scripted_dealer = table(game, hands, dealer)
    scripted_dealer.prepare()
    scripted_dealer.do(f.BetsOpened())
    return scripted_dealer


def lay(scripted_dealer: ScriptedDealer, seat: int, one: int, two: int, dollar: int) -> None:
    for spot, cents in (("1", one), ("2", two), ("$", dollar)):
        if cents:
            scripted_dealer.place(seat, spot, cents)


@pytest.mark.clause("MBS3-3.1", "MEGA-3.1")
@both
def test_the_opening_call_starts_a_new_round_and_opens_every_seat(game: str) -> None:
    scripted_dealer = table(game, {7: "TcTd2h"}, "JsQh")
    scripted_dealer.do(f.MeterReported(1234500), LINK)
    scripted_dealer.prepare()
    effects = scripted_dealer.do(f.BetsOpened())
    assert (scripted_dealer.state.phase, scripted_dealer.state.round_no) == (Phase.BETTING, 1)
    lamps = [e for e in effects if isinstance(e, fx.SetLamp)]
    assert lamps == [fx.SetLamp(n, "open") for n in (1, 2, 3, 4, 5, 6, 7)]
    assert only(effects, fx.ShowJackpot) == fx.ShowJackpot(1234500)
    assert fx.Prompt("place bets") in effects
    lay(scripted_dealer, 7, 1000, 1000, 1000)
    scripted_dealer.do(f.BetsClosed())
    assert scripted_dealer.state.seats[7].locked == base(1000)
    scripted_dealer.let_it_ride()
    scripted_dealer.prepare()
    scripted_dealer.do(f.BetsOpened())
    assert scripted_dealer.state.round_no == 2


@pytest.mark.clause("MBS3-3.2", "MEGA-3.2")
@both
def test_the_closing_call_locks_what_lies_there_and_nothing_later(game: str) -> None:
    scripted_dealer = opened(game)
    lay(scripted_dealer, 2, 1000, 1000, 1000)
    scripted_dealer.place(2, "progressive", 100)
    effects = scripted_dealer.do(f.BetsClosed())
    assert scripted_dealer.state.phase is Phase.LOCKED
    assert scripted_dealer.state.seats[2].locked == base(1000, progressive=100)
    assert only(effects, fx.PostContributions) == fx.PostContributions(1, ((2, 100),))
    for seat in range(1, 8):
        assert fx.ArmAcceptor(seat, False) in effects
    late = scripted_dealer.do(f.WagerRead(2, "1", 1500), CHIPS)
    assert only(late, fx.RaiseAlarm).code == "late wager"
    assert scripted_dealer.state.seats[2].locked == base(1000, progressive=100)


@pytest.mark.clause("MBS3-3.2", "MEGA-3.2")
@both
def test_a_card_before_the_closing_call_freezes_the_wagers_at_that_instant(game: str) -> None:
    """AMB-W06: locked as they lie, the dealer is asked for the call, nothing is void."""
    scripted_dealer = opened(game, {2: "TcTd2h"}, "JsQh")
    lay(scripted_dealer, 2, 1000, 1000, 1000)
    effects = scripted_dealer.do(f.CardDrawn(scripted_dealer.draw()), SHOE)
    assert only(effects, fx.RaiseAlarm).clause == f"{game}-3.2"
    assert fx.Prompt("press close") in effects
    assert scripted_dealer.state.phase is Phase.DEALING
    late = scripted_dealer.do(f.WagerRead(2, "$", 5000), CHIPS)
    assert only(late, fx.RaiseAlarm).detail == "$: $40.00"
    scripted_dealer.do(f.WagerRead(2, "$", 1000), CHIPS)
    scripted_dealer.do(f.BetsClosed())
    scripted_dealer.let_it_ride()
    assert row(scripted_dealer, 2)["net"] == 3000


@pytest.mark.clause("MBS3-1.1.1", "MEGA-1.1.1")
@both
def test_only_a_seat_with_three_equal_wagers_takes_part(game: str) -> None:
    scripted_dealer = opened(game)
    lay(scripted_dealer, 1, 1000, 1000, 1000)
    lay(scripted_dealer, 2, 1000, 1000, 500)
    lay(scripted_dealer, 3, 1000, 1000, 0)
    lay(scripted_dealer, 4, 0, 1000, 1000)
    refusal = refused(scripted_dealer.try_(f.BetsClosed()))
    assert refusal.reason == "seat 2, 3, 4: wagers are not valid; correct or leave out"
    for seat in (2, 3, 4):
        scripted_dealer.do(f.SeatLeftOut(seat))
    scripted_dealer.do(f.BetsClosed())
    assert list(scripted_dealer.state.seats) == [1]
    for wagers in ({"1": 1000, "2": 1000, "$": 500}, {"1": 1000, "2": 1000}, {"$": 1000}):
        checked = check_wagers({"game": game, "wagers": wagers})
        assert checked == {"accept": False, "broken": [f"{game}-3.4"]}
    assert check_wagers({"game": game, "wagers": base(1000)}) == {"accept": True, "broken": []}


@pytest.mark.clause("MBS3-3.4", "MEGA-3.4")
@pytest.mark.parametrize("cure", ["corrected", "left out"])
@both
def test_unequal_wagers_hold_the_lock_until_corrected_or_left_out(game: str, cure: str) -> None:
    scripted_dealer = opened(game)
    lay(scripted_dealer, 1, 1000, 1000, 1000)
    lay(scripted_dealer, 3, 1000, 1000, 0)
    shown = scripted_dealer.do(f.WagerRead(3, "$", 500), CHIPS)
    assert fx.SetLamp(3, "fault") in shown
    assert only(shown, fx.Prompt) == fx.Prompt("unequal", 3, f"{game}-3.4")
    refusal = refused(scripted_dealer.try_(f.BetsClosed()))
    assert refusal == fx.Refused(
        "seat 3: wagers are not valid; correct or leave out", f"{game}-3.4"
    )
    assert scripted_dealer.state.phase is Phase.BETTING
    if cure == "corrected":
        shown = scripted_dealer.do(f.WagerRead(3, "$", 1000), CHIPS)
        assert fx.SetLamp(3, "live") in shown
        scripted_dealer.do(f.BetsClosed())
        assert list(scripted_dealer.state.seats) == [1, 3]
        return
    returned = scripted_dealer.do(f.SeatLeftOut(3))
    assert [e for e in returned if isinstance(e, fx.ReturnWager)] == [
        fx.ReturnWager(3, "1", 1000, f"{game}-3.4"),
        fx.ReturnWager(3, "2", 1000, f"{game}-3.4"),
        fx.ReturnWager(3, "$", 500, f"{game}-3.4"),
    ]
    scripted_dealer.do(f.BetsClosed())
    assert list(scripted_dealer.state.seats) == [1]
    scripted_dealer.deal()
    assert (
        len(scripted_dealer.state.drawn) == 5
    )  # three to seat 1, two community cards, none to seat 3


@pytest.mark.clause("MBS3-3.4", "MEGA-3.4")
@both
def test_a_seat_left_out_may_come_back_before_the_lock_once_its_wagers_are_equal(
    game: str,
) -> None:
    scripted_dealer = opened(game)
    lay(scripted_dealer, 3, 1000, 1000, 500)
    assert refused(scripted_dealer.try_(f.BetsClosed())).clause == f"{game}-3.4"
    scripted_dealer.do(f.SeatLeftOut(3))
    assert refused(scripted_dealer.try_(f.BetsClosed())).reason == "no seat has a valid wager"
    scripted_dealer.place(3, "$", 1000)
    assert refused(scripted_dealer.try_(f.SeatReadmitted(3)))  # a supervisor's decision
    scripted_dealer.do(f.SeatReadmitted(3), SUPERVISOR)
    scripted_dealer.do(f.BetsClosed())
    assert scripted_dealer.state.seats[3].locked == base(1000)


@pytest.mark.clause("MBS3-3.4", "MEGA-3.4")
@both
def test_a_seat_unequal_at_the_first_card_is_the_supervisors(game: str) -> None:
    """No remedy in the book once a card is out (AMB-W08): that seat waits, the other settles."""
    scripted_dealer = opened(game, {1: "TcTd2h", 3: "AcAd7s"}, "JsQh")
    lay(scripted_dealer, 1, 1000, 1000, 1000)
    lay(scripted_dealer, 3, 1000, 1000, 500)
    effects = scripted_dealer.do(f.CardDrawn(scripted_dealer.draw()), SHOE)
    asked = only(effects, fx.AskSupervisor)
    assert asked.seat == 3
    assert "not equal" in asked.question
    scripted_dealer.do(f.SeatRuled(3, "hand void"), SUPERVISOR)
    scripted_dealer.let_it_ride()
    assert row(scripted_dealer, 1)["net"] == 3000
    assert row(scripted_dealer, 3)["net"] == 0
    assert row(scripted_dealer, 3)["hand"] is None


@pytest.mark.clause("MBS3-1.1.7", "MEGA-1.1.6")
@both
def test_a_round_runs_from_the_opening_call_until_every_seat_is_settled(game: str) -> None:
    scripted_dealer = table(game, {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    scripted_dealer.prepare()
    scripted_dealer.bets({2: base(1000), 5: base(1000)})
    assert scripted_dealer.state.round_no == 1
    scripted_dealer.deal()
    scripted_dealer.decide()
    scripted_dealer.turn(1)
    scripted_dealer.decide()
    scripted_dealer.turn(2)
    refusal = refused(scripted_dealer.try_(f.BetsOpened()))
    round_clause = "MBS3-1.1.7" if game == "MBS3" else "MEGA-1.1.6"
    assert refusal == fx.Refused("seat 5, 2: not settled yet", round_clause)
    scripted_dealer.do(f.HandOpened(5))
    scripted_dealer.do(f.SeatSettled(5))
    assert refused(scripted_dealer.try_(f.BetsOpened())).reason == "seat 2: not settled yet"
    assert refused(scripted_dealer.try_(f.RoundEnded())).reason == "seat 2 has not been opened"
    for spot in ("1", "2", "$"):
        scripted_dealer.take(5, spot)
    scripted_dealer.do(f.HandOpened(2))
    scripted_dealer.do(f.SeatSettled(2))
    published = only(scripted_dealer.do(f.RoundEnded()), fx.PublishRound)
    assert published.round_no == 1
    assert [seat["net"] for seat in published.result["seats"]] == [3000, -3000]
    assert scripted_dealer.state.phase is Phase.IDLE


@pytest.mark.clause("MBS3-1.1.6", "MEGA-1.1.5")
@both
def test_a_royal_flush_without_a_progressive_wager_claims_nothing(game: str) -> None:
    """The main wagers win 1,000 to 1; a credit after the closing call is not a wager."""
    scripted_dealer = table(game, {1: "AhKhQh"}, "JhTh")
    told: list[fx.Effect] = []
    scripted_dealer.told = lambda _fact, effects: told.extend(effects)
    scripted_dealer.do(f.MeterReported(5000000), LINK)
    scripted_dealer.prepare()
    scripted_dealer.bets({1: base(1000)})
    assert refused(scripted_dealer.try_(f.CreditsRead(1, 1), ACCEPTOR)).clause == f"{game}-5.6"
    scripted_dealer.let_it_ride()
    result = scripted_dealer.state.history[-1].result
    assert row(scripted_dealer, 1)["hand"] == "royal flush"
    assert row(scripted_dealer, 1)["net"] == 3 * 1000 * 1000
    assert "progressive" not in row(scripted_dealer, 1)["wagers"]
    assert (result["jackpot_before"], result["jackpot_after"]) == (5000000, 5000000)
    assert not [e for e in told if isinstance(e, fx.ClaimJackpot | fx.PostContributions)]


@pytest.mark.clause("MBS3-5.6", "MEGA-5.6")
@both
def test_what_is_added_after_the_closing_call_is_refused_and_not_honoured(game: str) -> None:
    """10 becomes 15 after the lock: the wager wins on 10, and 5 go back."""
    scripted_dealer = table(game, {2: "TcTd2h"}, "JsQh")
    scripted_dealer.prepare()
    scripted_dealer.bets({2: base(1000)})
    effects = scripted_dealer.do(f.WagerRead(2, "1", 1500), CHIPS)
    alarm = fx.RaiseAlarm("late wager", 2, "1: $5.00", f"{game}-5.6")
    assert effects == (alarm, fx.Prompt("late", 2, "1"))
    stranger = scripted_dealer.do(f.WagerRead(6, "$", 700), CHIPS)
    alarm = fx.RaiseAlarm("late wager", 6, "$: $7.00", f"{game}-5.6")
    assert only(stranger, fx.RaiseAlarm) == alarm
    assert refused(scripted_dealer.try_(f.CreditsRead(2, 1), ACCEPTOR)).clause == f"{game}-5.6"
    scripted_dealer.let_it_ride()
    wager = row(scripted_dealer, 2)["wagers"]["1"]
    assert (wager["placed"], wager["win"], wager["stake_back"]) == (1500, 1000, 1500)
    assert row(scripted_dealer, 2)["net"] == 3000
    assert [seat["seat"] for seat in scripted_dealer.state.history[-1].result["seats"]] == [2]
    assert scripted_dealer.state.history[-1].result["clauses"] == [f"{game}-5.6"]


@pytest.mark.clause("MBS3-5.7", "MEGA-5.7")
@pytest.mark.parametrize(("hand", "net"), [("3c5d8h", -3000), ("TcTd2h", 3000)])
@both
def test_a_wager_taken_out_after_the_closing_call_still_wins_or_loses(
    game: str, hand: str, net: int
) -> None:
    scripted_dealer = table(game, {2: hand}, "JsQh")
    shown: list[fx.Effect] = []
    scripted_dealer.told = lambda _fact, effects: shown.extend(effects)
    scripted_dealer.prepare()
    scripted_dealer.bets({2: base(1000)})
    effects = scripted_dealer.do(f.WagerRead(2, "2", 0), CHIPS)
    assert effects == (fx.RaiseAlarm("wager lifted", 2, "2: $0.00 of $10.00", f"{game}-5.7"),)
    scripted_dealer.deal()
    scripted_dealer.decide()
    scripted_dealer.turn(1)
    scripted_dealer.decide()
    apart = refused(scripted_dealer.try_(f.CommunityTurned(2)))
    assert apart.reason == "seat 2: chips and console disagree"
    scripted_dealer.do(f.SeatRuled(2, "stays live"), SUPERVISOR)
    scripted_dealer.turn(2)
    scripted_dealer.do(f.HandOpened(2))
    if net < 0:
        alone = refused(scripted_dealer.try_(f.SeatSettled(2)))
        assert alone == fx.Refused("seat 2 owes 2: the supervisor closes it", f"{game}-5.7")
    scripted_dealer.settle()
    assert row(scripted_dealer, 2)["net"] == net
    owed = [e for e in shown if isinstance(e, fx.ShowOwed)]
    assert owed == ([fx.ShowOwed(2, "2", 1000)] if net < 0 else [])
    assert scripted_dealer.state.history[-1].result["clauses"] == [f"{game}-5.7"]
