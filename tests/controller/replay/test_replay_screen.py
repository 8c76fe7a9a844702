"""The replay on 80x24: every moment fits, jumps arrive, keys do what stands below."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from controller.replay.compare import compare
from controller.replay.felt import FACE_DOWN, Felt, OnSpot, SeatRow
from controller.replay.jump import NoMoment, find_text, to_moment
from controller.replay.player import Player
from controller.replay.screen import (
    COLUMNS,
    ROWS,
    compare_page,
    felt_page,
    moment_page,
    screen,
    seat_text,
)
from controller.replay.timeline import Timeline, build
from controller.replay.words import Sentence
from controller.rules.cards import cards
from hw_sim.scenario import find
from tests.controller.history.desk import GAMES
from tests.replays.desks import desk_rounds
from tests.replays.playing import scenario_rounds

DECISION = """\
T-7  MBS3  ROUND 1  settled                       22:13:32.611  record 80  22/40
-- first decision, +9.4 s from the opening -------------------------------------
Seat 2 takes it back: wager 1  [MBS3-3.8]
  declared by D1, dealer; checked: state 2bbc3d44d5ea5862
  -> 25.00 goes back to seat 2: wager 1 [MBS3-3.8]
  -> prompt: Seat 5: take back 1, or let it ride?
-- displays from then on (* changed) -------------------------------------------
+--------------------+ * 2*live      ?? ?? ??  1:25 back 2:25 $:25 P:1
|DECISION 1       R 1|   5*your turn ?? ?? ??  1:10 2:10 $:10 P:1
|SEAT 5  1      10.00|
|1: BACK OR RIDE?    |
|RIDE BACK           |
+--------------------+
meter $123.456.78   sign $123,456.78   beacon off   buzzer off








a note
SPACE next  LEFT back  p play  j jump  / find  s settle  f frames  a all  q quit"""


@cache
def plain() -> Timeline:
    return build(scenario_rounds(find("mbs3-plain")).records, 1)


def no_question(_: str) -> str:
    raise AssertionError("nothing was to be asked")


def test_the_screen_of_a_decision() -> None:
    place = to_moment(plain().moments, "the decision of seat 2", 0)
    assert "\n".join(screen(plain(), place, "T-7", "a note")) == DECISION


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_every_moment_of_every_game_fits_a_plain_terminal(game: str, device: str) -> None:
    made = desk_rounds(game, device, 11, 2)
    for number in made.witness.results:
        timeline = build(made.records, number)
        for place, moment in enumerate(timeline.moments):
            lines = screen(timeline, place, made.name, "")
            assert len(lines) == ROWS
            assert max(map(len, lines)) <= COLUMNS
            assert "\n".join(lines).isascii()
            assert max(map(len, moment_page(timeline, moment))) <= COLUMNS
        assert max(map(len, compare_page(compare(timeline)))) <= COLUMNS


# --- jumping --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("22:13:32", "Cards are handled: all seats"),
        ("22:13:32.611", "Seat 2 takes it back: wager 1"),
        ("22:13:34", "Seat 5 lets it ride: wager 1"),
        ("22:13", "The link reports the meter: 123,456.78"),
        ("#80", "Seat 2 takes it back: wager 1"),
        ("82", "Seat 2 takes it back: wager 1"),
        ("decision of seat 5", "Seat 5 lets it ride: wager 1"),
        ("cards", "Card to seat 2: 5h"),
        ("settlement", "Community card 2 is turned"),
        ("settlement seat 2", "Seat 2: the hand is opened"),
        ("lock", "No more bets: the closing call"),
        ("end", "The round is ended"),
        ("seat 5", "Seat 5: 10.00 is on wager 2"),
        ("jackpot", "The link server locks the jackpot at 123,456.78"),
    ],
)
def test_a_jump_arrives(text: str, what: str) -> None:
    assert plain().moments[to_moment(plain().moments, text, 0, -1)].what == what


def test_a_time_is_that_of_the_table() -> None:
    moments = plain().moments
    assert to_moment(moments, "23:13:32.611", 60) == to_moment(moments, "22:13:32.611", 0)
    assert to_moment(moments, "00:13:33", 120) == to_moment(moments, "22:13:33", 0)


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "25:00", "12:60", "seat 7", "decision of seat 3", "#1"]
)
def test_a_jump_to_nowhere_says_where_one_can_go(text: str) -> None:
    with pytest.raises(NoMoment, match="E-RPY-003"):
        to_moment(plain().moments, text, 0)


def test_find_goes_on_and_around() -> None:
    moments = plain().moments
    first = find_text(moments, "COMMUNITY CARD", 0)
    assert first is not None
    second = find_text(moments, "community card", first)
    assert second is not None
    assert second > first
    assert find_text(moments, "no such words", 0) is None


# --- keys -----------------------------------------------------------------------------------------


def test_keys_step_forward_and_back_and_stop_at_the_ends() -> None:
    player = Player(plain(), "T-7")
    player.press("left", no_question)
    assert "this is the first moment" in player.lines()
    player.press(" ", no_question)
    player.press("right", no_question)
    player.press("left", no_question)
    assert player.place == 1
    player.press("G", no_question)
    player.press(" ", no_question)
    assert "this is the last moment" in player.lines()
    player.press("g", no_question)
    assert player.place == 0
    player.press("x", no_question)
    assert "no such key; the keys are listed below" in player.lines()
    player.press("q", no_question)
    assert player.ended


def test_the_settlement_is_compared_and_space_goes_back() -> None:
    player = Player(plain(), "T-7")
    player.press("s", no_question)
    assert player.lines()[0] == "EQUAL: table, replay and settle agree to the cent"
    assert any("10% of the jackpot" in line and "12,346.67" in line for line in player.lines())
    assert len(player.lines()) == ROWS
    player.press(" ", no_question)
    assert "ROUND 1" in player.lines()[0]


def test_jump_and_find_ask_and_say_when_there_is_nothing() -> None:
    player = Player(plain(), "T-7")
    player.press("j", lambda _: "decision of seat 5")
    assert plain().moments[player.place].what == "Seat 5 lets it ride: wager 1"
    player.press("j", lambda _: "nowhere")
    assert "'nowhere' names no moment" in player.lines()[0]
    player.press(" ", no_question)
    player.press("/", lambda _: "straight flush")
    assert "straight flush" in "\n".join(player.lines())
    before = player.place
    player.press("n", no_question)
    assert player.place != before
    player.press("/", lambda _: "zebra")
    assert "'zebra' not found in this round" in player.lines()


def test_it_plays_by_itself_in_the_time_it_took_and_any_key_stops_it() -> None:
    player = Player(plain(), "T-7", place=to_moment(plain().moments, "#80", 0))
    pauses = [player.pause_ms]
    player.press("p", no_question)
    pauses.append(player.pause_ms)
    player.tick()
    pauses.append(player.pause_ms)
    player.press("q", no_question)
    pauses.append(player.pause_ms)
    assert pauses == [None, 12_909 - 12_611, 2_000, None], "nobody waits longer than 2 s"
    assert not player.ended


def test_a_settlement_that_is_not_what_settle_says_is_told() -> None:
    timeline = build(scenario_rounds(find("pp6-plain")).records, 1)
    assert timeline.archive is not None
    timeline.archive.result["seats"][0]["wagers"]["$"]["to_player"] += 100
    found = compare(timeline)
    assert found.verdict.startswith("DIFFERENT")
    assert any("$ to_player" in one and "settle" in one for one in found.differences)


def test_what_does_not_fit_is_marked_and_told_whole_on_its_own_page() -> None:
    moment = replace(plain().moments[0], what="word " * 60 + "end", trouble="")
    timeline = replace(plain(), moments=[moment])
    lines = screen(timeline, 0, "T-7")
    assert lines[3].endswith(" ...: a")
    assert max(map(len, lines)) <= COLUMNS
    whole = moment_page(timeline, moment)
    assert max(map(len, whole)) <= COLUMNS
    assert " ".join("\n".join(whole).split()).count("word") == 60
    assert any(line.endswith("end") for line in whole)


def test_a_prompt_that_changed_again_before_the_next_moment_says_how_often() -> None:
    moments = plain().moments
    for place, moment in enumerate(moments):
        times = sum(shown.device == "prompt" for shown in moment.shown)
        found = [line for line in screen(plain(), place, "T-7") if line.startswith("-- displays")]
        assert len(found) == 1
        assert (f"; the prompt's last of {times}: a " in found[0]) == (times > 1)
    assert any(sum(s.device == "prompt" for s in m.shown) > 1 for m in moments)


def test_a_row_of_a_seat_is_never_cut_in_silence() -> None:
    wagers = (OnSpot("1", 50_000, "rides"), OnSpot("2", 50_000, "rides"), OnSpot("$", 50_000),
              OnSpot("pair_plus", 2_500), OnSpot("six_card", 2_500))  # fmt: skip
    row = SeatRow(7, wagers, cards("Td 4s Kh"), "settled")
    assert seat_text(row, 59) == "Td 4s Kh 1:500 rides 2:500 rides $:500 PP:25 SC:25 settled"
    assert seat_text(row, 43) == "Td 4s Kh 1:500 rides 2:500 rides $:500 PP.."
    moment = replace(plain().moments[0], felt=Felt((row,)))
    timeline = replace(plain(), moments=[moment])
    assert any(line.endswith(" $:500 PP..") for line in screen(timeline, 0, "T-7"))
    assert felt_page(moment) == [
        "",
        "  seat 7: Td 4s Kh  1 500.00 rides 2 500.00 rides $ 500.00 pair_plus 25.00",
        "      six_card 25.00  settled",
    ]


def test_displays_are_not_pushed_off_the_screen() -> None:
    """However much followed and whatever is wrong: the last line of the displays is there."""
    seats = tuple(SeatRow(n, (OnSpot("$", 500),), (FACE_DOWN,) * 3) for n in range(8))
    at = next(m for m in plain().moments if "decision" in m.marks)
    moment = replace(
        at, felt=Felt(seats), trouble="word " * 40, followed=(Sentence("so it is"),) * 30
    )
    lines = screen(replace(plain(), moments=[moment]), 0, "T-7")
    assert any(line.startswith("meter ") for line in lines)
    assert any(line.endswith("more lines: a") for line in lines)
