"""The service socket under a crowd: who has no room, who is never kept out, and half lines."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from controller.commands import shell, status
from controller.daemon import service as module
from controller.daemon.service import EVERYBODY, PER_USER, Service
from controller.shell.client import Client
from controller.shell.errors import EXIT
from record.kit.followers import trusted_users
from record.kit.lines import ask
from tests.controller.shell.test_shell_idle import Moved, moved
from tests.e2e.keeper import Sitting
from tests.e2e.table import underfelt

ASKED = b'{"verb":"status"}\n'


def served(path: Path, work: Callable[[Service], Awaitable[None]]) -> None:
    async def run() -> None:
        service = Service(path, {"status": lambda _: {"well": True}})
        await service.start()
        await work(service)
        await service.close()

    asyncio.run(run())


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> dict[str, Any]:
    writer.write(ASKED)
    found: dict[str, Any] = json.loads(await reader.readline())
    return found


def test_one_user_has_so_many_connections_and_room_when_one_ends(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"

    async def crowd(_service: Service) -> None:
        ends = [await asyncio.open_unix_connection(path) for _ in range(PER_USER)]
        assert [await answer(*one) for one in ends] == [{"well": True}] * PER_USER
        reader, writer = await asyncio.open_unix_connection(path)
        told = json.loads(await reader.readline())
        assert (told["error"], told["text"]) == (
            "E-SVC-003", f"uid {os.getuid()} has {PER_USER} connections open already",
        )  # fmt: skip
        assert await reader.read() == b""
        writer.close()
        assert [await answer(*one) for one in ends] == [{"well": True}] * PER_USER
        ends.pop()[1].close()
        last: dict[str, Any] = {}
        while last != {"well": True}:
            again = await asyncio.open_unix_connection(path)
            last = await answer(*again)
            again[1].close()
        for _, end in ends:
            end.close()

    served(path, crowd)


def test_others_do_not_keep_trusted_users_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "trusted_users", lambda: trusted_users() | {1010})
    service = Service(tmp_path / "s.sock", {})
    service._open.update(dict.fromkeys(range(1001, 1005), EVERYBODY // 4))
    assert service._full(1009) == f"{EVERYBODY} connections are open already"
    assert service._full(0) == ""
    assert service._full(os.geteuid()) == ""
    assert service._full(1010) == ""


def test_a_line_that_does_not_end_is_hung_up_and_a_silent_shell_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"

    async def night(loop: Moved) -> None:
        service = Service(path, {"status": lambda _: {"well": True}})
        await service.start()
        half, writer = await asyncio.open_unix_connection(path)
        idle = await asyncio.open_unix_connection(path)
        assert await answer(*idle) == {"well": True}
        writer.write(b'{"verb":')
        while service._open[os.getuid()] != 2:
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        loop.ahead_s += module.LINE_S + 1
        assert await half.read() == b""
        loop.ahead_s += 8 * 3600
        assert await answer(*idle) == {"well": True}
        for one in (writer, idle[1]):
            one.close()
            await one.wait_closed()
        while service._open[os.getuid()]:
            await asyncio.sleep(0)
        await service.close()

    moved(night)


def test_many_at_once_are_all_answered(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"

    async def crowd(_: Service) -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(PER_USER - 2) as pool:
            status = {"verb": "status"}
            work = [loop.run_in_executor(pool, ask, path, status) for _ in range(200)]
            assert await asyncio.gather(*work) == [{"well": True}] * 200

    served(path, crowd)


def test_a_full_backlog_is_waited_for(tmp_path: Path) -> None:
    """Nobody takes connections; then somebody does."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "s.sock"))
    listening.listen(0)
    first = socket.socket(socket.AF_UNIX)
    first.connect(str(tmp_path / "s.sock"))
    client = Client(tmp_path / "s.sock")
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client.ask, ["why"])
        listening.accept()[0].close()
        end, _ = listening.accept()
        with end, end.makefile("rwb") as stream:
            number = json.loads(stream.readline())["id"]
            stream.write(b'{"id": %d, "ok": true}\n' % number)
            stream.flush()
            assert asked.result(60) == {"id": number, "ok": True}
    client.close()
    first.close()
    listening.close()


def test_whoever_may_not_use_the_socket_is_told_so(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.fail("this test changes its user: run it as root")
    run = tmp_path / "run"
    run.mkdir()
    tmp_path.chmod(0o755)
    for folder in (tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    with Sitting(run, game="MBS3") as sitting:
        sitting.keeper.start()
        sitting.until_phase("between rounds")
        path = str(run / "service.sock")
        Path(path).chmod(0o600)
        run.chmod(0o755)
        for run_it, *more in ((shell.run, "why"), (status.run,)):
            code, told = as_nobody(run_it, "--socket", path, *more)
            assert code == 77
            assert "permission denied; join the group that owns the socket" in told
        assert underfelt("shell", "--socket", path, "why").returncode == 0


def as_nobody(run: Callable[[list[str]], int], *words: str) -> tuple[int, str]:
    """Its exit code, and what it said on standard error."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setgroups([])
            os.setresuid(65534, 65534, 65534)
            sys.stderr = os.fdopen(writer, "w")
            code = run(list(words))
            sys.stderr.flush()
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "r") as stream:
        told = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


def test_a_crowd_is_asked_to_come_again() -> None:
    assert EXIT["E-SVC-003"] == 75
