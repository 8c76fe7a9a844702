"""``underfelt status``: what a running table is doing, in one look."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from controller.commands.ending import ends
from controller.config.live import line_kinds, load_live
from controller.faults.status import LinkStatus, Status
from controller.faults.troubles import ill, troubles
from record.kit.arguments import Arguments, add_config
from record.kit.exits import TROUBLE
from record.kit.lines import ask
from record.kit.money import cents_text
from record.kit.places import TABLE
from record.kit.verbs import Stop
from record.kit.words import counted

LOOK: Final = (
    "Look at systemctl status underfelt-table@NAME and journalctl -x -u underfelt-table@NAME"
)
EPILOG: Final = """\
One line for each trouble: !! stopped, ! degraded, - a note; then its code, the
part concerned, what was seen, and after the arrow what to do.

exit codes: 0 all well, 1 something is stopped or degraded, 69 no table answers,
75 too many requests at once, 77 permission denied

examples:
  underfelt status --config /etc/underfelt/table-1/table.toml
  underfelt status --socket /run/underfelt/table-1/service.sock --json
"""


@ends("status")
def run(argv: list[str]) -> int:
    parser = Arguments("underfelt status", "What a running table is doing.", EPILOG)
    add_config(parser, TABLE, "the table's configuration", "socket")
    parser.add_argument("--socket", metavar="PATH", help="its socket, instead of --config")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(argv)
    path = Path(options.socket or load_live(options.config, line_kinds()).service.socket)
    try:
        reply = ask(path, {"verb": "status"})
    except PermissionError:
        said = "permission denied; join the group that owns the socket"
        raise Stop(f"{path}: {said}", os.EX_NOPERM) from None
    except OSError as error:
        said = f"{path}: {error.strerror or 'no answer'}; no table answers there. {LOOK}"
        raise Stop(said, os.EX_UNAVAILABLE) from None
    if "error" in reply:
        raise Stop(f"{reply['text']} ({reply['error']})", os.EX_TEMPFAIL)
    status = cast(Status, reply)
    print(json.dumps(status, indent=2, ensure_ascii=False) if options.json else told(status))
    return TROUBLE if ill(troubles(status)) else os.EX_OK


def told(status: Status) -> str:
    return "\n".join([*_head(status), *_troubles(status)])


def _head(status: Status) -> list[str]:
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
        *_seen(status),
    ]


def _seen(status: Status) -> list[str]:
    """What the table waits for, the lamps and the felt: a line each."""
    if "why" not in status:
        return []
    why, felt = status["why"], status["felt"]
    behind = f" ({why['clause']})" if why["clause"] else ""
    due = f" -> {why['do']}" if why["do"] else ""
    lit = [f"{one['seat']} {one['lamp']}" for one in status["lamps"] if one["lamp"] != "off"]
    beacon = ["beacon"] if status["beacon"] else []
    hands = [_at_seat(row) for row in felt["rows"] if row["seat"]]
    board = [f"board {' '.join(felt['board'])}"] if felt["board"] else []
    return [
        f"waits: {why['text']}{behind}{due}",
        f"lamps: {', '.join([*lit, *beacon]) or 'all off'}",
        f"felt: {'; '.join([*hands, *board]) or 'nothing'}",
        "",
    ]


def _at_seat(row: Mapping[str, Any]) -> str:
    wagers = [f"{one['spot']} {cents_text(one['cents'])}" for one in row["wagers"]]
    return " ".join([f"seat {row['seat']}:", *row["cards"], *wagers])


def _link(link: LinkStatus | None) -> list[str]:
    if link is None:
        return []
    if link["state"] != "open":
        return [
            f"link {link['state']}, {counted(link['waiting'], 'event')} waiting: {link['trouble']}"
        ]
    where = f"{link['server']} at {link['endpoint']}, epoch {link['epoch']}"
    return [f"link open: {where}; {link['waiting']} of {counted(link['events'], 'event')} waiting"]


def _troubles(status: Status) -> list[str]:
    return [one.line for one in troubles(status)] or ["nothing is degraded"]
