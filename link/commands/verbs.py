"""A command with verbs: its help, its usage errors, and the one place where it ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from link.commands.io import Stop
from record.arguments import Arguments
from record.link.keys import KeyFileError
from record.outside import printable
from record.words import did_you_mean


class Verb(NamedTuple):
    declare: Callable[[argparse.ArgumentParser], None]
    act: Callable[[argparse.Namespace], int]
    text: str
    example: str


def usage(command: str, text: str, verbs: Mapping[str, Verb]) -> str:
    rows = "\n".join(f"  {name:12} {verb.text}" for name, verb in verbs.items())
    examples = "\n".join(f"  underfelt {command} {verb.example}" for verb in verbs.values())
    head = f"usage: underfelt {command} VERB [ARGUMENT ...]\n\n{text}\n\n"
    return f"{head}verbs:\n{rows}\n\nexamples:\n{examples}\n"


def run_verb(command: str, text: str, verbs: Mapping[str, Verb], argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        out = sys.stdout if argv else sys.stderr
        print(usage(command, text, verbs), end="", file=out)
        return os.EX_OK if argv else os.EX_USAGE
    verb = verbs.get(argv[0])
    if verb is None:
        said = did_you_mean(argv[0], verbs, "verbs:")
        print(f"underfelt {command}: no verb {argv[0]!r}; {said}", file=sys.stderr)
        return os.EX_USAGE
    parser = Arguments(
        prog=f"underfelt {command} {argv[0]}",
        description=f"{verb.text[0].upper()}{verb.text[1:]}.",
        epilog=f"example: underfelt {command} {verb.example}",
    )
    verb.declare(parser)
    try:
        return verb.act(parser.parse_args(argv[1:]))
    except Stop as stop:
        for line in stop.text.splitlines():
            print(printable(f"{parser.prog}: {line}"), file=sys.stderr)
        return stop.code
    except KeyFileError as error:
        print(printable(f"{parser.prog}: {error}"), file=sys.stderr)
        return error.exit_code
