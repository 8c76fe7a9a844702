"""The examples printed in the contract, whole where they are printed whole."""

from __future__ import annotations

from typing import Any

from .rounds import player, ricochet, ride, seat, settled


def paid(placed: int, status: str, win: int, back: int, odds: str | None = None) -> dict[str, Any]:
    return {
        "placed": placed,
        "status": status,
        "odds": odds,
        "win": win,
        "stake_back": back,
        "to_player": win + back,
    }


def test_mbs3_straight_flush_and_envy() -> None:
    record = ride(
        "MBS3",
        [
            seat(
                2,
                "5h6h8h",
                2500,
                wagers={"progressive": 100},
                decisions={"1": "withdraw", "2": "ride"},
            ),
            seat(
                5,
                "KcKd2s",
                1000,
                wagers={"progressive": 100},
                decisions={"1": "ride", "2": "ride"},
            ),
        ],
        "7h9h",
        settings={"jackpot": 12345678},
    )
    won = paid(2500, "win", 500000, 2500, "200 to 1")
    pair = paid(1000, "win", 1000, 1000, "1 to 1")
    assert settled(record) == {
        "game": "MBS3",
        "round_status": "settled",
        "clauses": [],
        "jackpot_before": 12345678,
        "jackpot_after": 11111111,
        "house_net": -2267467,
        "seats": [
            {
                "seat": 2,
                "hand": "straight flush",
                "net": 2234567,
                "awards": [],
                "wagers": {
                    "1": paid(2500, "withdrawn", 0, 2500),
                    "2": won,
                    "$": won,
                    "progressive": paid(100, "win", 1234567, 100, "10% of the jackpot"),
                },
            },
            {
                "seat": 5,
                "hand": "one pair",
                "net": 32900,
                "awards": [{"kind": "envy", "amount": 30000, "from_seat": 2}],
                "wagers": {
                    "1": pair,
                    "2": pair,
                    "$": pair,
                    "progressive": paid(100, "lose", 0, 0),
                },
            },
        ],
    }


def test_mega_magic_card_in_the_community() -> None:
    record = ride(
        "MEGA",
        [
            seat(
                1,
                "Jc4d8s",
                1000,
                wagers={"progressive": 300},
                decisions={"1": "withdraw", "2": "withdraw"},
            )
        ],
        "2hQs",
        settings={"jackpot": 5000000, "magic_card": "Qs", "lucky_seat": 4},
    )
    assert settled(record) == {
        "game": "MEGA",
        "round_status": "settled",
        "clauses": [],
        "jackpot_before": 5000000,
        "jackpot_after": 5000000,
        "house_net": -500,
        "seats": [
            {
                "seat": 1,
                "hand": "high card",
                "net": 500,
                "awards": [{"kind": "magic card", "amount": 1500}],
                "wagers": {
                    "1": paid(1000, "withdrawn", 0, 1000),
                    "2": paid(1000, "withdrawn", 0, 1000),
                    "$": paid(1000, "lose", 0, 0),
                    "progressive": paid(300, "win", 0, 300),
                },
            }
        ],
    }


def test_pp6_three_wagers_on_one_hand() -> None:
    wagers = {"$": 500, "1": 500, "pair_plus": 100, "six_card": 200}
    record = {
        "game": "PP6",
        "round": {
            "seats": [{"seat": 6, "wagers": wagers, "cards": ["9d", "9h", "Tc"]}],
            "community": ["9s", "4c"],
            "bonus_card": "4h",
        },
    }
    assert settled(record) == {
        "game": "PP6",
        "round_status": "settled",
        "clauses": [],
        "house_net": -7100,
        "seats": [
            {
                "seat": 6,
                "hand": "three of a kind",
                "three_card_hand": "pair",
                "six_card_hand": "full house",
                "net": 7100,
                "awards": [],
                "wagers": {
                    "1": paid(500, "win", 1500, 500, "3 to 1"),
                    "$": paid(500, "win", 1500, 500, "3 to 1"),
                    "pair_plus": paid(100, "win", 100, 100, "1 to 1"),
                    "six_card": paid(200, "win", 4000, 200, "20 to 1"),
                },
            }
        ],
    }


def test_nsw_limits_cap_and_a_void_hand() -> None:
    record = ride(
        "NSW",
        [
            seat(1, "AcAd7h", 12000, decisions={"1": "ride", "2": "withdraw"}),
            seat(2, "3c5d", 500),
        ],
        "Js4c",
        {"type": "player_card_count", "seat": 2, "count": 2, "players_handled": True},
        settings={"max_wager": 10000, "max_payout": 15000},
    )
    won = paid(12000, "win", 10000, 12000, "1 to 1")
    void = paid(500, "void", 0, 500)
    assert settled(record) == {
        "game": "NSW",
        "round_status": "settled",
        "clauses": ["NSW-12.7"],
        "house_net": -15000,
        "seats": [
            {
                "seat": 1,
                "hand": "one pair",
                "net": 15000,
                "payout_cap_reduction": 5000,
                "awards": [],
                "wagers": {"1": won, "2": paid(12000, "withdrawn", 0, 12000), "$": won},
            },
            {
                "seat": 2,
                "hand": None,
                "net": 0,
                "awards": [],
                "wagers": {"1": void, "2": void, "$": void},
            },
        ],
    }


def test_rico_pot_and_a_lost_rapid_fire() -> None:
    record = ricochet(
        "AhKd9c7s3d",
        [player(1, "Qc8d", "Qd4h2s", rapid_fire=200), player(3, "6h5s")],
        settings={"rapid_fire_pay": {"win": 5, "tie": 5}},
    )
    result = settled(record)
    log = result.pop("log")
    assert isinstance(log, list)
    assert log
    assert result == {
        "game": "RICO",
        "round_status": "settled",
        "clauses": [],
        "house_net": -300,
        "kickout": False,
        "action_order": [3, 1],
        "pot": 1000,
        "pot_winners": [1],
        "seats": [
            {
                "seat": 1,
                "hand": "one pair",
                "net": 800,
                "awards": [],
                "final": "live",
                "wagers": {
                    "ante": paid(500, "win", 1000, 500),
                    "play": paid(500, "win", 0, 500),
                    "rapid_fire": paid(200, "lose", 0, 0),
                },
            },
            {
                "seat": 3,
                "hand": None,
                "net": -500,
                "awards": [],
                "final": "folded",
                "wagers": {"ante": paid(500, "lose", 0, 0)},
            },
        ],
    }
