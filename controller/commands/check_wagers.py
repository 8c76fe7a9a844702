"""``underfelt check-wagers``: is a seat's set of wagers acceptable before the deal?"""

from __future__ import annotations

import json
import os

from controller.commands.ending import ends
from controller.commands.io import parse_json, read_input
from controller.rules.errors import RecordError
from controller.rules.wagers import check_wagers
from record.kit.arguments import Arguments
from record.kit.verbs import Stop


@ends("check-wagers")
def run(argv: list[str]) -> int:
    parser = Arguments(
        prog="underfelt check-wagers",
        description="Say whether a seat's wagers are acceptable, and which clauses they break.",
        epilog='example: echo \'{"game":"NSW","wagers":{"1":500,"2":500,"$":500}}\' '
        "| underfelt check-wagers -",
    )
    parser.add_argument("file", metavar="FILE", help="game, settings and wagers, or - for stdin")
    parser.add_argument(
        "--json", action="store_true", help="accepted like everywhere; the output is always JSON"
    )
    arguments = parser.parse_args(argv)
    try:
        answer = check_wagers(parse_json(read_input(arguments.file)))
    except RecordError as error:
        raise Stop(f"{arguments.file}: {error}", os.EX_DATAERR) from None
    print(json.dumps(answer, separators=(",", ":")))
    return os.EX_OK
