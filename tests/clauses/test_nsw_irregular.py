"""NSW rule 12: misdeals, void hands, and cards that do not belong to the deck."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import DEALER_AT_TABLE, SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import HiddenCard, cards
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.events import event_to_json
from controller.rules.settle import settle
from tests.clauses.tables import SHUFFLER, base, confirmed, draws, only, refused, row, table

WAGERS = {2: base(1000), 4: base(2500), 5: base(1000)}
HANDS = {2: "TcTd2h", 4: "AcAd7h", 5: "3c5d8h"}


def locked(**changes: Any) -> ScriptedDealer:
    """Seats 2 and 4 will win, seat 5 will lose; bets are closed."""
    dealer = table("NSW", HANDS, "JsQh", **changes)
    dealer.prepare()
    dealer.bets(WAGERS)
    return dealer


def dealt() -> ScriptedDealer:
    dealer = locked()
    dealer.deal()
    return dealer


def in_settlement() -> ScriptedDealer:
    """Seat 5 has lost and is settled, seat 4 has won and is settled, seat 2 is closed."""
    dealer = dealt()
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    for number in (5, 4):
        dealer.do(f.HandOpened(number))
        dealer.do(f.SeatSettled(number))
        for spot in ("1", "2", "$"):
            dealer.take(number, spot)
    return dealer


def returned(effects: tuple[fx.Effect, ...]) -> dict[int, int]:
    """What goes back to each seat."""
    total: dict[int, int] = {}
    for e in effects:
        if isinstance(e, fx.ReturnWager):
            total[e.seat] = total.get(e.seat, 0) + e.cents
    return total


def ruled(*events: dict[str, Any]) -> Any:
    """A round of one winner and one loser with these events."""
    seats = [
        {"seat": 2, "wagers": base(1000), "cards": ["Tc", "Td", "2h"]},
        {"seat": 5, "wagers": base(1000), "cards": ["3c", "5d", "8h"]},
    ]
    body = {"seats": seats, "community": ["Js", "Qh"], "events": list(events)}
    return settle(decode_record({"game": "NSW", "round": body}))


# --- misdeals ----------------------------------------------------------------------------------


@pytest.mark.clause("NSW-12.1")
def test_a_wrong_deal_found_before_handling_is_a_misdeal_and_no_hand_is_moved() -> None:
    dealer = dealt()
    refusal = refused(dealer.try_(f.HandsRemapped(2, 5), SUPERVISOR))
    assert refusal.clause == "NSW-12.1"
    effects = dealer.do(f.DealtWrong())
    assert effects[0] == fx.Prompt("void", detail="NSW-12.1")
    assert dealer.state.phase is Phase.VOIDING


@pytest.mark.clause("NSW-12.2")
def test_a_wrong_number_of_cards_at_the_dealer_is_a_misdeal_until_the_round_is_settled() -> None:
    for size in (1, 2, 4):  # three are right: two to be shared and one to be burnt
        dealer = draws("NSW", "Tc Td 2h 3c 5d 8h 9s Js 4c 4d", **SHUFFLER["NSW"])
        dealer.prepare()
        dealer.bets({2: base(1000), 5: base(1000)})
        dealer.deal_one()
        dealer.deal_one()
        packet = tuple(dealer.draw() for _ in range(size))
        dealer.do(f.PacketDispensed(packet), SHOE)
        frozen = dealer.state.frozen
        assert frozen is not None
        assert frozen.question == f"The dealer's packet holds {size} cards."
        effects = dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
        assert dealer.state.voided_by == "NSW-12.2"
        assert returned(effects) == {2: 3000, 5: 3000}
    for count in (0, 1, 3):  # told at the console, while players decide
        for turns in (0, 1):
            dealer = dealt()
            if turns:
                dealer.decide()
                dealer.turn(1)
            effects = dealer.do(f.CountFound(None, count))
            assert effects[0] == fx.Prompt("void", detail="NSW-12.2")
            assert dealer.state.result["house_net"] == 0
    late = in_settlement()
    late.do(f.CountFound(None, 3))
    effects = confirmed(late)
    assert effects[0] == fx.Prompt("void", detail="NSW-12.2")


@pytest.mark.clause("NSW-12.5")
def test_one_exposed_card_is_turned_over_and_a_second_is_a_misdeal() -> None:
    dealer = locked()
    dealer.deal_one()
    assert dealer.do(f.CardExposed()) == ()
    dealer.deal_one()
    assert dealer.state.phase is Phase.DEALING
    effects = dealer.do(f.CardExposed())
    assert effects[0] == fx.Prompt("void", detail="NSW-12.3")
    assert returned(effects) == {2: 3000, 4: 7500, 5: 3000}


@pytest.mark.clause("NSW-12.3")
@pytest.mark.parametrize("handled", [False, True])
def test_two_cards_exposed_in_the_deal_void_it_and_after_it_are_for_the_supervisor(
    handled: bool,
) -> None:
    for counts in ((2,), (1, 1), (5,)):
        dealer = locked()
        dealer.deal_one()
        told = [dealer.do(f.CardExposed(count)) for count in counts]
        assert told[:-1] == [()] * (len(counts) - 1)
        assert told[-1][0] == fx.Prompt("void", detail="NSW-12.3")
        assert returned(told[-1]) == {2: 3000, 4: 7500, 5: 3000}
    dealer = locked()
    dealer.deal_one()
    dealer.do(f.CardExposed())  # in the deal: counted apart from what follows
    dealer.deal()
    if handled:
        dealer.do(f.CardsHandled())
    dealer.do(f.CardExposed())
    assert dealer.is_in(Phase.DECISION_1)
    effects = dealer.do(f.CardExposed())
    assert only(effects, fx.AskSupervisor).answers == ("play on", "void")
    assert dealer.is_in(Phase.FROZEN)
    dealer.do(f.SupervisorRuled("play on", "seen by nobody"), SUPERVISOR)
    dealer.let_it_ride()
    assert [row(dealer, n)["net"] for n in (2, 4, 5)] == [3000, 7500, -3000]
    assert dealer.state.history[-1].result["round_status"] == "settled"


@pytest.mark.clause("NSW-12.5")
def test_a_round_with_one_exposed_card_is_played_to_its_end() -> None:
    dealer = locked()
    dealer.deal_one()
    dealer.do(f.CardExposed())
    dealer.let_it_ride()
    assert [row(dealer, n)["net"] for n in (2, 4, 5)] == [3000, 7500, -3000]
    assert dealer.state.history[-1].record["round"]["events"] == [
        {"type": "exposed_cards", "count": 1}
    ]


@pytest.mark.clause("NSW-12.6")
@pytest.mark.parametrize("handled", [False, True])
def test_a_community_card_shown_in_error_is_a_misdeal_unless_cards_were_handled(
    handled: bool,
) -> None:
    dealer = dealt()
    if handled:
        dealer.do(f.CardsHandled())
    effects = dealer.do(f.CardExposed(community=True))
    assert (fx.Prompt("void", detail="NSW-12.6") in effects) is not handled
    if handled:
        dealer.let_it_ride()
        assert [row(dealer, n)["net"] for n in (2, 4, 5)] == [3000, 7500, -3000]
        (event,) = dealer.state.history[-1].record["round"]["events"]
        assert event == {
            "type": "exposed_cards",
            "count": 1,
            "community": True,
            "players_handled": True,
        }


@pytest.mark.clause("NSW-12.4")
def test_after_a_misdeal_all_wagers_are_returned_and_a_new_round_is_dealt() -> None:
    dealer = dealt()
    effects = dealer.do(f.DealtWrong())
    assert returned(effects) == {2: 3000, 4: 7500, 5: 3000}
    dealer.do(f.VoidCleared())
    result = dealer.state.history[-1].result
    assert (result["round_status"], result["house_net"]) == ("void", 0)
    assert refused(dealer.try_(f.BetsOpened())).clause == "NSW-4.1"
    dealer.prepare()
    dealer.do(f.BetsOpened())
    assert dealer.state.round_no == 2
    dealer.do(f.BetsClosed())  # what still lies there counts as the new wagers
    assert {n: seat.locked for n, seat in dealer.state.seats.items()} == WAGERS


# --- hands -------------------------------------------------------------------------------------


@pytest.mark.clause("NSW-12.7")
def test_a_hand_with_a_wrong_number_of_cards_is_void_and_the_others_go_on() -> None:
    dealer = dealt()
    dealer.do(f.CardsHandled())
    effects = dealer.do(f.CountFound(4, 4))
    assert fx.Prompt("hand void", 4, "NSW-12.7") in effects
    assert returned(effects) == {4: 7500}
    dealer.let_it_ride()
    void = row(dealer, 4)
    assert (void["hand"], void["net"]) == (None, 0)
    assert {w["status"] for w in void["wagers"].values()} == {"void"}
    assert [row(dealer, n)["net"] for n in (2, 5)] == [3000, -3000]
    misdealt = dealt()
    misdealt.do(f.CountFound(4, 4))  # before anyone handled cards
    assert misdealt.state.voided_by == "NSW-12.1"


@pytest.mark.clause("NSW-12.8")
def test_a_hand_at_an_area_without_a_wager_is_set_aside_and_the_others_are_mapped_anew() -> None:
    """Dealt to seats 1, 2 and 3 although seat 2 has no wager: eleven cards."""
    dealer = draws("NSW", "Tc 4c 3c  Td 4d 5d  2h 4h 8h  Js Qh")
    dealer.prepare()
    dealer.bets({1: base(1000), 3: base(1000)})
    for _ in range(11):
        dealer.deal_one()
    dealer.do(f.CardsHandled())
    dealer.do(f.StrayHandFound(2))
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()
    assert dealer.state.turned == cards("Js Qh")
    assert dealer.state.seats[1].opened == cards("Tc Td 2h")
    assert dealer.state.seats[3].opened == cards("3c 5d 8h")
    assert [row(dealer, n)["net"] for n in (1, 3)] == [3000, -3000]
    assert "4c" not in str(dealer.state.history[-1].record)
    # The hand is counted: a twelfth card is not explained by it, and nothing is guessed.
    more = draws("NSW", "Tc 4c 3c  Td 4d 5d  2h 4h 8h  Js Qh 9s")
    more.prepare()
    more.bets({1: base(1000), 3: base(1000)})
    for _ in range(12):
        more.deal_one()
    more.do(f.CardsHandled())
    effects = more.do(f.StrayHandFound(2))
    asked = only(effects, fx.AskSupervisor)
    assert asked.question == "12 cards are out, 11 are explained."
    assert asked.answers == ("confirmed",)
    assert more.is_in(Phase.FROZEN)


def test_a_stray_hand_found_before_handling_is_a_misdeal() -> None:
    dealer = draws("NSW", "Tc 4c 3c  Td 4d 5d  2h 4h 8h  Js Qh")
    dealer.prepare()
    dealer.bets({1: base(1000), 3: base(1000)})
    for _ in range(11):
        dealer.deal_one()
    dealer.do(f.StrayHandFound(2))
    assert dealer.state.voided_by == "NSW-12.1"


# --- cards that are missing or foreign ---------------------------------------------------------


@pytest.mark.clause("NSW-12.9")
@pytest.mark.parametrize(
    "phase", [Phase.DEALING, Phase.DECISION_1, Phase.DECISION_2, Phase.SETTLEMENT]
)
def test_a_card_that_is_not_of_the_deck_stops_the_round_and_never_voids_it_by_itself(
    phase: Phase,
) -> None:
    if phase is Phase.SETTLEMENT:
        dealer = in_settlement()
    else:
        dealer = locked()
        dealer.deal_one()
        if phase is not Phase.DEALING:
            dealer.deal()
        if phase is Phase.DECISION_2:
            dealer.decide()
            dealer.turn(1)
    again = HiddenCard(cards("Tc")[0])  # dealt already
    found: list[tuple[f.What, Any, str]] = [
        (f.UnknownCardSeen(), SHOE, "foreign_card"),
        (f.CardFaultReported("foreign"), DEALER_AT_TABLE, "foreign_card"),
        (f.CardFaultReported("short", 51), DEALER_AT_TABLE, "deck_count"),
        (f.CardFaultReported("excess", 53), DEALER_AT_TABLE, "deck_count"),
        (f.DeckCounted(51), SHOE, "deck_count"),
    ]
    if phase is Phase.DEALING:
        found.append((f.CardDrawn(again), SHOE, "foreign_card"))
    for what, by, event in found:
        before = dealer.state
        dealer.do(what, by)
        frozen = dealer.state.frozen
        assert frozen is not None, what
        assert frozen.phase is phase
        assert frozen.event is not None
        assert event_to_json(frozen.event)["type"] == event
        assert {"confirmed", "resume"} <= set(frozen.answers)
        assert (dealer.state.drawn, dealer.state.voided_by) == (before.drawn, None)
        dealer.do(f.SupervisorRuled("resume"), SUPERVISOR)
        assert dealer.state.phase is phase
        assert dealer.state.seats == before.seats
    dealer.do(f.UnknownCardSeen(), SHOE)
    confirmed(dealer)
    assert dealer.is_in(Phase.VOIDING)


@pytest.mark.clause("NSW-12.9.1")
def test_a_card_fault_leaves_the_rounds_before_it_as_they_were() -> None:
    dealer = locked()
    dealer.let_it_ride()
    refusal = refused(dealer.try_(f.OutcomeInvalidated("fraud"), SUPERVISOR))
    assert refusal.reason == "outcome invalidated: not while between rounds"
    dealer.do(f.CardFaultReported("foreign"))  # found between two rounds
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    dealer.prepare()
    dealer.bets(WAGERS)
    dealer.deal_one()
    dealer.do(f.UnknownCardSeen(), SHOE)
    dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    dealer.do(f.VoidCleared())
    first, second = dealer.state.history
    assert [seat["net"] for seat in first.result["seats"]] == [3000, 7500, -3000]
    assert first.corrections == ()
    assert second.result["round_status"] == "void"
    for event in ({"type": "foreign_card"}, {"type": "deck_count", "count": 51}):
        assert ruled({**event, "after_round_concluded": True})["round_status"] == "settled"


@pytest.mark.clause("NSW-12.9.2")
def test_the_round_of_the_fault_is_void_and_what_was_paid_or_taken_goes_back() -> None:
    dealer = in_settlement()
    dealer.do(f.CardFaultReported("foreign"))
    effects = dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert effects[0] == fx.Prompt("void", detail="NSW-12.9.2")
    assert returned(effects) == {2: 3000}  # not settled yet
    reversals = {e.seat: e.cents for e in effects if isinstance(e, fx.PayDifference)}
    assert reversals == {4: -7500, 5: 3000}
    dealer.do(f.VoidCleared())
    assert [row(dealer, n)["net"] for n in (2, 4, 5)] == [0, 0, 0]


@pytest.mark.clause("NSW-12.9.3")
def test_after_a_card_fault_the_table_stays_closed_until_the_deck_is_checked() -> None:
    dealer = dealt()
    dealer.do(f.CardFaultReported("short", 51))
    dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert fx.Prompt("check deck") in dealer.do(f.VoidCleared())
    dealer.do(f.DeckShuffled("red"), SHOE)
    dealer.do(f.DeckCut())
    refusal = refused(dealer.try_(f.BetsOpened()))
    assert refusal == fx.Refused(
        "the deck must be checked for missing and foreign cards", "NSW-12.9.3"
    )
    dealer.do(f.DeckChecked("red", passed=True), SUPERVISOR)
    assert only(dealer.do(f.BetsOpened()), fx.Prompt) == fx.Prompt("place bets")


# --- void, and no round yet --------------------------------------------------------------------


@pytest.mark.clause("NSW-1.1-void")
def test_void_means_no_win_no_loss_and_every_stake_back() -> None:
    result = ruled({"type": "foreign_card"})
    assert result["round_status"] == "void"
    assert result["house_net"] == 0
    returned_stake = {
        "placed": 1000,
        "status": "void",
        "odds": None,
        "win": 0,
        "stake_back": 1000,
        "to_player": 1000,
    }
    for seat in result["seats"]:
        assert (seat["hand"], seat["net"]) == (None, 0)
        assert seat["wagers"] == dict.fromkeys(("1", "2", "$"), returned_stake)


@pytest.mark.clause("NSW-1.1-round")
def test_before_the_first_card_no_round_is_in_play_and_a_void_only_calls_the_betting_off() -> None:
    dealer = locked()
    assert dealer.state.in_play is False
    forfeit = f.OutcomeInvalidated("fraud", forfeit_seats=(2,))
    assert refused(dealer.try_(forfeit, SUPERVISOR)).clause == "NSW-1.1-round"
    effects = dealer.do(f.OutcomeInvalidated("disruption"), SUPERVISOR)
    assert returned(effects) == {2: 3000, 4: 7500, 5: 3000}
    dealer.do(f.VoidCleared())
    assert dealer.state.phase is Phase.IDLE
    (archive,) = dealer.state.history
    assert (archive.round_no, archive.result["round_status"]) == (1, "void")
    assert [seat["cards"] for seat in archive.record["round"]["seats"]] == [[], [], []]
    dealer = locked()
    dealer.do(f.CardDrawn(HiddenCard(cards("Tc")[0])), SHOE)
    assert dealer.state.in_play is True
    dealer.do(f.OutcomeInvalidated("fraud", forfeit_seats=(2,)), SUPERVISOR)
    dealer.do(f.VoidCleared())
    assert [archive.result["house_net"] for archive in dealer.state.history] == [3000]
    assert dealer.state.in_play is False
