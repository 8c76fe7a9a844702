"""The table as a page follows it: numbered parts, a wait for the next change, bots that pause."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_sim.control import Control
from hw_sim.devices.ht16k33 import Ht16k33
from hw_sim.fault_menu import GROUPS, described
from hw_sim.faults import VERBS
from hw_sim.following import Following, parts_of
from hw_sim.http import Answer
from hw_sim.layout import load
from hw_sim.people.bots import Bots, BotsError
from hw_sim.people.random_play import random_rounds
from hw_sim.scenario import HERE, parse_step
from hw_sim.shell import SimShell
from hw_sim.table import SimTable

FULL = load(HERE / "tables" / "full.toml")


def table() -> SimTable:
    return SimTable(FULL, 1)


def followed(made: SimTable, feed: str = "", after: int = 0, wait_ms: int = 0) -> Following:
    one = Following(made, Bots(7, on=True), "ab12")
    asyncio.run(one.changes(feed, after, wait_ms))
    return one


def asked(control: Control, path: str) -> Answer:
    return asyncio.run(control.answer("GET", path, {}))


def said(control: Control, sentence: str) -> Answer:
    return asyncio.run(control.answer("POST", "/do", {"do": sentence}))


def control(tmp_path: Path, *, on: bool = True) -> Control:
    made = table()
    return Control(SimShell(made, tmp_path, ""), Bots(7, on=on))


def test_the_first_answer_has_every_part_and_the_next_only_what_changed() -> None:
    made = table()
    one = followed(made)
    first = asyncio.run(one.changes("", 0, 0))
    assert first["reloaded"] is True
    assert {"displays", "chips", "lamps", "people", "beacon", "buzzer"} <= set(first["parts"])  # type: ignore[call-overload]

    made.felt.place(3, "$", made.felt.rack.pay(3_000))
    then = asyncio.run(one.changes("ab12", one.n, 0))
    assert then == {
        "feed": "ab12", "n": 2, "reloaded": False, "at_ms": 0, "log": [],
        "parts": {"chips": (2, {"3/$": [2_500, 500]})},
    }  # fmt: skip


def test_a_reader_waits_for_the_next_change() -> None:
    made = table()

    async def follow() -> dict[str, object]:
        one = Following(made, Bots(7, on=True), "ab12")
        await one.changes("", 0, 0)
        waiting = asyncio.create_task(one.changes("ab12", one.n, 10_000))
        await asyncio.sleep(0)
        assert not waiting.done()
        made.keyboard.down("OPEN")
        made.drive_pin("door", True)
        return await waiting

    assert list(asyncio.run(follow())["parts"]) == ["pins"]  # type: ignore[call-overload]


def test_a_reader_of_another_feed_gets_everything_and_is_not_kept_waiting() -> None:
    one = followed(table())
    for feed, after in (("cd34", one.n), ("ab12", one.n + 1)):
        reply = asyncio.run(one.changes(feed, after, 10_000))
        assert reply["reloaded"] is True
        assert "chips" in reply["parts"]  # type: ignore[operator]


def test_the_display_boards_are_told_as_the_bytes_of_their_memory() -> None:
    made = table()
    board = made.boards["meter-1"]
    assert isinstance(board, Ht16k33)
    board.write(b"\x21")
    board.write(b"\x81")
    board.write(bytes(17))
    board.write(b"\x02\x3f\x40")
    shown = parts_of(made)["displays"]
    assert isinstance(shown, dict)
    assert shown["meter"][0] == "00003f40" + 12 * "00"
    assert shown["boards"]["meter-1"] == {"on": True, "blink": 0, "brightness": 15}
    board.dark = True
    assert parts_of(made)["displays"]["boards"]["meter-1"]["on"] is False  # type: ignore[index]


@given(st.lists(st.tuples(st.integers(1, 7), st.booleans(), st.booleans()), max_size=30))
def test_following_with_breaks_ends_with_what_the_table_has(
    moves: list[tuple[int, bool, bool]],
) -> None:
    """Chips come and go; a reader asks now and then, and sometimes forgets everything."""
    made = table()
    one = Following(made, Bots(7, on=True), "ab12")
    have: dict[str, object] = {}
    feed, after = "", 0
    for seat, put, forget in [*moves, (1, True, False)]:
        if put:
            made.felt.place(seat, "1", made.felt.rack.pay(500))
        else:
            made.felt.rack.put(made.felt.take(seat, "1"))
        if forget:
            feed, after, have = "", 0, {}
        reply = asyncio.run(one.changes(feed, after, 0))
        parts = reply["parts"]
        assert isinstance(parts, dict)
        have.update({name: value for name, (_, value) in parts.items()})
        feed, after = str(reply["feed"]), int(str(reply["n"]))
    assert have == {**parts_of(made), "people": Bots(7, on=True).look()}


def test_what_may_be_asked_of_changes_is_checked(tmp_path: Path) -> None:
    made = control(tmp_path)
    assert asked(made, "/changes")[0] == 200
    assert asked(made, "/changes?feed=&after=0&wait_ms=0")[0] == 200
    for wrong in (
        "after=-1", "after=x", "feed=ZZ", "wait_ms=10001", "more=1", "after=1&after=2", "after",
        "after=" + "9" * 16,
    ):  # fmt: skip
        status, body = asked(made, f"/changes?{wrong}")
        assert status == 400, wrong
        assert body["error"]


def test_a_bot_pauses_and_plays_again(tmp_path: Path) -> None:
    made = control(tmp_path)
    assert said(made, "pause seat 3")[0] == 200
    assert said(made, "pause dealer")[0] == 200
    look = made.bots.look()
    assert look["dealer"] == "paused"
    assert look["seats"] == {**dict.fromkeys("124567", "bot"), "3": "paused"}
    assert made.bots.seats() == [1, 2, 4, 5, 6, 7]
    assert not made.bots.can_begin
    assert said(made, "resume dealer")[0] == 200
    assert made.bots.can_begin


@pytest.mark.parametrize("who", ["seat 8", "seat", "nobody", ""])
def test_only_people_of_this_table_can_be_paused(tmp_path: Path, who: str) -> None:
    status, body = said(control(tmp_path), f"pause {who}")
    assert status == 409
    assert "expected dealer, seat 1" in str(body["error"])


@pytest.mark.parametrize(
    ("sentence", "paused"),
    [
        ("press OPEN", ["dealer"]),
        ("seat 3 bets 5.00 on 1", ["3"]),
        ("key on", []),
        ("wait 1", []),
    ],
)
def test_a_bot_steps_back_when_a_visitor_does_its_work(sentence: str, paused: list[str]) -> None:
    bots = Bots(7, on=True)
    step = parse_step(1, sentence)
    assert step is not None
    assert bots.step_back(step) is bool(paused)
    assert bots.step_back(step) is False
    look = bots.look()
    seats = {"dealer": look["dealer"], **dict(look["seats"])}  # type: ignore[call-overload]
    assert [who for who, how in seats.items() if how == "paused"] == paused
    assert Bots(7, on=False).step_back(step) is False


def test_bots_can_begin_paused() -> None:
    bots = Bots(2, on=True, paused=True)
    begin = [bots.can_begin]
    for who in ("dealer", "seat 2"):
        bots.resume(who)
        begin.append(bots.can_begin)
    assert begin == [False, False, True]
    assert bots.look() == {"dealer": "bot", "seats": {"1": "paused", "2": "bot"}}


def test_without_random_play_nobody_can_be_paused(tmp_path: Path) -> None:
    made = control(tmp_path, on=False)
    assert said(made, "pause dealer")[0] == 409
    assert made.bots.look()["dealer"] == "none"
    with pytest.raises(BotsError, match="no random play"):
        made.bots.pause("dealer")


def test_a_paused_seat_is_left_out_of_the_rounds_that_follow() -> None:
    bots = Bots(7, on=True)
    rounds = random_rounds("MBS3", FULL, 1, 0, players=7, faults=False, free=bots.seats)

    def seats() -> set[str]:
        steps = [next(rounds) for _ in range(20)]
        return {step.words[0] for one in steps for step in one if step.verb == "bets"}

    assert seats() == set("1234567")
    for seat in range(2, 8):
        bots.pause(f"seat {seat}")
    assert seats() == {"1"}


def test_every_fault_verb_has_its_place_in_the_menu() -> None:
    named = [verb for verbs in GROUPS.values() for verb in verbs]
    assert sorted(named) == sorted(VERBS)
    assert {"verb": "unplug", "group": "Cables", "title": "Pull a plug", "arguments": ["line"]} in (
        described()
    )


def test_cards_lie_face_up_when_the_prompt_asked_and_the_dealer_turned_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = table()
    made.felt.hands = {0: [0x11, 0x22], 3: [0x01, 0x3D, 0x2A]}
    prompt = ["SETTLEMENT", "SEAT 3", "", "PAID"]
    monkeypatch.setattr(made, "prompt", lambda: prompt)
    hidden = {"0": ["??"] * 2, "3": ["??"] * 3}
    made.keyboard.press("SHOW")  # nobody asked: it turns nothing
    made.keyboard.press("COMM2")
    assert parts_of(made)["cards"] == hidden
    prompt[3] = "COMM1"
    made.keyboard.press("COMM1")  # which of the two is turned is a setting of the table
    assert parts_of(made)["cards"] == hidden
    prompt[3] = "COMM2"
    made.keyboard.press("COMM2")
    assert parts_of(made)["cards"] == {"0": ["Ad", "2h"], "3": ["??"] * 3}
    prompt[3] = "SHOW"
    made.keyboard.press("SHOW")
    assert parts_of(made)["cards"] == {"0": ["Ad", "2h"], "3": ["Ac", "Ks", "Th"]}
    assert made.look()["cards"] == parts_of(made)["cards"]
    made.felt.clear_cards()
    made.felt.hands = {3: [0x01]}
    assert parts_of(made)["cards"] == {"3": ["??"]}


def test_three_cards_of_the_dealer_stay_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table()
    made.felt.hands = {0: [0x11, 0x22, 0x33]}
    monkeypatch.setattr(made, "prompt", lambda: ["", "", "", "COMM2"])
    made.keyboard.press("COMM2")
    assert parts_of(made)["cards"] == {"0": ["??"] * 3}
