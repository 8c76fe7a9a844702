"""The browser itself: it runs, sees what a page does wrong, and is named where it is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import chromium
from tests.browser.chromium import MISSING, Tabs, launched, shows
from tests.web.conftest import Floor


def test_a_page_opens_without_a_word(floor: Floor, tabs: Tabs) -> None:
    page = tabs.open(floor.web.netloc, "/table/away")
    shows(page, "Table away is at https://table-2.example:8443")


def test_what_a_page_does_wrong_is_noted(floor: Floor, tabs: Tabs) -> None:
    page = tabs.open(floor.web.netloc, "/table/away")
    page.evaluate("console.log('a word')")
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)")
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('a fault'); })")
    tabs.allow(".*")
    tabs.close()
    for wanted in ("console log: a word", "connect-src", "script: a fault"):
        assert any(wanted in one for one in tabs.unwanted), tabs.unwanted


def test_without_chromium_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "CHROMIUM", Path("/nonexistent/chromium"))
    with pytest.raises(pytest.fail.Exception, match="apt-get install -y chromium"), launched():
        pass
    assert "apt-get install -y chromium" in MISSING
