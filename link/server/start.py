"""From a configuration to a server that can run: keys, store, sockets, in this order."""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Final

from link.config import LinkConfig
from link.sealing import load_sealer
from link.server.bridge import Bridge
from link.server.control import Control
from link.server.doors import DoorPlan, Doors, Limits
from link.server.http import NO_PORT, Http
from link.server.keeper import Keeper
from link.server.log import Log
from link.server.means import Means, ServerPlan, SystemClock
from link.server.server import Server
from link.store import open_store
from link.store.base import SqlStore
from link.store.errors import Failed, Unknown
from record.kit.notify import Notifier
from record.link.keys import load_secret, secret_path

AGAIN_S: Final = 1.0


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


def _opened(config: LinkConfig, log: Log, notifier: Notifier) -> SqlStore:
    """A database on another machine that is not there yet is waited for: it may be changing over,
    and a service that gives up five times is not started again."""
    said = ""
    while True:
        try:
            store = open_store(
                config.store,
                wait_ms=config.store_wait_ms,
                standby_required=config.require_synchronous_standby,
            )
            try:
                store.migrate(at_ms=SystemClock().now_ms())
            except BaseException:
                store.close()
                raise
            return store
        except (Failed, Unknown) as error:
            if not config.store.startswith("postgres"):
                raise
            trouble: Failed | Unknown = error
        if str(trouble) != said:
            said = str(trouble)
            log.error(f"waiting for the store: {said}", fault_code=trouble.code)
        notifier.more_time(30_000_000)
        notifier.status(f"{config.name}: waiting for the store: {said}")
        sleep(AGAIN_S)


def start(config: LinkConfig, log: Log, notifier: Notifier) -> Running:
    """``KeyFileError``, ``StoreError``, ``DoorError`` or ``OSError`` if something is not there."""
    plans = tuple(
        DoorPlan(door.tables, door.signs, load_secret(secret_path(door.secret_key)))
        for door in config.doors
    )
    sealer = load_sealer(secret_path(config.sealing_key)) if config.sealing_key else None
    doors = Doors(plans, Limits(**{k: v for k, v in config.limits.items() if k != "group_most"}))
    try:
        store = _opened(config, log, notifier)
    except BaseException:
        doors.close()
        raise
    plan = ServerPlan(
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
        keeper=Keeper(store, holder_name(config), config.lease_ms, alive=notifier.feed),
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
        http = Http(*config.http, means.bridge, log) if config.http is not None else None
    except BaseException:
        server.close()
        raise
    if http is not None:
        http.start()
        if http.trouble:
            server.cautions.append((NO_PORT, http.trouble))
    return Running(server, control, http)
