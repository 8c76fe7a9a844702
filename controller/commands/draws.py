"""``underfelt draws verify JOURNAL_DIR``: reproduce every random selection of a journal.

The work is done by ``record/verify_draws.py``, which also runs alone, with nothing installed. What
a draw is and what the codes mean: docs/rules/selections.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from controller.commands.ending import ends
from record import verify_draws
from record.kit.arguments import Arguments
from record.kit.verbs import Stop

DESCRIPTION: Final = """\
Reproduce every random selection (magic card, lucky player) of a table's journal: the seed fits its
commitment, the draw follows from the seed, the table used that draw, and no card was out before
the commitment. The journal is only read; the table may be running.
"""
EPILOG: Final = """\
exit codes:
  0   every revealed draw follows from its commitment
  65  something does not, or the journal is damaged
  66  there is no journal to read

examples:
  underfelt draws verify /var/lib/underfelt/table-1/journal
  underfelt draws verify /var/lib/underfelt/table-1/journal --json
  python3 verify_draws.py JOURNAL_DIR          the same without installing anything
"""


@ends("draws")
def run(argv: list[str]) -> int:
    parser = Arguments("underfelt draws", DESCRIPTION, EPILOG)
    parser.add_argument("action", choices=["verify"], help="what to do")
    parser.add_argument("journal_dir", metavar="JOURNAL_DIR", help="the journal's directory")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args(argv)
    try:
        report = verify_draws.verify(Path(arguments.journal_dir))
    except verify_draws.Unreadable as error:
        raise Stop(f"{error} (E-DRW-021)", os.EX_NOINPUT) from None
    except verify_draws.Damaged as error:
        raise Stop(f"{error} (E-DRW-020)", os.EX_DATAERR) from None
    print(verify_draws.as_json(report) if arguments.json else verify_draws.as_text(report))
    return os.EX_OK if report.ok else os.EX_DATAERR
