"""Late, unequal and illegal wagers; void, refused and held seats, and what hangs on them."""

from __future__ import annotations

import pytest

from .rounds import Json, by_seat, nets, ride, seat, settled, statuses

ABSENT = {"type": "absent_player", "viewed": True}
VOIDED = "wagers_voided_by_supervisor"


def late(number: int, spot: str, amount: int) -> Json:
    return {"type": "late_wager", "seat": number, "spot": spot, "amount": amount}


def all_late(number: int, stake: int, *more: str) -> list[Json]:
    return [late(number, spot, stake) for spot in ("1", "2", "$", *more)]


def amounts(paid: Json) -> tuple[object, ...]:
    return paid["placed"], paid["status"], paid["win"], paid["stake_back"], paid["to_player"]


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW", "PP6"])
def test_the_late_part_is_returned_whether_the_hand_wins_or_loses(game: str) -> None:
    seats = [seat(1, "AcAd7h", wagers={"1": 700}), seat(2, "2c3d9h", wagers={"1": 700})]
    result = settled(ride(game, seats, "Js4c", late(1, "1", 200), late(2, "1", 200)))
    assert nets(result) == [1500, -1500]
    assert amounts(by_seat(result, 1)["wagers"]["1"]) == (700, "win", 500, 700, 1200)
    assert amounts(by_seat(result, 2)["wagers"]["1"]) == (700, "lose", 0, 200, 200)
    assert result["clauses"]


def test_two_late_parts_of_one_wager_add_up() -> None:
    seats = [seat(2, "2c3d9h", wagers={"1": 700})]
    result = settled(ride("NSW", seats, "Js4c", late(2, "1", 150), late(2, "1", 50)))
    assert amounts(by_seat(result, 2)["wagers"]["1"]) == (700, "lose", 0, 200, 200)


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW", "PP6"])
def test_a_seat_with_nothing_legal_is_refused_throughout(game: str) -> None:
    result = settled(ride(game, [seat(1, "AcAd7h")], "Js4c", *all_late(1, 500)))
    assert result["round_status"] == "settled"
    assert nets(result) == [0]
    assert statuses(result) == [{"1": "refused", "2": "refused", "$": "refused"}]
    assert by_seat(result, 1)["hand"] is None
    assert by_seat(result, 1)["wagers"]["$"]["to_player"] == 500


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_a_progressive_without_base_wagers_is_refused(game: str) -> None:
    alone = {"seat": 1, "wagers": {"progressive": 100}, "cards": ["Ac", "Ad", "As"]}
    result = settled(ride(game, [alone], "Js4c"))
    assert statuses(result) == [{"progressive": "refused"}]
    assert nets(result) == [0]


def test_a_pp6_bonus_without_the_dollar_wager_is_refused() -> None:
    alone = {"seat": 1, "wagers": {"pair_plus": 100, "six_card": 100}, "cards": ["Ac", "Ad", "As"]}
    result = settled(ride("PP6", [alone], "Js4c"))
    assert statuses(result) == [{"pair_plus": "refused", "six_card": "refused"}]
    assert nets(result) == [0]


def test_the_part_of_a_pp6_bonus_above_the_dollar_wager_is_returned() -> None:
    wagers = {"$": 300, "pair_plus": 500, "six_card": 400}
    seats = [
        {"seat": 1, "wagers": wagers, "cards": ["9c", "9d", "7h"]},
        {"seat": 2, "wagers": wagers, "cards": ["2c", "3d", "8h"]},
    ]
    result = settled(ride("PP6", seats, "Js4c"))
    assert amounts(by_seat(result, 1)["wagers"]["pair_plus"]) == (500, "win", 300, 500, 800)
    assert amounts(by_seat(result, 1)["wagers"]["six_card"]) == (400, "lose", 0, 100, 100)
    assert amounts(by_seat(result, 2)["wagers"]["pair_plus"]) == (500, "lose", 0, 200, 200)
    assert nets(result) == [-300, -900]


def test_a_late_part_of_the_dollar_wager_lowers_what_a_bonus_may_be() -> None:
    wagers = {"$": 500, "pair_plus": 400}
    seats = [{"seat": 1, "wagers": wagers, "cards": ["9c", "9d", "7h"]}]
    result = settled(ride("PP6", seats, "Js4c", late(1, "$", 300)))
    assert amounts(by_seat(result, 1)["wagers"]["$"]) == (500, "lose", 0, 300, 300)
    assert amounts(by_seat(result, 1)["wagers"]["pair_plus"]) == (400, "win", 200, 400, 600)
    assert nets(result) == [0]


def test_odds_of_a_progressive_scale_with_its_timely_part_only() -> None:
    seats = [seat(1, "AhKh7h", wagers={"progressive": 300})]
    result = settled(ride("MEGA", seats, "Jh4h", late(1, "progressive", 100)))
    assert amounts(by_seat(result, 1)["wagers"]["progressive"]) == (300, "win", 10000, 300, 10300)
    assert nets(result) == [22000]
    lost = settled(
        ride(
            "MEGA",
            [seat(1, "AcKd7h", wagers={"progressive": 300})],
            "Jh4h",
            late(1, "progressive", 100),
        )
    )
    assert amounts(by_seat(lost, 1)["wagers"]["progressive"]) == (300, "lose", 0, 100, 100)


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW"])
@pytest.mark.parametrize("wagers", [{"1": 400}, {"2": 0}, {"$": 600}])
def test_unequal_base_wagers_hold_the_seat(game: str, wagers: Json) -> None:
    seats = [seat(1, "AcAd7h", wagers=wagers), seat(2, "2c3d9h")]
    result = settled(ride(game, seats, "Js4c"))
    assert result["round_status"] == "settled"
    assert nets(result) == [None, -1500]
    assert set(statuses(result)[0].values()) == {"supervisor"}
    assert by_seat(result, 1)["hand"] is None
    assert result["house_net"] is None
    assert result["clauses"]


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW"])
def test_a_late_wager_that_leaves_the_timely_parts_unequal_cures_nothing(game: str) -> None:
    seats = [seat(1, "AcAd7h"), seat(2, "2c3d9h")]
    assert nets(settled(ride(game, seats, "Js4c", late(1, "1", 500)))) == [None, -1500]


@pytest.mark.parametrize(
    ("wagers", "net"),
    [({"$": 500}, 500), ({"$": 500, "1": 500}, 1000), ({"$": 500, "2": 500}, 1000)],
)
def test_pp6_circles_may_be_empty(wagers: Json, net: int) -> None:
    seats = [{"seat": 1, "wagers": wagers, "cards": ["Ac", "Ad", "7h"]}]
    assert nets(settled(ride("PP6", seats, "Js4c"))) == [net]


@pytest.mark.parametrize("spot", ["1", "2"])
def test_a_pp6_circle_other_than_the_dollar_wager_holds_the_seat(spot: str) -> None:
    result = settled(ride("PP6", [seat(1, "AcAd7h", wagers={spot: 400})], "Js4c"))
    assert nets(result) == [None]


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([*all_late(1, 500), {"type": VOIDED, "seat": 1}], "void"),
        ([*all_late(1, 500), {**ABSENT, "seat": 1}], "refused"),
        ([{**ABSENT, "seat": 1}, {"type": VOIDED, "seat": 1}], "void"),
        ([{**ABSENT, "seat": 1}, late(1, "1", 100)], "supervisor"),
    ],
)
def test_seat_precedence_void_refused_supervisor(events: list[Json], status: str) -> None:
    result = settled(ride("MBS3", [seat(1, "AcAd7h")], "Js4c", *events))
    assert set(statuses(result)[0].values()) == {status}
    assert nets(result) == [None if status == "supervisor" else 0]


PROGRESSIVE = {"progressive": 100}


def two_runs(game: str, *events: Json, **settings: object) -> Json:
    """Straight flushes at seats 2 (eight high) and 5 (jack high); seat 1 has a pair of aces."""
    seats = [
        seat(1, "AcAd2s", wagers=PROGRESSIVE),
        seat(2, "4h5h6h", wagers=PROGRESSIVE),
        seat(5, "9hThJh", wagers=PROGRESSIVE),
    ]
    return ride(game, seats, "7h8h", *events, settings={"jackpot": 1000005, **settings})


def test_a_held_straight_flush_holds_the_envy_of_every_timely_progressive() -> None:
    result = settled(two_runs("MBS3", {**ABSENT, "seat": 5}))
    assert nets(result) == [None, None, None]
    assert result["house_net"] is None
    assert result["round_status"] == "settled"


def test_a_seat_without_a_timely_progressive_does_not_wait_for_envy() -> None:
    record = two_runs("MBS3", {**ABSENT, "seat": 5}, late(1, "progressive", 100))
    del record["round"]["seats"][1]["wagers"]["progressive"]
    assert nets(settled(record)) == [1500, 300000, None]


def test_a_held_hand_below_a_straight_flush_holds_nobody() -> None:
    record = two_runs("MBS3", {**ABSENT, "seat": 1})
    assert nets(settled(record)) == [None, 420000, 430000]


def test_a_void_or_refused_straight_flush_triggers_no_envy() -> None:
    void = settled(two_runs("MBS3", {"type": VOIDED, "seat": 5}))
    assert nets(void) == [1500 - 100 + 30000, 300000 + 100000, 0]
    refused = settled(two_runs("MBS3", *all_late(5, 500)))
    assert nets(refused) == [1500 - 100 + 30000, 300000 + 100000, 0]
    assert refused["jackpot_after"] == 900005


def test_a_late_progressive_gets_no_envy() -> None:
    result = settled(two_runs("MBS3", late(1, "progressive", 100)))
    assert by_seat(result, 1)["awards"] == []
    assert nets(result)[0] == 1500


@pytest.mark.parametrize(
    ("held", "settings", "expected"),
    [
        (5, {}, [1400, None, None]),
        (2, {}, [1400, None, 400000]),
        (5, {"meter_rule": "snapshot"}, [1400, 400000, None]),
    ],
)
def test_mega_awards_settled_after_a_held_one_wait(
    held: int, settings: Json, expected: list[int | None]
) -> None:
    result = settled(two_runs("MEGA", {**ABSENT, "seat": held}, **settings))
    assert nets(result) == expected


def test_mega_a_held_hand_without_a_progressive_leaves_the_meter_alone() -> None:
    record = two_runs("MEGA", {**ABSENT, "seat": 5})
    del record["round"]["seats"][2]["wagers"]["progressive"]
    assert nets(settled(record)) == [1400, 400000, None]


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_a_seat_held_for_a_missing_dollar_wager_still_holds_later_shares(game: str) -> None:
    """Its progressive is the supervisor's, so what the meter then shows is not known."""
    record = two_runs(game)
    record["round"]["seats"][2]["wagers"]["$"] = 0
    result = settled(record)
    assert by_seat(result, 5)["wagers"]["progressive"]["status"] == "supervisor"
    assert by_seat(result, 2)["net"] is None


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_meters_in_void_and_supervisor_rounds(game: str) -> None:
    void = settled(two_runs(game, {"type": "foreign_card"}))
    assert (void["jackpot_before"], void["jackpot_after"]) == (1000005, 1000005)
    asks = settled(two_runs(game, {"type": "game_invalidated"}))
    assert (asks["jackpot_before"], asks["jackpot_after"]) == (1000005, None)


@pytest.mark.parametrize("game", ["NSW", "PP6"])
def test_games_without_a_meter_show_none(game: str) -> None:
    result = settled(ride(game, [seat(1, "AcAd7h")], "Js4c", settings={"jackpot": 5}))
    assert not result.keys() & {"jackpot_before", "jackpot_after"}


def test_decisions_on_empty_spots_are_ignored_and_missing_ones_ride() -> None:
    seats: list[Json] = [
        {"seat": 1, "wagers": {"$": 500}, "cards": ["Ac", "Ad", "7h"]},
        seat(2, "2c3d9h"),
    ]
    seats[0]["decisions"] = {"1": "withdraw", "2": "withdraw"}
    seats[1]["decisions"] = {"1": "withdraw"}
    result = settled(ride("PP6", seats, "Js4c"))
    assert nets(result) == [500, -1000]


def test_seats_come_out_in_ascending_order() -> None:
    seats = [seat(6, "AcAd7h"), seat(2, "2c3d9h"), seat(4, "KcKd5h")]
    result = settled(ride("NSW", seats, "Js4c"))
    assert [shown["seat"] for shown in result["seats"]] == [2, 4, 6]


def test_a_held_seat_with_too_few_cards_and_no_event_is_malformed() -> None:
    """Unequal wagers explain why the seat is held, not why a card is missing."""
    from controller.rules.errors import RecordError

    record = ride("NSW", [seat(1, "AcAd", wagers={"1": 400})], "Js4c")
    with pytest.raises(RecordError):
        settled(record)
