"""What the displays' patterns look like to a person (docs/protocols/ht16k33.md and hd44780.md).

The pictures are drawn as a person sees them and turned into bytes here, so that an error in the
order of bits cannot hide in a table of numbers.
"""

from __future__ import annotations

from typing import Final

SEGMENTS: Final[dict[int, str]] = {
    0x0C3F: "0", 0x0006: "1", 0x00DB: "2", 0x008F: "3", 0x00E6: "4",
    0x2069: "5", 0x00FD: "6", 0x0007: "7", 0x00FF: "8", 0x00EF: "9",
    0x00F7: "A", 0x128F: "B", 0x0039: "C", 0x120F: "D", 0x00F9: "E",
    0x0071: "F", 0x00BD: "G", 0x00F6: "H", 0x1209: "I", 0x001E: "J",
    0x2470: "K", 0x0038: "L", 0x0536: "M", 0x2136: "N", 0x003F: "O",
    0x00F3: "P", 0x203F: "Q", 0x20F3: "R", 0x00ED: "S", 0x1201: "T",
    0x003E: "U", 0x0C30: "V", 0x2836: "W", 0x2D00: "X", 0x1500: "Y",
    0x0C09: "Z", 0x00C0: "-", 0x0000: " ", 0x12ED: "$", 0x1083: "?",
}  # fmt: skip
"""Fourteen segments without the dot, to the character."""

_RANK_PICTURES: Final = (
    (
        "A          2          3          4          5          6          7       ",
        "..####..   .######.   .######.   ....###.   ########   ..#####.   ########",
        ".##..##.   ##....##   ##....##   ...####.   ##......   .##.....   ......##",
        "##....##   ......##   ......##   ..##.##.   #######.   ##......   .....##.",
        "##....##   ...####.   ...####.   .##..##.   ......##   #######.   ....##..",
        "########   .###....   ......##   ########   ......##   ##....##   ...##...",
        "##....##   ##......   ##....##   .....##.   ##....##   ##....##   ...##...",
        "##....##   ########   .######.   .....##.   .######.   .######.   ...##...",
        "........   ........   ........   ........   ........   ........   ........",
    ),
    (
        "8          9          T          J          Q          K       ",
        ".######.   .######.   .#..###.   ...#####   .######.   ##....##",
        "##....##   ##....##   ##.##.##   .....##.   ##....##   ##...##.",
        "##....##   ##....##   .#.##.##   .....##.   ##....##   ##..##..",
        ".######.   .#######   .#.##.##   .....##.   ##....##   #####...",
        "##....##   ......##   .#.##.##   ##...##.   ##.##.##   ##..##..",
        "##....##   .....##.   .#.##.##   ##...##.   ##..###.   ##...##.",
        ".######.   .#####..   ###.###.   .#####..   .#####.#   ##....##",
        "........   ........   ........   ........   ........   ........",
    ),
)
_SUIT_PICTURES: Final = (
    (
        "c          d          h          s       ",
        "...##...   ...##...   .##..##.   ...##...",
        "..####..   ..####..   ########   ..####..",
        "..####..   .######.   ########   .######.",
        "##.##.##   ########   ########   ########",
        "########   ########   .######.   ########",
        "##.##.##   .######.   ..####..   ##.##.##",
        "...##...   ..####..   ...##...   ...##...",
        "..####..   ...##...   ........   ..####..",
    ),
)
_GLYPH_PICTURES: Final = (
    (
        "♣       ♦       ♥       ♠       €       £       \\       ~    ",
        ".###.   ..#..   .....   ..#..   ..##.   ..##.   .....   .....",
        ".###.   .###.   .#.#.   .###.   .#..#   .#..#   #....   .....",
        "..#..   .###.   #####   #####   ###..   .#...   .#...   .#...",
        "##.##   #####   #####   #####   .#...   ###..   ..#..   #.#.#",
        "#####   #####   #####   #####   ###..   .#...   ...#.   ...#.",
        "##.##   .###.   .###.   #.#.#   .#..#   .#..#   ....#   .....",
        "..#..   .###.   ..#..   ..#..   ..##.   #.##.   .....   .....",
        ".###.   ..#..   .....   .###.   .....   .....   .....   .....",
    ),
)


def _pictures(blocks: tuple[tuple[str, ...], ...]) -> dict[tuple[str, ...], str]:
    """Each picture, line by line from the top, to its name."""
    found: dict[tuple[str, ...], str] = {}
    for names, *lines in blocks:
        columns = zip(*(line.split() for line in lines), strict=True)
        for name, picture in zip(names.split(), columns, strict=True):
            found[picture] = name
    return found


RANKS: Final = _pictures(_RANK_PICTURES)
"""Lines 0 to 7 of the matrix to the rank."""
SUITS: Final = _pictures(_SUIT_PICTURES)
"""Lines 8 to 15 of the matrix to the suit."""
GLYPHS: Final = {
    bytes(int(row.replace("#", "1").replace(".", "0"), 2) for row in picture): name
    for picture, name in _pictures(_GLYPH_PICTURES).items()
}
"""Eight rows of five dots, the left dot in bit 4, to the character."""
