"""What every register is checked for, whatever it holds: signature, version, structure."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from controller.registers.errors import (
    CreateError,
    NotPermittedError,
    Problem,
    RegisterError,
    UnreadableError,
)
from controller.registers.keys import Signed, fingerprint
from controller.registers.kinds import RegisterKind


def check_signature(
    kind: RegisterKind, path: Path, signed: Signed, trusted: bytes | None, what: str
) -> None:
    """``trusted`` None trusts the key in the file: it proves the file whole, not whose it is."""
    if trusted is not None and signed.public_key != trusted:
        said = f"signed by {fingerprint(signed.public_key)}; expected {fingerprint(trusted)}"
        raise RegisterError(Problem(f"{kind.codes}-003", said, str(path)))
    if not signed.holds:
        said = f"the signature is wrong; the {what} was altered"
        raise RegisterError(Problem(f"{kind.codes}-004", said, str(path)))


def check_version(kind: RegisterKind, path: Path, version: int, minimum: int) -> None:
    if version < minimum:
        said = f"version {version}; expected at least {minimum}"
        raise NotPermittedError(Problem(f"{kind.codes}-009", said, str(path)))


def check_structure(kind: RegisterKind, path: Path, faults: Iterable[str]) -> None:
    """A fault here is never the card's or the thief's, it was signed: it is the writer's."""
    problems = [Problem(f"{kind.codes}-007", f"signed, but {f}", str(path)) for f in faults]
    if problems:
        raise RegisterError(*problems)


def check_start(kind: RegisterKind, path: Path, new_house: str | None, hint: str) -> None:
    """``new_house`` starts a register, and only starts one: a mistyped path must not."""
    exists = os.path.lexists(path)
    if new_house is None and not exists:
        said = f"there is no such register; {hint} starts one"
        raise UnreadableError(Problem(f"{kind.codes}-050", said, str(path)))
    if new_house is not None and exists:
        said = "exists already; leave out --new to add to a register"
        raise CreateError(Problem(f"{kind.codes}-031", said, str(path)))
