"""Exact figures: distributions in whole combinations, and decimals written without a float."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Distribution:
    """What a wager wins or loses, in units of its stake, and how likely each amount is."""

    chances: Mapping[Fraction, Fraction]

    @classmethod
    def of(
        cls, outcomes: Iterable[tuple[Fraction | int, Fraction | int]], total: int = 1
    ) -> Distribution:
        """From (amount, weight) pairs that add up to ``total``; equal amounts are gathered."""
        chances: dict[Fraction, Fraction] = {}
        for amount, weight in outcomes:
            key = Fraction(amount)
            chances[key] = chances.get(key, Fraction(0)) + Fraction(weight) / total
        if sum(chances.values()) != 1:
            raise ArithmeticError(f"probabilities add up to {sum(chances.values())}, not to 1")
        return cls(chances)

    @property
    def mean(self) -> Fraction:
        return sum((x * p for x, p in self.chances.items()), Fraction(0))

    @property
    def variance(self) -> Fraction:
        squares = sum((x * x * p for x, p in self.chances.items()), Fraction(0))
        return squares - self.mean**2

    @property
    def hit_frequency(self) -> Fraction:
        """How often the wager comes out ahead."""
        return sum((p for x, p in self.chances.items() if x > 0), Fraction(0))


def decimal_text(value: Fraction | int, places: int) -> str:
    """A fraction as decimals, rounded half away from zero, by integers only."""
    value = Fraction(value)
    scaled = abs(value) * 10**places
    units = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    sign = "-" if value < 0 and units else ""
    whole, rest = divmod(units, 10**places)
    return f"{sign}{whole:,}" + (f".{rest:0{places}}" if places else "")


def percent_text(value: Fraction | int, places: int | None = None) -> str:
    """Per cent to four places, or to six or two where four would show too little or too much."""
    value = Fraction(value)
    if places is None:
        size = abs(value)
        places = 6 if 0 < size < Fraction(1, 10_000) else 4 if size < 10 else 2
    return decimal_text(value * 100, places) + " %"


def fraction_text(value: Fraction) -> str:
    """Lowest terms, always with a denominator: ``"7/2"``, ``"3/1"``."""
    return f"{value.numerator}/{value.denominator}"
