"""``underfelt status``: what a running table is doing, in one look."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from controller.cli import EX_CONFIG, EX_NOINPUT, EX_OK
from controller.commands.io import Arguments
from controller.config import ConfigError
from controller.config.live import line_kinds, load_live
from controller.daemon.service import ask

EX_UNAVAILABLE: Final = 69
EX_TROUBLE: Final = 1
EPILOG: Final = """\
exit codes: 0 all well, 1 something is degraded, 69 no table is running there

examples:
  underfelt status --config /etc/underfelt/table.toml
  underfelt status --socket /run/underfelt/table-1/service.sock --json
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt status", "What a running table is doing.", EPILOG)
    parser.add_argument("--config", metavar="FILE", help="the table's configuration")
    parser.add_argument("--socket", metavar="PATH", help="its socket, instead")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(argv)
    if not (options.config or options.socket):
        parser.error("expected --config FILE or --socket PATH")
    try:
        path = Path(options.socket or load_live(options.config, line_kinds()).service.socket)
    except ConfigError as error:
        print(f"underfelt status: {error}", file=sys.stderr)
        return EX_CONFIG
    except FileNotFoundError as error:
        print(f"underfelt status: {error.filename}: no such file", file=sys.stderr)
        return EX_NOINPUT
    try:
        status = ask(path, "status")
    except OSError as error:
        reason = error.strerror or "no answer"
        print(f"underfelt status: {path}: {reason}; is the table running?", file=sys.stderr)
        return EX_UNAVAILABLE
    print(json.dumps(status, indent=2, ensure_ascii=False) if options.json else told(status))
    return EX_TROUBLE if troubles(status) else EX_OK


def troubles(status: dict[str, Any]) -> list[str]:
    """What is not as it should be, and where to read what to do."""
    found = [
        f"{name} is {device['state']}: {device['code']} {device['detail']}".rstrip(": ")
        for name, device in status["devices"].items()
        if device["state"] != "ready"
    ]
    if status["journal"]["full"]:
        found.append("the disk is full: finish the round, no new one opens (E-JRN)")
    if not status["link_up"]:
        found.append("no link: the progressive is closed")
    if status.get("safe_mode"):
        found.append("safe mode: nothing is contributed to the progressive (policy.safe_mode)")
    if status.get("locked"):
        found.append(f"locked: {status['locked']}")
    return found


def told(status: dict[str, Any]) -> str:
    journal = status["journal"]
    rows = [
        f"table {status['table']}  {status['game']}  round {status['round']}: {status['phase']}",
        f"journal {journal['id'][:12]}  next record {journal['next_seq']}",
        "",
        *(f"  | {line:20} |" for line in status["prompt"]),
        "",
    ]
    wrong = troubles(status)
    ready = sum(device["state"] == "ready" for device in status["devices"].values())
    rows.append(f"{ready} of {len(status['devices'])} devices ready")
    rows += [f"  ! {text}" for text in wrong]
    change = status.get("configuration_change", {"verdict": "nothing"})
    if change["verdict"] != "nothing":
        rows.append(f"configuration: {change['verdict']}: {change['what_to_do']}")
    return "\n".join(rows)
