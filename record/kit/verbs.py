"""A command with verbs: its help, its usage errors, its answers, and the one place where it ends.

An act returns an ``Answer``, which is printed here, or the exit code if it has printed its own.
It raises ``Stop`` or ``Misuse``, or an error listed in ``stops``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from record.kit.arguments import Arguments
from record.kit.outside import printable
from record.kit.words import did_you_mean

Answer = tuple[int, Mapping[str, Any], str]
"""Exit code, answer for machines (``--json``), answer for people; either may be empty."""


class Stop(Exception):
    """The command ends here: what to say, a line each, and the exit code.

    ``problems`` are the same for machines; without them the messages become JSON. ``bare``
    messages begin with the file that they are about instead of the command.
    """

    def __init__(
        self,
        text: str,
        code: int,
        problems: Sequence[Mapping[str, Any]] = (),
        *,
        bare: bool = False,
    ) -> None:
        super().__init__(text)
        self.text, self.code, self.problems, self.bare = text, code, problems, bare


class Misuse(Exception):
    """Arguments that are right one by one, and wrong together."""


class Verb(NamedTuple):
    declare: Callable[[argparse.ArgumentParser], None]
    act: Callable[[argparse.Namespace], Answer | int]
    text: str
    example: str


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    text: str
    verbs: Mapping[str, Verb]
    common: Callable[[argparse.ArgumentParser], None] = lambda _parser: None
    """Declares what every verb takes."""
    stops: Mapping[type[Exception], Callable[[Any], Stop]] = field(default_factory=dict)
    """The command's own errors, and how each is reported."""
    intermixed: bool = False
    """Options may stand between the words of a list."""

    def usage(self) -> str:
        width = max(map(len, self.verbs))
        rows = "\n".join(f"  {name:{width}}  {verb.text}" for name, verb in self.verbs.items())
        examples = "\n".join(f"  underfelt {self.name} {v.example}" for v in self.verbs.values())
        head = f"usage: underfelt {self.name} VERB [ARGUMENT ...]\n\n{self.text}\n\n"
        return f"{head}verbs:\n{rows}\n\nexamples:\n{examples}\n"

    def run(self, argv: list[str]) -> int:
        if not argv or argv[0] in ("-h", "--help"):
            print(self.usage(), end="", file=sys.stdout if argv else sys.stderr)
            return os.EX_OK if argv else os.EX_USAGE
        verb = self.verbs.get(argv[0])
        if verb is None:
            said = did_you_mean(argv[0], self.verbs, "verbs:")
            print(f"underfelt {self.name}: no verb {argv[0]!r}; {said}", file=sys.stderr)
            return os.EX_USAGE
        parser = self._parser(argv[0], verb)
        parse = parser.parse_intermixed_args if self.intermixed else parser.parse_args
        options = parse(argv[1:])
        known: tuple[type[Exception], ...] = (Stop, *self.stops)
        try:
            answer = verb.act(options)
        except Misuse as wrong:
            parser.error(str(wrong))
        except known as error:
            return _ended(self._stop(error), parser.prog, options)
        return answer if isinstance(answer, int) else _printed(answer, options)

    def _parser(self, name: str, verb: Verb) -> Arguments:
        parser = Arguments(
            prog=f"underfelt {self.name} {name}",
            description=f"{verb.text[0].upper()}{verb.text[1:]}.",
            epilog=f"example: underfelt {self.name} {verb.example}",
        )
        self.common(parser)
        verb.declare(parser)
        return parser

    def _stop(self, error: Exception) -> Stop:
        if isinstance(error, Stop):
            return error
        return next(made for kind, made in self.stops.items() if isinstance(error, kind))(error)


def _printed(answer: Answer, options: argparse.Namespace) -> int:
    code, row, said = answer
    if options.json and row:
        print(json.dumps({"ok": code == os.EX_OK, **row}, indent=2))
    elif said:
        print(said)
    return code


def _ended(stop: Stop, prog: str, options: argparse.Namespace) -> int:
    for line in stop.text.splitlines():
        print(printable(line if stop.bare else f"{prog}: {line}"), file=sys.stderr)
    if stop.problems and getattr(options, "json", False):
        print(json.dumps({"ok": False, "problems": stop.problems}))
    return stop.code
