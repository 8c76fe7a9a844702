"""Laws of every settlement: money is conserved, nothing hangs on the order of seats or suits."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings

from controller.rules.decode import decode_record
from controller.rules.record import encode_record
from controller.rules.settle import settle
from tests.properties.records import records

MANY = settings(max_examples=400)


def settled(record: dict[str, Any]) -> dict[str, Any]:
    return settle(decode_record(json.loads(json.dumps(record))))


def net_of(seat: dict[str, Any]) -> int:
    paid = sum(w["to_player"] - w["placed"] for w in seat["wagers"].values())
    paid += sum(a["amount"] for a in seat["awards"])
    return int(paid) - int(seat.get("payout_cap_reduction", 0))


@MANY
@given(records())
def test_seats_and_house_add_up_to_zero(record: dict[str, Any]) -> None:
    result = settled(record)
    nets = [seat["net"] for seat in result["seats"]]
    if result["house_net"] is None:
        assert result["round_status"] == "supervisor" or None in nets
        return
    assert sum(nets) + result["house_net"] == 0
    for seat in result["seats"]:
        assert seat["net"] == net_of(seat)


@MANY
@given(records())
def test_nobody_gets_back_more_stake_than_was_placed_and_no_amount_is_negative(
    record: dict[str, Any],
) -> None:
    for seat in settled(record)["seats"]:
        for wager in seat["wagers"].values():
            if wager["status"] == "supervisor":
                assert wager["to_player"] is None
                continue
            assert 0 <= wager["stake_back"] <= wager["placed"]
            assert wager["win"] >= 0
            assert wager["to_player"] == wager["win"] + wager["stake_back"]


@MANY
@given(records())
def test_a_void_round_moves_no_money_but_forfeits(record: dict[str, Any]) -> None:
    result = settled(record)
    if result["round_status"] != "void":
        return
    forfeits = {s for e in record["round"]["events"] for s in e.get("forfeit_seats", ())}
    for seat in result["seats"]:
        assert seat["hand"] is None
        assert seat["net"] == 0 or (seat["seat"] in forfeits and seat["net"] < 0)
    if "jackpot_before" in result:
        assert result["jackpot_before"] == result["jackpot_after"]


@MANY
@given(records())
def test_the_order_of_seats_in_the_record_does_not_matter(record: dict[str, Any]) -> None:
    turned = copy.deepcopy(record)
    turned["round"]["seats"].reverse()
    assert settled(turned) == settled(record)


@MANY
@given(records(most_events=0))
def test_no_suit_outranks_another_except_in_the_order_of_action(record: dict[str, Any]) -> None:
    """Swapping clubs with hearts everywhere changes no amount (Ricochet acts by suit)."""
    if record["game"] == "RICO":
        return
    swapped = str.maketrans("ch", "hc")
    other = copy.deepcopy(record)
    other["settings"]["magic_card"] = record["settings"]["magic_card"].translate(swapped)
    body = other["round"]
    for row in body["seats"]:
        row["cards"] = [c.translate(swapped) for c in row["cards"]]
    body["community"] = [c.translate(swapped) for c in body["community"]]
    if "bonus_card" in body:
        body["bonus_card"] = body["bonus_card"].translate(swapped)
    assert settled(other) == settled(record)


@MANY
@given(records())
def test_a_record_written_and_read_again_is_the_same(record: dict[str, Any]) -> None:
    decoded = decode_record(record)
    again = decode_record(json.loads(json.dumps(encode_record(decoded))))
    assert again == decoded
    assert settle(again) == settle(decoded)
