"""Prometheus text from a status: counters and gauges, one prefix; no table as a label."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

COUNTED: Final = (
    "events", "groups", "beats", "checkpoints", "hellos", "refused", "malformed", "muted",
    "without hello", "replaced", "silent", "dropped", "byes", "admitted", "denied", "revoked",
    "published", "led",
)  # fmt: skip
_NAME: Final = re.compile(r"[^a-z0-9]+")


def metrics(status: Mapping[str, Any], meters: Mapping[str, Any], resident_bytes: int) -> str:
    counts = status["counts"]
    rows = []
    for name in COUNTED:
        metric = f"underfelt_link_{_NAME.sub('_', name)}_total"
        rows += [f"# TYPE {metric} counter", f"{metric} {counts.get(name, 0)}"]
    gauges = {
        "underfelt_link_leading": int(status["leading"]),
        "underfelt_link_epoch": status["epoch"],
        "underfelt_link_tables": status["tables"],
        "underfelt_link_standing_alarms": len(status["standing"]),
        "underfelt_link_resident_bytes": resident_bytes,
    }
    for metric, value in gauges.items():
        rows += [f"# TYPE {metric} gauge", f"{metric} {value}"]
    rows.append("# TYPE underfelt_link_meter_cents gauge")
    for meter in meters.get("meters", ()):
        labels = f'pool="{_label(meter["pool"])}",level="{_label(meter["level"])}"'
        rows.append(f"underfelt_link_meter_cents{{{labels}}} {meter['cents']}")
    return "\n".join(rows) + "\n"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
