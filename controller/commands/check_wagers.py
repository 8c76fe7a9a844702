"""``underfelt check-wagers``: is a seat's set of wagers acceptable before the deal?"""

from __future__ import annotations

import json
import os
import sys

from controller.commands.io import Unreadable, parse_json, read_input
from controller.rules.errors import RecordError
from controller.rules.wagers import check_wagers
from record.kit.arguments import Arguments


def run(argv: list[str]) -> int:
    parser = Arguments(
        prog="underfelt check-wagers",
        description="Say whether a seat's wagers are acceptable, and which clauses they break.",
        epilog='example: echo \'{"game":"NSW","wagers":{"1":500,"2":500,"$":500}}\' '
        "| underfelt check-wagers -",
    )
    parser.add_argument("file", metavar="FILE", help="game, settings and wagers, or - for stdin")
    parser.add_argument(
        "--json", action="store_true", help="as everywhere; this command prints nothing else"
    )
    arguments = parser.parse_args(argv)
    try:
        answer = check_wagers(parse_json(read_input(arguments.file)))
    except Unreadable as error:
        print(f"underfelt check-wagers: {error}", file=sys.stderr)
        return os.EX_NOINPUT
    except RecordError as error:
        print(f"underfelt check-wagers: {arguments.file}: {error}", file=sys.stderr)
        return os.EX_DATAERR
    print(json.dumps(answer, separators=(",", ":")))
    return os.EX_OK
