"""The literal table of the shell's verbs. Nothing that is not in it can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Role = Literal["observer", "technician", "supervisor"]
ROLES: Final[tuple[Role, ...]] = ("observer", "technician", "supervisor")
"""Each may what those before it may."""
Kind = Literal["device", "seat", "round", "number", "code", "choice", "verb"]


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
        "device", "one device: identity, state, counters, last frames", words=(DEVICE,),
        runbook="a device is not ready",
    ),
    Verb(
        "watch", "live readings until Ctrl-C", words=(Word("device", "device", optional=True),),
        runbook="does it feel anything at all?",
    ),
    Verb(
        "chips", "chips on the spots of a seat, by UID and value", words=(SEAT,),
        runbook="a wager is not what lies there",
    ),
    Verb("link", "link servers, state, lag, outbox, fingerprints", runbook="the meter is dark"),
    Verb("journal", "the journal: head, segments, last segment verified", runbook="disk, evidence"),
    Verb(
        "round", "a closed round, or the last one",
        words=(Word("round", "round", optional=True),), runbook="a player disputes",
    ),
    Verb("why", "why the table waits, in one sentence, with the clause", runbook="nothing goes on"),
    Verb(
        "faults", "troubles now; or one code and what to do",
        words=(Word("code", "code", optional=True),), runbook="what to do?",
    ),
    Verb("config", "the configuration in force, and what waits", runbook="after a change"),
    Verb("identity", "program, rules and configuration by hash", runbook="an inspector asks"),
    Verb("help", "the verbs, or one of them", words=(Word("verb", "verb", optional=True),)),
)  # fmt: skip
"""Nothing is done by these."""

DOING: Final = (
    Verb(
        "safe-mode", "shows whether the progressive is kept out",
        runbook="the progressive must stay out",
    ),
    Verb(
        "reboot", "end the daemon; systemd starts it again", "technician",
        (Word("confirm", "choice", ("yes",), optional=True),), runbook="a restart is needed",
    ),
    Verb("bundle", "how to pack diagnostics for the maker", "technician", runbook="call the maker"),
)  # fmt: skip
"""None of these moves money."""

VERBS: Final[Mapping[str, Verb]] = {verb.name: verb for verb in (*LOOKING, *DOING)}
