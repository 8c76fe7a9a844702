"""What people and programs on this machine may ask of the loop, and its answers.

Questions are answered from memory and store at once; whatever changes something is answered after
its group is durable, or with the reason why nothing was done.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from link.accounts import AccountRefused, is_disabled, key_of, mark, waiting_ms
from link.ledger.errors import PoolError
from link.registry import KeyRefused, is_valid
from link.rows import AccountRow, KeyRow
from link.server import listings
from link.server import requests as ask
from link.server.bridge import Answer, Bridge, Request
from link.server.floor import Floor
from link.server.rows import rows as stored_rows
from link.store.contract import Store
from link.store.errors import StoreError
from record.link.keys import fingerprint

if TYPE_CHECKING:
    from link.server.server import Server

UNDONE: Final = "E-SVC-008"
NO_MEMORY: Final = "E-SVC-010"
MOST_AWARDS: Final = 200
"""In one answer, with their steps."""


class NotLeading(Exception):
    """Only the leader knows, or may."""


class TurnFailed(Exception):
    """A turn of the loop that was taken between two pieces of a backup ends the server."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class LoopService:
    def __init__(self, server: Server, bridge: Bridge, store: Store) -> None:
        self._server, self._bridge, self._store = server, bridge, store
        self._after: list[tuple[Request, Answer]] = []
        self._busy = False
        self._now: Request | None = None
        """What is being carried out: half done if something breaks."""

    def serve(self, most: int | None = None) -> None:
        for request in self._bridge.take(most):
            asked = request.asked
            if isinstance(asked, ask.Backup):
                self._backup(request, asked)
                continue
            self._now = request
            try:
                answer = self.answer(asked)
            except (AccountRefused, KeyRefused, PoolError) as error:
                answer = {"error": error.code, "text": error.text}
            except NotLeading:
                answer = {"error": "E-LNK-020", "text": "this server does not lead"}
            except StoreError as error:
                if isinstance(asked, ask.Changing):
                    raise
                answer = {"error": error.code, "text": str(error)}
            except MemoryError:
                if isinstance(asked, ask.Changing):
                    raise
                answer = {"error": NO_MEMORY, "text": "the server has no memory for the answer"}
            self._after.append((request, answer))
            self._now = None

    def answer(self, asked: ask.Immediate) -> Answer:
        match asked:
            case ask.Status():
                return self._status()
            case ask.Meters():
                return self._meters()
            case ask.Pools():
                return self._pools()
            case ask.Tables():
                return self._tables(asked)
            case ask.Keys():
                return self._keys(asked)
            case ask.Accounts():
                return self._accounts(asked)
            case ask.Journals():
                return self._journals(asked)
            case ask.Awards():
                return self._awards(asked)
            case ask.Alarms():
                return self._alarms(asked)
            case ask.Rows():
                return self._rows(asked)
            case ask.WhoIs():
                return self._account(asked)
            case ask.WrongPassword():
                return self._failed(asked)
            case ask.Adopt():
                return self._adopt(asked)
            case ask.StaffOrder():
                return self._order(asked)

    def open_requests(self) -> int:
        """Of this turn, not answered yet."""
        return len(self._after) + (self._now is not None)

    def undone(self) -> None:
        """Something broke in this turn: nothing of it was done."""
        if self._now is not None:
            self._after.append((self._now, {}))
            self._now = None
        after, self._after = self._after, []
        for request, _ in after:
            request.answer({"error": UNDONE, "text": "the server could not do it; nothing changed"})

    def committed(self) -> None:
        self._answer_all()

    def idle(self) -> None:
        """There is no ledger, so nothing to commit."""
        self._answer_all()

    def abandon(self, why: str) -> None:
        """Nothing of this turn is acknowledged."""
        if self._now is not None:
            self._after.append((self._now, {}))
            self._now = None
        after, self._after = self._after, []
        for request, _ in after:
            request.answer({"error": "E-LNK-020", "text": why})

    def _answer_all(self) -> None:
        after, self._after = self._after, []
        for request, answer in after:
            request.answer(answer)

    def _floor(self) -> Floor:
        if self._server.floor is None:
            raise NotLeading
        return self._server.floor

    # --- questions --------------------------------------------------------------------------------

    def _status(self) -> Answer:
        floor = self._server.floor
        counts = dict(self._server.counts)
        if floor is not None:
            counts |= floor.counts
        return {
            "server": self._server.plan.name,
            "leading": floor is not None,
            "epoch": 0 if floor is None else floor.epoch,
            "tables": 0 if floor is None else len(floor.sessions),
            "test_mode": [] if floor is None else sorted(s.table for s in floor.sessions if s.test),
            "store": self._store.place,
            "trouble": self._server.trouble,
            "clock_behind_ms": self._server.clock.behind_ms(),
            "standing": self._server.office.register.standing(),
            "endpoints": self._server.endpoints(),
            "counts": counts,
        }

    def _meters(self) -> Answer:
        rows = [
            {"pool": m.pool, "level": m.level, "cents": m.cents, "generation": m.generation,
             "pending": m.pending}
            for m in self._floor().ledger.meters()
        ]  # fmt: skip
        return {"meters": rows}

    def _tables(self, asked: ask.Tables) -> Answer:
        floor = self._floor()
        page, following = listings.by_name(floor.sessions, lambda s: s.table, asked.cursor)
        rows = [
            {
                "table": session.table,
                "journal": session.journal,
                "version": session.version,
                "test_mode": session.test,
                "silent_ms": floor.mono_ms - session.heard_ms,
                "key": fingerprint(session.key),
            }
            for session in page
        ]
        return {"tables": rows, "next": following}

    def _pools(self) -> Answer:
        standing = self._store.standing()
        balances = [asdict(row) for row in standing.balances]
        levels = [
            {"pool": row.pool, "level": row.level, "generation": row.generation, "hits": row.hits,
             "parameters": row.parameters.decode(),
             "next_parameters": row.next_parameters.decode()}
            for row in standing.levels
        ]  # fmt: skip
        return {"levels": levels, "balances": balances}

    def _keys(self, asked: ask.Keys) -> Answer:
        now = self._server.now_ms()
        keys = self._server.gate.rows.values()
        page, following = listings.by_name(keys, _key_name, asked.cursor)
        return {"keys": [_key_row(row, now) for row in page], "next": following}

    def _accounts(self, asked: ask.Accounts) -> Answer:
        office, now_ms = self._server.office, self._server.now_ms()
        people = office.accounts.values()
        page, following = listings.by_name(people, lambda a: a.name, asked.cursor)
        rows = [_account_row(account, now_ms) for account in page]
        unacknowledged = office.register.unacknowledged
        return {"accounts": rows, "unacknowledged": unacknowledged, "next": following}

    def _journals(self, asked: ask.Journals) -> Answer:
        """Newest first."""
        most = listings.MOST_ROWS
        found = self._store.latest_journals(most + 1, before=asked.cursor, prefix=asked.prefix)
        page, following = listings.cut(found, most, lambda row: row.journal)
        rows = [asdict(row) for row in page]
        for told in rows:
            del told["rounds"]
        return {"journals": rows, "next": following}

    def _awards(self, asked: ask.Awards) -> Answer:
        """Newest first, each award with all its steps."""
        found = self._store.latest_awards(MOST_AWARDS + 1, before=asked.cursor)
        page, following = listings.cut(found, MOST_AWARDS, lambda row: row.award)
        steps = [asdict(step) for row in page for step in self._store.steps(award=row.award)]
        return {
            "awards": [asdict(row) for row in page],
            "steps": steps,
            "next": following,
        }

    def _alarms(self, asked: ask.Alarms) -> Answer:
        """Newest first."""
        most = listings.MOST_ROWS
        found = self._store.latest_alarms(most + 1, before=asked.before)
        page, following = listings.cut(found, most, lambda row: str(row.id))
        return {"alarms": [asdict(row) for row in page], "next": following}

    def _rows(self, asked: ask.Rows) -> Answer:
        return stored_rows(self._store, asked)

    # --- people -----------------------------------------------------------------------------------

    def _account(self, asked: ask.WhoIs) -> Answer:
        """For the thread that checks a password; never leaves the process."""
        office, floor = self._server.office, self._floor()
        waiting_ms = office.waiting_ms(asked.name, asked.source, floor)
        return {"account": office.accounts.get(asked.name), "waiting_ms": waiting_ms}

    def _failed(self, asked: ask.WrongPassword) -> Answer:
        self._server.office.failed(asked.name, asked.source, self._floor())
        return {}

    def _adopt(self, asked: ask.Adopt) -> Answer:
        self._server.office.adopt(asked.order, asked.key, self._floor())
        return {}

    def _order(self, asked: ask.StaffOrder) -> Answer:
        office, floor = self._server.office, self._floor()
        by = office.give(asked.order, asked.signers, floor, asked.source)
        return {"ok": True, "by": list(by)}

    # --- backup -----------------------------------------------------------------------------------

    def _backup(self, request: Request, asked: ask.Backup) -> None:
        """Copies while the tables go on: turns of the loop are taken between the pieces."""
        if self._busy:
            request.answer({"error": "E-SVC-004", "text": "a backup is being written"})
            return
        self._busy = True
        try:
            path = Path(asked.path)
            at_ms = self._server.now_ms()
            # Whoever asked reads it back: a check of the whole copy would hold the tables up.
            manifest = self._store.backup(path, at_ms=at_ms, between=self._between, verify=False)
            request.answer({"ok": True, "manifest": dataclasses.asdict(manifest)})
        except TurnFailed as failed:
            request.answer({"error": UNDONE, "text": "the server stops; there is no backup"})
            raise failed.error from None
        except StoreError as error:
            request.answer({"error": error.code, "text": str(error)})
        except Exception as error:  # whatever a path leads to, the loop goes on
            said = f"{asked.path}: {getattr(error, 'strerror', None) or error}"
            request.answer({"error": "E-SVC-005", "text": said})
        finally:
            self._busy = False

    def _between(self) -> None:
        try:
            self._server.turn_between()
        except Exception as error:  # not the backup's failure: it must not be taken for one
            raise TurnFailed(error) from error


def _key_name(row: KeyRow) -> str:
    return f"{row.role} {row.table} {row.from_ms:019} {row.public}"


def _key_row(row: KeyRow, now_ms: int) -> dict[str, Any]:
    told = asdict(row)
    return {**told, "fingerprint": fingerprint(row.public), "valid": is_valid(row, now_ms)}


def _account_row(account: AccountRow, now_ms: int) -> dict[str, Any]:
    """Everything but what the password could be guessed from; ``key`` is its fingerprint."""
    told = asdict(account)
    del told["credential"], told["until_ms"]
    key = key_of(account)
    return {
        **told,
        "disabled": is_disabled(account),
        "waiting_ms": waiting_ms(account, now_ms),
        "key": mark(key) if key else "",
    }
