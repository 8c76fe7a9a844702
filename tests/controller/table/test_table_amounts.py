"""Amounts on prompt, meter and sign: one formatter, and no digit is ever cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.engine import facts as f
from controller.table.amounts import Amounts, cells
from controller.table.asks import Ask
from controller.table.options import Options
from controller.table.prompt import Notice, Prompter, Said, money_line
from drivers.ht16k33.codec import cells_of
from drivers.orders import ShowSign
from tests.clauses.tables import table
from tests.controller.table.console_player import ENGLISH, Table

EURO = Amounts("EUR", 2, ",", ".")
FRANC = Amounts("CHF", 2, ".", "'")
YEN = Amounts("", 0, ".", ",")
DINAR = Amounts("KD", 3, ".", " ")


@pytest.mark.parametrize(
    ("amounts", "grouped", "short", "sign", "meter"),
    [
        (Amounts(), "1,234,567.50", "1234567.50", "$1,234,567.50", "  $1,234,567.50"),
        (EURO, "1.234.567,50", "1234567,50", "EUR 1.234.567,50", "EUR1.234.567,50"),
        (FRANC, "1'234'567.50", "1234567.50", "CHF 1'234'567.50", "CHF1,234,567.50"),
        (YEN, "123,456,750", "123456750", "123,456,750", "   123,456,750"),
        (DINAR, "123 456.750", "123456.750", "KD 123 456.750", "KD123 456.750"),
    ],
)
def test_an_amount_in_every_currency(
    amounts: Amounts, grouped: str, short: str, sign: str, meter: str
) -> None:
    assert amounts.grouped(123_456_750) == grouped
    assert amounts.short(123_456_750) == short
    assert amounts.on_sign(123_456_750) == sign
    assert amounts.on_meter(123_456_750).strip() == meter.strip()
    assert len(cells_of(amounts.on_meter(123_456_750))) == 12


@pytest.mark.parametrize(("cents", "short"), [(17500, "175"), (250, "2.50"), (5, "0.05"), (0, "0")])
def test_the_short_form_leaves_out_what_says_nothing(cents: int, short: str) -> None:
    assert Amounts().short(cents) == short


@pytest.mark.parametrize(
    ("cents", "meter"),
    [
        (999_999_99, "  EUR 999.999,99"),
        (1_234_567_89, "EUR1.234.567,89"),
        (12_345_678_90, "  12.345.678,90"),
        (1_234_567_890_12, "1.234.567.890,12"),
    ],
)
def test_on_the_meter_the_symbol_gives_way_and_no_digit_does(cents: int, meter: str) -> None:
    shown = EURO.on_meter(cents)
    assert shown.strip() == meter.strip()
    digits = [c for c in shown if c.isdecimal()]
    assert "".join(digits) == str(cents)


def test_spaces_between_thousands_give_way_on_the_meter() -> None:
    assert DINAR.on_meter(123_456_789_012).strip() == "123456789.012"
    assert cells(DINAR.on_meter(123_456_789_012)) == 12


@given(
    st.builds(
        Amounts,
        st.sampled_from(("", "$", "EUR")),
        st.sampled_from((0, 2, 3)),
        st.sampled_from((".", ",")),
        st.sampled_from(("", "'", " ")),
    ),
    st.integers(0, 10**13),
)
def test_every_form_holds_the_same_digits(amounts: Amounts, minor: int) -> None:
    digits = str(minor).rjust(amounts.decimals + 1, "0")
    for text in (amounts.plain(minor), amounts.grouped(minor), amounts.on_sign(minor)):
        assert "".join(c for c in text if c.isdecimal()) == digits
    meter = amounts.on_meter(minor)
    assert "".join(c for c in meter if c.isdecimal()) == digits
    assert cells(meter) == 12 or len(digits) > 12


# --- on the displays ---------------------------------------------------------------------------


def test_the_options_reach_prompt_meter_and_sign() -> None:
    state = table("MEGA").state
    told = Table(state, options={"options": Options(amounts=EURO)})
    told.fact(f.MeterReported(12_345_678))
    assert told.meter == "EUR 123.456,78"
    assert told.last(ShowSign) == ShowSign("EUR 123.456,78")
    told.menu("22", 1)
    told.press(*"12345")
    assert told.lines[2] == "MENU 22 AMT?123,45_"
    told.press(*"67")
    assert told.lines[2] == "22 AMT?12.345,67_"


def test_what_is_typed_is_never_cut() -> None:
    told = Table(table("NSW").state)
    told.turn_key(True)
    told.menu("63", 1, 1)
    told.press(*"123456789012")
    assert told.lines[2] == "1,234,567,890.12_"


@pytest.mark.parametrize(
    ("code", "cents", "line"),
    [
        ("return", 17_500, "SEAT 3 BACK 175"),
        ("return", 123_456_789_50, "SEAT 3 123456789.50"),
        ("return", 1_234_567_890_50, "SEAT 3 1234567890.50"),
        ("difference pay", 123_456_789_50, "SEAT 3 +123456789.50"),
        ("difference collect", 1_234_567_890_50, "SEAT -1234567890.50"),
    ],
)
def test_a_notice_gives_way_to_its_amount(code: str, cents: int, line: str) -> None:
    prompter = Prompter(ENGLISH)
    state = table("NSW").state
    said = Said(notice=Notice(code, 3, cents))
    assert prompter.lines(state, Ask("open", ("OPEN",)), said)[0] == line


def test_line_two_in_another_currency() -> None:
    assert money_line("SEAT 3", "PAY", 123_450, EURO) == "SEAT 3  PAY 1.234,50"
    assert money_line("SEAT 3", "PAY", 17_500, YEN) == "SEAT 3  PAY   17,500"
