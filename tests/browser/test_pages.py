"""Every page at two sizes: no violation of WCAG 2.1 AA, no console message, no foreign request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.chromium import LARGE, SMALL, Tabs, shows
from tests.web.conftest import Floor
from web.pages import PAGES, STATIC

POOL = {
    "pool": "main",
    "closed": False,
    "tables": {"mega": {}},
    "levels": [
        {"level": "grand", "cents": 2500000, "generation": 1, "hits": 0, "wagers": 7, "terms": {}}
    ],
}
AWARD = {
    "award": "main/1/1", "pool": "main", "level": "grand", "table": "away", "round": 7, "seat": 3,
    "hand": "royal flush", "cents": 903105, "jackpot_cents": 903105, "reset_cents": 100,
    "state": "locked", "at_ms": 1, "locked_ms": 1,
    "steps": [{"state": "locked", "by": "server", "role": "", "note": "", "at_ms": 1}],
}  # fmt: skip
SUMS = {"event": 7, "in": "5000000", "display": "5000000", "difference": "0"}
LAMPS = ("off", "open", "live", "your turn", "pay", "collect", "lucky", "void", "fault")
EXAMPLES = {"table": "mega", "round": "1", "pool": "main"}
# Awards and past rounds need a real link server and a real journal, tickets a second machine.
ADDRESSES = sorted(
    path.format(**EXAMPLES)
    for path, name in PAGES.items()
    if (STATIC / name).exists()
    and not any(one in path for one in ("{number}", "{round}", "/ticket"))
)


@pytest.mark.parametrize("size", [LARGE, SMALL])
def test_every_page_is_accessible_and_quiet(
    floor: Floor, tabs: Tabs, size: tuple[int, int]
) -> None:
    found = {}
    for path in ADDRESSES:
        page = tabs.open(floor.web.netloc, path)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        expect(page.locator("main")).not_to_be_empty()
        found[path] = violations(page)
        page.close()
    assert not any(found.values()), found


def test_a_violation_is_found(floor: Floor, tabs: Tabs) -> None:
    page = tabs.open(floor.web.netloc, "/table/mega")
    expect(page.locator("main")).not_to_be_empty()
    page.evaluate("document.body.append(document.createElement('button'))")
    assert [one.split(":")[0] for one in violations(page)] == ["button-name"]


def test_a_server_that_stops_leading_shows_no_amount(floor: Floor, tabs: Tabs) -> None:
    """Its feed begins again with one part and is fresh: what the pages had must go."""
    floor.link.update(pools=[POOL], awards=[AWARD], tables=[], conservation=SUMS)
    page = tabs.open(floor.web.netloc, "/floor")
    jackpots = tabs.open(floor.web.netloc, "/jackpots")
    amounts = (page.locator("#pools uf-odometer"), page.locator("#sums dd").first)
    listed = jackpots.locator("#rows .num").first
    for one in (*amounts, page.locator("#awards .num").first, listed):
        expect(one).to_be_visible()
    floor.link.replace(server={"name": "s1", "leading": False})
    shows(page.locator(".top"), "s1 does not lead")
    shows(page.locator("#attention"), "s1 does not lead")
    shows(page.locator("#pools"), "STALE")
    for one in (*amounts, page.locator("#awards .num").first, listed):
        expect(one).to_be_hidden()
    expect(page.locator("#waiting")).to_be_hidden()
    expect(page.locator("nav .badge")).to_have_count(0)
    assert "STALE" in page.title()


def test_every_lamp_of_a_seat_has_its_own_shape_and_word(floor: Floor, tabs: Tabs) -> None:
    """Colour alone says nothing."""
    lamps = [{"seat": seat, "lamp": lamp} for seat, lamp in enumerate(LAMPS, 1)]
    floor.table.update(lamps=lamps)
    page = tabs.open(floor.web.netloc, "/floor")
    marks = page.locator(".dots g")
    expect(marks).to_have_count(len(LAMPS))
    drawn = {one.text_content(): one.locator("path").get_attribute("d") for one in marks.all()}
    assert set(drawn) == {f"seat {one['seat']} {one['lamp']}" for one in lamps}
    assert len(set(drawn.values())) == len(LAMPS), drawn


def test_a_replay_draws_what_the_boards_showed(floor: Floor, tabs: Tabs) -> None:
    """Meter and magic card as on the table's page; a round under way has no verdict."""
    shown = {"meter-1": "    ", "meter-2": "$50.0", "meter-3": "00.90", "magic": "Td"}
    moment = {
        "seq": 1, "at_ms": 1, "at": "03:12:46.001", "marks": [], "phase": "dealing", "round": 7,
        "felt": [], "board": [], "bonus": None, "pot_cents": 0, "displays": shown, "cards": [],
        "followed": [], "frames": [], "frames_more": 0, "shown": [], "by": "shoe", "what": "a card",
    }  # fmt: skip
    end = {
        "round": 7, "game": "MEGA", "status": "under way", "compared": "nothing to compare yet",
        "equal": None, "differences": [], "diverged": None, "note": None,
    }  # fmt: skip
    tabs.context.route(
        "**/api/v1/tables/mega/rounds/7",
        lambda route: route.fulfill(json={"sound": True, "rows": [moment, end]}),
    )
    tabs.allow("status of [45]0")
    page = tabs.open(floor.web.netloc, "/replay/mega/7")
    expect(page.locator("#meter")).to_have_attribute("data-text", "    $50.000.90")
    expect(page.locator("#magic")).to_have_attribute("data-text", "Td")
    expect(page.locator("#magic path.lit")).to_be_visible()
    expect(page.locator("#verdict")).to_have_text("under way")


@pytest.mark.parametrize("seat", [1, 2, 7])
def test_the_stake_of_a_seat_covers_no_decision(floor: Floor, tabs: Tabs, seat: int) -> None:
    wagers = [{"spot": spot, "cents": 2500, "decided": "rides"} for spot in "12$"]
    table = {"game": "MEGA", "title": "Megalink", "seats": [1, 2, 3, 4, 5, 6, 7]}
    floor.table.update(table=table, felt={"rows": [{"seat": seat, "wagers": wagers}]})
    page = tabs.open(floor.web.netloc, "/table/mega")
    words = page.locator("#felt .tiny")
    expect(words).to_have_count(3)
    pill = page.locator("#felt .pill").bounding_box()
    assert pill is not None
    for word in words.all():
        box = word.bounding_box()
        assert box is not None
        apart = (
            max(box["x"], pill["x"]) - min(box["x"] + box["width"], pill["x"] + pill["width"]),
            max(box["y"], pill["y"]) - min(box["y"] + box["height"], pill["y"] + pill["height"]),
        )
        assert max(apart) > 0, (box, pill)


def test_an_award_leads_to_its_round_and_survives_a_row_that_cannot_be_read(
    floor: Floor, tabs: Tabs
) -> None:
    """Table away is at another address; the audit trail has a row that is no JSON."""
    said: dict[str, Any] = {
        "by": [["k.lee", "supervisor"]],
        "order": {"what": "note", "topic": "main/1/1"},
    }
    bodies = ("{", json.dumps({**said, "order": {**said["order"], "text": "camera 12"}}))
    floor.link.rows = [
        {"id": n, "received_ms": n, "body": body} for n, body in enumerate(bodies, 1)
    ]
    floor.link.update(awards=[AWARD])
    derived = {**AWARD, "derivation": [["wagers", "1 %", 100]], "findings": []}
    tabs.context.route(
        "**/api/v1/awards/**", lambda route: route.fulfill(json={"award": derived, "sound": True})
    )
    page = tabs.open(floor.web.netloc, "/jackpots/main/1/1")
    shows(page.locator("#record"), "camera 12")
    shows(page.locator("#sound"), "derived again: equal")
    there = "https://table-2.example:8443/replay/away/7"
    expect(page.locator("#replay")).to_have_attribute("href", there)
