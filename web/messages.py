"""What the API takes and answers. The OpenAPI document is generated from these."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

from web.config import HOST

PLAIN: Final = r"^[^\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*$"
"""As record/kit/outside.py reads text: no control characters. Half characters are no UTF-8."""


def _plain(most: int, least: int = 1) -> msgspec.Meta:
    return msgspec.Meta(min_length=least, max_length=most, pattern=PLAIN)


Name = Annotated[str, _plain(64)]
Password = Annotated[str, _plain(1_024)]
Reason = Annotated[str, _plain(500)]
Sentence = Annotated[str, _plain(500)]
Text = Annotated[str, _plain(4_096, 0)]
Person = tuple[Name, Password]
Host = Annotated[str, msgspec.Meta(pattern=f"^(?:{HOST.pattern})$", max_length=262)]
Challenge = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{112}$")]
Page = Annotated[str, msgspec.Meta(pattern="^/([a-z][!-~]{0,999})?$")]
People = Annotated[list[Person], msgspec.Meta(min_length=1, max_length=3)]


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request's body; unknown fields are refused."""


class Login(Body, frozen=True):
    name: Name
    password: Password


class Ask(Body, frozen=True):
    """``next``: the page of this server that is shown after the sign-in."""

    next: Page


class Ticket(Body, frozen=True):
    ticket: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{1,2000}$")]


class TicketFor(Body, frozen=True):
    """``host``: of a table's own machine, as browsers write it; ``challenge``: from there."""

    host: Host
    challenge: Challenge
    next: Page


class At(msgspec.Struct, frozen=True):
    """``url``: where the browser goes next."""

    url: str


class Order(Body, frozen=True):
    """``by``: one to three of [account, password]. ``order``: as at the control socket; those
    that are given here have only texts."""

    by: People
    order: dict[Name, Text]


class Acknowledge(Body, frozen=True):
    by: People
    why: Reason


class Step(Body, frozen=True):
    """A sentence of docs/protocols/scenarios.md or simulator.md."""

    do: Sentence


class Done(msgspec.Struct, frozen=True):
    ok: Literal[True]
    answer: dict[str, Any]


class SessionNow(msgspec.Struct, frozen=True):
    """``signed_in`` is false and ``name`` empty without a session. ``left_s``: until the session
    ends if nobody uses it; ``latest_s``: until it ends in any case. ``ended``: why the session of
    this browser is over, ``ended_s`` seconds ago; ``unknown``: the server was restarted, or it
    ended long ago. ``notice``: the house's text for the page where people sign in. ``floor``: where
    people sign in, if not here."""

    login_required: bool
    signed_in: bool
    name: str
    role: str
    left_s: int
    latest_s: int
    ended: Literal["", "idle", "longest", "replaced", "signed out", "changed", "unknown"]
    ended_s: int | None
    notice: str
    floor: str


class FeedRow(msgspec.Struct, frozen=True):
    """A followed process. ``age_ms``: since its last answer, null if there was none."""

    name: str
    kind: Literal["link", "table", "sim"]
    feed: str
    n: int
    age_ms: int | None
    error: str


class Feeds(msgspec.Struct, frozen=True):
    feeds: list[FeedRow]


class TableRow(msgspec.Struct, frozen=True):
    """``link``: the table's row at the link server, null if it is unknown there."""

    name: str
    url: str
    followed: bool
    simulated: bool
    replay: bool
    link: dict[str, Any] | None


class Tables(msgspec.Struct, frozen=True):
    age_ms: int | None
    tables: list[TableRow]


class Parts(msgspec.Struct, frozen=True):
    """Parts of one feed, as docs/protocols/feed.md describes."""

    feed: str
    n: int
    age_ms: int | None
    parts: dict[str, Any]


class Award(msgspec.Struct, frozen=True):
    """As ``underfelt jackpot show AWARD --json`` prints it; ``sound`` is false with findings."""

    sound: bool
    award: dict[str, Any]


class Moments(msgspec.Struct, frozen=True):
    """As ``underfelt replay N --json`` prints it, a row each; ``sound`` is false if the replay or
    the settlement differs."""

    sound: bool
    rows: list[dict[str, Any]]


class Rounds(msgspec.Struct, frozen=True):
    rounds: list[dict[str, Any]]


class Report(msgspec.Struct, frozen=True):
    """As ``underfelt report KIND --json`` prints it; ``sound`` is false with findings."""

    sound: bool
    report: dict[str, Any]


class Audit(msgspec.Struct, frozen=True):
    """Orders in the order of record; ``next`` is ``after`` of the page that follows, 0 at the
    end."""

    rows: list[dict[str, Any]]
    next: int


class Clause(msgspec.Struct, frozen=True):
    """``text`` is in our words, not the book's."""

    id: str
    book: str
    text: str


class Code(msgspec.Struct, frozen=True):
    """``meaning`` is empty for a code of a vendor's driver."""

    code: str
    meaning: str
    action: str


class Health(msgspec.Struct, frozen=True):
    ok: bool
    missing: list[str]
    """Sources that have not answered lately."""
