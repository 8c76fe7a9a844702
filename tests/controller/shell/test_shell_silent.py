"""The night shift, what ``faults`` does not show: found by the guided test that the runbook names.

A fault is drawn at random; whoever looks for it has the symptom, the runbook and the screen of a
real terminal. What he writes into the book is compared with what was drawn.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from record.kit.lines import ask
from tests.controller.shell.screen import Screen
from tests.controller.shell.technician import Technician, failures, verdict
from tests.e2e.keeper import Sitting
from tests.e2e.table import underfelt

SPOTS: Final = ("1", "2", "$")
RANKS: Final = "A23456789TJQK"
CARDS: Final = tuple(f"{rank}{suit}" for suit in "cdhs" for rank in RANKS)
QUIET_KEYS: Final = ("3", "5", "7", "9", "RIDE", "BACK")
"""Keys that mean nothing between two rounds."""
IMAGE: Final = b"underfelt simulated SHOE-1"
"""The program as the maker has released it."""

TRIES: Final = 4
Found = tuple[str, str]
"""What is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Silent:
    """``symptom``: where people say that something is wrong."""

    found: Found
    on: tuple[str, ...]
    off: tuple[str, ...]
    symptom: str = ""


# --- what can be wrong ----------------------------------------------------------------------------


def _crossed(chance: random.Random) -> Silent:
    seat, other = chance.sample(range(1, 8), 2)
    one, two = chance.choice(SPOTS), chance.choice(SPOTS)
    verb = f"crossed {seat} {one} {other} {two}"
    return Silent(("crossed", f"{seat}/{one} {other}/{two}"), (verb,), (verb,), str(seat))


def _weak(chance: random.Random) -> Silent:
    seat, spot = chance.randint(1, 7), chance.choice(SPOTS)
    verb = f"flap {seat} {spot}"
    return Silent(("weak", f"{seat}/{spot}"), (verb,), (f"{verb} off",), str(seat))


def _mistaken(chance: random.Random) -> Silent:
    card, read = chance.sample(CARDS, 2)
    verb = f"mistake {card} {read}"
    return Silent(("mistaken", f"{card} for {read}"), (verb,), (f"{verb} off",))


def _once(kind: str, card: str, verb: str) -> Callable[[random.Random], Silent]:
    return lambda _chance: Silent((kind, card), (verb,), ())


def _held(chance: random.Random) -> Silent:
    key = chance.choice(QUIET_KEYS)
    return Silent(("key", key), (f"heldkey {key}",), (f"heldkey {key} off",), key)


def _display(kind: str, verb: str) -> Callable[[random.Random], Silent]:
    def draw(chance: random.Random) -> Silent:
        chip = chance.choice(("meter-1", "meter-2", "meter-3"))
        where = chip if kind == "dead" else "meter"
        return Silent((kind, where), (f"{verb} {chip}",), (f"{verb} {chip} off",))

    return draw


def _line(kind: str, *verbs: str) -> Callable[[random.Random], Silent]:
    def draw(chance: random.Random) -> Silent:
        line = chance.choice(("chips-1", "chips-2", "shoe"))
        off = tuple(f"{verb} {line} off" for verb in reversed(verbs))
        return Silent((kind, line), tuple(f"{verb} {line}" for verb in verbs), off, line)

    return draw


def _program(_chance: random.Random) -> Silent:
    return Silent(("program", "shoe"), ("firmware shoe",), ("firmware shoe off",))


ANTENNA: Final = {"crossed": _crossed, "weak": _weak}
CARD: Final = {
    "mistaken": _mistaken,
    "not read": _once("not read", "Ac", "misread"),
    "two at once": _once("two at once", "Ac", "doublefeed"),
    "foreign": _once("deck", "Ac", "foreign"),
    "duplicate": _once("deck", "2c", "duplicate"),
}
LINE: Final = {"device": _line("device", "mute"), "port": _line("port", "mute", "stick")}
OTHER: Final = {
    "key": _held,
    "dead": _display("dead", "dead"),
    "dark": _display("dark", "dark"),
    "program": _program,
}
KINDS: Final[dict[str, Callable[[random.Random], Silent]]] = {**ANTENNA, **CARD, **LINE, **OTHER}
SEED: Final = int(os.environ.get("UNDERFELT_SEED", "3"))


def _share() -> list[str]:
    """What is quick, and one of two by the seed; a dead display and 28 keys take their time."""
    return ["crossed", "mistaken", "dark", "program", random.Random(SEED).choice(list(LINE))]


SHARE: Final = _share()
MENDED: Final = ("weak", "mistaken", "program")
"""Once it is mended, the same test must pass."""
DRAWN: Final = [
    pytest.param(kind, marks=() if kind in SHARE else pytest.mark.slow) for kind in sorted(KINDS)
]

# --- the technician -------------------------------------------------------------------------------

CROSSED: Final = re.compile(
    r"seat (\d), wager (\S+): read at seat (\d), wager (\S+) \(\S+\) instead: "
)
WEAK: Final = re.compile(r"seat (\d), wager (\S+): weak: read \d+ of 20 times")
CARD_WAS: Final = re.compile(r"card (\d+): (.*?), (\S+)( \S+)? expected(; it came before)?")
UNREAD: Final = re.compile(r"not read back from (meter-\d) \(E-DSP-002\)")


def antennas(rows: list[str]) -> Found:
    (said,) = failures(rows)
    if crossed := CROSSED.match(said):
        seat, spot, other, there = crossed.groups()
        return "crossed", f"{seat}/{spot} {other}/{there}"
    weak = WEAK.fullmatch(said)
    assert weak is not None, said
    return "weak", f"{weak[1]}/{weak[2]}"


def cards(rows: list[str]) -> Found:
    """The first that is wrong, and what kind of wrong it is; the last line is what never came."""
    first, *_, never = failures(rows)
    was = CARD_WAS.fullmatch(first)
    assert was is not None, first
    assert never.startswith(("1 of 52", "2 of 52")), never
    assert was[3] in never.partition(": ")[2].split()
    match was[2]:
        case "not read":
            return "not read", was[3]
        case "two cards at once":
            return "two at once", was[3]
        case read:
            return "wrong", f"{was[3]} for {read}"


def displays(rows: list[str]) -> Found:
    """What is not read back is dead; what is and cannot be seen is dark."""
    failed = failures(rows)
    assert len(failed) == 2, failed
    if all(text.endswith(": read back, but not seen") for text in failed):
        return "dark", failed[0].split()[0]
    chips = {found[1] for text in failed if (found := UNREAD.search(text))}
    assert len(chips) == 1, failed
    return "dead", chips.pop()


def keys(rows: list[str]) -> Found:
    (said,) = failures(rows)
    return "key", said.removeprefix("never pressed, stuck or dead: ")


def plug(rows: list[str]) -> Found:
    """With the plug in place of the device: the port is good, so it is the device, or it is not."""
    said = " ".join(rows)
    if found := re.search(r"ok (\S+): all \d+ bytes came back", said):
        return "device", found[1]
    found = re.search(r"!! (\S+): nothing came back: no plug, a broken cable, or a dead port", said)
    assert found is not None, rows
    return "port", found[1]


def program(rows: list[str]) -> Found:
    (said,) = failures(rows)
    assert said == "shoe: challenge answered wrongly; it is locked (E-CDP-024)"
    return "program", "shoe"


@dataclass(slots=True)
class Table:
    sitting: Sitting
    screen: Screen
    folder: Path

    def fault(self, *verbs: str) -> None:
        for verb in verbs:
            self.sitting.ask_sim("/fault", verb)

    def breaks(self, silent: Silent) -> None:
        before = self.presses()
        self.fault(*silent.on)
        if silent.found[0] == "key":  # it went down long ago
            self.sitting.until(lambda: self.presses() > before, "a key down")

    def presses(self) -> int:
        found = ask(self.sitting.run / "service.sock", {"verb": "counters"})
        return sum(found[name].get("presses", 0) for name in ("keys-1", "keys-2"))

    def is_ready(self, device: str) -> bool:
        return bool(self.sitting.status()["devices"][device]["state"] == "ready")

    def technician(self, stuck: str = "") -> Technician:
        return Technician(self.sitting, self.screen, {stuck} if stuck else set())

    def is_silent(self) -> bool:
        """Nothing that the screen shows as wrong; the notes of a table without link stay."""
        return not re.search(r"^(!!| !) ", self.screen.says("faults"), re.MULTILINE)

    def looks(self, kind: str, silent: Silent) -> tuple[list[str], Found]:
        """The line of the runbook for this symptom: its verb, and what the screen means."""
        if kind in ANTENNA:
            return self._looks_at_antennas(f"antenna test {silent.symptom}")
        if kind in CARD:
            return self._looks_at_cards()
        if kind in LINE:
            self.fault(f"loopback {silent.symptom}")
            rows = self.technician().does(f"loopback {silent.symptom}")
            self.fault(f"loopback {silent.symptom} off")
            return rows, plug(rows)
        if kind == "key":
            rows = self.technician(silent.symptom).does("keys")
            return rows, keys(rows)
        if kind == "program":
            rows = self.technician().does(self.challenge())
            return rows, program(rows)
        rows = self.technician().does("display walk")
        return rows, displays(rows)

    def _looks_at_antennas(self, line: str) -> tuple[list[str], Found]:
        """A chip that comes and goes may be there at every look: people saw it, so once more."""
        for _ in range(TRIES):
            rows = self.technician().does(line)
            if failures(rows):
                return rows, antennas(rows)
        raise AssertionError(f"{line}: passed {TRIES} times")

    def _looks_at_cards(self) -> tuple[list[str], Found]:
        """A wrong card is the reader's or the deck's: with another deck only the reader's stays."""
        rows = self.technician().does("cards")
        what, where = cards(rows)
        if what != "wrong":
            return rows, (what, where)
        again = self.technician().does("cards")
        if failures(again):
            assert cards(again) == (what, where)
            return again, ("mistaken", where)
        return rows, ("deck", where.split()[0])

    def challenge(self) -> str:
        """Made away from the table, with the maker's image."""
        image = self.folder / "shoe.bin"
        image.write_bytes(IMAGE)
        made = json.loads(underfelt("firmware", "challenge", str(image), "--json").stdout)
        nonce = bytes.fromhex(made["nonce"])
        assert made["digest"] == hashlib.sha256(nonce + IMAGE).digest()[:16].hex()
        return f"challenge shoe {made['nonce']} {made['digest']}"


class Floor:
    """The table of this module. One that a test left in the middle of something is replaced, so
    that no test fails because of another."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._number = folder, 0
        self._open = ExitStack()
        self._table: Table | None = None
        self.is_well = False

    def table(self) -> Table:
        if self._table is None or not self.is_well:
            self.close()
            self._table = self._start()
        self.is_well = False
        return self._table

    def _start(self) -> Table:
        self._number += 1
        run = self._folder / f"run-{self._number}"
        run.mkdir()
        sitting = self._open.enter_context(Sitting(run, game="MBS3"))
        sitting.keeper.start()
        sitting.until_phase("between rounds")
        screen = Screen(sitting, self._folder, term="dumb")
        self._open.callback(screen.child.close, force=True)
        screen.until(r"round 0 [^>]*> ")
        made = Table(sitting, screen, self._folder)
        sitting.until(made.is_silent, "a table that is well")
        return made

    def close(self) -> None:
        if self._table is not None and self.is_well:
            self._table.screen.leave()
        self._open.close()
        self._table = None


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    made = Floor(tmp_path_factory.mktemp("silent"))
    yield made
    made.close()


@pytest.mark.parametrize("kind", DRAWN)
def test_a_silent_fault_is_found_by_its_guided_test(floor: Floor, kind: str) -> None:
    table = floor.table()
    silent = KINDS[kind](random.Random(f"{SEED} {kind}"))
    table.breaks(silent)
    if kind in LINE:  # the device is silent, and that is seen; what is wrong with it is not
        table.sitting.until(lambda: not table.is_ready(silent.symptom), "a silent device")
    else:
        assert table.is_silent()
    assert "TEST MODE" in table.screen.says("test on")
    rows, found = table.looks(kind, silent)
    assert found == silent.found
    assert verdict(rows).startswith("PASSED: " if kind == "device" else "FAILED: ")
    table.fault(*silent.off)
    if kind in MENDED:
        line = f"antenna test {silent.symptom}" if kind in ANTENNA else "cards"
        again = table.technician().does(table.challenge() if kind == "program" else line)
        assert failures(again) == []
        assert verdict(again).startswith("PASSED: ")
    assert "the table is as it was" in table.screen.says("test off")
    table.sitting.until(table.is_silent, "a table that is well")
    floor.is_well = True


def test_the_runbook_names_the_test_of_every_silent_fault() -> None:
    page = Path(__file__).parents[3] / "docs" / "operations" / "night-shift.md"
    told = page.read_text("utf-8")
    for verb in ("antenna test SEAT", "cards", "loopback PORT", "keys", "display walk"):
        assert f"`{verb}`" in told, verb
    assert "`challenge shoe NONCE DIGEST`" in told
