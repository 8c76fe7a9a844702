"""Signing in at the floor to look at a table's machine: the whole way of a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.chromium import Tabs, shows
from tests.web.test_tickets import Pair, served


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    yield from served(tmp_path)


def at_the_table(pair: Pair, tabs: Tabs) -> Page:
    """The page without a session: it leads to the floor, and takes no password."""
    tabs.allow(rf"foreign request: http://{pair.floor.netloc}/")
    page = tabs.open(pair.table.netloc, "/table/table-7")
    shows(page.locator("#away"), f"http://{pair.floor.netloc}")
    expect(page.locator("input:visible")).to_have_count(0)
    assert violations(page) == []
    return page


def restarted(pair: Pair) -> None:
    netloc = pair.table.netloc
    assert pair.table.stop() == 0
    pair.table.start()
    pair.table.netloc = netloc


def test_the_way_over_the_floor_and_back(pair: Pair, tabs: Tabs) -> None:
    page = at_the_table(pair, tabs)
    page.get_by_role("button", name="Sign in at the floor").click()
    page.get_by_label("Name").fill("k.lee")
    assert page.url.startswith(f"http://{pair.floor.netloc}/login?next=")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Sign in").click()
    shows(page.locator(".who"), "k.lee · supervisor")
    assert page.url == f"http://{pair.table.netloc}/table/table-7"
    page.goto(f"http://{pair.table.netloc}/login")
    shows(page.locator("#who"), "k.lee, supervisor")  # it has all it asked for
    restarted(pair)
    page.reload()
    shows(page.locator("#ended"), "this server was restarted")
    page.get_by_role("button", name="Sign in at the floor").click()
    page.wait_for_url(f"http://{pair.table.netloc}/table/table-7")
    page.goto(f"http://{pair.table.netloc}/login")
    shows(page.locator("#who"), "k.lee, supervisor")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#away")).to_be_visible()
    page.get_by_role("button", name="Sign in at the floor").click()
    page.wait_for_url(f"http://{pair.table.netloc}/table/table-7")
    shows(page.locator(".who"), "k.lee · supervisor")


def test_a_ticket_from_elsewhere_is_refused_in_words(pair: Pair, tabs: Tabs) -> None:
    """As from somebody else, who wants this browser signed in under another name."""
    tabs.allow("status of 403")
    asked, _ = pair.asked()
    ticket = pair.ticket(asked)
    page = at_the_table(pair, tabs)
    page.goto(f"http://{pair.table.netloc}/login?a#ticket={ticket}")
    shows(page.locator("#refused"), "E-WEB-016")
    expect(page.locator("#away")).to_be_visible()
    page.goto(f"http://{pair.floor.netloc}/login?next=/ticket%3Fhost=evil.example")
    page.get_by_label("Name").fill("k.lee")
    page.get_by_label("Password").fill("correct horse")
    tabs.allow("status of 422")
    page.get_by_role("button", name="Sign in").click()
    shows(page.locator("#refused"), "E-WEB-003")
    assert page.url.startswith(f"http://{pair.floor.netloc}/ticket")
