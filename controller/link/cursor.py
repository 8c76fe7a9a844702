"""The outbox as it stands in the journal: events by their number.

They are read from the journal's folder, without its lock, beside the writer. Sequential reading
continues where it stopped. The latest events need no reading: the session holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from record.journal import Disk, Record
from record.journal.reader import records_from
from record.link.messages import Event
from record.link.outbox import OUTBOX, event_of, outbox_number

STRIDE: Final = 256
"""Every so many events one place is kept by which the others are found."""
MOST_PLACES: Final = 64
"""More are thinned out: every second one goes, and later ones are kept half as often."""


class Places:
    """Where the outbox records stand: number to record, one in ``STRIDE`` or fewer."""

    def __init__(self) -> None:
        self._places: list[tuple[int, int]] = []
        self._stride = STRIDE
        self.last = 0
        self.after_seq = 0
        """The record of the last event."""

    def take(self, record: Record) -> None:
        """An outbox record, in order. Numbers have no gaps, so only the first is read."""
        number = self.last + 1 if self._places else outbox_number(record.body)
        self.add(number, record.seq)

    def add(self, number: int, seq: int) -> None:
        if not self._places or number >= self._places[-1][0] + self._stride:
            self._places.append((number, seq))
            if len(self._places) > MOST_PLACES:
                del self._places[1::2]
                self._stride *= 2
        self.last, self.after_seq = number, seq

    def before(self, number: int) -> int:
        """A record at which or after which event ``number`` stands."""
        return max((seq for n, seq in self._places if n <= number), default=1)


class Cursor:
    def __init__(self, folder: Path, places: Places, disk: Disk | None = None) -> None:
        self._folder, self._places, self._disk = folder, places, disk
        self._reading: Iterator[Event] | None = None
        self._next = 0

    def add(self, events: Iterable[Event]) -> None:
        """Events that the writer has just made durable."""
        for event in events:
            self._places.add(event.n, event.seq)

    def read(self, first: int, last: int) -> Sequence[Event]:
        """From the journal. Raises ``JournalError`` if it cannot be read just now."""
        kept, self._reading = self._reading if self._next == first else None, None
        found: list[Event] = []
        for reading in (kept, self._from(first)):
            if reading is None or found:
                continue  # what it has seen ends here; the rest is asked for next
            for event in reading:
                found.append(event)
                if event.n >= last:
                    self._reading = reading if event.n < self._places.last else None
                    self._next = event.n + 1
                    return found
        return found

    def _from(self, first: int) -> Iterator[Event]:
        start = self._places.before(first)
        for record in records_from(self._folder, start, self._disk):
            if record.kind == OUTBOX and outbox_number(record.body) >= first:
                yield event_of(record)

    def hash_of(self, seq: int) -> str:
        """Of a record, as the folder has it now; nothing if it is not there any more."""
        for record in records_from(self._folder, seq, self._disk):
            return record.hash.hex() if record.seq == seq else ""
        return ""

    def seq_after(self, acked: int, following: Event | None = None) -> int:
        """The first record that the server may still need: exact if the event that follows is
        given, or none follows."""
        if acked >= self._places.last:
            return self._places.after_seq + 1
        return self._places.before(acked + 1) if following is None else following.seq
