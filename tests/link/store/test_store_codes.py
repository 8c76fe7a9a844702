"""Every code of the store has its class, its exit and its line on the page."""

from __future__ import annotations

import re
from pathlib import Path

from link.store import errors
from link.store.errors import StoreError

PAGE = Path(__file__).resolve().parents[3] / "docs/operations/link-store.md"


def test_the_page_lists_every_code_with_its_exit() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, StoreError)]
    ours = sorted((kind.code, kind.exit_code) for kind in kinds if kind is not StoreError)
    found = re.findall(r"^\| `(E-STO-\d{3})` \| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [(code, int(exit_code)) for code, exit_code in found] == ours
    assert len({code for code, _ in ours}) == len(ours) == 14
