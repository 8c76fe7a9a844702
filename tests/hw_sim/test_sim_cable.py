"""The link cable: transparent, silent when it is cut, whole again without loss."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hw_sim.cable import Cable, CableError
from hw_sim.control import Control
from hw_sim.shell import SimShell
from hw_sim.table import SimTable
from tests.hw_sim.test_sim_http import LAYOUTS

TURNS = 50


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


async def turns() -> None:
    """Enough for whatever can pass on this machine to have passed."""
    for _ in range(TURNS):
        await asyncio.sleep(0.002)


def port_of(address: str) -> int:
    return int(address.rsplit(":", maxsplit=1)[-1])


async def _cut_and_back() -> None:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    cable = Cable(f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    near = await cable.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(near))
    writer.write(b"one")
    assert await reader.readexactly(3) == b"one"
    cable.cut()
    writer.write(b"two")
    answer = asyncio.ensure_future(reader.readexactly(3))
    other_reader, other = await asyncio.open_connection("127.0.0.1", port_of(near))
    other.write(b"new")
    new = asyncio.ensure_future(other_reader.readexactly(3))
    await turns()
    assert not answer.done()
    assert not new.done()
    cable.restore()
    assert (await answer, await new) == (b"two", b"new")
    writer.close()
    other.close()
    await cable.close()
    server.close()


def test_nothing_passes_a_cut_cable_and_nothing_is_lost() -> None:
    asyncio.run(_cut_and_back())


def test_a_server_that_is_not_there_ends_the_connection() -> None:
    async def run() -> None:
        spare = await asyncio.start_server(echo, "127.0.0.1", 0)
        address = f"tcp://127.0.0.1:{spare.sockets[0].getsockname()[1]}"
        spare.close()
        await spare.wait_closed()
        cable = Cable(address)
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(await cable.start()))
        assert await reader.read() == b""
        writer.close()
        await cable.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:1", "tcp://host", "tcp://host:99999", "ipc://x"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(CableError, match="expected tcp://HOST:PORT"):
        Cable(address)


def test_the_fault_verb_and_the_feed(tmp_path: Path) -> None:
    async def run() -> None:
        cable = Cable("tcp://127.0.0.1:9")
        control = Control(SimShell(SimTable(LAYOUTS["full"]), tmp_path, "", cable))
        changes = await control.following.changes("", 0, 0)
        assert changes["parts"]["lines"][1]["link"] is True  # type: ignore[index]
        assert await control.answer("POST", "/fault", {"do": "link cut"}) == (200, {"ok": True})
        changes = await control.following.changes("", 0, 0)
        assert changes["parts"]["lines"][1]["link"] is False  # type: ignore[index]
        _, listed = await control.answer("GET", "/verbs", {})
        assert any(one["verb"] == "link" for one in listed["verbs"])  # type: ignore[attr-defined]
        code, said = await control.answer("POST", "/fault", {"do": "link open"})
        assert (code, str(said["error"]).startswith("'open': expected cut")) == (400, True)
        assert (await control.answer("POST", "/fault", {"do": "link back"}))[0] == 200

    asyncio.run(run())


def test_a_table_without_a_cable_has_no_such_trouble(tmp_path: Path) -> None:
    async def run() -> None:
        control = Control(SimShell(SimTable(LAYOUTS["full"]), tmp_path, ""))
        _, listed = await control.answer("GET", "/verbs", {})
        assert all(one["verb"] != "link" for one in listed["verbs"])  # type: ignore[attr-defined]
        code, said = await control.answer("POST", "/fault", {"do": "link cut"})
        assert (code, "--link-cable" in str(said["error"])) == (400, True)

    asyncio.run(run())
