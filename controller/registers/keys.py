"""Ed25519 keys in one-line files, and signatures. Never prints a secret.

A ``SigningSecret`` shows itself to nobody: it prints as its fingerprint. The words that begin a key
file are its kind's, so that a key made for one register is no key of another.
"""

from __future__ import annotations

import os
import re
import stat
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.registers.errors import (
    NotPermittedError,
    Problem,
    RegisterKeyError,
    UnreadableError,
)
from controller.registers.files import create_files
from controller.registers.kinds import RegisterKind

OTHERS_MAY: Final = stat.S_IRWXG | stat.S_IRWXO
MAX_KEY_FILE_BYTES: Final = 1024
PUBLIC_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64


class SigningSecret:
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


class Signed(NamedTuple):
    """A message, its signature, and the key that is said to have made it."""

    message: bytes
    signature: bytes
    public_key: bytes

    @property
    def holds(self) -> bool:
        try:
            VerifyKey(self.public_key).verify(self.message, self.signature)
        except BadSignatureError:
            return False
        return True


def make_keys(kind: RegisterKind, secret_path: Path, public_path: Path) -> str:
    """Two new files, or none; the answer is the fingerprint."""
    key = SigningKey.generate()
    public = bytes(key.verify_key)
    create_files(
        kind,
        (secret_path, f"{kind.secret_word} {bytes(key).hex()}\n".encode(), 0o400),
        (public_path, f"{kind.public_word} {public.hex()}\n".encode(), 0o644),
    )
    return fingerprint(public)


def load_secret(kind: RegisterKind, path: Path) -> SigningSecret:
    """Refuses a key that group or others may read: it may have been copied."""
    return SigningSecret(_load(kind, path, kind.secret_word, secret=True))


def load_public(kind: RegisterKind, path: Path) -> bytes:
    return _load(kind, path, kind.public_word, secret=False)


def _load(kind: RegisterKind, path: Path, word: str, *, secret: bool) -> bytes:
    try:
        with path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            text = stream.read(MAX_KEY_FILE_BYTES)
    except OSError as error:
        said = f"{error.strerror}; give a key file"
        raise UnreadableError(Problem(f"{kind.codes}-050", said, str(path))) from None
    if secret and mode & OTHERS_MAY:
        said = f"mode {stat.S_IMODE(mode):04o}: group or others may use this secret key; chmod 0400"
        raise NotPermittedError(Problem(f"{kind.codes}-040", said, str(path)))
    found = re.fullmatch(rb"([a-z0-9-]+) ([0-9a-f]{64})\n?", text)
    if found is None or found[1] != word.encode():
        # The content is not repeated: it may be a secret in the wrong place.
        said = f"expected a line '{word} KEY'"
        raise RegisterKeyError(Problem(f"{kind.codes}-041", said, str(path)))
    return bytes.fromhex(found[2].decode())
