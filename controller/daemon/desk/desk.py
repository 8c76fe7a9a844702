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
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from controller.config.people import ShellPerson
from controller.daemon.desk.audit import Audit
from controller.daemon.desk.roles import Author, author_of, refusal
from controller.daemon.logbook import Entry, say
from controller.daemon.service import Peer
from controller.faults.catalogue import said
from controller.shell.errors import BROKEN, EXPIRED, NOBODY, ROLE, TEST_MODE, WORD, Refused
from controller.shell.parse import Live, Parsed, checked, parse
from controller.shell.verbs import VERBS

ACCEPTED: Final = "accepted"
HELLO: Final = "hello"
"""The one word that is no verb: a client asks who he is and what there is to complete."""
UNREADABLE: Final = "?"


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that may be done: its words by name, and who asks."""

    words: Mapping[str, str]
    author: Author
    peer: Peer
    cursor: int | None = None
    """Of a look that goes on: only what came after it is wanted."""


Act = Callable[[Asked], Awaitable[Mapping[str, Any]]]
"""What a verb does: data comes out, or Refused."""


def _user_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OSError):
        return ""


async def user_of(uid: int) -> str:
    """The name of a uid on this machine, or nothing. The list of users may be a file or a server
    far away: the loop does not wait for it."""
    return await asyncio.get_running_loop().run_in_executor(None, _user_of, uid)


@dataclass
class Desk:
    """``acts`` has an entry for every verb of the table of verbs."""

    audit: Audit
    acts: Mapping[str, Act]
    live: Callable[[], Live]
    """Devices and seats of this table, for words and completion."""
    at: Callable[[], Mapping[str, Any]]
    """Table, round, phase and troubles, for the prompt."""
    people: Callable[[], Sequence[ShellPerson]]
    test_mode: Callable[[], bool] = lambda: False
    test_ended: Callable[[Peer], str] = lambda _peer: ""
    """Why whoever had test mode last, if it is he, has it no longer."""
    leaving: list[Callable[[Peer], None]] = field(default_factory=list)
    """Told of every connection that ends."""
    commanded: Callable[[Peer], None] = lambda _peer: None
    """Told of every command that is taken; a look that only goes on is none."""
    user_of: Callable[[int], Awaitable[str]] = user_of
    today: Callable[[], date] = lambda: datetime.now().astimezone().date()
    own_uid: int = field(default_factory=os.geteuid)
    _going_on: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """By connection the look that goes on there: it is on the record once."""

    def left(self, peer: Peer) -> None:
        self._going_on.pop(peer.number, None)
        for told in self.leaving:
            told(peer)

    async def answer(self, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        """For the socket. Never raises."""
        told = {"id": request["id"]} if isinstance(request.get("id"), int) else {}
        try:
            return {**told, **await self._answer(request, peer)}
        except Refused as refused:
            why = {"error": refused.code, "text": refused.text, "do": said(refused.code).action}
            if refused.code in (NOBODY, EXPIRED):
                return {**told, **why}
            return {**told, **why, "at": dict(self.at())}
        except Exception as error:  # its text might name a card
            say(Entry("degraded", logging.ERROR, f"shell: {type(error).__name__}"))
            text = f"the daemon stumbled over it: {type(error).__name__}"
            return {**told, "error": BROKEN, "text": text, "do": said(BROKEN).action}

    async def _answer(self, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        user = await self.user_of(peer.uid)
        author, nobody = author_of(
            peer.uid, user, self.people(), own_uid=self.own_uid, today=self.today()
        )
        words = self._words(request)
        cursor = request.get("cursor")
        try:
            if nobody is not None:
                raise nobody
            parsed = self._parsed(words, author, peer)
        except Refused as refused:
            await self._note(author, words, refused.code)
            raise
        asked = Asked(
            {} if parsed is None else parsed.words,
            author,
            peer,
            cursor if isinstance(cursor, int) and not isinstance(cursor, bool) else None,
        )
        await self._accept(asked, words, goes_on=parsed is not None and parsed.verb.goes_on)
        try:
            data = self._hello(author) if parsed is None else await self._act(parsed, asked)
        except Refused as refused:
            await self._note(author, words, refused.code)
            raise
        return {"ok": True, "data": data, "at": dict(self.at())}

    def _words(self, request: Mapping[str, Any]) -> list[str]:
        """What was asked, as far as it can stand in a record."""
        try:
            return checked(request.get("words"))
        except Refused:
            return [UNREADABLE]

    def _parsed(self, words: list[str], author: Author, peer: Peer) -> Parsed | None:
        """None: only a greeting."""
        if words == [UNREADABLE]:
            raise Refused(WORD, "expected up to 8 words of 1 to 64 plain characters")
        if words == [HELLO]:
            return None
        parsed = parse(words, self.live())
        at = self.at() if parsed.verb.test else {}
        going_on = f"round {at['round']}: {at['phase']}" if at.get("in_round") else ""
        if why := refusal(author, parsed.verb, test_mode=self.test_mode(), in_round=going_on):
            ended = self.test_ended(peer) if why.code == TEST_MODE else ""
            raise Refused(why.code, f"{why.text}, which has ended: {ended}") if ended else why
        return parsed

    async def _accept(self, asked: Asked, words: list[str], *, goes_on: bool) -> None:
        number, line = asked.peer.number, tuple(words)
        if goes_on and asked.cursor is not None and self._going_on.get(number) == line:
            return
        await self._note(asked.author, words, ACCEPTED)
        self._going_on[number] = line
        self.commanded(asked.peer)

    async def _note(self, author: Author, words: list[str], outcome: str) -> None:
        body = {**author.row(), "words": words, "outcome": outcome}
        await self.audit.note(author.uid, body)
        if outcome in (NOBODY, EXPIRED, ROLE):
            verb = words[0] if words else "an empty line"
            text = f"shell: {author.user or 'unknown user'} (uid {author.uid}): {verb} refused"
            say(Entry("authorisation refused", logging.WARNING, text, None, outcome))

    async def _act(self, parsed: Parsed, asked: Asked) -> Mapping[str, Any]:
        return await self.acts[parsed.verb.name](asked)

    def _hello(self, author: Author) -> dict[str, Any]:
        until = None if author.until is None else author.until.isoformat()
        live = {kind: list(names) for kind, names in self.live().items()}
        return {**author.row(), "until": until, "live": live}


def check_acts(acts: Mapping[str, Act]) -> None:
    """A verb without an act, or an act without a verb, is our mistake."""
    if set(acts) != set(VERBS):
        raise ValueError(f"verbs and acts differ: {sorted(set(acts) ^ set(VERBS))}")
