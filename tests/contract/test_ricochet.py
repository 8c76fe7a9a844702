"""Ricochet rounds worked out by hand: showdown, pot, splits, orphan pots, kickout, bonus bets."""

from __future__ import annotations

import pytest

from .rounds import Json, by_seat, nets, player, ricochet, settled

HIGH_CARD_DEALER = "AhQd9c7s3d"


def finals(result: Json) -> list[str]:
    return [shown["final"] for shown in result["seats"]]


def test_dealer_wins_against_lower_and_folded_hands() -> None:
    result = settled(ricochet("AhAd9c7s3d", [player(1, "KcQd", "8h5s2c"), player(2, "9h8s")]))
    # Two players: the limit is AAQ, so AA9 plays. Pot: 500 + 1000 + 500.
    assert result["kickout"] is False
    assert result["action_order"] == [2, 1]
    assert (result["pot"], result["pot_winners"]) == (2000, ["dealer"])
    assert nets(result) == [-1000, -500]
    assert finals(result) == ["discarded", "folded"]
    assert by_seat(result, 1)["hand"] == "high card"
    assert result["house_net"] == 1500


def test_a_tie_with_the_dealer_goes_to_the_player() -> None:
    result = settled(ricochet("KhKd9c7s3d", [player(1, "Kc9d", "Ks7h3c")]))
    assert (result["pot"], result["pot_winners"]) == (500, [1])
    assert nets(result) == [500]
    assert finals(result) == ["live"]


def test_a_later_hand_discards_an_earlier_one() -> None:
    seats = [player(1, "4d2c", "4h8sTc"), player(2, "KcJd", "Kd5h6s")]
    result = settled(ricochet(HIGH_CARD_DEALER, seats))
    assert (result["pot"], result["pot_winners"]) == (1500, [2])
    assert nets(result) == [-1000, 1500]
    assert finals(result) == ["discarded", "live"]
    assert result["house_net"] == -500
    assert by_seat(result, 1)["wagers"]["play"]["status"] == "lose"
    assert by_seat(result, 2)["wagers"]["play"]["to_player"] == 500


def test_five_cards_beat_the_same_pair_in_two_cards() -> None:
    seats = [player(1, "6c2d", "6d3h4s"), player(2, "6h6s")]
    result = settled(ricochet(HIGH_CARD_DEALER, seats))
    assert result["pot_winners"] == [1]
    assert nets(result) == [1000, -500]


def test_a_waiting_higher_pair_discards_the_hand_and_then_wins() -> None:
    seats = [player(1, "Qc8d", "Qs4h2s"), player(2, "KhKs", "2h5d6c")]
    result = settled(ricochet("AhTd9c7s3d", seats))
    assert finals(result) == ["discarded", "live"]
    assert nets(result) == [-1000, 1500]


@pytest.mark.parametrize(
    ("settings", "status", "winners", "expected"),
    [
        ({}, "supervisor", None, [None, None]),
        ({"orphan_pot": "last_player"}, "settled", [2], [-1000, 1500]),
        ({"orphan_pot": "house"}, "settled", None, [-1000, -500]),
        ({"orphan_pot": "carry"}, "settled", None, [-1000, -500]),
        ({"ricochet_order": "literal"}, "supervisor", None, [None, None]),
        ({"ricochet_order": "must_top_all"}, "settled", ["dealer"], [-1000, -500]),
    ],
)
def test_topping_the_dealer_but_not_a_waiting_pair_that_folds(
    settings: Json, status: str, winners: list[object] | None, expected: list[int | None]
) -> None:
    """Literal: the dealer goes, then the hand itself; must_top_all: the dealer stays and wins."""
    seats = [player(1, "Qc8d", "Qs4h2s"), player(2, "KhKs")]
    result = settled(ricochet("AhTd9c7s3d", seats, settings=settings))
    assert result["round_status"] == status
    assert nets(result) == expected
    if winners is not None:
        assert result["pot_winners"] == winners


ORPHAN = [player(1, "6h5s"), player(3, "Kc8d")]


@pytest.mark.parametrize(
    ("orphan_pot", "expected", "house"),
    [
        ("last_player", [-500, 1000], -500),
        ("house", [-500, -500], 1000),
        ("carry", [-500, -500], 1000),
    ],
)
def test_orphan_pot_after_a_kickout(orphan_pot: str, expected: list[int], house: int) -> None:
    """Dealer AAQ is kicked out by two players and both fold."""
    result = settled(ricochet("AhAdQc7s3d", ORPHAN, settings={"orphan_pot": orphan_pot}))
    assert result["kickout"] is True
    assert result["round_status"] == "settled"
    assert nets(result) == expected
    assert result["house_net"] == house
    if orphan_pot == "last_player":
        assert result["pot_winners"] == [3]
        ante = by_seat(result, 3)["wagers"]["ante"]
        assert (ante["win"], ante["stake_back"], ante["to_player"]) == (1000, 500, 1500)


@pytest.mark.parametrize(
    ("orphan_pot", "expected", "pot"),
    [("last_player", [-500, 2700], 2700), ("house", [-500, -500], 3200), ("carry", None, 3200)],
)
def test_a_carried_pot_is_part_of_an_orphan_pot(
    orphan_pot: str, expected: list[int] | None, pot: int
) -> None:
    settings = {"orphan_pot": orphan_pot, "pot_carried_in": 1700}
    result = settled(ricochet("AhAdQc7s3d", ORPHAN, settings=settings))
    assert nets(result) == (expected or [-500, -500])
    assert result["pot"] == pot
    assert result.get("pot_carried") == (3200 if orphan_pot == "carry" else None)


@pytest.mark.parametrize(
    ("settings", "shares"),
    [
        ({"pot_carried_in": 1700}, {4: 1100, 6: 1100}),
        ({"pot_carried_in": 1600}, {4: 1100, 6: 1000}),
        ({"pot_carried_in": 1600, "odd_chips": "one_each_from_last"}, {4: 1100, 6: 1000}),
        ({"pot_carried_in": 1650, "smallest_chip": 500}, {4: 1150, 6: 1000}),
    ],
)
def test_a_carried_pot_is_split_with_the_pot_of_the_round(
    settings: Json, shares: dict[int, int]
) -> None:
    """One pot, one split: its odd chips go to seat 4, which acts last."""
    result = kings(**settings)
    assert result["pot"] == 500 + settings["pot_carried_in"]
    assert nets(result) == [shares[4], shares[6]]
    assert result["house_net"] == -sum(shares.values())


def test_a_carried_pot_lost_to_the_dealer_costs_the_players_nothing_more() -> None:
    seats = [player(1, "KcQd", "8h5s2c"), player(2, "9h8s")]
    result = settled(ricochet("AhAd9c7s3d", seats, settings={"pot_carried_in": 1700}))
    assert (result["pot"], result["pot_winners"]) == (3700, ["dealer"])
    assert nets(result) == [-1000, -500]


def test_a_carried_pot_stays_where_nobody_has_an_ante() -> None:
    result = settled(ricochet("AhAd9c7s3d", [], settings={"pot_carried_in": 1700}))
    assert (result["pot"], result["pot_winners"], result["pot_carried"]) == (1700, [], 1700)


@pytest.mark.parametrize("settings", [{}, {"orphan_pot": None}])
def test_orphan_pot_unset_asks_the_supervisor(settings: Json) -> None:
    result = settled(ricochet("AhAdQc7s3d", ORPHAN, settings=settings))
    assert result["round_status"] == "supervisor"
    assert nets(result) == [None, None]
    assert result["house_net"] is None
    assert result["question"]
    assert by_seat(result, 1)["wagers"]["ante"]["to_player"] is None


@pytest.mark.parametrize("events", [[], [{"type": "foreign_card"}]])
def test_the_play_wager_shows_in_a_supervisor_round(events: list[Json]) -> None:
    """RICO: "a `play` wager appears when the seat played". Without the event: an orphan pot."""
    seats = [player(1, "Qc8d", "Qs4h2s"), player(2, "KhKs")]
    result = settled(ricochet("AhTd9c7s3d", seats, *events))
    wagers = by_seat(result, 1)["wagers"]
    assert result["round_status"] == "supervisor"
    assert {spot: paid["placed"] for spot, paid in wagers.items()} == {"ante": 500, "play": 500}
    assert {paid["status"] for paid in wagers.values()} == {"supervisor"}


def kings(*, ante: int = 500, **settings: object) -> Json:
    """Equal pairs of kings; Kc8d acts before Kh8c."""
    seats = [player(4, "Kh8c", "Ks6d4c", ante=ante), player(6, "Kc8d", "Kd6h4s", ante=ante)]
    return settled(ricochet(HIGH_CARD_DEALER, seats, settings=settings, ante=ante))


@pytest.mark.parametrize(
    ("settings", "shares"),
    [
        ({}, {4: 300, 6: 200}),
        ({"smallest_chip": 1}, {4: 250, 6: 250}),
        ({"smallest_chip": 250}, {4: 250, 6: 250}),
        ({"smallest_chip": 500}, {4: 500, 6: 0}),
        ({"smallest_chip": 1000}, {4: 500, 6: 0}),
        ({"odd_chips": "one_each_from_last"}, {4: 300, 6: 200}),
        ({"odd_chips": "last_actor"}, {4: 300, 6: 200}),
    ],
)
def test_two_winners_split_the_pot(settings: Json, shares: dict[int, int]) -> None:
    result = kings(**settings)
    assert result["action_order"] == [6, 4]
    assert sorted(result["pot_winners"]) == [4, 6]
    assert result["pot"] == 500
    for number, share in shares.items():
        ante = by_seat(result, number)["wagers"]["ante"]
        assert (ante["status"], ante["win"], ante["stake_back"]) == ("win", share, 500)
    assert nets(result) == [shares[4], shares[6]]
    assert finals(result) == ["live", "live"]


def straights(*, ante: int, **settings: object) -> Json:
    """Three equal straights; the nines act clubs, diamonds, hearts: seats 5, 1, 3."""
    seats = [
        player(1, "9d8h", "7s6c5d", ante=ante),
        player(3, "9h8s", "7c6d5h", ante=ante),
        player(5, "9c8d", "7h6s5c", ante=ante),
    ]
    return settled(ricochet("AhQdTc3s2d", seats, settings=settings, ante=ante))


@pytest.mark.parametrize(
    ("ante", "settings", "shares"),
    [
        (500, {}, [100, 300, 100]),
        (500, {"odd_chips": "one_each_from_last"}, [200, 200, 100]),
        (400, {}, [100, 200, 100]),
        (400, {"odd_chips": "one_each_from_last"}, [100, 200, 100]),
        (600, {}, [200, 200, 200]),
        (700, {"smallest_chip": 300}, [0, 700, 0]),
        (700, {"smallest_chip": 300, "odd_chips": "one_each_from_last"}, [300, 400, 0]),
        (550, {}, [100, 350, 100]),
        (550, {"odd_chips": "one_each_from_last"}, [200, 250, 100]),
        (100, {"smallest_chip": 1}, [33, 34, 33]),
        (101, {"smallest_chip": 1, "odd_chips": "one_each_from_last"}, [34, 34, 33]),
    ],
)
def test_three_winners_odd_chips_and_dust(ante: int, settings: Json, shares: list[int]) -> None:
    """Shares of seats 1, 3 and 5; seat 3 acts last, seat 1 before it."""
    result = straights(ante=ante, **settings)
    assert result["action_order"] == [5, 1, 3]
    assert nets(result) == shares
    assert result["house_net"] == -ante


@pytest.mark.parametrize(
    ("cards", "order"),
    [
        (["6d6h", "6s6c"], [1, 2]),
        (["6s6c", "6d6h"], [2, 1]),
        (["Ks7h", "Kh7s"], [2, 1]),
        (["2c2d", "AhKh"], [2, 1]),
        (["AhKh", "AcQd"], [2, 1]),
        (["KcQd", "Kd2h"], [2, 1]),
        (["3h2h", "4c2d"], [1, 2]),
    ],
)
def test_action_goes_from_the_lowest_two_cards_up(cards: list[str], order: list[int]) -> None:
    seats = [player(number, two) for number, two in enumerate(cards, 1)]
    assert settled(ricochet("JdTc9s5h4h", seats))["action_order"] == order


LOW = ["2c3d", "2d3h", "2h4c", "2s4d", "3c5d", "3s5h", "4h6c"]
KICKOUTS = [
    (1, "KcKhQsJh7h", True),
    (1, "KcKhAsTh7h", True),
    (1, "KcKhJsTh9h", False),
    (1, "AcAhTs9h8h", True),
    (1, "TcTh8s8hJh", True),
    (2, "AcAhQsTh7h", True),
    (2, "AcAhJsTh9h", False),
    (2, "KcKhAsQhJh", False),
    (3, "TcTh7s7h9h", True),
    (3, "9c9h8s8hAh", False),
    (3, "JcJh7s7h9h", True),
    (4, "AcAh7s7h9h", True),
    (4, "KcKhQsQhJh", False),
    (4, "7c7h7sQhJh", True),
    (5, "7c7h7sQhJh", True),
    (5, "AcAhKsKhQh", False),
    (6, "QcQhQs7h8h", True),
    (6, "JcJhJsAhKh", False),
    (6, "7c8h9sThJh", True),
    (7, "7c8h9sThJh", True),
    (7, "AcAhAsKhQh", False),
    (7, "7h9hThQhKh", True),
]


@pytest.mark.parametrize(("players", "dealer", "kicked"), KICKOUTS)
def test_kickout_limits(players: int, dealer: str, kicked: bool) -> None:
    seats = [player(number, cards) for number, cards in enumerate(LOW[:players], 1)]
    result = settled(ricochet(dealer, seats, settings={"orphan_pot": "house"}))
    assert result["kickout"] is kicked


@pytest.mark.parametrize(
    ("players", "dealer"),
    [(3, "TcTh2s2c9h"), (4, "AcAd2s2c9h"), (5, "2c2s2hQhJh"), (7, "Ac2s3h4c5s")],
)
def test_kickout_at_exactly_the_limit(players: int, dealer: str) -> None:
    high = ["QsKd", "JdKh", "9d8h", "7c6d", "TdKc", "8s6c", "7s6h"]
    seats = [player(number, cards) for number, cards in enumerate(high[:players], 1)]
    result = settled(ricochet(dealer, seats, settings={"orphan_pot": "house"}))
    assert result["kickout"] is True


def test_after_a_kickout_the_dealers_ante_stays_in_the_pot() -> None:
    result = settled(ricochet("KhKdQc7s3d", [player(1, "6h5s", "2c9dTh")]))
    assert result["kickout"] is True
    assert (result["pot"], result["pot_winners"]) == (500, [1])
    assert nets(result) == [500]


@pytest.mark.parametrize(
    ("dealer", "cards", "outcome"),
    [
        ("AhKd9c7s3d", "Qc8d", "lose"),
        ("AhKd9c7s3d", "AcKs", "tie"),
        ("AhKd9c7s3d", "AcQs", "lose"),
        ("KhJd9c5s2d", "KcQs", "win"),
        ("AhKd9c7s3d", "2c2s", "win"),
        ("8h8d9c7s3d", "8c8s", "tie"),
        ("8h8d9c7s3d", "9d9s", "win"),
        ("8h8d9c7s3d", "7c7h", "lose"),
        ("8h8d9c7s3d", "AcKc", "lose"),
        ("3h3d2c2s4d", "AcAs", "lose"),
        ("3h3d3c2s4d", "AcAs", "lose"),
        ("3h4d5c6s7d", "AcAs", "lose"),
    ],
)
@pytest.mark.parametrize(
    ("pay", "results"),
    [
        ({"win": 5, "tie": 2}, {"win": 500, "tie": 200, "lose": -100}),
        ({"win": 1, "tie": 0}, {"win": 100, "tie": 0, "lose": -100}),
        (None, {"win": None, "tie": None, "lose": -100}),
    ],
)
def test_rapid_fire(
    dealer: str, cards: str, outcome: str, pay: Json | None, results: dict[str, int | None]
) -> None:
    """A stake of 100; the ante of 500 is folded. A kickout changes nothing."""
    seats = [player(1, cards, rapid_fire=100), player(2, "2h4h")]
    settings = {"orphan_pot": "house", "rapid_fire_pay": pay}
    result = settled(ricochet(dealer, seats, settings=settings))
    paid = by_seat(result, 1)["wagers"]["rapid_fire"]
    expected = results[outcome]
    assert result["round_status"] == "settled"
    if expected is None:
        assert (paid["status"], paid["win"], paid["stake_back"]) == ("supervisor", None, None)
        assert nets(result) == [None, -500]
        assert by_seat(result, 1)["wagers"]["ante"]["status"] == "lose"
        assert result["house_net"] is None
    else:
        assert paid["to_player"] - 100 == expected
        assert paid["status"] == {0: "push", -100: "lose"}.get(expected, "win")
        assert nets(result) == [-500 + expected, -500]


@pytest.mark.parametrize(
    ("dealer", "net"),
    [
        ("3h3d3c2s4d", 300),
        ("3h3d3c4s4d", 900),
        ("3h3d9c2s4d", -100),
        ("9h8h7h6h5h", 5000),
        ("AhKhQhJhTh", -100),
        ("3h3d4c4s9d", 0),
    ],
)
def test_hedge_pays_by_the_exact_class_of_the_dealer(dealer: str, net: int) -> None:
    table = {"three of a kind": 3, "full house": 9, "straight flush": 50, "two pair": 0}
    settings = {"orphan_pot": "house", "hedge_pay": table}
    result = settled(ricochet(dealer, [player(1, "Jc8d", hedge=100)], settings=settings))
    assert nets(result) == [-500 + net]


@pytest.mark.parametrize("dealer", ["3h3d3c2s4d", "AhKd9c7s3d"])
def test_hedge_without_a_table_is_the_supervisors(dealer: str) -> None:
    settings = {"orphan_pot": "house"}
    result = settled(ricochet(dealer, [player(1, "Jc8d", hedge=100)], settings=settings))
    assert by_seat(result, 1)["wagers"]["hedge"]["status"] == "supervisor"
    assert by_seat(result, 1)["wagers"]["ante"]["to_player"] == 0
    assert nets(result) == [None]


EVENTS: list[Json] = [
    {"type": "foreign_card"},
    {"type": "deck_count", "count": 51},
    {"type": "dealt_incorrectly", "players_handled": False},
    {"type": "exposed_cards", "count": 1},
    {"type": "late_wager", "seat": 1, "spot": "ante", "amount": 500},
    {"type": "hand_dealt_no_wager", "seat": 5},
    {"type": "absent_player", "seat": 1, "viewed": True},
    {"type": "shuffler_malfunction", "cards_dealt": 3},
    {"type": "wagers_voided_by_supervisor", "seat": 1},
    {"type": "game_invalidated"},
    {"type": "over_max_previous_round", "seat": 1},
    {"type": "cards_shown", "seat": 1},
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: str(event["type"]))
@pytest.mark.parametrize("more", [[], [{"type": "supervisor_confirmed", "by": "x", "what": "y"}]])
def test_any_event_is_the_supervisors(event: Json, more: list[Json]) -> None:
    seats = [player(1, "Qc8d", "Qs4h2s"), player(3, "6h5s")]
    result = settled(ricochet("AhKd9c7s3d", seats, *more, event))
    assert result["round_status"] == "supervisor"
    assert nets(result) == [None, None]
    assert result["house_net"] is None


def test_a_confirmation_alone_is_not() -> None:
    confirmed = {"type": "supervisor_confirmed", "by": "S-17", "what": "the draw"}
    seats = [player(1, "Qc8d", "Qs4h2s"), player(3, "6h5s")]
    assert nets(settled(ricochet("AhKd9c7s3d", seats, confirmed))) == [1000, -500]
