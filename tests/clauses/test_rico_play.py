"""RICO at the live table: the order of action, the play wager, the pot, and the end."""

from __future__ import annotations

import pytest

from controller.demo.scripted_dealer import CHIPS, SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import POT, POT_SEAT
from controller.rules.engine.state import Phase
from tests.clauses.tables import only, refused, row, table

ACE_HIGH = "AhKd9c7s3d"


def confirmed(hands: dict[int, str], dealer: str = ACE_HIGH) -> ScriptedDealer:
    """Dealt and confirmed. Cards beyond two are a seat's draw; name the seats as they will act."""
    scripted_dealer = table("RICO", hands, dealer)
    scripted_dealer.prepare()
    scripted_dealer.bets({n: {"ante": 500} for n in sorted(hands)})
    scripted_dealer.deal()
    scripted_dealer.do(f.DealConfirmed())
    return scripted_dealer


def pot(scripted_dealer: ScriptedDealer, cents: int) -> tuple[fx.Effect, ...]:
    return scripted_dealer.do(f.WagerRead(POT_SEAT, POT, cents), CHIPS)


def play(scripted_dealer: ScriptedDealer, seat: int) -> list[fx.Effect]:
    """A seat plays and draws three; what the last card brought about."""
    scripted_dealer.do(f.WagerRead(seat, "play", 500), CHIPS)
    scripted_dealer.do(f.Played(seat))
    told: list[fx.Effect] = []
    scripted_dealer.told = lambda _, effects: told.extend(effects)
    for _ in range(3):
        scripted_dealer.deal_one()
    scripted_dealer.told = None
    return told


def alarms(effects: tuple[fx.Effect, ...]) -> list[fx.RaiseAlarm]:
    return [e for e in effects if isinstance(e, fx.RaiseAlarm)]


@pytest.mark.clause("RICO-I1")
def test_the_pot_is_the_sum_of_the_wagers_moved_to_it_and_goes_to_the_best_hand() -> None:
    """Seat 3 folds 5; seat 1 plays and tops the dealer; seat 5 tops seat 1, whose 10 go in."""
    scripted_dealer = confirmed({3: "6h5s", 1: "Jc8dJd4h2s", 5: "QcTsQd7cQh"})
    assert only(scripted_dealer.do(f.Folded(3)), fx.ShowPot) == fx.ShowPot(500 + 500)
    pot(scripted_dealer, 1000)
    shown = play(scripted_dealer, 1)
    assert [e.cents for e in shown if isinstance(e, fx.ShowPot)] == [1000]
    shown = play(scripted_dealer, 5)
    assert [e for e in shown if isinstance(e, fx.ShowPot)] == [
        fx.ShowPot(500 + 500 + 1000),
        fx.ShowPot(2000, (5,)),
    ]
    scripted_dealer.end_ricochet()
    assert [row(scripted_dealer, n)["net"] for n in (1, 3, 5)] == [-1000, -500, 2000]
    assert scripted_dealer.state.history[-1].result["house_net"] == -500


@pytest.mark.clause("RICO-3")
@pytest.mark.parametrize(
    ("dealer", "out", "net"), [("KcKdQh3s2c", True, 500), ("KcKdJh9s8c", False, -1000)]
)
def test_a_dealer_at_the_kickout_limit_folds_and_leaves_the_ante_in_the_pot(
    dealer: str, out: bool, net: int
) -> None:
    """One player with a pair of tens: enough when the kings are out, too little when they stay."""
    scripted_dealer = table("RICO", {4: "TcTd4h3h2d"}, dealer)
    scripted_dealer.prepare()
    scripted_dealer.bets({4: {"ante": 500}})
    scripted_dealer.deal()
    effects = scripted_dealer.do(f.DealConfirmed())
    assert only(effects, fx.ShowKickout) == fx.ShowKickout(out)
    assert only(effects, fx.ShowPot) == fx.ShowPot(500)
    # Alone in the hand, the seat is offered the pot.
    assert only(effects, fx.Prompt).code == ("act or take" if out else "act")
    play(scripted_dealer, 4)
    scripted_dealer.end_ricochet()
    assert row(scripted_dealer, 4)["net"] == net


@pytest.mark.clause("RICO-4")
def test_seats_act_from_the_lowest_two_cards_up_and_suits_break_ties() -> None:
    """9-2, then Kh7 before Ks7, then 6d6h before 6s6c; nobody acts out of turn."""
    scripted_dealer = confirmed(
        {5: "9c2d", 3: "Kh7s", 1: "Ks7h", 4: "6d6h", 2: "6s6c"}, "AhJd9d8s3d"
    )
    held = 500
    for seat, following in [(5, 3), (3, 1), (1, 4), (4, 2), (2, None)]:
        assert scripted_dealer.state.showdown is not None
        assert scripted_dealer.state.showdown.to_act == seat
        other = 2 if seat != 2 else 4
        refusal = refused(scripted_dealer.try_(f.Folded(other)))
        assert refusal == fx.Refused(f"seat {seat} acts now", "RICO-4")
        scripted_dealer.do(f.Folded(seat))
        held += 500
        effects = pot(scripted_dealer, held)
        if following is not None:
            assert effects == (fx.Prompt("act", following), fx.SetLamp(following, "your turn"))
    scripted_dealer.end_ricochet()
    assert scripted_dealer.state.history[-1].result["action_order"] == [5, 3, 1, 4, 2]


@pytest.mark.clause("RICO-4a")
def test_a_fold_loses_the_ante_to_the_pot_before_the_next_seat_is_asked() -> None:
    scripted_dealer = confirmed({3: "6h5s", 1: "Qc8dQd4h2s"})
    effects = scripted_dealer.do(f.Folded(3))
    assert effects == (fx.ShowPot(1000), fx.Prompt("move to pot", detail="1000"))
    # The ante leaves its spot for the pot: that is no alarm.
    assert scripted_dealer.do(f.WagerRead(3, "ante", 0), CHIPS) == ()
    scripted_dealer.do(f.WagerRead(1, "play", 500), CHIPS)
    for arrived in (500, 900, 1100):  # chips that do not arrive, or not all, or too many
        assert pot(scripted_dealer, arrived) == (fx.Prompt("move to pot", detail="1000"),)
        for what in (f.Folded(1), f.Played(1)):
            refusal = refused(scripted_dealer.try_(what))
            assert refusal == fx.Refused("the pot must hold 1000 before the next hand", "RICO-4a")
    assert pot(scripted_dealer, 1000) == (fx.Prompt("act", 1), fx.SetLamp(1, "your turn"))
    # The cards are discarded: seat 3 acts no more, and the next three cards are seat 1's.
    for what in (f.Folded(3), f.Played(3)):
        assert refused(scripted_dealer.try_(what)).reason == "seat 1 acts now"
    scripted_dealer.do(f.Played(1))
    for _ in range(3):
        scripted_dealer.deal_one()
    assert [len(scripted_dealer.state.face_up[n]) for n in (3, 1)] == [2, 5]
    scripted_dealer.end_ricochet()
    assert row(scripted_dealer, 3)["hand"] is None
    assert (row(scripted_dealer, 3)["final"], row(scripted_dealer, 3)["net"]) == ("folded", -500)
    assert scripted_dealer.state.history[-1].result["pot_winners"] == [1]
    assert row(scripted_dealer, 1)["net"] == 1000  # the dealer's ante and that of seat 3


@pytest.mark.clause("RICO-4b")
def test_three_cards_come_only_after_a_play_wager_equal_to_the_ante() -> None:
    scripted_dealer = confirmed({3: "6h5s2c6d9h4c", 1: "Qc8d"})
    assert refused(scripted_dealer.try_(f.Played(3))).clause == "RICO-4b"
    # A card before the wager belongs to nobody.
    stop = scripted_dealer.do(f.CardDrawn(scripted_dealer.draw()), SHOE)
    assert only(stop, fx.AskSupervisor).question == "A card came before the play wager (RICO-4b)."
    scripted_dealer.do(f.SupervisorRuled("resume"), SUPERVISOR)
    assert scripted_dealer.is_in(Phase.ACTION)
    # Only the seat that is asked has its play spot open, and only the ante will do.
    late = scripted_dealer.do(f.WagerRead(1, "play", 500), CHIPS)
    assert alarms(late) == [fx.RaiseAlarm("late wager", 1, "play: $5.00", "RICO-1")]
    scripted_dealer.do(f.WagerRead(1, "play", 0), CHIPS)
    short = scripted_dealer.do(f.WagerRead(3, "play", 400), CHIPS)
    assert short == (fx.Prompt("play bet", 3),)
    refusal = refused(scripted_dealer.try_(f.Played(3)))
    assert refusal == fx.Refused("seat 3: the play wager must be exactly $5.00", "RICO-4b")
    assert scripted_dealer.do(f.WagerRead(3, "play", 500), CHIPS) == ()
    assert scripted_dealer.do(f.Played(3)) == (fx.Prompt("draw", 3),)
    for _ in range(3):
        scripted_dealer.deal_one()
    assert scripted_dealer.state.face_up[3] == cards("6h5s 6d9h4c")
    # From now on the wager is live: lifting it is an alarm, and a void gives it back.
    lifted = scripted_dealer.do(f.WagerRead(3, "play", 0), CHIPS)
    assert alarms(lifted) == [fx.RaiseAlarm("wager lifted", 3, "play: $0.00 of $5.00", "RICO-1")]
    scripted_dealer.do(f.DealtWrong())
    void = scripted_dealer.do(f.SupervisorRuled("void"), SUPERVISOR)
    back = [(e.seat, e.spot, e.cents) for e in void if isinstance(e, fx.ReturnWager)]
    assert back == [(1, "ante", 500), (3, "ante", 500), (3, "play", 500)]


@pytest.mark.clause("RICO-KN1")
def test_the_limit_is_that_of_the_hands_dealt_whoever_folds_later() -> None:
    """Tens and twos play against five hands; with two left they would be out, and are not."""
    hands = {1: "4c3c", 2: "5c3h", 3: "6c3s", 4: "7c4h8h9s2d", 5: "8c4dJhQs6d"}
    scripted_dealer = table("RICO", hands, "TcTd2h2s9c")
    scripted_dealer.prepare()
    scripted_dealer.bets({n: {"ante": 500} for n in hands})
    scripted_dealer.deal()
    assert only(scripted_dealer.do(f.DealConfirmed()), fx.ShowKickout) == fx.ShowKickout(False)
    for seat, held in ((1, 1000), (2, 1500), (3, 2000)):
        scripted_dealer.do(f.Folded(seat))
        pot(scripted_dealer, held)
    play(scripted_dealer, 4)
    pot(scripted_dealer, 3000)
    shown = play(scripted_dealer, 5)
    assert fx.ShowPot(4000, ("dealer",)) in shown
    assert fx.Prompt("award pot", detail="dealer") in shown
    refusal = refused(scripted_dealer.try_(f.RoundEnded()))
    assert refusal.clause == "RICO-9"
    scripted_dealer.end_ricochet()
    assert scripted_dealer.state.history[-1].result["house_net"] == 3500
