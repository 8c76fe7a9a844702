"""What every display of the table showed, from the ``shown`` and ``odometer`` records."""

from __future__ import annotations

from typing import Final, NamedTuple

from controller.replay.record_words import body_of
from controller.replay.words import cents
from record.journal.format import Record

METER: Final = "meter"
UNREAD: Final = "(not read back since the start)"


class DisplayChange(NamedTuple):
    """One display changed."""

    seq: int
    at_ms: int
    device: str
    content: str


class Displays:
    """The displays as the records tell them, one after the other."""

    def __init__(self) -> None:
        self.now: dict[str, str] = {}
        self._run: tuple[int, int, int, int] | None = None
        """The meter counts up: from, to, since when, for how long."""

    def take(self, record: Record) -> DisplayChange | None:
        if record.kind == "opened":
            # The computer was away: what a display shows is known once it was read back.
            self.now = dict.fromkeys(self.now, UNREAD)
            self._run = None
        elif record.kind == "odometer":
            body = body_of(record)
            row = [body.get(name, 0) for name in ("from", "to", "over_ms")]
            self._run = (row[0], row[1], record.at_ms, row[2])
        elif record.kind == "shown":
            body = body_of(record)
            shown = DisplayChange(
                record.seq, record.at_ms, str(body.get("device")), str(body.get("content"))
            )
            self.now[shown.device] = shown.content
            return shown
        return None

    def at(self, at_ms: int) -> dict[str, str]:
        """What they show; while the meter counts up, what it showed at this time."""
        found = dict(self.now)
        if self._run is not None:
            start, end, since_ms, over_ms = self._run
            if since_ms <= at_ms < since_ms + over_ms:
                now = start + (end - start) * (at_ms - since_ms) // over_ms
                found["counting up"] = f"{cents(now)} on its way to {cents(end)}"
        return found


def meter(displays: dict[str, str]) -> str:
    """The jackpot meter's parts, side by side."""
    parts = [text for name, text in sorted(displays.items()) if name.startswith("meter-")]
    return UNREAD if UNREAD in parts else "".join(parts).strip()


def lamps(displays: dict[str, str]) -> dict[str, str]:
    """Seat (or beacon, buzzer) to lamp."""
    found: dict[str, str] = {}
    for name, text in sorted(displays.items()):
        if name.startswith("lamps-"):
            for part in text.split(", "):
                which, _, lamp = part.partition(" ")
                found[which] = lamp
    return found
