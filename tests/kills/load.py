"""A table without devices: the real journal, outbox, session and socket under a generated load.

python -m tests.kills.load FOLDER NAME ENDPOINT SERVER_KEY SEED

Rounds of wagers, reversals and claims go into the journal as the daemon's writer puts them there,
group by group, each synced before it is sent. Killed at any moment it starts again from its journal
alone, and what it plays next depends on the seed and the journal's last event only. It plays until
there is a file ``quiet`` in the folder above, answers with one in its own, and ends with SIGTERM.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
import time
from pathlib import Path
from typing import Final
from unittest.mock import patch

from controller.link import session
from controller.link.client import Keys, LinkClient
from controller.link.cursor import Cursor, Places
from controller.link.session import Head, TableIdentity
from record.journal import Journal
from record.link.events import (
    AnyBody,
    Claim,
    Claimed,
    Contributed,
    Reversed,
    RoundPlayed,
    Wager,
)
from record.link.keys import load_public, load_secret
from record.link.messages import Event
from record.link.outbox import OUTBOX, event_of, outbox_body
from tests.kills.witness import watched

PACE_S: Final = 0.03
"""Between two rounds."""
SEATS: Final = 7
CREDIT_CENTS: Final = 100
MOST_CREDITS: Final = 3
MOST_WAITING: Final = 320
"""More than the client keeps in memory: some of it is read back from the journal."""
SEGMENT_BYTES: Final = 128 << 10
"""Small, so that kills hit rotations."""
GREET_MS: Final = 600
SOON_MS: Final = 100
"""The session's first waits, shorter than in a casino: a thousand kills have less time."""
GAME: Final = "MBS3"


def round_of(number: int, rng: random.Random) -> list[AnyBody]:
    seats = sorted(rng.sample(range(1, SEATS + 1), rng.randint(1, SEATS)))
    credits = [rng.randint(1, MOST_CREDITS) for _ in seats]
    wagers = tuple(Wager(seat, n * CREDIT_CENTS, n) for seat, n in zip(seats, credits, strict=True))
    bodies: list[AnyBody] = [Contributed(number, wagers)]
    chance = rng.random()
    if chance < 0.01:
        bodies.append(Claimed(number, (Claim(rng.choice(seats), "straight flush", 10),)))
    elif chance < 0.15:
        back = [(w, rng.randint(1, w.credits)) for w in wagers if rng.random() < 0.5]
        if back:
            gone = tuple(Wager(w.seat, n * CREDIT_CENTS, n) for w, n in back)
            bodies.append(Reversed(number, gone))
    bodies.append(RoundPlayed(number, {"round": number}, {"seats": len(seats)}))
    return bodies


class Load:
    """One process of the table; ``left`` is what the process before it had not yet written of its
    last round."""

    def __init__(self, folder: Path, name: str, seed: str) -> None:
        self._folder, self._name, self._seed = folder, name, seed
        self._journal = Journal.open(
            folder / "journal", table=name, segment_bytes=SEGMENT_BYTES, now_ms=now_ms()
        )
        self._places = Places()
        written = 0
        self._round = 0
        for record in self._journal.records():
            if record.kind == OUTBOX:
                self._places.take(record)
                body = event_of(record).body
                written = 1 if isinstance(body, Contributed) else written + 1
                self._round = body.round
        self._left = self._bodies()[written:] if written else []
        self._sent = self._places.last

    def _bodies(self) -> list[AnyBody]:
        return round_of(self._round, random.Random(f"{self._seed}/{self._name}/{self._round}"))

    def _group(self, bodies: list[AnyBody]) -> list[Event]:
        """Durable when it returns."""
        at_ms, events = now_ms(), []
        for body in bodies:
            self._sent += 1
            at = self._journal.append(OUTBOX, outbox_body(self._sent, body), at_ms)
            events.append(Event(self._sent, at.seq, at.hash.hex(), at_ms, body))
        self._journal.sync()
        return events

    def _client(self, endpoint: str, server_key: Path) -> LinkClient:
        journal = self._journal
        identity = TableIdentity(
            self._name, journal.journal_id, GAME, "load", "0" * 64, "sequential"
        )
        return watched(self._folder / "witness")(
            identity,
            [endpoint],
            Keys(load_secret(self._folder / "link.key"), load_public(server_key)),
            Cursor(self._folder / "journal", self._places),
            head=Head(self._sent, journal.next_seq - 1, journal.head.hex()),
            limit_ms=60_000,
            put=_nothing,
            keep=_nothing,
            now_of=lambda: None,
        )

    async def run(self, endpoint: str, server_key: Path) -> None:
        ending = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
        client = self._client(endpoint, server_key)
        client.start()
        quiet = self._folder.parent / "quiet"
        while not ending.is_set():
            if quiet.exists():
                (self._folder / "quiet").touch()  # nothing more is written from here on
            elif client.session.outbox.depth < MOST_WAITING:
                self._play(client)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), PACE_S)
        await client.close("the test ends")
        self._journal.close()

    def _play(self, client: LinkClient) -> None:
        """The rest of a round, in one group or in several."""
        if not self._left:
            self._round += 1
            self._left = self._bodies()
        several = random.random() < 0.5
        while self._left:
            bodies, self._left = (self._left[:1], self._left[1:]) if several else (self._left, [])
            events = self._group(bodies)
            journal = self._journal
            head = Head(self._sent, journal.next_seq - 1, journal.head.hex())
            client.released(events, head)
        self._journal.prepare()


def _nothing(_: object) -> None:
    """Nobody plays here who would hear it, and nothing is ever removed."""


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def main(folder: str, name: str, endpoint: str, server_key: str, seed: str) -> None:
    with patch.multiple(session, GREET_MS=GREET_MS, SOON_MS=SOON_MS):
        asyncio.run(Load(Path(folder), name, seed).run(endpoint, Path(server_key)))


if __name__ == "__main__":
    main(*sys.argv[1:])
