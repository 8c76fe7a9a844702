"""1 cent is 1,000,000 units; a rate is whole parts per million."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from link.ledger.errors import PoolError
from link.ledger.units import money_text, parse_rate, rate_text, to_cents, to_units


@pytest.mark.parametrize(
    ("text", "ppm"),
    [
        ("0.37 %", 3_700),
        ("0.37%", 3_700),
        (" 0.37 % ", 3_700),
        ("37/10000", 3_700),
        ("37 / 10000", 3_700),
        ("0 %", 0),
        ("0.0001 %", 1),
        ("0.370000 %", 3_700),
        ("100 %", 1_000_000),
        ("1/1", 1_000_000),
        ("1/8", 125_000),
        ("2/16", 125_000),
    ],
)
def test_rates_are_read_exactly(text: str, ppm: int) -> None:
    assert parse_rate(text, "rate") == ppm


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0.37", "E-POOL-003"),
        ("", "E-POOL-003"),
        ("-1 %", "E-POOL-003"),
        ("1e-3 %", "E-POOL-003"),
        ("٣ %", "E-POOL-003"),
        ("1/0", "E-POOL-003"),
        ("1/3", "E-POOL-004"),
        ("0.00001 %", "E-POOL-004"),
        ("33.33333 %", "E-POOL-004"),
        ("100.0001 %", "E-POOL-005"),
        ("3/2", "E-POOL-005"),
    ],
)
def test_what_is_no_rate_is_refused(text: str, code: str) -> None:
    with pytest.raises(PoolError, match=r"pools\.a\.rate: ") as refused:
        parse_rate(text, "pools.a.rate")
    assert refused.value.code == code


@given(st.integers(0, 1_000_000))
def test_a_printed_rate_reads_back(ppm: int) -> None:
    assert parse_rate(rate_text(ppm), "rate") == ppm
    assert parse_rate(f"{ppm}/1000000", "rate") == ppm


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_cents_times_ppm_are_units_without_rounding(cents: int, ppm: int) -> None:
    assert Fraction(cents * ppm, 1_000_000) == Fraction(cents) * Fraction(ppm, 1_000_000)


def test_money_is_shown_to_the_last_unit() -> None:
    assert to_units(12) == 12_000_000
    assert to_cents(12_999_999) == 12
    assert money_text(to_units(1_234_567)) == "12,345.67"
    assert money_text(3_700) == "0.000037"
    assert money_text(370_000) == "0.0037"
    assert money_text(-1_500_000) == "-0.015"
