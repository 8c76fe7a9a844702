"""The staff register as a table uses it: open it, and ask who an id and a PIN are.

``StaffDesk`` is what the table core asks (``controller.table.staff.Staff``): the register, the
count of failures and the clocks behind one call. A check costs some tens of milliseconds
for any caller: it belongs on the writer thread, never on the event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Final

from controller.registers.staff.attempts import CONSOLE, UNKNOWN, Attempt, Attempts
from controller.registers.staff.document import LoadedStaff, load
from controller.registers.staff.people import Person
from controller.registers.staff.pins import NOBODY
from controller.rules.engine.facts import Role

_CLEARS: Final = frozenset((Role.CASINO_SUPERVISOR, Role.GAMES_SUPERVISOR))


class StaffRegister:
    """A register that was verified. Answers with nobody rather than with a reason."""

    __slots__ = ("_people", "house", "issued_at", "seen")

    def __init__(self, loaded: LoadedStaff) -> None:
        self._people: Final = loaded.document.people
        self.house: Final = loaded.document.house
        self.issued_at: Final = loaded.document.issued_at
        self.seen: Final = loaded.seen

    @classmethod
    def open(cls, path: str | Path, public_key: bytes, minimum_version: int = 0) -> StaffRegister:
        """Raises ``SignedError``; a table that cannot open its register signs nobody on."""
        return cls(load(Path(path), public_key, minimum_version=minimum_version))

    @property
    def version(self) -> int:
        return self.seen.version

    def __len__(self) -> int:
        return len(self._people)

    def __iter__(self) -> Iterator[Person]:
        return iter(self._people.values())

    def find(self, staff_id: str) -> Person | None:
        return self._people.get(staff_id)

    def verify(self, staff_id: str, pin: str, today: date) -> Person | None:
        """The person, if the PIN is theirs and they may sign on today.

        The arithmetic is the same whether or not the id exists: time must not tell which do.
        """
        person = self._people.get(staff_id)
        fits = (NOBODY if person is None else person.pin).fits(pin)
        return person if person is not None and fits and person.may_sign_on(today) else None


class StaffDesk:
    """Register, failures and clocks; ``journal`` gets every attempt before it counts for anything.

    ``now_ms`` is a steady clock, ``today`` the calendar: a wrong calendar can end or begin
    somebody's term, but no lock.
    """

    __slots__ = ("_journal", "_now_ms", "_today", "attempts", "register")

    def __init__(
        self,
        register: StaffRegister,
        attempts: Attempts,
        journal: Callable[[Attempt], None],
        *,
        now_ms: Callable[[], int],
        today: Callable[[], date],
    ) -> None:
        self.register = register
        self.attempts = attempts
        self._journal = journal
        self._now_ms = now_ms
        self._today = today

    def check(self, staff_id: str, pin: str) -> tuple[str, frozenset[Role]] | None:
        """The id and the roles of a round; None for a wrong PIN, a lock, or nobody."""
        person = self.person(staff_id, pin)
        return None if person is None else (person.staff_id, person.roles)

    def person(self, staff_id: str, pin: str) -> Person | None:
        """As ``check``, for the caller who needs a technician."""
        now_ms = self._now_ms()
        who = staff_id if self.register.find(staff_id) is not None else UNKNOWN
        self._note(self.attempts.lapse(now_ms))
        locked = self.attempts.locked_ms(who, now_ms) > 0
        person = self.register.verify(staff_id, pin, self._today())
        if locked:
            return None  # the right PIN opens no lock, and takes as long to say so
        if person is None:
            self._note(self.attempts.fail(who, now_ms))
            return None
        self._note(self.attempts.succeed(who, now_ms))
        if person.roles & _CLEARS:
            # A supervisor has seen the notice, so earlier slips no longer count.
            for count in (UNKNOWN, CONSOLE):
                self._note(self.attempts.clear(count, now_ms))
        return person

    def wait_ms(self, staff_id: str) -> int:
        """How long this id is still locked at this console; 0 for not at all."""
        who = staff_id if self.register.find(staff_id) is not None else UNKNOWN
        return self.attempts.locked_ms(who, self._now_ms())

    def _note(self, attempts: list[Attempt]) -> None:
        for attempt in attempts:
            self._journal(attempt)
