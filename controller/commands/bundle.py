"""``underfelt bundle``: diagnostics for support, without keys or hidden cards."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from controller.bundle.make import CODE, CannotWrite, make, send
from controller.commands.ending import ends
from controller.shell.render.records import bundle as lines_of
from record.kit.arguments import Arguments, add_config
from record.kit.outside import printable
from record.kit.places import TABLE
from record.kit.verbs import Stop

PIPE: Final = "-"
WIDE: Final = 1000
"""Lines are not wrapped, so that they can be searched."""
EPILOG: Final = """\
The bundle holds status, identity, configuration, layout, the doctor's findings,
metrics, the last journal records as kinds, times and hashes, the last frames,
the system's log, versions and disk space. It also works while the daemon is down.

Records that could hold a card, a person or a seed, and bytes of card devices, are
left out; manifest.json lists what and why. Every part is searched for the table's
keys before it is written. Parts that you may not read are listed as missing, with
the command that gets them. The new file is TABLE-YYYYMMDD-HHMMSS.tar.gz in this
folder. With --output - the archive goes to standard output and the summary to
standard error.

exit codes: 0 written, 64 usage, 73 the file is there already or cannot be made

examples:
  sudo underfelt bundle --config /etc/underfelt/table-1/table.toml
  underfelt bundle --config table.toml --output table-1.tar.gz --json
  ssh table-1 sudo underfelt bundle --config /etc/underfelt/table-1/table.toml \\
      --output - >table-1.tar.gz
"""


@ends("bundle")
def run(argv: list[str]) -> int:
    parser = Arguments(
        "underfelt bundle", "Collect diagnostics for support, without secrets.", EPILOG
    )
    add_config(parser, TABLE, "the table's configuration")
    parser.add_argument("--output", metavar="FILE", help="a new .tar.gz; - for standard output")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(argv)
    piped = options.output == PIPE
    if piped and sys.stdout.isatty():
        parser.error("--output -: will not write an archive to a terminal; redirect it with >FILE")
    try:
        if piped:
            told = send(Path(options.config), sys.stdout.buffer)
        else:
            told = make(Path(options.config), Path(options.output) if options.output else None)
    except CannotWrite as error:
        raise Stop(f"{error} ({CODE})", os.EX_CANTCREAT) from None
    rows = [json.dumps(told, indent=2)] if options.json else map(printable, lines_of(told, WIDE))
    print("\n".join(rows), file=sys.stderr if piped else sys.stdout)
    return os.EX_OK
