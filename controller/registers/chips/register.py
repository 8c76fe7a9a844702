"""The chip register as a table uses it: open, find, and never go back; page section 3.

Keeps 40 bytes a chip and no object for any of them; a ``Chip`` is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from controller.registers.chips.layout import (
    ChipRecord,
    Kind,
    Status,
    key_of,
    offset_of,
    uid_bytes,
    uid_text,
    unpack_chip,
    unpack_chips,
)
from controller.registers.chips.load import LoadedChips, load


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip; ``foreign`` says that it is not of the house that issued the register."""

    uid: str
    cents: int
    kind: Kind
    house: str
    status: Status
    series: str
    foreign: bool
    added_in: int
    marked_in: int


class ChipRegister:
    """A register that was verified; what is not in it is None."""

    __slots__ = ("_loaded", "house", "issued_at", "seen")

    def __init__(self, loaded: LoadedChips) -> None:
        self._loaded = loaded
        self.house: Final = loaded.head.house
        self.issued_at: Final = loaded.head.issued_at
        self.seen: Final = loaded.seen

    @classmethod
    def open(
        cls, path: str | Path, public_key: bytes, minimum_version: int, house: str | None = None
    ) -> ChipRegister:
        """Raises ``SignedError``; a table that cannot open its register has no chips at all."""
        return cls(
            load(
                Path(path),
                public_key,
                minimum_version=minimum_version,
                house=house,
                keep_history=False,
            )
        )

    @property
    def version(self) -> int:
        return self.seen.version

    def __len__(self) -> int:
        return self._loaded.head.chip_count

    def __iter__(self) -> Iterator[Chip]:
        """In the file's order: by length of the UID, then by UID."""
        return map(self._chip, unpack_chips(self._loaded.chips))

    def find(self, uid: str) -> Chip | None:
        raw = uid_bytes(uid)
        if raw is None:
            return None
        offset = offset_of(self._loaded.chips, key_of(raw))
        return None if offset < 0 else self._chip(unpack_chip(self._loaded.chips, offset))

    def _chip(self, record: ChipRecord) -> Chip:
        series = self._loaded.series[record.series]
        return Chip(
            uid=uid_text(record.uid),
            cents=record.cents,
            kind=record.kind,
            house=series.house,
            status=record.status,
            series=series.name,
            foreign=series.house != self.house,
            added_in=record.added_in,
            marked_in=record.marked_in,
        )
