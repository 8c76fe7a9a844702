"""The verbs that look, on a table in virtual time: literal answers in known moments of a round."""

from __future__ import annotations

import tomllib
from datetime import datetime
from pathlib import Path

import pytest

import controller.table
from controller.rules.books import BOOKS
from controller.rules.engine.state import Phase
from controller.shell.answers import Clocks
from controller.shell.desk.decoding import MASK
from controller.shell.render.device import watched
from controller.shell.render.render import RENDERS, rendered
from controller.shell.verbs import VERBS
from controller.table.asks import Ask
from controller.table.why import REASONS, clause, sentence
from tests.controller.shell.inside import Inside, answered, inside


@pytest.fixture(scope="module")
def deciding() -> Inside:
    return inside("mbs3-plain", Phase.DECISION_1)


@pytest.fixture(scope="module")
def ended() -> Inside:
    return inside("mbs3-plain", None)


def test_why_is_one_sentence_with_the_clause(deciding: Inside) -> None:
    data = answered(deciding, 1, "why")["data"]
    assert data["sentence"] == "Seat 2 has not decided about wager 1."
    assert data["clause"] == "MBS3-3.8"
    assert data["keys"][:2] == ["RIDE", "BACK"]
    assert rendered("why", data, 80) == [
        "Seat 2 has not decided about wager 1 (MBS3-3.8).",
        f"keys: {' '.join(data['keys'])}",
    ]
    # WAIT stands on the prompt where a key would; there is no such key.
    assert len(rendered("why", {**data, "keys": ["WAIT"]}, 80)) == 1


def test_every_question_of_the_prompt_has_its_sentence() -> None:
    page = Path(controller.table.__file__).parent / "texts" / "en.toml"
    assert set(REASONS) == set(tomllib.loads(page.read_text("utf-8"))["ask"])
    for code in REASONS:
        ask = Ask(code, (), 3, spot="2", detail="red", about=4)
        told = sentence(ask)
        assert told[0].isupper()
        assert "None" not in told
        assert "{" not in told


@pytest.mark.parametrize("game", BOOKS)
def test_every_clause_is_one_of_the_book(game: str) -> None:
    state = inside(f"{game.lower()}-plain" if game != "NSW" else "nsw-shoe-plain", Phase.BETTING)
    known = Path(__file__).parents[3] / "docs" / "rules" / "clauses.csv"
    ids = {line.split(",")[0].strip('"') for line in known.read_text("utf-8").splitlines()}
    for code in REASONS:
        found = clause(Ask(code, ()), state.table.writer.core.state)
        assert found == "" or found in ids, code


def test_chips_by_uid_and_value(deciding: Inside, ended: Inside) -> None:
    data = answered(deciding, 1, "chips", "2")["data"]
    spots = {one["spot"]: one for one in data["spots"]}
    assert set(spots) == {"1", "2", "$"}
    assert (spots["1"]["cents"], spots["1"]["locked_cents"]) == (2500, 2500)
    assert [chip["cents"] for chip in spots["1"]["chips"]] == [2500]
    assert spots["1"]["chips"][0]["uid"].startswith("E00401")
    assert (data["credits"], spots["1"]["state"]) == (1, "settled")
    assert answered(deciding, 1, "chips", "8")["error"] == "E-SHL-006"
    over = answered(ended, 1, "chips", "2")["data"]
    assert {spot["locked_cents"] for spot in over["spots"]} == {None}, "the round is over"
    assert over["credits"] == 0, "the credit was that of the round before"
    assert rendered("chips", over, 80)[0] == "seat 2, between rounds"


def test_card_frames_are_masked_until_their_cards_are_open(deciding: Inside, ended: Inside) -> None:
    hidden = answered(deciding, 1, "device", "shoe")["data"]
    cards = [one for one in hidden["frames"] if one["text"].startswith("CARD")]
    assert len(cards) == 8
    assert all(one["masked"] and one["text"].endswith("not public") for one in cards)
    for one in cards:
        assert one["hex"][:8] == "01102001"
        assert one["hex"][12:] == MASK * 8
    opened = answered(ended, 1, "device", "shoe")["data"]["frames"]
    named = [one["text"] for one in opened if one["text"].startswith("CARD")]
    assert named[0] == "CARD draw 1: 5h"
    assert {text.split()[-1] for text in named} == {"5h", "6h", "8h", "Kc", "Kd", "2s", "7h", "9h"}


def test_a_device_tells_who_it_is_and_what_it_said(deciding: Inside) -> None:
    shoe = answered(deciding, 1, "device", "shoe")["data"]
    assert (shoe["kind"], shoe["identity"]["vendor"]) == ("cdp-shoe", "UFELT")
    reader = answered(deciding, 1, "device", "chips-1")["data"]
    assert any(one["text"].startswith("HOST OK: ") for one in reader["frames"])
    sign = answered(deciding, 1, "device", "sign")["data"]
    assert any("JACKPOT" in one["text"] for one in sign["frames"])
    prompt = answered(deciding, 1, "device", "prompt")["data"]
    assert (prompt["frames"], prompt["heard_us"]) == ([], None)
    assert "heard        7.5 s ago" in rendered("device", {**shoe, "heard_us": 7_500_000}, 80)


def test_nothing_of_a_reason_or_a_value_is_cut_off() -> None:
    why = "E-BUS-001: no outcome for keys-1, and nothing else on this bus either"
    row = {"device": "keys-1", "kind": "i2c", "state": "unknown", "code": "E-EXP-006"}
    data = {"devices": [{**row, "detail": why, "counters": {}}]}
    lines = rendered("devices", data, 80)
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines[1:]).split()).endswith(f"E-EXP-006 {why}")


def test_watch_goes_on_behind_its_cursor_and_hides_digits(deciding: Inside) -> None:
    first = answered(deciding, 1, "watch")["data"]
    assert first["readings"] == []
    again = answered(deciding, 1, "watch", cursor=0)["data"]
    assert again["cursor"] == first["cursor"]
    kinds = {row["reading"] for row in again["readings"]}
    assert {"CardRead", "SpotSettled", "KeyPressed", "StateReported"} <= kinds
    keys = {row["key"] for row in again["readings"] if row["reading"] == "KeyPressed"}
    assert not any(key.isdecimal() for key in keys)
    drawn = [row for row in again["readings"] if row["reading"] == "CardRead"]
    assert all(set(row) == {"device", "reading", "at_us", "draw_no"} for row in drawn)
    now = Clocks(us=61_000_000, wall_ms=1_000_061_000)
    row = {"device": "shoe", "reading": "CardRead", "at_us": 500_000, "draw_no": 1}
    at = datetime.fromtimestamp(1_000_000)
    assert watched(row, now).startswith(f"{at:%H:%M:%S}.500 shoe       CardRead"), "a clock's time"
    clock = deciding.table.table.clock
    assert again["now"] == {"us": clock.now_us(), "wall_ms": clock.wall_ms()}
    shoe = answered(deciding, 1, "watch", "shoe", cursor=0)["data"]["readings"]
    assert {row["device"] for row in shoe} == {"shoe"}


def test_a_round_from_the_table_and_from_the_journal(ended: Inside, deciding: Inside) -> None:
    data = answered(ended, 1, "round")["data"]
    lines = rendered("round", data, 80)
    assert lines[0] == "round 1, MBS3: settled"
    assert "seat 2: 5h 6h 8h  straight flush  net 22,345.67" in lines
    assert lines[-1] == "house net -22,674.67"
    assert answered(deciding, 1, "round")["error"] == "E-SHL-011"
    assert answered(ended, 1, "round", "900")["data"]["result"]["round_status"] == "void"
    missing = answered(ended, 1, "round", "901")
    assert (missing["error"], missing["text"]) == (
        "E-SHL-011", "there is no round 901 yet; the last one is 1",
    )  # fmt: skip
    under_way = answered(deciding, 1, "round", "1")
    assert (under_way["error"], under_way["text"]) == (
        "E-SHL-014", "round 1 is not over: first decision",
    )  # fmt: skip


def test_help_for_a_verb_of_two_words_and_for_all_that_begin_with_one(ended: Inside) -> None:
    one = answered(ended, 1, "help", "antenna", "test")["data"]
    assert rendered("help", one, 80)[0] == "usage        antenna test [SEAT]"
    several = answered(ended, 1, "help", "cards")["data"]
    assert [row["verb"] for row in several["verbs"]] == ["cards", "cards pattern"]
    assert len(answered(ended, 1, "help")["data"]["verbs"]) == len(VERBS)


def test_reboot_needs_a_technician_an_idle_table_and_the_word(
    ended: Inside, deciding: Inside
) -> None:
    assert answered(deciding, 2, "reboot", "yes")["error"] == "E-SHL-005"
    assert answered(ended, 1, "reboot", "yes")["error"] == "E-SHL-002"
    assert answered(ended, 2, "reboot")["error"] == "E-SHL-012"
    assert (ended.runtime.stopped, deciding.runtime.stopped) == ([], [])
    assert answered(ended, 2, "reboot", "yes")["ok"]
    assert ended.runtime.stopped == ["shell: tom"]


def test_every_verb_answers_within_eighty_columns(deciding: Inside, ended: Inside) -> None:
    given: dict[str, tuple[str, ...]]
    given = {"device": ("shoe",), "chips": ("2",), "faults": ("E-TBL-003",), "answer": ("no",)}
    given |= {"loopback": ("sign",), "challenge": ("shoe", "0" * 32, "1" * 32)}
    never = ("E-SHL-004", "E-SHL-005", "E-SHL-011", "E-SHL-012")
    for desk in (deciding, ended):
        for name in VERBS:
            answer = answered(desk, 3, *name.split(), *given.get(name, ()))
            if not answer.get("ok"):
                assert answer["error"] in never, name
                continue
            if name == "bundle":  # the client packs it: tests/controller/bundle/test_bundle_live.py
                assert answer["data"].keys() == {"config"}
                continue
            lines = rendered(name, answer["data"], 80)
            assert lines or name == "watch", name
            assert max(map(len, lines), default=0) <= 80, name
    assert set(RENDERS) <= set(VERBS)
