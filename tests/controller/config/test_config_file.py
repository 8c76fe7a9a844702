"""A table's configuration file: what passes, and how every wrong thing is named."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from controller.config import TableConfig, load
from controller.rules.hands import Hand
from controller.rules.settings import ALL, Settings, TableSettings
from record.kit.config import ConfigError

MEGA = """
game = "MEGA"

[settings]
seats = 6
deal_pattern = "passes"
selector = "table"
meter_rule = "sequential"
progressive_stake_returned = true
jackpot_reset = 1_000_000
lucky_rate = "1/500"
"""

RICO = """
game = "RICO"
[settings]
ante = 500
rapid_fire_pay = {win = 5, tie = 3}
hedge_pay = {"three of a kind" = 8, straight = 20}
"""


@pytest.fixture
def write(tmp_path: Path) -> Path:
    return tmp_path / "table.toml"


def loaded(file: Path, text: str) -> TableConfig:
    file.write_text(text)
    return load(file)


def problems(file: Path, text: str) -> list[str]:
    """The lines of the error, without the file they all start with."""
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load(file)
    lines = str(refused.value).splitlines()
    assert all(line.startswith(f"{file}: ") for line in lines)
    assert len(lines) == len(refused.value.problems)
    return [line.removeprefix(f"{file}: ") for line in lines]


def test_values_are_kept_as_written_and_converted_on_demand(write: Path) -> None:
    config = loaded(write, MEGA)
    assert config.game == "MEGA"
    assert config.values["lucky_rate"] == "1/500"
    settings, table = config.with_defaults()
    assert settings.jackpot_reset == 1_000_000
    assert (table.seats, table.lucky_rate) == (6, Fraction(1, 500))


def test_tables_of_odds(write: Path) -> None:
    settings, _ = loaded(write, RICO).with_defaults()
    assert settings.rapid_fire_pay == {"win": 5, "tie": 3}
    assert settings.hedge_pay == {Hand.THREE_OF_A_KIND: 8, Hand.STRAIGHT: 20}


@pytest.mark.parametrize("game", ALL)
def test_a_file_with_the_game_alone_has_the_defaults(write: Path, game: str) -> None:
    config = loaded(write, f'game = "{game}"\n')
    assert config.with_defaults() == (Settings(), TableSettings())


def test_a_wrong_value_is_named_with_what_is_expected(write: Path) -> None:
    (line,) = problems(write, 'game = "MEGA"\n[settings]\nselector = "dealer"\n')
    assert line == ('settings.selector: "dealer": expected one of "server", "table" (E-CFG-002)')


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("jackpot_reset = 500.0", "500.0: expected a whole number"),
        ("jackpot_reset = -1", "-1: expected a whole number of minor units (cents), at least 0"),
        ("jackpot_reset = true", "true: expected a whole number"),
        ("seats = 8", "8: expected a whole number from 1 to 7"),
        ("lucky_rate = 0.05", '0.05: expected a fraction from 0 to 1 as text, e.g. "1/20"'),
        ('lucky_rate = "3/2"', '"3/2": expected a fraction from 0 to 1'),
        ('lucky_rate = "1/0"', '"1/0": expected a fraction from 0 to 1'),
        ("progressive_stake_returned = 1", "1: expected true or false"),
        ("meter_rule = 2020-01-01", 'expected one of "sequential", "snapshot"'),
        ("credit_cents = []", "[]: expected a whole number"),
    ],
)
def test_values_of_the_wrong_kind(write: Path, setting: str, expected: str) -> None:
    (line,) = problems(write, f'game = "MEGA"\n[settings]\n{setting}\n')
    assert line.startswith(f"settings.{setting.split(maxsplit=1)[0]}: ")
    assert expected in line


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (f'lucky_rate = "{"9" * 5_000}/1"', "the number is too long"),
        (f"seats = 0x{'f' * 5_000}", "a number too long to show: expected a whole number from 1"),
    ],
)
def test_numbers_beyond_reason(write: Path, setting: str, expected: str) -> None:
    (line,) = problems(write, f'game = "MEGA"\n[settings]\n{setting}\n')
    assert expected in line
    assert len(line) < 300


def test_all_problems_are_listed_at_once(write: Path) -> None:
    text = 'game = "MEGA"\nspeed = 9\n[settings]\nseats = 0\nselectr = "table"\nante = 5\n'
    lines = problems(write, text)
    assert [line.split(":")[0] for line in lines] == [
        "speed",
        "settings.seats",
        "settings.selectr",
        "settings.ante",
    ]


def test_a_setting_of_another_game_names_the_games_it_belongs_to(write: Path) -> None:
    (line,) = problems(write, 'game = "NSW"\n[settings]\njackpot_reset = 5\n')
    assert line == (
        "settings.jackpot_reset: 5: no setting of NSW; it belongs to MBS3, MEGA (E-CFG-008)"
    )


def test_a_misspelt_setting_is_guessed(write: Path) -> None:
    (line,) = problems(write, 'game = "MEGA"\n[settings]\nluckyrate = "1/2"\n')
    assert line == (
        'settings.luckyrate: "1/2": no such setting; did you mean lucky_rate? (E-CFG-001)'
    )


def test_a_setting_like_no_other_lists_those_of_the_game(write: Path) -> None:
    (line,) = problems(write, 'game = "RICO"\n[settings]\nzzz = 1\n')
    assert "expected one of smallest_chip" in line
    assert "lucky_rate" not in line


def test_a_setting_outside_its_table_is_sent_there(write: Path) -> None:
    (line,) = problems(write, 'game = "RICO"\nante = 500\n')
    assert line == "ante: 500: a setting; expected it below [settings] (E-CFG-001)"


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "missing"), ("game = 3\n", "3"), ('game = "LIR"\n', '"LIR"'), ("game = []\n", "[]")],
)
def test_the_game_must_be_one_of_five(write: Path, text: str, found: str) -> None:
    (line,) = problems(write, text)
    listed = '"MBS3", "PP6", "NSW", "MEGA", "RICO"'
    assert line == f"game: {found}: expected one of {listed} (E-CFG-005)"


def test_settings_must_be_a_table(write: Path) -> None:
    (line,) = problems(write, 'game = "RICO"\nsettings = [1]\n')
    assert line == "settings: [1]: expected a table, [settings] (E-CFG-002)"


def test_settings_are_checked_even_without_a_game(write: Path) -> None:
    lines = problems(write, "[settings]\nseats = 9\n")
    assert [line.split(":")[0] for line in lines] == ["game", "settings.seats"]


@pytest.mark.parametrize(
    "raw",
    [b"game = \n", b"game = 'MEGA'\ngame = 'MEGA'\n", b"[settings\n", b"n = " + b"9" * 5_000],
)
def test_text_that_is_not_toml(write: Path, raw: bytes) -> None:
    write.write_bytes(raw)
    with pytest.raises(ConfigError, match="expected TOML"):
        load(write)


def test_bytes_that_are_not_utf_8(write: Path) -> None:
    write.write_bytes(b'game = "\xff"\n')
    with pytest.raises(ConfigError, match="byte 8 is not UTF-8") as refused:
        load(write)
    assert refused.value.code == "E-CFG-009"


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.toml")
