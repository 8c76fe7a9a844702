"""The floor's screen: literal pictures of literal floors."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest

from controller.demo.screen import FloorView, lines
from tests.controller.demo.floors import QUIET, WAITING

QUIET_80X24 = """\
UNDERFELT  demonstration floor                               link-1 leads  00:59
JACKPOTS
  mbs3   grand     $    25,001.20   generation 1
  mbs3   mini      $        20.00   generation 3    must hit by 22.00
  mega   grand     $    50,010.10   generation 1
  mega   mini      $        21.30   generation 1    must hit by 22.00

TABLES               hand  phase                     link    devices house
  mbs3  Let It Ride    12  second decision           open    16/16   +26.00
  mega  Megalink        9  settlement                2 wait  17/17   -61.00
  rico  Ricochet        7  three cards to a player   open    10/10   ruled on

WHAT HAPPENED
  21:04:35  rico   hand 6 settled, house +11.00
  21:04:42  mega   hand 8 settled, house -61.00; magic card pays 15.00
  21:04:48  mbs3   JACKPOT $ 21.80 mystery, hand 12 seat 3: mbs3/2/2 locked




  a table   underfelt status --config .demo/mega/table.toml
  jackpots  underfelt jackpot list --all --config .demo/link/link.toml
  the day   underfelt report day --config .demo/link/link.toml
Ctrl-C stops the demo; the next start resumes from here."""

WAITING_FROM_13 = """\
WHAT HAPPENED
  21:04:35  rico   hand 6 settled, house +11.00
  21:04:42  mega   hand 8 settled, house -61.00; magic card pays 15.00
  21:04:48  mbs3   JACKPOT $ 21.80 mystery, hand 12 seat 3: mbs3/2/2 locked

mbs3/2/2 $ 21.80: sue (supervisor) verifies in 7 s, or you:
  underfelt jackpot verify mbs3/2/2 --by sue \\
    --password-file .demo/sue.password --config .demo/link/link.toml
  a table   underfelt status --config .demo/mega/table.toml
  jackpots  underfelt jackpot list --all --config .demo/link/link.toml
  the day   underfelt report day --config .demo/link/link.toml
Ctrl-C stops the demo; the next start resumes from here."""


def picture(floor: FloorView, columns: int = 80, rows: int = 24) -> str:
    return "\n".join(lines(floor, columns, rows, colour=False))


def test_a_quiet_floor_on_the_smallest_usual_screen() -> None:
    assert picture(QUIET) == QUIET_80X24


def test_a_jackpot_that_waits_is_shown_with_a_command_that_a_shell_reads_as_one() -> None:
    shown = picture(WAITING).split("\n")
    assert shown[3] == (
        "  mbs3   mini      $        20.00   generation 3    PENDING  must hit by 22.00"
    )
    assert "\n".join(shown[12:]) == WAITING_FROM_13


def test_a_wide_screen_has_the_dealers_prompts() -> None:
    shown = picture(QUIET, 120, 40).split("\n")
    assert shown[9].endswith("17/17   -61.00       SEAT 4 PAY 175.00 / TWO PAIR / PAID")
    assert len(shown) == 40


def test_meters_that_nobody_told_us_lately_are_stale() -> None:
    shown = picture(replace(QUIET, stale_s=8)).split("\n")
    assert shown[2] == "  mbs3   grand     $    25,001.20   generation 1    STALE 8 s"
    assert shown[5].endswith("generation 1    STALE 8 s  must hit by 22.00")


def test_a_table_that_does_not_answer_and_a_server_that_does_not() -> None:
    gone = replace(QUIET, server="", tables=(replace(QUIET.tables[0], phase=""),))
    shown = picture(gone).split("\n")
    assert shown[0].endswith("link server: no answer  00:59")
    assert shown[8] == "  mbs3  Let It Ride        does not answer"


def test_before_the_first_meter() -> None:
    assert picture(replace(QUIET, meters=())).split("\n")[2] == "  no meter heard of yet"


@pytest.mark.parametrize("floor", [QUIET, WAITING], ids=["quiet", "waiting"])
def test_it_never_leaves_the_screen_and_always_says_how_to_end_it(floor: FloorView) -> None:
    """Below 40 x 10 nobody could read it; there the terminal may cut it."""
    for columns, rows in product((10, 40, 79, 80, 81, 109, 110, 200), range(1, 60)):
        shown = lines(floor, columns, rows, colour=False)
        assert len(shown) == max(rows, 10), (columns, rows)
        assert max(map(len, shown)) <= max(columns, 40), (columns, rows)
        assert rows < 18 or shown[-1].startswith("Ctrl-C stops the demo"), (columns, rows)


def test_colour_adds_nothing_but_colour() -> None:
    painted = lines(WAITING, 80, 24, colour=True)
    assert "\x1b[1;33m" in "".join(painted)
    bare = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted]
    assert bare == lines(WAITING, 80, 24, colour=False)


def test_the_newest_happenings_stay_when_there_is_no_room_for_all() -> None:
    many = replace(QUIET, notes=QUIET.notes * 9)
    assert picture(many).split("\n")[13:20] == [
        f"  {note.at}  {note.where:6} {note.text}" for note in many.notes[-7:]
    ]
