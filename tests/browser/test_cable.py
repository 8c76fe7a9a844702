"""A pulled link cable and a link server that starts again, and what the wagers came to: in the
page, over HTTP and in the report of the command, against amounts worked out here.
"""

from __future__ import annotations

import json
import os
import re
import signal
import urllib.request
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from controller.demo.floor import FloorDemo
from tests.browser.chromium import Tabs, shows
from tests.browser.hall import TABLE, play, told
from tests.e2e.table import underfelt
from tests.patience import PATIENCE_S
from tests.web.browser import until

BETS: Final = ("seat 4 bets 10.00 on 1 2 $", "seat 4 credits 1")
TAKEN: Final = 2
"""Credits of 1.00: the one before the cut and the one after it. The one between is not taken."""
GRAND, HIDDEN, MAJOR, MINI = 10_000_000, 2_000_000, 20_000_000, 30_000_000
"""What each of them adds: 10 %, 2 %, 20 %, 30 % of 100 cents, in millionths of a cent."""
SEEDS: Final = 7_524_000_000_000
"""Two pools: 25,000.00 and 50,000.00, twice 100.00 and twice 20.00."""
SUMS: Final = {
    "in": TAKEN * (GRAND + HIDDEN + MAJOR + MINI),
    "seeds": SEEDS,
    "display": SEEDS + TAKEN * (GRAND + MAJOR + MINI),
    "reserve": TAKEN * HIDDEN,
    **dict.fromkeys(("deficit", "pending", "paid", "next", "revenue", "envy", "transfer"), 0),
    "difference": 0,
}
PAGE: Final = [
    ["wagers in", "1.24"], ["house seeds", "75,240.00"], ["together", "75,241.24"],
    ["on display", "75,241.20"], ["pending", "0.00"], ["paid", "0.00"], ["reserve", "0.04"],
    ["together", "75,241.24"],
]  # fmt: skip
LEVELS: Final = {"grand": 2_500_020, "major": 10_040, "mini": 2_060}
LINES: Final = """() => [...document.querySelectorAll("#sums dl > div")]
  .map((row) => [...row.children].map((one) => one.textContent))"""


def pools(hall: FloorDemo) -> dict[str, Any]:
    with urllib.request.urlopen(f"{hall.address}api/v1/pools", timeout=PATIENCE_S) as said:
        parts: dict[str, Any] = json.load(said)["parts"]
    return parts


def sums(hall: FloorDemo) -> dict[str, int]:
    found = pools(hall)["conservation"]
    return {name: int(value) for name, value in found.items() if name != "event"}


def joined(hall: FloorDemo) -> bool:
    """The table has the link server that leads now, and does not just believe in an earlier one."""
    config = str(hall.folder.table(TABLE) / "table.toml")
    link = json.loads(underfelt("status", "--config", config, "--json").stdout)["link"]
    return (link["state"], link["epoch"]) == ("open", told(hall, "link", "status")["epoch"])


def progressive(hall: FloorDemo, number: int) -> int | None:
    """What the table's journal has as the progressive wager of seat 4; the round was settled."""
    journal = str(hall.folder.table(TABLE) / "journal")
    done = underfelt("journal", "export-round", journal, str(number))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["result"]["round_status"] == "settled"
    (seat,) = found["record"]["round"]["seats"]
    wager: int | None = seat["wagers"].get("progressive")
    return wager


def judged(hall: FloorDemo, floor: Page) -> None:
    """Every account of both pools, to the unit."""
    until(lambda: sums(hall) == SUMS)
    expect(floor.locator("#sums")).to_contain_text("1.24")
    assert floor.evaluate(LINES) == PAGE
    shows(floor.locator("#verdict"), "Every cent is where it belongs")
    shows(floor.locator("#checked"), "difference 0.00000000")
    pool = next(one for one in pools(hall)["pools"] if one["pool"] == TABLE)
    levels = {one["level"]: (one["cents"], one["wagers"]) for one in pool["levels"]}
    assert levels == {level: (cents, TAKEN) for level, cents in LEVELS.items()}
    meters = {
        one["about"]["level"]: {row[0]: row[1:] for row in one["rows"]}
        for one in told(hall, "report", "pool", TABLE)["sections"]
        if one["name"] == "meters"
    }
    reported = {level: rows["in, net of reversals"][1] for level, rows in meters.items()}
    assert reported == {
        "grand": TAKEN * (GRAND + HIDDEN), "major": TAKEN * MAJOR, "mini": TAKEN * MINI
    }  # fmt: skip


def test_with_the_cable_pulled_play_continues_and_the_progressive_closes(
    hall: FloorDemo, tabs: Tabs
) -> None:
    netloc = urlsplit(hall.address).netloc
    floor, page = tabs.open(netloc, "/floor"), tabs.open(netloc, f"/table/{TABLE}")
    credit = page.locator('#felt [data-at="4/credit"]')
    until(lambda: joined(hall))
    shows(page.locator(".tags"), "link open")
    play(hall, "dealer opens", *BETS)
    expect(credit).to_have_attribute("aria-label", "Seat 4, progressive: 1 credit")
    play(hall, "dealer closes")
    page.get_by_role("button", name="Cut the link").click()
    shows(page.locator(".tags"), "link lost")
    play(hall, "dealer plays on", "dealer opens")
    expect(page.locator("#meter")).to_have_attribute("data-text", "      CLOSED")
    play(hall, *BETS)
    expect(page.locator('#felt [data-at="4/1"]')).to_have_attribute(
        "aria-label", re.compile(r"10\.00")
    )
    expect(credit).to_have_attribute("aria-label", "Seat 4, progressive: no credit")
    play(hall, "dealer closes", "dealer plays on")
    shows(page.locator("#why"), "The dealer has not opened the bets")
    page.get_by_role("button", name="Plug the link in").click()
    shows(page.locator(".tags"), "link open")
    play(hall, "dealer opens", *BETS, "dealer closes", "dealer plays on")
    assert [progressive(hall, number) for number in (1, 2, 3)] == [100, None, 100]
    judged(hall, floor)


def test_a_link_server_that_starts_again_is_reported_and_followed(
    hall: FloorDemo, tabs: Tabs
) -> None:
    page = tabs.open(urlsplit(hall.address).netloc, "/floor")
    shows(page.locator("#verdict"), "Every cent is where it belongs")
    before, held = hall.pids()["link"], sums(hall)
    os.kill(before, signal.SIGTERM)

    def again() -> bool:
        hall.turn()
        return hall.pids().get("link", before) != before

    until(again)
    shows(page.locator(".notice"), "Reloaded link")
    shows(page.locator("#verdict"), "Every cent is where it belongs")
    expect(page.locator(".live")).to_have_attribute("data-state", "live")
    assert sums(hall) == held
