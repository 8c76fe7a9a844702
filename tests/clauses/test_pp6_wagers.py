"""PP6: which wagers a seat may place, their limits, and what happens to those it may not."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS, ScriptedDealer
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.errors import RecordError, SettingsError
from controller.rules.settle import settle
from controller.rules.wagers import check_wagers
from tests.clauses.tables import only, refused, row, table


def betting(**changes: Any) -> ScriptedDealer:
    """Bets are open."""
    dealer = table("PP6", **changes)
    dealer.prepare()
    dealer.do(f.BetsOpened())
    return dealer


def put(dealer: ScriptedDealer, seat: int, wagers: dict[str, int]) -> tuple[fx.Effect, ...]:
    """Chips on a seat's spots; what the last of them brought about."""
    effects: tuple[fx.Effect, ...] = ()
    for spot, cents in wagers.items():
        effects = dealer.do(f.WagerRead(seat, spot, cents), CHIPS)
    return effects


def broken(**wagers: int) -> list[str]:
    named = {{"dollar": "$", "one": "1", "two": "2"}.get(k, k): v for k, v in wagers.items()}
    answer = check_wagers({"game": "PP6", "settings": {}, "wagers": named})
    assert answer["accept"] is (not answer["broken"])
    clauses: list[str] = answer["broken"]
    return clauses


def record(wagers: dict[str, int], cards: str = "4c9d2h") -> dict[str, Any]:
    """One seat, five cards that win nothing."""
    held = [cards[i : i + 2] for i in (0, 2, 4)]
    seat = {"seat": 3, "wagers": wagers, "cards": held}
    body = {"seats": [seat], "community": ["Kc", "Jd"], "bonus_card": "7s"}
    return {"game": "PP6", "settings": {}, "round": body}


@pytest.mark.clause("PP6-N1")
def test_every_round_is_headed_by_the_name_of_its_book() -> None:
    dealer = table("PP6", {3: "4c9d2h"}, "Kc7sJd")
    published: list[fx.PublishRound] = []
    dealer.told = lambda _, effects: published.extend(
        e for e in effects if isinstance(e, fx.PublishRound)
    )
    dealer.round({3: {"$": 500}})
    assert [p.record["game"] for p in published] == ["PP6"]
    assert dealer.state.rules.book.title == "Let It Ride with Pair Plus and 6 Card Bonus"


@pytest.mark.clause("PP6-O1", "PP6-R2a", "PP6-E2")
def test_a_seat_has_three_circles_and_two_bonus_places() -> None:
    """1, 2, $, Pair Plus and 6 Card Bonus lie side by side and settle side by side."""
    five = {"1": 500, "2": 500, "$": 500, "pair_plus": 100, "six_card": 200}
    dealer = table("PP6", {3: "4c9d2h"}, "Kc7sJd")
    dealer.round({3: five})
    assert dealer.state.seats[3].locked == five
    assert {s: w["placed"] for s, w in row(dealer, 3)["wagers"].items()} == five
    with pytest.raises(RecordError, match="unknown wager"):
        decode_record(record({"$": 500, "progressive": 100}))


@pytest.mark.clause("PP6-R2b")
@pytest.mark.parametrize(
    "circles", [{}, {"1": 500}, {"2": 500}, {"1": 500, "2": 500}], ids=["$", "$1", "$2", "$12"]
)
def test_circles_1_and_2_are_optional_and_equal_to_dollar_if_used(circles: dict[str, int]) -> None:
    dealer = betting()
    put(dealer, 3, {"$": 500, **circles})
    dealer.do(f.BetsClosed())
    assert dealer.state.seats[3].locked == {"$": 500, **circles}

    unequal = betting()
    flagged = put(unequal, 3, {"$": 500, **circles, "1": 300})
    assert fx.SetLamp(3, "fault") in flagged
    refusal = refused(unequal.try_(f.BetsClosed()))
    assert refusal == fx.Refused("seat 3: wagers are not valid; correct or leave out", "PP6-R2b")
    unequal.do(f.WagerRead(3, "1", 0), CHIPS)
    unequal.do(f.BetsClosed())
    assert "1" not in unequal.state.seats[3].locked


@pytest.mark.clause("PP6-M1b")
def test_three_circles_hold_three_equal_wagers() -> None:
    dealer = betting()
    put(dealer, 2, {"1": 500, "2": 500, "$": 500})
    put(dealer, 6, {"1": 500, "2": 400, "$": 500})
    refusal = refused(dealer.try_(f.BetsClosed()))
    assert refusal == fx.Refused("seat 6: wagers are not valid; correct or leave out", "PP6-R2b")
    back = dealer.do(f.SeatLeftOut(6))
    assert [(e.spot, e.cents) for e in back if isinstance(e, fx.ReturnWager)] == [
        ("1", 500),
        ("2", 400),
        ("$", 500),
    ]
    dealer.do(f.BetsClosed())
    assert {n: s.locked for n, s in dealer.state.seats.items()} == {
        2: {"1": 500, "2": 500, "$": 500}
    }


@pytest.mark.clause("PP6-R2b")
def test_an_operator_may_make_both_circles_obligatory() -> None:
    """Setting circles_optional: with it off, $ alone holds the lock like unequal circles do."""
    dealer = betting(circles_optional=False)
    flagged = put(dealer, 3, {"$": 500, "1": 500})
    assert fx.Prompt("unequal", 3, "PP6-R2b") in flagged
    assert refused(dealer.try_(f.BetsClosed())).clause == "PP6-R2b"
    put(dealer, 3, {"2": 300})
    assert refused(dealer.try_(f.BetsClosed())).clause == "PP6-R2b"
    put(dealer, 3, {"2": 500})
    dealer.do(f.BetsClosed())
    free = betting(circles_optional=True)
    put(free, 3, {"$": 500, "1": 500})
    free.do(f.BetsClosed())


@pytest.mark.clause("PP6-W1a")
def test_circles_are_compared_by_value_and_not_by_chips() -> None:
    """Two chips of 1 on circle 1 equal one chip of 2 on $; 3 against 5 does not."""
    dealer = betting()
    put(dealer, 3, {"$": 200, "1": 100})
    assert refused(dealer.try_(f.BetsClosed())).clause == "PP6-R2b"
    put(dealer, 3, {"1": 200})
    dealer.do(f.BetsClosed())
    assert dealer.state.seats[3].locked == {"1": 200, "$": 200}
    assert broken(dollar=200, one=200, two=200) == []
    assert broken(dollar=500, one=300) == ["PP6-R2b", "PP6-W1a"]


@pytest.mark.clause("PP6-R3")
def test_a_seat_with_a_bonus_wager_alone_gets_no_cards() -> None:
    dealer = betting()
    put(dealer, 2, {"$": 500})
    put(dealer, 5, {"pair_plus": 500})
    closed = dealer.do(f.BetsClosed())
    assert fx.ReturnWager(5, "pair_plus", 500, "PP6-R2c") in closed
    assert list(dealer.state.seats) == [2]
    told: list[fx.Effect] = []
    dealer.told = lambda _, effects: told.extend(effects)
    dealer.deal()
    assert fx.Prompt("deal seat", 5) not in told
    assert len(dealer.state.drawn) == 6


@pytest.mark.clause("PP6-M1a")
@pytest.mark.parametrize("spot", ["pair_plus", "six_card"])
@pytest.mark.parametrize("base", [{}, {"$": 500}], ids=["without $", "after the call"])
def test_a_bonus_wager_is_made_beside_dollar_and_before_the_call(
    spot: str, base: dict[str, int]
) -> None:
    """The 'and/or' of step 1 does not free it from needing $, and step 1 is its only time."""
    events = [{"type": "late_wager", "seat": 3, "spot": spot, "amount": 500}] if base else []
    placed = record({**base, spot: 500}, "4c4d4h")
    placed["round"]["events"] = events
    result = settle(decode_record(placed))
    wager = result["seats"][0]["wagers"][spot]
    assert (wager["status"], wager["stake_back"], wager["win"]) == ("refused", 500, 0)
    assert result["clauses"] == (["PP6-M1a"] if base else ["PP6-R2c"])
    assert result["seats"][0]["net"] == (1500 if base else 0)


@pytest.mark.clause("PP6-R2c")
def test_a_bonus_wager_needs_dollar_and_stays_within_it() -> None:
    """600 over $ 500: flagged before the close; 500 are at stake, 100 come back in any case."""
    dealer = table("PP6", {3: "4c9d2h"}, "Kc7sJd")
    dealer.prepare()
    dealer.do(f.BetsOpened())
    assert fx.Prompt("limit", 3, "PP6-W1, PP6-R2c, PP6-R3") in put(dealer, 3, {"pair_plus": 600})
    flagged = put(dealer, 3, {"$": 500})
    assert fx.SetLamp(3, "fault") in flagged
    assert fx.Prompt("bonus above", 3, "PP6-R2c, PP6-W2a") in flagged
    dealer.do(f.BetsClosed())
    dealer.let_it_ride()
    wager = row(dealer, 3)["wagers"]["pair_plus"]
    assert (wager["status"], wager["placed"], wager["stake_back"]) == ("lose", 600, 100)
    assert row(dealer, 3)["net"] == -1000


@pytest.mark.clause("PP6-W2a")
def test_pair_plus_wins_on_no_more_than_dollar() -> None:
    assert broken(dollar=500, pair_plus=600) == ["PP6-R2c", "PP6-W2a"]
    assert broken(dollar=500, pair_plus=500) == []
    result = settle(decode_record(record({"$": 500, "pair_plus": 600}, "4c4d9h")))
    wager = result["seats"][0]["wagers"]["pair_plus"]
    assert (wager["status"], wager["win"], wager["stake_back"]) == ("win", 500, 600)
    assert result["clauses"] == ["PP6-W2a"]


@pytest.mark.clause("PP6-W3a")
def test_six_card_bonus_wins_on_no_more_than_dollar() -> None:
    assert broken(dollar=500, six_card=600) == ["PP6-R2c", "PP6-W3a"]
    assert broken(dollar=500, six_card=500) == []
    result = settle(decode_record(record({"$": 500, "six_card": 600}, "7c7d2h")))
    wager = result["seats"][0]["wagers"]["six_card"]
    assert (wager["status"], wager["win"], wager["stake_back"]) == ("win", 2000, 600)
    assert result["clauses"] == ["PP6-W3a"]


@pytest.mark.clause("PP6-W1")
@pytest.mark.parametrize(("cents", "within"), [(100, False), (200, True), (1000, True)])
def test_a_circle_holds_2_to_10(cents: int, within: bool) -> None:
    over = 1100 if cents == 100 else 199
    assert broken(dollar=over) == ["PP6-W1"]
    assert broken(dollar=cents, one=cents, two=cents) == ([] if within else ["PP6-W1"])
    dealer = betting()
    put(dealer, 3, {"$": cents})
    if within:
        dealer.do(f.BetsClosed())
        assert dealer.state.seats[3].locked == {"$": cents}
    else:
        refused(dealer.try_(f.BetsClosed()))


@pytest.mark.clause("PP6-W2", "PP6-W3")
@pytest.mark.parametrize("spot", ["pair_plus", "six_card"])
def test_a_bonus_wager_is_1_to_10(spot: str) -> None:
    own = {"pair_plus": "PP6-W2", "six_card": "PP6-W3"}[spot]
    dealer = betting()
    put(dealer, 3, {"$": 1000})
    low = put(dealer, 3, {spot: 50})
    assert fx.SetLamp(3, "fault") in low
    assert only(low, fx.Prompt).detail == own
    for cents in (100, 1000):
        assert fx.SetLamp(3, "live") in put(dealer, 3, {spot: cents})
    assert own in only(put(dealer, 3, {spot: 1100}), fx.Prompt).detail


@pytest.mark.clause("PP6-T1", "PP6-T2", "PP6-T3")
def test_each_kind_of_wager_has_its_own_table() -> None:
    """Three twos: 3 to 1 in the circles, 30 to 1 on Pair Plus, 4 to 1 on the 6 Card Bonus."""
    placed = {"1": 200, "2": 200, "$": 200, "pair_plus": 200, "six_card": 200}
    result = settle(decode_record(record(placed, "2c2d2h")))
    assert {s: w["odds"] for s, w in result["seats"][0]["wagers"].items()} == {
        "1": "3 to 1",
        "2": "3 to 1",
        "$": "3 to 1",
        "pair_plus": "30 to 1",
        "six_card": "4 to 1",
    }


NARROW: dict[str, Any] = {"wager_limits": {"$": [500, 800], "pair_plus": [200, 400]}}


@pytest.mark.parametrize(
    ("changes", "wagers", "clause"),
    [
        ({}, {"$": 100}, "PP6-W1"),
        ({}, {"$": 1100}, "PP6-W1"),
        ({}, {"$": 500, "pair_plus": 50}, "PP6-W2"),
        ({}, {"$": 500, "six_card": 50}, "PP6-W3"),
        ({}, {"$": 500, "six_card": 1100}, "PP6-W3"),
        (NARROW, {"$": 400}, "PP6-W1"),
        (NARROW, {"$": 900}, "PP6-W1"),
        (NARROW, {"$": 500, "pair_plus": 100}, "PP6-W2"),
        (NARROW, {"$": 500, "pair_plus": 500}, "PP6-W2"),
    ],
)
def test_bets_do_not_close_on_a_wager_outside_the_limits(
    changes: dict[str, Any], wagers: dict[str, int], clause: str
) -> None:
    dealer = table("PP6", **changes)
    dealer.prepare()
    dealer.do(f.BetsOpened())
    for spot, cents in wagers.items():
        dealer.place(3, spot, cents)
    refusal = refused(dealer.try_(f.BetsClosed()))
    assert refusal.clause == clause
    assert "seat 3: " in refusal.reason
    for spot in wagers:
        dealer.take(3, spot)
    dealer.place(3, "$", 600)
    dealer.do(f.BetsClosed())


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"$": [100, 1000]}, "the book prints 200 to 1000 (PP6-W1)"),
        ({"$": [200, 1001]}, "the book prints 200 to 1000 (PP6-W1)"),
        ({"pair_plus": [50, 500]}, "(PP6-W2); limits can only be narrower"),
        ({"six_card": [100, 2000]}, "(PP6-W3); limits can only be narrower"),
        ({"1": [200, 500]}, "expected one of $, pair_plus, six_card"),
        ({"$": [500, 400]}, "least not above most"),
        ({"$": [500.0, 600]}, "expected"),
    ],
)
def test_printed_limits_are_never_widened(limits: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as found:
        table("PP6", wager_limits=limits)
    assert said in str(found.value)
