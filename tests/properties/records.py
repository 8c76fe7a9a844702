"""Hypothesis strategies for round records of every game, with irregularities."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from controller.rules.books import BOOKS
from controller.rules.cards import NAMES

STAKES = st.sampled_from((100, 333, 500, 1000, 2500))
DECISION = st.sampled_from(("ride", "withdraw"))


@st.composite
def wagers(draw: st.DrawFn, game: str, ante: int) -> dict[str, int]:
    unit = draw(STAKES)
    if game == "RICO":
        placed = {"ante": ante}
        for bonus in ("rapid_fire", "hedge"):
            if draw(st.booleans()):
                placed[bonus] = draw(STAKES)
        return placed
    if game == "PP6":
        placed = {"$": unit}
        for circle in ("1", "2"):
            if draw(st.booleans()):
                placed[circle] = unit
        for bonus in ("pair_plus", "six_card"):
            if draw(st.booleans()):
                placed[bonus] = draw(STAKES)
        return placed
    placed = {"1": unit, "2": unit, "$": unit}
    if game in ("MBS3", "MEGA") and draw(st.booleans()):
        placed["progressive"] = draw(STAKES)
    return placed


@st.composite
def events(draw: st.DrawFn, seats: list[int], placed: dict[int, dict[str, int]]) -> Any:
    seat = draw(st.sampled_from(seats))
    spot = draw(st.sampled_from(sorted(placed[seat])))
    yes, no = draw(st.booleans()), draw(st.booleans())
    count = draw(st.integers(0, 4))
    return draw(
        st.sampled_from(
            (
                {"type": "foreign_card", "after_round_concluded": yes},
                {"type": "deck_count", "count": 50 + count, "after_round_concluded": yes},
                {"type": "dealt_incorrectly", "players_handled": yes, "reconstructed": no},
                {"type": "community_count", "count": count, "after_next_game_began": yes},
                {"type": "player_card_count", "seat": seat, "count": count, "players_handled": yes},
                {"type": "exposed_cards", "count": count, "community": yes, "players_handled": no},
                {"type": "late_wager", "seat": seat, "spot": spot, "amount": placed[seat][spot]},
                {"type": "late_withdrawal", "seat": seat, "spot": spot},
                {"type": "hand_dealt_no_wager", "seat": 9, "players_handled": yes},
                {"type": "absent_player", "seat": seat, "viewed": yes},
                {"type": "shuffler_malfunction", "cards_dealt": count},
                {
                    "type": "unequal_wagers",
                    "seat": seat,
                    "players_handled": yes,
                    "resolution": "corrected",
                    "corrected_to": 700,
                },
                {"type": "wagers_voided_by_supervisor", "seat": seat},
                {"type": "game_invalidated", "forfeit_seats": [seat]},
                {"type": "cards_shown", "seat": seat},
                {"type": "supervisor_confirmed", "by": "S1", "what": "a look"},
            )
        )
    )


@st.composite
def records(draw: st.DrawFn, game: str | None = None, most_events: int = 2) -> dict[str, Any]:
    """A well-formed record."""
    key = game or draw(st.sampled_from(sorted(BOOKS)))
    numbers = sorted(draw(st.sets(st.integers(1, 7), min_size=1)))
    deck = list(draw(st.permutations(NAMES)))
    ante = draw(STAKES)
    placed = {n: draw(wagers(key, ante)) for n in numbers}
    seats = []
    for n in numbers:
        row: dict[str, Any] = {"seat": n, "wagers": placed[n]}
        row["cards"] = [deck.pop() for _ in range(2 if key == "RICO" else 3)]
        if key == "RICO":
            row["action"] = draw(st.sampled_from(("play", "fold")))
            row["draw"] = [deck.pop() for _ in range(3)] if row["action"] == "play" else None
        else:
            row["decisions"] = {"1": draw(DECISION), "2": draw(DECISION)}
        seats.append(row)
    body: dict[str, Any] = {"seats": seats}
    if key == "RICO":
        body |= {"dealer": [deck.pop() for _ in range(5)], "ante": ante}
    else:
        body["community"] = [deck.pop(), deck.pop()]
    if key == "PP6":
        body["bonus_card"] = deck.pop()
    body["events"] = draw(st.lists(events(numbers, placed), max_size=most_events))
    late = [(e["seat"], e["spot"]) for e in body["events"] if e["type"] == "late_wager"]
    if len(set(late)) < len(late):
        body["events"] = []
    settings = {
        "jackpot": draw(st.integers(0, 10**9)),
        "jackpot_reset": draw(st.integers(0, 10**6)),
        "meter_rule": draw(st.sampled_from(("sequential", "snapshot"))),
        "progressive_stake_returned": draw(st.booleans()),
        "magic_card": draw(st.sampled_from(NAMES)),
        "lucky_seat": draw(st.integers(1, 7)),
        "max_wager": draw(st.sampled_from((None, 400, 2000))),
        "max_payout": draw(st.sampled_from((None, 0, 5000))),
        "orphan_pot": draw(st.sampled_from((None, "last_player", "house", "carry"))),
        "rapid_fire_pay": draw(st.sampled_from((None, {"win": 3, "tie": 0}))),
        "hedge_pay": draw(st.sampled_from((None, {"one pair": 1, "flush": 20}))),
        "smallest_chip": draw(st.sampled_from((1, 100, 700))),
        "ricochet_order": draw(st.sampled_from(("literal", "must_top_all"))),
    }
    return {"game": key, "settings": settings, "round": body}
