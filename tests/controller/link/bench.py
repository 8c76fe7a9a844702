"""A table with its link and without devices: the server speaks, the journal is read."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from controller.config.live import load_live
from controller.daemon.compose import KINDS, compose
from controller.daemon.linking import no_network
from controller.daemon.setup import SystemClock, setup_of
from controller.daemon.writer import Input, Released, Told
from controller.history.entries import load as body_of
from controller.link.hearing import Heard
from controller.rules.cards import HiddenCard, cards
from controller.rules.engine import facts as f
from controller.table.staff import DEALER_1
from hw_sim.scenario import HERE, find, load
from record.link.messages import (
    MeterValue,
)
from tests.controller.link.files import with_link
from tests.e2e.table import configure

MS = 1_000
SECOND = 1_000_000
LIMIT = 5 * SECOND
CHIPS = "uid,value,class,series\nE004010100000001,100,cash,sim\n"
SHOE, ACCEPTORS = f.Measured("shoe"), f.Measured("acceptors")


START_US = 100 * SECOND


def files(folder: Path, game: str, layout: str, **changes: Any) -> Path:
    shutil.copy(HERE / "tables" / f"{layout}.toml", folder / "layout.toml")
    (folder / "chips.csv").write_text(CHIPS, "utf-8")
    settings = load(find(f"{layout}-plain")).settings
    config = configure(folder, game, {**settings, **changes})
    with_link(config, ["tcp://127.0.0.1:5701"], limit_ms=LIMIT // MS)
    return folder


class AtStart(SystemClock):
    """The table is made when the bench begins, not when the machine was started."""

    def now_us(self) -> int:
        return START_US


class Bench:
    """A writer on a real journal with nobody at its devices, and a clock."""

    def __init__(self, folder: Path) -> None:
        config = load_live(folder / "table.toml", KINDS)
        clock = AtStart()
        setup = setup_of(config, clock=clock)
        self.table = compose(setup, clock=clock, network=no_network)
        self.writer = self.table.writer
        assert self.writer.hearing is not None
        assert self.writer.hearing.limit_us == LIMIT
        self.now_us = START_US
        self.outbox: list[Any] = []
        self.first = self.writer.start(self.now_us)

    @property
    def state(self) -> Any:
        return self.writer.core.state

    def work(self, *inputs: Input) -> Released:
        released = self.writer.work(inputs, self.now_us)
        self.outbox += [event.body for event in released.outbox]
        return released

    def tell(self, what: f.What, by: f.Source = DEALER_1) -> Released:
        return self.work(Told(what, by))

    def alive(self) -> Released:
        """A heartbeat that was asked for just now."""
        return self.work(Heard(asked_us=self.now_us))

    def hears(self, *messages: Any) -> Released:
        return self.work(*(Heard(message) for message in messages))

    def wait(self, us: int) -> None:
        self.now_us += us

    def wait_alive(self, us: int) -> None:
        """With a heartbeat every second."""
        end = self.now_us + us
        while self.now_us < end:
            self.now_us = min(end, self.now_us + SECOND)
            self.alive()

    def facts(self) -> list[str]:
        found = (r for r in self.table.journal.records() if r.kind == "fact")
        return [body_of(record.body)["what"] for record in found]

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [body_of(r.body) for r in self.table.journal.records() if r.kind == kind]

    def bets(self, seats: tuple[int, ...] = (2,)) -> None:
        self.tell(f.DeckShuffled("red"), SHOE)
        self.tell(f.DeckCut())
        self.tell(f.BetsOpened())
        for seat in seats:
            for spot in ("1", "2", "$"):
                self.tell(f.WagerRead(seat, spot, 1000), f.Measured("chips"))
            self.tell(f.CreditsRead(seat, 1), ACCEPTORS)

    def to_claim(self, dealt: str = "5h6h8h7h9h") -> None:
        """Seat 2 holds a straight flush, opened; the claim is on its way."""
        self.alive()
        self.bets()
        self.tell(f.BetsClosed())
        for one in cards(dealt):
            self.tell(f.CardDrawn(HiddenCard(one)), SHOE)
        for number in (1, 2):
            self.tell(f.Decided(2, str(number), "ride"))
            self.tell(f.CommunityTurned(number))
        self.tell(f.HandOpened(2))


def meter(cents: int, generation: int = 1, pending: int = 0) -> MeterValue:
    return MeterValue("main", "grand", cents, generation, pending)
