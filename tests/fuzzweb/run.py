"""``python -m tests.fuzzweb.run --cases 2000 --seed 1 --report docs/reports/fuzz-web.md``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from tests.fuzzweb.requests import Outcome, fuzzed
from tests.web.conftest import made_floor


def main() -> int:
    parser = argparse.ArgumentParser(description="Requests made from the OpenAPI document.")
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    floors = contextmanager(made_floor)
    with tempfile.TemporaryDirectory() as folder, floors(Path(folder), login=False) as floor:
        found = fuzzed(floor, options.cases, options.seed)
        if floor.link.orders:
            found.failures.append(f"orders accepted: {floor.link.orders}")
    text = report(found, options.seed)
    print(text)
    if options.report:
        options.report.write_text(text, "utf-8")
    return 1 if found.failures else 0


def report(found: Outcome, seed: int) -> str:
    rows = [f"| `{name}` | {count} |" for name, count in sorted(found.operations.items())]
    statuses = ", ".join(f"{count} x {status}" for status, count in sorted(found.statuses.items()))
    failures = [f"* {one}" for one in dict.fromkeys(found.failures)] or ["None."]
    lines = [
        "# Fuzzing the web API",
        "",
        "`make fuzz-web` writes this page. schemathesis makes valid and invalid requests from the",
        "OpenAPI document and checks each answer of a real web process against the document. The",
        "link server, table and simulator behind it are the small servers of `tests/web`.",
        "",
        f"Seed {seed}: {found.cases} requests.",
        "",
        f"Answers: {statuses}.",
        "",
        "## Failures",
        "",
        *failures,
        "",
        "## Requests by operation",
        "",
        "| operation | requests |",
        "|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
