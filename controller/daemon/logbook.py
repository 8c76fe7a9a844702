"""The table's log: what changed between two statuses, one line each, with its class and fields.

A status holds nothing that players may not know yet (tests/hidden), and the log is
made from statuses alone. It is for people; the evidence is the table's journal. ``Logbook`` is
pure; ``say`` is the one way out, and ``controller.daemon.journald`` carries it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from controller.daemon.inputs import Released
from controller.faults.status import AwardStatus, Status
from controller.faults.troubles import (
    DOOR,
    FULL,
    LINK_LOST,
    LOCKED_OUT,
    POWER_FAILS,
    Level,
    Trouble,
    devices_in,
    others_in,
)
from controller.registers.staff.attempts import CONSOLE, UNKNOWN, Attempt
from record.kit.money import cents_text
from record.kit.outside import printable
from record.kit.words import counted

LOG: Final = logging.getLogger("underfelt.table")
LOOK_S: Final = 1.0
PATIENCE_US: Final = 10_000_000
"""After a start a device that has not answered yet is not worth a line before this."""
SHOWN_WRONG: Final = ("E-DSP-002", "E-DSP-012", "E-DSP-022")
CONFIGURATION_REFUSED: Final = "E-TBL-009"
_CLASSES: Final[Mapping[str, tuple[str, str]]] = {
    LOCKED_OUT: ("table locked", "table unlocked"),
    FULL: ("journal full", "restored"),
    LINK_LOST: ("link lost", "link ready"),
    POWER_FAILS: ("power failing", "restored"),
    DOOR: ("door open", "restored"),
    CONFIGURATION_REFUSED: ("configuration refused", "restored"),
}
"""Code of a trouble to the class of its line when it comes, and when it is over."""
_LEVELS: Final[Mapping[Level, int]] = {
    "stopped": logging.ERROR, "degraded": logging.WARNING, "note": logging.INFO,
}  # fmt: skip
_ALARMS: Final = (
    ("E-DCK-", "deck alarm"), ("deck ", "deck alarm"), ("card fault", "deck alarm"),
    ("selection ", "selection lost"), ("tag ", "foreign chip"), ("chip lineage", "foreign chip"),
    ("door", "door open"), ("link ", "alarm"), ("usb ", "alarm"), ("queue ", "alarm"),
)  # fmt: skip
"""How an alarm's code begins, and its class; any other is an irregularity of a round."""


class Entry(NamedTuple):
    """One line of the log."""

    alarm: str
    """Its class: a key of ``MESSAGE_IDS``."""
    level: int
    text: str
    device: str | None = None
    fault_code: str | None = None
    round_id: int | None = None


def say(entry: Entry) -> None:
    """Write a line; it neither waits nor raises."""
    LOG.log(entry.level, "%s", printable(entry.text), extra=entry._asdict())


class Logbook:
    """``look`` gives what is new since the last look."""

    def __init__(self, now_us: int) -> None:
        self._began_us = now_us
        self._devices: dict[str, tuple[str, str]] = {}
        self._troubles: dict[tuple[str, str], Trouble] = {}
        self._awards: dict[str, AwardStatus] = {}
        self._alarms = 0
        self._seen: tuple[object, ...] = ()

    def differs(self, status: Status) -> bool:
        """Is it worth a look? Quick: asked after every group."""
        names = ("devices", "alarm_counts", "awards", "link_up", "locked", "test_mode", "safe_mode")
        seen = tuple(status.get(name) for name in names)
        if seen == self._seen:
            return False
        self._seen = seen
        return True

    def look(self, status: Status, now_us: int) -> list[Entry]:
        """``status`` as the socket answers it."""
        return [
            *self._of_devices(status, now_us),
            *self._of_troubles(status),
            *self._of_alarms(status),
            *self._of_awards(status),
        ]

    def _of_devices(self, status: Status, now_us: int) -> Iterator[Entry]:
        found = {one.about: one for one in devices_in(status)}
        for name, told in status.get("devices", {}).items():
            waits = not told["code"] and told["state"] == "unknown"
            if waits and now_us - self._began_us < PATIENCE_US:
                continue
            now = (told["state"], told["code"])
            if self._devices.get(name) == now:
                continue
            self._devices[name] = now
            trouble = found.get(name)
            if trouble is None:
                yield Entry("device ready", logging.INFO, f"{name}: ready", name)
            else:
                alarm = "wrong device" if told["state"] == "locked" else "device failed"
                alarm = "display wrong" if trouble.code in SHOWN_WRONG else alarm
                yield _line(alarm, trouble, name)

    def _of_troubles(self, status: Status) -> Iterator[Entry]:
        before, now = self._troubles, {(one.code, one.about): one for one in others_in(status)}
        self._troubles = now
        for key, trouble in now.items():
            if key not in before:
                yield _line(_CLASSES.get(trouble.code, ("degraded", ""))[0], trouble)
        for key, trouble in before.items():
            if key not in now:
                alarm = _CLASSES.get(trouble.code, ("", "restored"))[1]
                text = f"{trouble.about}: over: {trouble.meaning}"
                yield Entry(alarm, logging.INFO, text, None, trouble.code)

    def _of_alarms(self, status: Status) -> Iterator[Entry]:
        total = sum(status.get("alarm_counts", {}).values())
        new, self._alarms = total - self._alarms, total
        kept = list(status.get("alarms", ()))[-new:] if new > 0 else []
        if new > len(kept):
            text = f"{counted(new - len(kept), 'alarm')} too many for the log; the journal has them"
            yield Entry("alarm", logging.WARNING, text)
        for one in kept:
            code = str(one["code"])
            alarm = next((a for begin, a in _ALARMS if code.startswith(begin)), "irregularity")
            seat = f"seat {one['seat']}" if one.get("seat") else ""
            parts = [code, seat, *(str(one.get(k) or "") for k in ("detail", "what_to_do"))]
            text = "; ".join(part for part in parts if part)
            number = one.get("round") or status.get("round")
            yield Entry(alarm, logging.WARNING, text, None, code, number)

    def _of_awards(self, status: Status) -> Iterator[Entry]:
        before, now = self._awards, {str(one["award"]): one for one in status.get("awards", ())}
        self._awards = now
        for name, one in now.items():
            old = before.get(name)
            if old is None or (old["state"], old["cents"]) != (one["state"], one["cents"]):
                yield _award(one, str(one["state"]), logging.WARNING)
        for name, one in before.items():
            if name not in now:
                yield _award(one, "no longer pending", logging.INFO)


def _line(alarm: str, trouble: Trouble, device: str | None = None) -> Entry:
    text = f"{trouble.about}: {trouble.what} -> {trouble.do}"
    return Entry(alarm, _LEVELS[trouble.level], text, device, trouble.code)


def _award(one: AwardStatus, state: str, level: int) -> Entry:
    text = f"award {one['award']}: seat {one['seat']}, ${cents_text(one['cents'])}: {state}"
    return Entry("award", level, text, None, None, one["round"])


def refused_sign_ons(attempts: Iterable[Attempt]) -> Iterator[Entry]:
    """Sign-ons at the console that failed, and the locks they led to."""
    names = {UNKNOWN: "an unknown id", CONSOLE: "the console"}
    for one in attempts:
        if one.what in ("failed", "locked"):
            text = f"sign-on at the console: {names.get(one.who, one.who)}: {one.what}"
            yield Entry("authorisation refused", logging.WARNING, text)


class LogKeeper:
    """Looks at the table after every group and once a second, on the event loop."""

    def __init__(
        self,
        status: Callable[[], Status],
        now_us: Callable[[], int],
        attempts: deque[Attempt] | None = None,
        left_out: Callable[[], list[tuple[str, str, int]]] = list,
    ) -> None:
        """``attempts`` are sign-ons; ``left_out`` says what the rate limit kept back."""
        self._status, self._now_us, self._left_out = status, now_us, left_out
        self._attempts = attempts if attempts is not None else deque()
        self._book = Logbook(now_us())

    def released(self, released: Released) -> None:
        """A group is on disk."""
        if self._attempts:
            found = [self._attempts.popleft() for _ in range(len(self._attempts))]
            self._say_all(lambda: refused_sign_ons(found))
        if self._book.differs(released.status):
            self.look()

    def look(self) -> None:
        self._say_all(lambda: self._book.look(self._status(), self._now_us()))

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            self.look()
            for alarm, device, count in self._left_out():
                text = f"{alarm} {device}".strip() + f": {counted(count, 'more line')} left out"
                say(Entry(alarm, logging.WARNING, text, device or None))

    def _say_all(self, found: Callable[[], Iterable[Entry]]) -> None:
        try:
            for entry in found():
                say(entry)
        except Exception as error:  # a log must never end a table; its text might name a card
            say(Entry("alarm", logging.ERROR, f"the log stumbled: {type(error).__name__}"))
