"""The one place where a link server is put together: ``compose``.

``underfelt link`` gives it a configuration alone. Tests and benchmarks give it their own store,
clock, randomness or network, and get the same server.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from time import sleep
from typing import Final

from link.config import LinkConfig
from link.ledger.mystery import Sealer
from link.sealing import load_sealer
from link.server.bridge import Bridge
from link.server.clock import SYSTEM_CLOCK, Clock
from link.server.control import Control
from link.server.doors import DoorPlan, Doors, Network
from link.server.http import NO_PORT, Http
from link.server.leadership import Leadership
from link.server.log import Log
from link.server.server import Server
from link.store import open_store
from link.store.base import Store
from link.store.errors import Failed, Unknown
from record.kit.notify import Notifier
from record.link.keys import load_secret, secret_path

AGAIN_S: Final = 1.0
Chance = Callable[[], bytes]
"""32 random bytes."""


@dataclass(frozen=True, slots=True)
class LinkServer:
    """Complete, and owner of its store; nothing listens before ``open``."""

    server: Server
    control: Control
    http: Http | None

    def open(self) -> None:
        """``DoorError`` or ``OSError`` if an address cannot be had; then all of it is closed."""
        try:
            self.server.open()
            self.control.start()
            if self.http is not None:
                self.http.start()
        except BaseException:
            self.close()
            raise

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


def compose(
    config: LinkConfig,
    store: Store | None = None,
    clock: Clock = SYSTEM_CLOCK,
    chance: Chance = lambda: secrets.token_bytes(32),
    network: Network | None = None,
    *,
    log: Log | None = None,
    notifier: Notifier | None = None,
    sealer: Sealer | None = None,
    bridge: Bridge | None = None,
    holder: str = "",
    pause: Callable[[float], None] = sleep,
) -> LinkServer:
    """What is not given is opened as the configuration says: keys, then store, then HTTP port.
    ``KeyFileError``, ``StoreError`` or ``DoorError`` if that cannot be had."""
    log, notifier, bridge = log or Log(), notifier or Notifier(None), bridge or Bridge()
    options = config.server
    if sealer is None and options.sealing_key:
        sealer = load_sealer(secret_path(options.sealing_key))
    network = network or _doors(config)
    try:
        store = store or _opened(config, clock, log, notifier)
    except BaseException:
        network.close()
        raise
    http = Http(config.http.address, config.http.port, bridge, log) if config.http.on else None
    leadership = Leadership(
        store, holder or _holder(options.name), options.lease_ms, pause, alive=notifier.feed
    )
    server = Server(
        config,
        store=store,
        leadership=leadership,
        network=network,
        bridge=bridge,
        clock=clock,
        chance=chance,
        sealer=sealer,
        log=log,
        notifier=notifier,
        cautions=[(NO_PORT, http.trouble)] if http is not None and http.trouble else [],
    )
    return LinkServer(server, Control(options.control, bridge, log), http)


def _holder(name: str) -> str:
    """Whose lease it is: this process and no other, not even the one before it."""
    return f"{name}@{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"


def _doors(config: LinkConfig) -> Doors:
    plans = tuple(
        DoorPlan(door.tables, door.signs, load_secret(secret_path(door.secret_key)))
        for door in config.doors
    )
    return Doors(plans, config.limits)


def _opened(config: LinkConfig, clock: Clock, log: Log, notifier: Notifier) -> Store:
    """Waits for a database on another machine: it may be changing over, and systemd gives up a
    service that failed five times."""
    options, said = config.server, ""
    while True:
        try:
            store = open_store(
                options.store,
                wait_ms=options.store_wait_ms,
                standby_required=options.require_synchronous_standby,
            )
            try:
                store.migrate(at_ms=clock.now_ms())
            except BaseException:
                store.close()
                raise
            return store
        except (Failed, Unknown) as error:
            if not options.store.startswith("postgres"):
                raise
            trouble: Failed | Unknown = error
        if str(trouble) != said:
            said = str(trouble)
            log.error(f"waiting for the store: {said}", fault_code=trouble.code)
        notifier.more_time(30_000_000)
        notifier.status(f"{options.name}: waiting for the store: {said}")
        sleep(AGAIN_S)
