"""PURE: why a value does not fit its type, with the whole path and the value.

msgspec names the keys of a mapping ``[...]`` in its messages: ``Expected `int` <= 100 - at
`$.shares[...]```. Which of them it was is found by converting each entry by itself.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from record.kit.outside import printable

_PATH: Final = re.compile(r"`(\$[^`]*)`$")
_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]|\[(\"(?:[^\"\\]|\\.)*\")\]")
_SHOWN: Final = 60
_HIDDEN: Final = "[...]"
_KEY: Final = "at `key` in `"
"""The key itself is wrong, not what it stands for."""


def why(error: Exception, value: Any, kind: Any, *, str_keys: bool = False) -> str:
    """The message of msgspec; ``value`` is what did not fit ``kind``, or its JSON text."""
    text = str(error)
    if isinstance(value, bytes):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # not even JSON, or not UTF-8
            return printable(text)
    found = _PATH.search(text)
    if found is None or (_HIDDEN not in found[1] and _KEY not in text):
        return printable(text)
    path = found[1]
    while _HIDDEN in path:
        place = path.index(_HIDDEN)
        name = _culprit(value, path[:place], kind, text, str_keys=str_keys)
        if name is None:
            return printable(text)
        value = _only(value, _steps(path[:place]), name)
        path = f"{path[:place]}[{_quoted(name)}]{path[place + len(_HIDDEN) :]}"
    shown = _shown(_at(value, _steps(path)))
    if _KEY in text:
        shown = _shown(_culprit(value, path, kind, text, str_keys=str_keys))
    return printable(f"{text[: found.start()]}`{path}`{shown}")


def _culprit(value: Any, path: str, kind: Any, text: str, *, str_keys: bool) -> Any:
    """The first key of the mapping at ``path`` that gives the same message by itself."""
    steps = _steps(path)
    mapping = _at(value, steps)
    for name in mapping if isinstance(mapping, dict) else ():
        try:
            msgspec.convert(_only(value, steps, name), kind, str_keys=str_keys)
        except msgspec.ValidationError as error:
            if str(error) == text:
                return name
    return None


def _steps(path: str) -> list[Any]:
    steps: list[Any] = []
    for name, number, _, quoted in _STEP.findall(path):
        steps.append(name or (int(number) if number else msgspec.json.decode(quoted)))
    return steps


def _at(value: Any, steps: list[Any]) -> Any:
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _only(value: Any, steps: list[Any], name: Any) -> Any:
    """The same value, in which the mapping at ``steps`` has this entry alone."""
    if not steps:
        return {name: value[name]}
    inner = _only(value[steps[0]], steps[1:], name)
    if isinstance(value, dict):
        return {**value, steps[0]: inner}
    return [*value[: steps[0]], inner, *value[steps[0] + 1 :]]


def _shown(found: Any) -> str:
    """The value, if it is a plain one."""
    if not isinstance(found, str | int | float | None):
        return ""
    shown = msgspec.json.encode(found).decode()
    return f": {shown}" if len(shown) <= _SHOWN else f": {shown[:_SHOWN]}..."


def _quoted(name: Any) -> str:
    return msgspec.json.encode(str(name)).decode()
