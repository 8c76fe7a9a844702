"""The literal table of the shell's verbs. Nothing that is not in it can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Role = Literal["observer", "technician", "supervisor"]
ROLES: Final[tuple[Role, ...]] = ("observer", "technician", "supervisor")
"""Each may what those before it may."""
Kind = Literal["device", "seat", "number", "code", "choice", "verb"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that follows a verb; ``choices`` are those of kind ``choice``."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def shown(self) -> str:
        text = "|".join(self.choices) if self.kind == "choice" else self.name.upper()
        return f"[{text}]" if self.optional else text


@dataclass(frozen=True, slots=True)
class Verb:
    """``name`` may be two words, as in ``test on``."""

    name: str
    help: str
    role: Role = "observer"
    words: tuple[Word, ...] = ()
    test: bool = False
    """Only in test mode."""
    runbook: str = ""
    """When somebody at the table needs it."""

    @property
    def usage(self) -> str:
        return " ".join((self.name, *(word.shown for word in self.words)))


DEVICE: Final = Word("device", "device")
SEAT: Final = Word("seat", "seat")

LOOKING: Final = (
    Verb("status", "what the table is doing", runbook="first of all"),
    Verb("devices", "every device, its state and its faults", runbook="something is dark"),
    Verb(
        "faults", "troubles now; or one code and what to do",
        words=(Word("code", "code", optional=True),), runbook="what to do?",
    ),
    Verb("identity", "program, rules and configuration by hash", runbook="an inspector asks"),
    Verb("help", "the verbs, or one of them", words=(Word("verb", "verb", optional=True),)),
)  # fmt: skip
"""Nothing is done by these."""

VERBS: Final[Mapping[str, Verb]] = {verb.name: verb for verb in LOOKING}
