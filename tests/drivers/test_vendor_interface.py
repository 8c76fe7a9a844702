"""``underfelt.driver`` is the one module that a vendor's driver imports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from underfelt import driver

from drivers.contained import READINGS
from tests.test_house_rules import OURS, ROOT, imports_of

PAGE = (ROOT / "docs" / "protocols" / "vendor-drivers.md").read_text("utf-8")
EXAMPLE = ROOT / "docs" / "examples" / "acme-shoe" / "acme_shoe.py"


def test_the_example_imports_nothing_of_ours_but_the_interface() -> None:
    ours = {name for name in imports_of(EXAMPLE) if name.split(".")[0] in (*OURS, "underfelt")}
    assert ours == {"underfelt.driver"}


def test_every_reading_that_a_vendor_may_report_can_be_imported() -> None:
    assert {reading.__name__ for reading in READINGS} <= set(driver.__all__)


@pytest.mark.parametrize("name", driver.__all__)
def test_every_name_of_the_interface_is_on_the_page(name: str) -> None:
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", PAGE), name


def test_the_interface_is_found_from_any_folder(tmp_path: Path) -> None:
    """An editable installation finds it too: vendors test against a checkout."""
    code = "import underfelt.driver as d; print(d.__file__)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).name == "driver.py"
