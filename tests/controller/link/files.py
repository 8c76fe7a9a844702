"""The [link] section of a test's table, and its keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import zmq

from record.link.keys import write_pair


def server_keys(folder: Path) -> tuple[Path, Path]:
    """Made once in a folder: the server's secret and public key files."""
    secret, public = folder / "link-server.key", folder / "link-server.pub"
    if not public.exists():
        made = zmq.curve_keypair()
        write_pair(secret, public, made[1], made[0])
    return secret, public


def with_link(
    config: Path, endpoints: Sequence[str], server: Path | None = None, limit_ms: int = 60_000
) -> str:
    """Adds the section; the answer is the table's public key. ``server``: its public key file.

    The longest limit there is, so that a busy machine closes no link.
    """
    folder = config.parent
    public, secret = zmq.curve_keypair()
    write_pair(folder / "link.key", folder / "link.pub", secret, public)
    server = server or server_keys(folder)[1]
    listed = ", ".join(f'"{endpoint}"' for endpoint in endpoints)
    config.write_text(
        config.read_text("utf-8")
        + f'[link]\nendpoints = [{listed}]\nsecret_key = "link.key"\nserver_key = "{server}"\n'
        f"heartbeat_limit_ms = {limit_ms}\n",
        "utf-8",
    )
    return public.decode()
