"""NSW rules 5 and 6: what is wagered, when it counts, and the limits on the sign."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS, DEALER_AT_TABLE, SUPERVISOR, ScriptedDealer
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.prompts import text
from controller.rules.engine.state import Phase
from controller.rules.errors import SettingsError
from controller.rules.settle import settle
from controller.rules.wagers import check_wagers
from record.kit.money import dollars
from tests.clauses.tables import base, only, refused, row, table

MINUTE = 60_000
CORRECT = fx.Prompt("correct or fold", 5)


def two_seats(**changes: Any) -> ScriptedDealer:
    """Seat 2 will hold a pair of tens, seat 5 nothing; the deck is ready."""
    dealer = table("NSW", {2: "TcTd2h", 5: "3c5d8h"}, "JsQh", **changes)
    dealer.prepare()
    return dealer


def closed(wagers: dict[int, dict[str, int]] | None = None, **changes: Any) -> ScriptedDealer:
    dealer = two_seats(**changes)
    dealer.bets(wagers or {2: base(1000), 5: base(1000)})
    return dealer


def ruled(settings: dict[str, Any], hands: dict[int, tuple[str, int]], *events: Any) -> Any:
    """Settle literal hands with equal wagers, everything rides, community Js Qh."""
    seats = [
        {"seat": n, "wagers": base(cents), "cards": hand.split()}
        for n, (hand, cents) in hands.items()
    ]
    body = {"seats": seats, "community": ["Js", "Qh"], "events": list(events)}
    return settle(decode_record({"game": "NSW", "settings": settings, "round": body}))


@pytest.mark.clause("NSW-2.2.1")
def test_a_table_has_seven_playing_areas_and_no_more() -> None:
    assert table("NSW").state.rules.table.seats == 7
    with pytest.raises(SettingsError, match="expected a whole number from 1 to 7"):
        table("NSW", seats=8)


# --- three equal wagers ------------------------------------------------------------------------


@pytest.mark.clause("NSW-12.10")
def test_unequal_wagers_must_be_corrected_or_folded_before_the_cards_are_handled() -> None:
    dealer = two_seats()
    dealer.do(f.BetsOpened())
    for spot, cents in {"1": 1000, "2": 1000, "$": 500}.items():
        dealer.place(5, spot, cents)
    effects = dealer.do(f.BetsClosed())
    assert fx.SetLamp(5, "fault") in effects
    assert CORRECT in effects
    assert text(CORRECT) == "Seat 5: correct the wagers or fold. The wager is returned"


@pytest.mark.clause("NSW-5.2")
def test_wagers_must_be_three_and_equal_at_the_call_and_again_at_the_first_card() -> None:
    short = closed({2: base(1000), 5: {"1": 1000, "$": 1000}})
    assert [n for n, seat in short.state.seats.items() if seat.unequal] == [5]
    dealer = closed()
    dealer.do(f.WagerRead(5, "2", 500), CHIPS)
    assert not [n for n, seat in dealer.state.seats.items() if seat.unequal]
    effects = dealer.do(f.CardDrawn(dealer.draw()), f.Measured("shoe"))
    assert CORRECT in effects
    assert [n for n, seat in dealer.state.seats.items() if seat.unequal] == [5]
    assert dealer.state.seats[5].locked == {"1": 1000, "2": 500, "$": 1000}


@pytest.mark.clause("NSW-5.3")
def test_a_chip_placed_after_the_closing_call_is_late_and_never_counts() -> None:
    dealer = closed()
    effects = dealer.do(f.WagerRead(2, "$", 1500), CHIPS)  # before the first card
    assert effects == (
        fx.RaiseAlarm("late wager", 2, "$: $5.00", "NSW-5.3"),
        fx.Prompt("late", 2, "$"),
    )
    dealer.do(f.WagerRead(5, "1", 1500), CHIPS)
    dealer.let_it_ride()
    won, lost = row(dealer, 2)["wagers"]["$"], row(dealer, 5)["wagers"]["1"]
    assert (won["placed"], won["win"], won["stake_back"]) == (1500, 1000, 1500)
    assert (lost["placed"], lost["win"], lost["stake_back"]) == (1500, 0, 500)
    assert dealer.state.history[-1].result["clauses"] == ["NSW-5.3"]


@pytest.mark.clause("NSW-5.4")
def test_after_the_first_card_a_wager_taken_off_stays_live() -> None:
    dealer = closed()
    dealer.deal()
    dealer.decide()
    dealer.turn(1)
    effects = dealer.do(f.WagerRead(5, "1", 0), CHIPS)
    assert effects[0] == fx.RaiseAlarm("wager lifted", 5, "1: $0.00 of $10.00", "NSW-5.4")
    dealer.decide()
    dealer.turn(2)
    effects = dealer.do(f.HandOpened(5))
    assert only(effects, fx.ShowOwed) == fx.ShowOwed(5, "1", 1000)
    dealer.settle()
    assert row(dealer, 5)["net"] == -3000
    assert dealer.state.history[-1].result["clauses"] == ["NSW-5.4"]


@pytest.mark.clause("NSW-5.4")
def test_between_the_call_and_the_first_card_a_seat_may_take_everything_off() -> None:
    dealer = closed()
    effects = dealer.do(f.WagerRead(5, "1", 0), CHIPS)
    assert only(effects, fx.RaiseAlarm).clause == "NSW-5.4"  # only part of the wagers is gone
    dealer.do(f.WagerRead(5, "2", 0), CHIPS)
    assert dealer.do(f.WagerRead(5, "$", 0), CHIPS) == (fx.SetLamp(5, "off"),)
    assert sorted(dealer.state.seats) == [2]


@pytest.mark.clause("NSW-5.6")
def test_a_second_player_at_one_area_is_noted_by_the_dealer() -> None:
    dealer = closed()
    before = dealer.state
    assert dealer.do(f.BreachNoted((5,), "two players wager at one area")) == ()
    assert dealer.state.notes[-1] == "D1: seats [5]: two players wager at one area"
    assert (dealer.state.seats, dealer.state.phase) == (before.seats, before.phase)


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.clause("NSW-6.1")
@pytest.mark.parametrize(
    ("unit", "cents", "flagged"),
    [
        (1, 1200, False),  # no unit on the sign: 12 with a minimum of 10 is good
        (500, 1200, True),
        (500, 1500, False),
        (300, 1300, False),  # the unit counts from the minimum
        (1, 900, True),  # below the minimum
        (1, 5100, True),  # above the maximum
    ],
)
def test_the_sign_sets_minimum_maximum_and_unit(unit: int, cents: int, flagged: bool) -> None:
    dealer = two_seats(min_wager=1000, max_wager=5000, wager_unit=unit)
    dealer.do(f.BetsOpened())
    dealer.place(2, "1", cents)
    dealer.place(2, "2", cents)
    effects = dealer.do(f.WagerRead(2, "$", cents), CHIPS)
    assert fx.SetLamp(2, "fault" if flagged else "live") in effects
    assert (fx.Prompt("limit", 2, "NSW-6.1") in effects) is flagged


@pytest.mark.clause("NSW-6.1")
def test_limits_apply_to_each_spot_unless_the_sign_says_otherwise() -> None:
    sign = {"min_wager": 1000, "max_wager": 5000}
    asked: dict[str, Any] = {"game": "NSW", "settings": sign, "wagers": base(2000)}
    assert check_wagers(asked) == {"accept": True, "broken": []}
    asked["settings"] = {**sign, "limit_scope": "per_area"}
    assert check_wagers(asked) == {"accept": False, "broken": ["NSW-6.1"]}


@pytest.mark.clause("NSW-6.2")
def test_a_wager_below_the_minimum_found_after_the_call_is_valid() -> None:
    dealer = two_seats(min_wager=1000)
    dealer.do(f.BetsOpened())
    for spot in ("1", "2"):
        dealer.place(2, spot, 500)
    assert fx.SetLamp(2, "fault") in dealer.do(f.WagerRead(2, "$", 500), CHIPS)
    effects = dealer.do(f.BetsClosed())
    assert fx.SetLamp(2, "live") in effects
    assert dealer.state.seats[2].unequal is False
    dealer.let_it_ride()
    assert row(dealer, 2)["wagers"]["$"]["win"] == 500
    assert row(dealer, 2)["net"] == 1500


@pytest.mark.clause("NSW-6.3")
def test_a_wager_above_the_maximum_is_paid_and_collected_to_the_maximum() -> None:
    """Maximum 100.00, 150.00 on a spot; that it happened before changes nothing."""
    result = ruled(
        {"max_wager": 10000},
        {2: ("Tc Td 2h", 15000), 5: ("3c 5d 8h", 15000)},
        {"type": "over_max_previous_round", "seat": 2},
    )
    won, lost = (seat["wagers"]["1"] for seat in result["seats"])
    assert (won["win"], won["stake_back"], won["to_player"]) == (10000, 15000, 25000)
    assert (lost["status"], lost["stake_back"]) == ("lose", 5000)
    assert [seat["net"] for seat in result["seats"]] == [30000, -30000]


@pytest.mark.clause("NSW-6.5")
def test_a_higher_minimum_needs_a_sign_that_stood_twenty_minutes() -> None:
    dealer = two_seats(min_wager=1000)
    raised = f.LimitsChanged(2500, None)
    dealer.do(f.BetsOpened())
    assert refused(dealer.try_(raised)).reason.startswith("limits changed needs a casino super")
    assert refused(dealer.try_(raised, SUPERVISOR)).clause == "NSW-6.5"
    dealer.do(f.SignShown("higher minimum"), SUPERVISOR)
    shown_at = dealer.clock_ms
    dealer.clock_ms = shown_at + 20 * MINUTE - 2000
    refusal = refused(dealer.try_(raised, SUPERVISOR))  # 19:59
    assert refusal.reason == "the sign for a higher minimum has not stood 20 minutes"
    dealer.do(raised, SUPERVISOR)  # 20:00
    assert dealer.state.min_wager == 1000  # until the next opening
    for spot in ("1", "2", "$"):
        dealer.place(2, spot, 1000)
    dealer.do(f.BetsClosed())
    dealer.let_it_ride()
    dealer.prepare()
    dealer.do(f.BetsOpened())
    assert dealer.state.min_wager == 2500
    # The sign announced that change and no other; lowering needs none.
    assert refused(dealer.try_(f.LimitsChanged(5000, None), SUPERVISOR)).clause == "NSW-6.5"
    dealer.do(f.LimitsChanged(500, 20000), SUPERVISOR)
    assert dealer.state.next_limits == (500, 20000)


# --- correcting unequal wagers -----------------------------------------------------------------


def unequal(**changes: Any) -> ScriptedDealer:
    """Seat 5 has 10.00, 10.00 and 5.00 on the $ spot when bets close; the cards are out."""
    dealer = closed({2: base(1000), 5: {"1": 1000, "2": 1000, "$": 500}}, **changes)
    dealer.deal()
    return dealer


@pytest.mark.clause("NSW-12.10.1")
def test_unequal_wagers_are_corrected_within_the_limits_before_the_cards_are_handled() -> None:
    dealer = unequal(min_wager=800, max_wager=1000)
    assert dealer.do(f.WagerRead(5, "$", 1000), CHIPS) == ()  # the window is open: no alarm
    for cents in (500, 799, 1001, 1500):
        for spot in ("1", "2", "$"):
            dealer.do(f.WagerRead(5, spot, cents), CHIPS)
        for who in (DEALER_AT_TABLE, SUPERVISOR):
            refusal = refused(dealer.try_(f.WagersCorrected(5, cents), who))
            said = "a correction must lie within the posted limits, $8.00 to $10.00"
            assert refusal == fx.Refused(f"{dollars(cents)}: {said}", "NSW-12.10.1")
    for spot in ("1", "2", "$"):
        dealer.do(f.WagerRead(5, spot, 1000), CHIPS)
    dealer.do(f.WagersCorrected(5, 1000))
    assert dealer.state.seats[5].locked == base(1000)
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    assert row(dealer, 5)["net"] == -3000
    assert dealer.state.history[-1].result["clauses"] == ["NSW-12.10.1"]
    assert dealer.state.history[-1].record["round"]["events"] == [
        {
            "type": "unequal_wagers",
            "seat": 5,
            "players_handled": False,
            "resolution": "corrected",
            "corrected_to": 1000,
        }
    ]


@pytest.mark.clause("NSW-12.10.2")
def test_who_folds_unequal_wagers_before_handling_gets_them_back() -> None:
    dealer = unequal()
    effects = dealer.do(f.Folded(5))
    back = [(e.spot, e.cents) for e in effects if isinstance(e, fx.ReturnWager)]
    assert back == [("1", 1000), ("2", 1000), ("$", 500)]
    assert fx.Prompt("hand void", 5, "NSW-12.10.2") in effects
    for spot in ("1", "2", "$"):
        dealer.take(5, spot)
    dealer.let_it_ride()
    folded = row(dealer, 5)
    assert (folded["hand"], folded["net"]) == (None, 0)
    assert row(dealer, 2)["net"] == 3000


@pytest.mark.clause("NSW-12.11")
def test_after_handling_the_wagers_are_corrected_to_the_dollar_wager() -> None:
    dealer = unequal()
    dealer.do(f.CardsHandled(5))
    dealer.do(f.WagerRead(5, "$", 1000), CHIPS)
    refusal = refused(dealer.try_(f.WagersCorrected(5, 1000)))  # that would raise the stake
    assert refusal == fx.Refused("after handling, correct to the $ wager", "NSW-12.11")
    for spot in ("1", "2", "$"):
        dealer.place(5, spot, 500)
    dealer.do(f.WagersCorrected(5, 500))
    dealer.let_it_ride()
    assert row(dealer, 5)["net"] == -1500
    assert dealer.state.history[-1].result["clauses"] == ["NSW-12.11"]


@pytest.mark.clause("NSW-12.11")
def test_who_refuses_to_correct_after_handling_is_the_supervisors_and_may_be_excluded() -> None:
    dealer = unequal()
    dealer.do(f.CardsHandled(5))
    question = only(dealer.do(f.CorrectionRefused(5)), fx.AskSupervisor)
    assert question.seat == 5
    assert "would not correct its unequal wagers" in question.question
    assert dealer.state.seats[5].locked == {"1": 1000, "2": 1000, "$": 500}
    dealer.do(f.SeatRuled(5, "hand void"), SUPERVISOR)
    dealer.do(f.SeatExcluded(5, "would not correct"), SUPERVISOR)
    dealer.let_it_ride()
    assert row(dealer, 5)["net"] == 0
    assert "S1: excluded seat 5: would not correct" in dealer.state.notes


# --- a supervisor and a wager ------------------------------------------------------------------


@pytest.mark.clause("NSW-14.11")
def test_a_supervisor_refuses_a_wager_only_before_the_first_card() -> None:
    dealer = closed()
    unfair = f.WagerRefused(5, "marked chips")
    assert refused(dealer.try_(unfair)).clause == "NSW-14.11"
    effects = dealer.do(unfair, SUPERVISOR)
    assert effects == tuple(fx.ReturnWager(5, spot, 1000, "NSW-14.11") for spot in ("1", "2", "$"))
    assert dealer.do(f.WagerRead(5, "1", 0), CHIPS) == ()
    assert sorted(dealer.state.seats) == [2]
    dealer.deal_one()
    late = refused(dealer.try_(f.WagerRefused(2, "marked chips"), SUPERVISOR))
    assert late.reason == "wager refused: not while dealing"
    assert dealer.state.phase is Phase.DEALING


@pytest.mark.clause("NSW-12.12.4", "NSW-14.3.2")
def test_a_barred_players_wagers_go_back_and_are_not_in_the_round() -> None:
    dealer = two_seats()
    assert refused(dealer.try_(f.SeatExcluded(5, "device"))).clause == "NSW-12.12"
    assert dealer.do(f.SeatExcluded(5, "device"), SUPERVISOR) == (fx.SetLamp(5, "fault"),)
    assert fx.SetLamp(5, "fault") in dealer.do(f.BetsOpened())
    effects = dealer.do(f.WagerRead(5, "1", 1000), CHIPS)
    assert effects == (fx.SetLamp(5, "fault"), fx.ReturnWager(5, "1", 1000, "NSW-12.12.4"))
    for number, spot in ((2, "1"), (2, "2"), (2, "$"), (5, "2"), (5, "$")):
        dealer.place(number, spot, 1000)
    dealer.do(f.BetsClosed())
    assert sorted(dealer.state.seats) == [2]
    dealer.do(f.SeatReadmitted(5), SUPERVISOR)
    assert dealer.state.excluded == frozenset()
