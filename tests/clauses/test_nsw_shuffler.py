"""NSW rule 13: a shuffling device that jams or fails."""

from __future__ import annotations

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from tests.clauses.tables import SHUFFLER, base, draws, only, refused

TWO_SEATS = {2: base(1000), 5: base(2500)}
FIRST_ROUND = "Tc Td 2h  3c 5d 8h  9s Js Qh"
SECOND_ROUND = " Ac Ad 7h  4c 4d 4h  6s 8s Kh"


def at_shuffler() -> ScriptedDealer:
    return draws("NSW", FIRST_ROUND + SECOND_ROUND, **SHUFFLER["NSW"])


def fails_in_the_second_round() -> ScriptedDealer:
    """The first round pays seat 2 and takes from seat 5; the second stops at its first packet."""
    dealer = at_shuffler()
    dealer.round(TWO_SEATS)
    dealer.prepare()
    dealer.bets(TWO_SEATS)
    dealer.deal_one()
    dealer.do(f.ShufflerFailed(), SHOE)
    return dealer


@pytest.mark.clause("NSW-13.1")
def test_after_a_jam_in_the_shuffle_the_cards_are_reshuffled_before_the_first_packet() -> None:
    dealer = at_shuffler()
    dealer.prepare()
    dealer.do(f.BetsOpened())
    assert dealer.do(f.ShufflerFailed(), SHOE) == (fx.Prompt("shuffle"),)
    for number, wagers in TWO_SEATS.items():
        for spot, cents in wagers.items():
            dealer.place(number, spot, cents)
    dealer.do(f.BetsClosed())  # the wagers may be closed meanwhile
    packet = f.PacketDispensed(tuple(dealer.draw() for _ in range(3)))
    refusal = refused(dealer.try_(packet, SHOE))
    assert refusal == fx.Refused("the shuffler has not completed a cycle", "NSW-13.1")
    dealer.do(f.ShufflerReady(), SHOE)  # the jam is cleared, but nothing was shuffled
    assert refused(dealer.try_(packet, SHOE)).clause == "NSW-4.1"
    dealer.do(f.DeckShuffled("red"), SHOE)
    dealer.do(packet, SHOE)
    assert dealer.state.phase is Phase.DEALING


@pytest.mark.clause("NSW-13.2")
def test_a_device_that_fails_in_the_round_stops_it_until_the_supervisor_has_ruled() -> None:
    dealer = fails_in_the_second_round()
    frozen = dealer.state.frozen
    assert frozen is not None
    assert (frozen.question, frozen.answers) == (
        "The shuffler failed in the round.",
        ("resume", "confirmed"),
    )
    assert refused(dealer.try_(f.CommunityTurned(1))).clause == "NSW-1.1-round"
    assert refused(dealer.try_(f.SupervisorRuled("resume"))).clause == "NSW-14.12"
    dealer.do(f.SupervisorRuled("resume"), SUPERVISOR)  # cleared
    dealer.let_it_ride()
    assert dealer.state.history[-1].result["round_status"] == "settled"


@pytest.mark.clause("NSW-13.2.1")
def test_a_round_whose_device_is_no_longer_fit_is_void_and_all_stakes_go_back() -> None:
    dealer = fails_in_the_second_round()
    effects = dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert effects[0] == fx.Prompt("void", detail="NSW-13.2.1")
    back = [(e.seat, e.spot, e.cents) for e in effects if isinstance(e, fx.ReturnWager)]
    assert back == [
        (2, "1", 1000),
        (2, "2", 1000),
        (2, "$", 1000),
        (5, "1", 2500),
        (5, "2", 2500),
        (5, "$", 2500),
    ]
    dealer.do(f.VoidCleared())
    result = dealer.state.history[-1].result
    assert (result["round_status"], result["clauses"]) == ("void", ["NSW-13.2.1"])
    assert [seat["net"] for seat in result["seats"]] == [0, 0]


@pytest.mark.clause("NSW-13.2.2")
def test_rounds_before_the_failure_stand() -> None:
    dealer = fails_in_the_second_round()
    first = dealer.state.history[0]
    dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    dealer.do(f.VoidCleared())
    assert [archive.round_no for archive in dealer.state.history] == [1, 2]
    assert dealer.state.history[0] is first
    assert [seat["net"] for seat in first.result["seats"]] == [3000, -7500]
    assert first.corrections == ()


@pytest.mark.clause("NSW-13.2.3")
def test_the_game_goes_on_with_new_cards_that_are_checked_and_shuffled() -> None:
    dealer = fails_in_the_second_round()
    dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    dealer.do(f.VoidCleared())
    refusal = refused(dealer.try_(f.DeckChanged("red"), SUPERVISOR))
    assert refusal == fx.Refused("a change needs another deck", "NSW-13.2.3")
    dealer.do(f.DeckChanged("green"), SUPERVISOR)
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-3.4"
    dealer.do(f.DeckChecked("green", passed=True), SUPERVISOR)
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-4.1"
    dealer.do(f.DeckShuffled("green"), SHOE)
    assert only(dealer.do(f.BetsOpened()), fx.Prompt) == fx.Prompt("place bets")
