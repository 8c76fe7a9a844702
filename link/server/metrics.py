"""Prometheus text from a status: counters and gauges; no table as a label.

Every name begins with ``underfelt_server_``: a table's own metrics about the link begin with
``underfelt_link_``, and one monitoring reads both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from link.server.replies import LevelMeter, StatusReply
from record.kit.prometheus import Family, Sample, one, rows

PREFIX: Final = "underfelt_server_"
COUNTED: Final = {
    "events": "Events that came over a session, repeats among them.",
    "groups": "Groups committed to the store.",
    "beats": "Heartbeats of tables.",
    "checkpoints": "Journal heads that tables reported.",
    "hellos": "Hellos of tables.",
    "refused": "Refusals sent to tables.",
    "malformed": "Frames that were no messages.",
    "quarantined": "Messages kept as evidence and not applied.",
    "muted": "Frames ignored because their sender is muted.",
    "without hello": "Messages of tables that had not said hello.",
    "replaced": "Connections that a newer one of the same table replaced.",
    "silent": "Sessions closed because nothing was heard.",
    "dropped": "Sessions closed because their answers were not read.",
    "byes": "Sessions that tables ended themselves.",
    "admitted": "Handshakes admitted.",
    "denied": "Handshakes refused.",
    "revoked": "Sessions ended because their key was revoked.",
    "published": "Meter messages published to signs.",
    "led": "Times this process began to lead.",
    "undone": "Turns undone because an input broke them.",
    "receipts": "Receipts that tables showed.",
}
"""What the server counts, and what it means."""
GAUGES: Final = {
    "leading": "1 at the server that leads, 0 at a standby.",
    "epoch": "Epoch of the last lead that this server knows.",
    "tables": "Tables with a session.",
    "standing_alarms": "Alarms whose cause still stands.",
    "resident_bytes": "Resident memory of the process.",
}
METER: Final = "What a level of a pool shows, in cents."
_NAME: Final = re.compile(r"[^a-z0-9]+")


def metrics(status: StatusReply, meters: Sequence[LevelMeter], resident_bytes: int) -> str:
    return "\n".join(rows(PREFIX, _families(status, meters, resident_bytes))) + "\n"


def _families(
    status: StatusReply, meters: Sequence[LevelMeter], resident_bytes: int
) -> Iterator[Family]:
    for name, text in COUNTED.items():
        yield f"{_NAME.sub('_', name)}_total", "counter", text, one(status.counts.get(name, 0))
    now = {
        "leading": int(status.leading),
        "epoch": status.epoch,
        "tables": status.tables,
        "standing_alarms": len(status.standing),
        "resident_bytes": resident_bytes,
    }
    for name, text in GAUGES.items():
        yield name, "gauge", text, one(now[name])
    shown: list[Sample] = [
        ({"pool": meter.pool, "level": meter.level}, meter.cents) for meter in meters
    ]
    yield "meter_cents", "gauge", METER, shown
