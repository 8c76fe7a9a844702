"""``underfelt status``: what a running table is doing, in one look."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from controller.config.live import line_kinds, load_live
from controller.faults.troubles import ill, troubles
from record.kit.arguments import Arguments, add_config
from record.kit.config import ConfigError
from record.kit.exits import TROUBLE
from record.kit.lines import ask
from record.kit.places import TABLE
from record.kit.words import counted

EPILOG: Final = """\
Every trouble is a line: !! stopped, ! degraded, - a note; its code, what it is
about, what was seen, and behind the arrow what to do.

exit codes: 0 all well, 1 something is stopped or degraded, 69 no table answers,
75 too many ask at once, 77 not you

examples:
  underfelt status --config /etc/underfelt/table-1/table.toml
  underfelt status --socket /run/underfelt/table-1/service.sock --json
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt status", "What a running table is doing.", EPILOG)
    add_config(parser, TABLE, "the table's configuration", "socket")
    parser.add_argument("--socket", metavar="PATH", help="its socket, instead")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(argv)
    try:
        path = Path(options.socket or load_live(options.config, line_kinds()).service.socket)
    except ConfigError as error:
        print(f"underfelt status: {error}", file=sys.stderr)
        return os.EX_CONFIG
    except FileNotFoundError as error:
        print(f"underfelt status: {error.filename}: no such file", file=sys.stderr)
        return os.EX_NOINPUT
    try:
        status = ask(path, {"verb": "status"})
    except PermissionError:
        said = "you may not; join the group that the socket belongs to"
        print(f"underfelt status: {path}: {said}", file=sys.stderr)
        return os.EX_NOPERM
    except OSError as error:
        reason = error.strerror or "no answer"
        print(
            f"underfelt status: {path}: {reason}; no table answers there. Look at "
            "systemctl status underfelt-table@NAME and journalctl -x -u underfelt-table@NAME",
            file=sys.stderr,
        )
        return os.EX_UNAVAILABLE
    if "error" in status:
        print(f"underfelt status: {status['text']} ({status['error']})", file=sys.stderr)
        return os.EX_TEMPFAIL
    print(json.dumps(status, indent=2, ensure_ascii=False) if options.json else told(status))
    return TROUBLE if ill(troubles(status)) else os.EX_OK


def told(status: Mapping[str, Any]) -> str:
    return "\n".join([*_head(status), *_troubles(status)])


def _head(status: Mapping[str, Any]) -> list[str]:
    if status.get("mode") == "locked":
        return [f"table {status['table']}  LOCKED: the daemon could not be started", ""]
    journal, day = status["journal"], status["gaming_day"]
    devices = status["devices"].values()
    ready = sum(device["state"] == "ready" for device in devices)
    return [
        f"table {status['table']}  {status['game']}  round {status['round']}: {status['phase']}",
        f"gaming day {day['number']}, {counted(day['rounds'], 'round')} closed",
        f"journal {journal['id'][:12]}, next record {journal['next_seq']}",
        f"{ready} of {counted(len(devices), 'device')} ready",
        *_link(status.get("link")),
        "",
        *(f"  | {line:20} |" for line in status["prompt"]),
        "",
    ]


def _link(link: Mapping[str, Any] | None) -> list[str]:
    if link is None:
        return []
    if link["state"] != "open":
        return [
            f"link {link['state']}, {counted(link['waiting'], 'event')} waiting: {link['trouble']}"
        ]
    where = f"{link['server']} at {link['endpoint']}, epoch {link['epoch']}"
    return [f"link open: {where}; {link['waiting']} of {counted(link['events'], 'event')} waiting"]


def _troubles(status: Mapping[str, Any]) -> list[str]:
    return [one.line for one in troubles(status)] or ["nothing is degraded"]
