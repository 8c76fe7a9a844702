"""``underfelt keys``: CURVE keys of tables, signs and servers, from the device to the registry.

A pair is made on the device that uses it; only the public file leaves it. The registry is the
server's, and every change of it is an order of named people.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

import zmq
from nacl.signing import SigningKey

from link.commands.io import (
    add_people,
    add_place,
    command,
    control_of,
    listed,
    ordered,
    print_answer,
    table_text,
)
from link.registry import ROLES, KeyRefused, read_csv
from link.server.replies import KeysReply, ListedKey
from record.kit.key_files import create_files, encode_z85, load_public_word
from record.kit.verbs import Stop, Verb
from record.link.keys import (
    KeyFileError,
    fingerprint,
    load_public,
    load_secret,
    write_pair,
)

HOUR_MS: Final = 3_600_000
TICKET_SECRET: Final = "underfelt-ticket-secret"
TICKET_PUBLIC: Final = "underfelt-ticket-public"
"""As web/tickets.py reads them."""


def _declare_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--secret", metavar="FILE", required=True, help="stays on this device")
    parser.add_argument("--public", metavar="FILE", required=True, help="goes to the registry")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def _new(options: argparse.Namespace) -> int:
    public, secret = zmq.curve_keypair()
    return _made(options, write_pair(Path(options.secret), Path(options.public), secret, public))


def _made(options: argparse.Namespace, mark: str) -> int:
    row = {"secret": options.secret, "public": options.public, "fingerprint": mark}
    return print_answer(
        options, row, f"{options.secret} (mode 0400), {options.public}: fingerprint {mark}"
    )


def _new_ticket(options: argparse.Namespace) -> int:
    key = SigningKey.generate()
    public = encode_z85(bytes(key.verify_key))
    create_files(
        (Path(options.secret), f"{TICKET_SECRET} {encode_z85(bytes(key))}\n".encode(), 0o400),
        (Path(options.public), f"{TICKET_PUBLIC} {public}\n".encode(), 0o644),
    )
    return _made(options, fingerprint(public))


def _declare_ticket(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--secret", metavar="FILE", required=True, help="stays at the floor")
    parser.add_argument("--public", metavar="FILE", required=True, help="goes to the tables")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def _declare_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a secret or public key file")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def _show(options: argparse.Namespace) -> int:
    """The fingerprint alone; of a secret file that of its public key."""
    path = Path(options.file)
    try:
        kind, public = "public key", _public(path)
    except KeyFileError as error:
        if error.code != "E-KEY-104":
            raise
        kind, public = "secret key", zmq.curve_public(load_secret(path).reveal()).decode()
    mark = fingerprint(public)
    row = {"file": options.file, "kind": kind, "fingerprint": mark}
    return print_answer(options, row, f"{options.file}: {kind}, fingerprint {mark}")


def _public(path: Path) -> str:
    try:
        return load_public(path)
    except KeyFileError as error:
        if error.code != "E-KEY-104":
            raise
        return load_public_word(path, TICKET_PUBLIC)


def _declare_enrol(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the table's or sign's name")
    parser.add_argument("file", metavar="FILE", nargs="?", help="its public key file")
    parser.add_argument("--role", choices=ROLES, default="table", help="whose key it is")
    parser.add_argument("--csv", metavar="FILE", help="many at once: lines of name,key[,role]")
    add_people(parser)
    add_place(parser)


def _enrol(options: argparse.Namespace) -> int:
    if (options.csv is None) == (options.name is None or options.file is None):
        raise Stop("expected NAME FILE, or --csv FILE", 64)
    if options.csv is None:
        keys = [[options.name, load_public(Path(options.file)), options.role]]
    else:
        keys = _from_csv(Path(options.csv))
    answer = ordered(options, {"what": "enrol keys", "keys": keys})
    said = "\n".join(f"{name}: {fingerprint(key)}" for name, key, _ in keys)
    return print_answer(options, {**answer, "keys": len(keys)}, said)


def _from_csv(path: Path) -> list[list[str]]:
    try:
        text = path.read_text("utf-8")
        keys = [[w.table, w.public, w.role] for w in read_csv(text)]
    except OSError as error:
        raise Stop(f"{path}: {error.strerror}", os.EX_NOINPUT) from None
    except (KeyRefused, UnicodeDecodeError) as error:
        raise Stop(f"{path}: {error}", os.EX_DATAERR) from None
    if not keys:
        raise Stop(f"{path}: no line with a key (E-KEY-113)", os.EX_DATAERR)
    return keys


def _declare_rotate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("file", metavar="FILE", help="its new public key file")
    parser.add_argument("--role", choices=ROLES, default="table", help="whose key it is")
    parser.add_argument(
        "--overlap-hours", type=int, default=24, metavar="N", help="the old key is valid so long"
    )
    add_people(parser)
    add_place(parser)


def _rotate(options: argparse.Namespace) -> int:
    if not 0 <= options.overlap_hours <= 24 * 365:
        raise Stop("--overlap-hours: expected 0 to 8760", 64)
    public = load_public(Path(options.file))
    order = {
        "what": "rotate key",
        "key": [options.name, public, options.role],
        "overlap_ms": options.overlap_hours * HOUR_MS,
    }
    answer = ordered(options, order)
    said = f"{options.name}: {fingerprint(public)}; the old key ends in {options.overlap_hours} h"
    return print_answer(options, answer, said)


def _declare_revoke(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("which", metavar="WHICH", help="a name, a fingerprint or a key")
    parser.add_argument("--why", required=True, help="for the record")
    add_people(parser)
    add_place(parser)


def _revoke(options: argparse.Namespace) -> int:
    order = {"what": "revoke key", "which": options.which, "why": options.why}
    answer = ordered(options, order)
    said = f"{options.which}: revoked; its next message is refused, its connections are cut"
    return print_answer(options, answer, said)


def _list(options: argparse.Namespace) -> int:
    pages = listed(control_of(options), "keys", KeysReply)
    keys = [key for page in pages for key in page.keys]
    rows = [(key.role, key.table, key.fingerprint, _state(key), key.by) for key in keys]
    return print_answer(
        options, {"keys": keys}, table_text(("role", "name", "key", "state", "by"), rows)
    )


def _state(key: ListedKey) -> str:
    if key.revoked_ms:
        return "revoked"
    return "valid" if key.valid else "not valid now"


VERBS: Final = {
    "new": Verb(
        _declare_new,
        _new,
        "make a pair of keys on this device",
        "new --secret link.key --public table-7.pub",
    ),
    "ticket": Verb(
        _declare_ticket,
        _new_ticket,
        "make the pair that signs sign-ins of the pages",
        "ticket --secret ticket.key --public ticket.pub",
    ),
    "show": Verb(_declare_show, _show, "the fingerprint of a key file", "show table-7.pub"),
    "enrol": Verb(
        _declare_enrol,
        _enrol,
        "admit a table or a sign, or many; two people",
        "enrol table-7 table-7.pub --by a.kim --by m.ng --config link.toml",
    ),
    "rotate": Verb(
        _declare_rotate,
        _rotate,
        "a new key, the old one ends later; two people",
        "rotate table-7 table-7-new.pub --by a.kim --by m.ng --config link.toml",
    ),
    "revoke": Verb(
        _declare_revoke,
        _revoke,
        "refuse a key from now on; two people",
        "revoke table-7 --why 'stolen' --by k.lee --by m.ng --config link.toml",
    ),
    "list": Verb(add_place, _list, "all keys and their state", "list --config link.toml"),
}

run: Final = command("keys", "CURVE keys of tables, signs and servers.", VERBS).run
