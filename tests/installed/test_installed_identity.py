"""The two hashes of identity: ours wherever it is installed, and everything that carries it."""

from __future__ import annotations

import json
import py_compile
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.identity import program_files, program_hash
from tests.installed.building import Built, Machine, installed_files


def identity(machine: Machine) -> tuple[str, str]:
    done = machine.run("identity", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["program"], told["platform"]


def site(machine: Machine) -> Path:
    (found,) = machine.folder.glob("venv/lib/python3*/site-packages")
    return found


def test_every_file_of_the_product_is_covered() -> None:
    """SQL, data, pages and the simulator as well; the marker for type checkers says nothing."""
    covered = {name for name in installed_files() if not name.endswith("/py.typed")}
    assert set(program_files()) == covered
    assert {".py", ".sql", ".toml", ".html"} <= {Path(name).suffix for name in covered}


@pytest.fixture(scope="module")
def altered(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """An installation that the tests change, one after the other in any order."""
    made = Machine(tmp_path_factory.mktemp("altered"))
    made.install(built.wheel)
    return made


def test_checkout_and_installations_have_one_program_and_one_build_one_platform(
    built: Built, machine: Machine, tmp_path: Path
) -> None:
    """Installed at another time in another place; the checkout has more libraries."""
    second = Machine(tmp_path)
    second.install(built.wheel)
    assert identity(machine) == identity(second)
    assert identity(second)[0] == program_hash()


def changed_sql(machine: Machine) -> None:
    path = next(site(machine).glob("link/store/migrations/sqlite/*.sql"))
    path.write_text(path.read_text() + "-- changed\n")


def changed_simulator(machine: Machine) -> None:
    path = site(machine) / "hw_sim/tables/mega.toml"
    path.write_text(path.read_text() + "# changed\n")


def changed_library(machine: Machine) -> None:
    library = site(machine) / "smbus2"
    real = library.resolve()
    library.unlink()
    shutil.copytree(real, library)
    with (library / "smbus2.py").open("a") as stream:
        stream.write("# changed\n")


def compiled_without_source(machine: Machine) -> None:
    """Python runs it without a look at the source."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    source = site(machine) / "controller/demo/scripted_dealer.py"
    other = machine.folder / "other.py"
    other.write_text(source.read_text() + "BACK_DOOR = 1\n")
    (cached,) = source.parent.glob("__pycache__/scripted_dealer.cpython-*.pyc")
    py_compile.compile(str(other), str(cached), invalidation_mode=mode)


def vendor_driver(machine: Machine) -> None:
    told = site(machine) / "acme_shoe-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-shoe\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[underfelt.drivers]\nacme = acme_shoe:Shoe\n")
    (told / "RECORD").write_text("acme_shoe.py,,\nacme_shoe-1.0.dist-info/METADATA,,\n")
    (site(machine) / "acme_shoe.py").write_text("class Shoe: ...\n")


def changed_vendor_driver(machine: Machine) -> None:
    (site(machine) / "acme_shoe.py").write_text("class Shoe:\n    stacked = True\n")


def run_at_start(machine: Machine) -> None:
    (site(machine) / "extra.pth").write_text("import os\n")


@pytest.mark.parametrize(
    ("change", "program", "platform"),
    [
        (changed_sql, True, False),
        (changed_simulator, True, False),
        (changed_library, False, True),
        (compiled_without_source, False, True),
        (run_at_start, False, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_changed_is_seen(
    change: Callable[[Machine], None], program: bool, platform: bool, altered: Machine
) -> None:
    before = identity(altered)
    change(altered)
    after = identity(altered)
    assert (before[0] != after[0], before[1] != after[1]) == (program, platform)


def test_a_vendor_driver_is_part_of_the_platform(altered: Machine) -> None:
    seen = [identity(altered)]
    for change in (vendor_driver, changed_vendor_driver):
        change(altered)
        seen.append(identity(altered))
    assert len({program for program, _ in seen}) == 1
    assert len({platform for _, platform in seen}) == 3
