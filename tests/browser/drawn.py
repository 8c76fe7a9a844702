"""What a display in the page shows, read from the shapes that are lit and from nothing else."""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import Page

LIT: Final = """() => Object.fromEntries(["meter", "magic", "prompt"].map((id) => {
  const one = document.getElementById(id);
  const path = one.querySelector("path.lit");
  const seen = path !== null && one.checkVisibility();
  return [id, seen ? [path.getAttribute("d"), one.dataset.memory, one.dataset.text] : null];
}))"""
START: Final = re.compile(r"M([\d.]+) ([\d.]+)")
CELL: Final = 66
SEGMENTS: Final = {
    (9, 7): 0, (47, 9): 1, (47, 46): 2, (9, 81): 3, (7, 46): 4, (7, 9): 5, (9, 44): 6,
    (29, 44): 7, (13, 14): 8, (27, 12): 9, (41, 14): 10, (13, 74): 11, (27, 46): 12,
    (41, 74): 13, (57, 84): 14,
}  # fmt: skip
"""Where a segment begins in its cell, and its bit: A to F clockwise from the top, the two middle
bars, the six inner ones, the dot (docs/protocols/ht16k33.md, section 3)."""
PINNED: Final = {
    "1": ("..#..", ".##..", "..#..", "..#..", "..#..", "..#..", ".###.", "....."),
    "E": ("#####", "#....", "#....", "####.", "#....", "#....", "#####", "....."),
    "T": ("#####", "#.#.#", "..#..", "..#..", "..#..", "..#..", "..#..", "....."),
    "-": (".....", ".....", ".....", "#####", ".....", ".....", ".....", "....."),
    " ": (".....",) * 8,
}
"""Characters of the prompt as a person reads them; every other code must differ from all others."""


def starts(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in START.findall(path)]


def meter(path: str) -> list[int]:
    """The words of the twelve cells."""
    words = [0] * 12
    for x, y in starts(path):
        cell = int(x // CELL)
        words[cell] |= 1 << SEGMENTS[round(x - cell * CELL), round(y)]
    return words


def matrix(path: str) -> bytes:
    """Eight columns of sixteen dots, as memory has them."""
    columns = [0] * 8
    for x, y in starts(path):
        line = int(y // 10) if y < 80 else int((y - 3) // 10)
        columns[int(x // 10)] |= 1 << line
    return b"".join(column.to_bytes(2, "little") for column in columns)


def glyphs(path: str) -> list[tuple[str, ...]]:
    """The eighty characters, each as eight rows of five dots."""
    lit = {(round(x), round(y)) for x, y in starts(path)}
    return [
        tuple(
            "".join(
                "#" if (column * 18 + x * 3, line * 29 + y * 3) in lit else "." for x in range(5)
            )
            for y in range(8)
        )
        for line in range(4)
        for column in range(20)
    ]


class Displays:
    """Compares a page with the memory of the boards; remembers the shape of every character."""

    def __init__(self) -> None:
        self.shapes: dict[int, tuple[str, ...]] = {ord(c): rows for c, rows in PINNED.items()}
        self.compared = 0

    def differences(self, page: Page, boards: Any) -> list[str]:
        found = page.evaluate(LIT)
        wrong: list[str] = []
        lit = boards["boards"]
        self._meter(found["meter"], boards["meter"], lit, wrong)
        self._magic(found["magic"], boards["magic"], lit, wrong)
        self._prompt(found["prompt"], boards["prompt"], lit, wrong)
        self.compared += not wrong
        return wrong

    def _meter(self, drawn: Any, memory: list[str], lit: Any, wrong: list[str]) -> None:
        if not memory:
            wrong += ["a meter is drawn at a table without one"] if drawn else []
            return
        words = []
        for number, module in enumerate(memory, 1):
            data = bytes.fromhex(module)
            on = lit[f"meter-{number}"]["on"]
            words += [int.from_bytes(data[n : n + 2], "little") * on for n in (0, 2, 4, 6)]
        seen = None if drawn is None else (meter(drawn[0]), drawn[1])
        wanted = ([word & 0x7FFF for word in words], " ".join(memory))
        if seen != wanted:
            wrong.append(f"meter: drawn {seen}, memory {wanted}")

    def _magic(self, drawn: Any, memory: str, lit: Any, wrong: list[str]) -> None:
        if not memory:
            wrong += ["a magic card is drawn at a table without one"] if drawn else []
            return
        seen = None if drawn is None else (matrix(drawn[0]).hex(), drawn[1])
        wanted = (memory if lit["magic"]["on"] else "00" * 16, memory)
        if seen != wanted:
            wrong.append(f"magic card: drawn {seen}, memory {wanted}")

    def _prompt(self, drawn: Any, memory: Any, lit: Any, wrong: list[str]) -> None:
        lines, cgram = memory["ddram"], memory["cgram"]
        if drawn is None or drawn[1] != f"{' '.join(lines)}/{cgram}":
            wrong.append(f"prompt: drawn {drawn and drawn[1]}, memory {lines}")
            return
        codes = b"".join(map(bytes.fromhex, lines))
        for place, (code, shape) in enumerate(zip(codes, glyphs(drawn[0]), strict=True)):
            wanted = self._shape(code, bytes.fromhex(cgram), shape, on=lit["prompt"]["on"])
            if shape != wanted:
                wrong.append(f"prompt, character {place}: code {code:02x} drawn as {shape}")

    def _shape(
        self, code: int, cgram: bytes, seen: tuple[str, ...], *, on: bool
    ) -> tuple[str, ...]:
        if not on:
            return PINNED[" "]
        if code < 16:
            rows = cgram[8 * (code & 7) : 8 * (code & 7) + 8]
            return tuple(f"{row & 31:05b}".replace("1", "#").replace("0", ".") for row in rows)
        known = self.shapes.setdefault(code, seen)
        alike = [other for other, shape in self.shapes.items() if shape == seen and other != code]
        return ("looks like", *map(chr, alike)) if alike else known
