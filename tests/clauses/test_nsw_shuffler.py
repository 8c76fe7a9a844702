"""NSW rule 13: a shuffling device that jams or fails."""

from __future__ import annotations

import pytest

from controller.demo.croupier import SHOE, SUPERVISOR, Croupier
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from tests.clauses.tables import SHUFFLER, base, draws, only, refused

TWO_SEATS = {2: base(1000), 5: base(2500)}
FIRST_ROUND = "Tc Td 2h  3c 5d 8h  9s Js Qh"
SECOND_ROUND = " Ac Ad 7h  4c 4d 4h  6s 8s Kh"


def at_shuffler() -> Croupier:
    return draws("NSW", FIRST_ROUND + SECOND_ROUND, **SHUFFLER["NSW"])


def fails_in_the_second_round() -> Croupier:
    """The first round pays seat 2 and takes from seat 5; the second stops at its first packet."""
    croupier = at_shuffler()
    croupier.round(TWO_SEATS)
    croupier.prepare()
    croupier.bets(TWO_SEATS)
    croupier.deal_one()
    croupier.do(f.ShufflerFailed(), SHOE)
    return croupier


@pytest.mark.clause("NSW-13.1")
def test_after_a_jam_in_the_shuffle_the_cards_are_reshuffled_before_the_first_packet() -> None:
    croupier = at_shuffler()
    croupier.prepare()
    croupier.do(f.BetsOpened())
    assert croupier.do(f.ShufflerFailed(), SHOE) == (fx.Prompt("shuffle"),)
    for number, wagers in TWO_SEATS.items():
        for spot, cents in wagers.items():
            croupier.place(number, spot, cents)
    croupier.do(f.BetsClosed())  # the wagers may be closed meanwhile
    packet = f.PacketDispensed(tuple(croupier.draw() for _ in range(3)))
    refusal = refused(croupier.try_(packet, SHOE))
    assert refusal == fx.Refused("the shuffler has not completed a cycle", "NSW-13.1")
    croupier.do(f.ShufflerReady(), SHOE)  # the jam is cleared, but nothing was shuffled
    assert refused(croupier.try_(packet, SHOE)).clause == "NSW-4.1"
    croupier.do(f.DeckShuffled("red"), SHOE)
    croupier.do(packet, SHOE)
    assert croupier.state.phase is Phase.DEALING


@pytest.mark.clause("NSW-13.2")
def test_a_device_that_fails_in_the_round_stops_it_until_the_supervisor_has_ruled() -> None:
    croupier = fails_in_the_second_round()
    frozen = croupier.state.frozen
    assert frozen is not None
    assert (frozen.question, frozen.answers) == (
        "The shuffler failed in the round.",
        ("resume", "confirmed"),
    )
    assert refused(croupier.try_(f.CommunityTurned(1))).clause == "NSW-1.1-round"
    assert refused(croupier.try_(f.SupervisorRuled("resume"))).clause == "NSW-14.12"
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)  # cleared
    croupier.let_it_ride()
    assert croupier.state.history[-1].result["round_status"] == "settled"


@pytest.mark.clause("NSW-13.2.1")
def test_a_round_whose_device_is_no_longer_fit_is_void_and_all_stakes_go_back() -> None:
    croupier = fails_in_the_second_round()
    effects = croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
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
    croupier.do(f.VoidCleared())
    result = croupier.state.history[-1].result
    assert (result["round_status"], result["clauses"]) == ("void", ["NSW-13.2.1"])
    assert [seat["net"] for seat in result["seats"]] == [0, 0]


@pytest.mark.clause("NSW-13.2.2")
def test_rounds_before_the_failure_stand() -> None:
    croupier = fails_in_the_second_round()
    first = croupier.state.history[0]
    croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    croupier.do(f.VoidCleared())
    assert [archive.round_no for archive in croupier.state.history] == [1, 2]
    assert croupier.state.history[0] is first
    assert [seat["net"] for seat in first.result["seats"]] == [3000, -7500]
    assert first.corrections == ()


@pytest.mark.clause("NSW-13.2.3")
def test_the_game_goes_on_with_new_cards_that_are_checked_and_shuffled() -> None:
    croupier = fails_in_the_second_round()
    croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    croupier.do(f.VoidCleared())
    refusal = refused(croupier.try_(f.DeckChanged("red"), SUPERVISOR))
    assert refusal == fx.Refused("a change needs another deck", "NSW-13.2.3")
    croupier.do(f.DeckChanged("green"), SUPERVISOR)
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-3.4"
    croupier.do(f.DeckChecked("green", passed=True), SUPERVISOR)
    assert refused(croupier.try_(f.BetsOpened())).clause == "NSW-4.1"
    croupier.do(f.DeckShuffled("green"), SHOE)
    assert only(croupier.do(f.BetsOpened()), fx.Prompt) == fx.Prompt("place bets")
