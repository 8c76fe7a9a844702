"""Rounds from real tables with a journal, and witnesses who saw what the tables did.

``People`` sit at a whole simulated table: devices, wires, faults, power cuts. All comes from a
seed. Rounds at a desk are beside it (desks.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from controller.config.keys import KEY_WORD
from controller.daemon.frames import open_frames
from controller.daemon.writer import Released
from controller.history.framelog import Direction
from controller.history.sealing import CardSealer
from controller.history.snapshot import StateDigest
from controller.rules.engine import effects as fx
from controller.rules.engine.state import Phase
from drivers.readings import Reading, Shown
from hw_sim.layout import load as load_layout
from hw_sim.people.random_play import random_rounds
from hw_sim.scenario import Scenario, Step, find, load, parse_step
from record.journal.format import Record
from tests.controller.history.desk import Desk
from tests.record.journal.simdisk import PowerCut
from tests.replays.telling import Deed
from tests.sim.table import KEY as CRASH_KEY
from tests.sim.table import VirtualTable

PLAIN: Final = {
    "MBS3": "mbs3-plain",
    "PP6": "pp6-plain",
    "NSW": "nsw-shoe-plain",
    "MEGA": "mega-plain",
    "RICO": "rico-plain",
}
"""A scenario of each game: its table and settings."""
PLAYERS: Final = 4
STUCK: Final = "people who did not know how to go on"


@dataclass
class Witness:
    """What somebody beside the table wrote down, without the journal."""

    results: dict[int, Any] = field(default_factory=dict)
    """As each round was published when it closed."""
    standing: dict[int, Any] = field(default_factory=dict)
    """As the table has it in the end: a count found later may rule anew."""
    digests: dict[int, str] = field(default_factory=dict)
    shown: list[tuple[int, str, str]] = field(default_factory=list)
    """(wall time, display, what the simulated glass itself shows)"""
    starts: list[int] = field(default_factory=list)
    """When the computer started: from then on the table knows no display until it has read it."""
    unsure: set[tuple[int, str]] = field(default_factory=set)
    """Seen while the power went: whether it was still written down nobody can say."""
    deeds: list[Deed] = field(default_factory=list)
    """Every fact as the table took it; at a desk."""
    compared: dict[int, int] = field(default_factory=dict)
    """Changes of displays that a replay told and that were looked up here, by round."""


@dataclass
class Journalled:
    """A table's journal, and its witness."""

    name: str
    game: str
    records: Sequence[Record]
    sealer: CardSealer
    witness: Witness
    irregular: list[str] = field(default_factory=list)
    desk: Desk | None = None
    under_way: int | None = None
    """A round that was opened and not closed."""


# --- people at a simulated table ------------------------------------------------------------------


class People(VirtualTable):
    """A virtual table with a witness."""

    def __post_init__(self) -> None:
        self.witness = Witness()
        self.on_released = self._saw
        super().__post_init__()

    def _saw(self, released: Released) -> None:
        for effect in released.effects:
            if isinstance(effect, fx.PublishRound):
                self._closed(effect.round_no, effect.result)

    def _boot(self) -> None:
        self.witness.starts.append(self._ms())
        super()._boot()
        for archive in self.writer.core.state.history:
            # The power went as the round closed: the next start writes what belongs to it.
            if archive.round_no not in self.witness.results:
                self._closed(archive.round_no, archive.result)

    def _closed(self, number: int, result: Any) -> None:
        self.witness.results[number] = result
        self.witness.digests[number] = StateDigest().of(self.writer.core.state)

    def _reading(self, reading: Reading) -> None:
        if isinstance(reading, Shown) and self._up:
            seen = self._glass(reading.device)
            self.witness.shown.append((self._ms(), reading.device, seen))
        try:
            super()._reading(reading)
        except PowerCut:
            self.witness.unsure |= {(at_ms, name) for at_ms, name, _ in self.witness.shown[-1:]}
            raise

    def _glass(self, device: str) -> str:
        """The display itself, as a person would read it."""
        sim = self.bench.sim
        if device == "prompt":
            return "\n".join(sim.prompt())
        if device.startswith("lamps"):
            return "|".join(sim.lamps())
        if device.startswith("meter"):
            return sim.meter()
        if device == "sign":
            return "" if sim.sign is None else sim.sign.visible()
        return sim.magic() or "dark"

    def journalled(self, name: str) -> Journalled:
        records = list(self.journal.records())
        for archive in self.writer.core.state.history:
            self.witness.standing[archive.round_no] = archive.current[1]
        sealer = CardSealer(CRASH_KEY, self.journal.journal_id)
        made = Journalled(name, self.scenario.game, records, sealer, self.witness)
        state = self.writer.core.state
        made.under_way = None if state.phase is Phase.IDLE else state.round_no
        return made


def scenario_rounds(path: Path) -> Journalled:
    """A scripted round with its irregularities."""
    people = People(load(path))
    people.play()
    made = people.journalled(path.stem)
    made.irregular = sorted({clause for one in people.scenario.rounds for clause in one.clauses})
    return made


def people_rounds(game: str, seed: int, rounds: int) -> Journalled:
    """Random people; device faults, a link that goes away, and the power, once."""
    rng = Random(f"people {game} {seed}")
    plain = load(find(PLAIN[game]))
    layout = load_layout(plain.layout_path)
    seeded = rng.randrange(1 << 30)
    told = random_rounds(game, layout, seeded, rounds, players=PLAYERS, faults=True)
    steps = [step for one in told for step in one]
    irregular = ["device faults"]
    if game in ("MBS3", "MEGA") and rng.random() < 0.5:
        steps = list(_link_goes(steps, rng))
        irregular.append("link lost")
    cut_at = rng.randrange(60, 60 + 120 * rounds) if rng.random() < 0.5 else 0
    people = People(_scenario(plain, steps, seed), cut_at=cut_at, seed=seed)
    try:
        people.play()
    except AssertionError:
        irregular.append(STUCK)  # what was played until then is replayed all the same
    if people.cuts:
        irregular.append("power cut")
    made = people.journalled(f"people {game} {seed}")
    made.irregular = irregular
    return made


def _scenario(plain: Scenario, steps: list[Step], seed: int) -> Scenario:
    return replace(plain, steps=tuple(steps), cards=(), seed=seed, rounds=())


def _link_goes(steps: list[Step], rng: Random) -> Iterator[Step]:
    closings = [n for n, step in enumerate(steps) if step.verb == "closes"]
    at = rng.choice(closings)
    for number, step in enumerate(steps):
        yield step
        if number == at:
            for text in ("link lost", "wait 500", "link back"):
                told = parse_step(0, text)
                assert told is not None
                yield told


# --- on a real disk -------------------------------------------------------------------------------


class LoggedPeople(People):
    """People whose table keeps a frame log."""

    def __post_init__(self) -> None:
        self.frames: list[tuple[str, Direction, bytes, int]] = []
        super().__post_init__()

    def _frame(self, port: str, direction: Direction, data: bytes, at_us: int) -> None:
        self.frames.append((port, direction, data, at_us))

    def save(self, folder: Path) -> Path:
        """Journal, frame log and key as they lie beside each other; returns the journal."""
        journal = folder / "journal"
        journal.mkdir(parents=True)
        for name, inode in self.disk.names_seen.items():
            (journal / name).write_bytes(inode.seen)
        cards = frozenset({"shoe", "shuffler"})
        frames = open_frames(journal, CRASH_KEY, Random(1).randbytes, cards)
        for one in self.frames:
            frames.note(*one)
            frames.write_away()
        frames.close()
        key = folder / "sealing.key"
        key.write_text(f"{KEY_WORD} {bytes(range(32)).hex()}\n", "ascii")
        key.chmod(0o400)
        return journal
