"""The table and its link put together: keys, what is heard, what is sent.

The socket's library is loaded only where there is a link.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from controller.config.live import LiveConfig
from controller.daemon.writer import Released
from controller.history.identity import program_hash
from controller.link.cursor import Cursor
from controller.link.hearing import Heard
from controller.link.session import Head, TableIdentity

if TYPE_CHECKING:
    from controller.daemon.compose import Started
    from controller.link.client import LinkClient


class Link:
    """A running link, or none: then nothing is sent and nothing heard."""

    def __init__(self, client: LinkClient | None = None) -> None:
        self._client = client

    def start(self) -> None:
        if self._client is not None:
            self._client.start()

    def released(self, released: Released) -> None:
        if self._client is not None:
            status, journal = released.status, released.status["journal"]
            head = Head(released.sent, journal["next_seq"] - 1, journal["head"])
            self._client.released(released.outbox, head, test_mode=bool(status.get("test_mode")))

    async def close(self, why: str) -> None:
        if self._client is not None:
            await self._client.close(why)

    def status(self) -> dict[str, Any] | None:
        return None if self._client is None else self._client.status()

    def fingerprints(self) -> dict[str, str]:
        return {} if self._client is None else self._client.fingerprints()


def identity_of(config: LiveConfig, journal_id: str) -> TableIdentity:
    return TableIdentity(
        config.name,
        journal_id,
        config.game,
        program_hash(),
        config.effective_hash,
        config.settings.meter_rule,
    )


def link_of(started: Started, put: Callable[[Heard], None]) -> Link:
    """In the event loop's thread, before the writer runs."""
    config, journal, kept = started.config, started.journal, started.table.kept
    places = kept.places
    if config.link is None or started.link_keys is None:
        return Link()
    from controller.link.client import Keys, LinkClient

    def keep(seq: int) -> None:
        journal.keep_from_seq = seq

    client = LinkClient(
        identity_of(config, journal.journal_id),
        config.link.endpoints,
        Keys(*started.link_keys),
        Cursor(config.journal.path, places),
        head=Head(places.last, journal.next_seq - 1, journal.head.hex()),
        limit_ms=config.link.heartbeat_limit_ms,
        put=put,
        keep=keep,
        receipt=kept.receipt,
    )
    return Link(client)
