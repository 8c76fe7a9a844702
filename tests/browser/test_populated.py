"""No violation of WCAG 2.1 AA on a floor at work, at two sizes: every page with a jackpot that
waits, a table in play and in trouble, orders of people and a past round; and the two dialogs.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from controller.demo.floor import FloorDemo
from tests.browser.axe import violations
from tests.browser.chromium import LARGE, SMALL, Tabs, shows
from tests.browser.hall import TABLE, TO_A_JACKPOT, answer, named, people, play
from tests.e2e.table import underfelt

ROUND: Final = (
    "dealer opens", "seat 4 bets 10.00 on 1 2 $", "dealer closes", "dealer plays on",
)  # fmt: skip
AWARD: Final = f"/jackpots/{TABLE}/1/1"
PAGES: Final = {
    "/floor": (
        "#awards .award",
        "#tables .tcard:not(.shut)",
        "#attention li",
        "#sums .total",
        "#money svg",
    ),
    f"/table/{TABLE}": ("#felt .hand .card", "#felt .chips", "#troubles li", "#log li"),
    "/jackpots": ("#rows tr",),
    AWARD: ("#derived tr", "#sound .ok", "#record li", "#next button"),
    f"/replay/{TABLE}/1": ("#proof p", "#timeline path.head", "#felt .chips"),
    "/reports?kind=day": ("#paper table",),
    "/reports?kind=pool": ("#paper table",),
    "/reports?kind=hits": ("#paper table",),
    "/reports?kind=table": ("#paper table",),
    "/audit": ("#rows tr",),
    f"/sign/{TABLE}": ("#won", "#first"),
}
"""Each with what must be on it."""
SIZES: Final = pytest.mark.parametrize("size", [LARGE, SMALL], ids=["1440x900", "1024x768"])


@pytest.fixture(scope="module")
def floor(hall: FloorDemo) -> FloorDemo:
    """A round is over; in the next one a jackpot waits for its approval and a reader is gone."""
    play(hall, *ROUND, *TO_A_JACKPOT)
    name, password = people(hall)[0]
    done = underfelt(
        "jackpot", "verify", f"{TABLE}/1/1", "--by", name, "--passwords-stdin", "--config",
        str(hall.folder.config), given=f"{password}\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = str(hall.folder.table(TABLE))
    done = underfelt("sim", "fault", "unplug", "chips-2", "--run", run)
    assert done.returncode == 0, done.stderr
    return hall


def opened(floor: FloorDemo, tabs: Tabs, path: str, size: tuple[int, int]) -> Page:
    page = tabs.open(urlsplit(floor.address).netloc, path)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for wanted in PAGES[path]:
        expect(page.locator(wanted).first).to_be_visible()
    return page


@SIZES
def test_every_page_of_a_floor_at_work_is_accessible(
    floor: FloorDemo, tabs: Tabs, size: tuple[int, int]
) -> None:
    found = {}
    for path in PAGES:
        page = opened(floor, tabs, path, size)
        found[path] = violations(page)
        page.close()
    assert not any(found.values()), found


@SIZES
def test_the_dialog_of_an_approval_is_accessible(
    floor: FloorDemo, tabs: Tabs, size: tuple[int, int]
) -> None:
    tabs.allow("status of 40[39]")
    page = opened(floor, tabs, AWARD, size)
    answer(page, "Approve…", "Approve", ("nobody", "no password"))
    shows(page.locator("dialog [role=alert]"), "Refused")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Reject…").click()
    expect(named(page)).to_be_visible()
    assert violations(page) == []


@SIZES
def test_the_menu_of_troubles_is_accessible(
    floor: FloorDemo, tabs: Tabs, size: tuple[int, int]
) -> None:
    page = opened(floor, tabs, f"/table/{TABLE}", size)
    page.get_by_role("button", name="All troubles").click()
    expect(page.locator("dialog .verb").first).to_be_visible()
    assert violations(page) == []
