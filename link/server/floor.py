"""What each message of a table leads to: checked, given to the ledger, answered after the commit.

No socket and no store: frames and times come in, answers are taken out by ``answers`` once the
group that they speak of is durable. One ack per connection and group, with the meters if they have
changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from link.ledger.ledger import Ledger
from link.ledger.orders import SERVER, Order, Person
from link.ledger.state import Poison, Reply, Sign
from link.receipts import Receipts
from link.rows import KeyRow
from link.server.gate import AlarmLimiter
from link.server.sessions import Peer, Sessions, TableSession
from record.kit.outside import excerpt, printable
from record.kit.words import counted
from record.link.codec import WireError, encode, for_version, offered, received
from record.link.messages import (
    VERSION,
    VERSIONS,
    Ack,
    Beat,
    Bye,
    Checkpoint,
    Event,
    FromServer,
    FromTable,
    Hello,
    MeterValue,
    Noted,
    Receipt,
    ReceiptShown,
    ServerRefused,
    Welcome,
)

RECEIPTS_SINCE: Final = 3
"""What the server says has not changed since this version."""
STRIKES: Final = 3
"""Frames that are no messages, until a connection is given up."""
MUTED_MS: Final = 30_000
"""So long nothing is read from a key that sent them."""
FORGIVEN_MS: Final = 600_000
"""Beats and events in between do not count: a frame that always fails comes again and again."""
SILENT_BEATS: Final = 3
ALARM_MS: Final = 1_000
MOST_TEXT: Final = 500
KEPT_BYTES: Final = 4_000
"""Of a dead letter; the hash says which frame it was."""
NOT_TAKEN: Final = "E-LNK-022"
FORGED: Final = "E-LNK-023"


class Floor:
    """Made again whenever this server begins to lead."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        server: str,
        epoch: int,
        beat_ms: int,
        receipts: Receipts,
        compare: Callable[[str, Receipt], None],
    ) -> None:
        """``compare`` is given a table and a receipt that this server made: it raises if the store
        does not have what it proves."""
        self.ledger = ledger
        self._receipts, self._compare = receipts, compare
        self.epoch = epoch
        self.sessions = Sessions()
        self.counts: Counter[str] = Counter()
        self.now_ms = self.mono_ms = 0
        self._server, self._beat_ms = server, beat_ms
        self._out: list[tuple[TableSession | Peer, FromServer]] = []
        self._strikes: dict[str, tuple[int, int]] = {}
        self._muted: dict[str, int] = {}
        self._alarms = AlarmLimiter(ALARM_MS)

    def at(self, now_ms: int, mono_ms: int) -> None:
        """The time of what follows: wall clock for evidence, monotonic for time-outs."""
        self.now_ms, self.mono_ms = now_ms, mono_ms
        self.sessions.now_ms = now_ms

    # --- messages ---------------------------------------------------------------------------------

    def take(self, peer: Peer, key: KeyRow, frame: bytes) -> None:
        if self._muted and self._is_muted(key):
            self.counts["muted"] += 1
            return
        session = self.sessions.at(peer)
        if session is not None and session.key != key.public:
            # A routing id can be taken over by the next peer that asks for it; a key cannot.
            self.sessions.close(peer)
            session = None
        try:
            message, body = received(frame)
        except WireError as error:
            self._malformed(peer, key, frame, error)
            return
        if session is not None and type(message) is Event:  # most of them by far
            session.heard_ms = self.mono_ms
            self.counts["events"] += 1
            table, journal = session.table, session.journal
            self._reply(self.ledger.take(table, journal, message, self.now_ms, body))
        elif isinstance(message, Hello):
            self._hello(peer, key, message)
        elif session is None:
            self.counts["without hello"] += 1
            n = message.n if isinstance(message, Event) else 0
            self._refuse(peer, "E-LNK-011", "say hello first", n)
        else:
            session.heard_ms = self.mono_ms
            self._other(session, message)

    def _hello(self, peer: Peer, key: KeyRow, message: Hello) -> None:
        self.counts["hellos"] += 1
        common = [version for version in message.versions if version in VERSIONS]
        if not common:
            self._no_version(peer, message.versions)
            return
        if message.table != key.table:
            said = f"the key is {key.table}'s, not {message.table[:64]!r}'s"
            self.alarm("E-LNK-012", key.table, f"hello as {message.table!r} with {said}")
            self._refuse(peer, "E-LNK-012", said)
            return
        greeting = self.ledger.hello(key.table, message, self.now_ms)
        if greeting.refused is not None:
            self.counts["refused"] += 1
            self.sessions.close(peer)
            self._out.append((peer, greeting.refused))
            return
        version = max(common)
        session = TableSession(peer, key, message, version, self.mono_ms)
        replaced = self.sessions.open(session)
        if replaced is not None:
            self.counts["replaced"] += 1
            self._out.append((replaced.peer, Bye("another connection of this table took over")))
        meters = self.ledger.meters(key.table)
        session.meters = meters
        self._out.append(
            (
                session,
                Welcome(
                    version,
                    self._server,
                    self.epoch,
                    greeting.n,
                    self._beat_ms,
                    meters,
                    greeting.seq,
                ),
            )
        )
        self._reply(greeting.replies)

    def _other(self, session: TableSession, message: FromTable) -> None:
        match message:
            case Beat():
                self.counts["beats"] += 1
                self._stands(session, message)
                self._out.append((session, Beat(message.at_ms)))
            case Checkpoint():
                self.counts["checkpoints"] += 1
                table, journal = session.table, session.journal
                self._reply(self.ledger.checkpoint(table, journal, message, self.now_ms))
            case ReceiptShown(receipt):
                self.counts["receipts"] += 1
                self._shown(session, receipt, message)
            case Bye():
                self.counts["byes"] += 1
                self.sessions.close(session.peer)
                self._out.append((session.peer, Bye()))

    def _stands(self, session: TableSession, beat: Beat) -> None:
        """What a table says about itself, for those who follow."""
        if (session.test, session.now) == (beat.test, beat.now):
            return
        session.test, session.now = beat.test, beat.now
        if beat.now is None or not beat.now.waiting:
            session.waiting_ms = 0
        elif not session.waiting_ms:
            session.waiting_ms = self.now_ms
        self.sessions.moves += 1

    def _shown(self, session: TableSession, receipt: Receipt, message: FromTable) -> None:
        verdict = self._receipts.verdict(receipt)
        if verdict == "ours":
            self._compare(session.table, receipt)
        elif verdict == "forged":
            # A table's word, and no proof of anything: it stops that table alone.
            poison = Poison(FORGED, f"a receipt for event {receipt.event} that is not the server's")
            table, journal, told = session.table, session.journal, encode(message)
            refused = self.ledger.halt(table, journal, poison, told, self.now_ms)
            if refused is not None:
                self._reply([(table, refused)])

    # --- what is not as it should be -------------------------------------------------------------

    def _malformed(self, peer: Peer, key: KeyRow, frame: bytes, error: WireError) -> None:
        self.counts["malformed"] += 1
        versions = offered(frame)
        if versions and not set(versions) & set(VERSIONS):
            self._no_version(peer, versions)
            return
        self._strike(peer, key, frame, error)

    def _strike(self, peer: Peer, key: KeyRow, frame: bytes, error: WireError) -> None:
        strikes, last_ms = self._strikes.get(key.public, (0, 0))
        strikes = 1 if self.mono_ms - last_ms > FORGIVEN_MS else strikes + 1
        self._strikes[key.public] = strikes, self.mono_ms
        if strikes < STRIKES:
            self._refuse(peer, error.code, error.text)
            return
        del self._strikes[key.public]
        self._mute(key)
        self.sessions.close(peer)
        said = f"{STRIKES} frames that are no messages: {error.text}"
        self._refuse(peer, "E-LNK-017", said)
        self._out.append((peer, Bye("dead letter")))
        self.alarm("E-LNK-017", key.table, said)
        letter = {
            "table": key.table,
            "bytes": len(frame),
            "sha256": sha256(frame).hexdigest(),
            "frame": excerpt(frame, KEPT_BYTES),
            "why": str(error)[:MOST_TEXT],
        }
        text = msgspec.json.encode(letter).decode()
        self.ledger.note("dead letter", text, (SERVER,), self.now_ms)

    def quarantine(self, peer: Peer, key: KeyRow, frame: bytes, why: str) -> None:
        """A message broke something that was to take it: its journal is halted, or nothing is read
        from its key for a while. Everybody else continues."""
        self.counts["quarantined"] += 1
        session = self.sessions.at(peer)
        said = f"a message could not be taken: {why}"
        if session is not None:
            table, journal = session.table, session.journal
            poison = Poison(NOT_TAKEN, said)
            refused = self.ledger.halt(table, journal, poison, frame, self.now_ms)
            if refused is not None:
                self._out.append((peer, refused))
                return
        self._mute(key)
        self._refuse(peer, NOT_TAKEN, said)
        text = f"{said}; {counted(len(frame), 'byte')}, SHA-256 {sha256(frame).hexdigest()}"
        self.alarm(NOT_TAKEN, key.table, text)

    def restart(self, ledger: Ledger) -> None:
        """Go on with what is stored: nothing since the last commit was done or is answered."""
        self.ledger = ledger
        self._out.clear()
        for session in self.sessions:
            session.slot, session.meters = -1, None

    def _mute(self, key: KeyRow) -> None:
        self._muted[key.public] = self.mono_ms + MUTED_MS

    def _no_version(self, peer: Peer, versions: Sequence[int]) -> None:
        shown = ", ".join(map(str, versions[:8]))
        said = f"versions {shown or 'none'}; this server speaks {VERSIONS[0]} to {VERSION}"
        self._refuse(peer, "E-LNK-010", said)

    def _is_muted(self, key: KeyRow) -> bool:
        until = self._muted.get(key.public)
        if until is None:
            return False
        if self.mono_ms < until:
            return True
        del self._muted[key.public]
        return False

    def _refuse(self, peer: Peer, code: str, text: str, n: int = 0) -> None:
        self.counts["refused"] += 1
        self._out.append((peer, ServerRefused(code, printable(text)[:MOST_TEXT], n)))

    def refuse_key(self, peer: Peer, n: int = 0) -> None:
        """A message over a connection whose key is no longer valid."""
        self.sessions.close(peer)
        self._refuse(peer, "E-LNK-019", "the key of this connection is not valid any more", n)

    def alarm(self, code: str, table: str, text: str, about: str = "") -> None:
        """Recorded at once; the same code about the same table again at most once a second, with a
        count. ``about``: the account, the user or the address, where it is no table."""
        text = f"{about}: {text}" if about else text
        told = self._alarms.raised((code, table, about), text, self.mono_ms)
        if told is not None:
            self.ledger.alarm(code, table, printable(told)[:MOST_TEXT], self.now_ms)

    # --- people, time ----------------------------------------------------------------------------

    def order(self, order: Order, by: Person | Sequence[Person], sign: Sign | None = None) -> None:
        """As it was read at the control socket. ``PoolError`` if it cannot be; then nothing has
        changed."""
        self._reply(self.ledger.order(order, by, self.now_ms, sign, was_read=True))

    def tick(self) -> None:
        due = self.ledger.due_ms()
        if due is not None and due <= self.now_ms:
            self._reply(self.ledger.tick(self.now_ms))
        for (code, table, _), text in self._alarms.due(self.mono_ms):
            self.ledger.alarm(code, table, printable(text)[:MOST_TEXT], self.now_ms)

    def expire(self) -> None:
        """A table silent for three intervals is no longer connected."""
        for session in self.sessions.silent_since(self.mono_ms - SILENT_BEATS * self._beat_ms):
            self.counts["silent"] += 1
            self.sessions.close(session.peer)
            self._out.append((session.peer, Bye("nothing heard for three intervals")))

    def drop(self, peer: Peer) -> None:
        """Its connection is gone, or takes nothing more."""
        self.counts["dropped"] += 1
        self.sessions.close(peer)

    def end(self, message: FromServer) -> Iterator[tuple[Peer, bytes]]:
        """The last word to everybody; nothing that was to be said before is said."""
        self._out.clear()
        for session in list(self.sessions):
            self.sessions.close(session.peer)
            yield session.peer, encode(message)

    # --- answers ---------------------------------------------------------------------------------

    def _reply(self, replies: Iterable[Reply]) -> None:
        for table, message in replies:
            session = self.sessions.of(table)
            if session is None:
                continue  # it gets the answer when it says hello
            if type(message) is Ack:
                if session.slot >= 0:
                    self._out[session.slot] = (session, message)
                    continue
                session.slot = len(self._out)
            elif isinstance(message, ServerRefused):
                self.counts["refused"] += 1
            self._out.append((session, message))

    def receipt(self) -> Receipt:
        """For what is committed."""
        state = self.ledger.state
        staff = state.staff, state.staff_head
        return self._receipts.make(self.epoch, state.event - 1, state.chain, staff)

    def answers(self) -> Iterator[tuple[Peer, bytes]]:
        """To be called after the commit."""
        out, self._out = self._out, []
        pool_of = self.ledger.state.pool_of
        meters_of: dict[int, tuple[MeterValue, ...]] = {}
        receipt: Receipt | None = None
        for whom, message in out:
            if type(whom) is tuple:
                yield whom, encode(message)
                continue
            assert isinstance(whom, TableSession)
            kind = type(message)
            if kind is Ack or kind is Beat:
                whom.slot = -1
                pool = id(pool_of.get(whom.table))  # tables of a pool are told the same
                meters = meters_of.get(pool)
                if meters is None:
                    meters = meters_of[pool] = self.ledger.meters(whom.table)
                if meters is not whom.meters and meters != whom.meters:
                    whom.meters = meters
                    message = _with_meters(message, meters)
            if whom.version < RECEIPTS_SINCE:
                message = for_version(message, whom.version)
            elif isinstance(message, Ack | Noted):
                receipt = receipt or self.receipt()
                message = _with_receipt(message, receipt)
            yield whom.peer, encode(message)


def _with_receipt(message: Ack | Noted, receipt: Receipt) -> FromServer:
    if isinstance(message, Ack):
        return Ack(message.n, message.meters, receipt)
    return Noted(message.seq, receipt)


def _with_meters(message: FromServer, meters: tuple[MeterValue, ...]) -> FromServer:
    if isinstance(message, Ack):
        return Ack(message.n, meters)
    return Beat(message.at_ms, meters) if isinstance(message, Beat) else message
