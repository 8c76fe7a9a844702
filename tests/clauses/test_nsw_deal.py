"""NSW rule 7: the closing call, and which card goes where."""

from __future__ import annotations

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import HiddenCard, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.export import export_round
from controller.rules.engine.state import Phase
from controller.rules.errors import SettingsError
from tests.clauses.tables import SHUFFLER, base, draws, only, row, table

THREE_SEATS = {1: base(1000), 3: base(1000), 6: base(1000)}
PASSES = "Tc 3c Ac  Td 5d Ad  2h 8h 7s  Js Qh"
PACKETS = "Tc Td 2h  3c 5d 8h  Ac Ad 7s  9s Js Qh"


def locked(in_order: str, **changes: str) -> ScriptedDealer:
    dealer = draws("NSW", in_order, **changes)
    dealer.prepare()
    dealer.bets(THREE_SEATS)
    return dealer


def shuffler(in_order: str = PACKETS, **changes: str) -> ScriptedDealer:
    return locked(in_order, **{**SHUFFLER["NSW"], **changes})


def prompts(effects: tuple[fx.Effect, ...]) -> list[tuple[str, int | None]]:
    return [(e.code, e.seat) for e in effects if isinstance(e, fx.Prompt)]


def packet(names: str) -> f.PacketDispensed:
    return f.PacketDispensed(tuple(HiddenCard(c) for c in cards(names)))


@pytest.mark.clause("NSW-7.2")
def test_the_dealer_is_told_to_deal_only_after_the_closing_call() -> None:
    dealer = table("NSW")
    told: list[tuple[str, int | None]] = []
    dealer.told = lambda _fact, effects: told.extend(prompts(effects))
    dealer.prepare()
    dealer.do(f.BetsOpened())
    for number in (3, 6):
        for spot in ("1", "2", "$"):
            dealer.place(number, spot, 1000)
    assert "place bets" in [code for code, _ in told]
    assert "deal seat" not in [code for code, _ in told]
    assert prompts(dealer.do(f.BetsClosed())) == [("deal seat", 3)]
    assert prompts(dealer.do(f.CardDrawn(dealer.draw()), SHOE)) == [("deal seat", 6)]


@pytest.mark.clause("NSW-7.2.1")
def test_a_card_before_the_closing_call_closes_the_wagers_and_is_told() -> None:
    dealer = draws("NSW", PASSES)
    dealer.prepare()
    dealer.do(f.BetsOpened())
    for number, wagers in THREE_SEATS.items():
        for spot, cents in wagers.items():
            dealer.place(number, spot, cents)
    effects = dealer.do(f.CardDrawn(dealer.draw()), SHOE)
    assert only(effects, fx.RaiseAlarm).clause == "NSW-7.2.1"
    assert fx.Prompt("press close") in effects
    assert {n: seat.locked for n, seat in dealer.state.seats.items()} == THREE_SEATS
    late = dealer.do(f.WagerRead(3, "$", 1500), f.Measured("chips"))
    assert only(late, fx.RaiseAlarm).code == "late wager"
    dealer.do(f.BetsClosed())
    assert dealer.state.notes[-1] == "D1: closing call made"
    dealer.let_it_ride()
    assert dealer.state.seats[1].opened == cards("Tc Td 2h")


@pytest.mark.clause("NSW-7.2.2")
@pytest.mark.parametrize("device", ["shoe", "shuffler"])
def test_the_deal_goes_clockwise_from_the_dealers_left(device: str) -> None:
    dealer = locked(PASSES) if device == "shoe" else shuffler()
    order: list[int | None] = [1]  # the dealer was told so at the closing call
    dealer.told = lambda _fact, effects: order.extend(
        seat for code, seat in prompts(effects) if code == "deal seat"
    )
    dealer.deal()
    assert order == ([1, 3, 6] * 3 if device == "shoe" else [1, 3, 6])
    dealer.let_it_ride()
    assert [row(dealer, n)["net"] for n in (1, 3, 6)] == [3000, -3000, 3000]


# --- from a shoe -------------------------------------------------------------------------------


@pytest.mark.clause("NSW-7.3")
def test_eleven_cards_from_a_shoe_complete_the_deal_of_three_seats() -> None:
    dealer = locked(PASSES)
    for _ in range(10):
        dealer.deal_one()
    assert dealer.state.phase is Phase.DEALING
    dealer.deal_one()
    assert dealer.is_in(Phase.DECISION_1)
    with pytest.raises(SettingsError, match=r"is against NSW-7\.3"):
        draws("NSW", PASSES, deal_pattern="hands")


@pytest.mark.clause("NSW-7.3.1")
def test_the_first_three_draws_are_the_first_card_of_each_hand() -> None:
    dealer = locked(PASSES)
    dealer.let_it_ride()
    opened = [dealer.state.seats[n].opened for n in (1, 3, 6)]
    assert [hand[0] for hand in opened if hand] == list(cards("Tc 3c Ac"))


@pytest.mark.clause("NSW-7.3.2")
def test_draws_four_to_nine_are_the_second_and_third_card_of_each_hand() -> None:
    dealer = locked(PASSES)
    dealer.let_it_ride()
    opened = [dealer.state.seats[n].opened for n in (1, 3, 6)]
    assert [hand[1] for hand in opened if hand] == list(cards("Td 5d Ad"))
    assert [hand[2] for hand in opened if hand] == list(cards("2h 8h 7s"))


@pytest.mark.clause("NSW-7.3.3")
def test_the_tenth_and_eleventh_draw_are_the_community_cards_and_none_is_burnt() -> None:
    dealer = locked(PASSES)
    dealer.let_it_ride()
    assert dealer.state.turned == cards("Js Qh")
    assert len(dealer.state.drawn) == 11


# --- from a shuffler ---------------------------------------------------------------------------


@pytest.mark.clause("NSW-7.4")
def test_four_packets_complete_the_deal_of_three_seats() -> None:
    dealer = shuffler()
    for _ in range(3):
        dealer.deal_one()
    assert dealer.state.phase is Phase.DEALING
    dealer.do(packet("9s Js Qh"), SHOE)
    assert dealer.is_in(Phase.DECISION_1)


@pytest.mark.clause("NSW-7.4.1")
def test_each_seat_in_turn_gets_a_packet_of_three() -> None:
    dealer = shuffler()
    dealer.let_it_ride()
    assert dealer.state.seats[1].opened == cards("Tc Td 2h")
    assert dealer.state.seats[3].opened == cards("3c 5d 8h")
    assert dealer.state.seats[6].opened == cards("Ac Ad 7s")


@pytest.mark.clause("NSW-7.4.2")
def test_the_dealer_gets_a_packet_of_three_and_no_other_follows() -> None:
    dealer = shuffler()
    for _ in range(3):
        dealer.deal_one()
    effects = dealer.do(packet("9s Js Qh"), SHOE)
    assert prompts(effects) == [("decide", 1)]
    dealer.do(packet("4c 4d 4h"), SHOE)
    frozen = dealer.state.frozen
    assert frozen is not None
    assert frozen.question == "One card too many is out (NSW-7.4.2)."
    dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert dealer.state.voided_by == "NSW-12.1"


@pytest.mark.clause("NSW-7.4.3")
@pytest.mark.parametrize(
    ("bottom", "order", "community", "burnt"),
    [
        ("first_out", "as_dispensed", "Js Qh", "9s"),
        ("first_out", "reversed", "Qh Js", "9s"),
        ("last_out", "as_dispensed", "9s Js", "Qh"),
        ("last_out", "reversed", "Js 9s", "Qh"),
    ],
)
def test_the_bottom_card_of_the_dealers_packet_is_never_seen(
    bottom: str, order: str, community: str, burnt: str
) -> None:
    dealer = shuffler(packet_bottom=bottom, community_order=order)
    shown: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: shown.extend(effects)
    dealer.let_it_ride()
    assert dealer.state.turned == cards(community)
    (bottom_card,) = cards(burnt)
    assert bottom_card not in [e.card for e in shown if isinstance(e, fx.ShowCommunity)]
    hands = [e.cards for e in shown if isinstance(e, fx.ShowHand)]
    assert not [hand for hand in hands if bottom_card in hand]
    assert burnt not in str(dealer.state.history[-1].record)


@pytest.mark.clause("NSW-1.1-community")
def test_the_community_cards_stay_closed_until_turned_and_then_belong_to_every_hand() -> None:
    dealer = locked("Jc 3c Qc  Qd 5d Jd  2h 8h 7s  Js Qh")
    shown: list[fx.Effect] = []
    dealer.told = lambda _fact, effects: shown.extend(effects)
    dealer.deal()
    dealer.decide()
    assert not [e for e in shown if type(e).__name__.startswith("Show")]
    assert export_round(dealer.state)["round"]["community"] == [None, None]
    dealer.turn(1)
    dealer.decide()
    (first,) = [e for e in shown if type(e).__name__.startswith("Show")]
    assert first == fx.ShowCommunity(1, cards("Js")[0])
    dealer.turn(2)
    assert export_round(dealer.state)["round"]["community"] == ["Js", "Qh"]
    dealer.settle()
    assert [row(dealer, n)["hand"] for n in (1, 3, 6)] == ["two pair", "high card", "two pair"]
