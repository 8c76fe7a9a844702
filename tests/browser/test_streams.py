"""A page while servers come and go: no event is lost or doubled, and old numbers are not shown."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.chromium import Tabs, shows
from tests.web.browser import until
from tests.web.conftest import Floor
from tests.web.servers import Followed

TABLE = {"game": "MEGA", "title": "Megalink", "seats": [1, 2], "simulated": True}
STATUS = {"phase": "dealing", "round": 7, "devices": {"ready": 1, "of": 1, "troubles": []}}


def opened(floor: Floor, tabs: Tabs) -> Page:
    floor.table.update(table=TABLE, status=STATUS, felt={"rows": []}, why={"text": "a card"})
    page = tabs.open(floor.web.netloc, "/table/mega")
    shows(page.locator("#title"), "Megalink")
    expect(page.locator(".live")).to_have_attribute("data-state", "live")
    return page


def listed(page: Page) -> list[str]:
    """What happened, the oldest first."""
    return [text.strip() for text in page.locator("#log > li > div > div").all_inner_texts()][::-1]


def told(floor: Floor, page: Page, first: int, last: int) -> None:
    for number in range(first, last + 1):
        floor.table.note(at_ms=1_000 * number, kind="fact", text=f"event {number}")
    expect(page.locator("#log > li")).to_have_count(last)
    assert listed(page) == [f"event {number}" for number in range(1, last + 1)]


def restarted(floor: Floor) -> None:
    """The web process ends and starts again at the same address."""
    config, netloc = floor.web.config, floor.web.netloc
    assert floor.web.stop() == 0
    text = config.read_text("utf-8")
    config.write_text(text.replace("127.0.0.1:0", netloc), "utf-8")


def test_a_restart_of_the_web_process_loses_and_doubles_nothing(floor: Floor, tabs: Tabs) -> None:
    tabs.allow("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE")
    page = opened(floor, tabs)
    told(floor, page, 1, 3)
    restarted(floor)
    for number in (4, 5):
        floor.table.note(at_ms=1_000 * number, kind="fact", text=f"event {number}")
    floor.web.start()
    expect(page.locator("#log > li")).to_have_count(5)
    told(floor, page, 6, 8)
    assert page.locator(".notice").count() == 0


def test_silence_shows_stale_instead_of_a_number_and_then_the_truth_again(
    floor: Floor, tabs: Tabs
) -> None:
    tabs.allow("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE")
    page = opened(floor, tabs)
    restarted(floor)
    shows(page.locator(".live"), "STALE")
    where = page.locator("[data-feed]:has(> #where)")
    shows(where.locator(".stale-word"), "STALE")
    expect(page.locator("#where")).to_have_css("visibility", "hidden")
    floor.web.start()
    expect(page.locator(".live")).to_have_attribute("data-state", "live")
    expect(where.locator(".stale-word")).to_have_count(0)
    expect(page.locator("#where")).to_have_css("visibility", "visible")


def test_a_table_that_starts_again_is_reported_as_reloaded(
    floor: Floor, tabs: Tabs, tmp_path: Path
) -> None:
    page = opened(floor, tabs)
    told(floor, page, 1, 2)
    floor.table.close()
    again = Followed(tmp_path / "table.sock")
    try:
        again.update(table=TABLE, status={**STATUS, "round": 8}, felt={"rows": []})
        shows(page.locator(".notice"), "Reloaded table:mega")
        shows(page.locator("#where"), "round 8")
        again.note(at_ms=1, kind="fact", text="event 1 of the next life")
        expect(page.locator("#log > li")).to_have_count(1)
    finally:
        again.close()


def test_seven_tabs_share_one_stream_and_hidden_ones_release_it(floor: Floor, tabs: Tabs) -> None:
    pages = [opened(floor, tabs) for _ in range(7)]
    floor.table.note(at_ms=1, kind="fact", text="event 1")
    for page in pages:
        expect(page.locator("#log > li")).to_have_count(1)
    until(lambda: streams(floor) == 1)
    for page in pages:
        hide(page, hidden=True)
    until(lambda: streams(floor) == 0)
    floor.table.note(at_ms=2, kind="fact", text="event 2")
    hide(pages[3], hidden=False)
    expect(pages[3].locator("#log > li")).to_have_count(2)
    assert listed(pages[3]) == ["event 1", "event 2"]
    assert listed(pages[4]) == ["event 1"]
    assert pages[3].locator(".notice").count() == 0


def streams(floor: Floor) -> int:
    """Open connections of browsers, as the kernel counts them."""
    port = int(floor.web.netloc.rpartition(":")[2])
    rows = [row.split() for row in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    inodes = {
        row[9] for row in rows if int(row[1].rpartition(":")[2], 16) == port and row[3] == "01"
    }
    return len(inodes)


def hide(page: Page, *, hidden: bool) -> None:
    """Headless tabs are never covered: the page is told that it is."""
    page.evaluate(
        """(hidden) => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )
