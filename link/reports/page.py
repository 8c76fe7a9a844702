"""A report as one page of HTML: nothing is loaded from anywhere; prints on A4."""

from __future__ import annotations

from html import escape
from typing import Final

from link.reports.model import Report, Section
from link.reports.text import cells, heading

STYLE: Final = """
:root{color-scheme:light dark;--ink:#1b1b1a;--soft:#6b6a66;--line:#d9d7d0;--paper:#fdfcf9;
--good:#1d6b3c;--bad:#a3231c}
@media (prefers-color-scheme:dark){:root{--ink:#ecebe6;--soft:#a09e97;--line:#3b3a37;
--paper:#191918;--good:#7ccf9a;--bad:#ff9a8f}}
body{margin:0 auto;padding:2.5rem 1.5rem;max-width:60rem;background:var(--paper);color:var(--ink);
font:15px/1.45 system-ui,"Segoe UI","Liberation Sans",sans-serif}
h1{font-size:1.6rem;font-weight:600;margin:0 0 1rem}
h2{font-size:1.05rem;font-weight:600;margin:2.2rem 0 .4rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1.5rem;margin:0}
dt{color:var(--soft)}dd{margin:0}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{padding:.22rem .7rem .22rem 0;text-align:left;border-bottom:1px solid var(--line);
vertical-align:top}
th{font-weight:500;color:var(--soft);border-bottom-color:var(--soft)}
.n+:not(.n){padding-left:.7rem}
.n{text-align:right;font-variant-numeric:tabular-nums lining-nums;white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
tr.sum td{font-weight:600;border-top:1px solid var(--soft);border-bottom:0}
p.note,p.none{color:var(--soft);margin:.4rem 0}
.good{color:var(--good)}.bad{color:var(--bad)}
ul.bad{padding-left:1.2rem}
@media print{:root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--good:#000;--bad:#000}
@page{size:A4;margin:16mm}body{padding:0;max-width:none;font-size:9.5pt}
h2{break-after:avoid}tr{break-inside:avoid}thead{display:table-header-group}}
"""


def report_html(report: Report) -> str:
    facts = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in report.facts)
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{escape(report.title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(report.title)}</h1><dl>{facts}</dl>",
        _findings(report),
        *(_section(section) for section in report.sections),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _findings(report: Report) -> str:
    if not report.findings:
        return '<p class="good">Everything agrees.</p>'
    listed = "".join(f"<li>{escape(f.text)} ({escape(f.code)})</li>" for f in report.findings)
    return f'<ul class="bad">{listed}</ul>'


def _section(section: Section) -> str:
    title = f"<h2>{escape(heading(section))}</h2>"
    if not section.rows:
        return f'{title}<p class="none">none</p>'
    kinds = ["" if column.kind == "text" else ' class="n"' for column in section.columns]
    head = "".join(
        f"<th{kind}>{escape(column.name)}</th>"
        for kind, column in zip(kinds, section.columns, strict=True)
    )
    rows, lines = cells(section), []
    for place, row in enumerate(rows):
        cellmarks = "".join(
            f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)
        )
        mark = ' class="sum"' if place >= len(rows) - section.sums else ""
        lines.append(f"<tr{mark}>{cellmarks}</tr>")
    note = f'<p class="note">{escape(section.note)}</p>' if section.note else ""
    body = "\n".join(lines)
    return (
        f'{title}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n'
        f"</tbody></table></div>{note}"
    )
