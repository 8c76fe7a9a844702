"""The test tree has one axis: folders named after packages, then techniques, each with its line."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_house_rules import ROOT

HERE = ROOT / "tests"
PAGE = HERE / "README.md"
LINE = re.compile(r"^\| \[(\w+)\]\((\w+)\) \| \S.*\|$", re.MULTILINE)
PACKAGES = ("controller", "drivers", "hw_sim", "link", "record", "systemd", "web")


def folders(root: Path) -> list[str]:
    """Those that hold a file; a checkout may keep empty ones, or ones with a cache alone."""
    found = {path.relative_to(root).parts[0] for path in root.glob("*/**/*") if holds(path)}
    return sorted(found)


def holds(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def lines(heading: str) -> list[str]:
    section = PAGE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = LINE.findall(section)
    assert all(name == target for name, target in rows)
    return [name for name, _ in rows]


def test_every_folder_has_its_line_and_every_line_its_folder() -> None:
    assert lines("By package") == list(PACKAGES)
    assert sorted([*PACKAGES, *lines("By technique")]) == folders(HERE)


def test_techniques_are_in_order() -> None:
    assert lines("By technique") == sorted(lines("By technique"))


def test_folders_of_the_controller_are_named_after_its_packages() -> None:
    """Those of the other packages also have folders for what several of their parts do together."""
    assert set(folders(HERE / "controller")) <= set(folders(ROOT / "controller"))
    assert set(folders(HERE / "record")) <= set(folders(ROOT / "record"))
