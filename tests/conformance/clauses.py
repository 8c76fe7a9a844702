"""The clauses, the tests that show them, and those that wait for another part of the house."""

from __future__ import annotations

import ast
import csv
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = (
    "chip sensors",
    "card devices",
    "table daemon",
    "progressive link",
    "technician's shell",
)


@dataclass(frozen=True)
class Clause:
    id: str
    book: str
    paraphrase: str
    role: str
    expected: str


def load_clauses() -> list[Clause]:
    with (ROOT / "docs/rules/clauses.csv").open(encoding="utf-8") as table:
        return [
            Clause(r["id"], r["id"].split("-")[0], r["paraphrase"], r["role"], r["expected"])
            for r in csv.DictReader(table)
        ]


def load_pending() -> dict[str, str]:
    """Clause to the part of the house that will show it."""
    pending: dict[str, str] = {}
    for path in sorted((ROOT / "docs/rules/pending").glob("*.toml")):
        pending |= tomllib.loads(path.read_text("utf-8")).get("pending", {})
    return pending


@cache
def marked_tests() -> dict[str, list[str]]:
    """Clause to the tests that carry it, read from the markers without running anything."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        where = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                for clause in _clauses(node, where):
                    tests = found.setdefault(clause, [])
                    name = f"{where}::{node.name}"
                    if name not in tests:
                        tests.append(name)
    return found


def _clauses(function: ast.FunctionDef, where: str) -> list[str]:
    ids: list[str] = []
    for decorator in function.decorator_list:
        for call in ast.walk(decorator):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("mark.clause"):
                for argument in call.args:
                    if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                        raise TypeError(f"{where}::{function.name}: a clause id must be literal")
                    ids.append(argument.value)
    return ids
