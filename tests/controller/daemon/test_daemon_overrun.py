"""Too many readings at once: the round holds, all is read anew, no device's state is lost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from controller.config.live import LiveConfig
from controller.daemon import compose as starting
from controller.daemon import inbox
from controller.daemon import runtime as runtimes
from controller.daemon.changing import CONFIGURATION, Reloaded
from controller.daemon.inputs import Input, KeepFrom, Noted, Told
from controller.daemon.runtime import Runtime
from controller.daemon.standalone import LINK
from controller.daemon.writer import CaughtUp, Overrun, Released, Writer
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from drivers.base import DeviceState, StateReported
from drivers.orders import LockCards, WatchAntennas
from drivers.readings import KeyPressed
from tests.controller.daemon import test_daemon_faults_lock as tables

config, made = tables.config, tables.made


def prompt(writer: Writer) -> list[str]:
    return [line.strip() for line in writer.core.prompt_now()]


def test_the_round_holds_until_everything_is_read_anew(config: LiveConfig) -> None:
    with tables.started(config) as table:
        writer = table.writer
        tables.opened(table)
        assert writer.core.state.phase is Phase.BETTING
        asked = prompt(writer)
        held = writer.work([Overrun(7)], 0)
        assert prompt(writer)[2:] == ["READING ALL AGAIN", "WAIT"]
        assert LockCards(False) not in held.orders
        writer.work([KeyPressed("keys-2", "CLOSE", 1_000)], 1_000)
        assert writer.core.closing is None  # the call did not count
        writer.work([CaughtUp(6)], 2_000)  # of an earlier one
        assert prompt(writer)[3] == "WAIT"
        writer.work([CaughtUp(7)], 3_000)
        assert prompt(writer)[3:] == asked[3:]
        alarms = [json.loads(r.body) for r in table.journal.records() if r.kind == "alarm"]
        assert alarms[-1] == {"v": 1, "code": "queue overflow", "lost": 7}


def test_a_full_queue_keeps_the_last_state_of_every_device(
    config: LiveConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "QUEUE", 10)
    monkeypatch.setattr(runtimes, "READ_AGAIN_S", 0.0)
    groups: list[list[Any]] = []

    async def run(table: starting.Table) -> None:
        runtime = Runtime(table)
        work = table.writer.work

        def noted(inputs: Any, now_us: int) -> Released:
            groups.append(list(inputs))
            return work(inputs, now_us)

        monkeypatch.setattr(table.writer, "work", noted)
        ready = asyncio.Event()
        running = asyncio.create_task(runtime.run(ready.set))
        async with asyncio.timeout(120):
            while not ready.is_set() or not runtime.is_idle:
                await asyncio.sleep(0.01)
            groups.clear()
            ordered = _orders_of(runtime, monkeypatch)
            for number in range(30):
                runtime.put(KeyPressed("keys-1", "CLEAR", number))
            for state in (DeviceState.READY, DeviceState.UNKNOWN):
                runtime.put(StateReported("shoe", state, None, 0))
            while not any(isinstance(one, CaughtUp) for group in groups for one in group):
                await asyncio.sleep(0.01)
        runtime.stop("test")
        await running
        assert runtime.overflows == 20
        assert groups[0][-2:] == [
            StateReported("shoe", DeviceState.UNKNOWN, None, 0),
            Overrun(20),
        ]
        assert WatchAntennas(frozenset()) in ordered  # all spots settle anew
        assert table.writer.core.health.overrun == 0

    with tables.started(config) as table:
        asyncio.run(run(table))


def test_what_is_said_once_is_never_left_out(
    config: LiveConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reload that a person asked for, an alarm, the link's words: nobody says them again."""
    monkeypatch.setattr(inbox, "QUEUE", 10)
    said: list[Input] = [
        Noted("alarm", {"code": "usb refused", "detail": "1-1: disk"}),
        Reloaded("", refused="table.toml: no such file"),
        Told(f.LinkLost(), LINK),
        KeepFrom(1),
    ]
    waiting = inbox.Inbox()
    for number in range(12):
        waiting.put(KeyPressed("keys-1", "CLEAR", number))
    for one in said:
        waiting.put(one)
    assert waiting.overflows == 2
    group, lost = waiting.take()
    assert (group[10:], lost) == ([*said, Overrun(2)], True)
    with tables.started(config) as table:
        table.writer.work(group, 0)
        rows = [(r.kind, json.loads(r.body)) for r in table.journal.records()]
    assert [body["detail"] for kind, body in rows if body.get("code") == "usb refused"] == [
        "1-1: disk"
    ]
    assert [body["verdict"] for kind, body in rows if kind == CONFIGURATION] == ["refused"]


def _orders_of(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    ordered: list[Any] = []
    give = runtime._hub.order

    def order(one: Any) -> None:
        ordered.append(one)
        give(one)

    monkeypatch.setattr(runtime._hub, "order", order)
    return ordered
