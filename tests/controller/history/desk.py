"""A table whose entries go through the table log into a list: the journal without a disk."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from controller.demo.scripted_dealer import ScriptedDealer
from controller.history.memory import Memory
from controller.history.replay import Replayed, replay
from controller.history.snapshot import Opening
from controller.history.table_log import TableLog
from controller.rules.cards import Card
from controller.rules.engine.state import Phase, TableState
from drivers.orders import AcknowledgeCredit, Order
from drivers.readings import CardEvent, CardRead, CreditOffered, CreditTaken, PacketRead, SealedCard
from record.journal import Journal, Position
from tests.clauses.tables import SETTINGS, SHUFFLER, TODAY, table
from tests.controller.table.console_player import ConsolePlayer, Table, byte_of
from tests.controller.table.test_table_any_round import WAGERS, play, rulings
from tests.paper import KeptLog, Noise, Paper, Row, cards

GAMES = [*((g, "shoe") for g in WAGERS), *((g, "shuffler") for g in SHUFFLER)]


def opening_of(game: str, **changes: Any) -> Opening:
    return Opening(game, {**SETTINGS[game], **changes}, TODAY.isoformat())


@dataclass
class WrittenTable(Table):
    """Devices number their readings here, and credits come from acceptors."""

    def _heard(self, orders: list[Order]) -> list[Order]:
        self.log += [o for o in orders if isinstance(o, AcknowledgeCredit)]
        super()._heard([o for o in orders if not isinstance(o, AcknowledgeCredit)])
        for order in orders:
            if isinstance(order, AcknowledgeCredit):
                self.feed(CreditTaken("acceptors", order.seat, order.number, self.now_us))
        return orders

    def card(self, card: Card, key: int = 0) -> list[Order]:
        self.draws += 1
        sealed = SealedCard(byte_of(card))
        return self.feed(CardRead("shoe", self.draws, sealed, self.now_us, key or self.draws))

    def packet(self, cards: list[Card], deck: str = "red") -> list[Order]:
        self.draws += 1
        sealed = tuple(SealedCard(byte_of(c)) for c in cards)
        key = self.draws
        return self.feed(PacketRead("shuffler", self.draws, deck, sealed, self.now_us, key))

    def event(self, kind: Any, **more: Any) -> list[Order]:
        self.draws += 1
        return self.feed(CardEvent("shuffler", kind, 1, at_us=self.now_us, key=self.draws, **more))

    def credit(self, seat: int, number: int) -> list[Order]:
        return self.feed(CreditOffered("acceptors", seat, number, self.now_us))


@dataclass
class Desk:
    """One table, its finger, its paper."""

    hand: ConsolePlayer
    paper: Paper
    table_log: TableLog
    opening: Opening
    noise: Noise

    @property
    def state(self) -> TableState:
        return self.hand.table.core.state

    def is_in(self, phase: Phase) -> bool:
        return self.state.phase is phase

    def back(self, rows: list[Row] | None = None, *, whole: bool = False) -> Replayed:
        return replay(self.paper.rows if rows is None else rows, cards(), self.opening, whole=whole)


@dataclass
class OnDisk(Paper):
    """The same, on a real journal; its clock goes on by a minute with every record."""

    journal: Journal | None = None
    at_ms: int = 1_773_144_000_000

    def append(self, kind: str, body: bytes, at_ms: int) -> Position:
        assert self.journal is not None
        at = self.journal.append(kind, body, at_ms)
        self.rows.append(Row(at.seq, kind, body, at_ms, at.hash))
        return at

    def wall_ms(self) -> int:
        self.at_ms += 60_000
        return self.at_ms


def desk(
    croupier: ScriptedDealer,
    opening: Opening,
    wagers: Any,
    noise: Noise | None = None,
    paper: Paper | None = None,
    *,
    kind: Callable[..., WrittenTable] = WrittenTable,
    **more: Any,
) -> Desk:
    noise = noise or Noise()
    paper = paper or Paper()
    table_log = KeptLog(Memory(croupier.state, opening), paper, noise)
    table_log.write_snapshot()
    table = kind(croupier.state, table_log=table_log)
    hand = ConsolePlayer(table, list(croupier.deck), wagers, **more)
    return Desk(hand, paper, table_log, opening, noise)


def random_desk(
    game: str, device: str, seed: int, *, rounds: int = 1, paper: Paper | None = None
) -> Desk:
    """Random rounds with irregularities, played by the prompt alone."""
    changes = SHUFFLER[game] if device == "shuffler" else {}
    rng = random.Random(f"{game} {device} {seed}")
    croupier = table(game, **changes)
    rng.shuffle(croupier.deck)
    made = desk(croupier, opening_of(game, **changes), WAGERS[game], paper=paper)
    play_rounds(made, rng, list(croupier.deck), rounds)
    return made


def play_rounds(
    made: Desk, rng: random.Random, deck: list[Card], rounds: int, *, plain: bool = False
) -> None:
    """So many rounds, with whatever goes wrong in them; ``plain``: nothing does."""
    hand = made.hand
    hand.last_packet = 2 if made.opening.game == "MBS3" else 3
    hand.rules = rulings(rng, hand)
    hand.back = lambda _s, _d: rng.random() < 0.5
    playing = {seat: rng.random() < 0.6 for seat in range(1, 8)}
    hand.plays = playing.__getitem__
    for _ in range(rounds):
        hand.placed = hand.middle_open = False
        clear(hand.table)
        hand.deck = list(deck)
        rng.shuffle(hand.deck)
        moments = {rng.randrange(8, 40) for _ in range(rng.choice((0, 1, 2)))}
        play(hand, rng, set() if plain else moments)


def clear(table: Table) -> None:
    """All chips leave; on the pot stays what nobody won."""
    for antenna, tags in list(table.lies.items()):
        spot = table.map.spot(antenna)
        if spot is not None and tags and spot[0]:
            table.lay(*spot, frozenset())
