"""What people and programs on this machine may ask of the loop, and its answers.

Questions are answered from memory and store at once; whatever changes something is answered after
its group is durable, or with the reason why nothing was done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from link.accounts import AccountRefused, is_disabled, key_of, mark, waiting_ms
from link.ledger.errors import PoolError
from link.registry import KeyRefused, is_valid
from link.rows import AccountRow, KeyRow
from link.server import listings
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
CHANGES: Final = frozenset(("failed", "adopt", "order"))
"""Half done if they fail, so the ledger is built again from the store."""
MOST_AWARDS: Final = 200
"""In one answer, with their steps."""


class NotLeading(Exception):
    """Only the leader knows, or may."""


class TurnFailed(Exception):
    """A turn of the loop that was taken between two pieces of a backup ends the server."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Service:
    def __init__(self, server: Server, bridge: Bridge, store: Store) -> None:
        self._server, self._bridge, self._store = server, bridge, store
        self._after: list[tuple[Request, Answer]] = []
        self._busy = False
        self._now: Request | None = None
        """What is being carried out: half done if something breaks."""
        self._verbs: dict[str, Callable[[Mapping[str, Any]], Answer]] = {
            "status": self._status,
            "meters": self._meters,
            "tables": self._tables,
            "pools": self._pools,
            "keys": self._keys,
            "accounts": self._accounts,
            "journals": self._journals,
            "awards": self._awards,
            "alarms": self._alarms,
            "rows": self._rows,
            "account": self._account,
            "failed": self._failed,
            "adopt": self._adopt,
            "order": self._order,
        }

    def serve(self, most: int | None = None) -> None:
        for request in self._bridge.take(most):
            if request.verb == "backup":
                self._backup(request)
                continue
            self._now = request
            try:
                answer = self._verbs[request.verb](request.given)
            except (AccountRefused, KeyRefused, PoolError, listings.NotAList) as error:
                answer = {"error": error.code, "text": error.text}
            except NotLeading:
                answer = {"error": "E-LNK-020", "text": "this server does not lead"}
            except StoreError as error:
                if request.verb in CHANGES:
                    raise
                answer = {"error": error.code, "text": str(error)}
            except MemoryError:
                if request.verb in CHANGES:
                    raise
                answer = {"error": NO_MEMORY, "text": "the server has no memory for the answer"}
            self._after.append((request, answer))
            self._now = None

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

    def _status(self, _given: Mapping[str, Any]) -> Answer:
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

    def _meters(self, _given: Mapping[str, Any]) -> Answer:
        rows = [
            {"pool": m.pool, "level": m.level, "cents": m.cents, "generation": m.generation,
             "pending": m.pending}
            for m in self._floor().ledger.meters()
        ]  # fmt: skip
        return {"meters": rows}

    def _tables(self, given: Mapping[str, Any]) -> Answer:
        floor = self._floor()
        cursor = listings.read(given, listings.Listing).cursor
        page, following = listings.by_name(floor.sessions, lambda s: s.table, cursor)
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

    def _pools(self, _given: Mapping[str, Any]) -> Answer:
        standing = self._store.standing()
        balances = [asdict(row) for row in standing.balances]
        levels = [
            {"pool": row.pool, "level": row.level, "generation": row.generation, "hits": row.hits,
             "parameters": row.parameters.decode(),
             "next_parameters": row.next_parameters.decode()}
            for row in standing.levels
        ]  # fmt: skip
        return {"levels": levels, "balances": balances}

    def _keys(self, given: Mapping[str, Any]) -> Answer:
        now = self._server.now_ms()
        cursor = listings.read(given, listings.Listing).cursor
        page, following = listings.by_name(self._server.gate.rows.values(), _key_name, cursor)
        return {"keys": [_key_row(row, now) for row in page], "next": following}

    def _accounts(self, given: Mapping[str, Any]) -> Answer:
        office, now_ms = self._server.office, self._server.now_ms()
        cursor = listings.read(given, listings.Listing).cursor
        page, following = listings.by_name(office.accounts.values(), lambda a: a.name, cursor)
        rows = [_account_row(account, now_ms) for account in page]
        unacknowledged = office.register.unacknowledged
        return {"accounts": rows, "unacknowledged": unacknowledged, "next": following}

    def _journals(self, given: Mapping[str, Any]) -> Answer:
        """Newest first."""
        asked, most = listings.read(given, listings.Journals), listings.MOST_ROWS
        found = self._store.latest_journals(most + 1, before=asked.cursor, prefix=asked.prefix)
        page, following = listings.cut(found, most, lambda row: row.journal)
        rows = [asdict(row) for row in page]
        for told in rows:
            del told["rounds"]
        return {"journals": rows, "next": following}

    def _awards(self, given: Mapping[str, Any]) -> Answer:
        """Newest first, each award with all its steps."""
        cursor = listings.read(given, listings.Awards).cursor
        found = self._store.latest_awards(MOST_AWARDS + 1, before=cursor)
        page, following = listings.cut(found, MOST_AWARDS, lambda row: row.award)
        steps = [asdict(step) for row in page for step in self._store.steps(award=row.award)]
        return {
            "awards": [asdict(row) for row in page],
            "steps": steps,
            "next": following,
        }

    def _alarms(self, given: Mapping[str, Any]) -> Answer:
        """Newest first."""
        before, most = listings.read(given, listings.Alarms).before, listings.MOST_ROWS
        found = self._store.latest_alarms(most + 1, before=before)
        page, following = listings.cut(found, most, lambda row: str(row.id))
        return {"alarms": [asdict(row) for row in page], "next": following}

    def _rows(self, given: Mapping[str, Any]) -> Answer:
        return stored_rows(self._store, given)

    # --- people -----------------------------------------------------------------------------------

    def _account(self, given: Mapping[str, Any]) -> Answer:
        """For the thread that checks a password; never leaves the process."""
        office, floor, name = self._server.office, self._floor(), given["name"]
        waiting_ms = office.waiting_ms(name, given["source"], floor)
        return {"account": office.accounts.get(name), "waiting_ms": waiting_ms}

    def _failed(self, given: Mapping[str, Any]) -> Answer:
        self._server.office.failed(given["name"], given["source"], self._floor())
        return {}

    def _adopt(self, given: Mapping[str, Any]) -> Answer:
        self._server.office.adopt(given["order"], given["key"], self._floor())
        return {}

    def _order(self, given: Mapping[str, Any]) -> Answer:
        """``signers`` are names with the keys that their passwords made."""
        office, floor = self._server.office, self._floor()
        by = office.give(given["order"], given["signers"], floor, given["source"])
        return {"ok": True, "by": list(by)}

    # --- backup -----------------------------------------------------------------------------------

    def _backup(self, request: Request) -> None:
        """Copies while the tables go on: turns of the loop are taken between the pieces."""
        if self._busy:
            request.answer({"error": "E-SVC-004", "text": "a backup is being written"})
            return
        self._busy = True
        try:
            path = Path(request.given["path"])
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
            said = f"{request.given['path']}: {getattr(error, 'strerror', None) or error}"
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
