"""MEGA: the Magic Card and the Lucky Player."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.croupier import Croupier
from controller.rules.cards import card
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.settle import settle
from tests.clauses.tables import base, only, refused, row, table

SELECTOR = f.Measured("selector")


def locked(
    hands: dict[int, str], dealer: str, without: tuple[int, ...] = (), **settings: Any
) -> Croupier:
    """Bets closed; every seat has one credit of 1.00 but those ``without``."""
    croupier = table("MEGA", hands, dealer, **settings)
    croupier.prepare()
    credit = {"progressive": 100}
    croupier.bets({n: base(1000, **({} if n in without else credit)) for n in hands})
    return croupier


def awards(croupier: Croupier, seat: int) -> list[tuple[str, int]]:
    return [(a["kind"], a["amount"]) for a in row(croupier, seat)["awards"]]


def hits(effects: tuple[fx.Effect, ...]) -> list[tuple[int, ...]]:
    return [e.seats for e in effects if isinstance(e, fx.ShowMagicHit)]


@pytest.mark.clause("MEGA-4.3")
def test_the_magic_card_in_the_own_three_pays_when_that_hand_is_opened() -> None:
    """7s lies at seat 4: nothing tells before seat 4 is opened. Seat 2 holds no 7s."""
    croupier = locked({2: "3c5d8h", 4: "7s9d2h"}, "JsQh")
    croupier.select(card("7s"), None)
    told: list[tuple[fx.Effect, ...]] = []
    croupier.told = lambda _fact, effects: told.append(effects)
    croupier.deal()
    croupier.decide()
    croupier.turn(1)
    croupier.decide()
    croupier.turn(2)
    assert [hits(effects) for effects in told if hits(effects)] == []
    assert hits(croupier.do(f.HandOpened(4))) == [(4,)]
    croupier.settle()
    assert awards(croupier, 4) == [("magic card", 500)]
    assert awards(croupier, 2) == []
    wager = row(croupier, 4)["wagers"]["progressive"]
    assert (wager["status"], wager["stake_back"]) == ("win", 100)  # on a losing main hand
    assert row(croupier, 4)["net"] == -3000 + 500
    assert row(croupier, 2)["net"] == -3000 - 100


@pytest.mark.clause("MEGA-4.3")
def test_the_magic_card_pays_nobody_who_has_no_progressive_wager() -> None:
    croupier = locked({2: "3c5d8h", 4: "7s9d2h", 6: "4c6d9h"}, "JsQh", without=(4,))
    croupier.select(card("7s"), None)
    told: list[tuple[fx.Effect, ...]] = []
    croupier.told = lambda _fact, effects: told.append(effects)
    croupier.let_it_ride()
    assert [hits(effects) for effects in told if hits(effects)] == []
    assert [awards(croupier, n) for n in (2, 4, 6)] == [[], [], []]
    croupier = locked({2: "7s5d8h"}, "JsQh")
    croupier.select(card("7s"), None)
    croupier.let_it_ride()
    assert awards(croupier, 2) == [("magic card", 500)]


@pytest.mark.clause("MEGA-4.3")
def test_the_selection_is_committed_before_the_first_card_and_never_drawn_again() -> None:
    """AMB-P08: without a commitment before card one there is no magic card in the round."""
    croupier = locked({2: "7s5d8h"}, "JsQh")
    nothing = refused(croupier.try_(f.SelectionRevealed(card("7s"), None), SELECTOR))
    assert nothing == fx.Refused(
        "nothing was committed before the first card: no selection", "MEGA-4.3"
    )
    croupier.do(f.SelectionCommitted("digest"), SELECTOR)
    assert refused(croupier.try_(f.SelectionCommitted("other"), SELECTOR)).clause == "MEGA-4.3"
    shown = croupier.do(f.SelectionRevealed(card("7s"), None), SELECTOR)
    assert only(shown, fx.ShowSelection) == fx.ShowSelection(card("7s"), None)
    again = refused(croupier.try_(f.SelectionRevealed(card("8h"), 2), SELECTOR))
    assert again == fx.Refused("a selection is never drawn again", "MEGA-4.3")
    croupier.let_it_ride()
    assert awards(croupier, 2) == [("magic card", 500)]

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
    croupier = locked({2: "3c5d8h", 4: "7s9d2h", 5: "4c6d9h"}, "JsQh", without=(5,))
    croupier.select(card(magic), None)
    told: list[tuple[fx.Effect, ...]] = []
    croupier.told = lambda _fact, effects: told.append(effects)
    croupier.deal()
    croupier.decide()
    if turn == 2:
        croupier.turn(1)
        croupier.decide()
    assert [hits(effects) for effects in told if hits(effects)] == []
    croupier.turn(turn)  # type: ignore[arg-type]
    assert hits(told[-1]) == [(2, 4)]
    if turn == 1:
        croupier.decide()
        croupier.turn(2)
    croupier.settle()
    assert [awards(croupier, n) for n in (2, 4)] == [[("magic card", 500)]] * 2
    assert awards(croupier, 5) == []


@pytest.mark.clause("MEGA-4.4")
def test_the_lucky_player_is_paid_only_with_a_progressive_wager() -> None:
    hands = {2: "3c5d8h", 4: "7s9d2h", 5: "4c6d9h"}
    croupier = locked(hands, "JsQh", without=(5,))
    croupier.select(None, 4)
    croupier.let_it_ride()
    assert [awards(croupier, n) for n in (2, 4, 5)] == [[], [("lucky player", 500)], []]
    assert row(croupier, 4)["net"] == -3000 + 500

    croupier = locked(hands, "JsQh", without=(5,))
    croupier.select(None, 5)
    croupier.let_it_ride()
    assert [awards(croupier, n) for n in (2, 4, 5)] == [[], [], []]
    assert croupier.state.history[-1].record["settings"]["lucky_seat"] == 5  # recorded


@pytest.mark.clause("MEGA-4.4")
@pytest.mark.parametrize(
    ("pool", "seats"), [("progressive_seats", (2, 4)), ("all_seats", (1, 2, 3, 4, 5, 6, 7))]
)
def test_the_lucky_player_is_drawn_from_the_pool_the_operator_chose(
    pool: str, seats: tuple[int, ...]
) -> None:
    """AMB-P12: the selector is told the seats at the lock, and nothing about the cards."""
    croupier = table("MEGA", {2: "3c5d8h", 4: "7s9d2h", 5: "4c6d9h"}, "JsQh", lucky_pool=pool)
    croupier.prepare()
    told: list[fx.Effect] = []
    croupier.told = lambda _fact, effects: told.extend(effects)
    bet = base(1000, progressive=100)
    croupier.bets({2: bet, 4: bet, 5: base(1000)})
    asked = [e for e in told if isinstance(e, fx.RequestSelection)]
    assert asked == [fx.RequestSelection(1, seats)]
    croupier.select(None, 2)
    croupier.let_it_ride()
    assert [awards(croupier, n) for n in (2, 4)] == [[("lucky player", 500)], []]


@pytest.mark.clause("MEGA-4.5-T")
def test_magic_card_and_lucky_player_pay_five_to_one_each_and_both_together() -> None:
    """Two credits of 5.00: 50.00 and 50.00, beside whatever the hand pays; the stake once."""
    croupier = table("MEGA", {3: "7s9d2h"}, "JsQh", credit_cents=500)
    croupier.prepare()
    croupier.bets({3: base(1000, progressive=1000)})
    croupier.select(card("7s"), 3)
    croupier.let_it_ride()
    assert awards(croupier, 3) == [("magic card", 5000), ("lucky player", 5000)]
    assert row(croupier, 3)["wagers"]["progressive"]["stake_back"] == 1000
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
    croupier = locked({2: "7s5d8h"}, "JsQh")
    croupier.select(card("7s"), 2)
    croupier.deal_one()
    void = croupier.do(f.CardExposed(2))
    assert fx.ReturnWager(2, "progressive", 100, "MEGA-5.5") in void
    assert only(void, fx.ReverseContributions) == fx.ReverseContributions(1, ((2, 100),))
    croupier.do(f.VoidCleared())
    assert row(croupier, 2)["net"] == 0
    assert row(croupier, 2)["awards"] == []
    croupier.prepare()
    croupier.do(f.BetsOpened())
    croupier.place(2, "progressive", 100)
    asked = only(croupier.do(f.BetsClosed()), fx.RequestSelection)
    assert asked == fx.RequestSelection(2, (2,))
    assert (croupier.state.magic_card, croupier.state.lucky_seat) == (None, None)
