"""What runs, by two hashes: the program is ours, the platform is what carries it.

*Program*: our sources, SQL, data and the simulator. It is the same however they were installed and
on every architecture. *Platform*: interpreter, libraries, compiled files and vendor drivers. It is
the same in two builds of one package.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from typing import Any, Final

from record import __version__

PACKAGES: Final = ("controller", "drivers", "hw_sim", "link", "record", "underfelt", "web")
VENDORS: Final = "drivers/vendor/"
"""Where the sources keep the package ``underfelt``; an installation has it beside the others."""
SOURCES: Final = (".py", ".sql", ".toml", ".html", ".css", ".js", ".json", ".svg", ".png")
"""Pages count too: people type passwords into them."""
PROGRAM: Final = Path(__file__).resolve().parents[1]
DRIVERS: Final = "underfelt.drivers"
NOT_RUN: Final = ("bench", "dev", "math")
"""Extras that no daemon imports."""
BUILD_TOOLS: Final = ("pip", "setuptools", "wheel")
"""Required by some library's metadata, imported by none."""
SKIPPED: Final = frozenset(
    ("__pycache__", "site-packages", "dist-packages", "test", "tests", "ensurepip", "idlelib")
)
"""Of the standard library: what is not run, and what has an entry of its own."""
STARTED: Final = ("*.pth", "sitecustomize.py", "usercustomize.py")
"""Run by the interpreter before the program."""
PYC_HEAD: Final = 16


@cache
def program_files() -> dict[str, str]:
    """Each file of the program and its SHA-256, by its path below the packages."""
    found = {}
    for package in PACKAGES:
        for path in sorted((PROGRAM / package).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                name = path.relative_to(PROGRAM).as_posix()
                found[name.removeprefix(VENDORS)] = _hash(path)
    return found


@cache
def program_hash() -> str:
    """One hash over all of them: what a regulator's list names."""
    return _of(program_files())


@cache
def platform_files() -> dict[str, str]:
    """Interpreter, libraries and vendor drivers, each file and its SHA-256."""
    found = dict(_interpreter())
    for package in PACKAGES:
        found |= _tree(f"program/{package}", PROGRAM / package, sources=False)
    for name in sorted(_libraries()):
        found |= _library(f"library/{name}", distribution(name))
    for entry in entry_points(group=DRIVERS):
        found[f"driver/{entry.name}"] = _of(entry.value)
        if entry.dist is not None:
            for name in sorted({entry.dist.name} | _required(entry.dist.name)):
                found |= _library(f"driver/{entry.name}/{name}", distribution(name))
    for site in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for pattern in STARTED:
            found |= {f"site/{path.name}": _hash(path) for path in Path(site).glob(pattern)}
    return found


@cache
def platform_hash() -> str:
    return _of(platform_files())


def _interpreter() -> Iterator[tuple[str, str]]:
    yield "python/version", _of([sys.implementation.name, sys.version_info[:3], sys.hexversion])
    yield "python/program", _hash(Path(sys.executable).resolve())
    shared = Path(str(sysconfig.get_config_var("LIBDIR"))) / str(
        sysconfig.get_config_var("INSTSONAME")
    )
    if ".so" in shared.name and shared.is_file():
        yield "python/library", _hash(shared)
    yield from _tree("python", Path(sysconfig.get_path("stdlib"))).items()


def _libraries() -> set[str]:
    """What ``underfelt`` requires, as far as it is installed."""
    try:
        return _required("underfelt") - {"underfelt"}
    except PackageNotFoundError:  # started from a tree that nobody installed
        return set()


def _required(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    found = set(seen)
    for line in distribution(name).requires or ():
        extra = re.search(r"extra *== *['\"]([^'\"]+)", line)
        if extra and (name != "underfelt" or extra[1] in NOT_RUN):
            continue
        required = re.split(r"[^A-Za-z0-9._-]", line.strip(), maxsplit=1)[0]
        try:
            if required not in found and required not in BUILD_TOOLS:
                distribution(required)
                found |= _required(required, frozenset(found | {required}))
        except PackageNotFoundError:
            continue  # for another machine, or an extra that is not installed
    return found


def _library(name: str, made: Distribution) -> dict[str, str]:
    """Its folders as they are on disk, and which drivers it offers."""
    found = {f"{name}/entry_points.txt": _of(made.read_text("entry_points.txt") or "")}
    tops = {Path(str(file)).parts[0] for file in made.files or ()}
    tops |= set((made.read_text("top_level.txt") or "").split())
    for top in sorted(tops):
        path = Path(str(made.locate_file(top)))
        if path.suffix in (".dist-info", ".egg-info") or top in ("..", "__pycache__"):
            continue
        if path.is_dir():
            found |= _tree(f"{name}/{top}", path)
        elif path.is_file():
            found[f"{name}/{top}"] = _hash(path)
    return found


def _tree(name: str, root: Path, *, sources: bool = True) -> dict[str, str]:
    """Every file below, but for compiled ones that Python checks against their source."""
    found, cut = {}, len(str(root))
    for folder, folders, files in os.walk(root):
        cached = folder.endswith("__pycache__")
        folders[:] = [f for f in folders if f not in SKIPPED and not f.startswith("config-")]
        if not cached and os.path.isdir(f"{folder}/__pycache__"):
            folders.append("__pycache__")
        for file in files:
            path = f"{folder}/{file}"
            if cached:
                digest = _compiled(path)
            else:
                digest = "" if not sources and file.endswith(SOURCES) else _hash(path)
            if digest:
                found[f"{name}{path[cut:]}"] = digest
    return found


def _compiled(path: str) -> str:
    """The code of a module that is run as it is; nothing if its source decides."""
    if not path.endswith(f".{sys.implementation.cache_tag}.pyc"):
        return ""
    with open(path, "rb", buffering=0) as stream:
        head = stream.read(PYC_HEAD)
        if int.from_bytes(head[4:8], "little") != 1:
            return ""
        return hashlib.sha256(stream.read()).hexdigest()


def _hash(path: str | Path) -> str:
    with open(path, "rb", buffering=0) as stream:
        return hashlib.sha256(stream.read()).hexdigest()


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
        "version": __version__,
        "python": platform.python_version(),
        "program": program_hash(),
        "platform": platform_hash(),
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
