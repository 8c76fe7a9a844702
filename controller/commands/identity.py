"""``underfelt identity``: which program, which rules, which configuration."""

from __future__ import annotations

import json
import os
import sys
from typing import Final

from controller.config.live import line_kinds, load_live
from controller.history.identity import (
    opened_body,
    platform_files,
    platform_hash,
    program_files,
    program_hash,
)
from record import __version__
from record.kit.arguments import Arguments, add_config
from record.kit.config import ConfigError
from record.kit.places import TABLE

EPILOG: Final = """\
examples:
  underfelt identity
  underfelt identity --json --config /etc/underfelt/table.toml
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt identity", "What runs here, by its hashes.", EPILOG)
    add_config(parser, TABLE, "a table's configuration as well", needed=False)
    parser.add_argument("--json", action="store_true", help="one JSON object with every file")
    options = parser.parse_args(argv)
    found = {
        "version": __version__,
        "program": program_hash(),
        "platform": platform_hash(),
    }
    if options.config:
        try:
            config = load_live(options.config, line_kinds())
        except ConfigError as error:
            print(f"underfelt identity: {error}", file=sys.stderr)
            return os.EX_CONFIG
        except FileNotFoundError as error:
            print(f"underfelt identity: {error.filename}: no such file", file=sys.stderr)
            return os.EX_NOINPUT
        found = opened_body(config.game, config.effective_hash, config.layout_sha256, 0)
        del found["repaired_bytes"]
    if options.json:
        print(
            json.dumps(
                {**found, "files": program_files(), "platform_files": platform_files()}, indent=2
            )
        )
    else:
        for name, value in found.items():
            print(f"{name:14} {value}")
    return os.EX_OK
