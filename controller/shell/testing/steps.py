"""What every guided test is: it asks, sees, judges, and ends with a certificate.

Pure: readings, answers of a person and the time go in; orders for devices come out. What it says is
a list of steps; a reader asks for those after its last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from drivers.orders import Order
from drivers.readings import Reading

SECOND: Final = 1_000_000
Kind = Literal["ask", "seen", "pass", "fail", "note"]
Answer = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Probe:
    """Raw bytes for a line; ``Looped`` says what comes back."""

    line: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Looped:
    line: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Challenge:
    """Ask a card device for the digest of its program."""

    device: str
    nonce: bytes
    digest: bytes


Wish = Order | Probe | Challenge
Wishes = list[Wish]


class Guided:
    """One test from its first step to its verdict."""

    name: str = ""
    draws_cards: ClassVar[bool] = False
    """The card device is open while it runs, and what is drawn belongs to it."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.done = False
        self.question = ""
        """Something only a person can answer, with yes or no."""

    # --- from outside --------------------------------------------------------------------------

    def begin(self, now_us: int) -> Wishes:
        raise NotImplementedError

    def take(self, reading: Reading | Looped, now_us: int) -> Wishes:  # noqa: ARG002
        """A reading of a device."""
        return []

    def answer(self, answer: Answer, now_us: int) -> Wishes:  # noqa: ARG002
        """``no`` to a test that asks nothing: go on without it."""
        return []

    def advance(self, now_us: int) -> Wishes:  # noqa: ARG002
        """Time has passed."""
        return []

    def stop(self, why: str) -> None:
        """Given up: what was not done has not passed."""
        if not self.done:
            self.say("fail", why)
            self.finish()

    # --- what it says --------------------------------------------------------------------------

    def say(self, kind: Kind, text: str, **more: Any) -> None:
        self.steps.append({"step": len(self.steps) + 1, "kind": kind, "text": text, **more})

    def finish(self) -> None:
        self.done, self.question = True, ""

    @property
    def passed(self) -> bool:
        """Something passed, nothing failed."""
        kinds = [step["kind"] for step in self.steps]
        return self.done and "pass" in kinds and "fail" not in kinds

    def asks(self, cursor: int) -> bool:
        """True while the question shown at this cursor is unanswered."""
        asked = [step["step"] for step in self.steps if step["kind"] == "ask"]
        return bool(self.question) and bool(asked) and asked[-1] <= cursor

    def after(self, number: int) -> Sequence[dict[str, Any]]:
        return self.steps[max(0, number) :]

    def certificate(self) -> dict[str, Any]:
        """What was tested and what came of it."""
        results = [step for step in self.steps if step["kind"] in ("pass", "fail")]
        return {"test": self.name, "passed": self.passed, "results": results}
