"""What people and programs on this machine may ask of the loop, and its answers.

Questions are answered from memory and store at once; whatever changes something is answered after
its group is durable, or with the reason why nothing was done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import astuple

from link.accounts import AccountRefused, is_disabled, key_of, mark, waiting_ms
from link.ledger.errors import PoolError
from link.ledger.orders import AcknowledgeAlarm
from link.registry import KeyRefused, is_valid
from link.rows import AccountRow, KeyRow
from link.server import pages
from link.server import replies as r
from link.server import requests as ask
from link.server.bridge import Bridge, Request
from link.server.floor import Floor
from link.store.base import Store
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
        self._after: list[tuple[Request, r.Reply]] = []
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
            answer: r.Reply
            try:
                answer = self.answer(asked)
            except (AccountRefused, KeyRefused, PoolError) as error:
                answer = r.Refusal(error.code, error.text)
            except NotLeading:
                answer = r.Refusal("E-LNK-020", "this server does not lead")
            except StoreError as error:
                if isinstance(asked, ask.Changing):
                    raise
                answer = r.Refusal(error.code, str(error))
            except MemoryError:
                if isinstance(asked, ask.Changing):
                    raise
                answer = r.Refusal(NO_MEMORY, "the server has no memory for the answer")
            self._after.append((request, answer))
            self._now = None

    def answer(self, asked: ask.Immediate) -> r.Reply:
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
            case ask.Changes():
                return r.Reply()  # the thread that asks takes the changes from the feed itself
            case ask.WhoIs():
                return self._account(asked)
            case ask.WrongPassword():
                return self._failed(asked)
            case ask.Adopt():
                return self._adopt(asked)
            case ask.CheckPassword():
                return self._password(asked)
            case ask.GiveOrder():
                return self._order(asked)

    def open_requests(self) -> int:
        """Of this turn, not answered yet."""
        return len(self._after) + (self._now is not None)

    def undone(self) -> None:
        """Something broke in this turn: nothing of it was done."""
        self._refuse_all(UNDONE, "the server could not do it; nothing changed")

    def committed(self) -> None:
        """Everybody is answered but those who follow: the feed does not have it yet."""
        after, self._after = self._after, []
        for request, answer in after:
            if isinstance(request.asked, ask.Changes):
                self._after.append((request, answer))
            else:
                request.answer(answer)

    def follower_waits(self) -> bool:
        return any(isinstance(request.asked, ask.Changes) for request, _ in self._after)

    def told(self) -> None:
        """The feed has what was committed."""
        after, self._after = self._after, []
        for request, answer in after:
            request.answer(answer)

    def abandon(self, why: str) -> None:
        """Nothing of this turn is acknowledged."""
        self._refuse_all("E-LNK-020", why)

    def _refuse_all(self, code: str, text: str) -> None:
        if self._now is not None:
            self._after.append((self._now, r.Reply()))
            self._now = None
        after, self._after = self._after, []
        for request, _ in after:
            request.answer(r.Refusal(code, text))

    def _floor(self) -> Floor:
        if self._server.floor is None:
            raise NotLeading
        return self._server.floor

    # --- questions --------------------------------------------------------------------------------

    def _status(self) -> r.StatusReply:
        floor = self._server.floor
        counts = dict(self._server.counts)
        if floor is not None:
            counts |= floor.counts
        return r.StatusReply(
            server=self._server.config.server.name,
            leading=floor is not None,
            epoch=0 if floor is None else floor.epoch,
            tables=0 if floor is None else len(floor.sessions),
            test_mode=[] if floor is None else sorted(s.table for s in floor.sessions if s.test),
            store=self._store.place,
            trouble=self._server.trouble,
            clock_behind_ms=self._server.clock.behind_ms(),
            standing=self._server.office.chain.standing(),
            endpoints=self._server.endpoints(),
            counts=counts,
        )

    def _meters(self) -> r.MetersReply:
        return r.MetersReply(
            [
                r.LevelMeter(m.pool, m.level, m.cents, m.generation, m.pending)
                for m in self._floor().ledger.meters()
            ]
        )

    def _tables(self, asked: ask.Tables) -> r.TablesReply:
        floor = self._floor()
        page, following = pages.by_name(floor.sessions, lambda s: s.table, asked.cursor)
        rows = [
            r.ConnectedTable(
                table=session.table,
                journal=session.journal,
                version=session.version,
                test_mode=session.test,
                silent_ms=floor.mono_ms - session.heard_ms,
                key=fingerprint(session.key),
            )
            for session in page
        ]
        return r.TablesReply(rows, following)

    def _pools(self) -> r.PoolsReply:
        standing = self._store.standing()
        levels = [
            r.LevelTerms(
                pool=row.pool,
                level=row.level,
                generation=row.generation,
                hits=row.hits,
                parameters=row.parameters.decode(),
                next_parameters=row.next_parameters.decode(),
            )
            for row in standing.levels
        ]
        return r.PoolsReply(levels, standing.balances)

    def _keys(self, asked: ask.Keys) -> r.KeysReply:
        now_ms = self._server.clock.now_ms()
        page, following = pages.by_name(self._server.gate.rows.values(), _key_name, asked.cursor)
        return r.KeysReply([_listed_key(row, now_ms) for row in page], following)

    def _accounts(self, asked: ask.Accounts) -> r.AccountsReply:
        office, now_ms = self._server.office, self._server.clock.now_ms()
        people = office.accounts.values()
        page, following = pages.by_name(people, lambda a: a.name, asked.cursor)
        rows = [_listed_account(account, now_ms) for account in page]
        return r.AccountsReply(rows, office.chain.unacknowledged, following)

    def _journals(self, asked: ask.Journals) -> r.JournalsReply:
        """Newest first."""
        most = pages.PAGE_ROWS
        found = self._store.latest_journals(most + 1, before=asked.cursor, prefix=asked.prefix)
        page, following = pages.cut(found, most, lambda row: row.journal)
        rows = [msgspec.convert(row, r.ListedJournal, from_attributes=True) for row in page]
        return r.JournalsReply(rows, following)

    def _awards(self, asked: ask.Awards) -> r.AwardsReply:
        """Newest first, each award with all its steps."""
        found = self._store.latest_awards(MOST_AWARDS + 1, before=asked.cursor)
        page, following = pages.cut(found, MOST_AWARDS, lambda row: row.award)
        steps = [step for row in page for step in self._store.steps(award=row.award)]
        return r.AwardsReply(list(page), steps, following)

    def _alarms(self, asked: ask.Alarms) -> r.AlarmsReply:
        """Newest first."""
        most = pages.PAGE_ROWS
        found = self._store.latest_alarms(most + 1, before=asked.before)
        page, following = pages.cut(found, most, lambda row: str(row.id))
        return r.AlarmsReply(list(page), following)

    def _rows(self, asked: ask.Rows) -> r.Reply:
        return pages.rows(self._store, asked)

    # --- people -----------------------------------------------------------------------------------

    def _account(self, asked: ask.WhoIs) -> r.AccountFound:
        office, floor = self._server.office, self._floor()
        waiting_ms = office.waiting_ms(asked.name, asked.source, floor)
        return r.AccountFound(office.accounts.get(asked.name), waiting_ms)

    def _failed(self, asked: ask.WrongPassword) -> r.Reply:
        self._server.office.failed(asked.name, asked.source, self._floor())
        return r.Reply()

    def _adopt(self, asked: ask.Adopt) -> r.Reply:
        self._server.office.adopt(asked.order, asked.key, self._floor())
        return r.Reply()

    def _password(self, asked: ask.CheckPassword) -> r.PasswordFits:
        self._floor()
        signers = ((asked.name, asked.key),)
        refused = "nobody can sign in"
        (account,) = self._server.office.people(signers, asked.source, refused)
        change = self._server.office.chain.changed.get(account.name, 0)
        return r.PasswordFits(ok=True, name=account.name, role=account.role, change=change)

    def _order(self, asked: ask.GiveOrder) -> r.Ordered:
        office, floor = self._server.office, self._floor()
        if isinstance(asked.order, AcknowledgeAlarm):
            self._server.teller.check_open(asked.order)
        by = office.give(asked.order, asked.signers, floor, asked.source)
        return r.Ordered(ok=True, by=list(by))

    # --- backup -----------------------------------------------------------------------------------

    def _backup(self, request: Request, asked: ask.Backup) -> None:
        """Copies while the tables go on: turns of the loop are taken between the pieces."""
        if self._busy:
            request.answer(r.Refusal("E-SVC-004", "a backup is being written"))
            return
        self._busy = True
        try:
            path = Path(asked.path)
            at_ms = self._server.clock.now_ms()
            # The caller reads it back: a check of the whole copy would hold the tables up.
            manifest = self._store.backup(path, at_ms=at_ms, between=self._between, verify=False)
            request.answer(r.BackedUp(ok=True, manifest=manifest))
        except TurnFailed as failed:
            request.answer(r.Refusal(UNDONE, "the server stops; there is no backup"))
            raise failed.error from None
        except StoreError as error:
            request.answer(r.Refusal(error.code, str(error)))
        except Exception as error:  # whatever a path leads to, the loop continues
            said = f"{asked.path}: {getattr(error, 'strerror', None) or error}"
            request.answer(r.Refusal("E-SVC-005", said))
        finally:
            self._busy = False

    def _between(self) -> None:
        try:
            self._server.turn(0)
        except Exception as error:  # not the backup's failure: it must not be taken for one
            raise TurnFailed(error) from error


def _key_name(row: KeyRow) -> str:
    return f"{row.role} {row.table} {row.from_ms:019} {row.public}"


def _listed_key(row: KeyRow, now_ms: int) -> r.ListedKey:
    mark, valid = fingerprint(row.public), is_valid(row, now_ms)
    return r.ListedKey(*astuple(row), fingerprint=mark, valid=valid)


def _listed_account(account: AccountRow, now_ms: int) -> r.ListedAccount:
    key = key_of(account)
    return r.ListedAccount(
        name=account.name,
        role=account.role,
        failures=account.failures,
        by=account.by,
        at_ms=account.at_ms,
        disabled=is_disabled(account),
        waiting_ms=waiting_ms(account, now_ms),
        key=mark(key) if key else "",
    )
