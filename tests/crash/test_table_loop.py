"""The real daemon on a file system that loses power: what the devices saw is in the journal.

``underfelt table`` journals on a loop-mounted ext4 image while the simulator's people play. At
random moments it is stopped, and the image file is copied as it lies there, with nothing flushed:
that is what a power cut would leave. Then the devices are asked what they saw: cards acknowledged,
credits swallowed, wagers lit, a magic card and a prompt shown. All of it must be in the journal
recovered from the copy. Needs root.
"""

from __future__ import annotations

import json
import signal
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from typing import Any, Final

from controller.config.keys import load_key
from controller.history.replay import replay
from controller.history.sealing import CardSealer
from controller.history.snapshot import Opening
from controller.rules.engine.state import Phase
from controller.table.prompt import spread
from controller.table.texts import parse_texts
from drivers.cards.codec import parts_of
from hw_sim.scenario import find, load
from record.journal import Journal, JournalError, Record
from record.verify_journal import verify as verify_alone
from tests.crash.loop import make_image, mounted, need, run
from tests.e2e.keeper import Sitting
from tests.patience import PATIENCE_S
from tests.sim.table import TEXTS

SCENARIO: Final = "mega-plain"
SEED: Final = 1904
MOST: Final = 24
NEAR: Final = 40
"""Records at the end that a display may be behind."""
IMAGE_BYTES: Final = 32 << 20
WORDS: Final = parse_texts(TEXTS.read_text("utf-8"))["state"]
CARD: Final = 0x20
NO_SYNC: Final = """
import os
os.fdatasync = os.fsync = lambda _descriptor: None
from controller.cli import main; import sys; sys.exit(main(sys.argv[1:]))
"""
"""Exists here and not in the product: it shows that the test sees what a missing sync does."""


@dataclass(frozen=True)
class Moment:
    """What the medium has, and what the devices say at that moment."""

    copy: Path
    seen: dict[str, Any]
    key: Path
    """Of the table that wrote it."""

    @property
    def phase(self) -> Phase | None:
        """As the prompt says."""
        word = self.seen["prompt"][0].rpartition(" R ")[0].strip()
        return next((phase for phase in Phase if WORDS[phase.value] == word), None)


@dataclass
class Found:
    """What a journal tells."""

    prompts: set[str]
    """Line 1 at the end and shortly before."""
    drawn: set[tuple[int, int]] = field(default_factory=set)
    """Load and number of every card."""
    credits: dict[int, int] = field(default_factory=dict)
    wagers: set[int] = field(default_factory=set)
    magic: set[str | None] = field(default_factory=lambda: {None})


def line(phase: Phase, number: int) -> str:
    return spread(WORDS[phase.value], f"R {number}")


# --- playing -----------------------------------------------------------------------------------


def moments(folder: Path, shim: str = "") -> list[Moment]:
    image = folder / "disk.img"
    make_image(image, IMAGE_BYTES)
    found: list[Moment] = []
    with (
        mounted(image, folder / "live") as place,
        Sitting(folder / "run", SCENARIO, shim=shim) as sitting,
    ):
        text = sitting.config.read_text("utf-8")
        here = f'path = "{place / "journal"}"\nsegment_mib = 1\n'
        sitting.config.write_text(text.replace('path = "journal"\n', here), "utf-8")
        sitting.keeper.start()
        sitting.until_phase("bets are open")
        random = Random(SEED)
        while len(found) < MOST:
            one = moment(sitting, image, folder / f"copy{len(found)}.img", random)
            if one is None:
                break
            found.append(one)
            if one.phase is Phase.DECISION_2:
                break
        if (code := sitting.sim.poll()) is not None:
            assert code == 0, sitting.sim.communicate()
    return found


def moment(sitting: Sitting, image: Path, copy: Path, random: Random) -> Moment | None:
    """Somewhere in the next seconds; the daemon stands still while it is copied and looked at. None
    when the people have played to the end."""
    until = time.monotonic() + random.uniform(0.1, 2.5)
    while time.monotonic() < until and sitting.sim.poll() is None:
        sitting.keeper.look()
        time.sleep(0.01)
    sitting.keeper.signal(signal.SIGSTOP)
    while not stopped(sitting.keeper.pid):
        sitting.keeper.look()
        time.sleep(0.01)
    run(need("cp", "coreutils"), "--sparse=always", str(image), str(copy))
    try:
        seen = sitting.ask_sim("/state")
    except urllib.error.URLError:
        sitting.sim.wait(PATIENCE_S)
        return None
    finally:
        sitting.keeper.signal(signal.SIGCONT)
    return Moment(copy, seen, sitting.run / "sealing.key")


def stopped(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat").read_text("ascii")
    return stat.rpartition(")")[2].split()[0] == "T"


# --- what is left ------------------------------------------------------------------------------


def recovered(one: Moment, at: Path) -> Found:
    """Mount, repair, verify and read, as a start would."""
    with mounted(one.copy, at) as folder:
        place = folder / "journal"
        journal = Journal.open(place, table="mega", create=False, now_ms=2_000)
        records = list(journal.records())
        journal.close()
        assert verify_alone(place)["ok"]
        found = Found(prompts(records, journal.journal_id, one.key))
    for record in records:
        if record.kind == "fact":
            take(found, json.loads(record.body))
    return found


def prompts(records: list[Record], journal_id: str, key: Path) -> set[str]:
    """Line 1 of the table at the end of the journal and shortly before."""
    scenario = load(find(SCENARIO))
    opening = Opening(scenario.game, scenario.settings, date.today().isoformat())
    cards = CardSealer(load_key(key), journal_id)
    lines = set()
    for end in range(max(1, len(records) - NEAR), len(records) + 1):
        state = replay(records[:end], cards, opening).state
        lines.add(line(state.phase, state.round_no))
    return lines


def take(found: Found, fact: dict[str, Any]) -> None:
    of = fact["of"]
    match fact["what"]:
        case "card drawn":
            kind, load, number = parts_of(fact["key"][1])
            assert kind == CARD
            found.drawn.add((load, number))
        case "credits read":
            found.credits[of["seat"]] = max(found.credits.get(of["seat"], 0), of["credits"])
        case "wager read" if of["cents"]:
            found.wagers.add(of["seat"])
        case "selection revealed":
            found.magic.add(of["magic_card"])


def missing(seen: dict[str, Any], found: Found) -> list[str]:
    """What a device saw and the journal does not know."""
    lost = []
    shown = seen["prompt"][0]
    if shown not in found.prompts:
        lost.append(f"the prompt showed {shown!r}, the journal ends with {found.prompts}")
    device = seen["card device"]
    lost += [
        f"card {number} of load {device['load']} was acknowledged"
        for number in range(1, device["number"] + 1)
        if (device["load"], number) not in found.drawn
    ]
    lost += [
        f"{count} credits are in the box of seat {seat}"
        for seat, count in seen["credit boxes"].items()
        if count > found.credits.get(int(seat), 0)
    ]
    lost += [
        f"seat {seat} was lit"
        for seat, lamp in enumerate(seen["lamps"], 1)
        if lamp == "live" and seat not in found.wagers
    ]
    if seen["magic"] not in found.magic:
        lost.append(f"the magic card {seen['magic']} was shown")
    return lost


def lost_at(found: list[Moment], folder: Path) -> dict[int, list[str]]:
    """By moment; a journal that does not open has lost everything."""
    lost = {}
    for number, one in enumerate(found):
        try:
            lost[number] = missing(one.seen, recovered(one, folder / f"after{number}"))
        except (JournalError, AssertionError) as error:
            lost[number] = [f"not even readable: {error}"]
    return lost


def test_what_the_devices_saw_is_in_the_journal_and_without_syncs_it_is_not(tmp_path: Path) -> None:
    """Side by side, because a table waits for its people most of the time."""
    folders = [tmp_path / "synced", tmp_path / "unsynced"]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        synced, unsynced = pool.map(moments, folders, ("", NO_SYNC))
    print([(m.seen["prompt"][0], m.seen["card device"]["number"]) for m in synced])
    assert len({m.phase for m in synced}) > 2, "the moments are all alike"
    assert max(m.seen["card device"]["number"] for m in synced) > 0, "no card was acknowledged"
    assert max(m.seen["credit boxes"]["1"] for m in synced) > 0, "no credit was taken"
    assert {n: lost for n, lost in lost_at(synced, folders[0]).items() if lost} == {}
    assert any(lost_at(unsynced, folders[1]).values()), (
        "unsynced records survived: this test cannot see a missing sync"
    )
