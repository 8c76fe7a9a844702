"""The server's receipts outlive the table's process: its journal alone finds a lost commit."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.daemon.writer import Noted as Told
from controller.daemon.writer import Tick
from controller.history.entries import dump
from controller.history.errors import ReplayError
from controller.link.witness import SPACING_US, WITNESS, Witness, body_of, receipt_in
from drivers.transport.clock import now_us
from hw_sim.scenario import find, load
from link.store.errors import Rewound
from record.link.keys import write_pair
from record.link.messages import NO_HASH, Ack, Noted, Receipt, ReceiptShown
from tests.controller.link.bench import SECOND, Bench, files
from tests.controller.link.linked import LinkedTable
from tests.controller.link.model import ModelServer
from tests.controller.link.test_link_sockets import running
from tests.link.server.house import House, Live, house_of
from tests.patience import PATIENCE_S

HEAD = "ab" * 32
TABLE = "mbs3"
"""As the layout names it."""


def receipt(event: int, *, staff: int = 4, head: str = HEAD, epoch: int = 1) -> Receipt:
    return Receipt(epoch, event, f"{event:064x}", staff, head, "0" * 16, f"{event + 1:064x}")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files(tmp_path_factory.mktemp("mbs3"), "MBS3", "mbs3")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def journalled(bench: Bench) -> list[int]:
    return [body["event"] for body in bench.kinds(WITNESS)]


# --- what is written, and how often --------------------------------------------------------------


def test_a_record_gives_the_receipt_back_as_it_was() -> None:
    one = receipt(7)
    body = msgspec.json.decode(dump(body_of(one)))
    assert (body["staff"], body["head"]) == (4, HEAD)
    assert receipt_in(body) == one


def test_a_record_of_an_earlier_program_holds_no_receipt() -> None:
    assert receipt_in({"staff": 4, "head": HEAD}) is None


def test_receipts_are_journalled_once_in_ten_seconds_however_many_acks_come(folder: Path) -> None:
    bench = Bench(folder)
    bench.alive()
    for second in range(25):
        for part in range(10):
            bench.hears(Ack(1, (), receipt(100 * second + part)))
        bench.wait(SECOND)
        bench.alive()
    assert journalled(bench) == [0, 909, 1_909], "the last ones of each time"
    bench.table.journal.close()


def test_the_last_receipt_is_written_after_ten_seconds_though_nothing_else_happens(
    folder: Path,
) -> None:
    bench = Bench(folder)
    bench.hears(Ack(1, (), receipt(7)))
    released = bench.hears(Ack(2, (), receipt(8)))
    assert journalled(bench) == [7]
    assert released.wake_us == bench.now_us + SPACING_US
    bench.wait(SPACING_US)
    released = bench.work(Tick())
    assert journalled(bench) == [7, 8]
    assert released.wake_us != bench.now_us
    bench.table.journal.close()


def test_a_receipt_that_says_nothing_new_is_not_written_again(folder: Path) -> None:
    bench = Bench(folder)
    for _ in range(3):
        bench.hears(Noted(9, receipt(7)))
        bench.wait(2 * SPACING_US)
    assert journalled(bench) == [7]
    bench.table.journal.close()


def test_a_clean_stop_writes_the_last_receipt(folder: Path) -> None:
    bench = Bench(folder)
    bench.hears(Ack(1, (), receipt(7)), Ack(2, (), receipt(8)))
    bench.writer.stop("the test ends")
    assert journalled(bench) == [7, 8]
    bench.table.journal.close()


def test_a_full_disk_gets_no_receipt_but_a_new_head_of_the_staff_orders() -> None:
    witness = Witness(receipt(1))
    witness.take(receipt(2))
    assert witness.due_us(full=True) is None
    assert witness.write(SPACING_US, full=True) is None
    witness.take(receipt(3, staff=5, head="ef" * 32))
    assert witness.write(0, full=True) == body_of(receipt(3, staff=5, head="ef" * 32))
    assert witness.due_us() is None


# --- what comes back -----------------------------------------------------------------------------


def receipt_of(bench: Bench) -> Receipt | None:
    assert bench.writer.hearing is not None
    return bench.writer.hearing.witness.kept


def test_a_start_reads_the_last_receipt_and_does_not_write_it_again(folder: Path) -> None:
    bench = Bench(folder)
    assert receipt_of(bench) is None
    bench.hears(Ack(1, (), receipt(7)))
    bench.table.journal.close()
    again = Bench(folder)
    assert receipt_of(again) == receipt(7)
    again.hears(Ack(1, (), receipt(7)))
    assert journalled(again) == [7]
    again.table.journal.close()


def test_a_record_that_is_no_receipt_stops_the_start(folder: Path) -> None:
    bench = Bench(folder)
    bench.work(Told(WITNESS, {**body_of(receipt(7)), "mac": "no"}))
    bench.table.journal.close()
    with pytest.raises(ReplayError, match=r"witness.*E-RPL-005"):
        Bench(folder)


class Receipting(ModelServer):
    """A model whose receipts count what it has committed."""

    shown: list[Receipt]
    given: list[Receipt]

    def take(self, peer: Any, message: Any) -> list[Any]:
        if isinstance(message, ReceiptShown):
            self.shown.append(message.receipt)
            return []
        out = super().take(peer, message)
        return [self._signed(m) if isinstance(m, Ack | Noted) else m for m in out]

    def _signed(self, message: Ack | Noted) -> Ack | Noted:
        event = self.n + len(self.committed.heads)
        self.given.append(receipt(event, head=NO_HASH))
        return msgspec.structs.replace(message, receipt=self.given[-1])


def test_after_a_power_cut_at_any_write_the_table_shows_what_its_disk_has() -> None:
    """Never an invented receipt, and never one older than what was durable at the cut."""
    written = [at for at, _ in cut_table(0).durable]
    assert len(written) > 3
    for cut in range(written[2] - 3, written[2] + 2):
        table = cut_table(cut)
        assert table.cuts == 1, cut
        server = table.server
        assert isinstance(server, Receipting)
        before = [event for at, event in table.durable if at < cut]
        assert all(one in server.given for one in server.shown)
        if before:
            assert server.shown[0].event >= before[-1], cut
        assert table.server.committed.events == table.journalled()


class CutTable(LinkedTable):
    """``durable``: disk calls before the first cut, and the event of the receipt on disk then."""

    durable: list[tuple[int, int]]

    def _release(self, released: Any) -> None:
        hearing = self.writer.hearing
        kept = None if hearing is None else hearing.witness.kept
        known = [event for _, event in self.durable]
        if self.cuts == 0 and kept is not None and kept.event not in known:
            self.durable.append((self.disk.calls, kept.event))
        super()._release(released)


def cut_table(cut: int) -> CutTable:
    server = Receipting(rate=0)
    server.committed.pool_cents = 12_345_670
    server.shown, server.given = [], []
    table = CutTable(load(find("mbs3-plain")), cut, 1 + cut, server=server)
    table.durable = []
    table.play()
    table.drain()
    return table


# --- with a real server --------------------------------------------------------------------------


def ended(live: Live) -> BaseException:
    live.thread.join(PATIENCE_S)
    assert not live.thread.is_alive()
    (failed,) = live.failed
    return failed


def dials(folder: Path, house: House, live: Live) -> None:
    """The table in this folder has the key that the house enrolled, and this endpoint."""
    for name in ("link.key", "link.pub", "server.pub"):
        (folder / name).unlink(missing_ok=True)
    public, secret = house.pairs[TABLE]
    write_pair(folder / "link.key", folder / "link.pub", secret, public)
    server = folder / "server.pub"
    server.write_text(f"underfelt-link-public {house.server_keys[0].decode()}\n", "utf-8")
    text = (folder / "table.toml").read_text("utf-8")
    text = re.sub(r"endpoints = .*", f'endpoints = ["{live.endpoint}"]', text)
    text = re.sub(r"server_key = .*", 'server_key = "server.pub"', text)
    (folder / "table.toml").write_text(text, "utf-8")


async def sign_on(folder: Path) -> None:
    async with running(folder) as table:
        await table.until(lambda: table.table.writer.core.state.link_up)


async def play(folder: Path, *, clean: bool) -> int:
    """Bets are locked and acknowledged, the table stops. The last event in a receipt on disk."""
    async with running(folder) as table:
        writer = table.table.writer
        await table.until(lambda: writer.core.state.link_up)
        table.round()
        await table.until(lambda: table.status()["waiting"] == 0)
        if clean:
            writer.stop("SIGTERM")
        else:
            writer.work([Tick()], now_us() + SPACING_US)
        last = [r for r in table.table.journal.records() if r.kind == WITNESS][-1]
        found = receipt_in(msgspec.json.decode(last.body))
        assert found is not None
        return found.event


@pytest.mark.parametrize("clean", [True, False], ids=["stopped", "killed after ten seconds"])
def test_a_store_that_lost_its_tail_is_found_by_a_table_that_restarted_too(
    folder: Path, tmp_path: Path, clean: bool
) -> None:
    """Nobody is left who remembers the ack, but the table's journal."""
    (tmp_path / "house").mkdir()
    with house_of(tmp_path / "house", TABLE) as house:
        live = house.start()
        dials(folder, house, live)
        asyncio.run(sign_on(folder))
        live.stop()
        shutil.copy(house.where, tmp_path / "old")

        live = house.start()
        dials(folder, house, live)
        event = asyncio.run(play(folder, clean=clean))
        live.stop()

        shutil.copy(tmp_path / "old", house.where)
        live = house.start()
        dials(folder, house, live)

        async def again() -> None:
            async with running(folder) as table:
                await table.until(lambda: not live.thread.is_alive())

        asyncio.run(again())
        failed = ended(live)
        assert isinstance(failed, Rewound), failed
        held = f"{TABLE} holds a receipt of epoch 3 for event {event}"
        assert held in str(failed)
        assert re.search(r"the store ends at event \d+: missing \d+ event", str(failed))
        assert isinstance(ended(house.start(wait=False)), Rewound), "nor does it start again"
