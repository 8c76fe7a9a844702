"""The language file: every word of lines 1 to 3. The caller reads the file; this only parses it.

The English file is the list of what there must be; any other has exactly its keys and fields, and
every text fits its line at its widest.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from string import Formatter
from typing import Any, Final

from record.kit.words import shown

COLUMNS: Final = 20

Texts = Mapping[str, Mapping[str, str]]
SECTIONS: Final = (
    "state", "word", "spot", "deck", "hand", "ask", "notice", "arg", "wrong", "refused",
)  # fmt: skip
BUILT_IN: Final = ("en", "de")
"""Languages that come with the program, ``texts/NAME.toml``; the first is the list of all texts."""


class LanguageError(ValueError):
    """``problems``: (key, what was found and what is expected)."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"{key}: {text}" for key, text in problems))
        self.problems = problems


def parse_texts(toml: str, every: Texts | None = None) -> Texts:
    """The texts of a language file, compared with ``every`` one there must be."""
    try:
        found = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise LanguageError([("file", f"{error}; expected TOML")]) from None
    problems = list(_shape(found))
    if every is not None and not problems:
        problems = list(_keys(found, every)) or list(_texts(found, every))
    if problems:
        raise LanguageError(problems)
    return found


def _shape(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for section in found:
        if section not in SECTIONS:
            listed = ", ".join(f"[{name}]" for name in SECTIONS)
            yield section, f"no such section; expected {listed}"
    for section in SECTIONS:
        entries = found.get(section)
        if not isinstance(entries, dict):
            yield section, f"missing; expected [{section}] with its texts"
            continue
        for key, text in entries.items():
            if not isinstance(text, str):
                yield f"{section}.{key}", f"{shown(text)}: expected a text"


def _keys(found: Texts, every: Texts) -> Iterator[tuple[str, str]]:
    for section in SECTIONS:
        for key, text in every[section].items():
            if key not in found[section]:
                yield f"{section}.{key}", f"missing; expected a text for {shown(text)}"
        for key in found[section]:
            if key not in every[section]:
                yield f"{section}.{key}", "no such text; expected the keys of the English file"


def _texts(found: Texts, every: Texts) -> Iterator[tuple[str, str]]:
    for section in SECTIONS:
        for key, text in found[section].items():
            if problem := _text(found, section, key, every[section][key]):
                yield f"{section}.{key}", f"{shown(text)}: {problem}"
    words = found["word"]
    answers = f"{words['seat']} 7  {words['answers']} 5 4 1"
    if len(answers) > COLUMNS:
        yield "word.answers", f"{shown(answers)}: {len(answers)} columns; expected at most 20"


def _text(found: Texts, section: str, key: str, english: str) -> str:
    """What is wrong with one text; empty if nothing is."""
    text = found[section][key]
    fields, wanted = fields_of(text), fields_of(english)
    if fields is None or fields != wanted:
        named = ", ".join(f"{{{name}}}" for name in sorted(wanted or ())) or "no {field}"
        return f"expected {named}, each once, as in the English file"
    if not text.strip() or not all(" " <= c <= "}" and c != "\\" for c in text):
        return "expected letters, digits and signs of ASCII but \\ and ~"
    widest = widest_of(found, section, key)
    most = _MOST.get(section, COLUMNS)
    if len(widest) > most:
        return f"{len(widest)} columns as {shown(widest)}; expected at most {most}"
    return ""


def fields_of(text: str) -> set[str] | None:
    """The plain fields of a text, each at most once; None if it is no such text."""
    try:
        parts = [part[1:] for part in Formatter().parse(text) if part[1] is not None]
    except ValueError:
        return None
    names = [name or "" for name, _, _ in parts]
    plain = all(not spec and conversion is None for _, spec, conversion in parts)
    return set(names) if plain and len(set(names)) == len(names) else None


# --- at their widest ---------------------------------------------------------------------------

_MOST: Final = {"state": 12, "word": 8, "spot": 6, "deck": 6, "arg": 15}
"""Parts of a line; beside them stand the round's number, a seat, an amount, what is typed."""
_DECIDED: Final = ("decide", "take back", "take back late", "chips")
"""Questions that are about wager 1 or 2."""
_AWARDS: Final = ("envy", "magic_card", "lucky_player")
_OWED: Final = ("envy",)
"""Awards that have a notice of their own."""


def widest_of(texts: Texts, section: str, key: str) -> str:
    """A text with everything filled in at its widest. A larger amount than these takes the room of
    the words before it (``Prompter``)."""
    spots: Iterable[str] = (s for s in texts["spot"] if s not in _AWARDS)
    details: Iterable[str] = texts["deck"].values()
    match section, key:
        case "ask", ask if ask in _DECIDED:
            spots = ("1", "2")
        case "ask", "turn":
            details = ("2",)
        case "ask", "award pot":
            details = ("1234567D",)
        case "ask", "settle":
            details = texts["hand"].values()
        case "notice", "award":
            spots = _OWED
        case _:
            pass
    return texts[section][key].format(
        seat="7",
        about="7",
        other="7",
        spot=_longest(texts["spot"][s] for s in spots),
        of=_longest(texts["spot"][s] for s in ("rapid_fire", "hedge")),
        detail=_longest(details),
        cents="1000" if key in ("award", "bonus pay") else "10000",
    )


def _longest(texts: Iterable[str]) -> str:
    return max(texts, key=len)
