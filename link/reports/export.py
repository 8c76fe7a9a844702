"""A report for other programs: JSON and CSV. Amounts stay whole numbers of units or cents."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Final

from link.reports.model import Report, ReportError, Section

SCHEMA: Final = "underfelt.report/1"


def report_json(report: Report) -> str:
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "report": report.kind,
        "title": report.title,
        "facts": dict(report.facts),
        "sections": [
            {
                "name": section.name,
                "title": section.title,
                "about": dict(section.about),
                "columns": [{"name": c.name, "kind": c.kind} for c in section.columns],
                "rows": [list(row) for row in section.rows],
                "sums": section.sums,
            }
            for section in report.sections
        ],
        "findings": [{"code": f.code, "text": f.text} for f in report.findings],
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def report_csv(report: Report, name: str | None = None) -> str:
    """Sections one after the other, each under its own heading; with a name those of that name
    under one heading. Sums are left out: a spreadsheet makes its own."""
    known = list(dict.fromkeys(section.name for section in report.sections))
    if name is not None and name not in known:
        said = f'no section "{name}"; expected one of {", ".join(known)}'
        raise ReportError("E-RPT-003", said)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for wanted in known if name is None else [name]:
        found = [section for section in report.sections if section.name == wanted]
        writer.writerow(_head(found[0]))
        for section in found:
            about = [value for _, value in section.about]
            for row in section.rows[: len(section.rows) - section.sums]:
                writer.writerow([section.name, *about, *map(_cell, row)])
    return out.getvalue()


def _head(section: Section) -> list[str]:
    names = [c.name if c.kind in ("text", "count") else f"{c.name} ({c.kind})"
             for c in section.columns]  # fmt: skip
    return ["section", *(name for name, _ in section.about), *names]


def _cell(value: str | int | None) -> str | int | None:
    """Mark a text that a spreadsheet would take for a formula as text."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return f"'{value}"
    return value
