"""What the HTTP API does with a running table (docs/protocols/simulator.md, section 4).

No request can end the simulator: what makes no sense is refused with what would, a step is answered
when it has come true or with the reason why it has not, and a mistake of ours is an answer too.
"""

from __future__ import annotations

import asyncio
import traceback
from typing import Any, Final

from hw_sim.faults import VERBS, FaultError
from hw_sim.http import Answer
from hw_sim.people.checks import wrong
from hw_sim.people.dealer import Dealer, Plans
from hw_sim.people.director import Director
from hw_sim.scenario import Scenario, ScenarioError, Step, parse_step
from hw_sim.shell import SimShell

OK, BAD, UNKNOWN, NOT_TRUE, BUSY, OURS = 200, 400, 404, 409, 429, 500
LOOK_S: Final = 0.02
LONGEST: Final = 500
"""Characters of a sentence."""
AT_ONCE: Final = 8
"""Steps by hand under way at the same time: a dealer and seven players."""
NOT_BY_HAND: Final = ("link", "magic", "lucky")
"""Played by the scenario's runner; a request cannot."""
KNOWN: Final = "GET /state, GET /counts, GET /verbs, POST /fault, POST /do"


class Control:
    def __init__(self, shell: SimShell) -> None:
        self.shell = shell
        self._dealer = Dealer(shell.table, Plans())
        """The same people for all steps by hand."""
        self._under_way = 0

    async def answer(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        try:
            return await self._answer(method, path, body)
        except (FaultError, ScenarioError, ValueError) as error:
            return BAD, {"error": str(error)}
        except Exception as error:  # our own mistake: told, and the table goes on
            traceback.print_exc()
            return OURS, {"error": f"the simulator's own mistake: {type(error).__name__}: {error}"}

    async def _answer(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        match method, path:
            case "GET", "/state":
                return OK, self.shell.table.look()
            case "GET", "/counts":
                return OK, self.shell.table.counts()
            case "GET", "/verbs":
                return OK, {"verbs": {name: arguments for name, (arguments, _) in VERBS.items()}}
            case "POST", "/fault":
                self.shell.faults.do(_sentence(body))
                return OK, {"ok": True}
            case "POST", "/do":
                return await self._do(self._step(_sentence(body)))
            case _:
                return UNKNOWN, {"error": f"{method} {path[:80]}: expected {KNOWN}"}

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
        director = Director(one, self.shell.faults, dealer=self._dealer)
        director.start()
        self._under_way += 1
        try:
            while not (director.ending.done or director.ending.failed):
                await asyncio.sleep(LOOK_S)
        finally:
            self._under_way -= 1
        why = director.ending.failed or "; ".join(director.ending.notes)
        return (NOT_TRUE, {"error": why}) if why else (OK, {"ok": True})


def _sentence(body: dict[str, Any]) -> str:
    found = body.get("do")
    if not isinstance(found, str) or len(body) != 1 or len(found) > LONGEST:
        raise ScenarioError(f'expected {{"do": "a sentence of at most {LONGEST} characters"}}')
    return found
