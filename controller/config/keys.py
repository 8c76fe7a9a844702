"""The secret keys that a configuration names: each read from a file that nobody else can read."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path
from typing import Final

from controller.config.live import LiveConfig
from controller.history.errors import TableKeyError
from controller.history.sealing import KEY_BYTES, TableKey
from record.link.keys import SecretKey, load_public, load_secret

KEY_WORD: Final = "underfelt-table-key-1"
MAX_KEY_FILE_BYTES: Final = 1024


def sealing_key(config: LiveConfig) -> TableKey:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    credentials = Path(folder) if folder else None
    path = config.secret_path("keys.sealing", config.keys.sealing, credentials)
    return load_key(path, credentials)


def link_keys(config: LiveConfig) -> tuple[SecretKey, str] | None:
    """This table's secret key and the servers' public one. Raises ``KeyFileError``."""
    if config.link is None:
        return None
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    credentials = Path(folder) if folder else None
    path = config.secret_path("link.secret_key", config.link.secret_key, credentials)
    return load_secret(path), load_public(config.link.server_key)


def key_line() -> str:
    """The content of a new key file, to be created with mode 0400."""
    return f"{KEY_WORD} {secrets.token_hex(KEY_BYTES)}\n"


def load_key(path: Path, credentials: Path | None = None) -> TableKey:
    """The key in a file of mode 0400 that we own, or in systemd's credentials directory.

    There systemd itself decides who may read: the file may belong to root and show group read,
    which is the mask of the access list that lets this one user in.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, "rb") as stream:
            about = os.fstat(descriptor)
            text = stream.read(MAX_KEY_FILE_BYTES)
    except OSError as error:
        said = f"{error.strerror}; give the table's key file"
        raise TableKeyError("E-SEAL-001", str(path), said, 66) from None
    ours, modes = [os.geteuid()], [0o400]
    if credentials is not None and path.parent.resolve() == credentials.resolve():
        ours, modes = [os.geteuid(), 0], [0o400, 0o440]
    mode = stat.S_IMODE(about.st_mode)
    if not stat.S_ISREG(about.st_mode) or mode not in modes:
        said = f"mode {mode:04o}: the table's key must be a file of mode 0400; chmod 0400"
        raise TableKeyError("E-SEAL-002", str(path), said, 77)
    if about.st_uid not in ours:
        said = f"owner {about.st_uid}: the table's key must belong to user {ours[0]}; chown it"
        raise TableKeyError("E-SEAL-002", str(path), said, 77)
    found = re.fullmatch(rb"([a-z0-9-]+) ([0-9a-f]{64})\n?", text)
    if found is None or found[1] != KEY_WORD.encode():
        # The content is not repeated: it may be a secret in the wrong place.
        said = f"expected one line '{KEY_WORD} KEY' with 64 hex digits"
        raise TableKeyError("E-SEAL-003", str(path), said, 78)
    return TableKey(bytes.fromhex(found[2].decode()))
