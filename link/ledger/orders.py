"""Orders: what people, the clock and the server itself decide. Each becomes an event of record.

An order stands among the events as table ``""``, journal ``""``; its body is JSON,
``{"by": [[account, role], ...], "order": {"what": ...}, "proofs": [...]}``. State is the fold of
all events. ``proofs`` are the signatures of the people; the server's own orders have none.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from link.ledger.errors import PoolError
from link.ledger.terms import PoolTerms, Terms
from record.link.events import Cents, Count, Round, Seat, Word
from record.link.messages import AwardId, Code, Hash, JournalId, Text
from record.shape import why

Why = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
MaybeHash = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?$(?!\n)")]
MaybeId = Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32})?$(?!\n)")]
Short = Annotated[str, msgspec.Meta(max_length=64)]


class Person(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """``[account, role]``. The server itself is ``["server", ""]``, the clock ``["clock", ""]``."""

    account: Word
    role: Short = ""


SERVER: Final = Person("server")
CLOCK: Final = Person("clock")
CONFIGURATION: Final = Person("configuration")
MACHINE: Final = Person("machine")
"""Someone at the machine with the server stopped."""


class OrderBody(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="what"
):
    """The kind of an order is its ``what``."""


# --- given by people ----------------------------------------------------------------------------


class Verify(OrderBody, frozen=True, tag="verify"):
    """Deck and hand were checked."""

    award: AwardId
    note: Text = ""


class Approve(OrderBody, frozen=True, tag="approve"):
    """Once by each of two people with different roles."""

    award: AwardId
    note: Text = ""


class Pay(OrderBody, frozen=True, tag="pay"):
    """The money was handed over."""

    award: AwardId
    note: Text = ""


class Reject(OrderBody, frozen=True, tag="reject"):
    award: AwardId
    why: Why


class Accept(OrderBody, frozen=True, tag="accept"):
    """A proposed journal is the table's: once by each of two people with different roles."""

    journal: JournalId
    note: Text = ""


class Resume(OrderBody, frozen=True, tag="resume"):
    """A halted journal continues where it stopped; two people. ``skip`` names the event kept
    as evidence and has no effect, by its number and hash."""

    journal: JournalId
    why: Why
    skip: Count = 0
    skip_hash: MaybeHash = ""


class Retire(OrderBody, frozen=True, tag="retire"):
    """Nothing more is taken from a journal: consent to clear the memory of its table; two people.
    What the table plays from now on stands in a new journal, which people must accept."""

    journal: JournalId
    why: Why


class Restore(OrderBody, frozen=True, tag="restore"):
    """Something was put back from a copy; two people. With a journal: its head went back to here.
    Without: the server's own store."""

    why: Why
    journal: MaybeId = ""
    head_seq: Count = 0
    head_hash: MaybeHash = ""


class Change(OrderBody, frozen=True, tag="change"):
    """Other parameters of a level, from its next generation on; two people."""

    pool: Word
    terms: Terms


class LinkTables(OrderBody, frozen=True, tag="link"):
    """Who plays for a pool; two people. Also given by the configuration at a start."""

    pool: Word
    terms: PoolTerms


class Transfer(OrderBody, frozen=True, tag="transfer"):
    """Move money of a level to another pool's level; two people. 0 moves all of it, with reserve
    and next base."""

    pool: Word
    level: Word
    to_pool: Word
    to_level: Word
    why: Why
    cents: Cents = 0


class Close(OrderBody, frozen=True, tag="close"):
    """Decommission an empty pool; two people."""

    pool: Word
    why: Why


class Note(OrderBody, frozen=True, tag="note"):
    """For the record; changes nothing. ``text`` is the server's own, such as a draw's JSON."""

    topic: Word
    text: Annotated[str, msgspec.Meta(max_length=60_000)]


class AcknowledgeAlarm(OrderBody, frozen=True, tag="acknowledge alarm"):
    """Somebody looks after an open alarm, named by the id of the row that opened it. For the
    record; what is shown of it is the server's (``link.server.alarm_board``)."""

    alarm: Count
    why: Why


class Office(OrderBody, frozen=True, tag="office"):
    """Accounts or keys were changed: ``text`` is the JSON of the order, of
    ``link.server.staff_orders``."""

    text: Annotated[str, msgspec.Meta(max_length=60_000)]


# --- given by the server and the clock ------------------------------------------------------------


class Founded(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """``[name, role, key]``: an account, and its public key in hexadecimal."""

    name: Word
    role: Word
    key: str


class Found(OrderBody, frozen=True, tag="found"):
    """Accounts were made or replaced without proof: at the machine, or by the upgrade of a store
    from before keys. Two people must acknowledge it."""

    accounts: tuple[Founded, ...]
    why: Why
    upgrade: bool = False


class Open(OrderBody, frozen=True, tag="open"):
    """A level begins."""

    pool: Word
    terms: Terms


class Draw(OrderBody, frozen=True, tag="draw"):
    """The hidden trigger of a mystery level's generation: committed, sealed."""

    pool: Word
    level: Word
    generation: Count
    low_cents: Cents
    high_cents: Cents
    commitment: Hash
    sealed: str
    """Hexadecimal."""
    opened: str = ""
    """Seed of the trigger that this one replaces, if a hit opened it or a restored award did."""


class Select(OrderBody, frozen=True, tag="select"):
    """Magic card and lucky player of a round, for a table that asked for them."""

    journal: JournalId
    round: Round
    digest: Hash
    seed: Hash
    salt: str
    """Seed and salt are hexadecimal."""
    magic_card: str | None
    lucky_seat: Seat | None


class LockTies(OrderBody, frozen=True, tag="lock"):
    """The time for ties is over: lock every waiting claim of the pool."""

    pool: Word


class Propose(OrderBody, frozen=True, tag="propose"):
    """A journal that the server did not know."""

    journal: JournalId
    table: Word


class Halt(OrderBody, frozen=True, tag="halt"):
    """Nothing more is taken from a journal until people have looked into it."""

    journal: JournalId
    code: Code
    text: Text
    evidence: Annotated[str, msgspec.Meta(max_length=70_000)] = ""
    """The message that did it, as it came."""


class Alarm(OrderBody, frozen=True, tag="alarm"):
    """What the server itself saw: a key nobody knows, frames that are no messages."""

    code: Code
    text: Text
    table: Short = ""


Order = (
    Verify
    | Approve
    | Pay
    | Reject
    | Accept
    | Resume
    | Retire
    | Restore
    | Change
    | LinkTables
    | Transfer
    | Close
    | Note
    | AcknowledgeAlarm
    | Office
    | Found
    | Open
    | Draw
    | Select
    | LockTies
    | Propose
    | Halt
    | Alarm
)


TWO_PEOPLE: Final = (Reject, Resume, Retire, Restore, Change, Transfer, Close)
"""What changes a pool, or who is heard, needs two people with different roles."""
OWN: Final = (Open, LinkTables, Draw, Select, LockTies, Propose, Halt, Alarm, Office, Found)
"""The server gives these itself."""


def what_of(order: Order) -> str:
    """Its name on disk and to people."""
    return str(order.__struct_config__.tag)


def check_people(order: Order, people: tuple[Person, ...]) -> None:
    what = what_of(order)
    if isinstance(order, OWN):
        raise PoolError("E-POOL-029", f"{what} is not an order of people")
    wanted = 2 if isinstance(order, TWO_PEOPLE) else 1
    different = len({p.account for p in people}) == len({p.role for p in people}) == wanted
    if len(people) != wanted or not different or not all(p.role for p in people):
        many = "two people with different roles" if wanted == 2 else "one person with a role"
        raise PoolError("E-POOL-023", f"{what} needs {many}")


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An order as it stands in an event row."""

    by: tuple[Person, ...]
    order: Order
    proofs: tuple[str, ...] = ()
    """Signatures in hexadecimal, one for each of ``by``; over ``link.rows.staff_text`` of this body
    without them."""


_given: Final = msgspec.json.Decoder(Given)


def read_given(body: bytes) -> Given:
    """Of an event row."""
    return _given.decode(body)


def check_readable(order: Order, body: bytes) -> None:
    """What cannot be read again is not recorded. For orders that were made here: nobody else has
    checked them."""
    try:
        read_given(body)
    except msgspec.ValidationError as error:
        said = why(error, body, Given)
        raise PoolError("E-POOL-002", f"{what_of(order)}: {said}") from None
