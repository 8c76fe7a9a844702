"""The house rules that a reviewer should not have to check: imports, sizes, banned calls."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("controller", "drivers", "record", "link", "hw_sim", "tests", "bench", "docs")
STANDARD = frozenset(sys.stdlib_module_names)

# Package to what it may import besides the standard library; the longest prefix counts.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "controller.rules": ("controller.rules", "record.kit.money", "record.kit.words"),
    "controller.math": ("controller.math", "controller.rules", "record.kit", "numpy"),
    "controller.commands": ("controller", "record", "msgspec", "numpy"),
    "controller": ("controller", "record", "msgspec"),
    "controller.daemon": ("controller", "record", "drivers", "msgspec", "nacl"),
    "controller.demo": ("controller", "record"),
    "controller.demo.sources": ("controller", "record", "zmq"),
    "controller.history": (
        "controller.history",
        "controller.rules",
        "record",
        "drivers.base",
        "drivers.cards",
        "drivers.readings",
        "msgspec",
        "nacl",
    ),
    "controller.history.gamingday": (
        "controller.history.gamingday",
        "record.rounds",
        "record.shape",
        "record.kit",
        "msgspec",
    ),
    "controller.doctor": ("controller", "record", "drivers", "zmq"),
    "controller.replay": ("controller", "drivers", "record.rounds", "record.kit", "msgspec"),
    "controller.evidence": ("controller", "record", "drivers"),
    # The one door to the link server's rows: an award has two halves, and a pack needs both.
    "controller.evidence.server": ("controller.evidence", "record", "link", "msgspec"),
    "controller.bundle": ("controller", "record"),
    "controller.link": ("controller", "record", "msgspec"),
    "controller.link.client": ("controller", "record", "msgspec", "zmq"),
    "controller.link.once": ("controller.link.dealer", "record", "zmq"),
    "controller.link.dealer": ("record", "zmq"),
    # The terminal's side: the core library alone, and nothing of the daemon's.
    "controller.shell": (
        "controller.shell.client",
        "controller.shell.errors",
        "controller.shell.messages",
        "controller.shell.parse",
        "controller.shell.render",
        "controller.shell.repl",
        "controller.shell.session",
        "controller.shell.verbs",
        "record.kit",
        "record.rounds",
    ),
    "controller.shell.desk": ("controller", "record", "drivers"),
    "controller.shell.testing": (
        "controller.shell.testing",
        "controller.rules.cards",
        "controller.table.cards",
        "controller.table.spots",
        "drivers.base",
        "drivers.orders",
        "drivers.readings",
        "record.kit",
    ),
    "controller.shell.testing.mode": ("controller", "drivers"),
    "controller.shell.testing.makers": ("controller", "drivers", "record.kit"),
    "controller.config": (
        "controller.config",
        "controller.rules",
        "controller.shell.verbs",
        "controller.table.spots",
        "drivers.layout",
        "record.kit",
    ),
    # Keys are opened here for every command that needs them.
    "controller.config.keys": (
        "controller.config",
        "controller.history",
        "record.kit",
        "record.link.keys",
    ),
    "controller.registers": (
        "controller.registers",
        "controller.rules.errors",
        "record.kit",
        "nacl",
    ),
    "controller.registers.staff": ("controller.registers", "controller.rules", "record.kit"),
    "controller.table": (
        "controller.table",
        "controller.history",
        "controller.rules",
        "record.kit",
        "drivers.base",
        "drivers.orders",
        "drivers.readings",
    ),
    "drivers.transport": ("drivers", "serial", "smbus2", "gpiozero"),
    "drivers": ("drivers",),
    "underfelt": (
        "drivers.base",
        "drivers.layout",
        "drivers.machines",
        "drivers.orders",
        "drivers.readings",
    ),
    "record": ("record", "msgspec"),
    # Everything may import the kit, so the kit imports nothing of ours.
    "record.kit": ("record.kit", "msgspec"),
    "link.ledger": ("link.ledger", "link.rows", "record", "msgspec"),
    "link.reports": ("link.reports", "link.ledger", "link.rows", "record", "msgspec"),
    "link.store": ("link.store", "link.rows", "record", "msgspec", "psycopg"),
    "link": ("link", "record", "msgspec", "zmq", "nacl"),
    "hw_sim.client": ("hw_sim.client", "gpiozero"),
    "hw_sim": ("hw_sim",),
}


NEVER: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("controller.replay", "controller.evidence", "controller.bundle", "controller.doctor"),
    ("controller.daemon",),
)
"""A reader of the journal needs no daemon: what it means stands in controller.history."""


def python_files(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


VENDORS = ROOT / "drivers" / "vendor"
"""The root of the package ``underfelt`` (pyproject.toml)."""


def module_of(path: Path) -> str:
    root = VENDORS if path.is_relative_to(VENDORS) else ROOT
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def allowed(module: str) -> tuple[str, ...]:
    fitting = [p for p in MAY_IMPORT if module == p or module.startswith(p + ".")]
    return MAY_IMPORT[max(fitting, key=len)]


def never(module: str) -> tuple[str, ...]:
    return next((names for package, names in NEVER.items() if under(module, package)), ())


def under(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


PRODUCT = list(python_files("controller", "drivers", "record", "link", "hw_sim"))


@pytest.mark.parametrize("path", PRODUCT, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    module = module_of(path)
    for name in imports_of(path):
        if name.split(".")[0] in STANDARD:
            continue
        assert any(under(name, package) for package in allowed(module)), f"{module} imports {name}"
        assert not any(under(name, package) for package in never(module)), (
            f"{module} imports {name}"
        )


def test_the_import_rule_can_fail() -> None:
    assert "numpy" not in allowed("controller.rules.hands")
    assert "controller" not in allowed("link.server")
    assert "zmq" not in allowed("controller.link.session")
    assert module_of(VENDORS / "underfelt" / "driver.py") == "underfelt.driver"
    assert "drivers.rig" not in allowed("underfelt.driver")
    assert "controller.shell.desk" not in allowed("controller.shell.session")
    assert allowed("hw_sim.devices.shoe") == ("hw_sim",)
    assert "controller.daemon" not in allowed("controller.history.replay")
    assert never("controller.replay.timeline") == ("controller.daemon",)
    assert never("controller.replays") == ()


def own_exit_codes(tree: ast.Module) -> set[str]:
    """Names such as EX_USAGE that a module defines or hands on, instead of ``os.EX_USAGE``."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    return {name for name in names if name.startswith("EX_")}


@pytest.mark.parametrize("path", PRODUCT, ids=lambda p: str(p.relative_to(ROOT)))
def test_exit_codes_are_those_of_the_standard_library(path: Path) -> None:
    assert own_exit_codes(ast.parse(path.read_text("utf-8"))) == set()


def test_the_exit_code_rule_can_fail() -> None:
    assert own_exit_codes(ast.parse("EX_OK: Final = 0")) == {"EX_OK"}
    assert own_exit_codes(ast.parse("from a import EX_OK")) == {"EX_OK"}
    assert own_exit_codes(ast.parse("import os\nos.EX_OK")) == set()


WRITES_CENTS = {
    "record/kit/money.py",
    "record/verify_evidence.py",  # goes into every evidence pack alone
    "link/reports/par.py",  # a percentage
}


@pytest.mark.parametrize("path", PRODUCT, ids=lambda p: str(p.relative_to(ROOT)))
def test_one_place_writes_an_amount_as_text(path: Path) -> None:
    own = path.relative_to(ROOT).as_posix() in WRITES_CENTS
    assert ("% 100:02" in path.read_text("utf-8")) == own, f"{path}: use record.kit.money"


RULES = list(python_files("controller/rules"))
BANNED_MODULES = {"time", "datetime.datetime", "random", "secrets", "os", "socket", "asyncio"}


@pytest.mark.parametrize("path", RULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rules_know_no_clock_no_chance_no_files_no_float(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert not BANNED_MODULES & set(imports_of(path))
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), path
        if path.name != "progressive_return.py":  # exact fractions are divided there
            assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), path
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("float", "open", "print", "input", "eval", "exec"), path


LEDGER = list(python_files("link/ledger"))


@pytest.mark.parametrize("path", LEDGER, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_ledger_knows_no_clock_no_chance_no_files_no_float(path: Path) -> None:
    assert not BANNED_MODULES & set(imports_of(path))
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), path
        if path.name != "equal_cost.py":  # exact fractions are divided there
            assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), path
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("float", "open", "print", "input", "eval", "exec"), path


REPORTS = list(python_files("link/reports"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_reports_know_no_clock_no_files_and_no_float_near_money(path: Path) -> None:
    assert not BANNED_MODULES & set(imports_of(path))
    chance = path.name == "par.py"  # probabilities and their fractions, beside exact money
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), path
        assert chance or not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), path
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("open", "print", "input", "eval", "exec"), path
            assert chance or node.func.id != "float", path


LINES, DATA_LINES = 500, 700
DATA = frozenset(("facts.py", "messages.py", "settings.py", "texts.py"))
"""Names of modules that only list things: two of them would be harder to read than a long one."""
LONGER = {
    # It goes into every evidence pack as the one file that an auditor needs.
    "record/verify_evidence.py": 1_600,
}
"""A long file is a smell and not a crime: here with its reason, and how long it may be."""


def most_lines(path: Path) -> int:
    usual = DATA_LINES if path.name in DATA else LINES
    return LONGER.get(path.relative_to(ROOT).as_posix(), usual)


def test_a_list_may_be_longer_than_a_program() -> None:
    assert most_lines(ROOT / "controller/rules/engine/facts.py") == DATA_LINES
    assert most_lines(ROOT / "controller/rules/engine/step.py") == LINES
    assert most_lines(ROOT / "record/verify_evidence.py") > DATA_LINES


@pytest.mark.parametrize("path", list(python_files(*OURS)), ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text("utf-8")
    lines = text.count("\n")
    assert lines <= most_lines(path), f"{path}: {lines} lines; split it where it has two subjects"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 80, f"{path}: {node.name} has {length} lines"


def test_the_engine_has_no_branch_on_a_game() -> None:
    """Differences between games are data of the book (design: no ``if game == ...``)."""
    for path in python_files("controller/rules/engine"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare):
                compared = ast.unparse(node)
                assert not any(
                    f"'{game}'" in compared for game in ("MBS3", "MEGA", "NSW", "PP6")
                ), f"{path}: {compared}"
