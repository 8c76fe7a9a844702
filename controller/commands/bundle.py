"""``underfelt bundle``: diagnostics for somebody far away, without a key or a closed card."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from controller.bundle.archive import archive, manifest_of
from controller.bundle.collect import collect, now_ms
from controller.cli import EX_OK
from record.arguments import Arguments

EX_CANTCREAT: Final = 73
EPILOG: Final = """\
Status, identity, configuration, layout, the doctor's answer, metrics, the last
journal records as kinds, times and hashes, the last frames, the system's log,
versions, disk; as far as they can be had: it works when the daemon is dead.
Bodies of records that could hold a card, a person or a seed, and bytes of card
devices are left out; manifest.json lists what and why. Every part is searched
for the table's keys before it is written; run it as the daemon's user, so that
the search knows them. Nothing is changed but for the new file.

exit codes: 0 written, 64 usage, 73 the file is there already or cannot be made

examples:
  sudo -u underfelt underfelt bundle --config /etc/underfelt/table-1/table.toml \\
      --output /tmp/table-1.tar.gz
  underfelt bundle --config table.toml --output table-1.tar.gz --json
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt bundle", "Pack what a far-off engineer needs to see.", EPILOG)
    parser.add_argument(
        "--config", metavar="FILE", type=Path, required=True, help="the table's configuration"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="a new .tar.gz")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(argv)
    bundle, made_ms = collect(options.config), now_ms()
    data = archive(bundle, made_ms)
    try:
        with open(options.output, "xb", opener=_private) as stream:
            stream.write(data)
    except OSError as error:
        said = f"{options.output}: {error.strerror}; give a new file"
        print(f"underfelt bundle: {said} (E-BDL-001)", file=sys.stderr)
        return EX_CANTCREAT
    told = manifest_of(bundle, made_ms)
    if options.json:
        print(json.dumps({"file": str(options.output), "size": len(data), **told}, indent=2))
        return EX_OK
    print(f"{options.output}: {len(data)} bytes, {len(bundle.parts)} parts")
    for row in bundle.redacted:
        print(f"left out  {row['part']}: {row['what']} ({row['why']})")
    for row in bundle.missing:
        print(f"missing   {row['part']}: {row['why']}")
    return EX_OK


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o640)
