"""The clauses a result cites: none on a plain round, the deepest that fits behind a ruling."""

from __future__ import annotations

from pathlib import Path

import pytest

from .rounds import Json, ride, seat, settled

IDS = frozenset((Path(__file__).parent / "clause_ids.txt").read_text().split())
HANDLED = "players_handled"
UNEQUAL: Json = {"type": "unequal_wagers", "seat": 1, "corrected_to": 500}
COUNT: Json = {"type": "player_card_count", "seat": 1, "count": 2}
RULINGS: list[tuple[str, Json, str]] = [
    ("MBS3", {"type": "foreign_card"}, "MBS3-5.1.1"),
    ("MBS3", {"type": "deck_count", "count": 51}, "MBS3-5.2"),
    ("MBS3", {"type": "dealt_incorrectly", HANDLED: False}, "MBS3-5.3"),
    ("MBS3", {"type": "community_count", "count": 3}, "MBS3-5.4"),
    ("MBS3", COUNT, "MBS3-5.4"),
    ("MBS3", {"type": "exposed_cards", "count": 2}, "MBS3-5.5"),
    ("MBS3", {"type": "late_wager", "seat": 1, "spot": "$", "amount": 500}, "MBS3-5.6"),
    ("MEGA", {"type": "foreign_card"}, "MEGA-5.1.1"),
    ("MEGA", {"type": "deck_count", "count": 51}, "MEGA-5.2"),
    ("MEGA", {"type": "dealt_incorrectly", HANDLED: False}, "MEGA-5.3"),
    ("MEGA", {"type": "community_count", "count": 3}, "MEGA-5.4"),
    ("MEGA", COUNT, "MEGA-5.3"),
    ("MEGA", {"type": "exposed_cards", "count": 2}, "MEGA-5.5"),
    ("MEGA", {"type": "late_wager", "seat": 1, "spot": "$", "amount": 500}, "MEGA-5.6"),
    ("NSW", {"type": "foreign_card"}, "NSW-12.9.2"),
    ("NSW", {"type": "deck_count", "count": 51}, "NSW-12.9.2"),
    ("NSW", {"type": "dealt_incorrectly", HANDLED: False}, "NSW-12.1"),
    ("NSW", {"type": "community_count", "count": 3}, "NSW-12.2"),
    ("NSW", COUNT, "NSW-12.1"),
    ("NSW", COUNT | {HANDLED: True}, "NSW-12.7"),
    ("NSW", {"type": "exposed_cards", "count": 2}, "NSW-12.3"),
    ("NSW", {"type": "exposed_cards", "count": 1, "community": True}, "NSW-12.6"),
    ("NSW", {"type": "absent_player", "seat": 1, "viewed": False}, "NSW-12.13"),
    ("NSW", {"type": "shuffler_malfunction", "cards_dealt": 1}, "NSW-13.2.1"),
    ("NSW", UNEQUAL | {HANDLED: False, "resolution": "corrected"}, "NSW-12.10.1"),
    ("NSW", UNEQUAL | {HANDLED: True, "resolution": "corrected"}, "NSW-12.11"),
    ("NSW", {"type": "wagers_voided_by_supervisor", "seat": 1}, "NSW-14.3.1"),
    ("NSW", {"type": "game_invalidated", "forfeit_seats": [1]}, "NSW-14.5"),
]


@pytest.mark.parametrize(("game", "event", "clause"), RULINGS)
def test_the_clause_behind_a_ruling(game: str, event: Json, clause: str) -> None:
    assert clause in settled(ride(game, [seat(1, "AcAd7h")], "Js4c", event))["clauses"]


def test_a_fold_before_handling_cites_its_own_clause() -> None:
    event = {"type": "unequal_wagers", "seat": 1, HANDLED: False, "resolution": "fold"}
    result = settled(ride("NSW", [seat(1, "AcAd7h", wagers={"1": 400})], "Js4c", event))
    assert "NSW-12.10.2" in result["clauses"]


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW", "PP6"])
def test_a_plain_round_cites_nothing(game: str) -> None:
    confirmed = {"type": "supervisor_confirmed", "by": "S-17", "what": "the hand"}
    assert settled(ride(game, [seat(1, "AcAd7h")], "Js4c"))["clauses"] == []
    assert settled(ride(game, [seat(1, "AcAd7h")], "Js4c", confirmed))["clauses"] == []


@pytest.mark.parametrize(("game", "event", "_clause"), RULINGS)
def test_every_cited_clause_is_in_the_list(game: str, event: Json, _clause: str) -> None:
    cited = settled(ride(game, [seat(1, "AcAd7h")], "Js4c", event))["clauses"]
    assert set(cited) <= IDS
    assert all(clause.startswith(game + "-") for clause in cited)
