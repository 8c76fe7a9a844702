"""Keys of 32 bytes, each one line in a file: ``WORD KEY``. Never prints a secret.

KEY is in Z85 (ZeroMQ RFC 32), 40 characters. WORD says what the key is for, so that a key made for
one use is refused for another.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

CREDENTIAL: Final = "credential:"
LONGEST_FILE: Final = 1024
KEY_CHARACTERS: Final = 40

_OTHERS_MAY: Final = stat.S_IRWXG | stat.S_IRWXO
_CREDENTIAL_MODE: Final = 0o440
"""As systemd hands a file over: its access list lets one user in, and the group's bits show the
mask of that list."""
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_ALPHABET: Final = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
)
_DIGITS: Final = {character: value for value, character in enumerate(_ALPHABET)}


class KeyFileError(ValueError):
    """``file: what is wrong, what to do (E-KEY-104)``; ``exit_code`` after sysexits."""

    def __init__(self, code: str, exit_code: int, path: Path | str, text: str) -> None:
        said = f"{path}: {text} ({code})"
        super().__init__(said.encode("utf-8", "backslashreplace").decode())
        self.code, self.exit_code, self.text = code, exit_code, text


class SecretKey:
    """A secret key that cannot be printed by accident."""

    __slots__ = ("_z85",)

    def __init__(self, z85: str) -> None:
        self._z85 = z85

    def reveal(self) -> bytes:
        """For the socket alone."""
        return self._z85.encode()

    def __repr__(self) -> str:
        return "<secret key>"


def decode_z85(text: str) -> bytes | None:
    """The bytes, or None if it is no Z85."""
    if len(text) % 5:
        return None
    out = bytearray()
    for at in range(0, len(text), 5):
        value = 0
        for character in text[at : at + 5]:
            digit = _DIGITS.get(character)
            if digit is None:
                return None
            value = value * 85 + digit
        if value >= 1 << 32:
            return None
        out += value.to_bytes(4, "big")
    return bytes(out)


def encode_z85(data: bytes) -> str:
    out = []
    for at in range(0, len(data), 4):
        value = int.from_bytes(data[at : at + 4], "big")
        out += [_ALPHABET[value // 85**power % 85] for power in (4, 3, 2, 1, 0)]
    return "".join(out)


def is_key(text: str) -> bool:
    return len(text) == KEY_CHARACTERS and decode_z85(text) is not None


def fingerprint(public: str) -> str:
    """What people compare: the first 16 digits of SHA-256 over the key's 32 bytes."""
    return sha256(decode_z85(public) or b"").hexdigest()[:16]


def secret_path(where: str | Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The file itself; ``credential:NAME`` is what systemd handed to the service."""
    text = str(where)
    if not text.startswith(CREDENTIAL):
        return Path(where)
    folder = environ.get("CREDENTIALS_DIRECTORY")
    if not folder:
        said = "no credentials were handed over; start it as a service with LoadCredential="
        raise KeyFileError("E-KEY-101", 66, text, said)
    return Path(folder) / text.removeprefix(CREDENTIAL)


def _handed_over(path: Path) -> bool:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    return bool(folder) and path.parent.resolve() == Path(str(folder)).resolve()


def load_word(path: Path, word: str) -> SecretKey:
    """Refuses a key that group or others may read, or that somebody else owns: it may be copied."""
    return SecretKey(_load(path, word, secret=True))


def load_public_word(path: Path, word: str) -> str:
    return _load(path, word, secret=False)


def write_word(path: Path, word: str, secret: bytes) -> None:
    create_files((path, f"{word} {encode_z85(secret)}\n".encode(), 0o400))


def _load(path: Path, word: str, *, secret: bool) -> str:
    try:
        with path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            text = stream.read(LONGEST_FILE)
    except OSError as error:
        said = f"{error.strerror}; give a key file"
        raise KeyFileError("E-KEY-101", 66, path, said) from None
    mode = stat.S_IMODE(status.st_mode)
    if secret and mode & _OTHERS_MAY and not (mode == _CREDENTIAL_MODE and _handed_over(path)):
        said = f"mode {mode:04o}: group or others may use this secret key; chmod 0400"
        raise KeyFileError("E-KEY-102", 77, path, said)
    if secret and status.st_uid not in (0, os.geteuid()):
        said = f"belongs to user {status.st_uid}; chown it to the user of the service"
        raise KeyFileError("E-KEY-103", 77, path, said)
    found = text.decode("latin-1").removesuffix("\n").partition(" ")
    if found[0] != word or not is_key(found[2]):
        # What stands in the file is not repeated: it may be a secret in the wrong place.
        raise KeyFileError("E-KEY-104", 78, path, f"expected a line '{word} KEY'")
    return found[2]


def create_files(*files: tuple[Path, bytes, int]) -> None:
    """All of them new and durable, or none. Nothing is overwritten."""
    made: list[Path] = []
    path = files[0][0]
    try:
        for path, content, mode in files:
            descriptor = os.open(path, _NEW, mode)
            made.append(path)
            try:
                os.fchmod(descriptor, mode)  # whatever the umask
                os.write(descriptor, content)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        for folder in {path.parent for path in made}:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        for one in made:
            with suppress(OSError):
                os.unlink(one)
        if isinstance(error, FileExistsError):
            said = "exists already; a key is never overwritten"
            raise KeyFileError("E-KEY-105", 73, path, said) from None
        raise KeyFileError("E-KEY-106", 73, path, str(error.strerror)) from None
