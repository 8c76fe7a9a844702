"""Cards and frames that nobody may read yet, sealed for the disk; page section 4.

A sealed card is a commitment, SHA-256 of a random 32-byte nonce and the card's byte, and a box with
both. The nonce and the card are told at the public moment, so a verifier needs SHA-256 and nothing
else. Every card has its own key, made from the table's key and its place in the journal. Never
prints a key, a nonce or a card.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b, sha256
from hmac import compare_digest
from typing import Any, Final, NoReturn, Protocol

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from controller.history.codec import BAD_VALUE, MISSING_FIELD, UNKNOWN_FIELD
from controller.history.errors import BodyError, SealError
from controller.rules.cards import DECK_SIZE, Card, HiddenCard
from record.kit.words import shown

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 32
BOX_NONCE_BYTES: Final = SecretBox.NONCE_SIZE
BOX_BYTES: Final = BOX_NONCE_BYTES + SecretBox.MACBYTES + NONCE_BYTES + 1
COMMIT_BYTES: Final = 32

_CARD: Final = b"underfelt card 1"
_FRAME: Final = b"underfelt frame1"

Random = Callable[[int], bytes]


class TableKey:
    """The table's master key; it shows itself to nobody and cannot be serialised."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a table key has {KEY_BYTES} bytes")
        self._key = key

    def __repr__(self) -> str:
        return "<table key>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a table key cannot be serialised")

    def for_card(self, journal_id: str, seq: int, index: int) -> bytes:
        """The key of one card: its journal, its record, its place in the record."""
        return self._derive(_CARD, journal_id, seq.to_bytes(8, "big") + index.to_bytes(2, "big"))

    def for_frame(self, log_id: str, seq: int) -> bytes:
        return self._derive(_FRAME, log_id, seq.to_bytes(8, "big"))

    def _derive(self, purpose: bytes, name: str, place: bytes) -> bytes:
        named = name.encode()
        told = len(named).to_bytes(1, "big") + named + place
        return blake2b(told, digest_size=KEY_BYTES, key=self._key, person=purpose).digest()


# --- cards -------------------------------------------------------------------------------------


def commitment(nonce: bytes, card: int) -> bytes:
    """What binds the table to a card before anybody may know it."""
    return sha256(nonce + bytes((card,))).digest()


@dataclass(frozen=True, slots=True)
class Sealed:
    """A card on disk. Every one has the same size."""

    commit: bytes
    box: bytes

    def to_json(self) -> dict[str, str]:
        return {"commit": self.commit.hex(), "box": self.box.hex()}

    @staticmethod
    def from_json(value: Any) -> Sealed:
        if not isinstance(value, dict):
            raise BodyError(BAD_VALUE, "", f"{shown(value)}: expected a sealed card")
        for name in value:
            if name not in ("commit", "box"):
                raise BodyError(UNKNOWN_FIELD, f".{name}", "unknown field of a sealed card")
        return Sealed(hex_field(value, "commit", COMMIT_BYTES), hex_field(value, "box", BOX_BYTES))


def hex_field(found: dict[str, Any], name: str, size: int) -> bytes:
    """``size`` bytes as lower-case hex."""
    if name not in found:
        raise BodyError(MISSING_FIELD, f".{name}", "missing")
    value = found[name]
    if not isinstance(value, str) or not re.fullmatch(rf"[0-9a-f]{{{2 * size}}}", value):
        expected = f"{2 * size} hex digits"
        raise BodyError(BAD_VALUE, f".{name}", f"{shown(value)}: expected {expected}")
    return bytes.fromhex(value)


class OpensCards(Protocol):
    """The part that can open a sealed card."""

    def open(self, sealed: Sealed, seq: int, index: int) -> tuple[HiddenCard, bytes]: ...


@dataclass(frozen=True, slots=True)
class CardSealer:
    """Seals and opens the cards of one journal. ``random`` is asked twice per card, always."""

    key: TableKey
    journal_id: str
    random: Random = secrets.token_bytes

    def seal(self, hidden: HiddenCard, seq: int, index: int) -> Sealed:
        # The only place outside the rules that looks into a hidden card: it goes from here into
        # the box and nowhere else. No branch and no size depends on it.
        card = hidden._card
        nonce = self.random(NONCE_BYTES)
        box = SecretBox(self.key.for_card(self.journal_id, seq, index))
        # A random box nonce although each key seals one card: a record lost in a power cut gives
        # its number, hence its keys, to the next one.
        boxed = box.encrypt(nonce + bytes((card,)), self.random(BOX_NONCE_BYTES))
        return Sealed(commitment(nonce, card), bytes(boxed))

    def open(self, sealed: Sealed, seq: int, index: int) -> tuple[HiddenCard, bytes]:
        """The card, hidden again, and its nonce. Refuses what was altered, moved or not ours."""
        card, nonce = self.look(sealed, seq, index)
        return HiddenCard(card), nonce

    def look(self, sealed: Sealed, seq: int, index: int) -> tuple[Card, bytes]:
        """The card itself, whether or not it became public; only for callers who may know it
        (docs/operations/dispute.md)."""
        box = SecretBox(self.key.for_card(self.journal_id, seq, index))
        place = f"record {seq}, card {index + 1}"
        try:
            plain = bytes(box.decrypt(sealed.box))
        except CryptoError:
            said = f"{place}: does not open: another table's key, or altered"
            raise SealError("E-SEAL-004", said) from None
        nonce, card = plain[:NONCE_BYTES], plain[-1]
        if not compare_digest(commitment(nonce, card), sealed.commit) or card >= DECK_SIZE:
            raise SealError("E-SEAL-005", f"{place}: the box is not what was committed to")
        return Card(card), nonce


# --- frames ------------------------------------------------------------------------------------


def seal_frame(key: bytes, data: bytes, random: Random) -> bytes:
    return bytes(SecretBox(key).encrypt(data, random(BOX_NONCE_BYTES)))


def open_frame(key: bytes, sealed: bytes) -> bytes:
    try:
        return bytes(SecretBox(key).decrypt(sealed))
    except (CryptoError, ValueError):
        raise SealError("E-SEAL-004", "frame: does not open: another key, or altered") from None
