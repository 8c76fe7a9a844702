"""What a journal can answer instead of working: stable codes, the place, what to do, the exit.

The codes are listed with what to do on docs/protocols/journal.md, section 10.
"""

from __future__ import annotations

import os
from typing import ClassVar


class JournalError(Exception):
    """The root: ``file: byte 512: what (E-JRN-004)``."""

    exit_code: ClassVar[int] = os.EX_SOFTWARE

    def __init__(self, code: str, file: str, offset: int, what: str) -> None:
        place = f"{file}: byte {offset}" if offset >= 0 else file
        super().__init__(f"{place}: {what} ({code})")
        self.code, self.file, self.offset, self.what = code, file, offset, what


class JournalCorrupt(JournalError):
    """What was durable is not there as it was written. Nothing was changed; a person must look."""

    exit_code = os.EX_DATAERR


class JournalTooNew(JournalError):
    """Written by a later program: this one must not touch it."""

    exit_code = os.EX_DATAERR


class JournalMissing(JournalError):
    """There is no journal here, or it cannot be read."""

    exit_code = os.EX_NOINPUT


class JournalFailed(JournalError):
    """The disk failed. This journal object is finished; only a new start may open it again."""

    exit_code = os.EX_IOERR


class JournalLocked(JournalError):
    """Another process has this journal open."""

    exit_code = os.EX_TEMPFAIL


class JournalMismatch(JournalError):
    """The journal belongs to another table than the configuration says."""

    exit_code = os.EX_CONFIG


class NotAppendable(JournalError, ValueError):
    """The caller's record cannot be written: a fault of the program, not of the disk."""
