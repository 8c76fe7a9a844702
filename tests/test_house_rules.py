"""The house rules that a reviewer should not have to check: imports, sizes, banned calls."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("controller", "drivers", "record", "link", "hw_sim", "web", "tests", "bench", "docs")
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
        "record.journal.format",
        "record.rounds",
        "record.shape",
        "record.kit",
        "msgspec",
    ),
    "controller.doctor": ("controller", "record", "drivers", "zmq"),
    "controller.replay": (
        "controller",
        "drivers",
        "record.journal.format",
        "record.rounds",
        "record.kit",
        "msgspec",
    ),
    "controller.evidence": ("controller", "record", "drivers"),
    # The one door to the link server's rows: an award has two halves, and a pack needs both.
    "controller.evidence.server": ("controller.evidence", "record", "link", "msgspec"),
    "controller.bundle": ("controller", "record"),
    "controller.link": ("controller", "record", "msgspec"),
    "controller.link.client": ("controller", "record", "msgspec", "zmq"),
    "controller.link.greeting": ("controller.link.dealer", "record", "zmq"),
    "controller.link.dealer": ("record", "zmq"),
    # The terminal's side: the core library alone, and nothing of the daemon's.
    "controller.shell": (
        "controller.shell.answers",
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
    # It speaks to the others by their documented protocols and commands alone.
    "web": ("web", "record", "msgspec", "nacl", "starlette", "uvicorn", "rjsmin", "rcssmin"),
}


NEVER: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("controller.replay", "controller.evidence", "controller.bundle", "controller.doctor"),
    ("controller.daemon",),
) | {"web": ("record.journal", "record.link", "record.rounds")}
"""A reader of the journal needs no daemon: what it means stands in controller.history. The web
process reads no journal and no message of the link; of record it needs the kit and the version."""


def python_files(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


VENDORS = ROOT / "drivers" / "vendor"
"""The root of the package ``underfelt`` (pyproject.toml)."""


def module_of(path: Path) -> str:
    root = VENDORS if path.is_relative_to(VENDORS) else ROOT
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(body: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    """Every statement at any depth; expressions, most of a tree, are not looked into."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        for field in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, field, ())
            if isinstance(inner, list):
                yield from statements(inner)


def imports_of(path: Path) -> Iterator[str]:
    for node in statements(ast.parse(path.read_text("utf-8")).body):
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


PRODUCT = list(python_files("controller", "drivers", "record", "link", "hw_sim", "web"))


def forbidden(path: Path) -> Iterator[str]:
    module = module_of(path)
    for name in imports_of(path):
        if name.split(".")[0] not in STANDARD:
            may = any(under(name, package) for package in allowed(module))
            if not may or any(under(name, package) for package in never(module)):
                yield f"{module} imports {name}"


def test_imports_go_one_way() -> None:
    assert [found for path in PRODUCT for found in forbidden(path)] == []


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
    assert "controller" not in allowed("web.api")
    assert not any("web" in names for package, names in MAY_IMPORT.items() if package != "web")


def own_exit_codes(tree: ast.Module) -> set[str]:
    """Names such as EX_USAGE that a module defines or hands on, instead of ``os.EX_USAGE``."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    return {name for name in names if name.startswith("EX_")}


def test_exit_codes_are_those_of_the_standard_library() -> None:
    texts = ((path, path.read_text("utf-8")) for path in PRODUCT)
    assert [p for p, text in texts if "EX_" in text and own_exit_codes(ast.parse(text))] == []


def test_the_exit_code_rule_can_fail() -> None:
    assert own_exit_codes(ast.parse("EX_OK: Final = 0")) == {"EX_OK"}
    assert own_exit_codes(ast.parse("from a import EX_OK")) == {"EX_OK"}
    assert own_exit_codes(ast.parse("import os\nos.EX_OK")) == set()


def read_once(tree: ast.Module) -> list[int]:
    """Lines with a constant that is empty for the second reader: a generator of module or class."""
    classes = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    rows = [row for body in (tree.body, *classes) for row in body]
    made = [row for row in rows if isinstance(row, ast.Assign | ast.AnnAssign)]
    kept = [row for row in made if not isinstance(getattr(row, "targets", [None])[0], ast.Tuple)]
    return [row.lineno for row in kept if isinstance(row.value, ast.GeneratorExp)]


def test_no_constant_is_used_up_by_its_first_reader() -> None:
    found = {p: read_once(ast.parse(p.read_text("utf-8"))) for p in python_files(*OURS)}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_the_rule_of_constants_can_fail() -> None:
    text = "A: Final = (x for x in B)\nclass C:\n    d = (x for x in B)\ne, f = (x for x in B)\n"
    assert read_once(ast.parse(text)) == [1, 3]


WRITES_CENTS = {
    "record/kit/money.py",
    "record/verify_evidence.py",  # goes into every evidence pack alone
    "link/reports/par.py",  # a percentage
}


def test_one_place_writes_an_amount_as_text() -> None:
    """Others use record.kit.money."""
    writers = [path for path in PRODUCT if "% 100:02" in path.read_text("utf-8")]
    assert {path.relative_to(ROOT).as_posix() for path in writers} == WRITES_CENTS


PLAIN_CENTS = {
    # Stored, made again and compared: nobody is shown it (record.link.notes.shown_note).
    "record/link/notes.py",
    "record/verify_evidence.py",
    # Fractions of a cent, in terms that a store keeps and the next start makes again.
    "link/ledger/equal_cost.py",
    "hw_sim/felt.py",  # an error of the simulator, which imports nothing of ours
}


def cents_in_words(text: str) -> bool:
    """True if an f-string says ``{amount} cents``: people read "$23.00"."""
    parts = (node.values for node in ast.walk(ast.parse(text)) if isinstance(node, ast.JoinedStr))
    return any(
        isinstance(amount, ast.FormattedValue)
        and isinstance(word, ast.Constant)
        and re.match(r" cents?\b", str(word.value)) is not None
        for values in parts
        for amount, word in pairwise(values)
    )


def test_no_message_says_an_amount_in_cents() -> None:
    texts = ((path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in PRODUCT)
    assert {name for name, text in texts if " cent" in text and cents_in_words(text)} == PLAIN_CENTS


def test_the_rule_of_cents_can_fail() -> None:
    assert cents_in_words("f'{a} cents apart'")
    assert cents_in_words("f'{1} cent'")
    assert not cents_in_words("f'{a} centres, {b:,} per cent'")


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


HISTORY = list(python_files("controller/history"))
OUTSIDE = {"os", "pathlib", "shutil", "socket", "subprocess", "sys", "sysconfig", "tempfile"}


def reaches_out(tree: ast.Module) -> set[str]:
    """Modules of the system that a module imports, and ``open`` as the built-in function."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names} & OUTSIDE
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").split(".")[0]} & OUTSIDE
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found |= {node.func.id} & {"open"}
    return found


def test_history_is_given_its_files_and_opens_none() -> None:
    found = {path: reaches_out(ast.parse(path.read_text("utf-8"))) for path in HISTORY}
    assert {path: names for path, names in found.items() if names} == {}


def test_the_rule_of_history_can_fail() -> None:
    assert reaches_out(ast.parse("import os.path\nfrom pathlib import Path")) == {"os", "pathlib"}
    assert reaches_out(ast.parse("with open(path) as stream: pass")) == {"open"}
    assert reaches_out(ast.parse("cards.open(sealed, seq, index)")) == set()


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


FUNCTION_LINES = 80


def too_large(text: str, most: int) -> Iterator[str]:
    lines = text.count("\n")
    if lines > most:
        yield f"{lines} lines; split it where it has two subjects"
    if lines <= FUNCTION_LINES:
        return
    for node in statements(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{node.name} has {length} lines"


def test_files_and_functions_stay_small() -> None:
    texts = ((path, path.read_text("utf-8")) for path in python_files(*OURS))
    assert [f"{p}: {x}" for p, text in texts for x in too_large(text, most_lines(p))] == []


def test_the_rule_of_sizes_can_fail() -> None:
    inner = "class A:\n    if B:\n        def f():\n" + "            pass\n" * FUNCTION_LINES
    assert list(too_large(inner, LINES)) == [f"f has {FUNCTION_LINES + 1} lines"]
    assert list(too_large("pass\n" * 81, 81)) == []
    assert len(list(too_large("pass\n" * 81, 80))) == 1


def test_the_engine_has_no_branch_on_a_game() -> None:
    """Differences between games are data of the book (design: no ``if game == ...``)."""
    for path in python_files("controller/rules/engine"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare):
                compared = ast.unparse(node)
                assert not any(
                    f"'{game}'" in compared for game in ("MBS3", "MEGA", "NSW", "PP6")
                ), f"{path}: {compared}"
