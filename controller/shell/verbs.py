"""The literal table of the shell's verbs. Nothing that is not in it can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Role = Literal["observer", "technician", "supervisor"]
ROLES: Final[tuple[Role, ...]] = ("observer", "technician", "supervisor")
"""Each role includes the ones before it."""
WATCH: Final = "watch"
Kind = Literal[
    "device", "seat", "round", "number", "code", "choice", "verb", "port", "hex",
]  # fmt: skip


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
    guided: bool = False
    """A test of several steps: asked again with a cursor until it is done."""
    runbook: str = ""
    """When somebody at the table needs it."""

    @property
    def goes_on(self) -> bool:
        """Asked again and again with a cursor, and still one command."""
        return self.guided or self.name == WATCH

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
        WATCH, "live readings until Ctrl-C", words=(Word("device", "device", optional=True),),
        runbook="does it sense anything at all?",
    ),
    Verb(
        "chips", "chips on the spots of a seat, by UID and value", words=(SEAT,),
        runbook="a wager is not what is there",
    ),
    Verb("link", "link servers, state, lag, outbox, fingerprints", runbook="the meter is dark"),
    Verb("journal", "the journal: head, segments, last segment verified", runbook="disk, evidence"),
    Verb(
        "round", "a closed round, or the last one",
        words=(Word("round", "round", optional=True),), runbook="a player disputes",
    ),
    Verb("why", "why the table waits, in one sentence, with the clause", runbook="nothing happens"),
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
    Verb("safe-mode", "is the progressive kept out, and by whom?", runbook="the meter is CLOSED"),
    Verb(
        "safe-mode on", "keep the progressive out; locked wagers stay", "technician",
        runbook="the progressive is in doubt",
    ),
    Verb("safe-mode off", "re-enable the progressive", "supervisor", runbook="it is fixed"),
    Verb(
        "reboot", "end the daemon; systemd starts it again", "technician",
        (Word("confirm", "choice", ("yes",), optional=True),), runbook="a restart is needed",
    ),
    Verb("bundle", "pack diagnostics into a file of this folder", "technician",
         runbook="call the manufacturer"),
)  # fmt: skip
"""None of these moves money."""


def _guided(name: str, help_: str, *words: Word, when: str) -> Verb:
    return Verb(name, help_, "technician", words, test=True, guided=True, runbook=when)


TESTING: Final = (
    Verb("test on", "take the table out of play and test its devices", "technician",
         runbook="before any test"),
    Verb("test off", "end test mode: the table is as it was before", "technician",
         runbook="after the tests"),
    Verb("test stop", "give up the test under way", "technician", test=True),
    Verb("answer", "answer what a test asks; no continues without it", "technician",
         (Word("answer", "choice", ("yes", "no")),), test=True),
    _guided("antenna test", "spot by spot: put a chip there, take it away",
            Word("seat", "seat", optional=True), when="a chip is not seen"),
    _guided("cards", "a new deck, every card compared", when="a card was misread"),
    _guided("cards pattern", "which place each drawn card gets", when="commissioning"),
    _guided("lamp walk", "seat lamps, beacon and buzzer, one by one", when="a lamp is dark"),
    _guided("display walk", "known pictures on meter, magic card, prompt and sign",
            when="a display is dark or wrong"),
    _guided("sign test", "two texts on the jackpot sign", when="the sign is wrong"),
    _guided("keys", "press each key; missing ones are listed", when="a key does nothing"),
    _guided("loopback", "bytes out and back through a loopback plug", Word("port", "port"),
            when="a device is silent"),
    _guided("challenge", "a card device proves its program: underfelt firmware challenge",
            DEVICE, Word("nonce", "hex"), Word("digest", "hex"), when="an inspector asks"),
)  # fmt: skip
"""Test mode and its tests: the table is out of play meanwhile."""

VERBS: Final[Mapping[str, Verb]] = {verb.name: verb for verb in (*LOOKING, *DOING, *TESTING)}
