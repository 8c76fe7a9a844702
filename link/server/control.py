"""The control socket: one JSON request per line, one answer. Its own threads; the loop decides.

Who connects is known from the socket (SO_PEERCRED) and must be in its group; who orders proves a
named account with a password. Passwords are checked here, one at a time, so that guessing is slow
and the loop never waits for it.
"""

from __future__ import annotations

import os
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from nacl.signing import SigningKey

from link import accounts
from link.accounts import AccountRefused, Source
from link.rows import AccountRow
from link.server.bridge import Bridge
from link.server.log import Log
from link.server.replies import AccountFound, Refusal, Reply
from link.server.requests import (
    LISTS,
    QUESTIONS,
    Address,
    Adopt,
    Asked,
    Backup,
    Changes,
    CheckPassword,
    GiveOrder,
    NotARequest,
    Password,
    WhoIs,
    WrongPassword,
    read_question,
    read_request,
)
from link.server.staff_chain import adoption
from link.server.staff_office import WRONG
from link.server.staff_orders import read_order
from record.kit.followers import Followers, Places, trusted_users
from record.kit.lines import (
    BUSY,
    NO_REQUEST,
    Answer,
    bound,
    line_of,
    no_such_verb,
    peer_of,
    refusal,
)
from record.kit.outside import INT64, NotStrict, read_json

LONGEST: Final = 1 << 20
LONGEST_TEXT: Final = 60_000
LONGEST_PATH: Final = 1_000
AT_ONCE: Final = 8
IDLE_S: Final = 30.0
AWAY_S: Final = 0.2
AGAIN_S: Final = 0.1
BACKLOG: Final = 128
DROPPED: Final = 1 << 16
MOST_PEOPLE: Final = 3
FOLLOWERS: Final = Places(all=4, trusted=4, others=2, other=1)
"""Half of the connections that the socket serves at once; the rest is for people."""
TRY_AGAIN: Final = refusal(BUSY, "busy; try again")
TOO_LONG: Final = refusal(
    NO_REQUEST, f"a line is too long; a request is one line, at most {LONGEST >> 20} MiB"
)


class Asker(NamedTuple):
    """Who asks."""

    uid: int
    gone: Callable[[], bool]
    """True once nobody can read the answer."""


class Control:
    def __init__(self, path: Path, bridge: Bridge, log: Log) -> None:
        self.path = path
        self._bridge, self._log = bridge, log
        self._socket: socket.socket | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._idle: dict[socket.socket, float] = {}
        """Connections that wait for a request, and since when."""
        self._free = threading.Semaphore(AT_ONCE)
        self._one_guess = threading.Lock()
        self._verbs: dict[str, Callable[[Mapping[str, Any], Asker], Answer]] = {
            "order": self._order,
            "backup": self._backup,
            "changes": self._changes,
            "password": self._password,
        }
        self._followers = Followers(FOLLOWERS)

    @property
    def verbs(self) -> tuple[str, ...]:
        return (*QUESTIONS, *LISTS, *self._verbs)

    def start(self) -> None:
        self._socket = bound(self.path)
        self._socket.listen(BACKLOG)
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def close(self) -> None:
        self._closed = True
        if self._socket is not None:
            self._socket.close()
            self.path.unlink(missing_ok=True)

    def _accept(self) -> None:
        assert self._socket is not None
        said = False
        while not self._closed:
            try:
                connection, _ = self._socket.accept()
            except (OSError, MemoryError) as error:
                if not self._closed and not said:
                    why = getattr(error, "strerror", None) or "no memory"
                    self._log.error(f"control socket: {why}", fault_code="E-SVC-009")
                said = True
                time.sleep(AGAIN_S)  # out of descriptors for a moment; who asks waits in the queue
                continue
            said = False
            if not self._free.acquire(blocking=False) and not self._make_room():
                with connection:
                    _last_word(connection, TRY_AGAIN)
                continue
            self._waits(connection)
            try:
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()
            except (RuntimeError, MemoryError):  # no thread to be had
                self._works(connection)
                connection.close()
                self._free.release()

    def _make_room(self) -> bool:
        """End the connection that has said nothing for longest; False if all are being answered."""
        with self._lock:
            waiting = sorted((since, id(one), one) for one, since in self._idle.items())
            for _, _, one in waiting[:1]:
                del self._idle[one]
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        return bool(waiting) and self._free.acquire(timeout=AWAY_S)

    def _talk(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as lines:
                connection.settimeout(IDLE_S)
                uid, gone = peer_of(connection).uid, partial(hung_up, connection)
                while line := lines.readline(LONGEST + 1):
                    if not self._works(connection):
                        break
                    if len(line) > LONGEST:
                        _last_word(connection, TOO_LONG)
                        break
                    answer = line_of(self.answer(line, uid, gone))
                    self._waits(connection)  # before it is sent: who does not read it gives way
                    connection.sendall(answer)
        except (OSError, MemoryError):
            pass  # gone, or it asked for more than there is
        finally:
            self._works(connection)
            self._free.release()

    def _waits(self, connection: socket.socket) -> None:
        with self._lock:
            self._idle[connection] = time.monotonic()

    def _works(self, connection: socket.socket) -> bool:
        """False if it was ended meanwhile."""
        with self._lock:
            return self._idle.pop(connection, None) is not None

    def answer(self, line: bytes, uid: int, gone: Callable[[], bool] = bool) -> Answer:
        """The JSON object that answers a line; ``gone`` says when nobody can read it any more."""
        try:
            request = read_json(line, most_int=INT64, longest=LONGEST_TEXT)
        except NotStrict as error:
            said = f"a request is one strict JSON object per line: {error}"
            return refusal(NO_REQUEST, said)
        verb = request.get("verb") if isinstance(request, dict) else None
        try:
            if isinstance(verb, str) and (verb in QUESTIONS or verb in LISTS):
                return _told(self._bridge.ask(read_question(verb, request)))
            if isinstance(verb, str) and verb in self._verbs:
                return self._verbs[verb](request, Asker(uid, gone))
        except (TimeoutError, ConnectionError):
            return refusal("E-SVC-006", "the server does not answer; is it stopping?")
        except (AccountRefused, NotARequest) as error:
            return refusal(error.code, error.text)
        except Exception as error:  # one request may fail, the socket may not
            self._log.error(f"{verb!r}: {type(error).__name__}: {error}", fault_code="E-SVC-008")
            return refusal("E-SVC-008", "the server could not do it; nothing changed")
        return no_such_verb(verb, self.verbs)

    def _backup(self, request: Mapping[str, Any], asker: Asker) -> Answer:
        if asker.uid not in (0, os.geteuid()):
            return refusal("E-SVC-007", "only the server's own user may back it up")
        path = request.get("path")
        if not isinstance(path, str) or not path.startswith("/") or len(path) > LONGEST_PATH:
            return refusal(NO_REQUEST, "path: expected the whole path of a new file")
        return _told(self._bridge.ask(Backup(path), timeout_s=3_600))

    def _changes(self, request: Mapping[str, Any], asker: Asker) -> Answer:
        """Waits in the thread of its connection. While it waits the connection is not idle, so it
        does not give way to others; there are never so many that people find no room."""
        asked = read_request(Changes, request)
        trusted = asker.uid in trusted_users()
        with self._followers.one_more(asker.uid, trusted=trusted) as full:
            if full:
                return refusal(BUSY, full)
            feed = self._bridge.feed
            if not feed.is_fresh():
                told = self._bridge.ask(asked)
                if isinstance(told, Refusal):
                    return _told(told)
            changes = feed.wait(asked.feed, asked.after, asked.wait_ms, asker.gone)
        return {**changes, "at_ms": time.time_ns() // 1_000_000}

    # --- orders -----------------------------------------------------------------------------------

    def _order(self, request: Mapping[str, Any], asker: Asker) -> Answer:
        by, raw = request.get("by"), request.get("order")
        if not isinstance(by, list) or not 1 <= len(by) <= MOST_PEOPLE:
            text = f"by: expected 1 to {MOST_PEOPLE} of [account, password]"
            return refusal(NO_REQUEST, text)
        if not isinstance(raw, dict):
            return refusal(NO_REQUEST, "order: expected a JSON object")
        source = self._source(request, asker.uid)
        people = []
        for pair in by:
            if not (
                isinstance(pair, list) and len(pair) == 2 and all(isinstance(s, str) for s in pair)
            ):
                return refusal(NO_REQUEST, "by: expected [account, password]")
            people.append((pair[0], self._proved(pair[0], pair[1], source)))
        try:
            order = read_order(raw)
        except ValueError as error:
            return refusal("E-ACT-007", f"order: {error}")
        answer = self._bridge.ask(GiveOrder(order, tuple(people), source))
        done = answer.error if isinstance(answer, Refusal) else "done"
        what = str(raw.get("what", ""))[:40]
        names = " and ".join(name for name, _ in people)
        self._log.info(f"order {what!r} by {names}: {done}", uid=asker.uid, source=str(source))
        return _told(answer)

    def _password(self, request: Mapping[str, Any], asker: Asker) -> Answer:
        """Whether it fits, and nothing else; as slow as an order after wrong ones."""
        source = self._source(request, asker.uid)
        asked = read_request(Password, request)
        key = self._proved(asked.name, asked.password, source)
        return _told(self._bridge.ask(CheckPassword(asked.name, key, source)))

    def _source(self, request: Mapping[str, Any], uid: int) -> Source:
        """Whom wrong passwords are counted against. All browsers come over one user of this
        machine, so that one may say which it is; nobody else may choose."""
        if "source" not in request:
            return uid
        if uid not in trusted_users():
            raise NotARequest("source: only the web process may say where a request comes from")
        return read_request(_From, {"verb": request["verb"], "source": request["source"]}).source

    def _proved(self, name: str, password: str, source: Source) -> SigningKey:
        """The key that the password makes."""
        with self._one_guess:
            found = self._asked(WhoIs(name, source))
            assert isinstance(found, AccountFound)
            if found.waiting_ms:
                seconds = -(-found.waiting_ms // 1_000)
                said = f"too many wrong passwords; try again in {seconds} s, or two others unlock"
                raise AccountRefused("E-ACT-010", said)
            account = found.account
            secret = accounts.proved(account, password)
            if secret is None and account is not None and accounts.fits_old(account, password):
                secret = self._adopted(account, password)
            if secret is not None:
                return secret
            self._asked(WrongPassword(name, source))
            self._log.warning(f"wrong password for {name[:32]!r}", fault_code="E-ACT-001")
        raise AccountRefused("E-ACT-001", WRONG)

    def _adopted(self, account: AccountRow, password: str) -> SigningKey:
        """The first password of an account from before keys makes its key."""
        order, secret = adoption(account, password, secrets.token_bytes(accounts.SALT_BYTES))
        self._asked(Adopt(order, secret))
        return secret

    def _asked(self, asked: Asked) -> Reply:
        answer = self._bridge.ask(asked)
        if isinstance(answer, Refusal):
            raise AccountRefused(answer.error, answer.text)
        return answer


class _From(msgspec.Struct, frozen=True):
    source: Address


def hung_up(connection: socket.socket) -> bool:
    """True if nobody can read an answer any more. A peer that only ended its own side still can."""
    asked = select.poll()
    asked.register(connection, 0)  # POLLHUP and POLLERR are always reported
    return bool(asked.poll(0))


def _told(reply: Reply) -> Answer:
    answer: Answer = msgspec.to_builtins(reply)
    return answer


def _last_word(connection: socket.socket, answer: Answer) -> None:
    """What it says is read and dropped for a moment, however much it is: closed with something
    unread, the answer would be lost."""
    end = time.monotonic() + AWAY_S
    with suppress(OSError):
        connection.settimeout(AWAY_S)
        connection.sendall(line_of(answer))
        connection.shutdown(socket.SHUT_WR)
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            if not connection.recv(DROPPED):
                return
