"""Every cell of the contract's events table: event x flags x game, with what it comes to.

Seat 1 holds a pair of aces (+1500 when the round settles), seat 2 nothing (-1500).
"""

from __future__ import annotations

from typing import Any

import pytest

from .rounds import Json, by_seat, nets, ride, seat, settled, statuses

LIR = ("MBS3", "MEGA", "NSW", "PP6")
PLAYS = ("settled", 1500, -1500)
VOID = ("void", 0, 0)
ASKS = ("supervisor", None, None)
SEAT_HELD = ("settled", None, -1500)
SEAT_VOID = ("settled", 0, -1500)
Outcome = tuple[str, int | None, int | None]


def yes(*flags: str) -> dict[str, Any]:
    return dict.fromkeys(flags, True)


HANDLED, FIXED, LATE = "players_handled", "reconstructed", "after_next_game_began"
COUNT = {"seat": 1, "count": 2}
EXPOSED = {"type": "exposed_cards"}

# name, fields: outcome under MBS3, MEGA, NSW, PP6
TABLE: list[tuple[str, dict[str, Any], Outcome, Outcome, Outcome, Outcome]] = [
    ("foreign_card", {}, VOID, VOID, VOID, ASKS),
    ("foreign_card", yes("after_round_concluded"), PLAYS, PLAYS, PLAYS, ASKS),
    ("deck_count", {"count": 51}, VOID, VOID, VOID, ASKS),
    ("deck_count", {"count": 53}, VOID, VOID, VOID, ASKS),
    ("deck_count", {"count": 51} | yes("after_round_concluded"), ASKS, ASKS, PLAYS, ASKS),
    ("deck_count", {"count": 52}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("deck_count", {"count": 52} | yes("after_round_concluded"), PLAYS, PLAYS, PLAYS, PLAYS),
    ("dealt_incorrectly", {HANDLED: False}, VOID, VOID, VOID, ASKS),
    ("dealt_incorrectly", {HANDLED: False, FIXED: True}, PLAYS, PLAYS, VOID, ASKS),
    ("dealt_incorrectly", {HANDLED: True}, ASKS, ASKS, ASKS, ASKS),
    ("dealt_incorrectly", {HANDLED: True, FIXED: True}, ASKS, ASKS, ASKS, ASKS),
    ("community_count", {"count": 2}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("community_count", {"count": 1}, VOID, VOID, VOID, ASKS),
    ("community_count", {"count": 3}, VOID, VOID, VOID, ASKS),
    ("community_count", {"count": 3} | yes(HANDLED), VOID, VOID, VOID, ASKS),
    ("community_count", {"count": 3} | yes(FIXED), PLAYS, PLAYS, VOID, ASKS),
    ("community_count", {"count": 3} | yes(HANDLED, FIXED), PLAYS, PLAYS, VOID, ASKS),
    ("community_count", {"count": 3} | yes(LATE), PLAYS, PLAYS, PLAYS, ASKS),
    ("community_count", {"count": 3} | yes(HANDLED, LATE), PLAYS, PLAYS, PLAYS, ASKS),
    ("player_card_count", {"seat": 1, "count": 3}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("player_card_count", {"seat": 1, "count": 4}, VOID, VOID, VOID, ASKS),
    ("player_card_count", COUNT, VOID, VOID, VOID, ASKS),
    ("player_card_count", COUNT | yes(FIXED), PLAYS, PLAYS, VOID, ASKS),
    ("player_card_count", COUNT | yes(HANDLED), VOID, SEAT_HELD, SEAT_VOID, ASKS),
    ("player_card_count", COUNT | yes(HANDLED, FIXED), PLAYS, SEAT_HELD, SEAT_VOID, ASKS),
    ("player_card_count", COUNT | yes(LATE), PLAYS, PLAYS, PLAYS, ASKS),
    ("player_card_count", COUNT | yes(FIXED, LATE), PLAYS, PLAYS, PLAYS, ASKS),
    ("player_card_count", COUNT | yes(HANDLED, LATE), PLAYS, PLAYS, PLAYS, ASKS),
    ("player_card_count", COUNT | yes(HANDLED, FIXED, LATE), PLAYS, PLAYS, PLAYS, ASKS),
    ("exposed_cards", {"count": 1}, PLAYS, PLAYS, PLAYS, ASKS),
    ("exposed_cards", {"count": 2}, VOID, VOID, VOID, ASKS),
    ("exposed_cards", {"count": 1} | yes("community"), PLAYS, PLAYS, VOID, ASKS),
    ("exposed_cards", {"count": 1} | yes(HANDLED), ASKS, ASKS, PLAYS, ASKS),
    ("exposed_cards", {"count": 2} | yes(HANDLED), ASKS, ASKS, ASKS, ASKS),
    ("exposed_cards", {"count": 1} | yes("community", HANDLED), ASKS, ASKS, PLAYS, ASKS),
    ("exposed_cards", {"count": 2} | yes("community", HANDLED), ASKS, ASKS, PLAYS, ASKS),
    ("hand_dealt_no_wager", {"seat": 5}, VOID, VOID, VOID, ASKS),
    ("hand_dealt_no_wager", {"seat": 5} | yes(FIXED), PLAYS, PLAYS, VOID, ASKS),
    ("hand_dealt_no_wager", {"seat": 5} | yes(HANDLED), ASKS, ASKS, PLAYS, ASKS),
    ("hand_dealt_no_wager", {"seat": 5} | yes(HANDLED, FIXED), ASKS, ASKS, PLAYS, ASKS),
    ("absent_player", {"seat": 1, "viewed": False}, SEAT_HELD, SEAT_HELD, SEAT_VOID, SEAT_HELD),
    ("absent_player", {"seat": 1, "viewed": True}, SEAT_HELD, SEAT_HELD, PLAYS, SEAT_HELD),
    ("shuffler_malfunction", {"cards_dealt": 0}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("shuffler_malfunction", {"cards_dealt": 1}, ASKS, ASKS, VOID, ASKS),
    ("wagers_voided_by_supervisor", {"seat": 1}, SEAT_VOID, SEAT_VOID, SEAT_VOID, SEAT_VOID),
    ("game_invalidated", {}, ASKS, ASKS, VOID, ASKS),
    ("game_invalidated", {"forfeit_seats": []}, ASKS, ASKS, VOID, ASKS),
    ("game_invalidated", {"forfeit_seats": [2]}, ASKS, ASKS, ("void", 0, -1500), ASKS),
    ("over_max_previous_round", {"seat": 1}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("over_max_previous_round", {"seat": 5}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("cards_shown", {"seat": 1}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("cards_shown", {"seat": 5}, PLAYS, PLAYS, PLAYS, PLAYS),
    ("supervisor_confirmed", {"by": "S-17", "what": "51 cards"}, PLAYS, PLAYS, PLAYS, PLAYS),
]
UNEQUAL: list[tuple[str, bool, Outcome]] = [
    ("corrected", False, ("settled", 3000, -1500)),
    ("corrected", True, ("settled", 3000, -1500)),
    ("fold", False, SEAT_VOID),
    ("fold", True, SEAT_HELD),
    ("refused", False, SEAT_HELD),
    ("refused", True, SEAT_HELD),
]
CELLS = [
    pytest.param(game, {"type": name, **fields}, row[place], id=f"{game}-{name}-{number}")
    for number, (name, fields, *row) in enumerate(TABLE)
    for place, game in enumerate(LIR)
]


def table(game: str, *events: Json, settings: Json | None = None) -> Json:
    seats = [seat(1, "AcAd7h"), seat(2, "2c3d9h")]
    return ride(game, seats, "Js4c", *events, settings=settings)


def check(result: Json, expected: Outcome) -> None:
    status, *expected_nets = expected
    assert result["round_status"] == status
    assert nets(result) == expected_nets
    known = [net for net in nets(result) if net is not None]
    assert result["house_net"] == (-sum(known) if len(known) == 2 else None)
    for shown, net in zip(result["seats"], expected_nets, strict=True):
        kinds = {paid["status"] for paid in shown["wagers"].values()}
        if net is None:
            assert kinds == {"supervisor"}
            assert {paid["win"] for paid in shown["wagers"].values()} == {None}
            assert {paid["stake_back"] for paid in shown["wagers"].values()} == {None}
            assert {paid["to_player"] for paid in shown["wagers"].values()} == {None}
        elif net == 0:
            assert kinds == {"void"}
            assert all(paid["stake_back"] == paid["placed"] for paid in shown["wagers"].values())
        if status != "settled" or net in (0, None):
            assert shown["hand"] is None
    assert bool(result.get("question")) == (None in expected_nets)


@pytest.mark.parametrize(("game", "event", "expected"), CELLS)
def test_cell(game: str, event: Json, expected: Outcome) -> None:
    check(settled(table(game, event)), expected)


@pytest.mark.parametrize("game", LIR)
@pytest.mark.parametrize(("resolution", "handled", "nsw"), UNEQUAL)
def test_unequal_wagers(game: str, resolution: str, handled: bool, nsw: Outcome) -> None:
    event: Json = {"type": "unequal_wagers", "seat": 1, HANDLED: handled, "resolution": resolution}
    if resolution == "corrected":
        event["corrected_to"] = 1000
    check(settled(table(game, event)), nsw if game == "NSW" else SEAT_HELD)


def test_a_correction_counts_as_placed() -> None:
    event = {
        "type": "unequal_wagers",
        "seat": 1,
        HANDLED: False,
        "resolution": "corrected",
        "corrected_to": 800,
    }
    record = table("NSW", event)
    record["round"]["seats"][0]["wagers"] = {"1": 800, "2": 500, "$": 800}
    shown = by_seat(settled(record), 1)
    assert {spot: paid["placed"] for spot, paid in shown["wagers"].items()} == {
        "1": 800,
        "2": 800,
        "$": 800,
    }
    assert shown["net"] == 2400


@pytest.mark.parametrize("late", ["foreign_card", "wagers_voided_by_supervisor"])
def test_a_correction_counts_as_placed_when_the_wager_is_returned(late: str) -> None:
    """The player put the chips down: a void returns what then lay there."""
    correction = {
        "type": "unequal_wagers",
        "seat": 1,
        HANDLED: False,
        "resolution": "corrected",
        "corrected_to": 800,
    }
    void = {"type": late} | ({} if late == "foreign_card" else {"seat": 1})
    record = table("NSW", correction, void)
    record["round"]["seats"][0]["wagers"] = {"1": 800, "2": 500, "$": 800}
    shown = by_seat(settled(record), 1)
    assert shown["net"] == 0
    assert {spot: paid["placed"] for spot, paid in shown["wagers"].items()} == {
        "1": 800,
        "2": 800,
        "$": 800,
    }
    assert {paid["to_player"] for paid in shown["wagers"].values()} == {800}


@pytest.mark.parametrize("game", LIR)
def test_a_late_withdrawal_stays_live(game: str) -> None:
    event = {"type": "late_withdrawal", "seat": 2, "spot": "1"}
    record = table(game, event)
    record["round"]["seats"][1]["decisions"] = {"1": "withdraw", "2": "withdraw"}
    result = settled(record)
    assert nets(result) == [1500, -1000]
    assert statuses(result)[1] == {"1": "lose", "2": "withdrawn", "$": "lose"}


@pytest.mark.parametrize(
    ("from_spot", "net"), [({}, 1500), ({"from_spot": "1"}, 1500), ({"from_spot": "2"}, 1000)]
)
def test_nsw_absent_after_viewing_rides_from_a_spot_on(from_spot: Json, net: int) -> None:
    event = {"type": "absent_player", "seat": 1, "viewed": True, **from_spot}
    record = table("NSW", event)
    record["round"]["seats"][0]["decisions"] = {"1": "withdraw", "2": "withdraw"}
    assert nets(settled(record)) == [net, -1500]


def test_nsw_a_forfeiting_seat_keeps_the_spot_it_withdrew() -> None:
    record = table("NSW", {"type": "game_invalidated", "forfeit_seats": [1]})
    record["round"]["seats"][0]["decisions"] = {"1": "withdraw"}
    result = settled(record)
    assert nets(result) == [-1000, 0]
    wagers = by_seat(result, 1)["wagers"]
    assert wagers["1"]["to_player"] == 500
    assert {wagers[spot]["status"] for spot in ("2", "$")} == {"forfeited"}
    assert {wagers[spot]["to_player"] for spot in ("2", "$")} == {0}
    assert result["house_net"] == 1000


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"count": 1}, {"count": 1}, (VOID, VOID, VOID, ASKS)),
        ({"count": 2}, {"count": 1} | yes(HANDLED), (VOID, VOID, VOID, ASKS)),
        ({"count": 1}, {"count": 1} | yes("community", HANDLED), (ASKS, ASKS, PLAYS, ASKS)),
        ({"count": 1}, {"count": 1} | yes(HANDLED), (ASKS, ASKS, PLAYS, ASKS)),
        ({"count": 1} | yes(HANDLED), {"count": 1} | yes(HANDLED), (ASKS, ASKS, ASKS, ASKS)),
    ],
)
def test_exposures_add_up_over_the_round_before_and_after_handling_separately(
    first: Json, second: Json, expected: tuple[Outcome, ...]
) -> None:
    for game, outcome in zip(LIR, expected, strict=True):
        check(settled(table(game, EXPOSED | first, EXPOSED | second)), outcome)


@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_void_beats_supervisor(game: str) -> None:
    asks = {"type": "shuffler_malfunction", "cards_dealt": 4}
    check(settled(table(game, asks)), ASKS)
    check(settled(table(game, asks, {"type": "foreign_card"})), VOID)


def test_supervisor_beats_settled() -> None:
    asks = {"type": "dealt_incorrectly", HANDLED: True}
    check(settled(table("NSW", asks, {"type": "cards_shown", "seat": 1})), ASKS)


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW"])
@pytest.mark.parametrize("community", ["Js", "Js4c5d"])
def test_a_standing_community_of_the_wrong_size_cannot_be_ranked(game: str, community: str) -> None:
    event = {"type": "community_count", "count": len(community) // 2, LATE: True}
    record = ride(game, [seat(1, "AcAd7h"), seat(2, "2c3d9h")], community, event)
    check(settled(record), ("settled", None, None))


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW"])
@pytest.mark.parametrize("cards", ["AcAd", "AcAd7h8h"])
def test_a_standing_hand_of_the_wrong_size_cannot_be_ranked(game: str, cards: str) -> None:
    event = {"type": "player_card_count", "seat": 1, "count": len(cards) // 2, LATE: True}
    record = ride(game, [seat(1, cards), seat(2, "2c3d9h")], "Js4c", event)
    check(settled(record), SEAT_HELD)
