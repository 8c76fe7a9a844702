"""``link``: both keys as fingerprints, as ``underfelt keys`` prints them; never a key."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import zmq

from controller.daemon.linking import LinkPlan, NoLink, zmq_network
from controller.daemon.setup import LinkSetup
from controller.link.cursor import Cursor, Places
from controller.link.session import Head, TableIdentity
from controller.shell.render.render import rendered
from record.link.keys import load_public, load_secret, write_pair


def test_the_keys_are_told_by_their_fingerprints(tmp_path: Path) -> None:
    public, secret = zmq.curve_keypair()
    own = write_pair(tmp_path / "table.key", tmp_path / "table.pub", secret, public)
    server_public, server_secret = zmq.curve_keypair()
    server = write_pair(tmp_path / "s.key", tmp_path / "s.pub", server_secret, server_public)

    async def run() -> dict[str, Any]:
        servers = LinkSetup(
            endpoints=("tcp://127.0.0.1:9",),
            secret=load_secret(tmp_path / "table.key"),
            server=load_public(tmp_path / "s.pub"),
            limit_ms=5000,
            meter_rule="sequential",
        )
        identity = TableIdentity("T1", "00" * 16, "MBS3", "p", "c", "sequential")
        head = Head(3, 7, "00" * 32)
        plan = LinkPlan(identity, servers, Cursor(tmp_path, Places()), head, None)
        link = zmq_network(plan, lambda _: None)
        told = {"status": link.status(), "fingerprints": link.fingerprints()}
        await link.close("the end")
        return told

    told = asyncio.run(run())
    assert told["fingerprints"] == {"table": own, "server": server}
    screen = rendered("link", told, 80)
    assert f"table key    {own}" in screen
    assert any(line.startswith("endpoints    tcp://127.0.0.1:9") for line in screen)
    everything = json.dumps(told) + "\n".join(screen)
    for key in (secret, server_secret, public, server_public):
        assert key.decode() not in everything
    assert NoLink().fingerprints() == {}
