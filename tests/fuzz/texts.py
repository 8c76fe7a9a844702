"""Texts: the kernel's supply flags (docs/protocols/gpio.md) and the layout file (layout.md)."""

from __future__ import annotations

import string
from pathlib import Path
from random import Random
from typing import Final
from unittest.mock import patch

from drivers import layout
from drivers.base import Fault
from drivers.gpio.codec import parse_throttled
from drivers.gpio.driver import SupplyDriver
from tests.fuzz import mutate
from tests.fuzz.tally import FRAMES, Broken, Tally, Target

CHOICE: Final = [*mutate.GUARDED.items(), *mutate.OTHERS.items()]
HEX: Final = frozenset(string.hexdigits)
BLANKS: Final = " \t\r\n"
SUPPLY: Final = (
    "50005\n", "0x50005", "throttled=0x50005\n", "0\n", "0xe0008", " \t0X1f\r\n", "throttled=7",
    "ffffffff\n", "0x00000000",
)  # fmt: skip


def flags_of(text: str) -> int | None:
    """The grammar of the page, once more and by hand."""
    if len(text) > 64:
        return None
    text = text.strip(BLANKS)
    text = text.removeprefix("throttled=")
    if text[:2] in ("0x", "0X"):
        text = text[2:]
    if not 1 <= len(text) <= 8 or not HEX.issuperset(text):
        return None
    return int(text, 16)


def supply_case(rng: Random, tally: Tally) -> None:
    sent = rng.choice(SUPPLY).encode()
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    data = mutator(rng, sent, rng.choice(SUPPLY).encode())
    text = data.decode("latin-1") if rng.random() < 0.5 else data.decode("utf-8", "replace")
    tally[name, FRAMES] += 1
    found, expected = parse_throttled(text), flags_of(text)
    if isinstance(found, Fault):
        tally[name, "refused"] += 1
        if expected is not None or len(found.detail) > 200:
            raise Broken(f"{text!r}: {found}, expected {expected}")
    else:
        tally[name, "read"] += 1
        if found != expected:
            raise Broken(f"{text!r}: {found}, expected {expected}")
    driver = SupplyDriver()
    driver.read("0\n", 1_000_000)
    driver.read(text, 2_000_000)


LAYOUT: Final = """[table]
name = "t"
seats = 7
[transport]
bus = "smbus2.SMBus"
throttled = ""
[[line]]
name = "c"
kind = "feig"
port = "/dev/c"
serial = "0A1B2C01"
address = 1
[line.antennas]
"1/1" = "1/1"
"15/8" = "7/$"
[[line]]
name = "s"
kind = "alpha"
port = "/dev/s"
[chips]
keys-1 = 0x20
prompt = 0x3F
[pins]
door = 27
"""
VALUES: Final = (
    "1", "-1", "0", "8", "0x20", "1.5", "nan", "true", '""', '"x"', '"1/1"', "[]", "[1]",
    '["feig"]',
    "{}", "{a = 1}", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", "'''a'''", "[[[[]]]]",
    "99999999999999999999999", '"٣"', '"²"', '"\\u0000"', "0b1",
)  # fmt: skip


def _huge(rng: Random) -> str:
    """Numbers longer than Python turns into text by default, and nesting deeper than its stack."""
    return rng.choice(
        (
            "9" * 5_000,
            "0x" + "F" * 5_000,
            '"' + "9" * 5_000 + '"',
            '"' + "9" * 5_000 + '/1"',
            '"1/' + "1" * 5_000 + '"',
            "[" * 3_000 + "]" * 3_000,
            "{a=" * 2_000 + "1" + "}" * 2_000,
        )
    )


def _value(rng: Random, lines: list[str]) -> None:
    places = [n for n, line in enumerate(lines) if "=" in line]
    at = rng.choice(places)
    key = lines[at].partition("=")[0]
    lines[at] = f"{key}= {_huge(rng) if rng.random() < 0.01 else rng.choice(VALUES)}"


def _key(rng: Random, lines: list[str]) -> None:
    at = rng.randrange(len(lines))
    _, equals, value = lines[at].partition("=")
    if equals:
        new = rng.choice(('""', '"1"', '"1/9"', '"16/1"', '"٣/1"', '"a/b"', "new", "kind", "name"))
        lines[at] = f"{new} ={value}"
    else:
        lines[at] = rng.choice(
            ("[line]", "[[table]]", "[[chips]]", "[[line.antennas]]", "[x]", "[a.b]")
        )


def _lines(rng: Random, lines: list[str]) -> None:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[a]
        case 1:
            lines.insert(b, lines[a])
        case 2:
            lines[a], lines[b] = lines[b], lines[a]
        case _:
            del lines[min(a, b) : max(a, b)]


TOKENS: Final = {
    "value of another kind": _value,
    "key or head replaced": _key,
    "lines moved": _lines,
}


class _Memory:
    """A path whose file is these bytes, so that a million files need no disk."""

    data = b""

    def __init__(self, path: object) -> None:
        self.path = path

    def __str__(self) -> str:
        return "memory"

    def absolute(self) -> Path:
        return Path("/memory")

    def read_text(self, encoding: str) -> str:
        return self.data.decode(encoding)


def load(data: bytes) -> layout.TableLayout:
    _Memory.data = data
    with patch.object(layout, "Path", _Memory):
        return layout.load("memory")


def layout_mutant(rng: Random) -> tuple[str, bytes]:
    if rng.random() < 0.6:
        lines = LAYOUT.splitlines()
        name = rng.choice(list(TOKENS))
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            if lines and any("=" in line for line in lines):
                TOKENS[name](rng, lines)
        return name, "\n".join(lines).encode()
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    return name, mutator(rng, LAYOUT.encode(), LAYOUT.encode())


def layout_case(rng: Random, tally: Tally) -> None:
    name, data = layout_mutant(rng)
    tally[name, FRAMES] += 1
    try:
        found = load(data)
    except layout.LayoutError as refused:
        if not refused.problems or any(len(it) != 3 or not all(it) for it in refused.problems):
            raise Broken(f"refused without a reason: {data!r}") from None
        tally[name, "refused"] += 1
        return
    tally[name, "read"] += 1
    if not 1 <= found.seats <= 7 or not found.name:
        raise Broken(f"a table of {found.seats} seats: {data!r}")
    for antenna, (seat, spot) in found.spots.items():
        if not (0 <= antenna.mux <= 15 and 1 <= antenna.channel <= 8 and 0 <= seat <= 7 and spot):
            raise Broken(f"{antenna} at {seat}/{spot}: {data!r}")


SUPPLY_TARGET: Final = Target(
    "supply",
    "Supply flags",
    supply_case,
    (FRAMES, "refused", "read"),
    notes=(
        "Every text is also read by a second parser, written by hand from the page's "
        "grammar; the two must agree."
    ),
)
LAYOUT_TARGET: Final = Target(
    "layout",
    "Layout files",
    layout_case,
    (FRAMES, "refused", "read"),
    notes=(
        "A layout or a `LayoutError` with its reasons, and nothing else; what was read "
        "keeps to the limits of the page."
    ),
)
