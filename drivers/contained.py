"""A vendor's driver in a box: whatever it does, it can at worst stop its own device.

Every call is checked: an exception, a result of another shape, a reading in another device's name
or without end makes the device UNKNOWN with a code that names the driver and the method. The
machine is then thrown away, and a new one is made ten seconds later. What an exception says is not
told: it might name a card. A driver that never returns cannot be stopped from here; that is what
``drivers.transport.aside`` is for. Source: docs/protocols/vendor-drivers.md, section 5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from drivers.base import (
    MS,
    SECOND,
    Counters,
    DeviceIdentified,
    DeviceState,
    Fault,
    LineSettings,
    Reopen,
    StateReported,
    Write,
)
from drivers.layout import LineLayout
from drivers.machines import LineAction, LineDriver
from drivers.orders import Order
from drivers.readings import (
    AntennaFailed,
    AntennaRead,
    CardEvent,
    CardRead,
    MetersRead,
    PacketRead,
    SealedCard,
    Shown,
)

RAISED: Final = "E-DRV-001"
BLOCKED: Final = "E-DRV-002"
WRONG: Final = "E-DRV-003"
AGAIN_US: Final = 10 * SECOND
"""From a failure to the next machine."""
SOONEST_US: Final = MS
"""A driver is not let to run more often than this, whatever its ``wake_us``."""
MOST_ACTIONS: Final = 256
MOST_COUNTERS: Final = 256
LONGEST_WRITE: Final = 4096
LONGEST_TEXT: Final = 200
LARGEST: Final = (1 << 63) - 1
READINGS: Final = (
    AntennaFailed, AntennaRead, CardEvent, CardRead, MetersRead, PacketRead, Shown,
    DeviceIdentified, StateReported,
)  # fmt: skip
"""What a device on a line can report: keys, credits, pins and supply have wires of their own."""
MakeLine = Callable[[LineLayout], LineDriver]


OUTCOMES: Final = (Exception, SystemExit, GeneratorExit)
"""What may come out of somebody else's code."""


class _Wrong(Exception):
    """The driver broke its promise; the text is ours."""


class Contained:
    """A LineDriver that never raises. ``load`` gives what makes the vendor's machine."""

    def __init__(self, line: LineLayout, load: Callable[[], MakeLine]) -> None:
        self.name = line.name
        self.kind = line.kind
        self.counters: Counters = Counter()
        self.calling = ""
        """The method that is being called; empty between calls."""
        self._line = line
        self._load = load
        self._driver: LineDriver | None = None
        self._settings = LineSettings(9600)
        self._failed: Fault | None = None
        self._again_us: int | None = None
        self._due_us: int | None = None
        self._advanced_us = 0
        self._open = False

    # --- what the rig sees -----------------------------------------------------------------------

    @property
    def settings(self) -> LineSettings:
        """Makes the machine if there is none; a machine that cannot be made has none of its own."""
        self._make()
        return self._settings

    @property
    def known_settings(self) -> LineSettings:
        """Of the machine made last; makes none."""
        return self._settings

    @property
    def wake_us(self) -> int | None:
        return self._again_us if self._failed is not None else self._due_us

    def opened(self, now_us: int) -> list[LineAction]:
        self._open = True
        return self._call("opened", now_us, now_us)

    def closed(self, why: str, now_us: int) -> list[LineAction]:
        self._open = False
        return self._call("closed", now_us, why, now_us)

    def received(self, data: bytes, now_us: int) -> list[LineAction]:
        return self._call("received", now_us, data, now_us)

    def order(self, order: Order, now_us: int) -> list[LineAction]:
        return self._call("order", now_us, order, now_us)

    def advance(self, now_us: int) -> list[LineAction]:
        if self._failed is None:
            self._advanced_us = now_us
            return self._call("advance", now_us, now_us)
        if self._again_us is None or now_us < self._again_us:
            return []
        self._failed = self._again_us = None
        self.counters["machines made again"] += 1
        # What the line holds was meant for the machine before: begin with a freshly opened port.
        return [Reopen(Fault(RAISED, "a new machine"))] if self._open else []

    def blocked(self, where: str, now_us: int) -> list[LineAction]:
        """It has not returned for too long; what it returns one day is not wanted any more."""
        return self._fail(Fault(BLOCKED, f"{self.kind}: {where} does not return"), now_us)

    # --- the machine -----------------------------------------------------------------------------

    def _make(self) -> Fault | None:
        if self._driver is not None or self._failed is not None:
            return self._failed
        before, self.calling = self.counters[BLOCKED], "make"
        try:
            driver = self._load()(self._line)
            settings: Any = driver.settings
        except OUTCOMES as error:
            return _fault(self.kind, "make", error)
        finally:
            self.calling = ""
        if not isinstance(settings, LineSettings):
            return _fault(self.kind, "make", _Wrong("gave no LineSettings as settings"))
        if self.counters[BLOCKED] == before:  # else it was given up while it was being made
            self._driver, self._settings = driver, settings
        return self._failed

    def _call(self, method: str, now_us: int, *arguments: object) -> list[LineAction]:
        if self._failed is not None:
            return []
        fault = self._make()
        if fault is not None:
            return self._fail(fault, now_us)
        driver, self.calling = self._driver, method
        try:
            actions = self._checked(getattr(driver, method)(*arguments))
            self.calling = "wake_us"
            due_us = self._wake()
            self._count()
        except OUTCOMES as error:
            if self._driver is not driver:
                return []
            return self._fail(_fault(self.kind, self.calling, error), now_us)
        finally:
            self.calling = ""
        if self._driver is not driver:
            return []  # given up while it was at work: what it says counts no more
        self._due_us = due_us
        return actions

    def _checked(self, actions: Any) -> list[LineAction]:
        if not isinstance(actions, list) or len(actions) > MOST_ACTIONS:
            raise _Wrong(f"returned no list of at most {MOST_ACTIONS} actions")
        for action in actions:
            if isinstance(action, Write):
                if type(action.data) is not bytes or len(action.data) > LONGEST_WRITE:
                    raise _Wrong(f"wrote no bytes, or more than {LONGEST_WRITE}")
            elif isinstance(action, Reopen):
                if not _fits(action.reason, Fault):
                    raise _Wrong("gave a reason that is no Fault with two short texts")
            elif isinstance(action, READINGS):
                self._check_reading(action)
            else:
                raise _Wrong(f"returned a {type(action).__name__}")
        return actions

    def _check_reading(self, reading: Any) -> None:
        kind = type(reading).__name__
        if reading.device != self.name:
            raise _Wrong(f"returned a {kind} of another device")
        for field, hint in _hints(reading.__class__).items():
            if not _fits(getattr(reading, field), hint):
                raise _Wrong(f"returned a {kind} whose {field} is not what it should be")

    def _wake(self) -> int | None:
        due_us = self._driver.wake_us if self._driver is not None else None
        if due_us is None:
            return None
        if type(due_us) is not int:
            raise _Wrong("is no integer and not None")
        # By its last turn alone: a device that talks without end must not put it off.
        return max(due_us, self._advanced_us + SOONEST_US)

    def _count(self) -> None:
        """Its counters as ours: numbers under short names, and not without end."""
        counted = self._driver.counters if self._driver is not None else {}
        for name, number in list(counted.items())[:MOST_COUNTERS]:
            if _is_text(name) and type(number) is int:
                self.counters[name] = number

    def _fail(self, fault: Fault, now_us: int) -> list[LineAction]:
        self.counters[fault.code] += 1
        self._driver = None
        self._failed = fault
        self._again_us, self._due_us = now_us + AGAIN_US, None
        return [StateReported(self.name, DeviceState.UNKNOWN, fault, now_us)]


def _fault(kind: str, method: str, error: BaseException) -> Fault:
    if isinstance(error, _Wrong):
        return Fault(WRONG, f"{kind}: {method} {error}")
    return Fault(RAISED, f"{kind}: {method} raised {type(error).__name__}{_where(error)}")


def _where(error: BaseException) -> str:
    """File and line, never the text."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    file = trace.tb_frame.f_code.co_filename.rpartition("/")[2]
    return f" at {file}:{trace.tb_lineno}"


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: Any, hint: Any) -> bool:
    """Is this value of the type that a reading's field says, all the way down?"""
    hint = getattr(hint, "__supertype__", hint)
    origin, inner = get_origin(hint), get_args(hint)
    if hint is int:
        return type(value) is int and -LARGEST <= value <= LARGEST
    if hint is str:
        return _is_text(value)
    if origin is Literal:
        return value in inner
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is frozenset or (origin is tuple and inner[1:] == (...,)):
        many = isinstance(value, origin) and len(value) <= MOST_ACTIONS
        return many and all(_fits(one, inner[0]) for one in value)
    if origin is tuple:
        return (
            isinstance(value, tuple) and len(value) == len(inner) and all(map(_fits, value, inner))
        )
    if not isinstance(value, hint):
        return False
    if isinstance(value, SealedCard):
        return type(value.unseal()) is int and 0 <= value.unseal() <= 0xFF
    inside = {} if hint in (DeviceState, bool, NoneType) else _hints(hint)
    return all(_fits(getattr(value, field), one) for field, one in inside.items())


def _is_text(value: object) -> bool:
    return type(value) is str and len(value) <= LONGEST_TEXT and value.isprintable()
