"""``settle`` against the reference: thousands of random records of every game.

``UNDERFELT_ROUNDS`` raises the number of records per game, ``UNDERFELT_SEED`` moves the stream.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller.rules.decode import decode_record
from controller.rules.errors import RecordError
from controller.rules.settle import settle

from . import reference
from .expected import ANY, OneOf, differences
from .generator import GAMES, make
from .hand_values import UndecidedError
from .malformed import MalformedError

ROUNDS = int(os.environ.get("UNDERFELT_ROUNDS", "1000"))
SEED = int(os.environ.get("UNDERFELT_SEED", "1"))
CLAUSES = frozenset(
    (Path(__file__).parent.parent / "contract" / "clause_ids.txt").read_text().split()
)
Json = dict[str, Any]


def expected_of(record: Json) -> Json | str:
    try:
        return reference.settle(copy.deepcopy(record))
    except MalformedError:
        return "malformed"
    except UndecidedError:
        return "undecided"


def result_of(record: Json) -> Json | str:
    try:
        return settle(decode_record(copy.deepcopy(record)))
    except RecordError:
        return "malformed"


def inconsistencies(result: Json) -> list[str]:
    """The sums the contract states hold in every result, also where the reference is silent."""
    found = []
    for seat in result["seats"]:
        paid = seat["wagers"].values()
        for wager in paid:
            if wager["to_player"] is None:
                continue
            if wager["to_player"] != wager["win"] + wager["stake_back"]:
                found.append(f"seat {seat['seat']}: to_player is not win + stake_back")
        if seat["net"] is not None:
            net = sum(wager["to_player"] - wager["placed"] for wager in paid)
            net += sum(award["amount"] for award in seat["awards"])
            if seat["net"] != net - seat.get("payout_cap_reduction", 0):
                found.append(f"seat {seat['seat']}: net is not what its wagers say")
    clauses = result["clauses"]
    if unknown := [clause for clause in clauses if clause not in CLAUSES]:
        found.append(f"clauses not of the books: {unknown}")
    if len(set(clauses)) < len(clauses) or any(not c.startswith(result["game"]) for c in clauses):
        found.append(f"clauses twice or of another book: {clauses}")
    ruled = {w["status"] for s in result["seats"] for w in s["wagers"].values()}
    if result["round_status"] == "settled" and result["game"] != "NSW":
        # Only NSW 14.3 knows a supervisor who voids one player's wagers.
        ruled.discard("void")
    if not clauses and ruled & {"void", "refused", "forfeited"}:
        found.append("a void or refusal without a clause")
    nets = [seat["net"] for seat in result["seats"]]
    house = None if None in nets else -sum(nets)
    if result["round_status"] != "supervisor" and result["house_net"] != house:
        found.append("house_net is not minus the sum of nets")
    return found


def shown_wagers(result: Json) -> Json:
    """Empty spots may be listed or not; the contract does not say."""
    result = {**result, "seats": [dict(seat) for seat in result["seats"]]}
    for seat in result["seats"]:
        seat["wagers"] = {spot: paid for spot, paid in seat["wagers"].items() if paid["placed"]}
        seat["awards"] = sorted(seat["awards"], key=str)
    return result


def sorted_awards(expected: Json) -> Json:
    for seat in expected["seats"]:
        if isinstance(seat["awards"], list):
            seat["awards"].sort(key=str)
    return expected


def compare(record: Json) -> tuple[str, list[str]]:
    """What kind of record it was, and where implementation and contract part."""
    expected, got = expected_of(record), result_of(record)
    if isinstance(got, dict) and (broken := inconsistencies(got)):
        return "inconsistent", broken
    if isinstance(expected, str) or isinstance(got, str):
        kind = expected if isinstance(expected, str) else expected["round_status"]
        if kind == "undecided" or expected == got:
            return kind, []
        return kind, [
            f"expected {kind}, got {got if isinstance(got, str) else got['round_status']}"
        ]
    found = differences(sorted_awards(expected), shown_wagers(got))
    return str(expected["round_status"]), found


@pytest.mark.parametrize("game", GAMES)
def test_settle_agrees_with_the_reference(game: str) -> None:
    seen: Counter[str] = Counter()
    failures: dict[str, str] = {}
    failed = 0
    for number in range(ROUNDS):
        record = make(Random(f"{game} {SEED} {number}"), game)
        kind, found = compare(record)
        seen[kind] += 1
        if found:
            failed += 1
            # One record of each kind of difference is enough to see them all.
            failures.setdefault(
                re.sub(r"-?\d+", "N", found[0]),
                f"UNDERFELT_SEED={SEED}, record {number} of {game}:\n{json.dumps(record)}\n"
                + "\n".join(found),
            )
    assert not failures, f"{failed} of {ROUNDS} records differ\n" + "\n\n".join(failures.values())
    # The stream must reach every outcome, or agreement means nothing.
    assert seen["settled"] > ROUNDS * 0.3
    assert seen["supervisor"] > ROUNDS * 0.01
    assert seen["malformed"] > ROUNDS * 0.01
    assert seen["undecided"] < ROUNDS * 0.1
    if game in ("MBS3", "MEGA", "NSW"):
        assert seen["void"] > ROUNDS * 0.05


def rarities(expected: Json) -> set[str]:
    """What makes a record worth having in the stream."""
    found = set()
    paid = [
        w
        for seat in expected["seats"]
        if seat["wagers"] is not ANY
        for w in seat["wagers"].values()
        if w is not ANY
    ]
    shares = [w for w in paid if str(w["odds"]).endswith("jackpot")]
    found |= {f"{len(shares)} shares of the meter"} if len(shares) > 1 else set()
    found |= {str(w["status"]) for w in paid if isinstance(w["status"], str)}
    for seat in expected["seats"]:
        if seat["wagers"] is ANY:
            found.add("net held by another seat")
        if isinstance(seat["awards"], list):
            found |= {str(award["kind"]) for award in seat["awards"]}
        found |= seat.keys() & {"payout_cap_reduction", "six_card_hand", "three_card_hand"}
    winners = expected.get("pot_winners")
    if isinstance(winners, OneOf) and isinstance(winners.values[0], list):
        found.add(f"{len(winners.values[0])} pot winners")
    if expected["game"] == "RICO" and expected["pot"] is ANY:
        found.add("orphan pot" if expected["round_status"] == "settled" else "supervisor's pot")
    if expected.get("kickout") is True:
        found.add(f"kickout of {len(expected['seats'])}")
    return found


@pytest.mark.parametrize(
    ("game", "wanted"),
    [
        ("MBS3", {"2 shares of the meter", "net held by another seat", "envy", "refused", "void"}),
        ("MEGA", {"2 shares of the meter", "net held by another seat", "magic card"}),
        ("MEGA", {"lucky player", "withdrawn", "refused"}),
        ("NSW", {"payout_cap_reduction", "forfeited", "refused", "void", "withdrawn"}),
        ("PP6", {"six_card_hand", "three_card_hand", "refused", "supervisor", "void"}),
        ("RICO", {"2 pot winners", "3 pot winners", "orphan pot", "push", "supervisor"}),
        ("RICO", {f"kickout of {seats}" for seats in range(1, 7)}),
    ],
)
def test_the_stream_reaches_the_rare_cases(game: str, wanted: set[str]) -> None:
    seen: set[str] = set()
    for number in range(2500):
        expected = expected_of(make(Random(f"{game} 1 {number}"), game))
        if isinstance(expected, dict):
            seen |= rarities(expected)
    assert wanted <= seen
