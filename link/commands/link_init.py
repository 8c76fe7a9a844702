"""``underfelt link init DIR``: everything a server needs to run on SQLite, and nothing by default.

There is no default account: the first ones, at least two with different roles, are named, and each
owner types a password.
"""

from __future__ import annotations

import argparse
import os
import secrets
from contextlib import closing
from pathlib import Path
from typing import Final

import zmq

from link.commands.accounts_local import add_accounts, found, made, stated
from link.commands.io import print_answer
from link.config import load
from link.rows import AccountRow
from link.sealing import WORD
from link.server.clock import SYSTEM_CLOCK
from link.store import open_store
from record.kit.verbs import Stop
from record.link.keys import fingerprint, write_pair, write_word

TEMPLATE: Final = """\
# The progressive-link server. Every key is described in docs/operations/link.md; unknown ones are
# refused. Relative paths begin at this file's folder.

[server]
name = "{name}"
store = "{store}"        # "sqlite:PATH" or "postgresql://user@host/database"
control = "control.sock"
sealing_key = "seal.key"

# One door for each key of the server: two while the key is being changed.
[[door]]
tables = "tcp://{address}:{port}"
signs = "tcp://{address}:{next_port}"
secret_key = "link.key"

# A pool: who plays for it, and the terms of each of its levels.
#[pools.main]
#tables = {{ table-1 = "MBS3", table-2 = "MBS3" }}
#meter_rule = "sequential"
#
#[[pools.main.levels]]
#level = "grand"
#base_cents = 2500000
#reset_cents = 2500000
#rate = "1.5 %"
#hidden_rate = "0.5 %"
#shares = {{ "royal flush" = 100, "straight flush" = 10 }}
"""


def declare_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="made if it is not there; must be empty")
    add_accounts(parser)
    parser.add_argument("--store", default="sqlite:link.db", help="or postgresql://...")
    parser.add_argument("--name", default="link-1", help="the server's name (link-1)")
    parser.add_argument("--address", default="127.0.0.1", help="where it listens (127.0.0.1)")
    parser.add_argument("--port", type=int, default=5701, help="for tables; signs have the next")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def init(options: argparse.Namespace) -> int:
    folder = Path(options.folder)
    people, at_ms = stated(options), SYSTEM_CLOCK.now_ms()
    rows = made(options, people, at_ms)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Stop(f"{folder}: not empty; give a new folder", os.EX_CANTCREAT)
        public, secret = zmq.curve_keypair()
        write_pair(folder / "link.key", folder / "link.pub", secret, public)
        write_word(folder / "seal.key", WORD, secrets.token_bytes(32))
        text = TEMPLATE.format(
            name=options.name,
            store=options.store,
            address=options.address,
            port=options.port,
            next_port=options.port + 1,
        )
        _write(folder / "link.toml", text)
        store = load(folder / "link.toml").server.store
    except OSError as error:
        raise Stop(f"{error.filename or folder}: {error.strerror}", os.EX_CANTCREAT) from None
    except ValueError as error:
        raise Stop(str(error), os.EX_DATAERR) from None
    _make_store(store, rows, at_ms)
    mark = fingerprint(public.decode())
    said = (
        f"{folder}: link.toml, link.key, link.pub, seal.key, store, accounts {', '.join(people)}\n"
        f"tables need link.pub; its fingerprint is {mark}\n"
        f"underfelt link --config {folder / 'link.toml'}\n"
        "then two people acknowledge the first accounts: underfelt accounts acknowledge"
    )
    row = {"config": str(folder / "link.toml"), "accounts": people, "fingerprint": mark}
    return print_answer(options, row, said)


def _make_store(where: str, rows: list[AccountRow], at_ms: int) -> None:
    """The first order of record says who was given the first accounts."""
    with closing(open_store(where, create=True)) as store:
        store.migrate(at_ms=at_ms)
        found(store, rows, "first set-up", at_ms, first=True)


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(descriptor)
