"""Whole rounds of the five games by a finger that only follows line 4; amounts are literal."""

from __future__ import annotations

from controller.demo.scripted_dealer import ScriptedDealer
from controller.rules.cards import card
from controller.rules.engine import facts as f
from tests.clauses.tables import SHUFFLER, base, table
from tests.controller.table.console_player import console_player, nets


def test_mbs3_pays_a_pair_of_tens_and_takes_a_loser() -> None:
    croupier = table("MBS3", {2: "TcTd7h", 5: "2c3d9h"}, "4s5s")
    dealer = console_player(croupier, {2: base(1000, progressive=100), 5: base(500)},
                    back=lambda seat, _: seat == 5)  # fmt: skip
    dealer.play()
    # Seat 2: three wagers of 10 at 1 to 1, progressive lost; seat 5 took 1 and 2 back, $ lost.
    assert nets(dealer.table) == {2: 3000 - 100, 5: -500}


def test_nsw_from_a_shoe_needs_check_shuffle_and_cut_and_line_four_says_so() -> None:
    croupier = table("NSW", {1: "TcTd7h", 3: "2c3d9h"}, "Th5s")
    dealer = console_player(
        croupier, {1: base(1000), 3: base(2000)}, back=lambda s, d: (s, d) == (3, 2)
    )
    dealer.play()
    # Three tens pay 3 to 1 on three wagers of 10; seat 3 kept 1 and $ and lost both.
    assert nets(dealer.table) == {1: 9000, 3: -4000}
    fourth = [lines[3] for lines in dealer.seen]
    assert fourth[:5] == ["MENU 31", "MENU 36", "MENU 33", "OPEN", "WAIT END"]


def test_nsw_from_a_shuffler_burns_the_bottom_card() -> None:
    croupier = table("NSW", {1: "TcTd7h", 3: "2c3d9h"}, "AsTh5s", **SHUFFLER["NSW"])
    dealer = console_player(croupier, {1: base(1000), 3: base(2000)})
    dealer.play()
    assert nets(dealer.table) == {1: 9000, 3: -6000}
    assert f.PacketDispensed in [type(w) for w in dealer.table.facts]


def test_pp6_settles_main_then_pair_plus_then_the_middle_card() -> None:
    croupier = table("PP6", {1: "9c9d2h", 4: "3h7sKd"}, "9h9s4c")
    dealer = console_player(
        croupier,
        {
            1: {"1": 500, "2": 500, "$": 500, "pair_plus": 200, "six_card": 300},
            4: {"$": 1000, "pair_plus": 1000},
        },
    )
    dealer.play()
    # Seat 1: three nines on 3 wagers of 5 at 3 to 1, a pair on Pair Plus at 1 to 1, and with the
    # middle nine four of a kind on the 6 Card Bonus at 40 to 1. Seat 4 loses all.
    assert nets(dealer.table) == {1: 4500 + 200 + 12000, 4: -2000}
    assert ("SETTLEMENT       R 1", "SEAT 1  PAY    47.00") in [s[:2] for s in dealer.seen]
    assert ("SETTLEMENT       R 1", "SEAT 1  PAY   120.00") in [s[:2] for s in dealer.seen]


def test_mega_takes_credits_after_the_base_wagers_and_pays_the_magic_card() -> None:
    croupier = table("MEGA", {1: "TcTd7h", 4: "2c3d9h"}, "4s5s")
    dealer = console_player(croupier, {1: base(1000, progressive=300), 4: base(500)})
    table_ = dealer.table
    table_.fact(f.MeterReported(12_345_678))
    while not table_.lines[0].startswith("BETS CLOSED"):
        dealer.do(dealer.words[0])
    assert table_.lines[3] == "WAIT"
    assert table_.locked()
    table_.fact(f.SelectionCommitted("digest"), "selector")
    assert table_.lines[3] == "DEAL"
    table_.fact(f.SelectionRevealed(card("7h"), 1), "selector")
    assert (table_.magic(), table_.lamps[0]) == ("7h", "lucky")
    dealer.play()
    # Pair of tens: 30; magic card in hand 5 x 3 and lucky player 5 x 3, the stake back once.
    assert nets(table_) == {1: 3000 + 1500 + 1500, 4: -1500}
    assert table_.magic() is None


def test_ricochet_pays_the_pot_to_the_best_hand() -> None:
    croupier = table("RICO", {1: "2c7d", 3: "KcKd"}, "3h5s9cJhQd")
    wagers = {1: {"ante": 500, "rapid_fire": 200}, 3: {"ante": 500, "hedge": 100}}
    dealer = console_player(croupier, wagers, plays=lambda seat: seat == 3)
    dealer.play()
    # Seat 1 folds (ante to the pot) and loses Rapid Fire; seat 3 keeps its pair of kings.
    assert nets(dealer.table)[1] == -700
    assert nets(dealer.table)[3] == 1000 - 100


def test_the_finger_tells_the_engine_what_the_croupier_tells_it() -> None:
    """Readings and keys give the same facts, in the same order, as rounds played by the book."""
    for game, hands, dealer in (
        ("MBS3", {2: "TcTd7h", 5: "2c3d9h"}, "4s5s"),
        ("NSW", {2: "TcTd7h", 5: "2c3d9h"}, "4s5s"),
        ("PP6", {2: "TcTd7h", 5: "2c3d9h"}, "4s5sKh"),
    ):
        wagers = {2: base(1000), 5: base(500)}
        told: list[f.What] = []
        croupier = table(game, hands, dealer)
        hand = console_player(croupier, wagers, back=lambda seat, _: seat == 5)
        croupier.ride = lambda seat, _: "withdraw" if seat == 5 else "ride"
        croupier.told = lambda fact, _, told=told: told.append(fact.what)
        croupier.round(wagers)
        hand.play()
        assert in_common(hand.table.facts) == in_common(told)
        assert hand.table.core.state.history[-1].result == last_result(croupier)


def in_common(facts: list[f.What]) -> list[f.What]:
    """Without the care of the deck and the one key that may be left out."""
    aside = (f.DeckChecked, f.DeckShuffled, f.DeckCut, f.CardsHandled)
    return [what for what in facts if not isinstance(what, aside)]


def last_result(croupier: ScriptedDealer) -> object:
    return croupier.state.history[-1].result
