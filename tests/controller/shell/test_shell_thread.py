"""What the writer's thread owns is touched by that thread alone, whatever is asked at the shell."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from controller.commands.table_process import compose_process
from controller.config.live import LiveConfig
from controller.daemon import compose as starting
from controller.daemon import inbox
from controller.daemon import runtime as runtimes
from controller.daemon.frames import open_frames
from controller.daemon.runtime import Runtime
from controller.daemon.service import Peer
from controller.shell.desk.desk import Desk
from controller.shell.verbs import VERBS, Verb
from drivers.readings import KeyPressed, Shown
from tests.controller.daemon import test_daemon_faults_lock as tables

config, made = tables.config, tables.made
WRITER: Final = "writer"
TOM: Final = Peer(0, 1)
"""Root: a technician."""
WORDS: Final = {
    "device": "shoe",
    "seat": "2",
    "port": "shoe",
    "hex": "ab" * 16,
    "code": "E-TBL-003",
}


class Guard:
    """Notes every look at what belongs to the writer from another thread, and where it was."""

    def __init__(self) -> None:
        self.strays: set[str] = set()
        self.looks = 0

    @contextmanager
    def over(self, *owned: object) -> Iterator[None]:
        """``owned`` one by one: another journal of the same class has another thread."""
        with pytest.MonkeyPatch.context() as patch:
            for kind in {type(one) for one in owned}:
                mine = [one for one in owned if type(one) is kind]
                patch.setattr(kind, "__getattribute__", self._watching(kind, mine))
            yield

    def _watching(self, kind: type, owned: list[object]) -> Any:
        get: Any = kind.__getattribute__

        def looked(one: object, name: str) -> Any:
            if any(one is each for each in owned) and not name.startswith("__"):
                self._note(kind, name)
            return get(one, name)

        return looked

    def _note(self, kind: type, name: str) -> None:
        self.looks += 1
        by = sys._getframe(2)
        is_work = callable(getattr(kind, name, None)) and by.f_code.co_filename == runtimes.__file__
        if not threading.current_thread().name.startswith(WRITER) and not is_work:
            where = f"{by.f_code.co_filename}:{by.f_lineno}"
            self.strays.add(f"{kind.__name__}.{name} at {where}")


def words_of(verb: Verb) -> list[str]:
    wanted = [word for word in verb.words if word.kind in WORDS or word.kind == "choice"]
    return [*verb.name.split(), *(WORDS.get(w.kind) or w.choices[-1] for w in wanted)]


async def asks(desk: Desk, words: list[str], **more: Any) -> dict[str, Any]:
    return await desk.answer({"verb": "shell", "words": words, **more}, TOM)


async def a_day_at_the_shell(desk: Desk, runtime: Runtime) -> dict[str, Any]:
    """Every verb out of test mode and in it, readings and answers to every test, metrics."""
    told: dict[str, Any] = {}
    for name, verb in VERBS.items():
        if name not in ("reboot", "test on", "test off"):
            told[name] = await asks(desk, words_of(verb))
    told["test on"] = await asks(desk, ["test", "on"])
    for name, verb in VERBS.items():
        if verb.guided:
            told[name] = await asks(desk, words_of(verb))
            runtime._read(KeyPressed("keys-1", "1", 0))
            runtime._read(Shown("lamps-1", "", 0))
            await asks(desk, words_of(verb), cursor=1)
            await asks(desk, ["answer", "no"])
            told["test stop"] = await asks(desk, ["test", "stop"])
    told["test off"] = await asks(desk, ["test", "off"])
    told["refused"] = await asks(desk, ["keys"])
    return told


def test_no_verb_and_no_test_looks_at_the_table_but_in_the_writers_thread(
    config: LiveConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "QUEUE", 10)
    monkeypatch.setattr(runtimes, "READ_AGAIN_S", 0.0)
    guard = Guard()

    async def run(table: starting.Table) -> dict[str, Any]:
        frames = open_frames(config.journal.path, table.setup.key, bytes, frozenset())
        made = compose_process(config, table, frames)
        runtime, desk = made.runtime, made.desk
        ready = asyncio.Event()
        running = asyncio.create_task(runtime.run(ready.set))
        while not ready.is_set() or not runtime.is_idle:
            await asyncio.sleep(0.01)
        writer = table.writer
        core, log = writer.core, writer.table_log
        owned = (writer, core, core.chips, core.health, log, log.memory, writer.test, table.journal)
        with guard.over(*owned):
            told = await a_day_at_the_shell(desk, runtime)
            made.verbs.metrics()
            groups = runtime.groups
            for number in range(30):  # more than the queue holds
                runtime.put(KeyPressed("keys-1", "CLEAR", number))
            while runtime.groups < groups + 2 or not runtime.is_idle:
                await asyncio.sleep(0.01)
            await desk.tests.close("the table stops")
        runtime.stop("test")
        await running
        await desk.audit.close()
        return told

    with tables.started(config) as table:
        told = asyncio.run(run(table))
    assert set(told) >= set(VERBS) - {"reboot"}
    wrong = {name: one["error"] for name, one in told.items() if "error" in one}
    assert wrong == {
        "round": "E-SHL-011",
        "safe-mode off": "E-SHL-002",
        "answer": "E-SHL-004",
        "refused": "E-SHL-004",
    }
    assert guard.looks > 1_000
    assert guard.strays == set()
