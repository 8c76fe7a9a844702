"""Ed25519 keys in files, signatures over heads. Never prints a secret; page section 6.

A ``SecretKey`` shows itself to nobody: it prints as its fingerprint.
"""

from __future__ import annotations

import os
import re
import stat
from hashlib import sha256
from pathlib import Path
from typing import Final

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.chips.errors import KeyFileError, NotPermittedError, Problem, UnreadableError
from controller.chips.files import create_files

SECRET_WORD: Final = "underfelt-chips-secret-1"
PUBLIC_WORD: Final = "underfelt-chips-public-1"
OTHERS_MAY: Final = stat.S_IRWXG | stat.S_IRWXO
MAX_KEY_FILE_BYTES: Final = 1024
PUBLIC_KEY_BYTES: Final = 32


class SecretKey:
    """A signing key that cannot be printed by accident."""

    __slots__ = ("_key", "public")

    def __init__(self, seed: bytes) -> None:
        self._key = SigningKey(seed)
        self.public = bytes(self._key.verify_key)

    def sign(self, message: bytes) -> bytes:
        return bytes(self._key.sign(message).signature)

    def __repr__(self) -> str:
        return f"<secret key of {fingerprint(self.public)}>"


def fingerprint(public_key: bytes) -> str:
    return sha256(public_key).hexdigest()[:16]


def verified(public_key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        VerifyKey(public_key).verify(message, signature)
    except BadSignatureError:
        return False
    return True


def make_keys(secret_path: Path, public_path: Path) -> str:
    """Two new files, or none; the answer is the fingerprint."""
    key = SigningKey.generate()
    public = bytes(key.verify_key)
    create_files(
        (secret_path, f"{SECRET_WORD} {bytes(key).hex()}\n".encode(), 0o400),
        (public_path, f"{PUBLIC_WORD} {public.hex()}\n".encode(), 0o644),
    )
    return fingerprint(public)


def load_secret(path: Path) -> SecretKey:
    """Refuses a key that group or others may read: it may have been copied."""
    return SecretKey(_load(path, SECRET_WORD, secret=True))


def load_public(path: Path) -> bytes:
    return _load(path, PUBLIC_WORD, secret=False)


def _load(path: Path, word: str, *, secret: bool) -> bytes:
    try:
        with path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            text = stream.read(MAX_KEY_FILE_BYTES)
    except OSError as error:
        raise UnreadableError(
            Problem("E-CHIP-050", f"{error.strerror}; give a key file", str(path))
        ) from None
    if secret and mode & OTHERS_MAY:
        said = f"mode {stat.S_IMODE(mode):04o}: group or others may use this secret key; chmod 0400"
        raise NotPermittedError(Problem("E-CHIP-040", said, str(path)))
    found = re.fullmatch(rb"([a-z0-9-]+) ([0-9a-f]{64})\n?", text)
    if found is None or found[1] != word.encode():
        # What stands in the file is not repeated: it may be a secret in the wrong place.
        raise KeyFileError(Problem("E-CHIP-041", f"expected a line '{word} KEY'", str(path)))
    return bytes.fromhex(found[2].decode())
