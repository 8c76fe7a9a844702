"""A terminal picture as SVG: text in a window, drawn by hand so that no tool is needed."""

from __future__ import annotations

from html import escape

LINE = 17
GLYPH = 8.4
INK = "#d7dce2"
RED = "#f08a7b"
TITLE = "#9ad0a3"


def terminal(command: str, lines: list[str]) -> str:
    """The picture of a command and what it printed."""
    rows = [f"$ {command}", *lines]
    width = int(max(map(len, rows)) * GLYPH) + 40
    height = len(rows) * LINE + 58
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(command)}">'
        ),
        f'<rect width="{width}" height="{height}" rx="8" fill="#16211c"/>',
        f'<rect width="{width}" height="28" rx="8" fill="#24352c"/>',
    ]
    for i, colour in enumerate(("#e0796c", "#e0b96c", "#7fc08a")):
        parts.append(f'<circle cx="{18 + i * 18}" cy="14" r="5" fill="{colour}"/>')
    parts.append(
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" '
        f'font-size="14" fill="{INK}" xml:space="preserve">'
    )
    for i, row in enumerate(rows):
        parts.append(f'<text x="18" y="{50 + i * LINE}">{_row(row, first=i < 3)}</text>')
    parts.append("</g></svg>\n")
    return "\n".join(parts)


def _row(text: str, *, first: bool) -> str:
    """Red suits in red, the headings in green."""
    if first and text.strip():
        return f'<tspan fill="{TITLE}">{escape(text)}</tspan>'
    done = ""
    for word in escape(text).split(" "):
        red = any(pip in word for pip in "♥♦")
        done += (f'<tspan fill="{RED}">{word}</tspan>' if red else word) + " "
    return done.removesuffix(" ")
