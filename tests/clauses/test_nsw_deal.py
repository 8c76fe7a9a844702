"""NSW rule 7: the closing call, and which card goes where."""

from __future__ import annotations

import pytest

from controller.demo.croupier import SHOE, SUPERVISOR, Croupier
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


def locked(in_order: str, **changes: str) -> Croupier:
    croupier = draws("NSW", in_order, **changes)
    croupier.prepare()
    croupier.bets(THREE_SEATS)
    return croupier


def shuffler(in_order: str = PACKETS, **changes: str) -> Croupier:
    return locked(in_order, **{**SHUFFLER["NSW"], **changes})


def prompts(effects: tuple[fx.Effect, ...]) -> list[tuple[str, int | None]]:
    return [(e.code, e.seat) for e in effects if isinstance(e, fx.Prompt)]


def packet(names: str) -> f.PacketDispensed:
    return f.PacketDispensed(tuple(HiddenCard(c) for c in cards(names)))


@pytest.mark.clause("NSW-7.2")
def test_the_dealer_is_told_to_deal_only_after_the_closing_call() -> None:
    croupier = table("NSW")
    told: list[tuple[str, int | None]] = []
    croupier.told = lambda _fact, effects: told.extend(prompts(effects))
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for number in (3, 6):
        for spot in ("1", "2", "$"):
            croupier.place(number, spot, 1000)
    assert "place bets" in [code for code, _ in told]
    assert "deal seat" not in [code for code, _ in told]
    assert prompts(croupier.do(f.BetsClosed())) == [("deal seat", 3)]
    assert prompts(croupier.do(f.CardDrawn(croupier.draw()), SHOE)) == [("deal seat", 6)]


@pytest.mark.clause("NSW-7.2.1")
def test_a_card_before_the_closing_call_closes_the_wagers_and_is_told() -> None:
    croupier = draws("NSW", PASSES)
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for number, wagers in THREE_SEATS.items():
        for spot, cents in wagers.items():
            croupier.place(number, spot, cents)
    effects = croupier.do(f.CardDrawn(croupier.draw()), SHOE)
    assert only(effects, fx.RaiseAlarm).clause == "NSW-7.2.1"
    assert fx.Prompt("press close") in effects
    assert {n: seat.locked for n, seat in croupier.state.seats.items()} == THREE_SEATS
    late = croupier.do(f.WagerRead(3, "$", 1500), f.Measured("chips"))
    assert only(late, fx.RaiseAlarm).code == "late wager"
    croupier.do(f.BetsClosed())
    assert croupier.state.notes[-1] == "D1: closing call made"
    croupier.let_it_ride()
    assert croupier.state.seats[1].opened == cards("Tc Td 2h")


@pytest.mark.clause("NSW-7.2.2")
@pytest.mark.parametrize("device", ["shoe", "shuffler"])
def test_the_deal_goes_clockwise_from_the_dealers_left(device: str) -> None:
    croupier = locked(PASSES) if device == "shoe" else shuffler()
    order: list[int | None] = [1]  # the dealer was told so at the closing call
    croupier.told = lambda _fact, effects: order.extend(
        seat for code, seat in prompts(effects) if code == "deal seat"
    )
    croupier.deal()
    assert order == ([1, 3, 6] * 3 if device == "shoe" else [1, 3, 6])
    croupier.let_it_ride()
    assert [row(croupier, n)["net"] for n in (1, 3, 6)] == [3000, -3000, 3000]


# --- from a shoe -------------------------------------------------------------------------------


@pytest.mark.clause("NSW-7.3")
def test_eleven_cards_from_a_shoe_complete_the_deal_of_three_seats() -> None:
    croupier = locked(PASSES)
    for _ in range(10):
        croupier.deal_one()
    assert croupier.state.phase is Phase.DEALING
    croupier.deal_one()
    assert croupier.is_in(Phase.DECISION_1)
    with pytest.raises(SettingsError, match=r"is against NSW-7\.3"):
        draws("NSW", PASSES, deal_pattern="hands")


@pytest.mark.clause("NSW-7.3.1")
def test_the_first_three_draws_are_the_first_card_of_each_hand() -> None:
    croupier = locked(PASSES)
    croupier.let_it_ride()
    opened = [croupier.state.seats[n].opened for n in (1, 3, 6)]
    assert [hand[0] for hand in opened if hand] == list(cards("Tc 3c Ac"))


@pytest.mark.clause("NSW-7.3.2")
def test_draws_four_to_nine_are_the_second_and_third_card_of_each_hand() -> None:
    croupier = locked(PASSES)
    croupier.let_it_ride()
    opened = [croupier.state.seats[n].opened for n in (1, 3, 6)]
    assert [hand[1] for hand in opened if hand] == list(cards("Td 5d Ad"))
    assert [hand[2] for hand in opened if hand] == list(cards("2h 8h 7s"))


@pytest.mark.clause("NSW-7.3.3")
def test_the_tenth_and_eleventh_draw_are_the_community_cards_and_none_is_burnt() -> None:
    croupier = locked(PASSES)
    croupier.let_it_ride()
    assert croupier.state.turned == cards("Js Qh")
    assert len(croupier.state.drawn) == 11


# --- from a shuffler ---------------------------------------------------------------------------


@pytest.mark.clause("NSW-7.4")
def test_four_packets_complete_the_deal_of_three_seats() -> None:
    croupier = shuffler()
    for _ in range(3):
        croupier.deal_one()
    assert croupier.state.phase is Phase.DEALING
    croupier.do(packet("9s Js Qh"), SHOE)
    assert croupier.is_in(Phase.DECISION_1)


@pytest.mark.clause("NSW-7.4.1")
def test_each_seat_in_turn_gets_a_packet_of_three() -> None:
    croupier = shuffler()
    croupier.let_it_ride()
    assert croupier.state.seats[1].opened == cards("Tc Td 2h")
    assert croupier.state.seats[3].opened == cards("3c 5d 8h")
    assert croupier.state.seats[6].opened == cards("Ac Ad 7s")


@pytest.mark.clause("NSW-7.4.2")
def test_the_dealer_gets_a_packet_of_three_and_no_other_follows() -> None:
    croupier = shuffler()
    for _ in range(3):
        croupier.deal_one()
    effects = croupier.do(packet("9s Js Qh"), SHOE)
    assert prompts(effects) == [("decide", 1)]
    croupier.do(packet("4c 4d 4h"), SHOE)
    frozen = croupier.state.frozen
    assert frozen is not None
    assert frozen.question == "One card too many is out (NSW-7.4.2)."
    croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert croupier.state.voided_by == "NSW-12.1"


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
    croupier = shuffler(packet_bottom=bottom, community_order=order)
    shown: list[fx.Effect] = []
    croupier.told = lambda _fact, effects: shown.extend(effects)
    croupier.let_it_ride()
    assert croupier.state.turned == cards(community)
    (bottom_card,) = cards(burnt)
    assert bottom_card not in [e.card for e in shown if isinstance(e, fx.ShowCommunity)]
    hands = [e.cards for e in shown if isinstance(e, fx.ShowHand)]
    assert not [hand for hand in hands if bottom_card in hand]
    assert burnt not in str(croupier.state.history[-1].record)


@pytest.mark.clause("NSW-1.1-community")
def test_the_community_cards_stay_closed_until_turned_and_then_belong_to_every_hand() -> None:
    croupier = locked("Jc 3c Qc  Qd 5d Jd  2h 8h 7s  Js Qh")
    shown: list[fx.Effect] = []
    croupier.told = lambda _fact, effects: shown.extend(effects)
    croupier.deal()
    croupier.decide()
    assert not [e for e in shown if type(e).__name__.startswith("Show")]
    assert export_round(croupier.state)["round"]["community"] == [None, None]
    croupier.turn(1)
    croupier.decide()
    (first,) = [e for e in shown if type(e).__name__.startswith("Show")]
    assert first == fx.ShowCommunity(1, cards("Js")[0])
    croupier.turn(2)
    assert export_round(croupier.state)["round"]["community"] == ["Js", "Qh"]
    croupier.settle()
    assert [row(croupier, n)["hand"] for n in (1, 3, 6)] == ["two pair", "high card", "two pair"]
