"""Every module of the product is reached by some command: what none can reach never runs.

``underfelt.driver`` is for vendors, so no command imports it.
Followed are imports, also those inside functions, and texts that are a module's name, as of modules
that are loaded by a dotted path. Imports for type checkers alone are not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from controller.cli import COMMANDS
from tests.test_house_rules import PRODUCT, ROOT, module_of

MODULES = {module_of(path): path for path in PRODUCT}


def runs(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node that may be run: not what stands under ``if TYPE_CHECKING``."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from runs(node.orelse)
        else:
            yield from ast.walk(node)


def named(text: str) -> Iterator[str]:
    """The names in a source: of modules, and of what may be one."""
    for node in runs(ast.parse(text).body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (node.value, node.value.rpartition(".")[0])


def loaded() -> Iterator[str]:
    """What our own data files name: the layouts of the simulator, and its bus and pins."""
    for path in (ROOT / "hw_sim" / "tables").glob("*.toml"):
        for text in re.findall(r'"([\w.]+)"', path.read_text("utf-8")):
            yield text.rpartition(".")[0]


def reached(sources: Mapping[str, str], starts: set[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        name = waiting.pop()
        if name not in sources or name in found:
            continue
        found.add(name)
        parent = name.rpartition(".")[0]
        waiting += [parent, *named(sources[name])]
    return found


def test_every_module_is_reached_by_a_command() -> None:
    sources = {name: path.read_text("utf-8") for name, path in MODULES.items()}
    starts = {"controller.cli", "underfelt.driver", *loaded()} | {
        module for module, _ in COMMANDS.values()
    }
    alone = set(sources) - reached(sources, starts)
    assert not alone, sorted(alone)


def test_the_rule_can_fail() -> None:
    sources = {
        "a": "import a.used\nif TYPE_CHECKING:\n    import a.typed",
        "a.used": 'def late():\n    from a import inner\nLOADED = "a.loaded.Thing"',
        "a.inner": "",
        "a.loaded": "",
        "a.typed": "",
        "a.lonely": "import a.used",
    }
    assert set(sources) - reached(sources, {"a"}) == {"a.typed", "a.lonely"}
