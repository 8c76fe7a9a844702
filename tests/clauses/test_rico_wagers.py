"""RICO: antes, the dealer's ante in the pot, the open deal, and the settings of the bonus bets."""

from __future__ import annotations

import random
from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS, SHOE, SUPERVISOR, ScriptedDealer, stacked
from controller.rules.cards import HiddenCard, card, cards
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import POT, POT_SEAT
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import Phase
from controller.rules.errors import RecordError, SettingsError
from controller.rules.settle import settle
from tests.clauses.tables import SETTINGS, TODAY, draws, only, refused, row, table

DEALER = "AhKd9c7s3d"


def betting() -> ScriptedDealer:
    scripted_dealer = table("RICO", {1: "Qc8d", 3: "6h5s"}, DEALER)
    scripted_dealer.prepare()
    scripted_dealer.do(f.BetsOpened())
    return scripted_dealer


def record(wagers: dict[str, int], settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Seat 1 holds two jacks against ace-king high and folds; seat 2 folds as well."""
    first = {"seat": 1, "wagers": wagers, "cards": ["Jc", "Jd"], "action": "fold"}
    second = {"seat": 2, "wagers": {"ante": 500}, "cards": ["6h", "5s"], "action": "fold"}
    dealer = [DEALER[i : i + 2] for i in range(0, 10, 2)]
    body = {"seats": [first, second], "dealer": dealer, "ante": 500, **more}
    return {"game": "RICO", "settings": settings, "round": body}


@pytest.mark.clause("RICO-0")
def test_every_round_is_headed_by_the_name_of_its_book() -> None:
    scripted_dealer = table("RICO", {1: "Qc8d"}, DEALER)
    scripted_dealer.round({1: {"ante": 500}})
    assert scripted_dealer.state.history[-1].record["game"] == "RICO"
    assert scripted_dealer.state.rules.book.title == "Ricochet Poker"


@pytest.mark.clause("RICO-1")
def test_everybody_posts_the_same_ante_and_a_bonus_bet_needs_one() -> None:
    scripted_dealer = betting()
    scripted_dealer.do(f.WagerRead(POT_SEAT, POT, 500), CHIPS)
    scripted_dealer.do(f.WagerRead(1, "ante", 500), CHIPS)
    flagged = scripted_dealer.do(f.WagerRead(3, "ante", 600), CHIPS)
    assert fx.SetLamp(3, "fault") in flagged
    refusal = refused(scripted_dealer.try_(f.BetsClosed()))
    assert refusal == fx.Refused("seat 3: wagers are not valid; correct or leave out", "RICO-1")
    scripted_dealer.do(f.WagerRead(3, "ante", 500), CHIPS)
    scripted_dealer.do(f.WagerRead(3, "rapid_fire", 200), CHIPS)
    scripted_dealer.do(f.WagerRead(5, "hedge", 200), CHIPS)
    closed = scripted_dealer.do(f.BetsClosed())
    assert only(closed, fx.ReturnWager) == fx.ReturnWager(5, "hedge", 200, "RICO-1")
    locked = {n: s.locked for n, s in scripted_dealer.state.seats.items()}
    assert locked == {1: {"ante": 500}, 3: {"ante": 500, "rapid_fire": 200}}

    # What is added later raises the alarm and never counts.
    late = scripted_dealer.do(f.WagerRead(1, "ante", 900), CHIPS)
    assert only(late, fx.RaiseAlarm) == fx.RaiseAlarm("late wager", 1, "ante: $4.00", "RICO-1")
    scripted_dealer.plays = lambda _: False
    scripted_dealer.ricochet()
    assert row(scripted_dealer, 1)["wagers"]["ante"]["placed"] == 500
    with pytest.raises(RecordError, match="every ante equals the common ante of 500"):
        settle(decode_record(record({"ante": 600}, {})))


@pytest.mark.clause("RICO-1a")
@pytest.mark.parametrize("in_pot", [0, 400, 600])
def test_the_dealers_ante_lies_on_the_pot_when_bets_close(in_pot: int) -> None:
    scripted_dealer = table("RICO", {1: "Qc8d", 3: "6h5s"}, DEALER)
    scripted_dealer.prepare()
    assert fx.Prompt("dealer ante") in scripted_dealer.do(f.BetsOpened())
    scripted_dealer.do(f.WagerRead(1, "ante", 500), CHIPS)
    scripted_dealer.do(f.WagerRead(3, "ante", 500), CHIPS)
    scripted_dealer.do(f.WagerRead(POT_SEAT, POT, in_pot), CHIPS)
    refusal = refused(scripted_dealer.try_(f.BetsClosed()))
    assert refusal == fx.Refused("the pot must hold the dealer's ante of $5.00", "RICO-1a")
    scripted_dealer.do(f.WagerRead(POT_SEAT, POT, 500), CHIPS)
    scripted_dealer.do(f.BetsClosed())
    scripted_dealer.deal()
    assert only(scripted_dealer.do(f.DealConfirmed()), fx.ShowPot) == fx.ShowPot(500)


@pytest.mark.clause("RICO-2")
@pytest.mark.parametrize(
    ("pattern", "in_order", "places"),
    [
        ("passes", "2c 3c 4c 2d 3d 4d Ah Kd 9c 7s 3s", [1, 2, 6, 1, 2, 6, 0, 0, 0, 0, 0]),
        ("hands", "2c 2d 3c 3d 4c 4d Ah Kd 9c 7s 3s", [1, 1, 2, 2, 6, 6, 0, 0, 0, 0, 0]),
    ],
)
def test_two_cards_to_each_player_and_five_to_the_dealer_all_open(
    pattern: str, in_order: str, places: list[int]
) -> None:
    scripted_dealer = draws("RICO", in_order, deal_pattern=pattern)
    scripted_dealer.prepare()
    scripted_dealer.bets({1: {"ante": 500}, 2: {"ante": 500}, 6: {"ante": 500}})
    told: list[fx.Effect] = []
    scripted_dealer.told = lambda _, effects: told.extend(effects)
    scripted_dealer.deal()
    shown = [(e.seat, e.card) for e in told if isinstance(e, fx.ShowDealtCard)]
    assert shown == list(zip(places, cards(in_order), strict=True))
    assert scripted_dealer.state.face_up == {
        1: cards("2c2d"),
        2: cards("3c3d"),
        6: cards("4c4d"),
        0: cards("AhKd9c7s3s"),
    }
    # The order is assumed: the dealer compares the cards before anything follows from them.
    assert scripted_dealer.is_in(Phase.DEALT)
    assert refused(scripted_dealer.try_(f.Folded(1)))


@pytest.mark.clause("RICO-I2")
@pytest.mark.parametrize("when", ["in the deal", "in the draw"])
def test_a_card_read_twice_stops_the_round_until_the_supervisor_names_it(when: str) -> None:
    hands = {1: "6c5dQdQhQs", 3: "Jc8d"}
    scripted_dealer = table("RICO", hands, DEALER)
    scripted_dealer.prepare()
    scripted_dealer.bets({1: {"ante": 500}, 3: {"ante": 500}})
    if when == "in the deal":
        for _ in range(8):
            scripted_dealer.deal_one()
    else:
        scripted_dealer.deal()
        scripted_dealer.do(f.DealConfirmed())
        scripted_dealer.do(f.WagerRead(1, "play", 500), CHIPS)
        scripted_dealer.do(f.Played(1))
        scripted_dealer.deal_one()
        scripted_dealer.deal_one()
    stop = scripted_dealer.do(f.CardDrawn(HiddenCard(card("Jc"))), SHOE)
    assert scripted_dealer.is_in(Phase.FROZEN)
    assert only(stop, fx.AskSupervisor).answers == ("misread", "confirmed", "resume")
    shown = only(
        scripted_dealer.do(f.SupervisorRuled("misread", card=HiddenCard(card("2s"))), SUPERVISOR),
        fx.ShowDealtCard,
    )
    if when == "in the deal":
        assert shown == fx.ShowDealtCard(0, card("2s"))
        assert scripted_dealer.state.face_up[0] == cards("AhKd9c7s2s")
        assert scripted_dealer.is_in(Phase.DEALT)
    else:
        assert shown == fx.ShowDealtCard(1, card("2s"))
        assert scripted_dealer.state.face_up[1] == cards("6c5dQdQh2s")
        assert scripted_dealer.is_in(Phase.ACTION)


@pytest.mark.clause("RICO-I2")
def test_a_foreign_card_is_the_supervisors_and_a_void_gives_everything_back() -> None:
    scripted_dealer = table("RICO", {1: "6c5d", 3: "Jc8d"}, DEALER)
    scripted_dealer.prepare()
    scripted_dealer.bets({1: {"ante": 500, "rapid_fire": 200}, 3: {"ante": 500}})
    for _ in range(4):
        scripted_dealer.deal_one()
    scripted_dealer.do(f.CardDrawn(HiddenCard(card("Jc"))), SHOE)
    asked = scripted_dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert only(asked, fx.AskSupervisor).answers == ("play on", "void")
    void = scripted_dealer.do(f.SupervisorRuled("void"), SUPERVISOR)
    back = [(e.seat, e.spot, e.cents) for e in void if isinstance(e, fx.ReturnWager)]
    assert back == [(1, "ante", 500), (1, "rapid_fire", 200), (3, "ante", 500)]


def without(*names: str, **changes: Any) -> dict[str, Any]:
    """The settings of a table, less these."""
    return {k: v for k, v in SETTINGS["RICO"].items() if k not in names} | changes


@pytest.mark.clause("RICO-B0")
@pytest.mark.parametrize(
    ("spot", "clause"), [("rapid_fire", "RICO-RFP"), ("hedge", "RICO-HBP")], ids=["rf", "hb"]
)
def test_a_bonus_bet_is_closed_until_its_pay_table_is_set(spot: str, clause: str) -> None:
    pay = f"{spot}_pay"
    with pytest.raises(SettingsError, match=pay):
        open_table("RICO", without(pay), TODAY)
    state = open_table("RICO", without(pay, **{spot: False}), TODAY)
    scripted_dealer = ScriptedDealer(state, stacked([], random.Random(1)))
    scripted_dealer.prepare()
    scripted_dealer.do(f.BetsOpened())
    scripted_dealer.do(f.WagerRead(POT_SEAT, POT, 500), CHIPS)
    scripted_dealer.do(f.WagerRead(1, "ante", 500), CHIPS)
    flagged = scripted_dealer.do(f.WagerRead(1, spot, 200), CHIPS)
    assert fx.Prompt("limit", 1, clause) in flagged
    back = only(scripted_dealer.do(f.BetsClosed()), fx.ReturnWager)
    assert (back.seat, back.spot, back.cents) == (1, spot, 200)
    assert scripted_dealer.state.seats[1].locked == {"ante": 500}


@pytest.mark.clause("RICO-RFP")
def test_rapid_fire_has_no_odds_but_those_the_operator_sets() -> None:
    """Without them the table does not open with the bet on, and a record's win is not guessed."""
    with pytest.raises(SettingsError, match="rapid_fire_pay"):
        open_table("RICO", without("rapid_fire_pay"), TODAY)
    placed = {"ante": 500, "rapid_fire": 200}
    result = settle(decode_record(record(placed, {})))
    assert result["round_status"] == "settled"
    assert result["clauses"] == ["RICO-RFP"]
    assert result["seats"][0]["wagers"]["rapid_fire"]["status"] == "supervisor"
    assert [s["net"] for s in result["seats"]] == [None, -500]
    paid = settle(decode_record(record(placed, {"rapid_fire_pay": {"win": 4, "tie": 0}})))
    assert paid["seats"][0]["net"] == -500 + 800


@pytest.mark.clause("RICO-HBP")
def test_the_hedge_bet_has_no_trigger_but_those_the_operator_sets() -> None:
    with pytest.raises(SettingsError, match="hedge_pay"):
        open_table("RICO", without("hedge_pay"), TODAY)
    placed = {"ante": 500, "hedge": 200}
    result = settle(decode_record(record(placed, {})))
    assert result["clauses"] == ["RICO-HBP"]
    assert result["seats"][0]["wagers"]["hedge"]["status"] == "supervisor"
    assert [s["net"] for s in result["seats"]] == [None, -500]
    lost = settle(decode_record(record(placed, {"hedge_pay": {"three of a kind": 5}})))
    assert lost["seats"][0]["net"] == -700
