"""What a store can answer instead of working: stable codes, the place, what to do, the exit.

The codes are listed with what to do on docs/operations/link-store.md.
"""

from __future__ import annotations

import os
from typing import ClassVar


class StoreError(Exception):
    """The root: ``place: what (E-STO-004)``. The group is not committed unless it says so."""

    code: ClassVar[str] = "E-STO-009"
    exit_code: ClassVar[int] = os.EX_SOFTWARE

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what} ({self.code})")
        self.place, self.what = place, what


class Fenced(StoreError):
    """Another server leads now. This one must not say anything more in the store's name."""

    code = "E-STO-001"
    exit_code = os.EX_TEMPFAIL


class Conflict(StoreError):
    """A watermark or an id is not what the group was built on."""

    code = "E-STO-002"


class Unknown(StoreError):
    """Nobody can say yet whether the group is durable. Ask ``settle``; never assume."""

    code = "E-STO-003"
    exit_code = os.EX_TEMPFAIL


class Broken(StoreError):
    """What is stored does not balance or does not hold together; a person must look."""

    code = "E-STO-004"
    exit_code = os.EX_DATAERR

    def __init__(self, place: str, *findings: str) -> None:
        more = f"; and {len(findings) - 5} more" if len(findings) > 5 else ""
        super().__init__(place, "; ".join(findings[:5]) + more)
        self.findings = findings


class TooNew(StoreError):
    """The schema is of a later program: this one must not touch it."""

    code = "E-STO-005"
    exit_code = os.EX_DATAERR


class MigrationChanged(StoreError):
    """A migration that this store went through is not the one this program has."""

    code = "E-STO-006"
    exit_code = os.EX_DATAERR


class Locked(StoreError):
    """Another process has this store open."""

    code = "E-STO-007"
    exit_code = os.EX_TEMPFAIL


class Unsafe(StoreError):
    """The database does not promise what money needs: flushes, a primary, a version."""

    code = "E-STO-008"
    exit_code = os.EX_CONFIG


class Failed(StoreError):
    """The disk or the database failed. The group is not committed."""

    exit_code = os.EX_IOERR


class NotEmpty(StoreError):
    """A restore goes into an empty store only."""

    code = "E-STO-010"
    exit_code = os.EX_CANTCREAT


class BackupDamaged(StoreError):
    """The backup is not what its manifest says."""

    code = "E-STO-011"
    exit_code = os.EX_DATAERR


class NotStorable(StoreError, ValueError):
    """The caller's rows cannot be stored: a fault of the program, not of the disk."""

    code = "E-STO-012"


class Missing(StoreError):
    """There is no store here, or it has never been migrated."""

    code = "E-STO-013"
    exit_code = os.EX_NOINPUT


class Rewound(StoreError):
    """A receipt that this server made proves events that the store does not have."""

    code = "E-STO-015"
    exit_code = os.EX_DATAERR
