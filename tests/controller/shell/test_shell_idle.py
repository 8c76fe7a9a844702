"""Test mode that nobody uses ends by itself; the loop's clock is moved, nobody waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from controller.shell.desk.runner import IDLE_S
from record.journal.reader import JournalReader
from tests.controller.shell.inside import OWN, Inside, table_in

TOM = 2
"""A technician; his connection has the same number."""
OLGA = 1


class Moved(asyncio.SelectorEventLoop):
    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s


def moved(work: Callable[[Moved], Awaitable[None]]) -> None:
    loop = Moved()
    try:
        loop.run_until_complete(work(loop))
    finally:
        loop.close()


async def pass_on(desk: Inside, loop: Moved, seconds: float) -> None:
    """Time passes, and what is due is done."""
    loop.ahead_s += seconds
    for _ in range(5):
        await asyncio.sleep(0)
    while desk.tests._tasks:
        await asyncio.gather(*desk.tests._tasks)


def ends(desk: Inside) -> list[str]:
    rows = [json.loads(r.body) for r in desk.table.journal.records() if r.kind == "test"]
    return [row["why"] for row in rows if row["event"] == "end"]


def test_fifteen_minutes_without_a_command_end_it(tmp_path: Path) -> None:
    assert IDLE_S == 900
    desk = Inside(table_in("mbs3-plain", None), tmp_path)

    async def night(loop: Moved) -> None:
        told = await desk.line(TOM, ["test", "on"])
        assert told["data"]["idle_s"] == 900
        await pass_on(desk, loop, 899)
        assert desk.tests.is_on()
        await pass_on(desk, loop, 2)
        assert not desk.tests.is_on()
        assert ends(desk) == ["no command for 900 s"]
        refused = await desk.line(TOM, ["keys"])
        assert refused["error"] == "E-SHL-004"
        assert refused["text"] == "keys needs test mode, which has ended: no command for 900 s"
        assert refused["at"]["test_mode"] is False
        assert (await desk.line(OWN, ["keys"]))["text"] == "keys needs test mode"
        await desk.desk.audit.close()

    moved(night)
    assert desk.now() == desk.before


def test_whatever_its_holder_asks_for_keeps_it(tmp_path: Path) -> None:
    """Also a look; nobody else's does, and a look that only goes on is no command."""
    desk = Inside(table_in("mbs3-plain", None), tmp_path)

    async def night(loop: Moved) -> None:
        await desk.line(TOM, ["test", "on"])
        for words in (["faults"], ["device", "shoe"], ["keys"], ["watch"]):
            await pass_on(desk, loop, 800)
            answer: dict[str, Any] = await desk.line(TOM, words)
            assert answer.get("ok"), answer
            assert desk.tests.is_on(), words
        await pass_on(desk, loop, 800)
        await desk.line(OLGA, ["faults"])
        await desk.line(TOM, ["watch"], cursor=answer["data"]["cursor"])
        await pass_on(desk, loop, 101)
        assert not desk.tests.is_on()
        assert ends(desk) == ["no command for 900 s"]
        await desk.desk.audit.close()

    moved(night)
    kept = [json.loads(r.body) for r in JournalReader(tmp_path / "audit").records()]
    (certificate,) = [row for row in kept if "results" in row]
    assert (certificate["test"], certificate["passed"]) == ("keys", False)
