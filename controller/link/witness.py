"""The server's receipts in the table's journal: they outlive this process and the server's disk.

A record for every ack would add a write to the card for every event. A receipt proves all commits
before it, so one in ``SPACING_US`` is enough: whatever the server's store loses that is older than
that is found (docs/adr/0013-outside-input.md). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from record.link.messages import NO_HASH, Receipt

WITNESS: Final = "witness"
SPACING_US: Final = 10_000_000
"""As often as a meter that moves in a round; a new head of the staff orders never waits."""
AT_LAST: Final = 1 << 62
"""A time at which everything is due: the table stops."""
_NAMES: Final = {"staff_head": "head"}
"""Fields of a receipt that the record names otherwise."""


def body_of(receipt: Receipt) -> dict[str, Any]:
    return {_NAMES.get(name, name): getattr(receipt, name) for name in Receipt.__struct_fields__}


def receipt_in(body: Mapping[str, Any]) -> Receipt | None:
    """None in a record of an earlier program, which kept the head of the staff orders alone. Raises
    ``ValueError`` if it is no receipt."""
    if "mac" not in body:
        return None
    listed = [body.get(_NAMES.get(name, name)) for name in Receipt.__struct_fields__]
    return msgspec.convert(listed, Receipt)


@dataclass(slots=True)
class Witness:
    kept: Receipt | None = None
    """The last one in the journal."""
    _heard: Receipt | None = None
    """The last one that the server gave."""
    _kept_us: int = -SPACING_US

    def take(self, receipt: Receipt) -> None:
        self._heard = receipt

    def due_us(self, *, full: bool = False) -> int | None:
        """When the last receipt is to be written; None: the journal has it. A new head of the staff
        orders is due at once, and it alone on a ``full`` disk."""
        heard, kept = self._heard, self.kept
        if heard is None or heard == kept:
            return None
        if heard.staff_head != (NO_HASH if kept is None else kept.staff_head):
            return 0
        return None if full else self._kept_us + SPACING_US

    def write(self, now_us: int, *, full: bool = False) -> dict[str, Any] | None:
        """The body of the record, if its time has come."""
        due_us = self.due_us(full=full)
        if due_us is None or now_us < due_us or self._heard is None:
            return None
        self.kept, self._kept_us = self._heard, now_us
        return body_of(self._heard)
