"""A line becomes a verb and its words. Strict: what does not fit is refused with the choices.

Pure. No quotes, no escapes, no variables, no abbreviations: a line is words between blanks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from controller.shell.errors import NO_DEVICE, WORD, VerbRefused
from controller.shell.verbs import VERBS, Verb, Word
from record.kit.words import did_you_mean

MAX_WORDS: Final = 8
MAX_CHARACTERS: Final = 64
MAX_LINE: Final = 512
MAX_DIGITS: Final = 9
MAX_CODE: Final = 16
HEX_DIGITS: Final = 32

Live = Mapping[str, Sequence[str]]
"""The choices at this table for a kind of word: its devices, its seats."""


class Parsed(NamedTuple):
    verb: Verb
    words: Mapping[str, str]
    """By name; an optional word that was not given is not there."""


def split(line: str) -> list[str]:
    """The words of a line."""
    if len(line) > MAX_LINE:
        raise VerbRefused(WORD, f"a line of {len(line)} characters; expected at most {MAX_LINE}")
    return checked(line.split())


def checked(words: object) -> list[str]:
    """Words as they may stand in a request; anything else is refused, and not repeated."""
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise VerbRefused(WORD, "expected a list of words")
    if len(words) > MAX_WORDS:
        raise VerbRefused(WORD, f"{len(words)} words; expected at most {MAX_WORDS}")
    for number, word in enumerate(words, 1):
        if not 1 <= len(word) <= MAX_CHARACTERS or not all("!" <= c <= "~" for c in word):
            expected = f"1 to {MAX_CHARACTERS} letters, digits and signs of ASCII"
            raise VerbRefused(WORD, f"word {number}: expected {expected}")
    return words


def parse(words: Sequence[str], live: Live, verbs: Mapping[str, Verb] = VERBS) -> Parsed:
    """The verb and its words by name. Raises Refused."""
    verb, given = find(words, verbs)
    found: dict[str, str] = {}
    if _about_verbs(verb) and given:
        given = [" ".join(given)]  # many a verb has two words
    if len(given) > len(verb.words):
        extra = given[len(verb.words)]
        raise VerbRefused(WORD, f"{extra}: one word too many; expected: {verb.usage}")
    for place, word in enumerate(verb.words):
        if place < len(given):
            found[word.name] = _word(word, given[place], live, verbs)
        elif not word.optional:
            listed = _listed(choices(word, live, verbs))
            said = f"; one of {listed}" if listed else ""
            raise VerbRefused(WORD, f"{verb.name}: {word.shown} is missing{said}")
    return Parsed(verb, found)


def find(words: Sequence[str], verbs: Mapping[str, Verb]) -> tuple[Verb, Sequence[str]]:
    """The verb with the longest name that the line begins with, and the words behind it."""
    if not words:
        raise VerbRefused(WORD, f"no verb; one of {_listed(verbs)}")
    for length in (2, 1):
        verb = verbs.get(" ".join(words[:length])) if len(words) >= length else None
        if verb is not None:
            return verb, words[length:]
    seconds = [name.split()[1] for name in verbs if name.split()[0] == words[0]]
    if seconds and len(words) > 1:
        raise VerbRefused(WORD, f"{words[0]} {words[1]}: no such verb; one of {_listed(seconds)}")
    if seconds:
        raise VerbRefused(WORD, f"{words[0]}: a word is missing; one of {_listed(seconds)}")
    raise VerbRefused(WORD, f"{words[0]}: no such verb; {did_you_mean(words[0], verbs)}")


def choices(word: Word, live: Live, verbs: Mapping[str, Verb] = VERBS) -> Sequence[str]:
    """What may stand for a word at this table, as far as it can be listed."""
    match word.kind:
        case "choice":
            return word.choices
        case "verb":
            return (*verbs, *{name.split()[0] for name in verbs if " " in name})
        case _:
            return live.get(word.kind, ())


def _word(word: Word, given: str, live: Live, verbs: Mapping[str, Verb]) -> str:
    match word.kind:
        case "number" | "round":
            if not (given.isdecimal() and given.isascii() and len(given) <= MAX_DIGITS):
                raise VerbRefused(WORD, f"{given}: expected a number for {word.shown}")
            return str(int(given))
        case "hex":
            digits = given.lower()
            if len(digits) != HEX_DIGITS or set(digits) - set("0123456789abcdef"):
                raise VerbRefused(WORD, f"{word.shown}: expected {HEX_DIGITS} hexadecimal digits")
            return digits
        case "code":
            code = given.upper()
            parts = code.split("-")
            if len(parts) != 3 or len(code) > MAX_CODE or parts[0] != "E":
                raise VerbRefused(WORD, f"{given}: expected a code, as E-TBL-003")
            return code
        case _:
            offered = choices(word, live, verbs)
            if given not in offered:
                code = NO_DEVICE if word.kind == "device" else WORD
                no_such = f"{given}: no such {word.name}"
                listed = _listed(verbs if word.kind == "verb" else offered)
                raise VerbRefused(code, f"{no_such}; one of {listed}")
            return given


def _listed(names: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(names)


def complete(before: str, live: Live, verbs: Mapping[str, Verb] = VERBS) -> list[str]:
    """What may stand as the last word of an unfinished line; sorted, without what cannot be."""
    *given, begun = before.split(" ") if before.strip() else [""]
    given = [word for word in given if word]
    names = {" ".join(name.split()[len(given) :]) for name in verbs if _leads(given, name)}
    offered = {name.split()[0] for name in names if name}
    try:
        verb, behind = find(given, verbs)
    except VerbRefused:
        behind = []
    else:
        if _about_verbs(verb):
            offered |= {name.split()[len(behind)] for name in verbs if _leads(behind, name)}
        elif len(behind) < len(verb.words):
            offered |= set(choices(verb.words[len(behind)], live, verbs))
    return sorted(word for word in offered if word.startswith(begun))


def _about_verbs(verb: Verb) -> bool:
    return [word.kind for word in verb.words] == ["verb"]


def _leads(given: Sequence[str], name: str) -> bool:
    parts = name.split()
    return len(parts) > len(given) and parts[: len(given)] == list(given)
