"""Random rounds at a desk: a real core and table log, displays that obey, and every irregularity
that people can report."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final

from controller.history.entries import dump
from controller.history.snapshot import ROUND, StateDigest, round_number
from controller.rules.engine.effects import Refused
from controller.rules.engine.facts import Fact
from controller.rules.engine.step import step
from drivers.orders import Order, ShowLamps, ShowMagicCard, ShowPrompt
from record.journal import Position
from tests.clauses.tables import SHUFFLER, table
from tests.controller.history import desk
from tests.controller.history.desk import Desk, WrittenTable
from tests.controller.table.test_table_any_round import WAGERS
from tests.paper import Paper, cards
from tests.replays.playing import Journalled, Witness
from tests.replays.telling import Deed

START_MS: Final = 1_700_000_000_000
TICK_MS: Final = 40


@dataclass
class Watched(Paper):
    """Paper that a witness reads over the table log's shoulder."""

    witness: Witness = field(default_factory=Witness)
    made: Desk | None = None
    at_ms: int = START_MS

    def wall_ms(self) -> int:
        """Every look at the clock is a tick later: no two records have the same time."""
        self.at_ms += TICK_MS
        return self.at_ms

    def append(self, kind: str, body: bytes, at_ms: int) -> Position:
        at = super().append(kind, body, at_ms)
        if kind == ROUND and self.made is not None:
            number = round_number(body)
            self.witness.digests[number] = StateDigest().of(self.made.table_log.memory.state)
        return at


@dataclass
class ShowingTable(WrittenTable):
    """Its displays obey at once: what was ordered is on the glass, and is read back from there."""

    paper: Watched | None = None
    shown: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.kept_log.before = self._witness

    def _witness(self, fact: Fact) -> None:
        """What the engine by itself makes of every fact that it accepts."""
        assert self.paper is not None
        state, effects = step(self.kept_log.state, fact)
        if not (effects and isinstance(effects[0], Refused)):
            deed = Deed(self.paper.next_seq, fact, tuple(effects), state)
            self.paper.witness.deeds.append(deed)

    def _heard(self, orders: list[Order]) -> list[Order]:
        heard = super()._heard(orders)
        for device, (content, seen) in self._glass().items():
            self._show(device, content, seen)
        return heard

    def _glass(self) -> dict[str, tuple[str, str]]:
        """Each display: what a driver reads back, and what a person sees."""
        ordered = {type(order): order for order in self.log}
        found: dict[str, tuple[str, str]] = {}
        for order in ordered.values():
            match order:
                case ShowPrompt(lines):
                    found["prompt"] = ("\n".join(lines), "\n".join(lines))
                case ShowLamps(seats):
                    lit = ", ".join(f"{n} {lamp}" for n, lamp in enumerate(seats, 1))
                    found["lamps-1"] = (lit, "|".join(seats))
                case ShowMagicCard(card):
                    found["magic"] = (card or "", card or "dark")
        return found

    def _show(self, device: str, content: str, seen: str) -> None:
        assert self.table_log is not None
        assert self.paper is not None
        if self.shown.get(device) != content:
            self.shown[device] = content
            body = {"device": device, "content": content, "at_us": self.now_us}
            self.table_log.append("shown", dump(body))
            self.paper.witness.shown.append((self.paper.rows[-1].at_ms, device, seen))


def desk_rounds(game: str, device: str, seed: int, rounds: int) -> Journalled:
    """Random rounds by the prompt alone, with whatever people report and supervisors answer."""
    changes = SHUFFLER[game] if device == "shuffler" else {}
    rng = Random(f"desk {game} {device} {seed}")
    croupier = table(game, **changes)
    rng.shuffle(croupier.deck)
    paper = Watched()
    showing = partial(ShowingTable, paper=paper)
    opening = desk.opening_of(game, **changes)
    made = desk.desk(croupier, opening, WAGERS[game], paper=paper, kind=showing)
    paper.made = made
    desk.play_rounds(made, rng, list(croupier.deck), rounds)
    for archive in made.state.history:
        paper.witness.results[archive.round_no] = archive.result
        paper.witness.standing[archive.round_no] = archive.current[1]
    found = Journalled(
        f"desk {game} {device} {seed}", game, list(paper.rows), cards(), paper.witness
    )
    found.desk = made
    found.irregular = sorted(
        {
            event["type"]
            for archive in made.state.history
            for event in archive.record["round"].get("events") or ()
        }
    )
    return found
