"""``underfelt demo floor``: a link server and five tables as real processes, in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from controller.demo.floor import FloorOptions, play
from controller.demo.screen import screen_possible
from controller.demo.setup import TABLES
from record.kit.arguments import Arguments

EPILOG: Final = """\
It prints the address of the floor's page and the accounts of this demo. Pause a
bot on a table's page to play its seat, or the dealer; a bot also steps back when
you do its work. Keys, journals, jackpots and logs stay in the folder; the next
start resumes there. Without a terminal it plays --rounds at every table and ends.

exit codes: 0 ended as asked, 1 something failed, 75 already running

examples:
  underfelt demo floor
  underfelt demo floor --terminal
  underfelt demo floor --rounds 2 | tee floor.txt
"""
LINES_ROUNDS, LINES_SECONDS = 2, 900
"""Without a terminal, where nobody can press Ctrl-C."""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt demo floor", "Link server, tables and pages, live.", EPILOG)
    parser.add_argument(
        "--folder", default=".demo", metavar="DIR", help="where its state is kept (.demo)"
    )
    known = ",".join(TABLES)
    parser.add_argument("--tables", default=known, metavar="NAMES", help=f"which tables ({known})")
    parser.add_argument(
        "--terminal", action="store_true", help="show the floor here; serve no pages"
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help="of the pages, 0: any (8630, or any if it is taken)"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="end after N rounds at each table")
    parser.add_argument("--seconds", type=int, metavar="N", help="end after N seconds")
    parser.add_argument("--players", type=int, default=3, metavar="N", help="at most N of 7 (3)")
    parser.add_argument("--pace", type=int, default=2, metavar="N", help="speed of play, 1-4 (2)")
    parser.add_argument("--seed", type=int, metavar="N", help="of bots and decks (a new one)")
    parser.add_argument(
        "--no-bots", action="store_true", help="dealers and players are paused at the start"
    )
    parser.add_argument(
        "--no-staff", action="store_true", help="jackpots and stopped rounds wait for you"
    )
    options = parser.parse_args(argv)
    limits = (("rounds", 1, 10**6), ("seconds", 1, 10**7), ("players", 1, 7), ("pace", 1, 4),
              ("port", 0, 65_535), ("seed", 0, 10**9))  # fmt: skip
    for name, least, most in limits:
        given = getattr(options, name)
        if given is not None and not least <= given <= most:
            parser.error(f"--{name} {given}: expected {least} to {most}")
    wanted = set(options.tables.split(","))
    tables = tuple(name for name in TABLES if name in wanted)
    if len(tables) < len(wanted):
        parser.error(f"--tables {options.tables}: expected one or more of {known}")
    unseen = not (screen_possible() or sys.stdout.isatty())
    bounded = options.rounds is not None or options.seconds is not None
    rounds = LINES_ROUNDS if unseen and not bounded else options.rounds or 0
    seconds = options.seconds or (LINES_SECONDS if unseen else 0)
    chosen = FloorOptions(
        Path(options.folder), tables, rounds, seconds, options.players, options.pace, options.seed,
        bots=not options.no_bots, staff=not options.no_staff, port=options.port,
        terminal=options.terminal,
    )  # fmt: skip
    return play(chosen, sys.stdout)
