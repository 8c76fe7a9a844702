"""A good request for every verb of the link server's loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from link.ledger.orders import Note
from link.server.requests import LISTS
from link.server.staff_chain import adoption
from tests.link.people import PASSWORD, account, made
from tests.link.server.house import Live

OLD = replace(account("a.kim", "engineer"), credential="scrypt$2$1$1$00$00")
NOTE = Note("shift", "x")


def order_asked(live: Live) -> dict[str, Any]:
    return live.order(NOTE, "k.lee")


def adopt_asked(live: Live) -> dict[str, Any]:
    """An account from before keys, whatever is stored of it meanwhile."""
    order, secret = adoption(OLD, PASSWORD, bytes(16))
    live.server.office.accounts[OLD.name] = OLD
    return live.ask("adopt", order=order, key=secret)


def asked_for(verb: str, **given: Any) -> Callable[[Live], dict[str, Any]]:
    return lambda live: live.ask(verb, **given)


def backup_asked(live: Live) -> dict[str, Any]:
    folder = Path(live.server.store.place).parent
    for left in folder.glob("copy*"):
        left.unlink()
    return live.ask("backup", path=str(folder / "copy"))


ASKED: dict[str, Callable[[Live], dict[str, Any]]] = {
    **{verb: asked_for(verb) for verb in ("status", "meters", "pools", "changes")},
    **{verb: asked_for(verb) for verb in sorted(LISTS.keys() - {"rows"})},
    "rows": asked_for("rows", kind="mark"),
    "rows events": asked_for("rows", kind="events", from_ms=2_030, to_ms=2_040),
    "rows entries": asked_for("rows", kind="entries", pool="nowhere"),
    "rows alarms": asked_for("rows", kind="alarms", from_ms=1 << 50),
    "rows events of a journal": asked_for("rows", kind="events", journal="ab" * 16),
    "account": asked_for("account", name="k.lee", source=7),
    "failed": asked_for("failed", name="k.lee", source=7),
    "adopt": adopt_asked,
    "password": lambda live: live.ask("password", name="k.lee", key=made(PASSWORD)[1], source="x"),
    "order": order_asked,
    "backup": backup_asked,
}
"""A good request for every verb of the loop."""
WRITES = ("failed", "adopt", "password", "order", "backup")


def notes(store: Any) -> int:
    return sum(b'"topic":"shift"' in row.body for row in store.events())
