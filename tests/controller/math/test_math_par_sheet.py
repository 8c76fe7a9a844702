"""Whole par sheets: exact to the last value, complete, and readable on 80 columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb, gcd
from xml.etree import ElementTree

import pytest

from controller.math.exact import decimal_text
from controller.math.par import par_sheet
from controller.math.sheet import SCHEMA, Kind, ParSheet, Table, Value, as_json
from controller.math.svg import svg
from controller.math.terminal import WIDTH, render, show
from controller.rules.books import BOOKS
from controller.rules.hands import Hand
from controller.rules.settings import ALL, Settings, TableSettings

FULL = Settings(
    jackpot=987_654_321,
    jackpot_reset=1_234_567,
    min_wager=500,
    max_wager=20_000,
    max_payout=5_000_000,
    rapid_fire_pay={"win": 5, "tie": 3},
    hedge_pay={Hand.THREE_OF_A_KIND: 8, Hand.STRAIGHT: 20},
)
FULL_TABLE = TableSettings(max_credits=5, lucky_rate=Fraction(1, 500))


@cache
def sheet(game: str, *, full: bool) -> ParSheet:
    if full:
        return par_sheet(game, FULL, FULL_TABLE)
    return par_sheet(game, Settings(), TableSettings())


SHEETS = [(game, full) for game in ALL for full in (False, True)]


def tables(made: ParSheet) -> Iterator[Table]:
    yield from made.tables
    for wager in made.wagers:
        yield from wager.tables


def values(made: ParSheet) -> Iterator[tuple[str, Value, Kind]]:
    for wager in made.wagers:
        for f in wager.figures:
            yield f"{wager.key}.{f.key}", f.value, f.kind
    for table in tables(made):
        for row in table.rows:
            for column, value in zip(table.columns, row, strict=True):
                yield f"{table.key}.{column.key}", value, column.kind


@pytest.mark.parametrize(("game", "full"), SHEETS)
def test_no_figure_is_a_float(game: str, full: bool) -> None:
    """A ratio is a Fraction, a count or an amount an int; numpy's own numbers stay inside."""
    for name, value, kind in values(sheet(game, full=full)):
        assert type(value) in (Fraction, int, str, type(None)), (name, value)
        if kind is Kind.PERCENT and value is not None:
            assert type(value) is Fraction, (name, value)
        if kind in (Kind.COUNT, Kind.CENTS) and value is not None:
            assert type(value) is int, (name, value)


@pytest.mark.parametrize(("game", "full"), SHEETS)
def test_probabilities_add_up_to_one(game: str, full: bool) -> None:
    for wager in sheet(game, full=full).wagers:
        for table in wager.tables:
            if table.key == "classes":
                place = [c.key for c in table.columns].index("probability")
                chances = [row[place] for row in table.rows]
                assert sum(c for c in chances if isinstance(c, Fraction)) == 1, wager.key


@pytest.mark.parametrize(("game", "full"), SHEETS)
def test_the_parts_of_a_return_add_up_to_it(game: str, full: bool) -> None:
    for wager in sheet(game, full=full).wagers:
        if wager.key in ("main", "progressive") or "return" not in {f.key for f in wager.figures}:
            continue
        parts = [row[-1] for row in wager.table("classes").rows]
        assert sum(p for p in parts if isinstance(p, Fraction)) == wager["return"], wager.key
        edge, back = wager["house_edge"], wager["return"]
        assert isinstance(edge, Fraction)
        assert isinstance(back, Fraction)
        assert edge + back == 1


@pytest.mark.parametrize(("game", "full"), SHEETS)
def test_every_wager_of_the_book_is_there_or_left_out_by_name(game: str, full: bool) -> None:
    made = sheet(game, full=full)
    keys = {wager.key for wager in made.wagers} | set(made.left_out)
    assert set(BOOKS[game].wagers) <= keys


@pytest.mark.parametrize(("game", "full"), SHEETS)
def test_json_gives_back_every_exact_value(game: str, full: bool) -> None:
    made = sheet(game, full=full)
    told = json.loads(json.dumps(as_json(made)))
    assert told["schema"] == SCHEMA
    assert told["game"] == game

    def same(value: Value, text: object) -> bool:
        if not isinstance(value, Fraction):
            return value == text
        assert isinstance(text, str)
        above, below = (int(n) for n in text.split("/"))
        return gcd(above, below) == 1 and below > 0 and Fraction(above, below) == value

    for wager in made.wagers:
        figures = told["wagers"][wager.key]["figures"]
        assert len(figures) == len(wager.figures)
        assert all(same(f.value, figures[f.key]) for f in wager.figures)
        for table in wager.tables:
            rows = told["wagers"][wager.key]["tables"][table.key]
            assert len(rows) == len(table.rows)
            for row, back in zip(table.rows, rows, strict=True):
                assert all(
                    same(value, back[column.key])
                    for column, value in zip(table.columns, row, strict=True)
                )


@pytest.mark.parametrize(("game", "full"), SHEETS)
def test_a_terminal_of_80_columns_holds_it(game: str, full: bool) -> None:
    lines = render(sheet(game, full=full)).splitlines()
    assert max(len(line) for line in lines) <= WIDTH
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize(("game", "full"), SHEETS)
def test_the_svg_is_well_formed_and_stays_in_its_frame(game: str, full: bool) -> None:
    root = ElementTree.fromstring(svg(sheet(game, full=full)))
    _, _, width, height = (float(n) for n in root.attrib["viewBox"].split())
    ns = "{http://www.w3.org/2000/svg}"
    assert root.find(f"{ns}title") is not None
    for panel in root.iter(f"{ns}g"):
        left, top = (float(n) for n in panel.attrib["transform"][10:-1].split())
        for line in panel.iter(f"{ns}line"):
            for x in ("x1", "x2"):
                assert 0 <= left + float(line.attrib[x]) <= width
            for y in ("y1", "y2"):
                assert 0 <= top + float(line.attrib[y]) <= height


def test_pair_plus_is_the_published_one() -> None:
    wager = sheet("PP6", full=False).wager("pair_plus")
    edge = wager["house_edge"]
    assert edge == Fraction(402, 5_525)
    assert isinstance(edge, Fraction)
    assert decimal_text(edge * 100, 2) == "7.28"
    assert wager["combinations"] == comb(52, 3)
    assert wager["hit_frequency"] == Fraction(283, 1_105)


def test_six_card_bonus() -> None:
    """250-100-40-20-11-8-4 over the known counts of the best five of six."""
    wager = sheet("PP6", full=False).wager("six_card")
    counts = (188, 1_656, 14_664, 165_984, 205_792, 361_620, 732_160)
    odds = (250, 100, 40, 20, 11, 8, 4)
    paid = sum(n * (to_one + 1) for n, to_one in zip(counts, odds, strict=True))
    assert wager["combinations"] == comb(52, 6)
    assert wager["return"] == Fraction(paid, comb(52, 6)) == Fraction(1_710_777, 2_544_815)


def test_the_settings_of_the_sheet_are_those_of_the_game() -> None:
    told = as_json(sheet("MEGA", full=True))["settings"]
    assert isinstance(told, dict)
    assert told["lucky_rate"] == "1/500"
    assert told["jackpot_reset"] == 1_234_567
    assert "envy_self" not in told
    rico = as_json(sheet("RICO", full=True))["settings"]
    assert isinstance(rico, dict)
    assert rico["hedge_pay"] == {"three of a kind": 8, "straight": 20}


def test_a_return_over_100_percent_is_loud() -> None:
    made = sheet("MEGA", full=False)
    assert len(made.warnings) == 1
    text = render(made)
    assert "!" * WIDTH in text
    assert "WARNING: the progressive wager returns up to 684.31 %" in text
    assert as_json(made)["warnings"] == list(made.warnings)
    assert "WARNING" not in render(sheet("MEGA", full=True))


def test_nsw_says_that_figures_are_uncapped() -> None:
    assert "the table capped what" in " ".join(sheet("NSW", full=True).notes)
    assert "uncapped" in " ".join(sheet("NSW", full=False).notes)
    assert (
        sheet("NSW", full=True).wager("$")["return"]
        == sheet("NSW", full=False).wager("$")["return"]
    )
    assert sheet("PP6", full=True).notes == ()


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, Kind.CENTS, "-"),
        (123_456, Kind.CENTS, "1,234.56"),
        (123_456, Kind.COUNT, "123,456"),
        (Fraction(1, 3), Kind.TEXT, "1/3"),
        (Fraction(1, 3), Kind.NUMBER, "0.3333"),
        (Fraction(1, 3), Kind.FINE, "0.33333333"),
        ("loses", Kind.TEXT, "loses"),
    ],
)
def test_how_a_value_is_shown(value: Value, kind: Kind, text: str) -> None:
    assert show(value, kind) == text
