"""Following a table: what the verb ``changes`` answers at known moments; that nothing is lost,
doubled or told before its public moment; and that waiting keeps nobody else waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from controller.daemon import following as module
from controller.daemon.following import Following
from controller.daemon.inputs import Released
from controller.daemon.service import Peer, Service
from controller.daemon.setup import SystemClock
from controller.faults.status import Parts, Status
from controller.link.session import Head
from controller.replay.felt import FACE_DOWN
from controller.rules.cards import NAMES
from hw_sim.devices.ht16k33 import Ht16k33
from hw_sim.scenario import find, load
from record.kit.feed import Feed, Mirror
from record.kit.lines import line_of
from tests.hidden.table import seen
from tests.sim.table import VirtualTable

BESIDE: Status = {"troubles": [], "link": None}
ME = Peer(0, 1)
WEB = 4009


class Followed:
    """A table in virtual time and two who follow it: one always, one with breaks."""

    def __init__(self, name: str, *, cut_at: int = 0, seed: int = 1) -> None:
        self.table = VirtualTable(load(find(name)), cut_at, on_released=self._released)
        self.always, self.broken = Mirror(), Mirror()
        self.feeds: list[Feed] = []
        self.ends: dict[str, list[str]] = {}
        """By phase the felt as it lay last in it, and what was waited for."""
        self.told: list[dict[str, Any]] = []
        self.again: list[dict[str, Any]] = []
        self._random = Random(seed)

    def _released(self, released: Released) -> None:
        table = self.table
        if table.table.feed not in self.feeds:
            self.feeds.append(table.table.feed)
            self.following = Following(
                table.table.feed, {"table": "t"}, lambda: {**table.writer.status(), **BESIDE},
                table.table.clock,
            )  # fmt: skip
        self.following.released(released)
        self.following.asked()
        self.ask(self.always, self.told)
        if self._random.random() < 0.1:
            self.ask(self.broken, self.again)
        self._look()

    def ask(self, mirror: Mirror, told: list[dict[str, Any]]) -> None:
        changes = self.following.reply(mirror.feed, mirror.n)
        mirror.take(json.loads(json.dumps(changes)))
        told += changes["log"]

    def part(self, name: str) -> Any:
        return self.always.parts[name][1]

    def _look(self) -> None:
        felt, why = self.part("felt"), self.part("why")
        cards = [*felt["board"], *(card for row in felt["rows"] for card in row["cards"])]
        open_now = {NAMES[card] for card in seen(self.table.writer.core.state)}
        assert {*cards, felt["bonus"]} - {FACE_DOWN.value, None} <= open_now
        waits = f"{why['text']} ({why['clause']}) {why['do']}"
        self.ends[self.part("status")["phase"]] = [*short(felt), waits]


def short(felt: Mapping[str, Any]) -> list[str]:
    lines = []
    for row in felt["rows"]:
        wagers = [f"{w['spot']} {w['cents']} {w['decided'] or ''}".strip() for w in row["wagers"]]
        held = " ".join(row["cards"])
        lines.append(f"{row['seat']}: {held} | {', '.join(wagers)} | {row['credits']}")
    pot = "" if felt["pot_cents"] is None else f", pot {felt['pot_cents']}"
    bonus = "" if felt["bonus"] is None else f", bonus {felt['bonus']}"
    return [*lines, f"board {' '.join(felt['board'])}{bonus}{pot}"]


# --- known moments -------------------------------------------------------------------------------

FIRST, SECOND_, DEALING, PAYING = "first decision", "second decision", "dealing", "settlement"
ROUNDS: dict[str, dict[str, list[str]]] = {
    "mbs3-plain": {
        DEALING: [
            "2: ?? ?? ?? | 1 2500, 2 2500, $ 2500, progressive 100 | 1",
            "5: ?? ?? ?? | 1 1000, 2 1000, $ 1000, progressive 100 | 1",
            "board ??",
            "The dealer's next card is due. (MBS3-3.6) deal the next card or packet",
        ],
        SECOND_: [
            "2: ?? ?? ?? | 1 2500 back, 2 2500 rides, $ 2500, progressive 100 | 1",
            "5: ?? ?? ?? | 1 1000 rides, 2 1000 rides, $ 1000, progressive 100 | 1",
            "0: 7h |  | 0",
            "board 7h ??",
            "Community card 2 has not been turned. (MBS3-3.15) press COMM2",
        ],
    },
    "pp6-plain": {
        FIRST: [
            "6: ?? ?? ?? | 1 500 rides, $ 500, pair_plus 100, six_card 200 | 0",
            "board ?? ??, bonus ??",
            "Community card 1 has not been turned. (PP6-M3a) press COMM1",
        ],
        PAYING: [
            "6: 9d 9h Tc | 1 500 rides, $ 500, pair_plus 100, six_card 200 | 0",
            "0: 9s 4c |  | 0",
            "board 9s 4c, bonus 4h",
            "Everything is settled: the dealer has not ended the round. (PP6-M1a) press END",
        ],
    },
    "nsw-shuffler-plain": {
        FIRST: [
            "1: ?? ?? ?? | 1 1000 rides, 2 1000, $ 1000 | 0",
            "3: ?? ?? ?? | 1 1000 back, 2 1000, $ 1000 | 0",
            "board ?? ??",
            "Community card 1 has not been turned. (NSW-8.4) press COMM1",
        ],
        PAYING: [
            "1: Ac Ad 7h | 1 1000 rides, 2 1000 rides, $ 1000 | 0",
            "3: 2c 3d 5s | 1 1000 back, 2 1000 rides, $ 1000 | 0",
            "0: Js 4c |  | 0",
            "board Js 4c",
            "Everything is settled: the dealer has not ended the round. (NSW-1.1-round) press END",
        ],
    },
    "mega-plain": {
        SECOND_: [
            "1: ?? ?? ?? | 1 1000 back, 2 1000 back, $ 1000, progressive 300 | 3",
            "0: 2h |  | 0",
            "board 2h ??",
            "Community card 2 has not been turned. (MEGA-3.15) press COMM2",
        ],
        "between rounds": [
            "board ",
            "The dealer has not opened the bets. (MEGA-3.1) press OPEN",
        ],
    },
    "rico-plain": {
        DEALING: [
            "1: Qc 8d | ante 500, rapid_fire 200 | 0",
            "3: 6h 5s | ante 500 | 0",
            "0: Ah Kd 9c 7s |  | 0",
            "board Ah Kd 9c 7s, pot 500",
            "The dealer's next card is due. (RICO-2) deal the next card or packet",
        ],
        "three cards to a player": [
            "1: Qc 8d Qd 4h | ante 500, rapid_fire 200, play 500 | 0",
            "3: 6h 5s | ante 500 | 0",
            "0: Ah Kd 9c 7s 3d |  | 0",
            "board Ah Kd 9c 7s 3d, pot 1000",
            "The three cards of seat 1 are due. (RICO-2) deal the next card or packet",
        ],
    },
}
"""The last moment of a phase: seat, cards, wagers, credits; the board; what is waited for."""


@pytest.mark.parametrize("name", ROUNDS)
def test_the_felt_and_what_is_waited_for_at_known_moments(name: str) -> None:
    followed = Followed(name)
    followed.table.play()
    assert {phase: followed.ends[phase] for phase in ROUNDS[name]} == ROUNDS[name]


def test_the_parts_and_the_log_of_a_round() -> None:
    followed = Followed("mega-plain")
    followed.table.play()
    assert followed.part("table") == {
        "table": "t", "game": "MEGA", "title": "Megalink Let It Ride (MBS)", "currency": "$",
        "decimals": 2, "seats": [1, 2, 3, 4, 5, 6, 7], "spots": ["1", "2", "$", "progressive"],
        "limits": {"min_cents": None, "max_cents": None}, "credit_cents": 100,
        "card_device": "shoe",
    }  # fmt: skip
    status = followed.part("status")
    assert (status["round"], status["in_round"], status["dealer"]) == (1, False, "D1")
    assert status["devices"] == {"ready": 17, "of": 17, "troubles": []}
    assert followed.part("lamps") == [{"seat": n, "lamp": "off"} for n in range(1, 8)]
    assert followed.part("beacon") is False
    lines = followed.part("displays")["prompt"]["ddram"]
    assert [bytes.fromhex(line).decode() for line in lines] == [
        "READY            R 1", " " * 20, "OPEN THE BETS       ", "OPEN                ",
    ]  # fmt: skip
    told = [(row["text"], row["how"], row["clause"]) for row in followed.told if row["round"]]
    assert told[:2] == [
        ("Bets are opened", "declared by D1, dealer", "MEGA-3.1"),
        ("Seat 1: 10.00 is on wager 1", "measured by chips", ""),
    ]
    assert ("Card to seat 1: ??", "measured by shoe", "MEGA-3.6") in told
    turned = next(row for row in followed.told if row["kind"] == "community turned")
    assert turned["followed"] == [{"text": "community card 1: 2h", "clause": ""}]


def test_what_was_read_back_is_what_the_boards_hold() -> None:
    followed = Followed("mbs3-plain")
    followed.table.play()
    boards = followed.table.bench.sim.boards
    meters = [one for name, one in sorted(boards.items()) if name.startswith("meter-")]
    held = [one.memory.hex() for one in meters if isinstance(one, Ht16k33)]
    assert followed.part("displays")["meter"] == held
    assert len(held) == 3


# --- nothing lost, nothing doubled ---------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_following_with_breaks_and_a_restart_ends_as_asking_all_the_time_does(seed: int) -> None:
    followed = Followed("mbs3-plain", cut_at=120 + 30 * seed, seed=seed)
    followed.table.play()
    assert len(followed.feeds) == 2
    followed.ask(followed.broken, followed.again)
    assert followed.broken.parts == followed.always.parts
    assert followed.broken.since("", 0) == followed.always.since("", 0)
    last = followed.feeds[-1].since("", 0)["log"]
    for told in (followed.told, followed.again):
        started = max(n for n, row in enumerate(told) if row["kind"] == "opened")
        assert told[started:] == last


def test_a_group_in_which_nothing_changes_makes_nothing() -> None:
    followed = Followed("pp6-plain")
    followed.table.play()
    writer, before = followed.table.writer, followed.feeds[0].n
    parts = writer.picture.parts(writer)
    released = writer.work([], followed.table.bench.now_us)
    told: Mapping[str, object] = released.parts
    assert all(told[name] is part for name, part in parts.items())
    followed.following.released(released)
    assert followed.feeds[0].n == before


# --- waiting -------------------------------------------------------------------------------------

STATUS = cast(Status, {
    **dict.fromkeys(
        (
            "phase", "round", "in_round", "stopped", "dealer", "progressive", "link_up",
            "jackpot_cents", "awards", "supply_low", "power_failing", "door_open", "safe_mode",
            "locked", "gaming_day", "prompt", "test_mode",
        ),
        0,
    ),
    "devices": {},
    "troubles": [],
})  # fmt: skip


def ran(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run


class Seventh(SystemClock):
    def wall_ms(self) -> int:
        return 7


def made() -> Following:
    return Following(Feed("ab"), {}, lambda: STATUS, Seventh())


def group(**parts: object) -> Released:
    return Released(
        (), (), None, {}, Head(0, 0, ""), parts=cast(Parts, parts), news=({"text": "so"},)
    )


@ran
async def test_a_request_waits_until_something_changes_and_no_longer() -> None:
    following = made()
    following.released(group(felt=1))
    first = await following.answer({"feed": "", "after": 0, "wait_ms": 9_000}, ME)
    assert (first["reloaded"], first["at_ms"], set(first["parts"])) == (
        True, 7, {"felt", "status"},
    )  # fmt: skip
    request = {"feed": "ab", "after": first["n"], "wait_ms": 9_000}
    waiting = [asyncio.create_task(following.answer(request, ME)) for _ in range(2)]
    await asyncio.sleep(0)
    assert not any(one.done() for one in waiting)
    following.released(group(felt=2))
    for one in waiting:
        assert (await one)["parts"] == {"felt": (first["n"] + 1, 2)}
    later = {"feed": "ab", "after": first["n"] + 2, "wait_ms": 1}
    nothing = await following.answer(later, ME)
    assert (nothing["parts"], nothing["log"], nothing["reloaded"]) == ({}, [], False)


@ran
async def test_no_user_takes_the_places_of_others_and_who_waits_waits_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "trusted_users", lambda: {0, WEB})
    following = made()
    following.asked()
    request = {"feed": "ab", "after": 1, "wait_ms": 9_000}
    waiting: list[asyncio.Task[Mapping[str, Any]]] = []

    async def refused(uid: int) -> list[str]:
        """As many requests as there are places for everybody."""
        asked = [
            asyncio.create_task(following.answer(request, Peer(uid, 20 * uid + number)))
            for number in range(16)
        ]
        await asyncio.sleep(0)
        waiting.extend(one for one in asked if not one.done())
        answers = [one.result() for one in asked if one.done()]
        assert {answer["error"] for answer in answers} == {"E-SVC-003"}
        return [str(answer["text"]) for answer in answers]

    assert await refused(4001) == ["uid 4001 has 2 requests waiting already"] * 14
    assert await refused(4002) == ["uid 4002 has 2 requests waiting already"] * 14
    assert await refused(4003) == ["other users have 4 requests waiting already"] * 16
    assert await refused(0) == ["uid 0 has 4 requests waiting already"] * 12
    assert await refused(WEB) == [f"uid {WEB} has 4 requests waiting already"] * 12
    assert len(waiting) == 12
    assert not any(one.done() for one in waiting)
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert (await following.answer({**request, "wait_ms": 1}, ME))["n"] == 1


@pytest.mark.parametrize(
    "wrong",
    [{}, {"feed": 1, "after": 0}, {"feed": "", "after": -1}, {"feed": "", "after": True},
     {"feed": "", "after": 0, "wait_ms": "2"}, {"feed": "", "after": 1 << 70}],
)  # fmt: skip
@ran
async def test_a_request_that_makes_no_sense_is_refused(wrong: Mapping[str, Any]) -> None:
    assert (await made().answer(wrong, ME))["error"] == "E-SVC-001"


@ran
async def test_a_follower_that_waits_keeps_nobody_waiting(tmp_path: Path) -> None:
    following = made()
    following.asked()
    verbs = {"status": lambda _request: {"phase": "idle"}}
    service = Service(tmp_path / "s.sock", verbs, {"changes": following.answer})
    await service.start()
    follower = await asyncio.open_unix_connection(service.path)
    asks = {"verb": "changes", "feed": "ab", "after": 1, "wait_ms": 9_000}
    follower[1].write(line_of(asks))
    other = await asyncio.open_unix_connection(service.path)
    other[1].write(line_of({"verb": "status"}))
    assert json.loads(await other[0].readline()) == {"phase": "idle"}
    following.released(group(why="x"))
    assert json.loads(await follower[0].readline())["parts"] == {"why": [2, "x"]}
    follower[1].close()
    other[1].close()
    await service.close()
