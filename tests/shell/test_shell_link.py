"""``link``: both keys as fingerprints, as ``underfelt keys`` prints them; never a key."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import zmq

from controller.daemon.linking import Link
from controller.link.client import Keys, LinkClient
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
        client = LinkClient(
            TableIdentity("T1", "00" * 16, "MBS3", "p", "c", "sequential"),
            ("tcp://127.0.0.1:9",),
            Keys(load_secret(tmp_path / "table.key"), load_public(tmp_path / "s.pub")),
            Cursor(tmp_path, Places()),
            head=Head(3, 7, "00" * 32),
            limit_ms=5000,
            put=lambda _: None,
            keep=lambda _: None,
        )
        link = Link(client)
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
    assert Link().fingerprints() == {}
