"""Debian's Chromium under Playwright, and a page that remembers what it should not have done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.patience import PATIENCE_S

CHROMIUM: Final = Path("/usr/bin/chromium")
MISSING: Final = f"{CHROMIUM} is missing; run: apt-get install -y chromium"
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LARGE: Final = (1440, 900)
SMALL: Final = (1024, 768)


@contextmanager
def launched() -> Iterator[Browser]:
    """Headless, with an empty profile. While it runs, this thread has an event loop that runs, so
    nothing else in it can call ``asyncio.run``."""
    if not CHROMIUM.exists():
        pytest.fail(MISSING)
    expect.set_options(timeout=PATIENCE_S * 1_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()


class Tabs:
    """The pages of one test, of one person's browser: they share cookies and workers.

    ``unwanted`` lists what no page may do: console messages, script errors, foreign requests.
    """

    def __init__(self, browser: Browser, size: tuple[int, int] = LARGE) -> None:
        width, height = size
        self.context: BrowserContext = browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce"
        )
        self.context.set_default_timeout(PATIENCE_S * 1_000)
        self.unwanted: list[str] = []
        self._allowed: list[str] = []
        self._host = ""
        self.context.on("console", lambda said: self._note(f"console {said.type}: {said.text}"))
        self.context.on("weberror", lambda error: self._note(f"script: {error.error}"))
        self.context.on("request", lambda request: self._request(request.url))

    def open(self, netloc: str, path: str) -> Page:
        self._host = netloc
        page = self.context.new_page()
        page.goto(f"http://{netloc}{path}")
        return page

    def allow(self, pattern: str) -> None:
        """What a test provokes: a browser itself writes failed requests to the console."""
        self._allowed.append(pattern)

    def _request(self, url: str) -> None:
        if urlsplit(url).netloc != self._host:
            self._note(f"foreign request: {url}")

    def _note(self, what: str) -> None:
        self.unwanted.append(what)

    def close(self) -> None:
        self.context.close()
        bad = [one for one in self.unwanted if not any(re.search(a, one) for a in self._allowed)]
        assert not bad, bad


def shows(found: Locator | Page, wanted: str | re.Pattern[str], **more: Any) -> None:
    """Waits until it does."""
    if isinstance(found, Page):
        expect(found.locator("body")).to_contain_text(wanted, **more)
    else:
        expect(found).to_contain_text(wanted, **more)
