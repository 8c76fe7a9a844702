"""Scenario files (docs/protocols/scenarios.md): checked line by line, nothing unknown passes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
GAMES: Final = ("MBS3", "PP6", "NSW", "MEGA", "RICO")
TOP_KEYS: Final = (
    "version", "game", "table", "about", "clauses", "cards", "seed", "settings", "steps", "round"
)  # fmt: skip
ROUND_KEYS: Final = ("status", "net", "pays", "clauses")
CUT_CARD: Final = 0xF1
AMOUNT: Final = r"(\d+\.\d\d)"

_GRAMMAR: Final = {
    "opens": r"dealer opens",
    "closes": r"dealer closes",
    "until": r"dealer until ([A-Z]+[12]?)(?: seat (\d))?",
    "plays on": r"dealer plays on",
    "plays": r"dealer plays (\d+)",
    "takes over": r"dealer takes over",
    "pot": rf"dealer pot {AMOUNT}",
    "takes pot": r"dealer takes pot",
    "shuffles": r"dealer shuffles (red|blue)",
    "new deck": r"dealer loads a new deck",
    "loses": r"dealer loses (\S+(?: \S+)*)",
    "bets": rf"seat (\d) (?:bets|adds) {AMOUNT} on (\S+(?: \S+)*)",
    "stacks": rf"seat (\d) stacks (\d+) x {AMOUNT} on (\S+)",
    "takes": r"seat (\d) takes (\S+)",
    "moves": r"seat (\d) moves (\S+) to (\S+)",
    "promo": rf"seat (\d) promo {AMOUNT} on (\S+)",
    "strange": r"seat (\d) strange chip on (\S+)",
    "copies": r"seat (\d) copies (\S+) to (\S+)",
    "credits": r"seat (\d) credits (\d+)",
    "will": r"seat (\d) will ((?:ride|back|play|fold)(?: (?:ride|back|play|fold))*)",
    "press": r"press (\S+(?: \S+)*)",
    "menu": r"menu (\d\d)((?: \d+)*)",
    "supervisor menu": r"supervisor menu (\d\d)((?: \d+)*)",
    "key": r"key (on|off)",
    "draw": r"draw(?: (\d+))?",
    "packet": r"packet",
    "deck": r"deck (\S+(?: \S+)*)",
    "fault": r"fault (.+)",
    "wait": r"wait (\d+)",
    "expect prompt": r"expect prompt (.+)",
    "expect keys": r"expect keys (.+)",
    "expect lamp": r"expect lamp (\d) (.+)",
    "expect meter": r"expect meter (.*)",
    "expect magic": r"expect magic (\S+)",
    "expect sign": r"expect sign (.+)",
    "link": r"link (meter \d+\.\d\d|lost|back)",
    "magic": r"magic ([2-9TJQKA][cdhs])",
    "lucky": r"lucky (\d)",
}
_COMPILED: Final = {name: re.compile(pattern, re.ASCII) for name, pattern in _GRAMMAR.items()}


class ScenarioError(ValueError):
    """A scenario that cannot be played; one line per problem."""


@dataclass(frozen=True, slots=True)
class Step:
    line: int
    """Counted from the first line of ``steps``."""
    text: str
    verb: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    status: str
    net: dict[int, int | None]
    pays: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    game: str
    table: str
    about: str
    steps: tuple[Step, ...]
    rounds: tuple[Expected, ...]
    clauses: tuple[str, ...] = ()
    cards: tuple[int, ...] = ()
    seed: int = 1
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def layout_path(self) -> Path:
        return HERE / "tables" / f"{self.table}.toml"


def cents(amount: str) -> int:
    """``25.00`` as minor units, with no float on the way."""
    whole, _, part = amount.partition(".")
    return int(whole) * 100 + int(part)


def card_byte(name: str) -> int:
    """``Th`` as the card byte of docs/protocols/card-devices.md; ``cut`` is the cut card."""
    if name == "cut":
        return CUT_CARD
    rank = "A23456789TJQK".find(name[:1]) + 1
    suit = "cdhs".find(name[1:])
    if len(name) != 2 or rank < 1 or suit < 0:
        raise ScenarioError(f"{name!r}: expected a card such as 7h or Td, or cut")
    return suit << 4 | rank


def card_name(byte: int) -> str:
    rank, suit = byte & 0x0F, byte >> 4
    return "A23456789TJQK"[rank - 1] + "cdhs"[suit] if 1 <= rank <= 13 and suit < 4 else "??"


def find(name: str) -> Path:
    """A file by its path, or one of ours by its name."""
    path = Path(name)
    if path.is_file():
        return path
    ours = HERE / "scenarios" / f"{name}.toml"
    if ours.is_file():
        return ours
    known = ", ".join(sorted(p.stem for p in (HERE / "scenarios").glob("*.toml")))
    raise ScenarioError(f"{name}: no such scenario; a file, or one of: {known}")


def load(path: str | Path) -> Scenario:
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(f"{path}: {error}") from None
    return _Reader(str(path)).read(path.stem, document)


def parse_step(number: int, text: str) -> Step | None:
    """One line; None if it is no step."""
    for verb, pattern in _COMPILED.items():
        if match := pattern.fullmatch(text):
            return Step(number, text, verb, tuple(group or "" for group in match.groups()))
    return None


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[str] = []

    def read(self, name: str, document: dict[str, Any]) -> Scenario:
        for key, value in document.items():
            if key not in TOP_KEYS:
                self._wrong(key, value, f"one of {', '.join(TOP_KEYS)}")
        if document.get("version") != 1:
            self._wrong("version", document.get("version"), "1")
        if document.get("game") not in GAMES:
            self._wrong("game", document.get("game"), f"one of {', '.join(GAMES)}")
        table = str(document.get("table", str(document.get("game", "")).lower()))
        if not (HERE / "tables" / f"{table}.toml").is_file():
            self._wrong("table", table, "a layout in hw_sim/tables")
        steps = self._steps(document.get("steps"))
        cards = self._cards(document.get("cards", ""))
        rounds = tuple(self._round(n, r) for n, r in enumerate(document.get("round", []), 1))
        if not rounds:
            self._wrong("round", [], "at least one [[round]] with its literal settlement")
        if self.problems:
            raise ScenarioError("\n".join(self.problems))
        return Scenario(
            name, document["game"], table, str(document.get("about", "")), steps, rounds,
            tuple(document.get("clauses", ())), cards, int(document.get("seed", 1)),
            document.get("settings", {}),
        )  # fmt: skip

    def _steps(self, text: Any) -> tuple[Step, ...]:
        if not isinstance(text, str):
            self._wrong("steps", text, "a text with one step per line")
            return ()
        steps = []
        for number, raw in enumerate(text.splitlines(), 1):
            line = " ".join(raw.partition("#")[0].split())
            if not line:
                continue
            step = parse_step(number, line)
            if step is None:
                self._wrong(f"steps, line {number}", line, "a step of docs/protocols/scenarios.md")
            else:
                steps.append(step)
        return tuple(steps)

    def _cards(self, text: Any) -> tuple[int, ...]:
        try:
            return tuple(card_byte(name) for name in str(text).split())
        except ScenarioError as error:
            self._wrong("cards", text, str(error))
            return ()

    def _round(self, number: int, entry: dict[str, Any]) -> Expected:
        for key, value in entry.items():
            if key not in ROUND_KEYS:
                self._wrong(f"round {number}.{key}", value, ", ".join(ROUND_KEYS))
        status = entry.get("status")
        if status not in ("settled", "void", "supervisor"):
            self._wrong(f"round {number}.status", status, "settled, void or supervisor")
        net: dict[int, int | None] = {}
        for seat, amount in entry.get("net", {}).items():
            held = amount == "held"
            if not seat.isdecimal() or not (held or type(amount) is int):
                self._wrong(f"round {number}.net.{seat}", amount, "minor units, or held")
                continue
            net[int(seat)] = None if held else amount
        return Expected(
            str(status), net, tuple(entry.get("pays", ())), tuple(entry.get("clauses", ()))
        )

    def _wrong(self, key: str, value: object, expected: str) -> None:
        self.problems.append(f"{self.source}: {key} = {value!r}: expected {expected}")
