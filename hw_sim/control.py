"""What the HTTP API does with a running table (docs/protocols/simulator.md, section 4).

No request can end the simulator. A request that makes no sense is refused with what is expected. A
step is answered when it has come true, or with the reason why it has not. A bug is an answer too.
"""

from __future__ import annotations

import asyncio
import re
import traceback
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from hw_sim.fault_menu import described
from hw_sim.faults import FaultError
from hw_sim.following import LONGEST_WAIT_MS, Following
from hw_sim.http import Answer, Body
from hw_sim.people.bots import Bots, BotsError
from hw_sim.people.checks import wrong
from hw_sim.people.dealer import Dealer, Plans
from hw_sim.people.director import Director
from hw_sim.scenario import Scenario, ScenarioError, Step, parse_step
from hw_sim.shell import SimShell

OK, BAD, UNKNOWN, NOT_TRUE, BUSY, OURS = 200, 400, 404, 409, 429, 500
LOOK_S: Final = 0.02
LET_GO_S: Final = 0.1
"""A bot that steps back takes its hands off the table meanwhile."""
LONGEST: Final = 500
"""Characters of a sentence."""
AT_ONCE: Final = 8
"""Steps by hand under way at the same time: a dealer and seven players."""
NOT_BY_HAND: Final = ("link", "magic", "lucky")
"""Played by the scenario's runner; a request cannot."""
KNOWN: Final = "GET /state, GET /changes, GET /counts, GET /verbs, POST /fault, POST /do"
ASKED: Final = {"feed": r"[0-9a-f]{0,32}", "after": r"[0-9]{1,15}", "wait_ms": r"[0-9]{1,6}"}
"""What may be asked of /changes, each at most once."""


class Control:
    def __init__(self, shell: SimShell, bots: Bots | None = None, pace: int = 1) -> None:
        self.shell = shell
        self.bots = bots or Bots(shell.table.layout.seats, on=False)
        self.following = Following(shell.table, self.bots, cable=shell.cable)
        self._pace = pace
        self._dealer = Dealer(shell.table, Plans(), pace)
        """The same people for all steps by hand."""
        self._under_way = 0

    async def answer(self, method: str, path: str, body: Body) -> Answer:
        try:
            return await self._answer(method, path, body)
        except BotsError as error:
            return NOT_TRUE, {"error": str(error)}
        except (FaultError, ScenarioError, ValueError) as error:
            return BAD, {"error": str(error)}
        except Exception as error:  # a bug of ours: report it and keep the table running
            traceback.print_exc()
            return OURS, {"error": f"bug in the simulator: {type(error).__name__}: {error}"}

    async def _answer(self, method: str, path: str, body: Body) -> Answer:
        asked = urlsplit(path)
        if (method, asked.path) == ("GET", "/changes"):
            return OK, await self.following.changes(*_asked(asked.query))
        match method, path:
            case "GET", "/state":
                return OK, self.shell.table.look()
            case "GET", "/counts":
                return OK, self.shell.table.counts()
            case "GET", "/verbs":
                linked = self.shell.cable is not None
                verbs = [one for one in described() if linked or one["verb"] != "link"]
                return OK, {"verbs": verbs}
            case "POST", "/fault":
                self.shell.faults.do(_sentence(body))
                return OK, {"ok": True}
            case "POST", "/do":
                return await self._say(_sentence(body))
            case _:
                return UNKNOWN, {"error": f"{method} {path[:80]}: expected {KNOWN}"}

    async def _say(self, sentence: str) -> Answer:
        """A step, or a word to the bots."""
        how, _, who = " ".join(sentence.split()).partition(" ")
        if how == "pause":
            self.bots.pause(who)
        elif how == "resume":
            self.bots.resume(who)
        else:
            return await self._do(self._step(sentence))
        return OK, {"ok": True}

    def _step(self, sentence: str) -> Step:
        step = parse_step(1, " ".join(sentence.split()))
        if step is None:
            raise ScenarioError(f"{sentence!r}: expected a step of docs/protocols/scenarios.md")
        if step.verb in NOT_BY_HAND:
            raise ScenarioError(f"{sentence!r}: played by the link of a scenario, never by hand")
        if why := wrong(step, self.shell.table):
            raise ScenarioError(f"{sentence!r}: {why}")
        return step

    async def _do(self, step: Step) -> Answer:
        """Back when the step has come true, or when it is clear that it will not."""
        if self._under_way >= AT_ONCE:
            return BUSY, {"error": f"{AT_ONCE} steps are under way; wait for one to end"}
        game = self.shell.table.layout.name.partition("-")[0].upper()
        one = Scenario("by hand", game, "", "", (step,), ())
        director = Director(one, self.shell.faults, pace=self._pace, dealer=self._dealer)
        self._under_way += 1
        try:
            if self.bots.step_back(step):
                await asyncio.sleep(LET_GO_S)
            director.start()
            while not (director.ending.done or director.ending.failed):
                await asyncio.sleep(LOOK_S)
        finally:
            self._under_way -= 1
        why = director.ending.failed or "; ".join(director.ending.notes)
        return (NOT_TRUE, {"error": why}) if why else (OK, {"ok": True})


def _asked(query: str) -> tuple[str, int, int]:
    """Feed, number and how long to wait."""
    pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    given = dict(pairs)
    for name, value in pairs:
        if name not in ASKED or len(given) != len(pairs):
            raise ScenarioError(f"{name[:20]!r}: expected {', '.join(ASKED)}, each once")
        if not re.fullmatch(ASKED[name], value, re.ASCII):
            raise ScenarioError(f"{name}={value[:40]!r}: expected {ASKED[name]}")
    wait_ms = int(given.get("wait_ms", 0))
    if wait_ms > LONGEST_WAIT_MS:
        raise ScenarioError(f"wait_ms={wait_ms}: at most {LONGEST_WAIT_MS}")
    return given.get("feed", ""), int(given.get("after", 0)), wait_ms


def _sentence(body: Body) -> str:
    found = body.get("do")
    if not isinstance(found, str) or len(body) != 1 or len(found) > LONGEST:
        raise ScenarioError(f'expected {{"do": "a sentence of at most {LONGEST} characters"}}')
    return found
