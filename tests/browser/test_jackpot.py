"""A jackpot from the cards to the payment, and its papers: the derivation, the evidence pack, the
slip, the hand-over sheet, a note.

The tests share one award and take it in whatever state it is.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from controller.demo.floor import FloorDemo
from tests.browser.chromium import Tabs, shows
from tests.browser.hall import TABLE, TO_A_JACKPOT, answer, named, people, play, told

AWARD: Final = f"{TABLE}/1/1"
DERIVED: Final = [
    ["base", "from house", "25,000.00"],
    ["wagers", "1.00 at 10 %", "0.10"],
    ["in the jackpot at the lock", "", "25,000.10"],
    ["below a cent, stays", "", "0.00"],
    ["jackpot of record", "", "25,000.10"],
    ["amount of record", "10 % for straight flush", "2,500.01"],
]
"""The wagers are those of a day and a table."""
AGAINST: Final = {
    "locked": "DO NOT PAY: locked, not approved by two people",
    "verified": "DO NOT PAY: verified, not approved by two people",
    "approved": "",
    "paid": "ALREADY PAID: a copy",
}
LINES: Final = [
    "Manifest hash of the evidence pack", "Paid by", "Time", "Received by (player)", "Witness",
    "Camera",
]  # fmt: skip
PRINTED: Final = """() => [...document.querySelectorAll("body *")]
  .filter((one) => one.checkVisibility() && !one.closest(".sheet")).map((one) => one.tagName)"""
ROWS: Final = """(which) => [...document.querySelectorAll(which)]
  .map((row) => [...row.children].map((one) => one.textContent))"""


@pytest.fixture(scope="module")
def floor(hall: FloorDemo) -> FloorDemo:
    """With the award."""
    play(hall, *TO_A_JACKPOT)
    return hall


def opened(floor: FloorDemo, tabs: Tabs, path: str = f"/jackpots/{AWARD}") -> Page:
    return tabs.open(urlsplit(floor.address).netloc, path)


def award(floor: FloorDemo) -> dict[str, Any]:
    found: dict[str, Any] = told(floor, "jackpot", "show", AWARD)
    return found


def test_two_people_verify_approve_and_pay_a_jackpot(floor: FloorDemo, tabs: Tabs) -> None:
    tabs.allow("status of 40[39]")  # a refusal is what this test asks for
    page = opened(floor, tabs, "/jackpots")
    row = page.locator("#rows tr").first
    shows(row, "straight flush")
    row.get_by_role("link").first.click()
    shows(page.locator("#state"), "locked")
    vera, victor = people(floor)
    answer(page, "Verify…", "Verified", vera)
    shows(page.locator("#state"), "verified")
    answer(page, "Approve…", "Approve", vera)
    shows(page.locator("#steps"), "1 of 2")
    answer(page, "Second approval…", "Approve", vera)
    shows(page.locator("dialog [role=alert]"), "Refused")
    page.keyboard.press("Escape")
    shows(page.locator("#state"), "verified")
    answer(page, "Second approval…", "Approve", victor)
    shows(page.locator("#state"), "approved")
    answer(page, "Record payment…", "Paid", victor)
    shows(page.locator("#state"), "paid")
    expect(page.locator("dialog")).to_have_count(0)
    listed = told(floor, "jackpot", "list", "--all")["awards"]
    assert [(one["award"], one["state"]) for one in listed] == [(AWARD, "paid")]


def test_an_evidence_pack_is_downloaded_and_verifies_itself(
    floor: FloorDemo, tabs: Tabs, tmp_path: Path
) -> None:
    page = opened(floor, tabs)
    with page.expect_download() as coming:
        page.get_by_role("button", name="Evidence pack").click()
    name = "evidence-" + AWARD.replace("/", "-")
    assert coming.value.suggested_filename == f"{name}.zip"
    shows(page.locator("#packed"), f"{name}.zip: every check passes.")
    with zipfile.ZipFile(coming.value.path()) as packed:
        packed.extractall(tmp_path)
    folder = tmp_path / name
    manifest = json.loads((folder / "evidence.json").read_text("utf-8"))
    assert manifest["award"] == AWARD
    assert manifest["amounts"]["cents"] == 250_001
    here = {one.name for one in folder.iterdir()}
    assert set(manifest["files"]) == here - {"evidence.json"}
    checked = [sys.executable, "-I", str(folder / "verify.py")]
    done = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    with (folder / "events.jsonl").open("ab") as events:
        events.write(b"{}\n")
    spoilt = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert spoilt.returncode != 0


def test_the_derivation_and_a_note_are_on_the_page_of_the_award(
    floor: FloorDemo, tabs: Tabs
) -> None:
    page = opened(floor, tabs)
    shows(page.locator("#sound"), "derived again: equal")
    rows = page.evaluate(ROWS, "#derived tr")
    rows[1][0] = rows[1][0].replace(award(floor)["derivation"][1][0], "wagers")
    assert rows == DERIVED
    page.get_by_role("button", name="Add a note…").click()
    box = named(page, people(floor)[0])
    box.get_by_label("Note").fill("The cards lie in box 7.")
    box.get_by_role("button", name="Write the note").click()
    line = page.locator("#record li", has_text="The cards lie in box 7.")
    shows(line, "vera (")
    shows(line, "note")


def test_the_slip_prints_the_award_and_nothing_else(floor: FloorDemo, tabs: Tabs) -> None:
    page = opened(floor, tabs)
    shows(page.locator("#sound"), "derived again: equal")
    found = award(floor)
    printed(page, "Print the slip")
    assert page.locator("#sheet h1").inner_text() == "Hand-pay slip"
    assert page.locator("#sheet .amount").inner_text() == "$ 2,500.01"
    assert page.locator("#sheet .against").inner_text() == AGAINST[found["state"]]
    first, derived = page.locator("#sheet table").all()
    rows = page.evaluate(ROWS, "#sheet table:first-of-type tr")
    assert rows[:3] == [
        ["Pool, level, generation", f"{TABLE}, grand, 1"],
        ["Table, round, seat", f"{TABLE}, 1, 2"],
        ["Hand", "straight flush"],
    ]
    assert first.locator("tr").count() == 3 + len(found["steps"])
    assert derived.locator("tr").count() == len(found["derivation"])
    shows(page.locator("#sheet"), "Derived again from the wagers: equal.")
    assert page.locator("#sheet .signatures p").all_inner_texts() == LINES


def test_the_hand_over_sheet_prints_the_floor_and_nothing_else(
    floor: FloorDemo, tabs: Tabs
) -> None:
    page = opened(floor, tabs, "/floor")
    shows(page.locator("#verdict"), "Every cent is where it belongs")
    shows(page.locator("#tables"), TABLE)
    state = award(floor)["state"]
    printed(page, "Hand over shift")
    assert page.locator("#sheet h1").inner_text() == "Shift hand-over"
    titles = [one.lower() for one in page.locator("#sheet h2").all_inner_texts()]
    waiting, over = (0, 1) if state == "paid" else (1, 0)
    assert titles == [
        "jackpots on display", f"jackpots that wait: {waiting}",
        f"settled in the last 8 hours: {over}", "tables", "alarms: 0", "for the next shift",
    ]  # fmt: skip
    rows = page.evaluate(ROWS, "#sheet tbody tr")
    shown = [tuple(row[:3]) for row in rows[:6]]
    assert shown == [
        (TABLE, "grand", "22,500.09"), (TABLE, "major", "100.20"), (TABLE, "mini", "20.30"),
        ("mega", "grand", "50,000.00"), ("mega", "major", "100.00"), ("mega", "mini", "20.00"),
    ]  # fmt: skip
    assert rows[6][:3] == [AWARD, "2,500.01", f"{TABLE}, round 1, seat 2, straight flush"]
    assert [row[0] for row in rows[7:]] == [TABLE, "mega"]
    shows(page.locator("#sheet"), "Every cent is where it belongs, checked at event ")


def printed(page: Page, button: str) -> None:
    """What a printer gets: nothing but the sheet."""
    page.evaluate("window.print = () => { dispatchEvent(new Event('beforeprint')); }")
    page.get_by_role("button", name=button).click()
    page.emulate_media(media="print")
    expect(page.locator("#sheet")).to_be_visible()
    assert page.evaluate(PRINTED) == []
