"""Hits and return as they were against the par sheet, and how likely chance alone makes it so.

Everything is exact: probabilities are fractions of the sheet, the chance of a count is the binomial
sum itself, in decimals of 60 places; only beyond ``MOST_SUMMED`` hits, where both agree, it is the
normal distribution's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final

import msgspec

from link.reports.model import DRIFT, Finding, Line, Report, ReportError, Section, columns
from link.reports.past import ReportInputs
from link.reports.table import PROGRESSIVE, Figures, Sums
from record.kit.words import counted

SCHEMA: Final = "underfelt.par/1"
MOST_SUMMED: Final = 20_000
DIGITS: Final = 60


@dataclass(frozen=True, slots=True)
class Sheet:
    game: str
    stake_cents: int
    classes: dict[str, Fraction]
    """Class of hand with an award to its probability."""
    constant: Fraction
    slope: Fraction
    """Return of the progressive wager: constant, and slope for every cent of the jackpot."""
    variance: Fraction
    returns: dict[str, tuple[Fraction, Fraction]]
    """Wagers without a decision to return and variance."""


def read_sheet(text: bytes, file: str) -> Sheet:
    try:
        found = msgspec.json.decode(text)
        return _sheet(found)
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ReportError(
            "E-RPT-005",
            f"{file}: no par sheet ({error}); expected what `underfelt par GAME --json` prints",
        ) from None


def _sheet(found: Any) -> Sheet:
    if found["schema"] != SCHEMA:
        raise ValueError(f"schema {found['schema']}")
    wagers = found["wagers"]
    returns = {
        name: (Fraction(wager["figures"]["return"]), Fraction(wager["figures"]["variance"]))
        for name, wager in wagers.items()
        if {"return", "variance"} <= wager["figures"].keys()
        and not {"rides", "average_wager"} & wager["figures"].keys()
    }
    zero = Fraction(0)
    if PROGRESSIVE not in wagers:
        return Sheet(found["game"], 0, {}, zero, zero, zero, returns)
    figures = wagers[PROGRESSIVE]["figures"]
    return Sheet(
        game=found["game"],
        stake_cents=int(figures["stake_cents"]),
        classes={
            row["hand"]: Fraction(row["probability"])
            for row in wagers[PROGRESSIVE]["tables"]["classes"]
        },
        constant=Fraction(figures["constant"]),
        slope=Fraction(figures["slope"]),
        variance=Fraction(figures["variance_at_reset"]),
        returns=returns,
    )


# --- chance ---------------------------------------------------------------------------------------


def tails(hits: int, trials: int, chance: Fraction) -> tuple[Decimal, Decimal]:
    """The probabilities of at most, and of at least, so many hits."""
    if not 0 < chance < 1 or not 0 <= hits <= trials:
        sure = Decimal(int(Fraction(hits) == trials * chance))
        return sure, sure
    with localcontext() as context:
        context.prec = DIGITS
        odds = Decimal(chance.numerator) / Decimal(chance.denominator - chance.numerator)
        miss = Decimal(chance.denominator - chance.numerator) / Decimal(chance.denominator)
        term = miss**trials
        below = Decimal(0)
        for count in range(hits):
            below += term
            term = term * (trials - count) / (count + 1) * odds
        return below + term, 1 - below


def two_sided(hits: int, trials: int, chance: Fraction) -> Decimal:
    """How often chance is at least so far away, on either side."""
    if hits <= MOST_SUMMED and trials * chance <= MOST_SUMMED:
        return min(Decimal(1), 2 * min(tails(hits, trials, chance)))
    return normal(square(hits - trials * chance, trials * chance * (1 - chance)))


def square(apart: Fraction, variance: Fraction) -> Fraction:
    """The square of z."""
    return apart * apart / variance if variance else Fraction(0)


def normal(z_square: Fraction) -> Decimal:
    # No money: the square root alone is not exact.
    z = Decimal(z_square.numerator) / Decimal(z_square.denominator)
    return Decimal(repr(2 * NormalDist().cdf(-float(z.sqrt()))))


def z_text(apart: Fraction, variance: Fraction) -> str:
    found = square(apart, variance)
    z = (Decimal(found.numerator) / Decimal(found.denominator)).sqrt()
    text = f"{z:.2f}"
    return f"-{text}" if apart < 0 and text != "0.00" else text


# --- the report -----------------------------------------------------------------------------------


def par_report(
    inputs: ReportInputs,
    folded: Mapping[tuple[str, str], Sums],
    sheets: Sequence[Sheet],
    one_in: int,
) -> Report:
    report = Report("par", "Against the par sheets", inputs.facts())
    for sheet in sheets:
        sums = Figures()
        for (_, game), table in folded.items():
            if game == sheet.game:
                sums.add(table)
        report.sections.append(_hits(sheet, sums, one_in, report))
        report.sections.append(_returns(sheet, sums, one_in, report))
    return report


def _hits(sheet: Sheet, sums: Figures, one_in: int, report: Report) -> Section:
    trials = sum(sums.classes.values())
    rows: list[Line] = []
    for hand, chance in sheet.classes.items():
        hits = sums.classes[hand]
        likely = two_sided(hits, trials, chance)
        expected = trials * chance
        variance = expected * (1 - chance)
        z = z_text(hits - expected, variance) if variance else ""
        rows.append((hand, hits, f"{float(expected):,.2f}", z, f"{likely:.6f}"))
        if likely * one_in < 1:
            text = (
                f"{sheet.game}: {hits} of {trials:,} progressive hands were {hand}, "
                f"{float(expected):,.2f} are expected; chance alone: {likely:.2e}"
            )
            report.findings.append(Finding(DRIFT, text))
    head = columns("hand", "hits:count", "expected:count", "z:count", "probability:count")
    return Section(
        "hit frequency",
        "Hit frequency",
        head,
        rows,
        (("game", sheet.game),),
        note=f"{counted(trials, 'hand')} with a progressive wager. Alarm below 1 in {one_in:,}.",
    )


def _returns(sheet: Sheet, sums: Figures, one_in: int, report: Report) -> Section:
    rows: list[Line] = []
    expected: dict[str, tuple[Fraction, Fraction]] = {
        name: (figures[0] * sums.placed[name], figures[1] * sums.squares[name])
        for name, figures in sheet.returns.items()
        if sums.placed[name] and name != PROGRESSIVE
    }
    paid = Counter(sums.paid)
    if sums.placed[PROGRESSIVE] and sheet.stake_cents:
        paid[PROGRESSIVE] += sums.awards["magic card"] + sums.awards["lucky player"]
        expected[PROGRESSIVE] = (
            sheet.constant * sums.placed[PROGRESSIVE] + sheet.slope * sums.jackpot_stake,
            sheet.variance * sums.squares[PROGRESSIVE],
        )
    for name, (due, variance) in expected.items():
        likely = normal(square(paid[name] - due, variance))
        placed = sums.placed[name]
        rows.append(
            (name, placed, paid[name], _percent(Fraction(paid[name], placed)),
             _percent(due / placed), z_text(paid[name] - due, variance))
        )  # fmt: skip
        if likely * one_in < 1 and name != PROGRESSIVE:
            text = (
                f"{sheet.game}: {name} returned {_percent(Fraction(paid[name], placed))}, "
                f"{_percent(due / placed)} is expected; chance alone: {likely:.2e}"
            )
            report.findings.append(Finding(DRIFT, text))
    head = columns(
        "wager", "handle:cents", "to players:cents", "return:count", "expected:count", "z:count"
    )
    return Section(
        "return",
        "Return",
        head,
        rows,
        (("game", sheet.game),),
        note=(
            "Wagers without a decision of the player. The progressive is expected at the jackpot "
            "each hand played for, without envy; its alarm is that of the hit frequency."
        ),
    )


def _percent(value: Fraction) -> str:
    """Two places, rounded down towards zero."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    whole = value.numerator * 10_000 // value.denominator
    return f"{sign}{whole // 100}.{whole % 100:02} %"
