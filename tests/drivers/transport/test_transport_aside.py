"""A vendor's driver that does not return: its device is lost, it is named, the table goes on."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import threading
import time
import tty
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from drivers import contained
from drivers.base import DeviceState, StateReported
from drivers.build import build
from drivers.layout import LineLayout, TableLayout, Transport
from drivers.transport import aside
from drivers.transport.hub import Hub
from tests.drivers.villain import Mischief, maker
from tests.patience import PATIENCE_S

READY, UNKNOWN = DeviceState.READY, DeviceState.UNKNOWN


@pytest.fixture
def ends() -> Iterator[tuple[int, str]]:
    master, slave = pty.openpty()
    tty.setraw(master)
    yield master, os.ttyname(slave)
    for end in (master, slave):
        os.close(end)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "BLOCKED_S", 0.1)
    monkeypatch.setattr(aside, "LOOK_S", 0.02)
    monkeypatch.setattr(contained, "AGAIN_US", 50_000)


class Table:
    def __init__(self, path: str, mischief: dict[str, Mischief]) -> None:
        line = LineLayout("shoe", "villain", path)
        layout = TableLayout("one", 7, Transport(), (line,), {}, {})
        self.told: list[StateReported] = []
        self.hub = Hub(build(layout, {"villain": maker(mischief)}), layout, self._heard)
        self.threads: set[int] = set()

    def _heard(self, reading: object) -> None:
        self.threads.add(threading.get_ident())
        if isinstance(reading, StateReported):
            self.told.append(reading)

    def reason(self) -> str:
        last = self.told[-1].reason if self.told else None
        return "" if last is None else f"{last.code} {last.detail}"

    async def until(self, what: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not what():
                await asyncio.sleep(0.005)


def played(
    path: str, mischief: dict[str, Mischief], act: Callable[[Table], Awaitable[None]]
) -> Table:
    async def main() -> Table:
        table = Table(path, mischief)
        table.hub.start()
        try:
            await act(table)
        finally:
            table.hub.close()
        return table

    return asyncio.run(main())


async def talk(master: int) -> None:
    """The device, which does not wait for anybody."""
    os.set_blocking(master, False)
    while True:
        with suppress(BlockingIOError):
            os.write(master, b"x")
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("method", ["received", "make", "load", "settings", "opened"])
def test_a_driver_that_blocks_is_named_and_comes_back_when_it_returns(
    method: str, ends: tuple[int, str]
) -> None:
    master, path = ends
    release = threading.Event()
    mischief: dict[str, Mischief] = {}

    def block() -> Any:
        mischief.clear()
        release.wait()
        return []

    mischief[method] = block

    async def act(table: Table) -> None:
        talking = asyncio.create_task(talk(master))
        await table.until(lambda: table.reason().startswith("E-DRV-002"))
        shown = "make" if method in ("make", "load", "settings") else method
        assert re.fullmatch(
            rf"E-DRV-002 villain: {shown} at threading\.py:\d+ does not return", table.reason()
        ), table.reason()
        ticks = 0
        until_s = time.monotonic() + 0.1
        while time.monotonic() < until_s:  # the loop is free
            ticks += 1
            await asyncio.sleep(0)
        assert ticks > 10
        release.set()
        await table.until(lambda: table.told[-1].state is READY)
        talking.cancel()

    table = played(path, mischief, act)
    assert table.threads == {threading.get_ident()}


def test_a_driver_that_fails_is_made_anew_and_its_port_opened_again(
    ends: tuple[int, str],
) -> None:
    master, path = ends
    mischief: dict[str, Mischief] = {}

    def once() -> Any:
        mischief.clear()
        raise ValueError("7h")

    mischief["received"] = once

    async def act(table: Table) -> None:
        talking = asyncio.create_task(talk(master))
        await table.until(lambda: table.reason().startswith("E-DRV-001"))
        await table.until(lambda: table.hub._ports["shoe"].reopenings)
        await table.until(lambda: table.told[-1].state is READY)
        talking.cancel()

    table = played(path, mischief, act)
    assert not [r for r in table.told if "7h" in str(r)]


def test_calls_that_pile_up_fail_it_as_well(
    ends: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, path = ends
    monkeypatch.setattr(aside, "WAITING", 8)
    monkeypatch.setattr(aside, "BLOCKED_S", 3_600.0)
    release = threading.Event()

    async def act(table: Table) -> None:
        await table.until(lambda: table.hub._ports and table.hub._ports["shoe"].is_open)
        while not table.reason().startswith("E-DRV-002"):
            os.write(master, b"x")
            await asyncio.sleep(0.005)
        assert "8 calls wait" in table.reason()
        release.set()

    played(path, {"received": lambda: release.wait() and []}, act)
