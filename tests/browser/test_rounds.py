"""A whole round of a game in the page by mouse, and its amounts against the table's own journal.

After every act the displays in the page are compared with the memory of the boards (``Hands``). The
other two games are in ``test_two_games.py``, with the round by keyboard.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from hw_sim.scenario import find, load
from tests.browser.chromium import Tabs, shows
from tests.browser.hands import Hands, played
from tests.browser.table import running


@pytest.mark.parametrize("name", ["rico-plain", "nsw-shoe-plain"])
def test_a_whole_round_by_mouse(name: str, tmp_path: Path, tabs: Tabs) -> None:
    scenario = load(find(name))
    with running(tmp_path, scenario) as table:
        played(table, tabs.open(table.web.netloc, f"/table/{table.name}"), scenario)


def jammed(hands: Hands) -> None:
    page = hands.page
    hands.trouble("Jam the cards")
    shows(page.locator("#felt .dealer"), "JAM")
    shows(page.locator("#troubles"), "E-CDP-030")
    shows(page.locator("#why"), "The card device is jammed")
    hands.trouble("Clear the jam")
    expect(page.locator("#troubles")).to_be_hidden()


def test_a_whole_round_by_mouse_with_a_jammed_shoe(tmp_path: Path, tabs: Tabs) -> None:
    scenario = load(find("pp6-plain"))
    with running(tmp_path, scenario) as table:
        page = tabs.open(table.web.netloc, f"/table/{table.name}")
        hands = played(table, page, scenario, first_card=jammed)
    assert "Clear the jam" in hands.acts
