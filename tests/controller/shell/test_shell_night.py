"""The night shift: a hardware fault drawn at random is found through a real terminal.

Whoever looks for it knows the runbook (docs/operations/night-shift.md) and the screen, nothing
else: 80x24, no colour, typed verbs. What was broken is compared afterwards.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.controller.shell.screen import Screen
from tests.e2e.keeper import Sitting
from tests.patience import PATIENCE_S

LINES: Final = ("chips-1", "chips-2", "shoe")
CHIPS: Final = ("keys-1", "sensors", "lamps-1", "meter-2", "prompt")
SPOTS: Final = ("1", "2", "$")
LOOKS: Final = 4

Found = tuple[str, str]
"""What is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Broken:
    found: Found
    verbs: tuple[str, ...]
    mended: tuple[str, ...]
    meanwhile: str = ""
    """What the dealer does, without which it cannot be noticed."""


def _line(what: str, on: str, off: str) -> Callable[[random.Random], Broken]:
    def draw(chance: random.Random) -> Broken:
        line = chance.choice(LINES)
        return Broken((what, line), (f"{on} {line}",), (f"{off}".format(line=line),))

    return draw


def _antenna(chance: random.Random) -> Broken:
    seat, spot = chance.randint(1, 7), chance.choice(SPOTS)
    verb = f"antenna {seat} {spot}"
    return Broken(("antenna", f"{seat}/{spot}"), (verb,), (f"{verb} off",))


def _chip(what: str, verb: str, chips: tuple[str, ...]) -> Callable[[random.Random], Broken]:
    def draw(chance: random.Random) -> Broken:
        chip = chance.choice(chips)
        return Broken((what, chip), (f"{verb} {chip}",), (f"{verb} {chip} off",))

    return draw


def _plain(what: str, where: str, on: str, off: str) -> Callable[[random.Random], Broken]:
    return lambda _chance: Broken((what, where), (on,), (off,))


KINDS: Final[dict[str, Callable[[random.Random], Broken]]] = {
    "unplugged": _line("unplugged", "unplug", "replug {line}"),
    "silent": _line("silent", "mute", "mute {line} off"),
    "swapped": _plain("swapped", "chips-1 chips-2", "swap chips-1 chips-2", "swap chips-1 chips-2"),
    "antenna": _antenna,
    "board gone": _chip("board gone", "absent", CHIPS),
    "display shows nothing": lambda _chance: Broken(
        ("display shows nothing", "prompt"), ("dead prompt",), ("dead prompt off",), "press MENU"
    ),
    "bus held": _plain("bus held", "", "stuck", "stuck off"),
    "jam": _plain("jam", "shoe", "jam", "jam off"),
    "lid": _plain("lid", "shoe", "lid open", "lid closed"),
    "door": _plain("door", "", "door open", "door closed"),
    "supply low": _plain("supply low", "", "undervoltage", "undervoltage off"),
    "24 V failing": _plain("24 V failing", "", "powerfail", "powerfail off"),
}

# --- the technician -------------------------------------------------------------------------------

FAULT: Final = re.compile(r"^(?:!!| !| -) (E-[A-Z]+-\d{3}) +([^:]+):")
BY_CODE: Final = {
    "E-FEIG-010": "silent",
    "E-FEIG-011": "unplugged",
    "E-FEIG-016": "swapped",
    "E-FEIG-020": "antenna",
    "E-CDP-010": "silent",
    "E-CDP-011": "unplugged",
    "E-CDP-030": "jam",
    "E-CDP-031": "lid",
    "E-DSP-001": "board gone",
    "E-DSP-011": "board gone",
    "E-EXP-001": "board gone",
    "E-DSP-002": "display shows nothing",
    "E-DSP-012": "display shows nothing",
    "E-SER-001": "unplugged",
    "E-SER-009": "silent",
    "E-TBL-013": "supply low",
    "E-TBL-014": "24 V failing",
    "E-TBL-015": "door",
}
"""The runbook's table."""
BUS: Final = ("E-BUS-001", "E-BUS-002", "E-DSP-003", "E-DSP-013", "E-EXP-006")
OF_THE_TABLE: Final = ("supply low", "24 V failing", "door")
CALM: Final = "E-TBL-004"
"""No link is configured here: a note from the start."""


def faults(screen: list[str]) -> list[tuple[str, str]]:
    found = [FAULT.match(line) for line in screen]
    rows = [(one[1], one[2].strip()) for one in found if one is not None]
    return [row for row in rows if row[0] != CALM]


def diagnosis(table: Table) -> Found | None:
    """As the runbook says: ``faults`` first, then the verb of its line."""
    rows = faults(table.ask("faults"))
    codes = [code for code, _ in rows]
    if any(code in BUS for code in codes):
        return "bus held", ""
    kinds = {BY_CODE[code] for code in codes if code in BY_CODE}
    for kind in OF_THE_TABLE:
        if kind in kinds:
            return kind, ""
    if kinds == {"swapped"}:
        return "swapped", " ".join(sorted(about for _, about in rows))
    if kinds == {"antenna"}:
        return _lost_spot(table)
    if len(kinds) == 1:
        (kind,) = kinds
        return kind, next(about for code, about in rows if BY_CODE.get(code) == kind)
    return None


def steady(table: Table) -> Found:
    """What stays on the screen for some looks: a device that is just being found again does not."""
    seen: list[Found | None] = []

    def same() -> bool:
        seen.append(diagnosis(table))
        time.sleep(0.8)
        return len(seen) >= LOOKS and seen[-1] is not None and len(set(seen[-LOOKS:])) == 1

    table.until(same)
    found = seen[-1]
    assert found is not None
    return found


def _lost_spot(table: Table) -> Found | None:
    for seat in range(1, 8):
        for line in table.ask(f"chips {seat}"):
            if "lost" in line:
                return "antenna", f"{seat}/{line.split()[0]}"
    return None


# --- the table ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Table:
    sitting: Sitting
    screen: Screen

    def fault(self, verb: str) -> None:
        self.sitting.ask_sim("/fault", verb)

    def ask(self, line: str) -> list[str]:
        """What the screen shows after it."""
        shown = self.screen.says(line).replace("\r", "").split("\n")
        assert max(map(len, shown)) <= 80
        return shown

    def until(self, wanted: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not wanted():
            assert time.monotonic() < end, self.screen.seen[-4_000:]
            time.sleep(0.2)

    def is_well(self) -> bool:
        return faults(self.ask("faults")) == []


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("night")
    run = folder / "run"
    run.mkdir()
    with Sitting(run, game="MBS3") as sitting:
        sitting.keeper.start()
        sitting.until_phase("between rounds")
        screen = Screen(sitting, folder, term="dumb")
        screen.until(r"round 0 [^>]*> ")
        made = Table(sitting, screen)
        made.until(made.is_well)
        yield made
        screen.leave()


SEED: Final = int(os.environ.get("UNDERFELT_SEED", "3"))
DRAWN: Final = random.Random(SEED).sample(sorted(KINDS), len(KINDS))


@pytest.mark.parametrize("kind", DRAWN)
def test_a_fault_is_found_with_the_runbooks_verbs(table: Table, kind: str) -> None:
    broken = KINDS[kind](random.Random(f"{SEED} {kind}"))
    for verb in broken.verbs:
        table.fault(verb)
    if broken.meanwhile:
        table.sitting.ask_sim("/do", broken.meanwhile)
    try:
        assert steady(table) == broken.found
    finally:
        for verb in broken.mended:
            table.fault(verb)
        if broken.meanwhile:
            table.sitting.ask_sim("/do", "press CLEAR")
        table.until(table.is_well)


def test_the_runbook_knows_every_fault_that_is_drawn() -> None:
    page = Path(__file__).parents[3] / "docs" / "operations" / "night-shift.md"
    told = page.read_text("utf-8")
    assert len(KINDS) >= 12
    for code in BY_CODE:
        part = code.rpartition("-")[2]
        assert code in told or f"`{part}`" in told, code
