"""A disputed round in the replay page: every moment of it, against what `underfelt replay` and
`underfelt settle` say.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, expect

from hw_sim.scenario import find, load
from tests.browser.chromium import Tabs, shows
from tests.browser.hands import Hands
from tests.browser.table import Table, running
from tests.e2e.table import ROOT, underfelt

STEPS: Final = (
    "deck Ah Kd 7s 2c 9h", "dealer opens", "seat 2 bets 25.00 on 1 2 $", "seat 2 will back ride",
    "dealer closes", "dealer until PAID",
)  # fmt: skip
SEEN: Final = """() => {
  const text = (which) => [...document.querySelectorAll(which)].map((one) => one.textContent);
  const slider = document.querySelector("#timeline svg");
  const head = slider.querySelector("path.head").getBoundingClientRect();
  return {
    number: text("#number")[0], record: text("#record")[0], moment: text("#moment > p"),
    followed: text("#moment li"), clause: text("#moment .cited > b")[0] ?? null,
    law: text("#moment .cited > p")[0] ?? null,
    frames: [...document.querySelectorAll("#frames .frame")].map((one) =>
      [...one.children].slice(1).map((part) => part.textContent)),
    more: text("#frames > p")[0], state: text("#state")[0],
    prompt: document.querySelector("#prompt").parentElement.hidden
      ? null : document.querySelector("#prompt").dataset.text,
    cards: ["#felt .hand", "#felt .dealer [role=img]"].map((which) => [
      document.querySelectorAll(`${which} .card`).length,
      document.querySelectorAll(`${which} .card .back`).length,
    ]),
    place: Number(slider.getAttribute("aria-valuenow")), head: head.x + head.width / 2,
  };
}"""
DRAWN: Final = """() => [0, 1, 2, 3, 4].map((lane) =>
  [...document.querySelectorAll(`#timeline path.l${lane}`)].map((one) =>
    one.getBoundingClientRect()).map((box) => box.x + box.width / 2))"""
LANES: Final = ((r"^declared", 0), ("chips|acceptors", 1), ("shoe|shuffler", 2), ("", 3))
"""Who said it, and its lane; the last lane has what was shown."""


def replayed(table: Table) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Moments and comparison, as the command prints them."""
    done = underfelt("replay", "1", "--journal", str(table.run / "journal"), "--json")
    assert done.returncode == 0, done.stderr
    *moments, end = map(json.loads, done.stdout.splitlines())
    return moments, end


def disputed(table: Table, page: Page) -> None:
    """By the keys in the page: the dealer records it, a supervisor decides it."""
    hands = Hands(table, page)
    for key in ("MENU", "6", "1", "2", "ENTER"):
        hands.press(key)
    table.do("dealer until KEY")
    shows(page.locator("#log"), "DISPUTE at seat 2")
    page.locator("#supervisor").click()
    expect(page.locator("#supervisor")).to_have_attribute("aria-pressed", "true")
    for key in ("MENU", "6", "2", "2", "ENTER"):
        hands.press(key)
    shows(page.locator("#log"), "IS DECIDED")
    page.locator("#supervisor").click()
    expect(page.locator("#supervisor")).to_have_attribute("aria-pressed", "false")
    table.do("dealer plays on")


def laws() -> dict[str, str]:
    found = tomllib.loads((ROOT / "web" / "clauses.toml").read_text("utf-8"))
    texts: dict[str, str] = found["clauses"]
    return texts


def agrees(seen: dict[str, Any], row: dict[str, Any], number: int, of: int) -> None:
    """One moment of the page and one of the command."""
    assert seen["number"] == f"Moment {number} of {of}"
    assert seen["place"] == number
    assert seen["record"] == (f"record {row['seq']}" if row["seq"] else "")
    phase = f" · {row['phase']}" if row["phase"] else ""
    assert seen["moment"][:2] == [row["what"], (row["by"] or "") + phase]
    followed = [f"→ {one['text']} {one['clause'] or ''}" for one in row["followed"]]
    cards = [f"{one['where']}: {one['card']}, {one['public']}" for one in row["cards"]]
    assert [one.rstrip() for one in seen["followed"]] == [
        one.rstrip() for one in (*followed, *cards, *filter(None, [row["trouble"]]))
    ]
    assert seen["clause"] == row["clause"]
    assert seen["law"] == (laws()[row["clause"]] if row["clause"] else None)
    assert seen["frames"] == [
        [
            one["label"] or one["device"],
            "device → table" if one["direction"] == "in" else "table → device",
            one["data"],
        ]
        for one in row["frames"]
    ]
    none = "" if row["frames"] else "No frame belongs to this moment."
    assert seen["more"] == (f"{row['frames_more']} more frames." if row["frames_more"] else none)
    assert seen["state"] == (row["state"] or "")
    assert seen["prompt"] == row["displays"].get("prompt")
    hands = [card for seat in row["felt"] if seat["seat"] for card in seat["cards"]]
    assert seen["cards"] == [[len(lie), lie.count("??")] for lie in (hands, row["board"] or [])]


def lane_of(row: dict[str, Any]) -> int:
    return next(lane for said, lane in LANES if re.search(said, row["by"] or ""))


def test_every_moment_of_a_disputed_round_is_what_the_commands_say(
    tmp_path: Path, tabs: Tabs
) -> None:
    scenario = load(find("mbs3-plain"))
    with running(tmp_path, scenario) as table:
        for step in STEPS:
            table.do(step)
        disputed(table, tabs.open(table.web.netloc, f"/table/{table.name}"))
        rows, end = replayed(table)
        marks = {mark for row in rows for mark in row["marks"]}
        assert marks > {"dispute raised", "dispute decided", "settlement 2", "decision 2"}
        assert sum(bool(row["frames"]) for row in rows) > 5
        page = tabs.open(table.web.netloc, f"/replay/{table.name}/1")
        shows(page.locator("#verdict"), "EQUAL")
        table.round(1)  # which settles the record of the journal once more
        assert end["compared"] == "EQUAL: table, replay and settle agree to the cent"
        shows(page.locator("#proof p").first, end["compared"])
        stepped(page, rows)


def stepped(page: Page, rows: list[dict[str, Any]]) -> None:
    """Forwards by the button, then to a decision by its name and to the start by key."""
    lanes = page.evaluate(DRAWN)
    assert [len(lane) for lane in lanes] == [
        *(sum(lane_of(row) == number for row in rows) for number in range(4)),
        sum(len(row["shown"]) for row in rows),
    ]
    waiting = [iter(lane) for lane in lanes]
    page.locator("#first").click()
    for number, row in enumerate(rows, 1):
        if row["clause"]:
            expect(page.locator("#moment .cited > p")).to_have_count(1)
        seen = page.evaluate(SEEN)
        agrees(seen, row, number, len(rows))
        assert abs(next(waiting[lane_of(row)]) - seen["head"]) < 1, row
        page.locator("#on").click()
    shows(page.locator("#number"), f"Moment {len(rows)} of")
    page.locator("#back").click()
    shows(page.locator("#number"), f"Moment {len(rows) - 1} of")
    page.locator("#jump").select_option(label="decision of seat 2")
    first = next(n for n, row in enumerate(rows, 1) if "decision 2" in row["marks"])
    shows(page.locator("#number"), f"Moment {first} of")
    for mark in ("dispute raised", "dispute decided"):
        page.locator("#jump").select_option(label=mark)
        first = next(n for n, row in enumerate(rows, 1) if mark in row["marks"])
        shows(page.locator("#number"), f"Moment {first} of")
    page.locator("#timeline svg").press("Home")
    shows(page.locator("#number"), "Moment 1 of")
