"""Tables to keep: whole simulated ones, desks with random trouble, and some on the link."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch

from controller.daemon.linking import Link as TableLink
from controller.daemon.linking import LinkPlan, Put
from controller.history.memory import Memory
from controller.history.sealing import CardSealer
from controller.history.snapshot import Opening, StateDigest
from controller.history.table_log import TableLog
from controller.rules.cards import DECK
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase, TableState
from hw_sim.layout import load as load_layout
from hw_sim.people.random_play import random_rounds
from hw_sim.scenario import find, load
from record.journal import Journal
from record.link.codec import encode, from_server
from record.link.events import Claimed
from record.link.messages import Event
from tests.clauses.tables import SETTINGS
from tests.controller.history.desk import OnDisk
from tests.controller.link.linked import PEOPLE_US, LinkedTable
from tests.crash.proofs import _close_the_day
from tests.golden.files import TABLE_KEY
from tests.golden.server import Link
from tests.link.people import PASSWORD
from tests.properties.random_play import Chaos, random_wagers
from tests.replays.playing import PLAIN, PLAYERS, LoggedPeople
from tests.sim.table import SEGMENT, TODAY, VirtualTable

SCENARIOS: Final = (
    "mbs3-royal", "mbs3-envy-without", "mbs3-count-too-late", "mbs3-shuffler",
    "mbs3-double-feed", "mbs3-short-deck",
    "mega-royal", "mega-plain", "mega-unequal", "mega-dealt-wrong",
    "nsw-vouchers", "nsw-unequal-after-handling", "nsw-shuffler-unfit", "nsw-disruption",
    "nsw-stray-hand", "nsw-same-backs", "nsw-exposed-community", "nsw-absent-player",
    "nsw-sanction", "nsw-ride-all", "nsw-missing-card-when-paying", "nsw-cut-card",
    "pp6-put-back", "pp6-shuffler-plain", "pp6-ridden-chips-gone",
    "rico-split", "rico-orphan-carry", "rico-dealt-wrong", "rico-misread", "rico-duplicate",
)  # fmt: skip
"""Between them every fact, event and ruling that a scenario brings: jackpot claims, envy, void and
frozen rounds, late counts, corrections, credits."""
WITH_FRAMES: Final = ("pp6-put-back",)
CLOSES_THE_DAY: Final = ("mbs3-royal", "rico-split")
MISCHIEF: Final[tuple[tuple[str, dict[str, Any], int], ...]] = (
    ("MBS3", {}, 13), ("MEGA", {}, 1), ("NSW", {}, 10), ("PP6", {}, 2), ("RICO", {}, 13),
)  # fmt: skip
"""Rounds in which half of all that is said is mischief: facts that no scenario has."""
MISCHIEF_ROUNDS: Final = 3
LONG: Final = (("NSW", 4, 150), ("MBS3", 4, 150))
"""Three rounds of random people in small segments; faults of devices, a power cut."""
LINKED: Final = (("mbs3-royal", "T1"), ("mega-straight-flush", "T2"))
"""On the link server of ``link.tsv``."""
SMALL: Final = 64 << 10
"""Bytes of a segment at the long tables."""


@dataclass
class Kept:
    """A table's files and what it says of itself."""

    name: str
    files: dict[str, bytes]
    told: dict[str, Any]


def digest_of(state: TableState) -> str:
    return StateDigest().of(state)


@contextmanager
def fixed_chance(name: str) -> Iterator[None]:
    noise = Random(f"golden {name}")
    with patch.object(secrets, "token_bytes", lambda size=32: noise.randbytes(size or 32)):
        yield


def _told(opening: Opening, state: TableState, journal: Journal) -> dict[str, Any]:
    return {
        "game": opening.game,
        "settings": dict(opening.settings),
        "on": opening.on,
        "journal_id": journal.journal_id,
        "head": journal.head.hex(),
        "last_seq": journal.next_seq - 1,
        "phase": state.phase.value,
        "state": digest_of(state),
    }


def of_folder(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _frames(table: LoggedPeople, folder: Path) -> dict[str, bytes]:
    table.save(folder)
    found = of_folder(folder)
    return {name: data for name, data in found.items() if name.startswith("frames/")}


def _played(table: LoggedPeople, folder: Path, name: str, *, frames: bool) -> Kept:
    with fixed_chance(name):
        table.play()
        if name in CLOSES_THE_DAY:
            _close_the_day(table)
        table.writer.stop("the end")
    kept = whole_table(name, table)
    if frames:
        kept.files |= _frames(table, folder)
        kept.told["frames"] = len(table.frames)
    return kept


def whole_table(name: str, table: VirtualTable) -> Kept:
    scenario = table.scenario
    opening = Opening(scenario.game, scenario.settings, TODAY.isoformat())
    told = _told(opening, table.writer.core.state, table.journal)
    return Kept(name, journal_files(table), told)


def scenario_table(name: str, folder: Path) -> Kept:
    table = LoggedPeople(load(find(name)), segment=SEGMENT)
    return _played(table, folder, name, frames=name in WITH_FRAMES)


def long_table(game: str, seed: int, cut_at: int, folder: Path) -> Kept:
    plain = load(find(PLAIN[game]))
    told = random_rounds(
        game, load_layout(plain.layout_path), seed, 3, players=PLAYERS, faults=True
    )
    steps = tuple(step for one in told for step in one)
    scenario = replace(plain, steps=steps, cards=(), seed=seed, rounds=())
    table = LoggedPeople(scenario, cut_at=cut_at, seed=seed, segment=SMALL)
    return _played(table, folder, f"{game.lower()}-long", frames=False)


class Mischief(Chaos):
    """Its dealer is told to do anything; what the engine accepts goes through the table_log."""

    def writes(self, table_log: TableLog) -> None:
        self.told = lambda fact, effects: self._write(table_log, fact, effects)

    @staticmethod
    def _write(table_log: TableLog, fact: f.Fact, effects: tuple[fx.Effect, ...]) -> None:
        if not any(isinstance(effect, fx.Refused) for effect in effects):
            table_log.apply(fact, None)
            if table_log.snapshot_due:
                table_log.write_snapshot()


def mischief_table(game: str, changes: dict[str, Any], seed: int, folder: Path) -> Kept:
    name = f"{game.lower()}-mischief"
    opening = Opening(game, {**SETTINGS[game], **changes}, TODAY.isoformat())
    with fixed_chance(name):
        journal = Journal.open(folder / "journal", table=name, segment_bytes=SEGMENT, now_ms=1)
    paper = OnDisk(journal=journal)
    sealer = CardSealer(TABLE_KEY, journal.journal_id, Random(f"cards of {name}").randbytes)
    dealer = Mischief(opening.state(), list(DECK), rng=Random(seed))
    table_log = TableLog(Memory(dealer.state, opening), paper, sealer, paper.wall_ms)
    table_log.write_snapshot()
    dealer.writes(table_log)
    for _ in range(MISCHIEF_ROUNDS):
        for mischief, most in ((0.5, 60), (0.0, 400)):
            dealer.mischief, dealer.wagers = mischief, random_wagers(dealer)
            for _ in range(most):
                dealer.step_once()
                if dealer.state.phase is Phase.IDLE and not mischief:
                    break
    journal.sync()
    told = _told(opening, dealer.state, journal)
    journal.close()
    files = {n: d for n, d in of_folder(folder).items() if n.endswith(".ufj")}
    return Kept(name, files, told)


# --- on the link ----------------------------------------------------------------------------------


class Linked(LinkedTable):
    """Its server is the product's, in the same virtual time; staff orders verify what is locked."""

    link: Link
    name: str

    def _network(self, plan: LinkPlan, put: Put) -> TableLink:
        identity = replace(plan.identity, table=self.name)
        return super()._network(replace(plan, identity=identity), put)

    def _arrive(self, message: Any) -> None:
        for frame in self.link.hears(self._ms(), self.name, encode(message)):
            self._wire(partial(self._answer, from_server(frame)))
        if isinstance(message, Event) and isinstance(message.body, Claimed):
            self.bench.clock.after(PEOPLE_US, self._verify)

    def _verify(self) -> None:
        for what, who in (("verify", "k.lee"), ("approve", "m.ng"), ("approve", "k.lee")):
            for award in self._awards():
                self.link.asked(self._ms(), order({"what": what, "award": award}, who))
        for frame in self.link.unheard.pop(self.name, []):
            self._wire(partial(self._answer, from_server(frame)))

    def _awards(self) -> list[str]:
        rows = self.link.asked(self._ms(), '{"verb":"awards"}')["awards"]
        return [row["award"] for row in rows if row["table"] == self.name]


def order(what: dict[str, Any], *people: str) -> str:
    by = [[name, PASSWORD] for name in people]
    return json.dumps({"verb": "order", "by": by, "order": what})


LINKED_FILES: Final = Path(__file__).parent.parent / "link" / "floor"


def linked_table(scenario: str, name: str, link: Link) -> Kept:
    kept = f"linked-{name.lower()}"
    with fixed_chance(kept):
        table = Linked(load(LINKED_FILES / f"{scenario}.toml"))
        table.link, table.name = link, name
        table.play()
        table.drain()
    return whole_table(kept, table)


def journal_files(table: VirtualTable) -> dict[str, bytes]:
    seen = table.disk.names_seen
    return {
        f"journal/{name}": bytes(seen[name].seen) for name in sorted(seen) if name.endswith(".ufj")
    }
