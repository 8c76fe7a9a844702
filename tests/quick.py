"""Checks what changed since main: style, types, and the tests nearest to the change.

``python -m tests.quick`` is `make quick`. It is a habit before a commit, not a proof: `make test`
runs everything. A test is near when it changed itself or imports a module that changed. It takes no
longer than a minute on a quiet machine: tests that would start later are skipped and counted.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tests import timed

ROOT: Final = Path(__file__).resolve().parent.parent
MOST: Final = 16
"""Test files in one run; those that import the least come first, as they are the most specific."""
FOR_S: Final = 30
"""When the last test may start; style and types take ten seconds before, and it has to end."""
PAGES: Final = (
    "tests/test_links.py",
    "tests/test_markdown.py",
    "tests/controller/commands/test_pages.py",
)
ALWAYS: Final = ("tests/test_house_rules.py",)


def changed(base: str = "main") -> list[str]:
    """Files that differ from the commit where this branch left ``base``, and untracked ones."""
    since = _git("merge-base", base, "HEAD").strip()
    found = _git("diff", "--name-only", "--diff-filter=d", since).splitlines()
    return sorted({*found, *_git("ls-files", "--others", "--exclude-standard").splitlines()})


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports_of(source: str) -> set[str]:
    """Every module that this source names in an import, and ``a.b`` for ``from a import b``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{one.name}" for one in node.names)
    return names


def near(files: Iterable[str], tests: Mapping[str, set[str]]) -> list[str]:
    """Test files to run for these changes, the most specific first; ``tests``: file to imports."""
    files = list(files)
    modules = {module_of(name) for name in files if name.endswith(".py")}
    own = [name for name in files if name in tests]
    others = [name for name, names in tests.items() if names & modules and name not in own]
    others.sort(key=lambda name: (len(tests[name]), name))
    pages = [name for name in PAGES if any(one.endswith(".md") for one in files)]
    return list(dict.fromkeys([*ALWAYS, *own, *pages, *others]))


def main() -> int:
    files = changed()
    if not files:
        print("nothing changed since main")
        return 0
    tests = {
        str(path.relative_to(ROOT)): imports_of(path.read_text("utf-8"))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
    }
    found = near(files, tests)
    chosen = found[:MOST]
    print(f"{len(files)} files changed; {len(found)} test files are near, {len(chosen)} run")
    python = [name for name in files if name.endswith(".py")]
    tools = Path(sys.executable).parent
    for name in found[MOST:]:
        print(f"  left out: {name}")
    commands = [f"{tools}/pytest -q -x -n 2 --for-seconds {FOR_S} -m 'not slow' {' '.join(chosen)}"]
    if python:
        style = [f"{tools}/ruff check", f"{tools}/ruff format --check"]
        commands[:0] = [*(f"{one} {' '.join(python)}" for one in style), f"{tools}/mypy"]
    return timed.main(commands)


if __name__ == "__main__":
    sys.exit(main())
