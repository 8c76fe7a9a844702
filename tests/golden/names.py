"""Every name that stands on disk or goes over a wire because a type of ours has it.

Types are walked, their own names are left out: a class can be renamed or moved, and nothing here
changes. ``python -m tests.golden.names > tests/golden/names.txt`` after a name was added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from controller.config import options
from controller.deckwatch.state import WatchState as DeckWatch
from controller.history import codec as typed
from controller.history import entries, snapshot
from controller.history.gamingday.sheet import Day
from controller.history.selection import entries as selection
from controller.rules import events as ev
from controller.rules.cards import Card, HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.names import WHATS
from controller.rules.engine.state import TableState
from controller.rules.hands import HAND_NAMES, THREE_HAND_NAMES
from controller.rules.settings import MONEY_SPEC, TABLE_SPEC
from controller.shell.desk import readings
from controller.shell.verbs import VERBS
from link import rows
from link.ledger import level
from link.ledger.orders import Given
from link.ledger.terms import Pool
from link.server import requests
from link.server.staff_orders import StaffOrder
from record.link.messages import FromServer, FromTable, Hit, Meters

STORED: Final = {
    "event": rows.EventRow, "entry": rows.Entry, "balance": rows.BalanceRow,
    "level": rows.LevelRow, "journal": rows.JournalRow, "award": rows.AwardRow,
    "step": rows.AwardStep, "alarm": rows.AlarmRow, "key": rows.KeyRow,
    "account": rows.AccountRow,
}  # fmt: skip
DRAWS: Final = (
    selection.CommittedEntry | selection.RevealedEntry | selection.WithdrawnEntry
    | selection.LostEntry
)  # fmt: skip


def names() -> Iterator[str]:
    """Fields in their order: that of the state is part of every digest."""
    for name, kind in WHATS.items():
        yield f"journal fact {name}"
        yield from _walk(kind, f"journal fact {name}")
    for name, other in entries._OTHERS.items():
        yield from _walk(other, f"journal {name}")
    yield from _walk(f.Measured, "journal fact by")
    yield from _walk(f.Declared, "journal fact by")
    yield from (f"journal standing {name}" for name in snapshot._FIELDS)
    yield from (f"journal round {name}" for name in snapshot._ROUND_FIELDS)
    yield from _walk(TableState, "journal standing state")
    yield from _walk(Day, "journal day")
    yield from _walk(DeckWatch, "journal deckwatch")
    yield from _walk(DRAWS, "journal selection")
    for name, event in ev.EVENTS.items():
        yield f"record event {name}"
        yield from _walk(event, f"record event {name}")
    yield from (f"record hand {name}" for name in (*HAND_NAMES, *THREE_HAND_NAMES))
    yield from _walk(FromTable, "link from table")
    yield from _walk(FromServer, "link from server")
    yield from _walk(Meters, "link meters")
    yield from _walk(Hit, "link hits")
    yield from _walk(Given, "store order")
    yield from _walk(StaffOrder, "control order")
    yield from _walk(level.LevelState, "store level state")
    yield from _walk(Pool, "store pool")
    for name, row in STORED.items():
        yield from _walk(row, f"store and control {name}")
    yield from (f"control verb {verb}" for verb in sorted((*requests.QUESTIONS, *requests.LISTS)))
    for asked in (requests.Rows, requests.Listing, requests.Journals):
        yield from _walk(asked, "control list")
    yield from (f"shell verb {verb}" for verb in VERBS)
    yield from (f"shell {text}" for text in told_readings())
    yield from (f"configuration {name}" for name in options.OPTIONS)
    yield from (f"configuration settings.{name}" for name in (*MONEY_SPEC, *TABLE_SPEC))


def told_readings() -> Iterator[str]:
    for called, told in readings._TOLD.values():
        yield f"reading {called} {' '.join(told)}"


def _walk(hint: Any, path: str, above: tuple[Any, ...] = ()) -> Iterator[str]:
    if isinstance(hint, str) or hint in above or hint in (Any, Card, HiddenCard, NoneType):
        return
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        yield from _walk(args[0], path, above)
    elif origin is Literal:
        yield from (f"{path} = {value}" for value in args)
    elif origin in (Union, UnionType):
        yield from _union(args, path, above)
    elif isinstance(origin, type):
        for number, inner in enumerate(one for one in args if one is not Ellipsis):
            yield from _walk(inner, f"{path}[{number}]" if len(args) > 1 else f"{path}[]", above)
    elif isinstance(hint, type) and issubclass(hint, Enum):
        yield from (f"{path} = {value}" for value in _enum(hint))
    elif isinstance(hint, type):
        yield from _struct(hint, path, (*above, hint))


def _enum(kind: type[Enum]) -> Iterator[str]:
    put = typed.codec(kind).put
    return (str(put(member, lambda _: None)) for member in kind)


def _union(args: tuple[Any, ...], path: str, above: tuple[Any, ...]) -> Iterator[str]:
    rest = tuple(one for one in args if one is not NoneType)
    if len(rest) == 1 or not all(isinstance(one, type) for one in rest):
        for one in rest:
            yield from _walk(one, path, above)
        return
    told = _tags(rest)
    for tag, one in told.items():
        yield f"{path} <{tag}>"
        yield from _walk(one, f"{path} <{tag}>", above)


def _tags(kinds: tuple[Any, ...]) -> Mapping[str, type]:
    if all(issubclass(kind, msgspec.Struct) for kind in kinds):
        return {f"{k.__struct_config__.tag_field}={k.__struct_config__.tag}": k for k in kinds}
    if all(is_dataclass(kind) for kind in kinds):
        return {f"is={typed.tag_of(kind)}": kind for kind in kinds}
    return {}


def _struct(kind: type, path: str, above: tuple[Any, ...]) -> Iterator[str]:
    if issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind, include_extras=True)
        listed = kind.__struct_config__.array_like
        for number, one in enumerate(msgspec.structs.fields(kind)):
            name = f"{path}.{one.encode_name}{f' [{number}]' if listed else ''}"
            yield name
            yield from _walk(hints[one.name], name, above)
    elif is_dataclass(kind):
        hints = get_type_hints(kind)
        for field in fields(kind):
            if kind is TableState and field.name in snapshot._APART:
                continue
            yield f"{path}.{field.name}"
            yield from _walk(hints[field.name], f"{path}.{field.name}", above)


if __name__ == "__main__":
    print("\n".join(dict.fromkeys(names())))
