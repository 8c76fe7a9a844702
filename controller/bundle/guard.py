"""The last look before anything leaves: is there a secret of this table in it, in any form?

Pure, but for reading the files that hold the secrets.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

ALPHABET: Final = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
)
SECRET_BYTES: Final = 32


def z85_encode(data: bytes) -> str:
    """ZeroMQ's base 85, four bytes to five characters."""
    found = []
    for at in range(0, len(data), 4):
        value = int.from_bytes(data[at : at + 4], "big")
        found.append("".join(ALPHABET[value // 85**power % 85] for power in (4, 3, 2, 1, 0)))
    return "".join(found)


def z85_decode(text: str) -> bytes | None:
    if len(text) % 5 or any(letter not in ALPHABET for letter in text):
        return None
    found = b""
    for at in range(0, len(text), 5):
        value = 0
        for letter in text[at : at + 5]:
            value = value * 85 + ALPHABET.index(letter)
        if value >> 32:
            return None
        found += value.to_bytes(4, "big")
    return found


def secrets_in(text: str) -> Iterator[bytes]:
    """Every key of 32 bytes in a key file, however it is written there."""
    for word in text.split():
        if re.fullmatch(r"[0-9a-fA-F]{64}", word):
            yield bytes.fromhex(word)
        elif len(word) == SECRET_BYTES * 5 // 4 and (found := z85_decode(word)) is not None:
            yield found


def forms(secret: bytes) -> set[bytes]:
    """Raw, hexadecimal, base 64 wherever it begins, Z85."""
    found = {secret, secret.hex().encode(), secret.hex().upper().encode(),
             z85_encode(secret).encode()}  # fmt: skip
    for shift in range(3):
        whole = base64.b64encode(bytes(shift) + secret)
        part = whole[-(-shift * 8 // 6) : (shift + len(secret)) * 8 // 6]
        found |= {part, part.replace(b"+", b"-").replace(b"/", b"_")}
    return found


class Guard:
    """Knows the secrets that this user may read; ``blind`` are the files that cannot be read."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._needles: set[bytes] = set()
        self.blind: list[OSError] = []
        self.pasted = False
        """A key was pasted where the path of its file belongs."""
        for path in paths:
            if pasted := [*secrets_in(path.name), *secrets_in(str(path)[-SECRET_BYTES * 5 // 4 :])]:
                self.pasted = True
                self._needles |= {form for secret in pasted for form in forms(secret)}
                continue
            try:
                text = path.read_text("ascii", "replace")
            except OSError as error:
                self.blind.append(error)
                continue
            for secret in secrets_in(text):
                self._needles |= forms(secret)

    def finds(self, data: bytes) -> bool:
        return any(needle in data for needle in self._needles)
