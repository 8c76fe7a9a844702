"""MEGA: the Magic Card and the Lucky Player."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import ScriptedDealer
from controller.rules.cards import card
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.settle import settle
from tests.clauses.tables import base, only, refused, row, table

SELECTOR = f.Measured("selector")


def locked(
    hands: dict[int, str], dealer: str, without: tuple[int, ...] = (), **settings: Any
) -> ScriptedDealer:
    """Bets closed; every seat has one credit of 1.00 but those ``without``."""
    scripted_dealer = table("MEGA", hands, dealer, **settings)
    scripted_dealer.prepare()
    credit = {"progressive": 100}
    scripted_dealer.bets({n: base(1000, **({} if n in without else credit)) for n in hands})
    return scripted_dealer


def awards(scripted_dealer: ScriptedDealer, seat: int) -> list[tuple[str, int]]:
    return [(a["kind"], a["amount"]) for a in row(scripted_dealer, seat)["awards"]]


def hits(effects: tuple[fx.Effect, ...]) -> list[tuple[int, ...]]:
    return [e.seats for e in effects if isinstance(e, fx.ShowMagicHit)]


@pytest.mark.clause("MEGA-4.3")
def test_the_magic_card_in_the_own_three_pays_when_that_hand_is_opened() -> None:
    """7s lies at seat 4: nothing tells before seat 4 is opened. Seat 2 holds no 7s."""
    scripted_dealer = locked({2: "3c5d8h", 4: "7s9d2h"}, "JsQh")
    scripted_dealer.select(card("7s"), None)
    told: list[tuple[fx.Effect, ...]] = []
    scripted_dealer.told = lambda _fact, effects: told.append(effects)
    scripted_dealer.deal()
    scripted_dealer.decide()
    scripted_dealer.turn(1)
    scripted_dealer.decide()
    scripted_dealer.turn(2)
    assert [hits(effects) for effects in told if hits(effects)] == []
    assert hits(scripted_dealer.do(f.HandOpened(4))) == [(4,)]
    scripted_dealer.settle()
    assert awards(scripted_dealer, 4) == [("magic card", 500)]
    assert awards(scripted_dealer, 2) == []
    wager = row(scripted_dealer, 4)["wagers"]["progressive"]
    assert (wager["status"], wager["stake_back"]) == ("win", 100)  # on a losing main hand
    assert row(scripted_dealer, 4)["net"] == -3000 + 500
    assert row(scripted_dealer, 2)["net"] == -3000 - 100


@pytest.mark.clause("MEGA-4.3")
def test_the_magic_card_pays_nobody_who_has_no_progressive_wager() -> None:
    scripted_dealer = locked({2: "3c5d8h", 4: "7s9d2h", 6: "4c6d9h"}, "JsQh", without=(4,))
    scripted_dealer.select(card("7s"), None)
    told: list[tuple[fx.Effect, ...]] = []
    scripted_dealer.told = lambda _fact, effects: told.append(effects)
    scripted_dealer.let_it_ride()
    assert [hits(effects) for effects in told if hits(effects)] == []
    assert [awards(scripted_dealer, n) for n in (2, 4, 6)] == [[], [], []]
    scripted_dealer = locked({2: "7s5d8h"}, "JsQh")
    scripted_dealer.select(card("7s"), None)
    scripted_dealer.let_it_ride()
    assert awards(scripted_dealer, 2) == [("magic card", 500)]


@pytest.mark.clause("MEGA-4.3")
def test_the_selection_is_committed_before_the_first_card_and_never_drawn_again() -> None:
    """AMB-P08: without a commitment before card one there is no magic card in the round."""
    scripted_dealer = locked({2: "7s5d8h"}, "JsQh")
    nothing = refused(scripted_dealer.try_(f.SelectionRevealed(card("7s"), None), SELECTOR))
    assert nothing == fx.Refused(
        "nothing was committed before the first card: no selection", "MEGA-4.3"
    )
    scripted_dealer.do(f.SelectionCommitted("digest"), SELECTOR)
    assert (
        refused(scripted_dealer.try_(f.SelectionCommitted("other"), SELECTOR)).clause == "MEGA-4.3"
    )
    shown = scripted_dealer.do(f.SelectionRevealed(card("7s"), None), SELECTOR)
    assert only(shown, fx.ShowSelection) == fx.ShowSelection(card("7s"), None)
    again = refused(scripted_dealer.try_(f.SelectionRevealed(card("8h"), 2), SELECTOR))
    assert again == fx.Refused("a selection is never drawn again", "MEGA-4.3")
    scripted_dealer.let_it_ride()
    assert awards(scripted_dealer, 2) == [("magic card", 500)]

    late = locked({2: "7s5d8h"}, "JsQh")
    late.deal_one()
    assert refused(late.try_(f.SelectionCommitted("digest"), SELECTOR))
    assert refused(late.try_(f.SelectionRevealed(card("7s"), 2), SELECTOR)).clause == "MEGA-4.3"
    late.let_it_ride()
    assert awards(late, 2) == []


@pytest.mark.clause("MEGA-4.3.1")
@pytest.mark.parametrize(("magic", "turn"), [("Js", 1), ("Qh", 2)])
def test_the_magic_card_among_the_shared_cards_pays_every_jackpot_bettor(
    magic: str, turn: int
) -> None:
    """Marked on the turn of that very card, never before; seat 5 has no credit."""
    scripted_dealer = locked({2: "3c5d8h", 4: "7s9d2h", 5: "4c6d9h"}, "JsQh", without=(5,))
    scripted_dealer.select(card(magic), None)
    told: list[tuple[fx.Effect, ...]] = []
    scripted_dealer.told = lambda _fact, effects: told.append(effects)
    scripted_dealer.deal()
    scripted_dealer.decide()
    if turn == 2:
        scripted_dealer.turn(1)
        scripted_dealer.decide()
    assert [hits(effects) for effects in told if hits(effects)] == []
    scripted_dealer.turn(turn)  # type: ignore[arg-type]
    assert hits(told[-1]) == [(2, 4)]
    if turn == 1:
        scripted_dealer.decide()
        scripted_dealer.turn(2)
    scripted_dealer.settle()
    assert [awards(scripted_dealer, n) for n in (2, 4)] == [[("magic card", 500)]] * 2
    assert awards(scripted_dealer, 5) == []


@pytest.mark.clause("MEGA-4.4")
def test_the_lucky_player_is_paid_only_with_a_progressive_wager() -> None:
    hands = {2: "3c5d8h", 4: "7s9d2h", 5: "4c6d9h"}
    scripted_dealer = locked(hands, "JsQh", without=(5,))
    scripted_dealer.select(None, 4)
    scripted_dealer.let_it_ride()
    assert [awards(scripted_dealer, n) for n in (2, 4, 5)] == [[], [("lucky player", 500)], []]
    assert row(scripted_dealer, 4)["net"] == -3000 + 500

    scripted_dealer = locked(hands, "JsQh", without=(5,))
    scripted_dealer.select(None, 5)
    scripted_dealer.let_it_ride()
    assert [awards(scripted_dealer, n) for n in (2, 4, 5)] == [[], [], []]
    assert scripted_dealer.state.history[-1].record["settings"]["lucky_seat"] == 5  # recorded


@pytest.mark.clause("MEGA-4.4")
@pytest.mark.parametrize(
    ("pool", "seats"), [("progressive_seats", (2, 4)), ("all_seats", (1, 2, 3, 4, 5, 6, 7))]
)
def test_the_lucky_player_is_drawn_from_the_pool_the_operator_chose(
    pool: str, seats: tuple[int, ...]
) -> None:
    """AMB-P12: the selector is told the seats at the lock, and nothing about the cards."""
    scripted_dealer = table(
        "MEGA", {2: "3c5d8h", 4: "7s9d2h", 5: "4c6d9h"}, "JsQh", lucky_pool=pool
    )
    scripted_dealer.prepare()
    told: list[fx.Effect] = []
    scripted_dealer.told = lambda _fact, effects: told.extend(effects)
    bet = base(1000, progressive=100)
    scripted_dealer.bets({2: bet, 4: bet, 5: base(1000)})
    asked = [e for e in told if isinstance(e, fx.RequestSelection)]
    assert asked == [fx.RequestSelection(1, seats)]
    scripted_dealer.select(None, 2)
    scripted_dealer.let_it_ride()
    assert [awards(scripted_dealer, n) for n in (2, 4)] == [[("lucky player", 500)], []]


@pytest.mark.clause("MEGA-4.5-T")
def test_magic_card_and_lucky_player_pay_five_to_one_each_and_both_together() -> None:
    """Two credits of 5.00: 50.00 and 50.00, beside whatever the hand pays; the stake once."""
    scripted_dealer = table("MEGA", {3: "7s9d2h"}, "JsQh", credit_cents=500)
    scripted_dealer.prepare()
    scripted_dealer.bets({3: base(1000, progressive=1000)})
    scripted_dealer.select(card("7s"), 3)
    scripted_dealer.let_it_ride()
    assert awards(scripted_dealer, 3) == [("magic card", 5000), ("lucky player", 5000)]
    assert row(scripted_dealer, 3)["wagers"]["progressive"]["stake_back"] == 1000
    seat = {"seat": 1, "wagers": base(1000, progressive=300), "cards": ["Kc", "Kh", "Kd"]}
    record = {
        "game": "MEGA",
        "settings": {"magic_card": "Kd", "lucky_seat": 1},
        "round": {"seats": [seat], "community": ["As", "Ah"]},
    }
    line = settle(decode_record(record))["seats"][0]
    assert [(a["kind"], a["amount"]) for a in line["awards"]] == [
        ("magic card", 1500),
        ("lucky player", 1500),
    ]
    wager = line["wagers"]["progressive"]
    assert (wager["win"], wager["stake_back"]) == (100 * 300, 300)
    assert line["net"] == 3 * 11 * 1000 + 100 * 300 + 1500 + 1500


@pytest.mark.clause("MEGA-5.5")
def test_a_void_round_returns_the_credits_and_discards_the_picks() -> None:
    """AMB-P15: two cards were exposed in the deal; the next round has picks of its own."""
    scripted_dealer = locked({2: "7s5d8h"}, "JsQh")
    scripted_dealer.select(card("7s"), 2)
    scripted_dealer.deal_one()
    void = scripted_dealer.do(f.CardExposed(2))
    assert fx.ReturnWager(2, "progressive", 100, "MEGA-5.5") in void
    assert only(void, fx.ReverseContributions) == fx.ReverseContributions(1, ((2, 100),))
    scripted_dealer.do(f.VoidCleared())
    assert row(scripted_dealer, 2)["net"] == 0
    assert row(scripted_dealer, 2)["awards"] == []
    scripted_dealer.prepare()
    scripted_dealer.do(f.BetsOpened())
    scripted_dealer.place(2, "progressive", 100)
    asked = only(scripted_dealer.do(f.BetsClosed()), fx.RequestSelection)
    assert asked == fx.RequestSelection(2, (2,))
    assert (scripted_dealer.state.magic_card, scripted_dealer.state.lucky_seat) == (None, None)
