"""Test mode, as the writer keeps it: the table stands still, and no reading becomes a fact.

Pure. What a device says is put in one of five places; what must not be lost waits until the end.
The state before and after is the same, and the records of begin and end say so with its digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from controller.history.replay import READING
from controller.rules.engine.entries import ACCEPTORS
from controller.rules.engine.state import Phase
from controller.table.core import TableCore
from controller.table.prompt import Lines, spread
from controller.table.texts import COLUMNS
from drivers.base import StateReported
from drivers.orders import (
    SEATS,
    EnableAcceptors,
    Lamp,
    LockCards,
    Order,
    ShowLamps,
    ShowPrompt,
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

if TYPE_CHECKING:
    from controller.daemon.inputs import Input, Told

RESTARTED: Final = "the table started again"
POWER: Final = "the power fails"
CHANGED: Final = "another configuration is taken"
LOADS: Final = ("loaded", "shuffle ended")
_OFF: Final[Lamp] = "off"
_CARDS: Final = (CardRead, PacketRead, CardEvent)

Place = Literal["table", "later", "card", "power", "nowhere"]


class Blocked(NamedTuple):
    """Why not now. ``taken``: somebody has test mode; ``in_round``: because of the round."""

    why: str
    taken: bool = False
    in_round: bool = False


class Stands(Protocol):
    """The table's writer, as far as it decides."""

    locked: str
    core: TableCore
    test: TestMode

    @property
    def is_full(self) -> bool: ...


@dataclass(slots=True)
class TestMode:
    by: Mapping[str, Any] | None = None
    """Who has it: uid, user, role. None: it is off."""
    cards: bool = False
    """Cards may be drawn: the test of the card device is under way."""
    drawn: int = 0
    """Cards drawn since a deck was last loaded."""
    ended: str = ""
    """Why the last one ended."""
    left_on: bool = False
    """The run before this one ended in test mode."""
    _later: list[Input] = field(default_factory=list)
    _levels: dict[tuple[str, str], Reading] = field(default_factory=dict)
    """The last word of acceptors and of every switch that makes facts."""

    @property
    def is_on(self) -> bool:
        return self.by is not None

    def told(self) -> dict[str, Any] | None:
        return None if self.by is None else {**self.by, "cards": self.cards}

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
            case CardRead() | PacketRead() | CardEvent() if self.cards:
                return "card" if one.key else "nowhere"
            case CardRead() | PacketRead() | CardEvent() | CreditTaken() | CreditReturned():
                self._later.append(one)
                return "later"
            case _:
                return "nowhere"  # keys, chips, credits that are offered: nothing of it counts

    def drew(self, reading: Reading) -> dict[str, Any]:
        """A reading of the card test, as its record: which it was, not which card."""
        assert isinstance(reading, _CARDS)
        if isinstance(reading, CardEvent):
            self.drawn = 0 if reading.kind in LOADS else self.drawn
        else:
            self.drawn += 1
        return {"event": READING, "device": reading.device, "key": reading.key}

    def later(self, fact: Told) -> None:
        """Told by another part of the table: it waits."""
        self._later.append(fact)

    def off(self, why: str = "") -> list[Input]:
        """It ends; what has waited, in order."""
        self.ended = why
        waited: list[Input] = [*self._levels.values(), *self._later]
        self.by, self.cards, self._later, self._levels = None, False, [], {}
        return waited

    def lines(self, core: TableCore) -> Lines:
        texts = core.prompter.texts
        user = str((self.by or {}).get("user", ""))
        first = spread(texts["state"]["test mode"], f"R {core.state.round_no}")
        named = "".join(c if " " <= c <= "}" and c != "\\" else "?" for c in user.upper())
        return first, named[:COLUMNS], texts["ask"]["test mode"], ""

    def orders(self, core: TableCore) -> list[Order]:
        """The table out of play: nothing is taken, nothing is given, everybody sees it."""
        return [
            LockCards(True),
            EnableAcceptors(frozenset()),
            WatchAntennas(frozenset()),
            ShowLamps((_OFF,) * SEATS, beacon=True),
            ShowPrompt(self.lines(core)),
        ]


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
        return Blocked("the power fails, or readings were lost: wait until all is read anew")
    if writer.is_full:
        return Blocked("the disk is full: what is done could not be written down")
    return None
