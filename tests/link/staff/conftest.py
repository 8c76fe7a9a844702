from __future__ import annotations

import pytest

from link import accounts


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password costs nothing to try here: the search is over orders, not over passwords."""
    monkeypatch.setattr(accounts, "COST_N", 2)
    monkeypatch.setattr(accounts, "COST_R", 1)
