"""The server's awards are those that the table's own settlement finds from its ``Locked``."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from controller.rules.cards import NAMES
from controller.rules.decode import decode_record
from controller.rules.settle import settle
from record.link.events import Claim, Claimed, Contributed, Wager
from record.link.messages import Locked
from tests.link.ledger.support import Floor, locked, pool, terms

RANKS = "23456789TJQKA"
# Shared cards, and the three cards of seats that make a royal or a straight flush of them.
DEALS = (
    ("TJ", {"royal flush": ("QKA",), "straight flush": ("789", "89Q", "9QK")}),
    ("JQ", {"royal flush": ("TKA",), "straight flush": ("9TK", "89T")}),
    ("9T", {"straight flush": ("JQK", "678", "78J", "8JQ")}),
    ("45", {"straight flush": ("23A", "678", "367")}),
)
PERCENT = {"royal flush": 100, "straight flush": 10}


def deal(random: Random) -> tuple[list[str], dict[int, list[str]], dict[int, str]]:
    """Shared cards, cards by seat, and the seats that hold a share of the jackpot."""
    suit = random.choice("cdhs")
    shared, by_hand = random.choice(DEALS)
    used = set(shared)
    winners: dict[int, str] = {}
    hands: dict[int, list[str]] = {}
    options = [(hand, cards) for hand, all_cards in by_hand.items() for cards in all_cards]
    random.shuffle(options)
    seats = random.sample(range(1, 8), random.randint(1, 7))
    for (hand, cards), seat in zip(options, seats, strict=False):
        if not used & set(cards):
            used |= set(cards)
            winners[seat] = hand
            hands[seat] = [rank + suit for rank in cards]
    rest = [name for name in NAMES if name[1] != suit]
    random.shuffle(rest)
    for seat in seats:
        if seat not in hands:
            hands[seat] = [rest.pop() for _ in range(3)]
    return [rank + suit for rank in shared], hands, winners


def record(
    shared: list[str], hands: dict[int, list[str]], stakes: set[int], settings: dict[str, Any]
) -> dict[str, Any]:
    seats = []
    for seat, cards in sorted(hands.items()):
        wagers = {"1": 500, "2": 500, "$": 500}
        if seat in stakes:
            wagers["progressive"] = 100
        ride = {"1": "ride", "2": "ride"}
        seats.append({"seat": seat, "wagers": wagers, "cards": cards, "decisions": ride})
    return {"game": "MBS3", "settings": settings, "round": {"seats": seats, "community": shared}}


def settled(made: dict[str, Any]) -> tuple[dict[int, int], int]:
    """By seat what the progressive wager wins of the meter, and the meter after it."""
    result = settle(decode_record(made))
    wins = {
        row["seat"]: row["wagers"]["progressive"]["win"]
        for row in result["seats"]
        if row["hand"] in PERCENT and "progressive" in row["wagers"]
    }
    return wins, result["jackpot_after"]


def claims(hands: dict[int, str], stakes: set[int]) -> tuple[Claim, ...]:
    """In settlement order: the highest seat first."""
    found = [(seat, hand) for seat, hand in hands.items() if seat in stakes]
    return tuple(Claim(seat, hand, PERCENT[hand]) for seat, hand in sorted(found, reverse=True))


@pytest.mark.parametrize("rule", ["sequential", "snapshot"])
@pytest.mark.parametrize("ties", ["strict_order", "same_cycle_full", "share"])
def test_table_and_server_settle_alike(rule: str, ties: str) -> None:
    random = Random(f"{rule} {ties}")
    many = 0
    for _ in range(120):
        base = random.choice((100_000, 123_457, 999_999))
        reset = random.choice((0, 50_000, 77_777))
        level = terms(
            base_cents=base, reset_cents=reset, rate_ppm=random.choice((3_700, 12_345)),
            meter_rule=rule, ties=ties, tie_ms=0 if ties == "strict_order" else 20,
        )  # fmt: skip
        floor = Floor(pool(level))
        rounds: dict[str, tuple[list[str], dict[int, list[str]], dict[int, str], set[int]]] = {}
        for name in ("T1", "T2"):
            shared, hands, winners = deal(random)
            stakes = {seat for seat in hands if random.random() < 0.8} | set(list(winners)[:1])
            rounds[name] = shared, hands, winners, stakes
            wagers = tuple(Wager(seat, 100, 1) for seat in sorted(stakes))
            floor.tell(name, Contributed(1, wagers))
        told: dict[str, Locked] = {}
        shown: dict[str, int] = {}
        for name, (_, _, winners, stakes) in rounds.items():
            replies = floor.tell(name, Claimed(1, claims(winners, stakes)))
            told |= {n: m for n, m in replies if isinstance(m, Locked)}
            shown[name] = floor.shown()
            floor.now_ms += 7
        told |= {n: m for n, m in floor.tick(20) if isinstance(m, Locked)}
        for name, (shared, hands, _, stakes) in rounds.items():
            lock = told[name]
            settings = {
                "jackpot": lock.jackpot_cents,
                "jackpot_reset": lock.reset_cents,
                "meter_rule": rule,
            }
            wins, after = settled(record(shared, hands, stakes, settings))
            assert wins == {award.seat: award.cents for award in lock.awards}
            if ties == "strict_order":
                assert shown[name] == after  # the table shows what the server has
            many += len(wins) > 1
        floor.check()
    assert many > 20  # rounds with several shares were among them


def test_the_rest_is_settled_alike_when_one_hand_turns_out_void() -> None:
    """A seat's claim is withdrawn after the lock: the table settles again without it, with the same
    jackpot of record; so does the server."""
    random = Random(5)
    seen = 0
    while seen < 60:
        rule = random.choice(("sequential", "snapshot"))
        floor = Floor(pool(terms(meter_rule=rule, base_cents=123_457)))
        shared, hands, winners = deal(random)
        if len(winners) < 2:
            continue
        seen += 1
        stakes = set(hands)
        floor.tell("T1", Contributed(1, tuple(Wager(s, 100, 1) for s in sorted(stakes))))
        lock = locked(floor.tell("T1", Claimed(1, claims(winners, stakes))))
        gone = random.choice(list(winners))
        floor.back("T1", 1, gone)
        floor.withdraw("T1", 1, gone)
        settings = {
            "jackpot": lock.jackpot_cents,
            "jackpot_reset": lock.reset_cents,
            "meter_rule": rule,
        }
        played = record(shared, hands, stakes, settings)
        played["round"]["seats"] = [s for s in played["round"]["seats"] if s["seat"] != gone]
        wins, after = settled(played)
        standing = [a for a in floor.store.awards.values() if a.state == "locked"]
        assert wins == {a.seat: a.cents for a in standing}
        # The wager that went back was in the jackpot of record: that is the only difference.
        assert after - 1 <= floor.shown() <= after
        floor.check()
