"""The real client, real CURVE sockets on loopback, a real journal; the model server behind them."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq

from controller.config.live import load_live
from controller.daemon.compose import KINDS, compose
from controller.daemon.setup import setup_of
from controller.daemon.writer import Input, Told
from controller.faults.status import LinkStatus
from controller.link.client import LinkClient
from controller.link.cursor import Cursor
from controller.rules.engine import facts as f
from controller.table.staff import DEALER_1
from drivers.transport.clock import now_us
from hw_sim.scenario import HERE, find, load
from record.link.keys import KeyFileError, load_secret
from record.link.outbox import OUTBOX, event_of
from tests.controller.link.files import server_keys, with_link
from tests.controller.link.model import ModelServer
from tests.controller.link.sockets import Behind
from tests.e2e.table import configure
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    shutil.copy(HERE / "tables" / "mbs3.toml", folder / "layout.toml")
    (folder / "chips.csv").write_text(
        "uid,value,class,series\nE004010100000001,100,cash,sim\n", "utf-8"
    )
    configure(folder, "MBS3", load(find("mbs3-plain")).settings)
    return folder


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    served = Behind(ModelServer(beat_ms=200), server_keys(tmp_path))
    yield served
    served.close()


class Table:
    """What ``underfelt table`` puts together, without devices: inputs go straight to the writer."""

    def __init__(self, folder: Path) -> None:
        self.config = load_live(folder / "table.toml", KINDS)
        self.table = compose(setup_of(self.config))
        self.link = self.table.link
        self.link.start()
        self.link.released(self.table.writer.start(now_us()))
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        inbox = self.table.inbox
        while True:
            await inbox.wait()
            group, _ = inbox.take()
            for one in group:
                self.work(one)

    def work(self, one: Input) -> None:
        self.link.released(self.table.writer.work([one], now_us()))

    def tell(self, what: f.What, by: f.Source = DEALER_1) -> None:
        self.work(Told(what, by))

    def status(self) -> LinkStatus:
        return self.link.status() or {}

    async def until(self, what: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not what():
                await asyncio.sleep(0.01)

    def round(self) -> None:
        steps: tuple[tuple[f.What, f.Source], ...] = (
            (f.DeckShuffled("red"), f.Measured("shoe")),
            (f.DeckCut(), DEALER_1),
            (f.BetsOpened(), DEALER_1),
            *((f.WagerRead(2, s, 1000), f.Measured("chips")) for s in ("1", "2", "$")),
            (f.CreditsRead(2, 1), f.Measured("acceptors")),
            (f.BetsClosed(), DEALER_1),
        )
        for what, by in steps:
            self.tell(what, by)

    def journalled(self) -> list[Any]:
        return [event_of(r) for r in self.table.journal.records() if r.kind == OUTBOX]

    async def close(self) -> None:
        self._task.cancel()
        await self.link.close("the test ends")
        self.table.journal.close()


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Table]:
    """Closed whatever happens: a socket that is left open would hang the next test."""
    table = Table(folder)
    try:
        yield table
    finally:
        await table.close()


def folder_of(made: Path, tmp_path: Path, behind: Behind, *, dead: bool = True) -> Path:
    run = tmp_path / "run"
    shutil.copytree(made, run)
    endpoints = ["tcp://127.0.0.1:9", behind.endpoint] if dead else [behind.endpoint]
    with_link(run / "table.toml", endpoints, server_keys(tmp_path)[1])
    return run


def no_reading(_cursor: Cursor, first: int, _last: int) -> list[Any]:
    raise AssertionError(f"event {first} was just released: nobody reads it from the journal")


def test_events_reach_the_server_over_restarts_of_both(
    made: Path, tmp_path: Path, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One endpoint of two is dead. The server is killed, then the table; nothing is lost."""
    run = folder_of(made, tmp_path, behind)

    supervisor = f.Declared("S1", f.Role.CASINO_SUPERVISOR)

    async def first() -> None:
        async with running(run) as table:
            writer = table.table.writer
            await table.until(lambda: writer.core.state.link_up)
            monkeypatch.setattr(Cursor, "read", no_reading)
            table.round()
            await table.until(lambda: behind.model.n == 1)
            await table.until(lambda: table.status()["waiting"] == 0)
            monkeypatch.undo()
            kept = table.table.journal.keep_from_seq
            assert kept is not None
            assert kept > table.journalled()[-1].seq
            hearing = writer.hearing
            await table.until(lambda: hearing is not None and hearing.meters[0].cents == 100)
            behind.stop()
            table.tell(f.OutcomeInvalidated("disruption"), supervisor)
            assert len(table.journalled()) == 1
            table.tell(f.SupervisorRuled("void"), supervisor)
            assert len(table.journalled()) == 2
            await table.until(lambda: table.status()["state"] != "open")
            assert table.status()["waiting"] == 1

    async def second() -> None:
        async with running(run) as table:
            behind.start()
            await table.until(lambda: behind.model.n == 2)
            await table.until(lambda: table.status()["waiting"] == 0)
            assert table.status()["server"] == "model"
            assert behind.model.committed.events == table.journalled()
            assert behind.model.committed.pool_cents == 0
            await table.until(lambda: bool(behind.model.committed.heads))

    asyncio.run(first())
    asyncio.run(second())


def test_a_table_ends_although_nobody_takes_its_last_word(
    made: Path, tmp_path: Path, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server dies while the table says goodbye: an open socket would hold up the end."""
    run = folder_of(made, tmp_path, behind)

    async def play() -> None:
        async with running(run) as table:
            await table.until(lambda: table.table.writer.core.state.link_up)
            monkeypatch.setattr(LinkClient, "_send", lambda _self, _frame: False)

    ended = threading.Thread(target=lambda: asyncio.run(play()), daemon=True)
    ended.start()
    ended.join(PATIENCE_S)
    assert not ended.is_alive()


def test_a_restored_server_gets_the_old_events_from_the_journal(
    made: Path, tmp_path: Path, behind: Behind
) -> None:
    run = folder_of(made, tmp_path, behind, dead=False)

    async def go() -> None:
        async with running(run) as table:
            await table.until(lambda: table.table.writer.core.state.link_up)
            table.round()
            await table.until(lambda: behind.model.n == 1)
        behind.stop()
        behind.model.committed = type(behind.model.committed)()
        behind.start()
        async with running(run) as table:  # nothing is in memory: the journal is read
            await table.until(lambda: behind.model.n == 1)
            assert behind.model.committed.events == table.journalled()

    asyncio.run(go())


def test_a_server_with_another_key_is_not_talked_to(
    made: Path, tmp_path: Path, behind: Behind
) -> None:
    run = tmp_path / "run"
    shutil.copytree(made, run)
    with_link(run / "table.toml", [behind.endpoint])  # the key of another server

    async def go() -> None:
        async with running(run) as table:
            await table.until(lambda: "no answer" in table.status()["trouble"])
            assert behind.model.greeted == set()
            assert not table.table.writer.core.state.link_up

    asyncio.run(go())


def test_garbage_and_oversize_frames_of_a_server_are_counted_and_do_no_harm(
    made: Path, tmp_path: Path
) -> None:
    keys = server_keys(tmp_path)
    run = tmp_path / "run"
    shutil.copytree(made, run)
    context = zmq.Context()
    socket = context.socket(zmq.ROUTER)
    socket.setsockopt(zmq.CURVE_SERVER, 1)
    socket.setsockopt(zmq.CURVE_SECRETKEY, load_secret(keys[0]).reveal())
    port = socket.bind_to_random_port("tcp://127.0.0.1")
    with_link(run / "table.toml", [f"tcp://127.0.0.1:{port}"], keys[1])

    async def hello(table: Table) -> bytes:
        await table.until(lambda: bool(socket.poll(0)))
        peer: bytes = socket.recv_multipart()[0]
        return peer

    async def go() -> None:
        async with running(run) as table:
            while table.status()["malformed"] < 3:  # a slow machine gives up and dials again
                peer = await hello(table)
                for frames in ([b"\xff\x00"], [b"{}"], [b'{"t":"ack","n":1}', b"more"], []):
                    socket.send_multipart([peer, *frames])
                await asyncio.sleep(0.2)
            socket.send_multipart([await hello(table), b"x" * 70_000])  # nobody reads that
            await hello(table)
            assert table.status()["events"] == 0

    asyncio.run(go())
    socket.close(0)
    context.term()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda run: (run / "link.key").unlink(), "E-KEY-101"),
        (lambda run: (run / "link.key").chmod(0o440), "E-KEY-102"),
        (lambda run: (run / "link-server.pub").write_text("nothing"), "E-KEY-104"),
    ],
)
def test_a_bad_key_stops_the_start(
    made: Path, tmp_path: Path, change: Callable[[Path], None], code: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(made, run)
    with_link(run / "table.toml", ["tcp://127.0.0.1:9"])
    change(run)
    config = load_live(run / "table.toml", KINDS)
    with pytest.raises(KeyFileError, match=code):
        compose(setup_of(config))
