"""Every fault code of a driver has its line on a page, and no code means two things."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from docs.faults import written

ROOT = Path(__file__).resolve().parents[2]


def test_every_code_of_the_drivers_is_on_a_page() -> None:
    listed = {code for code, *_ in written()}
    used = {
        code
        for path in (ROOT / "drivers").rglob("*.py")
        for code in re.findall(r"E-[A-Z]+-\d{3}", path.read_text("utf-8"))
    }
    assert used
    assert not used - listed


def test_no_code_has_two_meanings() -> None:
    twice = [code for code, times in Counter(code for code, *_ in written()).items() if times > 1]
    assert not twice
