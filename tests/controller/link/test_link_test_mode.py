"""A table in test mode is seen on the floor: a real daemon and a real server, over CURVE."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.demo.screen import FloorView, lines
from controller.demo.views import table_view
from controller.shell.client import Client
from tests.controller.link.files import with_link
from tests.e2e.keeper import Sitting
from tests.link.server.test_server_process import PASSWORD, Link, run

TABLE = "mbs3"


@pytest.fixture
def link(tmp_path: Path) -> Iterator[Link]:
    made = Link(tmp_path)
    made.config.write_text(made.config.read_text("utf-8").replace("table-1", TABLE), "utf-8")
    server = made.start()
    try:
        made.wait_leading()
        yield made
        assert made.stop()[0] == 0
    finally:
        if server.poll() is None:
            server.kill()
            server.communicate()


def told(link: Link) -> list[str]:
    """``underfelt link status``, as whoever watches the floor reads it."""
    code, out, err = run("link", "status", "--config", str(link.config))
    assert code == 0, err
    return out.splitlines()


def row(sitting: Sitting) -> str:
    """The table's line on the floor's screen."""
    floor = FloorView("", "", 0, tables=(table_view(TABLE, "MBS3", sitting.status()),))
    (found,) = [line for line in lines(floor, 80, 24, colour=False) if f"  {TABLE}" in line]
    return found


def test_test_mode_of_a_real_table_reaches_a_real_server(tmp_path: Path, link: Link) -> None:
    (tmp_path / "run").mkdir()
    with Sitting(tmp_path / "run") as sitting:
        server_key = link.folder / "link.pub"
        with_link(sitting.config, [f"tcp://127.0.0.1:{link.port}"], server_key)
        code, _, err = run(
            "keys", "enrol", TABLE, str(sitting.run / "link.pub"), "--by", "m.ng", "--by", "k.lee",
            "--passwords-stdin", "--config", str(link.config), stdin=f"{PASSWORD}\n" * 2,
        )  # fmt: skip
        assert code == 0, err
        sitting.keeper.arguments = ["table", "--config", str(sitting.config)]
        sitting.keeper.start()
        sitting.until_phase("between rounds")
        sitting.until(lambda: sitting.status()["link"]["state"] == "open", "an open link")
        sitting.until(lambda: any(", 1 table, " in line for line in told(link)), "one table")
        assert not any("TEST MODE" in line for line in told(link))
        assert "between rounds" in row(sitting)
        client = Client(sitting.run / "service.sock")
        assert client.ask(["test", "on"])["ok"]
        sitting.until(lambda: f"  TEST MODE: {TABLE}" in told(link), "seen at the server")
        assert "TEST MODE" in row(sitting)
        assert "between rounds" not in row(sitting)
        client.close()  # a dropped connection ends it, and the floor sees that as well
        sitting.until(lambda: not any("TEST MODE" in line for line in told(link)), "over")
        sitting.until(lambda: "between rounds" in row(sitting), "the floor as before")
