"""Which events were taken, which are copies, and whether a device's counting has a hole.

Pure bookkeeping over keys and positions (docs/protocols/card-devices.md sections 4 and 5). A
position is (load, number): the shoe's load and draw, or the shuffle and packet. Holds payloads in
memory to tell a copy from another event of the same name, and shows them to nobody.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from drivers.cards.codec import key_of, number_of, parts_of
from drivers.cards.messages import Event, Status, Type

REMEMBERED_MAX: Final = 16
"""Keys kept. Only the last can rightly come again; the rest catch a device that repeats more."""

_NUMBERED: Final = frozenset(
    {Type.CARD, Type.BURN, Type.CUT_CARD, Type.MISREAD, Type.DOUBLE_FEED, Type.PACKET}
)
_LOADS: Final = frozenset({Type.SHOE_LOADED, Type.SHUFFLE_START})

Position = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Break:
    """A break in the counting: numbers are missing, or it went backwards."""

    kind: Literal["gap", "backwards"]
    number: int
    """Gap: the first missing. Backwards: the number that came."""
    count: int = 0
    """Gap: how many are missing; 0 if the load changed unseen and nobody knows."""
    expected: int = 0


@dataclass(frozen=True, slots=True)
class Durable:
    """An event on disk, and the frame it came in; nothing is known of one from before our start."""

    payload: bytes | None = field(default=None, repr=False)
    session: int = -1
    seq: int = -1


class Continuity:
    __slots__ = ("_before", "_durable", "_load_id", "_position")

    def __init__(self, durable: Iterable[int] = ()) -> None:
        self._durable: OrderedDict[int, Durable] = OrderedDict()
        self._load_id = 0
        self._position: Position | None = None
        self._before: Position | None = None
        """The position before the last event: where a device stands whose ACK was lost."""
        for key in durable:
            kind, group, number = parts_of(key)
            self._before = self._position
            if kind in _NUMBERED:
                self._position = (group, number)
            elif kind in _LOADS:
                self._position = (number, 0)
            self.made_durable(key, Durable())

    def key(self, kind: int, event: Event) -> int:
        return key_of(kind, event, self._load_id)

    def made_durable(self, key: int, how: Durable) -> None:
        self._durable[key] = how
        self._durable.move_to_end(key)
        while len(self._durable) > REMEMBERED_MAX:
            self._durable.popitem(last=False)

    def durable(self, key: int) -> Durable | None:
        return self._durable.get(key)

    def follow(self, kind: int, event: Event) -> None:
        """A copy of a load still says which load the next events belong to."""
        if kind in _LOADS:
            self._load_id = number_of(event)

    def at_status(self, status: Status) -> list[Break]:
        """Compare where the device stands, by its last acknowledged event, with where we do."""
        here = (status.load_id, status.number)
        known = self._position
        self._load_id = status.load_id
        if known is None:
            self._position = self._before = here
            return []
        if here == known or (status.waiting and here == self._before):
            return []
        return [self._broken(here, known, missing=here[1] - known[1])]

    def take(self, kind: int, event: Event, *, reused: bool) -> list[Break]:
        """The event is new: where does it stand? ``reused``: its name belongs to another one."""
        number = number_of(event)
        known = self._position
        self._before = known
        if kind in _LOADS:
            self._load_id = number
            return self._loaded(number, known)
        if kind not in _NUMBERED:
            return [Break("backwards", number, expected=number + 1)] if reused else []
        here = (self._load_id, number)
        if known is None or here == (known[0], known[1] + 1):
            self._position = here
            return []
        return [self._broken(here, known, missing=number - known[1] - 1)]

    def _loaded(self, load_id: int, known: Position | None) -> list[Break]:
        here = (load_id, 0)
        if known is None or load_id == known[0] + 1:
            self._position = here
            return []
        return [self._broken(here, known, missing=0)]

    def _broken(self, here: Position, known: Position, missing: int) -> Break:
        self._position = here
        if here > known:
            same_load = here[0] == known[0]
            return Break("gap", known[1] + 1, count=missing if same_load else 0)
        # What comes now is unrelated to what was on disk before, so copies cannot be recognised.
        self._durable.clear()
        self._before = here
        return Break("backwards", here[1], expected=known[1] + 1)
