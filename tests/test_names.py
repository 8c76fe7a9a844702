"""Names that were given up stay away: from identifiers, module names and class names.

docs/glossary.md has the words to use instead. A name on disk or on a wire never changes, so a word
may live on as the literal that is written there; those and words with a second, ordinary meaning
are listed here one by one.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.test_house_rules import OURS, PRODUCT, ROOT, python_files

RETIRED_WORDS: Final = {
    "standing": "snapshot",
    "alone": "standalone",
    "bars": "device lock-out",
    "barred": "device lock-out",
    "loudly": "crash policy",
    "croupier": "dealer",
    "finger": "a word that says what is done",
    "anew": "again",
    "whoever": "anyone, peer",
}
"""No part of an identifier of the product is one of these words."""
RETIRED_MODULES: Final = {
    "open": "what the module opens",
    "doing": "acts",
    "reach": "what is reached",
    "closer": "what is closed",
    "chosen": "what is chosen",
    "carrying": "order handlers",
    "looks": "table views",
    "once": "greeting",
    "finger": "what is done",
    **RETIRED_WORDS,
}
"""No module or package, of the product or of the tests, is called one of these."""
UNIQUE_CLASSES: Final = frozenset(("Refused", "Session", "Plan", "Journal", "Service", "Identity"))
"""Class names that stood for several things; now each stands for one at most."""

ALLOWED_WORDS: Final[dict[str, frozenset[str]]] = {
    # A field of states in snapshots and day reports: a name on disk.
    "anew": frozenset(("ruled_anew", "RuledAnew")),
    # Bar charts of the par sheets.
    "bars": frozenset(("Bars", "_bars", "bars")),
    # "By itself", not the mode of a table without a server.
    "alone": frozenset(("ALONE", "_ALONE", "alone", "_alone", "_backup_alone")),
    # Awards and rows that still stand; the link's own word.
    "standing": frozenset(("STANDING_STILL", "Standing", "_Standing", "_standing", "standing")),
}
"""By word, identifiers with an ordinary meaning or a name on disk."""
BOARDS: Final = (
    "drivers/build.py",
    "drivers/bus.py",
    "drivers/display.py",
    "drivers/ht16k33/",
    "drivers/hd44780/",
    "drivers/mcp23017/",
    "drivers/transport/i2c.py",
    "hw_sim/bus.py",
    "hw_sim/client/",
    "hw_sim/sockets.py",
    "hw_sim/devices/hd44780.py",
    "hw_sim/devices/ht16k33.py",
    "hw_sim/devices/keys.py",
    "hw_sim/devices/lamps.py",
    "hw_sim/devices/mcp23017.py",
    "tests/drivers/bus/",
    "tests/drivers/hd44780/",
    "tests/drivers/ht16k33/",
)
"""Where a part on the I2C bus is a board: a chip is a casino chip."""
CHIPS_OF_CASINOS: Final = frozenset(("ChipField",))


def words_of(identifier: str) -> Iterator[str]:
    """``_BackupAlone_2`` as backup, alone, 2."""
    yield from (w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier))


def identifiers_of(tree: ast.AST) -> set[str]:
    """Every name that a source defines or uses, without the modules that it imports."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg | ast.keyword) and node.arg is not None:
            found.add(node.arg)
        elif isinstance(node, ast.alias) and node.asname is not None:
            found.add(node.asname)
    return found


def retired_in(tree: ast.AST) -> set[str]:
    """The identifiers with a word that was given up."""
    return {
        name
        for name in identifiers_of(tree)
        for word in words_of(name)
        if word in RETIRED_WORDS and name not in ALLOWED_WORDS.get(word, ())
    }


def place_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def retired_modules(paths: Iterable[Path]) -> set[str]:
    return {
        place_of(path)
        for path in paths
        if RETIRED_MODULES.keys() & {path.stem, *path.relative_to(ROOT).parts[:-1]}
    }


def classes(trees: Iterable[ast.AST]) -> dict[str, int]:
    """How often each of the class names occurs that must be unique."""
    found: defaultdict[str, int] = defaultdict(int)
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in UNIQUE_CLASSES:
                found[node.name] += 1
    return found


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_identifiers_have_no_retired_word() -> None:
    found: dict[str, set[str]] = {}
    for path in PRODUCT:
        place = place_of(path)
        if odd := retired_in(tree_of(path)):
            found[place] = odd
    assert found == {}, f"retired; the words to use are: {RETIRED_WORDS}"


def test_module_names_say_what_they_hold() -> None:
    assert retired_modules(python_files(*OURS)) == set()


def test_a_class_name_stands_for_one_thing() -> None:
    found = classes(map(tree_of, PRODUCT))
    assert {n: times for n, times in found.items() if times > 1} == {}


def test_parts_on_the_bus_are_boards() -> None:
    for path in python_files("drivers", "hw_sim", "tests"):
        if place_of(path).startswith(BOARDS):
            names = identifiers_of(tree_of(path)) - CHIPS_OF_CASINOS
            odd = {n for n in names if {"chip", "chips"} & {*words_of(n)}}
            assert not odd, f"{place_of(path)}: {odd}; a chip is a casino chip, a part is a board"


def test_every_folder_of_boards_is_there() -> None:
    places = [place_of(path) for path in python_files("drivers", "hw_sim", "tests")]
    assert [each for each in BOARDS if not any(p.startswith(each) for p in places)] == []


def test_the_rules_can_fail() -> None:
    assert list(words_of("_BackupAlone2_x")) == ["backup", "alone", "2", "x"]
    assert retired_in(ast.parse("def loudly(): pass")) == {"loudly"}
    assert retired_in(ast.parse("x.is_barred = 1")) == {"is_barred"}
    assert retired_in(ast.parse("f(read_anew=1)")) == {"read_anew"}
    assert retired_in(ast.parse('kind = "standing"')) == set()
    assert retired_modules([ROOT / "controller" / "doing.py"]) == {"controller/doing.py"}
    assert retired_modules([ROOT / "bars" / "x.py"]) == {"bars/x.py"}
    twice = ast.parse("class Plan: pass\nclass Outer:\n    class Plan: pass")
    assert classes([twice]) == {"Plan": 2}
