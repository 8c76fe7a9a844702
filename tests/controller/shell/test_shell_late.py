"""An answer counts for the question that was asked, however late it comes."""

from __future__ import annotations

import asyncio

from controller.rules.engine.state import Phase
from controller.shell.testing.walks import PERSON_US
from drivers.readings import Shown
from drivers.transport.clock import now_us
from tests.controller.shell.inside import Inside, inside

TOM = 2
WALK = ["lamp", "walk"]


def test_who_looks_too_long_has_not_answered_the_next_question() -> None:
    desk = inside("mbs3-plain", None)
    assert desk.table.writer.core.state.phase is Phase.IDLE

    async def walk(desk: Inside) -> list[str]:
        await desk.line(TOM, ["test", "on"])
        asked = (await desk.line(TOM, WALK))["data"]
        desk.tests.take(Shown("lamps-1", "", 0))
        asked = (await desk.line(TOM, WALK, cursor=asked["cursor"]))["data"]
        assert asked["question"].startswith("is the lamp of seat 1")
        # Meanwhile the test gives this lamp up and shows the next.
        guided = desk.tests._guided
        assert guided is not None
        guided.advance(now_us() + PERSON_US)
        desk.tests.take(Shown("lamps-1", "", 0))
        late = await desk.line(TOM, ["answer", "yes"], cursor=asked["cursor"])
        assert late["data"]["question"].startswith("is the lamp of seat 2")
        now = (await desk.line(TOM, WALK, cursor=asked["cursor"]))["data"]
        await desk.line(TOM, ["answer", "yes"], cursor=now["cursor"])
        found = [one["text"] for one in guided.steps if one["kind"] in ("pass", "fail")]
        await desk.line(TOM, ["test", "off"])
        return found

    assert asyncio.run(walk(desk)) == [
        "lamp of seat 1: nobody has looked",
        "lamp of seat 2: read back and seen",
    ]
