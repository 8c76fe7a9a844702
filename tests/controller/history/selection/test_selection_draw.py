"""The draw: literal vectors, no bias, and that leaving out the rejection would be seen."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from controller.rules.cards import NAMES
from record import draw, verify_draws

VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("vectors.json").read_text())
JOURNAL_ID: str = VECTORS["journal_id"]
SEEDS = {name: bytes.fromhex(text) for name, text in VECTORS["seeds"].items()}
SALT = bytes.fromhex(VECTORS["salt"])

CRITICAL_99 = {
    1: 6.635, 2: 9.210, 4: 13.277, 5: 15.086, 6: 16.812, 9: 21.666, 51: 77.386, 99: 134.642,
}  # fmt: skip
"""Degrees of freedom to the 99 % point of chi-square, from printed tables."""


@pytest.mark.parametrize("row", VECTORS["commitments"])
def test_a_commitment_is_the_literal_one(row: list[Any]) -> None:
    seed, round_no, digest = row
    assert draw.commitment(SEEDS[seed], SALT, JOURNAL_ID, round_no) == digest
    assert verify_draws.commitment(SEEDS[seed], SALT, JOURNAL_ID, round_no) == digest


@pytest.mark.parametrize("row", VECTORS["below"])
def test_a_number_is_the_literal_one(row: list[Any]) -> None:
    seed, round_no, domain, limit, value, _why = row
    assert draw.below(limit, SEEDS[seed], domain, JOURNAL_ID, round_no) == value
    assert verify_draws.below(limit, SEEDS[seed], domain, JOURNAL_ID, round_no) == value


@pytest.mark.parametrize("row", VECTORS["picks"])
def test_the_picks_are_the_literal_ones(row: list[Any]) -> None:
    seed, round_no, seats, magic_rate, lucky_rate, magic, lucky = row
    chances = draw.Chances(tuple(seats), Fraction(magic_rate), Fraction(lucky_rate))
    drawn = draw.picks(SEEDS[seed], JOURNAL_ID, round_no, chances)
    name = None if drawn.magic_card is None else NAMES[drawn.magic_card]
    assert (name, drawn.lucky_seat) == (magic, lucky)
    rates = (Fraction(magic_rate), Fraction(lucky_rate))
    again = verify_draws.picks(SEEDS[seed], JOURNAL_ID, round_no, seats, rates)
    assert again == (magic, lucky)


def test_seed_journal_round_and_domain_all_count() -> None:
    base = (SEEDS["a"], "x", "j", 1)
    others = [
        (SEEDS["b"], "x", "j", 1),
        (SEEDS["a"], "y", "j", 1),
        (SEEDS["a"], "x", "k", 1),
        (SEEDS["a"], "x", "j", 2),
    ]
    values = {draw.below(2**200, *call) for call in (base, *others)}
    assert len(values) == 5
    # The fields are set apart: "ab" + "c" is not "a" + "bc".
    split = {draw.below(2**200, SEEDS["a"], *call, 1) for call in (("ab", "c"), ("a", "bc"))}
    assert len(split) == 2


def test_what_cannot_be_drawn_is_refused() -> None:
    for limit in (0, -1, 2**256 + 1):
        with pytest.raises(ValueError, match="possibilities"):
            draw.below(limit, SEEDS["a"], "x", "j", 1)
    with pytest.raises(ValueError, match="seed has 32 bytes"):
        draw.commitment(b"short", SALT, JOURNAL_ID, 1)


# --- no bias ------------------------------------------------------------------------------------


def chi_square(limit: int, draws: int, one: Callable[[int], int]) -> float:
    seen = Counter(one(n) for n in range(draws))
    assert set(seen) <= set(range(limit))
    expected = draws / limit
    return sum((seen[v] - expected) ** 2 for v in range(limit)) / expected


def drawn_by_round(limit: int, salt: str) -> Callable[[int], int]:
    """A fresh seed for every draw, as at a table; deterministic, so a failure repeats."""
    label = f"{salt} {limit} ".encode()

    def one(n: int) -> int:
        seed = hashlib.sha256(label + b"%d" % n).digest()
        return draw.below(limit, seed, "chi-square", JOURNAL_ID, n)

    return one


RANGES = [2, 3, 5, 6, 7, 10, 52, 100]


@pytest.mark.parametrize("limit", RANGES)
def test_a_share_of_the_draws_is_uniform_at_99_percent(limit: int) -> None:
    assert chi_square(limit, 20_000, drawn_by_round(limit, "share")) < CRITICAL_99[limit - 1]


@pytest.mark.slow
@pytest.mark.parametrize("limit", RANGES)
def test_a_million_draws_are_uniform_at_99_percent(limit: int) -> None:
    assert chi_square(limit, 1_000_000, drawn_by_round(limit, "million")) < CRITICAL_99[limit - 1]


@pytest.mark.parametrize("limit", [3, 5, 6, 7, 10, 52, 100])
def test_modulo_instead_of_rejection_would_be_seen(limit: int) -> None:
    """The same blocks and the same test: only the rejection is missing, and it fails by far."""
    bits = (limit - 1).bit_length()
    fair = drawn_by_round(2**bits, "share")  # a power of two is never refused
    assert chi_square(limit, 20_000, lambda n: fair(n) % limit) > 10 * CRITICAL_99[limit - 1]


def test_a_rate_is_a_share_of_the_seeds() -> None:
    for rate in (Fraction(0), Fraction(1, 500), Fraction(1, 3), Fraction(9, 10), Fraction(1)):
        hits = sum(
            draw.happens(rate, hashlib.sha256(b"rate %d" % n).digest(), "rate", JOURNAL_ID, n)
            for n in range(20_000)
        )
        mean = 20_000 * rate
        assert (hits - mean) ** 2 <= Fraction(CRITICAL_99[1]) * mean * (1 - rate), rate
