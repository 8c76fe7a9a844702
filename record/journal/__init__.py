"""The journal: append-only, hash-chained, durable before anything is shown.

Format: docs/protocols/journal.md. One writer (``Journal``), any number of readers (``reader``).
"""

from record.journal.disk import Disk, RealDisk
from record.journal.errors import (
    JournalCorrupt,
    JournalError,
    JournalFailed,
    JournalLocked,
    JournalMismatch,
    JournalMissing,
    JournalTooNew,
    NotAppendable,
)
from record.journal.format import Position, Record
from record.journal.journal import Journal

__all__ = [
    "Disk",
    "Journal",
    "JournalCorrupt",
    "JournalError",
    "JournalFailed",
    "JournalLocked",
    "JournalMismatch",
    "JournalMissing",
    "JournalTooNew",
    "NotAppendable",
    "Position",
    "RealDisk",
    "Record",
]
