"""One browser for the files of this folder that run in a row, and its pages for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from controller.demo.floor import FloorDemo
from tests.browser.chromium import Tabs, launched
from tests.browser.hall import opened
from tests.web.conftest import floor, guarded

__all__ = ("floor", "guarded")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FloorDemo]:
    with opened(tmp_path_factory.mktemp("floor") / "f") as made:
        yield made


@pytest.fixture
def tabs(browser: Browser) -> Iterator[Tabs]:
    made = Tabs(browser)
    yield made
    made.close()
