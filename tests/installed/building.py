"""The released archives, built from a copy of the tree, and a machine that has only the wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Final

from tests.patience import PATIENCE_S

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = ("controller", "drivers", "hw_sim", "link", "record", "web")
VENDORS: Final = "drivers/vendor/"
"""The sources' folder for the package ``underfelt``, which is installed beside the others."""
SOURCES: Final = (*PRODUCT, ".ci", "bench", "docs", "systemd", "tests")
MADE: Final = re.compile(r"__pycache__|\.py[cod]$|\.so$|\.hypothesis")
"""What tools leave in the tree."""


def files_below(*folders: str) -> Iterator[str]:
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and not MADE.search(name):
                yield name


def installed_files() -> set[str]:
    """Every file of the product, under the name that it has in an installation."""
    return {name.removeprefix(VENDORS) for name in files_below(*PRODUCT)}


def source_files() -> set[str]:
    """Everything that belongs to the project; built or left by tools it is not."""
    top = {
        path.name
        for path in ROOT.iterdir()
        if path.is_file() and path.name not in (".git", ".demo.lock", "PKG-INFO", "setup.cfg")
    }
    return top | set(files_below(*SOURCES))


@dataclass(frozen=True)
class Built:
    sdist: Path
    wheel: Path


def build(folder: Path) -> Built:
    """``python -m build`` makes the source archive, and the wheel from the source archive."""
    tree = folder / "tree"
    for name in source_files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")]
    done = subprocess.run(
        [*command, str(tree)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = folder.glob("dist/*.tar.gz"), folder.glob("dist/*.whl")
    return Built(sdist, wheel)


class Machine:
    """An environment with the wheel and what it requires, nothing of the checkout. Extras are
    installed only where a test names them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.python = folder / "venv" / "bin" / "python"
        self.command = folder / "venv" / "bin" / "underfelt"

    def install(self, wheel: Path, *extras: str) -> None:
        venv.create(self.folder / "venv", symlinks=True)
        self.home.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet",
             "--disable-pip-version-check", "--no-index", "--no-deps", str(wheel)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (site,) = self.folder.glob("venv/lib/python3*/site-packages")
        for required in requirements("underfelt", extras=extras):
            link(required, site)

    @property
    def environment(self) -> dict[str, str]:
        kept = ("PATH", "LANG", "LC_ALL", "TMPDIR")
        return {"HOME": str(self.home), "TERM": "dumb", **{
            name: os.environ[name] for name in kept if name in os.environ
        }}  # fmt: skip

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return self._run([str(self.command), *arguments], stdin)

    def python_run(self, code: str) -> subprocess.CompletedProcess[str]:
        return self._run([str(self.python), "-I", "-c", code], "")

    def _run(self, command: list[str], stdin: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.home, env=self.environment, input=stdin, capture_output=True,
            text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip

    def start(self, *arguments: str, log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as said:
            return subprocess.Popen(
                [str(self.command), *arguments], cwd=self.home, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            )  # fmt: skip


def requirements(
    name: str, seen: frozenset[str] = frozenset(), extras: Sequence[str] = ()
) -> frozenset[str]:
    """The distributions that one requires with these extras, and what those require."""
    found = seen
    for line in distribution(name).requires or ():
        wanted, _, marker = line.partition(";")
        if not any(applies(marker, extra) for extra in ("", *extras)):
            continue
        required = re.split(r"[^A-Za-z0-9._-]", wanted.strip(), maxsplit=1)[0]
        if required not in found:
            found = requirements(required, found | {required})
    return found


def applies(marker: str, extra: str) -> bool:
    from packaging.markers import Marker

    return not marker.strip() or Marker(marker.strip()).evaluate({"extra": extra})


def link(name: str, site: Path) -> None:
    """The distribution as the development environment has it: the tests need no network."""
    made: Distribution = distribution(name)
    for top in {Path(str(file)).parts[0] for file in made.files or ()} - {"..", "__pycache__"}:
        if not (site / top).exists():
            (site / top).symlink_to(str(made.locate_file(top)))
