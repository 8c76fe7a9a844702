"""A demonstration floor with one table, whose people act only when a test says so.

Link server, table, simulator and web process are real.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page

from controller.demo import setup
from controller.demo.floor import FloorDemo, FloorOptions
from tests.e2e.table import underfelt

TABLE: Final = "mbs3"
TO_A_JACKPOT: Final = (
    "dealer plays on",
    "deck 5h 6h 8h 7h 9h",
    "dealer opens",
    "seat 2 bets 25.00 on 1 2 $",
    "seat 2 credits 1",
    "dealer closes",
    "dealer until PAID",
)
"""A straight flush: a tenth of the grand jackpot."""
LATE: Final = (("min_cents = 2020", "min_cents = 2300"), ("min_cents = 10100", "min_cents = 15000"))
"""The mysteries of the demonstration may hit with the first wager; here with none of the few."""


@contextmanager
def opened(folder: Path) -> Iterator[FloorDemo]:
    options = FloorOptions(folder, tables=(TABLE,), pace=4, seed=7, bots=False, staff=False, port=0)
    pools = "".join(setup.POOLS)
    for early, late in LATE:
        assert early in pools
        pools = pools.replace(early, late)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(setup, "POOLS", (pools,))
        with FloorDemo(options) as made:
            yield made


def play(hall: FloorDemo, *steps: str) -> None:
    for step in steps:
        done = underfelt("sim", "do", *step.split(), "--run", str(hall.folder.table(TABLE)))
        assert done.returncode == 0, (step, done.stderr, *known(hall))


def known(hall: FloorDemo) -> Iterator[str]:
    """What processes and server say about a step that did not come true."""
    yield from (log.read_text("utf-8", "replace")[-2_000:] for log in hall.folder.logs.iterdir())
    for verb in ("journals", "alarms", "status"):
        yield underfelt("link", verb, "--config", str(hall.folder.config)).stdout


def told(hall: FloorDemo, *command: str) -> Any:
    """What a command says about the link server."""
    done = underfelt(*command, "--config", str(hall.folder.config), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def people(hall: FloorDemo) -> list[tuple[str, str]]:
    """The supervisor and the manager who may sign: name and password."""
    return [(name, password) for name, (_, password) in hall.folder.accounts().items()]


def named(page: Page, *who: tuple[str, str]) -> Locator:
    """The dialog that is open, with these people in it."""
    for number, (name, password) in enumerate(who):
        box = page.locator("dialog fieldset.person").nth(number)
        box.get_by_label("Name").fill(name)
        box.get_by_label("Password").fill(password)
    return page.locator("dialog")


def answer(page: Page, button: str, act: str, *who: tuple[str, str]) -> None:
    """Open the dialog, name the people, order it."""
    page.get_by_role("button", name=button).first.click()
    named(page, *who).get_by_role("button", name=act).click()
