"""From a configuration to a server that can run: keys, store, sockets, in this order."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from link.config import LinkConfig
from link.sealing import load_sealer
from link.server.bridge import Bridge
from link.server.control import Control
from link.server.doors import DoorPlan, Doors, Limits
from link.server.http import Http
from link.server.keeper import Keeper
from link.server.log import Log
from link.server.server import Means, Plan, Server, SystemClock
from link.store import open_store
from record.link.keys import load_secret, secret_path
from record.notify import Notifier


@dataclass(slots=True)
class Running:
    server: Server
    control: Control
    http: Http | None

    def run(self) -> None:
        """Until it is stopped."""
        try:
            self.server.run()
        finally:
            self.close()

    def close(self) -> None:
        if self.http is not None:
            self.http.close()
        self.control.close()
        self.server.close()


def holder_name(config: LinkConfig) -> str:
    """Whose lease it is: this process and no other, also not the one before it."""
    return f"{config.name}@{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def start(config: LinkConfig, log: Log, notifier: Notifier) -> Running:
    """``KeyFileError``, ``StoreError``, ``DoorError`` or ``OSError`` if something is not there."""
    plans = tuple(
        DoorPlan(door.tables, door.signs, load_secret(secret_path(door.secret_key)))
        for door in config.doors
    )
    sealer = load_sealer(secret_path(config.sealing_key)) if config.sealing_key else None
    doors = Doors(plans, Limits(**{k: v for k, v in config.limits.items() if k != "group_most"}))
    try:
        store = open_store(config.store)
        store.migrate(at_ms=SystemClock().now_ms())
    except BaseException:
        doors.close()
        raise
    plan = Plan(
        name=config.name,
        pools=config.pools,
        beat_ms=config.beat_ms,
        publish_ms=config.publish_ms,
        rebind_ms=config.rebind_ms,
        group_most=config.limits["group_most"],
        check_recent=config.check_recent,
    )
    means = Means(
        store=store,
        keeper=Keeper(store, holder_name(config), config.lease_ms),
        doors=doors,
        bridge=Bridge(),
        log=log,
        notifier=notifier,
        sealer=sealer,
    )
    server = Server(plan, means)
    try:
        server.open()
        control = Control(Path(config.control), means.bridge, log)
        control.start()
        http = Http(*config.http, means.bridge) if config.http is not None else None
    except BaseException:
        server.close()
        raise
    if http is not None:
        http.start()
    return Running(server, control, http)
