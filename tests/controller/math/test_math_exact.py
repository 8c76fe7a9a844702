"""Distributions and decimals, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.math.exact import Distribution, decimal_text, fraction_text, percent_text


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(1, 3), 4, "0.3333"),
        (Fraction(2, 3), 4, "0.6667"),
        (Fraction(1, 2), 0, "1"),
        (Fraction(-1, 2), 0, "-1"),
        (Fraction(-1, 100_000), 4, "0.0000"),
        (Fraction(1_234_567), 2, "1,234,567.00"),
        (Fraction(-5, 4), 1, "-1.3"),
        (Fraction(999_999, 1_000_000), 2, "1.00"),
    ],
)
def test_decimals_round_half_away_from_zero(value: Fraction, places: int, text: str) -> None:
    assert decimal_text(value, places) == text


@given(st.fractions(), st.integers(0, 8))
def test_decimals_are_never_further_off_than_half_a_unit(value: Fraction, places: int) -> None:
    shown = Fraction(decimal_text(value, places).replace(",", ""))
    assert abs(shown - value) <= Fraction(1, 2 * 10**places)


def test_per_cent_shows_small_and_large_values_usefully() -> None:
    assert percent_text(Fraction(37963, 1082900)) == "3.5057 %"
    assert percent_text(Fraction(1, 649740)) == "0.000154 %"
    assert percent_text(Fraction(50)) == "5,000.00 %"
    assert percent_text(Fraction(0)) == "0.0000 %"
    assert percent_text(Fraction(37963, 1082900), 2) == "3.51 %"


def test_fractions_keep_their_denominator() -> None:
    assert fraction_text(Fraction(6, 4)) == "3/2"
    assert fraction_text(Fraction(3)) == "3/1"


def test_a_fair_coin_at_even_odds() -> None:
    coin = Distribution.of([(1, 1), (-1, 1)], total=2)
    assert coin.mean == 0
    assert coin.variance == 1
    assert coin.hit_frequency == Fraction(1, 2)


def test_equal_amounts_are_gathered() -> None:
    assert Distribution.of([(0, 1), (0, 2), (5, 1)], total=4).chances == {
        Fraction(0): Fraction(3, 4),
        Fraction(5): Fraction(1, 4),
    }


def test_a_push_is_no_hit() -> None:
    assert Distribution.of([(0, 1), (-1, 1)], total=2).hit_frequency == 0


def test_probabilities_must_add_up_to_one() -> None:
    with pytest.raises(ArithmeticError, match="3/4"):
        Distribution.of([(1, 1), (-1, 2)], total=4)
