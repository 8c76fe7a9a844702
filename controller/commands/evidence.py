"""``underfelt evidence``: what proves one jackpot, in a folder that needs nothing else."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from controller.commands.ending import ends
from controller.config.keys import load_key
from controller.evidence.clock import HouseClock
from controller.evidence.errors import EvidenceError
from controller.evidence.frames import frame_rows
from controller.evidence.pack import write
from controller.evidence.parts import PackParts
from controller.evidence.table import claim_in, table_half
from controller.history.errors import FrameLogError
from record.kit.arguments import Arguments, add_config
from record.kit.money import dollars
from record.kit.places import LINK
from record.kit.verbs import Stop
from record.verify_evidence import verify

if TYPE_CHECKING:
    from controller.evidence.server import ServerHalf

EPILOG: Final = """\
A proof has two halves: the link server's events (--config, --socket or --backup)
and the table's journal (--journal; its frame log is expected beside it). One half
makes a pack that says what is missing; without the server give --round. The
command checks the new folder with the verifier inside it and changes nothing
else. A draw of the server for a round still played at another table is left out,
and the pack says so.

exit codes: 0 made and verified, 64 usage, 65 made, but a check failed,
66 no such award, round or journal, 73 the folder exists already

examples:
  underfelt evidence grand/3/17 --config /etc/underfelt/link.toml \\
      --journal /var/lib/underfelt/table-1/journal --output grand-3-17
  underfelt evidence grand/3/17 --backup link-0310.db --output server-half
  underfelt evidence grand/3/17 --round 4711 --seat 3 \\
      --journal copy/journal --frames copy/frames --output table-half
  python3 grand-3-17/verify.py --lines
"""


@ends("evidence")
def run(argv: list[str]) -> int:
    parser = Arguments("underfelt evidence", "Prove one jackpot.", EPILOG)
    _declare(parser)
    options = parser.parse_args(argv)
    if not (options.config or options.socket or options.backup or options.journal):
        parser.error("expected the server (--config, --socket, --backup), --journal, or both")
    try:
        parts, names = gather(options)
        parts.currency = names[2] if options.currency is None else options.currency
        clock = HouseClock.of(options.time_zone or names[0], options.day_start or names[1])
        manifest = write(options.output, parts, clock, time.time_ns() // 1_000_000)
    except FrameLogError as error:
        raise Stop(f"{options.frames or 'frames'}: {error}", os.EX_DATAERR) from None
    parts.let_go()
    return _answer(options, parts, manifest)


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("award", metavar="AWARD", help="as `underfelt jackpot list` names it")
    add_config(parser, LINK, "link.toml of the server", "socket", "backup", needed=False)
    parser.add_argument("--socket", metavar="PATH", help="the server's control socket, instead")
    parser.add_argument("--backup", metavar="FILE", help="a backup of a SQLite store, instead")
    parser.add_argument("--journal", metavar="DIR", type=Path, help="the table's journal")
    parser.add_argument("--frames", metavar="DIR", type=Path, help="its frame log (beside it)")
    key_help = "the table's key: opens frames of cards that became public"
    parser.add_argument("--key", metavar="FILE", type=Path, help=key_help)
    parser.add_argument("--round", metavar="N", type=int, help="without the server: the round")
    parser.add_argument("--seat", metavar="N", type=int, help="without the server: the seat")
    since_help = "where the events begin (the beginning, if they are not too many)"
    parser.add_argument("--since", choices=("beginning", "generation"), help=since_help)
    parser.add_argument("--time-zone", metavar="NAME", help="such as Asia/Singapore")
    parser.add_argument("--day-start", metavar="HH:MM", help="when a gaming day begins")
    parser.add_argument("--currency", metavar="TEXT", help="before the amount on the slip: SGD")
    parser.add_argument("--output", metavar="DIR", type=Path, required=True, help="a new folder")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def gather(
    options: argparse.Namespace, server: ServerHalf | None = None
) -> tuple[PackParts, tuple[str, str, str]]:
    """Both halves, or the one that was given. ``server``: that half, if it was read already."""
    parts, names = PackParts({"award": options.award}, server), ("UTC", "06:00", "")
    if options.config or options.socket or options.backup:
        from controller.evidence.server import server_half, source_of

        whole = None if options.since is None else options.since == "beginning"
        with source_of(options.config, options.socket, options.backup) as (source, names):
            parts.server = server_half(source, options.award, whole=whole)
    if parts.server is not None:
        parts.claim = parts.server.award
        parts.missing += [*parts.server.wrong, *parts.server.left_out]
    else:
        parts.missing.append("the link server's half: no amount can be proven from this pack")
    if options.journal is None:
        said = f"the table's half: the journal of {parts.claim.get('table')} was not given"
        parts.missing.append(said)
    else:
        _table(options, parts)
    return parts, names


def _table(options: argparse.Namespace, parts: PackParts) -> None:
    claim = parts.claim
    if parts.server is None and options.round is None:
        raise EvidenceError("E-EVD-007", "without the server give --round N", os.EX_USAGE)
    number = options.round if parts.server is None else claim["round"]
    half = table_half(options.journal, number, claim.get("journal"), claim.get("table"))
    parts.table = half
    if parts.server is None:
        said = claim_in(half, number, options.seat, options.award)
        about = {"award": options.award, "table": half.head["table"],
                 "journal": half.head["journal"], "round": number, "event": 0, "cents": 0,
                 "state": "claimed"}  # fmt: skip
        parts.claim = about | said
    frames = options.frames or options.journal.parent / "frames"
    if not frames.is_dir():
        parts.missing.append(f"frames: there is no {frames}")
        return
    key = None if options.key is None else load_key(options.key)
    parts.frames, missing = frame_rows(frames, half, key)
    parts.missing += missing


def _answer(options: argparse.Namespace, parts: PackParts, manifest: bytes) -> int:
    found = verify(options.output)
    digest = hashlib.sha256(manifest).hexdigest()
    if options.json:
        row: dict[str, Any] = {
            "ok": found["ok"], "folder": str(options.output), "manifest_sha256": digest,
            "missing": parts.missing, "problems": found["problems"],
            "amount_cents": found.get("amount_cents"), "state": found.get("state"),
        }  # fmt: skip
        print(json.dumps(row, indent=2))
    else:
        print(f"{options.output}: award {options.award}")
        if parts.server is not None:
            print(f"amount {dollars(parts.server.award['cents'])}, {parts.server.award['state']}")
        for text in parts.missing:
            print(f"MISSING  {text}")
        print(f"manifest {digest}; write it down elsewhere")
    for problem in found["problems"]:
        said = f"{problem['file']}: {problem['what']}"
        print(f"underfelt evidence: {said} (E-EVD-009)", file=sys.stderr)
    return os.EX_OK if found["ok"] else os.EX_DATAERR
