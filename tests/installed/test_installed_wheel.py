"""What is released: complete archives, and a wheel that runs without the checkout."""

from __future__ import annotations

import json
import tarfile
import zipfile

import pytest

from controller.cli import COMMANDS
from tests.installed.building import (
    PRODUCT,
    ROOT,
    Built,
    Machine,
    files_below,
    installed_files,
    source_files,
)

TOPS = (*PRODUCT, "underfelt")
EXTRAS = {"numpy", "psycopg", "rcssmin", "rjsmin", "starlette", "uvicorn"}
"""Only with ``underfelt[math]``, ``underfelt[link]`` and ``underfelt[web]``."""


def test_the_wheel_holds_every_file_of_the_product_and_nothing_else(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == installed_files()
    tops = {name.split("/")[0] for name in held}
    assert tops == {*PRODUCT, "underfelt"}
    assert {f"{top}/py.typed" for top in tops} <= held


def test_the_source_archive_holds_everything_needed_to_build_and_test(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        held = {m.name.split("/", 1)[1] for m in archive.getmembers() if m.isfile()}
    made = {name for name in held if name.startswith("underfelt.egg-info/")}
    assert held - made - {"PKG-INFO", "setup.cfg"} == source_files()


def test_every_module_can_be_imported_outside_the_checkout(machine: Machine) -> None:
    """With the declared requirements only; what an extra brings is named by the error."""
    code = f"""
import importlib, json, pkgutil, sys
missing = {{}}
for top in {TOPS!r}:
    package = importlib.import_module(top)
    for found in pkgutil.walk_packages(package.__path__, top + "."):
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            missing[found.name] = error.name
ours = [name for name in sys.modules if name.split(".")[0] in {TOPS!r}]
where = sorted({{sys.modules[name].__file__ for name in ours}})
print(json.dumps([missing, where, len(ours)]))
"""
    done = machine.python_run(code)
    assert done.returncode == 0, done.stderr
    missing, where, many = json.loads(done.stdout)
    assert {name.split(".")[0] for name in missing.values()} <= EXTRAS, missing
    assert all(path.startswith(str(machine.folder / "venv")) for path in where), where
    modules = {name for name in files_below(*PRODUCT) if name.endswith(".py")}
    assert many + len(missing) >= len(modules)


def test_the_web_process_names_the_extra_that_it_needs(machine: Machine) -> None:
    config = machine.home / "web.toml"
    config.write_text("[web]\nlogin = false\n")
    done = machine.run("web", "--config", str(config))
    assert (done.returncode, done.stdout) == (69, "")
    assert "install underfelt[web]" in done.stderr


def test_a_vendor_driver_runs_with_the_one_module_it_may_import(machine: Machine) -> None:
    """The published example, beside the wheel and away from the checkout."""
    example = (ROOT / "docs" / "examples" / "acme-shoe" / "acme_shoe.py").read_text("utf-8")
    code = f"""
import sys, types
import underfelt.driver as api
acme = types.ModuleType("acme_shoe")
exec(compile({example!r}, "acme_shoe.py", "exec"), acme.__dict__)
shoe = acme.make(api.LineLayout("shoe", "acme-shoe", "/dev/null", "A-1007"))
print(shoe.opened(1)[-1], shoe.received(b"ID A-1007 2.1 00000 000*4A\\n", 2)[1].state.name)
print(api.__file__)
"""
    done = machine.python_run(code)
    assert done.returncode == 0, done.stderr
    told, where = done.stdout.splitlines()
    assert told == r"Write(data=b'ID?*32\n') READY"
    assert where.startswith(str(machine.folder / "venv"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_prints_its_help(machine: Machine, command: str) -> None:
    done = machine.run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: underfelt {command}")
