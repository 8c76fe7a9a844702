"""``underfelt doctor``: what is wrong on this machine, and how to fix it."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.doctor.examine import Examined, examine
from controller.faults.troubles import MARKS, Trouble, ill
from record.kit.arguments import Arguments, add_config
from record.kit.exits import TROUBLE
from record.kit.places import TABLE
from record.kit.words import counted

EPILOG: Final = """\
Changes nothing, except for one small file that it writes beside the journal,
syncs and removes. A running table is not disturbed. Run it as root:
it reads the unit and its credentials, and looks at everything else as the user
of the daemon. As any other user it uses your own rights. What each code means:
docs/operations/doctor.md.

exit codes: 0 everything is fine, 1 something is stopped or degraded

examples:
  underfelt doctor                        the machine alone
  sudo underfelt doctor --config /etc/underfelt/table-1/table.toml
  underfelt doctor --config table.toml --json
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt doctor", "Find what is wrong on this machine.", EPILOG)
    add_config(parser, TABLE, "the table's configuration", needed=False)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(argv)
    found: list[Examined] = []
    for one in examine(Path(options.config) if options.config else None):
        found.append(one)
        if not options.json:
            print("\n".join(told(one, width())), flush=True)
    wrong = [trouble for one in found for trouble in one.found]
    sick = ill(wrong)
    if options.json:
        print(json.dumps({"ok": not sick, "examined": [one.row() for one in found]}, indent=2))
    else:
        count = counted(len(wrong), "finding")
        print(f"\n{count}" if wrong else "\nall well")
    return TROUBLE if sick else os.EX_OK


def width() -> int:
    return min(shutil.get_terminal_size((80, 24)).columns, 100)


def told(one: Examined, columns: int) -> Iterator[str]:
    if not one.found:
        yield f"ok {one.name:14} {one.said}"[:columns]
        return
    yield f"   {one.name}"
    for trouble in one.found:
        yield from _trouble(trouble, columns)


def _trouble(one: Trouble, columns: int) -> Iterator[str]:
    head = f"{MARKS[one.level]:>2} {one.code:10} "
    indent = " " * len(head)
    said = textwrap.wrap(f"{one.about}: {one.what}", columns - len(head)) or [""]
    yield head + said[0]
    for line in said[1:]:
        yield indent + line
    for line in textwrap.wrap(f"-> {one.do}", columns - len(head), subsequent_indent="   "):
        yield indent + line
