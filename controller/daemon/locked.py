"""A table that may not play: it says so on its prompt and waits for a person.

Started when the table itself would not start (crash loop, broken configuration or journal). It
writes nothing and accepts nothing; whatever of the layout can be read is used to tell.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from controller.config.live import LiveConfig, line_kinds, load_live
from controller.daemon.service import Service
from controller.faults.catalogue import said as what
from controller.faults.troubles import LOCKED_MODE
from drivers.build import build, vendor_kinds
from drivers.orders import EnableAcceptors, LockCards, Order, ShowLamps, ShowPrompt
from drivers.transport.hub import Hub
from record.kit.config import ConfigError
from record.kit.notify import Notifier

PULSE_S: Final = 1.0
LOCKED: Final[tuple[Order, ...]] = (
    LockCards(True),
    EnableAcceptors(frozenset()),
    ShowLamps(("off",) * 7, beacon=True),
    ShowPrompt(("TABLE LOCKED", "", "CALL THE TECHNICIAN", "WAIT")),
)


async def stay_locked(path: str, stop: asyncio.Event, notifier: Notifier) -> None:
    """Until stopped."""
    config = _config(path)
    hub, service = _hub(config), await _service(config)
    notifier.ready("LOCKED: call the technician")
    if hub is not None:
        hub.start()
    while not stop.is_set():
        notifier.feed()
        if hub is not None:
            for order in LOCKED:
                hub.order(order)
        try:
            await asyncio.wait_for(stop.wait(), PULSE_S)
        except TimeoutError:
            continue
    if hub is not None:
        hub.close()
    if service is not None:
        await service.close()


async def _service(config: LiveConfig | None) -> Service | None:
    """``underfelt status`` says what has happened, as far as somebody can be asked."""
    if config is None:
        return None
    said = {"table": config.name, "game": config.game, "mode": "locked"}
    locked = {"error": LOCKED_MODE, "text": "the table is locked", "do": what(LOCKED_MODE).action}
    verbs = {"status": lambda _: said, "shell": lambda _: locked}
    service = Service(config.service.socket, verbs)
    try:
        await service.start()
    except OSError:
        return None  # the prompt says it, and the log
    return service


def _config(path: str) -> LiveConfig | None:
    try:
        return load_live(Path(path), line_kinds())
    except (ConfigError, OSError):
        return None  # this is what it may be locked for


def _hub(config: LiveConfig | None) -> Hub | None:
    if config is None:
        return None
    return Hub(build(config.layout, vendor_kinds()), config.layout, lambda _reading: None)
