"""Keeps the seeds of mystery levels from readers of the database: a key beside the server's own.

XSalsa20-Poly1305 with a random nonce (PyNaCl's SecretBox). What cannot be opened is None.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from record.link.keys import decode_z85, load_word

WORD: Final = "underfelt-link-seal"


class BoxSealer:
    def __init__(self, key: bytes) -> None:
        self._box = SecretBox(key)

    def seal(self, secret: bytes) -> bytes:
        return bytes(self._box.encrypt(secret))

    def unseal(self, sealed: bytes) -> bytes | None:
        try:
            return bytes(self._box.decrypt(sealed))
        except (CryptoError, ValueError):
            return None

    def __repr__(self) -> str:
        return "<link sealing key>"


def load_sealer(path: Path) -> BoxSealer:
    """``KeyFileError`` if the file is no sealing key, or others may read it."""
    return BoxSealer(decode_z85(load_word(path, WORD).reveal().decode()) or b"")
