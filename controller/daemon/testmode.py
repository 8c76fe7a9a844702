"""Test mode at the table: it is out of play, and no reading becomes a fact.

All of it belongs to the writer's thread. What a device says goes to one of five places; what must
not be lost waits until the end. The state before and after is the same, and the records of begin
and end prove it with its digest. The guided tests are the shell's (controller/shell/testing).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

from controller.daemon.inputs import Blocked, Input, Told
from controller.faults.status import AuthorRow, Tester
from controller.history.entries import dump
from controller.history.replay import BEGIN, END, READING, TEST, LeftOn
from controller.history.table_log import TableLog
from controller.rules.engine.entries import ACCEPTORS
from controller.rules.engine.state import Phase
from controller.table.core import TableCore
from controller.table.prompt import Lines, Notice, spread
from controller.table.texts import COLUMNS
from drivers.base import StateReported
from drivers.orders import (
    SEATS,
    AcknowledgeReading,
    EnableAcceptors,
    Lamp,
    LockCards,
    Order,
    ShowLamps,
    ShowMagicCard,
    ShowMeter,
    ShowPrompt,
    ShowSign,
    WatchAntennas,
)
from drivers.readings import (
    CardEvent,
    CardRead,
    CreditReturned,
    CreditTaken,
    PacketRead,
    Reading,
    SupplyRead,
    SwitchRead,
)

RESTARTED: Final = "the table started again"
STOPPED: Final = "the table stops"
POWER: Final = "the power fails"
CHANGED: Final = "another configuration is taken"
LOADS: Final = ("loaded", "shuffle ended")
_OFF: Final[Lamp] = "off"

Place = Literal["table", "later", "card", "power", "nowhere"]


class TestMode:
    """``left_on``: the run before this one ended in test mode."""

    def __init__(self, core: TableCore, log: TableLog, *, left_on: LeftOn | None = None) -> None:
        self._core, self._log = core, log
        self._left_on = left_on
        self.by: AuthorRow | None = None
        """Who has it: uid, user, role. None: it is off."""
        self.ended = ""
        """Why the last one ended."""
        self._cards = False
        """Cards may be drawn: the test of the card device is under way."""
        self._drawn = 0
        """Cards drawn since a deck was last loaded."""
        self._later: list[Input] = []
        self._levels: dict[tuple[str, str], Reading] = {}
        """The last report of the acceptors and of every switch that makes facts."""

    @property
    def is_on(self) -> bool:
        return self.by is not None

    def told(self) -> Tester | None:
        return None if self.by is None else {**self.by, "cards": self._cards}

    # --- beginning and ending ------------------------------------------------------------------

    def restarted(self) -> None:
        """A test mode ends with its process; the next one writes it down."""
        if self._left_on is not None:
            self._drawn, self._left_on = self._left_on.drawn, None
            self.end(RESTARTED)

    def begin(self, by: AuthorRow) -> None:
        self.by = by.copy()
        self._record({"event": BEGIN, "by": dict(by), "state": self._digest})

    def draw_cards(self, on: bool) -> None:
        """From here on a card that is drawn belongs to the test; or no longer."""
        self._cards = on and self.is_on

    def end(self, why: str) -> list[Input]:
        """It is over; returns what has waited, in order."""
        self._record({"event": END, "why": why, "state": self._digest})
        if self._drawn:  # stays until a deck is loaded
            self._core.notices.add(Notice("deck empty", cause="deck"))
        self.ended = why
        waited: list[Input] = [*self._levels.values(), *self._later]
        self.by, self._cards, self._later, self._levels = None, False, [], {}
        self._drawn = 0
        return waited

    @property
    def _digest(self) -> str:
        return self._log.memory.digest

    def _record(self, body: Mapping[str, Any]) -> None:
        self._log.append(TEST, dump(body))

    # --- readings ------------------------------------------------------------------------------

    def place(self, one: Reading) -> Place:
        """Where a reading goes while the test is on; what must wait is kept here."""
        match one:
            case SwitchRead(name="power_fail", on=True):
                return "power"
            case StateReported(device=device) if device == ACCEPTORS:
                self._levels["state", device] = one
                return "later"
            case SwitchRead(name=name) if name.startswith("progressive"):
                self._levels["switch", name] = one
                return "later"
            case StateReported() | SupplyRead() | SwitchRead():
                return "table"
            case CardRead() | PacketRead() | CardEvent() if self._cards:
                return "card" if one.key else "nowhere"
            case CardRead() | PacketRead() | CardEvent() | CreditTaken() | CreditReturned():
                self._later.append(one)
                return "later"
            case _:
                return "nowhere"  # keys, chips, credits that are offered: none of it counts

    def drew(self, reading: Reading) -> AcknowledgeReading:
        """A reading of the card test: its record says which reading it was, not which card."""
        assert isinstance(reading, CardRead | PacketRead | CardEvent)
        if isinstance(reading, CardEvent):
            self._drawn = 0 if reading.kind in LOADS else self._drawn
        else:
            self._drawn += 1
        which = {"device": reading.device, "key": reading.key, "drawn": self._drawn}
        self._record({"event": READING, **which})
        self._log.tested((reading.device, reading.key))
        return AcknowledgeReading(reading.device, reading.key)

    def later(self, fact: Told) -> None:
        """From another part of the table: it waits."""
        self._later.append(fact)

    # --- what the table shows ------------------------------------------------------------------

    def lines(self) -> Lines:
        texts = self._core.prompter.texts
        user = "" if self.by is None else self.by["user"]
        first = spread(texts["state"]["test mode"], f"R {self._core.state.round_no}")
        named = "".join(c if " " <= c <= "}" and c != "\\" else "?" for c in user.upper())
        return first, named[:COLUMNS], texts["ask"]["test mode"], ""

    def orders(self) -> list[Order]:
        """The table out of play: nothing is taken, nothing is given, everybody sees it."""
        return [
            LockCards(True),
            EnableAcceptors(frozenset()),
            WatchAntennas(frozenset()),
            ShowLamps((_OFF,) * SEATS, beacon=True),
            ShowPrompt(self.lines()),
        ]

    def picture(self) -> list[Order]:
        """After a guided test: what players see is what they saw, and the table is out of play."""
        public = ShowMeter | ShowSign | ShowMagicCard
        seen = [order for order in self._core.orders_now() if isinstance(order, public)]
        return [*seen, *self.orders()] if self.is_on else []


class Stands(Protocol):
    """The table's writer, as far as it decides."""

    locked: str
    core: TableCore
    test: TestMode

    @property
    def is_full(self) -> bool: ...


def blocked(writer: Stands) -> Blocked | None:
    """Only a table that is between rounds, with nothing locked or waiting, can be tested."""
    core = writer.core
    state = core.state
    if writer.test.by is not None:
        by = writer.test.by
        return Blocked(f"{by.get('user') or by.get('uid')} has test mode", taken=True)
    if writer.locked:
        return Blocked(f"the table is locked out: {writer.locked}")
    if state.phase is not Phase.IDLE:
        return Blocked(f"round {state.round_no}: {state.phase.value}", in_round=True)
    if waiting := [award for award in state.awards if award.pending]:
        return Blocked(f"{len(waiting)} jackpot{'s wait' if waiting[1:] else ' waits'} for people")
    if core.credits.doubt:
        seat = min(core.credits.doubt)
        return Blocked(f"the credit of seat {seat} is in doubt: a supervisor rules on it")
    if core.credits.untaken:
        return Blocked("a credit is still on its way into an acceptor")
    if core.health.power_fail or core.health.overrun:
        return Blocked("the power fails, or readings were lost: wait until all is read again")
    if writer.is_full:
        return Blocked("the disk is full: what is done could not be written down")
    return None
