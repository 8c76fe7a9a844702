"""Tables' journals: how far each is taken, whose it is, whether it can be trusted.

A journal is a chain that only grows. A number that comes twice with two hashes, or an end that lies
before one seen earlier, means a copied or restored card: it is halted and people decide.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left

from link.ledger.errors import PoolError
from link.ledger.orders import Accept, Halt, Person, Propose, Restore, Resume, Retire
from link.ledger.rounds import OPEN
from link.ledger.state import State, TableJournal
from link.rows import EventRow
from record.kit.outside import excerpt

FORK = "E-LNK-030"
WENT_BACK = "E-LNK-031"
MOST_PROPOSED = 4
KEPT_BYTES = 4_000
"""Of a message that halted a journal, if it is longer or cannot be shown as it is."""


def evidence(message: bytes) -> str:
    """What halted a journal, in a form that always fits: as it came, or its beginning and hash."""
    if len(message) <= KEPT_BYTES and message.isascii() and message.decode().isprintable():
        return message.decode()
    digest = hashlib.sha256(message).hexdigest()
    return f"{len(message)} bytes, SHA-256 {digest}: {excerpt(message, KEPT_BYTES)}"


def find(state: State, journal: str) -> TableJournal:
    found = state.journals.get(journal)
    if found is None:
        raise PoolError("E-POOL-025", f"there is no journal {journal}")
    return found


def too_many(state: State, table: str) -> bool:
    """A card that forgets its journal at every start must not fill the record."""
    waiting = [j for j in state.journals_of.get(table, ()) if j.state == "proposed"]
    return len(waiting) >= MOST_PROPOSED


def propose(state: State, order: Propose) -> None:
    """The first journal of a table is taken: its key was enrolled by people. Any other waits."""
    if order.journal in state.journals:
        raise PoolError("E-POOL-026", f"journal {order.journal} is known already")
    others = order.table in state.journals_of
    made = TableJournal(order.journal, order.table, "proposed" if others else "active")
    state.add_journal(made)
    state.touch_journal(made)
    if others:
        text = f"table {order.table} comes with journal {order.journal}; two people must accept it"
        made.why = "new journal of a known table"
        state.alarm("E-LNK-013", order.table, text)


def accept(state: State, order: Accept, by: Person) -> None:
    journal = find(state, order.journal)
    if journal.state != "proposed":
        raise PoolError("E-POOL-026", f"journal {order.journal} is {journal.state}, not proposed")
    if not journal.accepted_by:
        journal.accepted_by = (by.account, by.role)
        state.touch_journal(journal)
        return
    account, role = journal.accepted_by
    if by.account == account or by.role == role:
        raise PoolError(
            "E-POOL-024",
            f"journal {order.journal} was accepted by {account} ({role}); expected another person "
            f"with another role, not {by.account} ({by.role})",
        )
    journal.accepted_by += (by.account, by.role)
    for other in state.journals_of[journal.table]:
        if other.state in ("active", "halted"):
            other.state, other.why = "retired", f"replaced by {journal.journal}"
            state.touch_journal(other)
    journal.state, journal.why = "active", ""
    state.touch_journal(journal)


def halt(state: State, order: Halt) -> None:
    journal = find(state, order.journal)
    journal.state, journal.why = "halted", f"{order.text} ({order.code})"
    state.touch_journal(journal)
    state.alarm(order.code, journal.table, order.text)


def resume(state: State, order: Resume) -> None:
    journal = find(state, order.journal)
    if journal.state != "halted":
        raise PoolError("E-POOL-026", f"journal {order.journal} is {journal.state}, not halted")
    if order.skip and order.skip != journal.n + 1:
        raise PoolError(
            "E-POOL-026",
            f"journal {order.journal} waits for event {journal.n + 1}; {order.skip} cannot be left "
            "without effect",
        )
    journal.state, journal.why = "active", ""
    journal.skip, journal.skip_hash = order.skip, order.skip_hash
    state.touch_journal(journal)


class Skips:
    """Which events people left without effect: of a journal's resumes, the last before the event
    counts, as ``resume`` above has it."""

    def __init__(self) -> None:
        self._resumes: dict[str, list[tuple[int, int, str]]] = {}

    def note(self, event: int, order: Resume) -> None:
        """``event`` is the id of the order; in order of record."""
        resumed = (event, order.skip, order.skip_hash)
        self._resumes.setdefault(order.journal, []).append(resumed)

    def leave_out(self, row: EventRow) -> bool:
        resumes = self._resumes.get(row.journal, [])
        before = bisect_left(resumes, (row.id,))
        return before > 0 and resumes[before - 1][1:] == (row.n, row.hash)


def retire(state: State, order: Retire) -> None:
    journal = find(state, order.journal)
    if journal.state not in ("active", "halted"):
        raise PoolError("E-POOL-026", f"journal {order.journal} is {journal.state} already")
    waiting = [held.award for book in journal.rounds.values() for held in book.awards
               if held.state in OPEN]  # fmt: skip
    if waiting:
        raise PoolError(
            "E-POOL-026",
            f"journal {order.journal}: award {waiting[0]} is not paid or rejected; end it first",
        )
    journal.state, journal.why = "retired", order.why
    state.touch_journal(journal)


def restore(state: State, order: Restore) -> None:
    """People say why the journal's end lies before one that was seen."""
    if not order.journal:
        return
    journal = find(state, order.journal)
    if order.head_seq < journal.seq:
        raise PoolError(
            "E-POOL-026",
            f"journal {order.journal} ends at {order.head_seq}, before record {journal.seq} whose "
            "event was taken: the table needs a new journal",
        )
    journal.head_seq, journal.head_hash = order.head_seq, order.head_hash
    if journal.state == "halted" and WENT_BACK in journal.why:
        journal.state, journal.why = "active", ""
    state.touch_journal(journal)


def witnessed(journal: TableJournal, seq: int, hash: str) -> tuple[str, str] | None:
    """What is wrong with the record that stood last before the table's hello, as it is now."""
    asked, known = journal.witness
    if seq != asked or hash == known:
        return None
    return FORK, f"record {seq} has two hashes: {known} was seen, now {hash}"


def moved(journal: TableJournal, seq: int, hash: str) -> tuple[str, str] | None:
    """What is wrong with the journal's end, if anything: code and text."""
    for seen, known in ((journal.seq, journal.hash), (journal.head_seq, journal.head_hash)):
        if seq < seen:
            return WENT_BACK, f"the journal ends at record {seq}, but {seen} was seen"
        if seq == seen and seen and hash != known:
            return FORK, f"record {seq} has two hashes: {known} was seen, now {hash}"
    return None
