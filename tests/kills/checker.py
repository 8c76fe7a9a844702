"""Nothing acknowledged is lost, nothing is counted twice, the pools are the exact sum.

The store is read with SQL of the checker's own, the tables through their journals, the promises
from the witness files. Every finding is a sentence; no finding means that all of it holds.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import psycopg

from link.commands.link_store import history_of
from link.ledger.errors import LedgerBroken
from link.ledger.history import check_history
from link.store import open_store
from link.store.errors import StoreError
from record.journal import JournalError
from record.journal.reader import JournalReader
from tests.e2e.table import ROOT
from tests.kills.sums import expected
from tests.kills.witness import Witness

MOST_SHOWN: Final = 5
Rows = list[tuple[Any, ...]]
Query = Callable[[str], Rows]


@dataclass(frozen=True, slots=True)
class Sent:
    """An ``outbox`` record of a journal."""

    hash: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Book:
    """What a table's journal says, and what the table was promised."""

    name: str
    journal: str
    sent: Sequence[Sent]
    """Event n at n - 1."""
    witness: Witness


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database holds, by plain SQL."""

    events: Rows
    """journal, n, hash, body in the order of record, without orders."""
    watermarks: Mapping[str, int]
    balances: Counter[tuple[str, str]]


def query_of(store: str) -> tuple[Query, Callable[[], None]]:
    if store.startswith("postgresql:"):
        link = psycopg.connect(store, autocommit=True)
        return lambda sql: link.execute(sql.encode()).fetchall(), link.close
    db = sqlite3.connect(store)
    return lambda sql: db.execute(sql).fetchall(), db.close


def copied(store: str, folder: Path) -> str:
    """A copy of what a killed server left, log and all, so that looking at it mends nothing."""
    if store.startswith("postgresql:"):
        return store
    for ending in ("", "-wal"):
        if Path(store + ending).exists():
            shutil.copy(store + ending, folder / f"copy.db{ending}")
    return str(folder / "copy.db")


def stored(store: str) -> Stored:
    query, close = query_of(store)
    try:
        events = query(
            "SELECT j.journal, e.n, e.hash, e.body FROM events e"
            " JOIN journals j ON j.id = e.journal WHERE j.id > 0 ORDER BY e.id"
        )
        marks = query("SELECT j.journal, w.n FROM watermarks w JOIN journals j ON j.id = w.id")
        balances = query("SELECT level, account, units FROM balances WHERE pool = 'main'")
    finally:
        close()
    held = Counter({(level, account): units for level, account, units in balances})
    return Stored(events, dict(marks), held)


def book_of(folder: Path, name: str, witness: Witness) -> tuple[Book, list[str]]:
    """The journal as it is read, and whether the auditor's verifier finds it sound."""
    verifier = ROOT / "record" / "verify_journal.py"
    told = subprocess.run(
        [sys.executable, "-I", str(verifier), str(folder)],
        text=True, capture_output=True, check=False,
    )  # fmt: skip
    problems = [f"{name}: verifier: {told.stdout}{told.stderr}"] if told.returncode else []
    reader, sent = JournalReader(folder), list[Sent]()
    try:
        for record in reader.records():
            if record.kind == "outbox":
                entry = json.loads(record.body)
                if entry["n"] != len(sent) + 1:
                    problems.append(f"{name}: event {entry['n']} stands where {len(sent) + 1} does")
                sent.append(Sent(record.hash.hex(), entry["event"]))
    except JournalError as error:
        problems.append(f"{name}: {error}")
    witness.look()
    if witness.written > len(sent):
        problems.append(f"{name}: {witness.written} events were synced, {len(sent)} are there")
    return Book(name, reader.report().journal_id, sent, witness), problems


# --- at a kill ---------------------------------------------------------------------------------


def check_promises(store: str, journals: Mapping[str, Witness]) -> list[str]:
    """The server is dead: what it acknowledged is there now, each number once."""
    promised = {}
    for journal, witness in journals.items():
        witness.look()
        promised[journal] = witness.promised
    with TemporaryDirectory(prefix="underfelt-kills-") as folder:
        found = stored(copied(store, Path(folder)))
    return check_once(found) + [
        f"lost: {journals[journal].path.parent.name}: {n} was acknowledged, the store has "
        f"{found.watermarks.get(journal, 0)}"
        for journal, n in promised.items()
        if n > found.watermarks.get(journal, 0)
    ]


def check_once(found: Stored) -> list[str]:
    """Every number of every journal up to its watermark, and none twice."""
    counts = Counter((journal, n) for journal, n, _, _ in found.events)
    problems = [
        f"twice: event {n} of journal {journal} is stored {times} times"
        for (journal, n), times in counts.items()
        if times > 1
    ]
    for journal, mark in found.watermarks.items():
        if journal:
            there = {n for name, n in counts if name == journal}
            if gone := set(range(1, mark + 1)) - there:
                problems.append(
                    f"lost: journal {journal}: {sorted(gone)[:MOST_SHOWN]} below {mark}"
                )
            if beyond := {n for n in there if n > mark}:
                problems.append(f"journal {journal}: {sorted(beyond)[:MOST_SHOWN]} above {mark}")
    return problems


# --- at the end --------------------------------------------------------------------------------


def check_all(store: str, books: Sequence[Book]) -> list[str]:
    """Everything has been drained and everybody has stopped."""
    found = stored(store)
    problems = check_once(found)
    for book in books:
        problems += check_book(book, found)
    problems += check_sums(found, books)
    return problems + _check_ledger(store)


def check_book(book: Book, found: Stored) -> list[str]:
    problems = [f"{book.name}: {text}" for text in book.witness.broken]
    mark = found.watermarks.get(book.journal, 0)
    if book.witness.promised > mark:
        problems.append(
            f"lost: {book.name}: {book.witness.promised} was acknowledged, the store has {mark}"
        )
    if mark != len(book.sent):
        problems.append(f"{book.name}: the journal has {len(book.sent)} events, the store {mark}")
    for journal, n, hash_, body in found.events:
        if journal != book.journal:
            continue
        if n > len(book.sent):
            problems.append(f"{book.name}: event {n} is stored and not in the journal")
        elif bytes(hash_).hex() != book.sent[n - 1].hash:
            problems.append(f"{book.name}: event {n} is stored with another hash")
        elif json.loads(bytes(body)) != book.sent[n - 1].body:
            problems.append(f"{book.name}: event {n} is stored with another body")
    return problems


def check_sums(found: Stored, books: Sequence[Book]) -> list[str]:
    """The bodies are the journals'; only their order is the server's."""
    sent = {book.journal: book.sent for book in books}
    unknown = {journal for journal, *_ in found.events if journal not in sent}
    if unknown:
        return [f"events of journals that no table has: {sorted(unknown)}"]
    seen = dict.fromkeys((journal, n) for journal, n, _, _ in found.events)
    bodies = [sent[journal][n - 1].body for journal, n in seen if n <= len(sent[journal])]
    wanted = expected(bodies)
    return [
        f"sum: {level}/{account} holds {found.balances[level, account]} units, "
        f"the journals say {wanted[level, account]}"
        for level, account in sorted(wanted.keys() | found.balances.keys())
        if wanted[level, account] != found.balances[level, account]
    ]


def _check_ledger(where: str) -> list[str]:
    """What the store and the ledger themselves have to say: every row, applied again."""
    try:
        store = open_store(where)
        try:
            store.check()
            history = history_of(store)
        finally:
            store.close()
        check_history(history)
    except (StoreError, LedgerBroken) as error:
        return [f"ledger: {error}"[:1_000]]
    return []
