"""PURE: who gets in. The allow-list in memory, asked at every handshake and at every message.

A connection is admitted by its CURVE key (ZAP, ZeroMQ RFC 27). Its User-Id is that key, and every
message carries it: so a revoked key is refused with its next message, whatever it is connected to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from link.registry import is_valid
from link.rows import KeyRow
from record.link.keys import encode_z85, fingerprint

TABLES: Final = b"tables"
SIGNS: Final = b"signs"
"""ZAP domains: the socket of events, the socket of meters."""
ADMITTED: Final[Mapping[bytes, tuple[str, ...]]] = {
    TABLES: ("table",),
    SIGNS: ("sign", "table", "server"),
}
"""Domain to the roles that may connect there."""
NEVER: Final = 1 << 62

_VERSION: Final = b"1.0"
_OK: Final = b"200"
_DENIED: Final = b"400"


@dataclass(frozen=True, slots=True)
class Denied:
    """A handshake that was refused: what the alarm says."""

    address: str
    why: str


class Gate:
    def __init__(self) -> None:
        self._rows: dict[str, KeyRow] = {}
        self._valid: dict[str, KeyRow] = {}
        self._until_ms = 0
        """``_valid`` holds until here: then a key begins or ends."""

    @property
    def rows(self) -> Mapping[str, KeyRow]:
        return self._rows

    def load(self, rows: Iterable[KeyRow]) -> None:
        self._rows = {row.public: row for row in rows}
        self._until_ms = 0

    def put(self, rows: Iterable[KeyRow]) -> None:
        self._rows.update((row.public, row) for row in rows)
        self._until_ms = 0

    def refresh(self, now_ms: int) -> list[KeyRow]:
        """To be called before messages of this moment are looked at; the keys that have ended."""
        if now_ms < self._until_ms:
            return []
        before = self._valid
        self._valid = {key: row for key, row in self._rows.items() if is_valid(row, now_ms)}
        ends = [
            at for row in self._rows.values() for at in (row.from_ms, row.until_ms) if at > now_ms
        ]
        self._until_ms = min(ends, default=NEVER)
        return [self._rows.get(key, row) for key, row in before.items() if key not in self._valid]

    def holder(self, user_id: str) -> KeyRow | None:
        """Whose message this is; None for a key that is unknown, over, or revoked."""
        return self._valid.get(user_id)

    def answer(self, request: Sequence[bytes]) -> tuple[list[bytes], Denied | None]:
        """The ZAP reply to a request, and what to say about it if it was denied."""
        if len(request) < 6 or request[0] != _VERSION:
            return [_VERSION, b"", b"500", b"not a request", b"", b""], None
        _, request_id, domain, address, _, mechanism, *credentials = request
        why = ""
        key = ""
        if mechanism != b"CURVE":
            why = f"mechanism {mechanism.decode('ascii', 'replace')[:16]!r}"
        elif len(credentials) != 1 or len(credentials[0]) != 32:
            why = "no key"
        else:
            key = encode_z85(credentials[0])
            why = self._wrong(key, domain)
        if why:
            told = Denied(address.decode("ascii", "replace")[:64], why)
            return [_VERSION, request_id, _DENIED, b"not admitted", b"", b""], told
        return [_VERSION, request_id, _OK, b"OK", key.encode(), b""], None

    def _wrong(self, key: str, domain: bytes) -> str:
        row = self._valid.get(key)
        if row is not None:
            if row.role in ADMITTED.get(domain, ()):
                return ""
            place = domain.decode("ascii", "replace")[:16]
            return f"key {fingerprint(key)} of {row.role} {row.table} at the door for {place}"
        known = self._rows.get(key)
        if known is None:
            return f"unknown key {fingerprint(key)}"
        state = "revoked" if known.revoked_ms else "not valid now"
        return f"key {fingerprint(key)} of {known.table}, {state}"


Kind = tuple[str, ...]


class AlarmLimiter:
    """How often one kind of trouble is reported: at once, then at most once a period with a count.

    Pure; the time is passed in. A kind is a code, and the table or the subject that it is about. A
    kind is forgotten after its period, so memory is bounded by what is reported in one.
    """

    def __init__(self, period_ms: int) -> None:
        self._period_ms = period_ms
        self._next_ms: dict[Kind, int] = {}
        self._held: dict[Kind, tuple[int, str]] = {}

    def raised(self, kind: Kind, text: str, now_ms: int) -> str | None:
        """What to tell now, or None if it waits for ``due``."""
        if now_ms >= self._next_ms.get(kind, 0):
            self._next_ms[kind] = now_ms + self._period_ms
            return text
        count, _ = self._held.get(kind, (0, ""))
        self._held[kind] = (count + 1, text)
        return None

    def due(self, now_ms: int) -> list[tuple[Kind, str]]:
        """(kind, text) of what waited long enough."""
        told = []
        for kind, (count, text) in list(self._held.items()):
            if now_ms >= self._next_ms[kind]:
                del self._held[kind]
                self._next_ms[kind] = now_ms + self._period_ms
                told.append((kind, f"{text}; {count} of this kind since the last report"))
        self._next_ms = {kind: at for kind, at in self._next_ms.items() if now_ms < at}
        return told
