"""``underfelt bundle``: diagnostics for somebody far away, without a key or a closed card."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from controller.bundle.make import CODE, CannotWrite, make, send
from controller.shell.render.records import bundle as lines_of
from record.kit.arguments import Arguments, add_config
from record.kit.outside import printable
from record.kit.places import TABLE

PIPE: Final = "-"
WIDE: Final = 1000
"""Lines stay whole: whoever reads them may search them."""
EPILOG: Final = """\
Status, identity, configuration, layout, the doctor's answer, metrics, the last
journal records as kinds, times and hashes, the last frames, the system's log,
versions, disk; as far as they can be had: it works when the daemon is dead.
Bodies of records that could hold a card, a person or a seed, and bytes of card
devices are left out; manifest.json lists what and why. Every part is searched
for the table's keys before it is written. What you may not read is missing, and
the command that gets it is named. Nothing is changed but for the new file, which
is TABLE-YYYYMMDD-HHMMSS.tar.gz in this folder. With --output - the archive goes to
standard output and what is said of it to standard error.

exit codes: 0 written, 64 usage, 73 the file is there already or cannot be made

examples:
  sudo underfelt bundle --config /etc/underfelt/table-1/table.toml
  underfelt bundle --config table.toml --output table-1.tar.gz --json
  ssh table-1 sudo underfelt bundle --config /etc/underfelt/table-1/table.toml \\
      --output - >table-1.tar.gz
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt bundle", "Pack what a far-off engineer needs to see.", EPILOG)
    add_config(parser, TABLE, "the table's configuration")
    parser.add_argument("--output", metavar="FILE", help="a new .tar.gz; - for standard output")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(argv)
    piped = options.output == PIPE
    if piped and sys.stdout.isatty():
        parser.error("--output -: an archive is nothing for a terminal; put >FILE behind it")
    try:
        if piped:
            told = send(Path(options.config), sys.stdout.buffer)
        else:
            told = make(Path(options.config), Path(options.output) if options.output else None)
    except CannotWrite as error:
        print(f"underfelt bundle: {error} ({CODE})", file=sys.stderr)
        return os.EX_CANTCREAT
    rows = [json.dumps(told, indent=2)] if options.json else map(printable, lines_of(told, WIDE))
    print("\n".join(rows), file=sys.stderr if piped else sys.stdout)
    return os.EX_OK
