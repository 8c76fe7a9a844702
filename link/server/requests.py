"""What may be asked of the loop. A request from outside is read here, strictly and once; from then
on it is a struct.

The other requests never leave the process: they come from the threads of the control socket, once
these have read an order and proved who gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from nacl.signing import SigningKey

from link.accounts import Source
from link.server.staff_orders import AdoptKey, StaffOrder
from link.store.contract import INT64_MAX
from record.kit.feed import LONGEST_WAIT_MS
from record.shape import why

T = TypeVar("T")
MOST_ROWS: Final = 500
"""In one answer."""
MaybeAward = Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[!-~]*$(?!\n)")]
MaybeHex = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{0,32}$(?!\n)")]
MaybeNumber = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{0,18}$(?!\n)")]
Time = Annotated[int, msgspec.Meta(ge=0, le=INT64_MAX)]
Short = Annotated[str, msgspec.Meta(max_length=100)]
Address = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern=r"^[!-~]+$(?!\n)")]
Signers = tuple[tuple[str, SigningKey], ...]
"""People who have just proved their passwords, and the keys these made."""


class NotARequest(Exception):
    """It cannot be read."""

    code = "E-SVC-001"

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


# --- from outside ---------------------------------------------------------------------------------


class Status(msgspec.Struct, frozen=True):
    pass


class Meters(msgspec.Struct, frozen=True):
    pass


class Pools(msgspec.Struct, frozen=True):
    pass


class Listing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page of a list; ``cursor`` is the ``next`` of the page before."""

    verb: str = ""
    cursor: Annotated[str, msgspec.Meta(max_length=300)] = ""


class Tables(Listing, frozen=True):
    pass


class Keys(Listing, frozen=True):
    pass


class Accounts(Listing, frozen=True):
    pass


class Journals(Listing, frozen=True):
    """``prefix``: only journals whose id begins with it."""

    cursor: MaybeHex = ""
    prefix: MaybeHex = ""


class Awards(Listing, frozen=True):
    cursor: MaybeAward = ""


class Alarms(Listing, frozen=True):
    cursor: MaybeNumber = ""

    @property
    def before(self) -> int:
        return int(self.cursor) if self.cursor else INT64_MAX


class Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``after`` is the ``next`` of the page before."""

    kind: Literal["mark", "events", "entries", "alarms"]
    verb: str = "rows"
    after: Time = 0
    from_ms: Time = 0
    to_ms: Time = INT64_MAX
    journal: Short | None = None
    pool: Short | None = None
    most: Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)] = MOST_ROWS


Question = (
    Status | Meters | Pools | Tables | Keys | Accounts | Journals | Awards | Alarms | Rows
)  # fmt: skip
QUESTIONS: Final[Mapping[str, type[Question]]] = {
    "status": Status,
    "meters": Meters,
    "pools": Pools,
}
LISTS: Final[Mapping[str, type[Question]]] = {
    "tables": Tables,
    "keys": Keys,
    "accounts": Accounts,
    "journals": Journals,
    "awards": Awards,
    "alarms": Alarms,
    "rows": Rows,
}
"""In pages."""


class Password(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Does this password fit? ``source`` only from the web process: the browser's address."""

    name: Short
    password: Annotated[str, msgspec.Meta(max_length=1_024)]
    verb: str = "password"
    source: Address | None = None


class Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is newer than ``after`` in this feed; if nothing is, wait so long. The loop only brings
    the feed up to date; the thread of the connection waits."""

    verb: str = "changes"
    feed: Annotated[str, msgspec.Meta(max_length=64)] = ""
    after: Time = 0
    wait_ms: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_WAIT_MS)] = 0


def read_question(verb: str, given: Mapping[str, Any]) -> Question:
    """``verb`` is one of ``QUESTIONS`` or ``LISTS``; ``NotARequest`` with the field."""
    return read_request(QUESTIONS.get(verb) or LISTS[verb], given)


def read_request(kind: type[T], given: Mapping[str, Any]) -> T:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise NotARequest(f"{given['verb']}: {why(error, given, kind)}") from None


# --- from the threads of the control socket -------------------------------------------------------


class WhoIs(msgspec.Struct, frozen=True):
    """The account whose password is to be checked."""

    name: str
    source: Source


class WrongPassword(msgspec.Struct, frozen=True):
    name: str
    source: Source


class Adopt(msgspec.Struct, frozen=True):
    """The owner of an account from before keys has typed the old password."""

    order: AdoptKey
    key: SigningKey


class GiveOrder(msgspec.Struct, frozen=True):
    """An order that people have given and proved."""

    order: StaffOrder
    signers: Signers
    source: Source


class CheckPassword(msgspec.Struct, frozen=True):
    """Somebody has proved a password and orders nothing."""

    name: str
    key: SigningKey
    source: Source


class Backup(msgspec.Struct, frozen=True):
    path: str


Changing = WrongPassword | Adopt | CheckPassword | GiveOrder
"""Half done if they fail, so the ledger is built again from the store."""
Immediate = Question | Changes | WhoIs | Changing
"""Answered in one turn of the loop."""
Asked = Immediate | Backup
