"""What people see and read of the table, made by the writer from what it owns, for its feed.

Nothing here names a closed card: the felt has a type for one, and what the table waits for does not
depend on it. Parts are made again only when what they are made of has changed, so a group in which
nothing happens costs next to nothing, followed or not.

All of it is for those who watch. A fault in it is reported as a trouble, and the table plays on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from controller.daemon.inputs import Input
from controller.faults.status import LampStatus, Parts, WhyStatus
from controller.history.table_log import Happened
from controller.replay.felt import felt
from controller.replay.telling import live
from controller.rules.engine.state import TableState
from controller.table.amounts import Amounts
from controller.table.asks import Ask
from controller.table.why import clause, due, sentence
from drivers.base import DeviceState, StateReported
from drivers.orders import ShowLamps
from drivers.readings import Shown

if TYPE_CHECKING:
    from controller.daemon.writer import Writer

METERS: Final = ("meter-1", "meter-2", "meter-3")
COLUMNS: Final = 20
CELLS: Final = 4 * COLUMNS
Made = TypeVar("Made")


class Picture:
    def __init__(self) -> None:
        self.now: Parts = {}
        """The parts as they were last made. One that did not change stays the same object."""
        self.fault = ""
        """The type of the last exception here. Its text is never kept: it might name a card."""
        self._state: TableState | None = None
        self._around: tuple[object, ...] = ()
        """What they were made of."""
        self._memories: dict[str, bytes] = {}
        """What was read back from each display that has memory."""
        self._noted = 0
        """How often one of these changed."""

    def note(self, reading: Input) -> None:
        """What a display holds; unknown once its device is."""
        match reading:
            case Shown(device, _, _, memory) if memory:
                self._memories[device] = memory
            case StateReported(device, DeviceState.UNKNOWN):
                self._memories.pop(device, None)
            case _:
                return
        self._noted += 1

    def parts(self, writer: Writer) -> Parts:
        """After a fault those before it; none if there are none."""
        return self._kept(lambda: self._parts(writer), self.now)

    def news(self, happened: Iterable[Happened]) -> tuple[dict[str, Any], ...]:
        """Entries for those who follow; one that cannot be told is left out."""
        told = (self._kept(partial(live, one), None) for one in happened)
        return tuple(row for row in told if row is not None)

    def _kept(self, make: Callable[[], Made], instead: Made) -> Made:
        try:
            return make()
        except Exception as error:  # an end of the table for a sentence on a page is worse
            self.fault = type(error).__name__
            return instead

    def _parts(self, writer: Writer) -> Parts:
        core, locked = writer.core, writer.locked
        state, lamps, amounts = core.state, core.lamps_now(), core.options.amounts
        waits = None if locked else asked(writer)
        around = (lamps, waits, locked, amounts, self._noted)
        # A state is never changed, so another one is another object; comparing all of it is slow.
        if state is self._state and around == self._around:
            return self.now
        made: Parts = {
            "table": _table(state, amounts),
            "felt": felt(state).row(),
            "lamps": _lamps(lamps, state),
            "beacon": lamps.beacon,
            "why": _why(locked, waits, state),
            "displays": displays(self._memories),
        }
        before: Mapping[str, object] = self.now
        kept = {name: before[name] for name, part in made.items() if before.get(name) == part}
        self.now = cast(Parts, {**made, **kept})
        self._state, self._around = state, around
        return self.now


def asked(writer: Writer) -> Ask:
    """What the table waits for; one that is locked out waits for something else."""
    return Ask("test mode", ()) if writer.test.is_on else writer.core.ask_now()


def _table(state: TableState, amounts: Amounts) -> dict[str, Any]:
    book, settings = state.rules.book, state.rules.table
    return {
        "game": book.key,
        "title": book.title,
        "currency": amounts.currency,
        "decimals": amounts.decimals,
        "seats": list(range(1, settings.seats + 1)),
        "spots": list(book.wagers),
        "limits": {"min_cents": state.min_wager, "max_cents": state.max_wager},
        "credit_cents": settings.credit_cents,
        "card_device": settings.card_device,
    }


def _lamps(lamps: ShowLamps, state: TableState) -> list[LampStatus]:
    seats = state.rules.table.seats
    return [{"seat": n, "lamp": lamp} for n, lamp in enumerate(lamps.seats[:seats], 1)]


def _why(locked: str, ask: Ask | None, state: TableState) -> WhyStatus:
    if ask is None:
        text = f"The table is locked out: {locked}."
        return {"text": text, "clause": "", "do": "", "code": "locked out", "seat": None}
    return {
        "text": sentence(ask),
        "clause": clause(ask, state),
        "do": due(ask),
        "code": ask.code,
        "seat": ask.seat,
    }


def displays(memories: Mapping[str, bytes]) -> dict[str, Any]:
    """The boards' memory in hexadecimal, as it was read back; a board in doubt is left out."""
    prompt = memories.get("prompt", b"")
    lines = [prompt[n : n + COLUMNS].hex() for n in range(0, CELLS, COLUMNS)]
    return {
        "meter": [memories[name].hex() for name in METERS if name in memories],
        "magic": memories.get("magic", b"").hex(),
        "prompt": {"ddram": lines, "cgram": prompt[CELLS:].hex()} if prompt else None,
    }
