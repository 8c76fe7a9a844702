"""The verbs that ``underfelt chips`` and ``underfelt staff`` share: keys, signatures, roll-out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from controller.registers.keys import load_public, make_keys
from controller.registers.kinds import RegisterKind
from controller.registers.rollout import RolledOut
from record.kit.verbs import Answer, Verb

RollOut = Callable[[Path, Path, bytes, Sequence[str]], RolledOut]
"""Source, target, public key, who approved."""


def declare_pubkey(parser: argparse.ArgumentParser, *, required: bool) -> None:
    said = "the public key that must have signed"
    parser.add_argument("--pubkey", metavar="FILE", required=required, help=said)


def declare_change(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--key", metavar="FILE", required=True, help="the secret key")
    parser.add_argument("--by", metavar="WHO", required=True, help="who does it, for the history")


def trusted(
    kind: RegisterKind, name: str, pubkey: str | None, paths: Sequence[str]
) -> bytes | None:
    """The key that must have signed. Without one a file proves only that it is intact."""
    if pubkey is not None:
        return load_public(kind, Path(pubkey))
    said = "intact; give --pubkey to check who signed it"
    print(f"underfelt {name}: {', '.join(paths)}: {said}", file=sys.stderr)
    return None


def keygen(kind: RegisterKind, keeper: str, text: str, example: str) -> Verb:
    """``keeper``: where the secret key stays."""

    def declare(parser: argparse.ArgumentParser) -> None:
        said = f"stays in the {keeper}"
        parser.add_argument("--secret", metavar="FILE", required=True, help=said)
        parser.add_argument("--public", metavar="FILE", required=True, help="goes to every table")

    def act(options: argparse.Namespace) -> Answer:
        made = make_keys(kind, Path(options.secret), Path(options.public))
        row = {"secret": options.secret, "public": options.public, "fingerprint": made}
        return os.EX_OK, row, f"{options.secret} (mode 0400), {options.public}: fingerprint {made}"

    return Verb(declare, act, text, example)


def roll_out(kind: RegisterKind, do: RollOut, example: str) -> Verb:
    def declare(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("register", metavar="REGISTER")
        parser.add_argument("--to", metavar="PATH", required=True, help="where the table reads it")
        declare_pubkey(parser, required=True)
        said = "twice, two people: allow an older register, or replace one that is not verified"
        parser.add_argument("--approved-by", metavar="WHO", action="append", default=[], help=said)

    def act(options: argparse.Namespace) -> Answer:
        public_key = load_public(kind, Path(options.pubkey))
        done = do(Path(options.register), Path(options.to), public_key, options.approved_by)
        people = options.approved_by if done.overruled else []
        if not done.written:
            said = "is in place already"
        else:
            said = f"instead of {done.replaced}" if done.replaced else "is new here"
        if people:
            said += f"; {done.overruled} overruled by {' and '.join(people)}"
        row = {"to": options.to, **asdict(done), "approved_by": people}
        return os.EX_OK, row, f"{options.to}: version {done.version} {said}"

    return Verb(declare, act, "put a verified register where a table reads it", example)
