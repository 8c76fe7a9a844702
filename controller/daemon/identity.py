"""What runs: version, and the hashes of every program file, of configuration and rule book."""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from pathlib import Path
from typing import Any, Final

import controller

PACKAGES: Final = ("controller", "drivers", "record", "link")
PROGRAM: Final = Path(controller.__file__).resolve().parent.parent


@cache
def program_files() -> dict[str, str]:
    """Each file of the program and its SHA-256, by its path below the packages."""
    found = {}
    for package in PACKAGES:
        for path in sorted((PROGRAM / package).rglob("*")):
            if path.is_file() and path.suffix in (".py", ".toml"):
                name = path.relative_to(PROGRAM).as_posix()
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@cache
def program_hash() -> str:
    """One hash over all of them: what a regulator's list names."""
    return _of(program_files())


def pay_table_hash() -> str:
    return program_files()["controller/rules/paytables.py"]


def rule_book_hash(game: str) -> str:
    """The book, its pay tables and the settlement that reads them."""
    files = program_files()
    book = f"controller/rules/books/{game.lower()}.py"
    rules = {n: h for n, h in files.items() if n.startswith("controller/rules/")}
    shared = {n: h for n, h in rules.items() if "/books/" not in n}
    return _of({book: files[book], **shared})


def opened_body(game: str, configuration: str, layout: str, repaired: int) -> dict[str, Any]:
    """The record of a start: with it, history needs no old code to be understood."""
    return {
        "version": controller.__version__,
        "python": platform.python_version(),
        "program": program_hash(),
        "game": game,
        "rule_book": rule_book_hash(game),
        "pay_tables": pay_table_hash(),
        "configuration": configuration,
        "layout": layout,
        "repaired_bytes": repaired,
    }


def _of(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
