"""CURVE keys of tables, signs and servers: one line in a file (record/kit/key_files.py).

``underfelt-link-secret KEY`` and ``underfelt-link-public KEY``. A secret key is made on the device
that uses it and never leaves it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from record.kit.key_files import (
    KeyFileError,
    SecretKey,
    create_files,
    decode_z85,
    encode_z85,
    fingerprint,
    is_key,
    load_public_word,
    load_word,
    secret_path,
    write_word,
)

__all__ = (
    "KeyFileError",
    "SecretKey",
    "decode_z85",
    "encode_z85",
    "fingerprint",
    "is_key",
    "load_public",
    "load_secret",
    "load_word",
    "secret_path",
    "write_pair",
    "write_word",
)

SECRET_WORD: Final = "underfelt-link-secret"
PUBLIC_WORD: Final = "underfelt-link-public"


def load_secret(path: Path) -> SecretKey:
    return load_word(path, SECRET_WORD)


def load_public(path: Path) -> str:
    return load_public_word(path, PUBLIC_WORD)


def write_pair(secret_file: Path, public_file: Path, secret: bytes, public: bytes) -> str:
    """Both keys in Z85. Two new files, or none, durable; the answer is the fingerprint."""
    create_files(
        (secret_file, f"{SECRET_WORD} {secret.decode()}\n".encode(), 0o400),
        (public_file, f"{PUBLIC_WORD} {public.decode()}\n".encode(), 0o644),
    )
    return fingerprint(public.decode())
