"""JSON values of the engine's dataclasses, by their type hints, strictly both ways.

A codec is built once per type. A hidden card never becomes JSON here: ``put`` asks the caller's
``hide`` for what stands in its place, ``take`` asks ``unhide`` for the card. Knows no kind of entry
and no key. A field's name on disk is its name in the class (tests/golden/names.txt has all of
them); the names of classes and of members of an enumeration are never on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from controller.history.errors import BodyError
from controller.rules import events as ev
from controller.rules.cards import BY_NAME, NAMES, Card, HiddenCard
from controller.rules.engine.names import NAME_OF
from controller.rules.hands import HAND_BY_NAME, Hand
from record.kit.words import shown

Hide = Callable[[HiddenCard], Any]
Unhide = Callable[[Any], HiddenCard]

UNKNOWN_FIELD: Final = "E-ENT-004"
MISSING_FIELD: Final = "E-ENT-005"
BAD_VALUE: Final = "E-ENT-006"


@dataclass(frozen=True, slots=True)
class Codec:
    """One type both ways. ``take`` raises ``BodyError`` with a path that grows outwards."""

    put: Callable[[Any, Hide], Any]
    take: Callable[[Any, Unhide], Any]


def _bad(value: object, expected: str) -> BodyError:
    return BodyError(BAD_VALUE, "", f"{shown(value)}: expected {expected}")


_TAGS: Final[Mapping[type, str]] = {
    **NAME_OF,
    **{kind: name.replace("_", " ") for kind, name in ev.NAME_OF.items()},
}
_MEMBERS: Final[Mapping[type[Enum], Mapping[str, Enum]]] = {Hand: HAND_BY_NAME}
"""Enumerations whose values are numbers, by their names on disk."""


def tag_of(kind: type) -> str:
    """What ``is`` says of a class that stands beside others; never its own name."""
    try:
        return _TAGS[kind]
    except KeyError:
        raise TypeError(f"{kind!r} has no name on disk") from None


def no_hidden_card(_: object) -> HiddenCard:
    raise _bad("a sealed card", "none here")


_CODECS: Final[dict[Any, Codec]] = {}


def codec(hint: Any) -> Codec:
    """The codec of a type hint; fails at once for a type that has no JSON form here."""
    found = _CODECS.get(hint)
    if found is None:
        found = _CODECS[hint] = _build(hint)
    return found


def _build(hint: Any) -> Codec:
    if hint is Any:
        return Codec(lambda v, _: v, lambda v, _: v)
    if hint is Card:
        return Codec(lambda v, _: NAMES[v], lambda v, _: _one_of(v, BY_NAME))
    if hint is HiddenCard:
        return Codec(lambda v, hide: hide(v), lambda v, unhide: unhide(v))
    if hint in (int, str, bool, NoneType):
        return _scalar(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return Codec(lambda v, _: v, _literal(args))
    if origin in (Union, UnionType):
        return _union(args)
    if origin is tuple:
        return _sequence(codec(args[0])) if args[-1] is Ellipsis else _row(args)
    if origin is frozenset:
        return _set(codec(args[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _pairs(codec(args[0]), codec(args[1]))
    if origin is list:
        return _list(codec(args[0]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return _dataclass(hint)
    raise TypeError(f"{hint!r} has no JSON form")


def _one_of(value: Any, table: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or value not in table:
        listed = ", ".join(table) if len(table) < 20 else "a card such as Th"
        raise _bad(value, listed)
    return table[value]


def _scalar(kind: type) -> Codec:
    expected = {int: "a whole number", str: "text", bool: "true or false", NoneType: "null"}[kind]

    def take(value: Any, _: Unhide) -> Any:
        if type(value) is not kind:
            raise _bad(value, expected)
        return value

    return Codec(lambda v, _: v, take)


def _literal(choices: tuple[Any, ...]) -> Callable[[Any, Unhide], Any]:
    def take(value: Any, _: Unhide) -> Any:
        for choice in choices:
            if type(choice) is type(value) and choice == value:
                return choice
        raise _bad(value, ", ".join(shown(c) for c in choices))

    return take


def _enum(kind: type[Enum]) -> Codec:
    table = _MEMBERS.get(kind) or {member.value: member for member in kind}
    if not all(isinstance(name, str) for name in table):
        raise TypeError(f"{kind!r} has no names on disk")
    names = {member: name for name, member in table.items()}
    return Codec(lambda v, _: names[v], lambda v, _: _one_of(v, table))


def _union(args: tuple[Any, ...]) -> Codec:
    """A type or null; or one of several dataclasses, told apart by ``is``."""
    rest = tuple(a for a in args if a is not NoneType)
    if len(rest) == 1:
        inner = codec(rest[0])
    else:
        kinds = {tag_of(kind): kind for kind in rest}
        inner = tagged("is", kinds)
    if len(rest) == len(args):
        return inner
    return Codec(
        lambda v, hide: None if v is None else inner.put(v, hide),
        lambda v, unhide: None if v is None else inner.take(v, unhide),
    )


def tagged(tag: str, kinds: Mapping[str, type]) -> Codec:
    """One of several dataclasses as an object whose ``tag`` names it."""
    name_of = {kind: name for name, kind in kinds.items()}

    def put(value: Any, hide: Hide) -> Any:
        return {tag: name_of[type(value)], **codec(type(value)).put(value, hide)}

    def take(value: Any, unhide: Unhide) -> Any:
        found = _object(value)
        kind = _one_of(found.get(tag), kinds)
        return codec(kind).take({k: v for k, v in found.items() if k != tag}, unhide)

    return Codec(put, take)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _bad(value, "an object")
    return value


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _bad(value, "a list")
    return value


def _each(value: Any, inner: Codec, unhide: Unhide) -> list[Any]:
    found = []
    for i, item in enumerate(_array(value)):
        try:
            found.append(inner.take(item, unhide))
        except BodyError as error:
            raise error.under(f"[{i}]") from None
    return found


def _sequence(inner: Codec) -> Codec:
    return Codec(
        lambda v, hide: [inner.put(item, hide) for item in v],
        lambda v, unhide: tuple(_each(v, inner, unhide)),
    )


def _list(inner: Codec) -> Codec:
    return Codec(
        lambda v, hide: [inner.put(item, hide) for item in v],
        lambda v, unhide: _each(v, inner, unhide),
    )


def _set(inner: Codec) -> Codec:
    def take(value: Any, unhide: Unhide) -> Any:
        return frozenset(_each(value, inner, unhide))

    return Codec(lambda v, hide: [inner.put(item, hide) for item in sorted(v)], take)


def _row(hints: tuple[Any, ...]) -> Codec:
    inner = tuple(codec(hint) for hint in hints)

    def take(value: Any, unhide: Unhide) -> Any:
        if len(_array(value)) != len(inner):
            raise _bad(value, f"a list of {len(inner)}")
        return tuple(c.take(item, unhide) for c, item in zip(inner, value, strict=True))

    return Codec(
        lambda v, hide: [c.put(item, hide) for c, item in zip(inner, v, strict=True)], take
    )


def _pairs(key: Codec, inner: Codec) -> Codec:
    """A mapping as a list of pairs: its keys may be tuples, and its order is kept."""

    def take(value: Any, unhide: Unhide) -> Any:
        pairs = [_pair(i, pair) for i, pair in enumerate(_array(value))]
        return {key.take(k, unhide): inner.take(v, unhide) for k, v in pairs}

    return Codec(
        lambda v, hide: [[key.put(k, hide), inner.put(x, hide)] for k, x in v.items()], take
    )


def _pair(place: int, value: Any) -> tuple[Any, Any]:
    if len(_array(value)) != 2:
        raise _bad(value, "a pair").under(f"[{place}]")
    return value[0], value[1]


def _dataclass(kind: type) -> Codec:
    hints = get_type_hints(kind)
    inner = {f.name: codec(hints[f.name]) for f in fields(kind)}
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]

    later = {f.name: f.default for f in fields(kind) if f.metadata.get("later")}

    def put(value: Any, hide: Hide) -> Any:
        row = {name: c.put(getattr(value, name), hide) for name, c in inner.items()}
        for name, default in later.items():
            if getattr(value, name) == default:
                del row[name]
        return row

    def take(value: Any, unhide: Unhide) -> Any:
        return kind(**take_fields(_object(value), inner, needed, unhide))

    return Codec(put, take)


def take_fields(
    found: dict[str, Any], inner: Mapping[str, Codec], needed: list[str], unhide: Unhide
) -> dict[str, Any]:
    """The fields of an object: none unknown, none missing that has no default."""
    for name in found:
        if name not in inner:
            raise BodyError(UNKNOWN_FIELD, f".{name}", "unknown field; written by a newer program?")
    for name in needed:
        if name not in found:
            raise BodyError(MISSING_FIELD, f".{name}", "missing")
    taken = {}
    for name, value in found.items():
        try:
            taken[name] = inner[name].take(value, unhide)
        except BodyError as error:
            raise error.under(f".{name}") from None
    return taken
