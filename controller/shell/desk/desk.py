"""One command at a time: who asks, what is asked, may he; on the record; then done and answered.

Nothing is done and nothing is answered before the command is in the audit journal. What an act
itself refuses is written down a second time, with its code.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pwd
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from controller.config.live import LiveConfig
from controller.config.people import ShellPerson
from controller.daemon.compose import Table
from controller.daemon.logbook import Entry, say
from controller.daemon.runtime import Runtime
from controller.daemon.service import Peer
from controller.daemon.verbs import Verbs
from controller.faults.catalogue import said
from controller.shell.desk.acts import Acts
from controller.shell.desk.audit import Audit, opener
from controller.shell.desk.recent import Recent
from controller.shell.desk.roles import Act, Asked, Author, author_of, refusal
from controller.shell.desk.runner import Runner
from controller.shell.errors import BROKEN, EXPIRED, NOBODY, ROLE, TEST_MODE, WORD, VerbRefused
from controller.shell.messages import HELLO, UNREADABLE, Done, Refusal, Reply, Request
from controller.shell.parse import Parsed, parse
from controller.shell.verbs import VERBS

ACCEPTED: Final = "accepted"


def _user_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OSError):
        return ""


async def user_of(uid: int) -> str:
    """The name of a uid on this machine, or nothing. The list of users may be a file or a server
    far away: the loop does not wait for it."""
    return await asyncio.get_running_loop().run_in_executor(None, _user_of, uid)


@dataclass(frozen=True, slots=True)
class Access:
    """What decides who may: the people of the configuration, the users of this machine, the date,
    and the user whom the table runs as."""

    people: Callable[[], Sequence[ShellPerson]]
    today: Callable[[], date]
    own_uid: int
    user_of: Callable[[int], Awaitable[str]] = user_of


class Desk:
    """The daemon's end of the shell."""

    def __init__(self, audit: Audit, table: Acts, tests: Runner, access: Access) -> None:
        self.audit, self.tests = audit, tests
        self.acts: Mapping[str, Act] = {**table.all(), **tests.acts()}
        if set(self.acts) != set(VERBS):
            raise ValueError(f"verbs and acts differ: {sorted(set(self.acts) ^ set(VERBS))}")
        self._table, self._access = table, access
        self._going_on: dict[int, tuple[str, ...]] = {}
        """By connection, the repeated look there: it is recorded once."""

    def left(self, peer: Peer) -> None:
        """A connection has ended."""
        self._going_on.pop(peer.number, None)
        self.tests.left(peer)

    async def answer(self, row: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        """For the socket. Never raises."""
        request = Request.read(row)
        reply = await self._reply(request, peer)
        return reply.row() if request.id is None else {"id": request.id, **reply.row()}

    async def _reply(self, request: Request, peer: Peer) -> Reply:
        try:
            return Done(await self._do(request, peer), self._table.at())
        except VerbRefused as refused:
            at = None if refused.code in (NOBODY, EXPIRED) else self._table.at()
            return Refusal(refused.code, refused.text, said(refused.code).action, at)
        except Exception as error:  # its text might name a card
            say(Entry("degraded", logging.ERROR, f"shell: {type(error).__name__}"))
            text = f"the daemon stumbled over it: {type(error).__name__}"
            return Refusal(BROKEN, text, said(BROKEN).action)

    async def _do(self, request: Request, peer: Peer) -> Mapping[str, Any]:
        access = self._access
        user = await access.user_of(peer.uid)
        author, nobody = author_of(
            peer.uid, user, access.people(), own_uid=access.own_uid, today=access.today()
        )
        try:
            if nobody is not None:
                raise nobody
            parsed = self._parsed(request.words, author, peer)
        except VerbRefused as refused:
            await self._note(author, request.words, refused.code)
            raise
        goes_on = parsed is not None and parsed.verb.goes_on and request.cursor is not None
        if not goes_on or self._going_on.get(peer.number) != request.words:
            await self._note(author, request.words, ACCEPTED)
            self._going_on[peer.number] = request.words
            self.tests.commanded(peer)
        if parsed is None:
            return self._hello(author)
        try:
            asked = Asked(parsed.words, author, peer, request.cursor)
            return await self.acts[parsed.verb.name](asked)
        except VerbRefused as refused:
            await self._note(author, request.words, refused.code)
            raise

    def _parsed(self, words: Sequence[str], author: Author, peer: Peer) -> Parsed | None:
        """None: only a greeting."""
        if words == UNREADABLE:
            raise VerbRefused(WORD, "expected up to 8 words of 1 to 64 plain characters")
        if words == HELLO:
            return None
        parsed = parse(words, self._table.live())
        going_on = ""
        if parsed.verb.test and (at := self._table.at()).in_round:
            going_on = f"round {at.round}: {at.phase}"
        if why := refusal(author, parsed.verb, test_mode=self.tests.is_on(), in_round=going_on):
            ended = self.tests.ended(peer) if why.code == TEST_MODE else ""
            raise VerbRefused(why.code, f"{why.text}, which has ended: {ended}") if ended else why
        return parsed

    async def _note(self, author: Author, words: Sequence[str], outcome: str) -> None:
        body = {**author.row(), "words": list(words), "outcome": outcome}
        await self.audit.note(author.uid, body)
        if outcome in (NOBODY, EXPIRED, ROLE):
            verb = words[0] if words else "an empty line"
            text = f"shell: {author.user or 'unknown user'} (uid {author.uid}): {verb} refused"
            say(Entry("authorisation refused", logging.WARNING, text, None, outcome))

    def _hello(self, author: Author) -> dict[str, Any]:
        until = None if author.until is None else author.until.isoformat()
        live = {kind: list(names) for kind, names in self._table.live().items()}
        return {**author.row(), "until": until, "live": live}


def desk_of(
    config: LiveConfig,
    table: Table,
    runtime: Runtime,
    verbs: Verbs,
    recent: Recent,
    *,
    audit: Audit | None = None,
    access: Access | None = None,
) -> Desk:
    """The desk of a running table. Roles come from the configuration in force."""
    clock = table.clock

    def people() -> Sequence[ShellPerson]:
        chosen = runtime.beside.chosen
        return () if chosen is None else chosen.people

    journal = config.journal
    if audit is None:
        opens = opener(journal.path, config.name, journal.retention_days)
        audit = Audit(opens, clock.wall_ms)
    acts = Acts(config, table, runtime, verbs, recent)
    tests = Runner(config, runtime, audit, verbs.counters, recent.identities)
    return Desk(audit, acts, tests, access or Access(people, clock.today, os.geteuid()))
