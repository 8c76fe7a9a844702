"""Every setting of the Let It Ride books, its default, and amounts worked out by hand."""

from __future__ import annotations

import pytest

from controller.rules.errors import RecordError

from .rounds import Json, by_seat, nets, ride, seat, settled

PROGRESSIVE = {"progressive": 100}


def straight_flushes(game: str, **settings: object) -> Json:
    """Seat 5 is settled first. 200 to 1 on three wagers of 500 is 300000 at each seat."""
    seats = [seat(2, "4h5h6h", wagers=PROGRESSIVE), seat(5, "9hThJh", wagers=PROGRESSIVE)]
    return settled(ride(game, seats, "7h8h", settings={"jackpot": 1000005, **settings}))


def royal(game: str, royal_seat: int, **settings: object) -> Json:
    """A royal flush and a straight flush of one suit; 1000 to 1 on three wagers is 1500000."""
    hands = {royal_seat: "QhKhAh", 7 - royal_seat: "7h8h9h"}
    seats = [seat(number, cards, wagers=PROGRESSIVE) for number, cards in hands.items()]
    settings = {"jackpot": 1000005, "jackpot_reset": 5000, **settings}
    return settled(ride(game, seats, "ThJh", settings=settings))


def shares(result: Json) -> list[int]:
    return [shown["wagers"]["progressive"]["win"] for shown in result["seats"]]


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
@pytest.mark.parametrize("settings", [{}, {"meter_rule": "sequential"}, {"meter_rule": None}])
def test_sequential_shares_take_the_meter_as_it_stands(game: str, settings: Json) -> None:
    result = straight_flushes(game, **settings)
    assert shares(result) == [90000, 100000]
    assert (result["jackpot_before"], result["jackpot_after"]) == (1000005, 810005)
    envy = 30000 if game == "MBS3" else 0
    assert nets(result) == [390000 + envy, 400000 + envy]


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_snapshot_shares_both_take_the_jackpot(game: str) -> None:
    result = straight_flushes(game, meter_rule="snapshot")
    assert shares(result) == [100000, 100000]
    assert result["jackpot_after"] == 800005


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_after_a_royal_flush_the_reset_value_is_the_base(game: str) -> None:
    result = royal(game, 5)
    assert shares(result) == [500, 1000005]
    assert result["jackpot_after"] == 4500


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_a_royal_flush_takes_what_an_earlier_share_left(game: str) -> None:
    result = royal(game, 2)
    assert shares(result) == [900005, 100000]
    assert result["jackpot_after"] == 5000
    assert by_seat(result, 2)["wagers"]["progressive"]["odds"] == "100% of the jackpot"


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
@pytest.mark.parametrize("royal_seat", [2, 5])
def test_a_royal_flush_under_snapshot(game: str, royal_seat: int) -> None:
    expected = {royal_seat: 1000005, 7 - royal_seat: 100000}
    assert shares(royal(game, royal_seat, meter_rule="snapshot")) == [expected[2], expected[5]]


def test_the_jackpot_and_its_reset_default_to_nothing() -> None:
    seats = [seat(2, "QhKhAh", wagers=PROGRESSIVE)]
    result = settled(ride("MBS3", seats, "ThJh"))
    assert (result["jackpot_before"], result["jackpot_after"]) == (0, 0)
    assert nets(result) == [1500000]
    reset = settled(ride("MBS3", seats, "ThJh", settings={"jackpot": 777}))
    assert (nets(reset), reset["jackpot_after"]) == ([1500777], 0)


@pytest.mark.parametrize("credits", [100, 300])
def test_percentages_do_not_scale_with_credits_and_odds_do(credits: int) -> None:
    share = settled(
        ride(
            "MEGA",
            [seat(2, "4h5h6h", wagers={"progressive": credits})],
            "7h8h",
            settings={"jackpot": 99},
        )
    )
    assert shares(share) == [9]
    odds = settled(ride("MEGA", [seat(2, "4h4d4s", wagers={"progressive": credits})], "4c8h"))
    assert shares(odds) == [500 * credits]


@pytest.mark.parametrize(
    ("game", "cards", "odds"),
    [
        ("MBS3", "4h4d4s", 300),
        ("MBS3", "8d4d4s", 50),
        ("MBS3", "AcTc2c", 40),
        ("MBS3", "5h6d7s", 30),
        ("MBS3", "4d4s9h", 9),
        ("MEGA", "4h4d4s", 500),
        ("MEGA", "8d4d4s", 100),
        ("MEGA", "AcTc2c", 50),
        ("MEGA", "5h6d7s", 0),
        ("MEGA", "4d4s9h", 0),
        ("MBS3", "8d4d9s", 0),
    ],
)
@pytest.mark.parametrize("returned", [True, False])
def test_progressive_odds_and_the_returned_stake(
    game: str, cards: str, odds: int, returned: bool
) -> None:
    record = ride(
        game,
        [seat(2, cards, wagers=PROGRESSIVE)],
        "4c8c",
        settings={"progressive_stake_returned": returned},
    )
    paid = by_seat(settled(record), 2)["wagers"]["progressive"]
    assert paid["win"] == odds * 100
    assert paid["stake_back"] == (100 if odds and returned else 0)
    assert paid["status"] == ("win" if odds else "lose")
    assert paid["odds"] == (f"{odds} to 1" if odds else None)


def test_a_share_of_the_meter_returns_its_stake_by_the_same_setting() -> None:
    kept = straight_flushes("MEGA", progressive_stake_returned=False)
    assert nets(kept) == [389900, 399900]


def test_envy_for_the_own_hand_only_by_setting() -> None:
    seats = [seat(2, "4h5h6h", wagers=PROGRESSIVE)]
    assert nets(settled(ride("MBS3", seats, "7h8h"))) == [300000]
    own = settled(ride("MBS3", seats, "7h8h", settings={"envy_self": True}))
    assert by_seat(own, 2)["awards"] == [{"kind": "envy", "amount": 30000, "from_seat": 2}]
    assert nets(own) == [330000]


def test_envy_needs_no_progressive_of_the_hand_that_triggers_it() -> None:
    seats = [seat(1, "2c3d9s", wagers=PROGRESSIVE), seat(2, "4h5h6h")]
    result = settled(ride("MBS3", seats, "7h8h"))
    assert by_seat(result, 1)["awards"] == [{"kind": "envy", "amount": 30000, "from_seat": 2}]
    assert nets(result) == [-1600 + 30000, 300000]


@pytest.mark.parametrize(
    ("settings", "envies"),
    [
        ({}, {1: {2: 30000, 5: 100000}, 2: {5: 100000}, 5: {2: 30000}}),
        ({"envy_per_hand": True}, {1: {2: 30000, 5: 100000}, 2: {5: 100000}, 5: {2: 30000}}),
        ({"envy_per_hand": False}, {1: {5: 100000}, 2: {5: 100000}, 5: {2: 30000}}),
    ],
)
def test_envy_per_hand(settings: Json, envies: dict[int, dict[int, int]]) -> None:
    seats = [
        seat(1, "2c3d9s", wagers=PROGRESSIVE),
        seat(2, "7h8h9h", wagers=PROGRESSIVE),
        seat(5, "QhKhAh", wagers=PROGRESSIVE),
    ]
    result = settled(ride("MBS3", seats, "ThJh", settings=settings))
    for number, expected in envies.items():
        awards = by_seat(result, number)["awards"]
        assert {award["from_seat"]: award["amount"] for award in awards} == expected
        assert len(awards) == len(expected)


def test_mega_has_no_envy() -> None:
    assert all(shown["awards"] == [] for shown in straight_flushes("MEGA")["seats"])


def test_suited_ace_to_five_is_a_straight_flush_in_every_book() -> None:
    for game in ("MBS3", "MEGA", "NSW", "PP6"):
        shown = by_seat(settled(ride(game, [seat(1, "Ad2d3d")], "4d5d")), 1)
        assert (shown["hand"], shown["net"]) == ("straight flush", 300000)


@pytest.mark.parametrize(
    ("magic", "lucky", "awards"),
    [
        ("7h", None, {1: ["magic card"]}),
        ("Js", None, {1: ["magic card"], 2: ["magic card"]}),
        ("Kd", None, {}),
        (None, 2, {2: ["lucky player"]}),
        (None, 3, {}),
        (None, 6, {}),
        ("7h", 1, {1: ["magic card", "lucky player"]}),
        (None, None, {}),
    ],
)
def test_magic_card_and_lucky_player(
    magic: str | None, lucky: int | None, awards: dict[int, list[str]]
) -> None:
    seats = [
        seat(1, "2c3d7h", wagers={"progressive": 200}),
        seat(2, "2h3s9h", wagers={"progressive": 100}),
        seat(3, "5c6d9s"),
    ]
    settings = {"magic_card": magic, "lucky_seat": lucky}
    result = settled(ride("MEGA", seats, "Js4c", settings=settings))
    for number, stake in ((1, 200), (2, 100), (3, 0)):
        shown = by_seat(result, number)
        kinds = awards.get(number, [])
        assert sorted(award["kind"] for award in shown["awards"]) == sorted(kinds)
        assert {award["amount"] for award in shown["awards"]} <= {5 * stake}
        back = stake if kinds else 0
        assert shown["net"] == -1500 - stake + back + 5 * stake * len(kinds)


def test_the_stake_of_two_awards_comes_back_once_and_by_the_setting() -> None:
    seats = [seat(1, "4h4d4s", wagers={"progressive": 100})]
    settings: Json = {"magic_card": "4h", "lucky_seat": 1}
    shown = by_seat(settled(ride("MEGA", seats, "4c8h", settings=settings)), 1)
    assert shown["wagers"]["progressive"]["to_player"] == 50000 + 100
    assert sum(award["amount"] for award in shown["awards"]) == 1000
    settings["progressive_stake_returned"] = False
    kept = by_seat(settled(ride("MEGA", seats, "4c8h", settings=settings)), 1)
    assert kept["wagers"]["progressive"]["to_player"] == 50000
    assert kept["net"] == shown["net"] - 100


def nsw(stake: int, cards: str = "AcAd7h", community: str = "Js4c", **settings: object) -> Json:
    return by_seat(settled(ride("NSW", [seat(1, cards, stake)], community, settings=settings)), 1)


@pytest.mark.parametrize("scope", [{}, {"limit_scope": "per_spot"}])
def test_a_wager_above_the_maximum_is_paid_and_collected_to_it(scope: Json) -> None:
    won, lost = nsw(1500, max_wager=1000, **scope), nsw(1500, "2c3d9h", max_wager=1000, **scope)
    assert (won["wagers"]["1"]["win"], won["wagers"]["1"]["stake_back"]) == (1000, 1500)
    assert (lost["wagers"]["1"]["win"], lost["wagers"]["1"]["stake_back"]) == (0, 500)
    assert (won["net"], lost["net"]) == (3000, -3000)


def test_a_wager_below_the_minimum_is_valid() -> None:
    assert nsw(500, min_wager=1000)["net"] == 1500


@pytest.mark.parametrize(("stake", "net"), [(500, 1500), (501, None)])
def test_per_area_the_three_wagers_together_meet_the_maximum(stake: int, net: int | None) -> None:
    shown = nsw(stake, max_wager=1500, limit_scope="per_area")
    assert shown["net"] == net
    assert shown["wagers"]["$"]["status"] == ("win" if net else "supervisor")


@pytest.mark.parametrize(
    ("scope", "cap", "net", "reduction"),
    [
        ({}, 15000, 15000, 9000),
        ({"max_payout_scope": "per_hand"}, 24000, 24000, None),
        ({"max_payout_scope": "per_hand"}, 23999, 23999, 1),
        ({"max_payout_scope": "per_wager"}, 8000, 24000, None),
        ({"max_payout_scope": "per_wager"}, 7000, 21000, 3000),
    ],
)
def test_a_posted_cap_on_winnings(scope: Json, cap: int, net: int, reduction: int | None) -> None:
    """A flush pays 8 to 1 on three wagers of 1000: 24000 without the stakes."""
    shown = nsw(1000, "AcTc2c", "8c4c", max_payout=cap, **scope)
    assert shown["net"] == net
    assert shown.get("payout_cap_reduction") == reduction


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "PP6"])
def test_limits_and_caps_are_of_nsw_only(game: str) -> None:
    settings = {"max_wager": 100, "limit_scope": "per_area", "max_payout": 1, "min_wager": 9999}
    assert nets(settled(ride(game, [seat(1, "AcAd7h")], "Js4c", settings=settings))) == [1500]


def test_settings_of_other_games_are_ignored_and_null_means_none() -> None:
    settings = {
        "jackpot": None,
        "magic_card": None,
        "max_payout": None,
        "max_wager": None,
        "rapid_fire_pay": None,
        "orphan_pot": None,
        "smallest_chip": 25,
        "odd_chips": "last_actor",
        "ricochet_order": "must_top_all",
        "hedge_pay": {"flush": 3},
        "lucky_seat": 1,
    }
    assert nets(settled(ride("NSW", [seat(1, "AcAd7h")], "Js4c", settings=settings))) == [1500]


@pytest.mark.parametrize(
    "settings",
    [
        {"jackpots": 5},
        {"jackpot": -1},
        {"jackpot": 5.0},
        {"jackpot": True},
        {"meter_rule": "both"},
        {"progressive_stake_returned": 1},
        {"envy_self": "yes"},
        {"limit_scope": "per_table"},
        {"max_payout_scope": "per_round"},
        {"magic_card": "1s"},
        {"lucky_seat": "4"},
        {"lucky_seat": 0},
        {"lucky_seat": 8},
        {"lucky_seat": 42},
        {"pot_carried_in": -1},
        {"smallest_chip": 0},
        {"odd_chips": "first"},
        {"orphan_pot": "dealer"},
        {"rapid_fire_pay": {"win": 5, "tie": 5, "lose": 1}},
        {"rapid_fire_pay": {"win": -1, "tie": 5}},
        {"hedge_pay": {"pair": 5}},
        {"hedge_pay": {"flush": 1.5}},
        {"ricochet_order": "reverse"},
    ],
)
@pytest.mark.parametrize("game", ["MBS3", "NSW"])
def test_an_unknown_setting_or_value_is_malformed(game: str, settings: Json) -> None:
    with pytest.raises(RecordError) as caught:
        settled(ride(game, [seat(1, "AcAd7h")], "Js4c", settings=settings))
    assert f"settings.{next(iter(settings))}" in str(caught.value)
