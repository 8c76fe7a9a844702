"""At real daemons: where the cards go by the book, and no test in the middle of a round."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from record.journal.reader import JournalReader
from tests.controller.shell.screen import Screen
from tests.controller.shell.technician import Technician, failures, verdict
from tests.e2e.keeper import Sitting
from tests.e2e.table import underfelt

QUICK: Final = """
import sys
from controller.cli import main
from hw_sim.clock import MS, SECOND
from hw_sim.devices import shuffler
made = shuffler.Shuffler.__init__
def quick(self, *arguments):
    made(self, *arguments)
    self.shuffle_takes_us = (SECOND, 2 * SECOND)
shuffler.Shuffler.__init__ = quick
shuffler.PACKET_US = 200 * MS
sys.exit(main(sys.argv[1:]))
"""
"""A shuffler takes up to 90 s, and 1.5 s for a packet; how long is no matter here."""
FROM_THE_SHOE = [
    "card 1: Ac to seat 1, card 1",
    "card 2: 2c to seat 2, card 1",
    "card 3: 3c to seat 3, card 1",
    "card 4: 4c to seat 4, card 1",
    "card 5: 5c to seat 5, card 1",
    "card 6: 6c to seat 6, card 1",
    "card 7: 7c to seat 7, card 1",
    "card 8: 8c to seat 1, card 2",
    "card 9: 9c to seat 2, card 2",
    "card 10: Tc to seat 3, card 2",
    "card 11: Jc to seat 4, card 2",
    "card 12: Qc to seat 5, card 2",
    "card 13: Kc to seat 6, card 2",
    "card 14: Ad to seat 7, card 2",
    "card 15: 2d to seat 1, card 3",
    "card 16: 3d to seat 2, card 3",
    "card 17: 4d to seat 3, card 3",
    "card 18: 5d to seat 4, card 3",
    "card 19: 6d to seat 5, card 3",
    "card 20: 7d to seat 6, card 3",
    "card 21: 8d to seat 7, card 3",
    "card 22: 9d to dealer, card 1",
    "card 23: Td to dealer, card 2",
]
FROM_THE_SHUFFLER = [
    "seat 1, card 1", "seat 1, card 2", "seat 1, card 3",
    "seat 2, card 1", "seat 2, card 2", "seat 2, card 3",
    "seat 3, card 1", "seat 3, card 2", "seat 3, card 3",
    "seat 4, card 1", "seat 4, card 2", "seat 4, card 3",
    "seat 5, card 1", "seat 5, card 2", "seat 5, card 3",
    "seat 6, card 1", "seat 6, card 2", "seat 6, card 3",
    "seat 7, card 1", "seat 7, card 2", "seat 7, card 3",
    "dealer, card 1", "dealer, card 2", "dealer, card 3",
]  # fmt: skip


@contextmanager
def at(folder: Path, like: str, sim_shim: str = "") -> Iterator[tuple[Sitting, Screen]]:
    run = folder / "run"
    run.mkdir()
    with Sitting(run, like=like, sim_shim=sim_shim) as sitting:
        sitting.keeper.start()
        sitting.until_phase("between rounds")
        sitting.until(lambda: is_ready(sitting), "every device ready")
        screen = Screen(sitting, folder, term="dumb")
        screen.until(r"round 0 [^>]*> ")
        yield sitting, screen
        screen.leave()


def is_ready(sitting: Sitting) -> bool:
    return all(one["state"] == "ready" for one in sitting.status()["devices"].values())


@pytest.fixture
def shoe(tmp_path: Path) -> Iterator[tuple[Sitting, Screen]]:
    with at(tmp_path, "mbs3-plain") as table:
        yield table


def listed(rows: list[str]) -> list[str]:
    return [row.strip() for row in rows if row.startswith("   card ")]


def test_cards_of_a_shoe_go_round_the_table(shoe: tuple[Sitting, Screen]) -> None:
    """MBS3: one card to each seat in turn, three times, then two for the dealer."""
    sitting, screen = shoe
    screen.says("test on")
    rows = Technician(sitting, screen, draws=23).does("cards pattern")
    assert listed(rows) == FROM_THE_SHOE
    assert (failures(rows), verdict(rows)) == ([], "PASSED: cards pattern")
    assert sitting.ask_sim("/state")["card device"]["locked"]
    screen.says("test off")


def test_packets_of_a_shuffler_are_whole_hands(tmp_path: Path) -> None:
    with at(tmp_path, "nsw-shuffler-plain", QUICK) as (sitting, screen):
        screen.says("test on")
        rows = Technician(sitting, screen, draws=8).does("cards pattern")
        found = [row.partition(" to ") for row in listed(rows)]
        assert [place for _, _, place in found] == FROM_THE_SHUFFLER
        assert len({card.split()[2] for card, _, _ in found}) == 24
        assert (failures(rows), verdict(rows)) == ([], "PASSED: cards pattern")
        screen.says("test off")


def test_no_test_during_a_round_and_the_refusal_is_audited(shoe: tuple[Sitting, Screen]) -> None:
    sitting, screen = shoe
    sitting.ask_sim("/do", "dealer opens")
    sitting.until_phase("bets are open")
    tests = [r.seq for r in JournalReader(sitting.run / "journal").records() if r.kind == "test"]
    before = len(refusals(sitting))
    shell = ("shell", "--socket", str(sitting.run / "service.sock"))
    for words in (("test", "on"), ("lamp", "walk"), ("antenna", "test", "3")):
        told = underfelt(*shell, *words)
        assert (told.returncode, told.stdout) == (75, "")
        assert told.stderr == (
            "round 1: bets are open (E-SHL-005)\n"
            "-> end the round first; why says what it waits for\n"
        )
    assert "lamp walk needs test mode: not now, round 1: bets are open" in " ".join(
        screen.says("lamp walk").split()
    )
    new = refusals(sitting)[before:]
    # A test verb by itself asks for test mode first, and that is what is refused.
    assert [words for words, _ in new] == [["test", "on"]] * 3 + [["lamp", "walk"]]
    assert {by for _, by in new} == {"technician"}
    status = sitting.status()
    assert (status["phase"], status["round"], status["test_mode"]) == ("bets are open", 1, None)
    after = [r.seq for r in JournalReader(sitting.run / "journal").records() if r.kind == "test"]
    assert after == tests


def refusals(sitting: Sitting) -> list[tuple[list[str], str]]:
    rows = [json.loads(r.body) for r in JournalReader(sitting.run / "audit").records()]
    return [(row["words"], row["role"]) for row in rows if row.get("outcome") == "E-SHL-005"]
