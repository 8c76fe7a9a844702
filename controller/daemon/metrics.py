"""Prometheus text from a status: counters and gauges, one prefix; no round or chip as a label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller import __version__

STATES = ("unknown", "ready", "degraded", "locked")


def metrics(status: Mapping[str, Any], resident_bytes: int) -> str:
    rows = [
        "# TYPE underfelt_build_info gauge",
        f'underfelt_build_info{{version="{__version__}"}} 1',
        "# TYPE underfelt_rounds_total counter",
        f"underfelt_rounds_total {status['counts'].get('rounds', 0)}",
        "# TYPE underfelt_inputs_total counter",
        f"underfelt_inputs_total {status['counts'].get('inputs', 0)}",
        "# TYPE underfelt_refused_total counter",
        f"underfelt_refused_total {status['counts'].get('refused', 0)}",
        "# TYPE underfelt_journal_groups_total counter",
        f"underfelt_journal_groups_total {status['counts'].get('groups', 0)}",
        "# TYPE underfelt_journal_next_seq gauge",
        f"underfelt_journal_next_seq {status['journal']['next_seq']}",
        "# TYPE underfelt_journal_full gauge",
        f"underfelt_journal_full {int(status['journal']['full'])}",
        "# TYPE underfelt_link_up gauge",
        f"underfelt_link_up {int(status['link_up'])}",
        "# TYPE underfelt_safe_mode gauge",
        f"underfelt_safe_mode {int(status['safe_mode'])}",
        "# TYPE underfelt_in_round gauge",
        f"underfelt_in_round {int(status['in_round'])}",
        "# TYPE underfelt_resident_bytes gauge",
        f"underfelt_resident_bytes {resident_bytes}",
        "# TYPE underfelt_device_state gauge",
    ]
    for device, told in status["devices"].items():
        for state in STATES:
            on = int(told["state"] == state)
            rows.append(f'underfelt_device_state{{device="{device}",state="{state}"}} {on}')
    return "\n".join(rows) + "\n"
