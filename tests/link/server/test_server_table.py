"""The real table's side of the link against the real server: the two halves meet at the wire."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from controller.rules.engine import facts as f
from hw_sim.scenario import HERE, find, load
from link.server.doors import DoorPlan
from link.server.staff_orders import NewKey, RotateKey
from record import verify_draws
from record.link.keys import SecretKey, load_public
from tests.controller.link.files import with_link
from tests.controller.link.test_link_sockets import Table
from tests.e2e.table import configure
from tests.link.server.house import House, Live, house_of, pool


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files(tmp_path_factory.mktemp("made"), "mbs3")


def files(folder: Path, name: str, **changes: Any) -> Path:
    shutil.copy(HERE / "tables" / f"{name}.toml", folder / "layout.toml")
    (folder / "chips.csv").write_text(
        "uid,value,class,series\nE004010100000001,100,cash,sim\n", "utf-8"
    )
    configure(folder, name.upper(), {**load(find(f"{name}-plain")).settings, **changes})
    return folder


def linked(made: Path, house: House, endpoint: str) -> Path:
    """The table's folder, with the key that the house has enrolled for it."""
    run = house.folder / "run"
    shutil.copytree(made, run)
    (house.folder / "server.pub").write_text(
        f"underfelt-link-public {house.server_keys[0].decode()}\n"
    )
    with_link(run / "table.toml", [endpoint], house.folder / "server.pub")
    return run


def test_a_real_table_contributes_voids_and_loses_nothing(made: Path, tmp_path: Path) -> None:
    """The round becomes void while the server is down."""
    with house_of(tmp_path, "mbs3") as house:
        live = house.start(beat_ms=200)
        run = linked(made, house, live.endpoint)
        public = load_public(run / "link.pub")
        assert live.order(RotateKey(NewKey("mbs3", public)), "a.kim", "m.ng")["ok"]

        async def play() -> Live:
            table = Table(run)
            await table.until(lambda: table.table.writer.core.state.link_up)
            table.round()
            await table.until(lambda: table.status()["waiting"] == 0)
            assert live.meter() == 100_001  # 1 % of one credit of a dollar
            live.stop()
            supervisor = f.Declared("S1", f.Role.CASINO_SUPERVISOR)
            table.tell(f.OutcomeInvalidated("disruption"), supervisor)
            table.tell(f.SupervisorRuled("void"), supervisor)
            assert table.status()["waiting"] == 1
            secret = SecretKey(house.server_keys[1].decode())
            again = house.start(beat_ms=200, doors=(DoorPlan(live.endpoint, "", secret),))
            await table.until(lambda: table.status()["waiting"] == 0)
            hearing = table.table.writer.hearing
            await table.until(lambda: hearing is not None and hearing.meters[0].cents == 100_000)
            await table.close()
            return again

        again = asyncio.run(play())
        again.until(lambda: again.ask("tables")["tables"] == [])  # it said bye
        (journal,) = again.ask("journals")["journals"]
        assert (journal["table"], journal["n"], again.meter()) == ("mbs3", 2, 100_000)


def test_a_table_plays_with_the_servers_draw_and_an_auditor_finds_it_right(tmp_path: Path) -> None:
    """Between the table's wish and its first card the server is gone, and comes back."""
    (tmp_path / "made").mkdir()
    everything = {"magic_rate": "1/1", "lucky_rate": "1/1", "allow_over_100_percent": True}
    mega = files(tmp_path / "made", "mega", selector="server", **everything)
    with house_of(tmp_path, "mega") as house:
        pools = (pool("mega", game="MEGA"),)
        live = house.start(beat_ms=200, pools=pools)
        run = linked(mega, house, live.endpoint)
        key = NewKey("mega", load_public(run / "link.pub"))
        assert live.order(RotateKey(key), "a.kim", "m.ng")["ok"]

        async def play() -> Live:
            table = Table(run)
            core = table.table.writer.core
            await table.until(lambda: core.state.link_up)
            live.stop()
            table.round()
            assert core.state.commitment is None
            secret = SecretKey(house.server_keys[1].decode())
            again = house.start(
                beat_ms=200, pools=pools, doors=(DoorPlan(live.endpoint, "", secret),)
            )
            await table.until(lambda: core.state.revealed)
            assert core.state.magic_card is not None
            assert core.state.lucky_seat == 2  # the only one with a credit
            await table.close()
            return again

        again = asyncio.run(play())
        (journal,) = again.ask("journals")["journals"]
        assert (journal["table"], journal["n"]) == ("mega", 2)
    (found,) = verify_draws.verify(run / "journal").draws
    assert (found["round"], found["lucky_seat"]) == (1, 2)
    assert verify_draws.verify(run / "journal").problems == []
