"""The public sign, the reports and the audit trail, in the browser."""

from __future__ import annotations

import time
from typing import Any, Literal

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import Tabs, shows
from tests.web.conftest import METERS, Floor

AWARD: dict[str, Any] = {
    "award": "main/1/1",
    "pool": "main",
    "level": "grand",
    "table": "mega",
    "cents": 903105,
    "state": "locked",
}


def test_a_sign_needs_no_login_and_shows_pending_and_win(guarded: Floor, tabs: Tabs) -> None:
    tabs.allow(r"401 \(Unauthorized\)")
    page = tabs.open(guarded.web.netloc, "/sign/main")
    grand = page.locator("#grand")
    expect(grand).to_have_attribute("aria-label", "jackpot $25,000.00")
    shows(page.locator("#texts"), "Good luck")
    expect(page.locator("#won")).to_be_hidden()
    now = int(time.time() * 1_000)
    times = {"at_ms": now, "locked_ms": now}
    guarded.link.update(awards=[{**AWARD, **times}], meters=[{**METERS[0], "pending": 1}])
    shows(page.locator("#won"), "PENDING")
    shows(page.locator("#won"), "$9,031.05")
    shows(page.locator("#first"), "PENDING")
    guarded.link.update(awards=[{**AWARD, **times, "state": "approved"}])
    shows(page.locator("#won"), "WIN")
    shows(page.locator("#won"), "Table mega")


def test_a_sign_says_its_own_words_in_the_languages_of_the_house(floor: Floor, tabs: Tabs) -> None:
    page = tabs.open(floor.web.netloc, "/sign/other")
    shows(page.locator("#texts"), "Bonne chance")
    now = int(time.time() * 1_000)
    award = {**AWARD, "pool": "other", "at_ms": now, "locked_ms": now}
    floor.link.update(awards=[award], meters=[{**METERS[1], "pending": 1}])
    won = page.locator("#won")
    shows(won, "PENDING · IN PRÜFUNG")
    shows(won, "Table · Tisch mega")
    shows(won, "is being verified · wird geprüft")
    shows(page.locator("#first"), "PENDING · IN PRÜFUNG")
    expect(won.locator("b [lang=de]")).to_have_text("IN PRÜFUNG")
    floor.link.update(awards=[{**award, "state": "approved"}])
    shows(won, "WIN · GEWINN")


def test_the_amount_of_a_sign_is_in_the_middle_of_its_box(floor: Floor, tabs: Tabs) -> None:
    page = tabs.open(floor.web.netloc, "/sign/main")
    expect(page.locator("#grand")).to_be_visible()
    box, digits = page.locator("#amount").bounding_box(), page.locator("#grand").bounding_box()
    assert box is not None
    assert digits is not None
    above = digits["y"] - box["y"]
    below = box["y"] + box["height"] - digits["y"] - digits["height"]
    assert abs(above - below) <= 2, (box, digits)


@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_digits_roll_only_for_who_wants_motion(
    floor: Floor, tabs: Tabs, wish: Literal["reduce", "no-preference"]
) -> None:
    page = tabs.open(floor.web.netloc, "/sign/main")
    page.emulate_media(reduced_motion=wish)
    reel = page.locator("#grand b span").first
    moves = reel.evaluate(
        """(reel) => {
          const { transitionDuration, animationName } = getComputedStyle(reel);
          return transitionDuration !== "0s" || animationName !== "none";
        }"""
    )
    assert moves is (wish == "no-preference")


def test_a_sign_whose_server_is_silent_hides_the_amount(floor: Floor, tabs: Tabs) -> None:
    page = tabs.open(floor.web.netloc, "/sign/main")
    expect(page.locator("#grand")).to_be_visible()
    floor.link.close()
    shows(page.locator("#amount"), "STALE")
    expect(page.locator("#grand")).to_be_hidden()


def test_a_sign_whose_server_stops_leading_hides_the_amount(floor: Floor, tabs: Tabs) -> None:
    """Its feed is fresh but knows no amounts."""
    page = tabs.open(floor.web.netloc, "/sign/main")
    expect(page.locator("#grand")).to_be_visible()
    floor.link.replace(server={"leading": False})
    shows(page.locator("#amount"), "STALE")
    expect(page.locator("#grand")).to_be_hidden()
    expect(page.locator("#first")).to_have_text("")
    floor.link.update(server={"leading": True}, meters=[{**METERS[0], "cents": 2600000}])
    expect(page.locator("#grand")).to_have_attribute("aria-label", "jackpot $26,000.00")
    expect(page.locator("#grand")).to_be_visible()


def test_a_sign_without_meters_is_stale(floor: Floor, tabs: Tabs) -> None:
    page = tabs.open(floor.web.netloc, "/sign/main")
    expect(page.locator("#grand")).to_be_visible()
    floor.link.replace(server={"leading": True})
    shows(page.locator("#amount"), "STALE")
    expect(page.locator("#grand")).to_be_hidden()


def test_a_sign_of_no_pool_says_so(floor: Floor, tabs: Tabs) -> None:
    tabs.allow("404")
    page = tabs.open(floor.web.netloc, "/sign/nosuch")
    shows(page, "There is no pool nosuch here.")


def test_a_report_that_cannot_be_made_says_why(floor: Floor, tabs: Tabs) -> None:
    """The small server of the tests has no reports: the sentence of the command stands there."""
    tabs.allow("status of 50[0-9]")
    tabs.allow("status of 4[0-9][0-9]")
    page = tabs.open(floor.web.netloc, "/reports?kind=pool&from=2026-03-10")
    shows(page.locator("#paper"), "There is no report")
    expect(page.locator("[name=kind]")).to_have_value("pool")
    expect(page.locator("[name=from]")).to_have_value("2026-03-10")
