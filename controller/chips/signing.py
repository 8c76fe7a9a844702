"""The chip bank's keys, signatures over heads. Never prints a secret; page section 6."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from controller.chips.errors import CODES
from controller.signed import keys
from controller.signed.keys import PUBLIC_KEY_BYTES, SecretKey, fingerprint, verified

TRADE: Final = keys.Trade("underfelt-chips-secret-1", "underfelt-chips-public-1", CODES)

__all__ = [
    "PUBLIC_KEY_BYTES",
    "SecretKey",
    "fingerprint",
    "load_public",
    "load_secret",
    "make_keys",
    "verified",
]


def make_keys(secret_path: Path, public_path: Path) -> str:
    """Two new files, or none; the answer is the fingerprint."""
    return keys.make_keys(TRADE, secret_path, public_path)


def load_secret(path: Path) -> SecretKey:
    return keys.load_secret(TRADE, path)


def load_public(path: Path) -> bytes:
    return keys.load_public(TRADE, path)
