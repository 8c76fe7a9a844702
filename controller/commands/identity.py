"""``underfelt identity``: which program, which rules, which configuration."""

from __future__ import annotations

import json
import os
from typing import Final

from controller.commands.ending import ends
from controller.config.live import line_kinds, load_live
from controller.identity import (
    opened_body,
    platform_files,
    platform_hash,
    program_files,
    program_hash,
)
from record import __version__
from record.kit.arguments import Arguments, add_config
from record.kit.places import TABLE

EPILOG: Final = """\
examples:
  underfelt identity
  underfelt identity --json --config /etc/underfelt/table.toml
"""


@ends("identity")
def run(argv: list[str]) -> int:
    parser = Arguments("underfelt identity", "Hashes of the program and its configuration.", EPILOG)
    add_config(parser, TABLE, "a table's configuration as well", needed=False)
    parser.add_argument("--json", action="store_true", help="one JSON object with every file")
    options = parser.parse_args(argv)
    found = {"version": __version__, "program": program_hash(), "platform": platform_hash()}
    if options.config:
        config = load_live(options.config, line_kinds())
        found = opened_body(config.game, config.effective_hash, config.layout_sha256, 0)
        del found["repaired_bytes"]
    if options.json:
        files = {"files": program_files(), "platform_files": platform_files()}
        print(json.dumps({**found, **files}, indent=2))
    else:
        for name, value in found.items():
            print(f"{name:14} {value}")
    return os.EX_OK
