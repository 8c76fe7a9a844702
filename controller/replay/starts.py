"""The starts of the table's computer, each with its own clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from controller.replay.record_words import body_of
from record.journal.format import Record


@dataclass(slots=True)
class ComputerStart:
    """From one start of the computer to the next: its own clock, which frames carry, and the
    wall's."""

    seq: int
    first_ms: int | None = None
    last_ms: int = 0
    apart_ms: int = 0
    """Wall clock minus own clock; records come a little after what they tell, hence the least."""

    def saw(self, own_ms: int, wall_ms: int) -> None:
        apart = wall_ms - own_ms
        self.apart_ms = apart if self.first_ms is None else min(apart, self.apart_ms)
        self.first_ms = own_ms if self.first_ms is None else min(own_ms, self.first_ms)
        self.last_ms = max(own_ms, self.last_ms)


def starts_of(records: Sequence[Record]) -> list[ComputerStart]:
    """Each start of the computer, and how far its own clock is from the wall's."""
    starts: list[ComputerStart] = []
    for record in records:
        if record.kind == "opened" or not starts:
            starts.append(ComputerStart(record.seq))
        if record.kind in ("shown", "fact"):
            body = body_of(record)
            own = body["at_us"] // 1000 if "at_us" in body else body.get("at_ms")
            if isinstance(own, int):
                starts[-1].saw(own, record.at_ms)
    return starts
