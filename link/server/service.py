"""What people and programs on this machine may ask of the loop, and its answers.

Questions are answered from memory and store at once; whatever changes something is answered after
its group is durable, or with the reason why nothing was done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from link.accounts import AccountRefused, is_disabled, key_of, mark, waiting_ms
from link.ledger.errors import PoolError
from link.registry import KeyRefused, is_valid
from link.rows import AccountRow, KeyRow
from link.server.bridge import Answer, Bridge, Request
from link.server.floor import Floor
from link.server.rows import rows as stored_rows
from link.store.contract import Store
from link.store.errors import StoreError
from record.link.keys import fingerprint

if TYPE_CHECKING:
    from link.server.server import Server

UNDONE: Final = "E-SVC-008"
MOST_ROWS: Final = 1_000
MOST_AFTER: Final = 1 << 31
MOST_AWARDS: Final = 200
"""In one answer, with their steps."""


class NotLeading(Exception):
    """Only the leader knows, or may."""


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
            except (AccountRefused, KeyRefused, PoolError) as error:
                answer = {"error": error.code, "text": error.text}
            except NotLeading:
                answer = {"error": "E-LNK-020", "text": "this server does not lead"}
            except StoreError as error:
                answer = {"error": error.code, "text": str(error)}
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
        """Nothing of this turn was done."""
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

    def _tables(self, _given: Mapping[str, Any]) -> Answer:
        floor = self._floor()
        rows = [
            {
                "table": session.table,
                "journal": session.journal,
                "version": session.version,
                "test_mode": session.test,
                "silent_ms": floor.mono_ms - session.heard_ms,
                "key": fingerprint(session.key),
            }
            for session in sorted(floor.sessions, key=lambda s: s.table)
        ]
        return {"tables": rows}

    def _pools(self, _given: Mapping[str, Any]) -> Answer:
        saved = self._store.load()
        balances = [asdict(row) for row in saved.balances]
        levels = [
            {"pool": row.pool, "level": row.level, "generation": row.generation, "hits": row.hits,
             "parameters": row.parameters.decode(),
             "next_parameters": row.next_parameters.decode()}
            for row in saved.levels
        ]  # fmt: skip
        return {"levels": levels, "balances": balances}

    def _keys(self, _given: Mapping[str, Any]) -> Answer:
        now = self._server.now_ms()
        rows = sorted(self._server.gate.rows.values(), key=lambda r: (r.role, r.table, r.from_ms))
        return {"keys": [_key_row(row, now) for row in rows]}

    def _accounts(self, _given: Mapping[str, Any]) -> Answer:
        office, now_ms = self._server.office, self._server.now_ms()
        people = sorted(office.accounts.values(), key=lambda a: a.name)
        rows = [_account_row(account, now_ms) for account in people]
        return {"accounts": rows, "unacknowledged": office.register.unacknowledged}

    def _journals(self, _given: Mapping[str, Any]) -> Answer:
        rows = []
        for row in _some(self._store.journals()):
            told = asdict(row)
            del told["rounds"]
            rows.append(told)
        return {"journals": rows}

    def _awards(self, given: Mapping[str, Any]) -> Answer:
        """A page, each award with all its steps; ``after`` is how many one has."""
        after = given.get("after", 0)
        if type(after) is not int or not 0 <= after <= MOST_AFTER:
            return {"error": "E-SVC-001", "text": f"after: expected a number up to {MOST_AFTER}"}
        found = list(islice(self._store.awards(), after, after + MOST_AWARDS + 1))
        page = found[:MOST_AWARDS]
        steps = [asdict(step) for row in page for step in self._store.steps(award=row.award)]
        return {
            "awards": [asdict(row) for row in page],
            "steps": steps,
            "more": len(found) > len(page),
        }

    def _alarms(self, _given: Mapping[str, Any]) -> Answer:
        return {"alarms": [asdict(row) for row in _some(self._store.alarms())]}

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
            manifest = self._store.backup(
                path, at_ms=at_ms, between=self._server.turn_between, verify=False
            )
            request.answer({"ok": True, "manifest": dataclasses.asdict(manifest)})
        except StoreError as error:
            request.answer({"error": error.code, "text": str(error)})
        except Exception as error:  # whatever a path leads to, the loop goes on
            said = f"{request.given['path']}: {getattr(error, 'strerror', None) or error}"
            request.answer({"error": "E-SVC-005", "text": said})
        finally:
            self._busy = False


def _some(rows: Iterable[Any]) -> list[Any]:
    return list(islice(rows, MOST_ROWS))


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
