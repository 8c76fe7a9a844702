"""Kills, freezes and starved processes in real time want the machine alone: `make slow`."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name == "test_daemon_process.py":
            item.add_marker(pytest.mark.slow)
