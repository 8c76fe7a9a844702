"""A table's link: to its servers over a network, or none.

The socket's library is loaded only where there is a link.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from controller.daemon.inputs import Input, KeepFrom, Released
from controller.daemon.setup import LinkSetup
from controller.faults.status import LinkStatus, Status
from controller.faults.troubles import SILENT, troubles
from controller.link.cursor import Cursor
from controller.link.session import Head, TableIdentity
from record.link.messages import Receipt, TableNow

if TYPE_CHECKING:
    from controller.link.client import LinkClient

MOST_TROUBLES: Final = 16
CODE: Final = re.compile(r"E-[A-Z]{3,4}-[0-9]{3}")
Put = Callable[[Input], None]
"""Gives the writer an input."""
NowOf = Callable[[], TableNow | None]


class Link(Protocol):
    def start(self) -> None:
        """In the event loop; before the first group is released."""

    def released(self, released: Released) -> None:
        """A group is durable."""

    async def close(self, why: str) -> None: ...

    def status(self) -> LinkStatus | None:
        """None: there is no link server."""

    def fingerprints(self) -> dict[str, str]:
        """Of the public keys."""


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """All that a link needs of its table."""

    identity: TableIdentity
    servers: LinkSetup
    cursor: Cursor
    head: Head
    receipt: Receipt | None


Network = Callable[[LinkPlan, Put], Link]
"""Makes the link of a table that has link servers."""


class NoLink:
    """Nothing is sent and nothing heard."""

    def start(self) -> None:
        pass

    def released(self, released: Released) -> None:
        pass

    async def close(self, why: str) -> None:
        pass

    def status(self) -> LinkStatus | None:
        return None

    def fingerprints(self) -> dict[str, str]:
        return {}


class ServerLink:
    """``make`` gets what says how the table stands: it is asked with each heartbeat."""

    def __init__(self, make: Callable[[NowOf], LinkClient]) -> None:
        self._status: Status = {}
        self._client = make(lambda: table_now(self._status))

    def start(self) -> None:
        self._client.start()

    def released(self, released: Released) -> None:
        self._status = released.status
        self._client.released(released.outbox, released.head, test_mode=released.test_mode)

    async def close(self, why: str) -> None:
        await self._client.close(why)

    def status(self) -> LinkStatus | None:
        return self._client.status()

    def fingerprints(self) -> dict[str, str]:
        return self._client.fingerprints()


def table_now(status: Status) -> TableNow | None:
    """For the floor: each code once, the worst first. None before there is a round."""
    if "phase" not in status:
        return None
    found = (one.code for one in troubles(status) if one.level != "note")
    # A driver may make codes of its own: what is no code on the wire would get the table muted.
    codes = dict.fromkeys(code if CODE.fullmatch(code) else SILENT for code in found)
    return TableNow(str(status["phase"]), status["round"], 0, tuple(codes)[:MOST_TROUBLES])


def zmq_network(plan: LinkPlan, put: Put) -> Link:
    from controller.link.client import Keys, LinkClient

    servers = plan.servers

    def client(now_of: NowOf) -> LinkClient:
        return LinkClient(
            plan.identity,
            servers.endpoints,
            Keys(servers.secret, servers.server),
            plan.cursor,
            head=plan.head,
            limit_ms=servers.limit_ms,
            put=put,
            keep=lambda seq: put(KeepFrom(seq)),
            now_of=now_of,
            receipt=plan.receipt,
        )

    return ServerLink(client)


def no_network(_plan: LinkPlan, _put: Put) -> Link:
    """For a table that is only looked at: it does not dial."""
    return NoLink()
