"""A floor of small real servers, and the web process in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.web.browser import Web, until
from tests.web.servers import Followed, Simulated

METERS = [
    {"pool": "main", "level": "grand", "cents": 2500000, "generation": 1, "pending": 0},
    {"pool": "other", "level": "mini", "cents": 100, "generation": 4, "pending": 0},
]


@dataclass
class Floor:
    link: Followed
    table: Followed
    sim: Simulated
    web: Web


def written(folder: Path, *, login: bool = True, more: str = "", port: int = 0) -> Path:
    """A simulated table is played by anyone who may look: only without login."""
    path = folder / "web.toml"
    simulator = "" if login else 'simulator = "control"'
    path.write_text(
        f"""
[web]
listen = "127.0.0.1:{port}"
login = {str(login).lower()}
notice = "Welcome to the night shift"
{more}

[link]
control = "link.sock"

[[table]]
name = "mega"
socket = "table.sock"
{simulator}

[[table]]
name = "away"
url = "https://table-2.example:8443"

[signs.main]
en = "Good luck"

[signs.other]
en = "Good luck"
de = "Viel Glück"
fr = "Bonne chance"
""",
        "utf-8",
    )
    return path


def made_floor(folder: Path, *, login: bool, more: str = "", port: int = 0) -> Iterator[Floor]:
    link, table = Followed(folder / "link.sock"), Followed(folder / "table.sock")
    sim = Simulated(folder / "control")
    link.update(meters=METERS, server={"name": "s1", "leading": True}, awards=[])
    table.update(status={"phase": "idle"}, felt={"rows": []})
    sim.update(beacon="off")
    web = Web(written(folder, login=login, more=more, port=port))
    until(lambda: web.get("/readyz").status == 200)
    yield Floor(link, table, sim, web)
    if web.process.poll() is None:
        assert web.stop() == 0, web.log.read_text()
    for server in (link, table, sim):
        server.close()


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[Floor]:
    """Looking needs no login, as in the demonstration."""
    yield from made_floor(tmp_path, login=False)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Floor]:
    """Looking needs a session."""
    yield from made_floor(tmp_path, login=True)
