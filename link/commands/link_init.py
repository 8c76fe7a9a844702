"""``underfelt link init DIR``: everything a server needs to run on SQLite, and nothing by default.

There is no default account: the first one is a manager whose password is asked for.
"""

from __future__ import annotations

import argparse
import os
import secrets
import time
from pathlib import Path
from typing import Final

import zmq

from link import accounts
from link.accounts import AccountRefused
from link.commands.io import EX_CANTCREAT, EX_DATAERR, EX_OK, Stop, new_password, print_answer
from link.config import load
from link.ledger.ledger import Ledger
from link.ledger.orders import SERVER
from link.registry import Stamp
from link.rows import AccountRow
from link.sealing import WORD
from link.store import open_store
from link.store.errors import StoreError
from record.link.keys import fingerprint, write_pair, write_word

FIRST_ROLE: Final = "manager"
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
    parser.add_argument("--account", metavar="NAME", required=True, help="the first manager")
    parser.add_argument(
        "--password-stdin", action="store_true", help="read its password from standard input"
    )
    parser.add_argument("--store", default="sqlite:link.db", help="or postgresql://...")
    parser.add_argument("--name", default="link-1", help="the server's name (link-1)")
    parser.add_argument("--address", default="127.0.0.1", help="where it listens (127.0.0.1)")
    parser.add_argument("--port", type=int, default=5701, help="for tables; signs have the next")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def init(options: argparse.Namespace) -> int:
    folder = Path(options.folder)
    account = _first_account(options.account, from_stdin=options.password_stdin)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Stop(f"{folder}: not empty; give a new folder", EX_CANTCREAT)
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
        store = load(folder / "link.toml").store
    except OSError as error:
        raise Stop(f"{error.filename or folder}: {error.strerror}", EX_CANTCREAT) from None
    except ValueError as error:
        raise Stop(str(error), EX_DATAERR) from None
    _make_store(store, account)
    mark = fingerprint(public.decode())
    said = (
        f"{folder}: link.toml, link.key, link.pub, seal.key, store, account {account.name}\n"
        f"tables need link.pub; its fingerprint is {mark}\n"
        f"underfelt link --config {folder / 'link.toml'}"
    )
    row = {"config": str(folder / "link.toml"), "account": account.name, "fingerprint": mark}
    print_answer(options, row, said)
    return EX_OK


def _first_account(name: str, *, from_stdin: bool) -> AccountRow:
    password = new_password(name, from_stdin=from_stdin)
    wrong = accounts.weakness(password, name)
    if wrong is not None:
        raise Stop(f"password: {wrong} (E-ACT-003)", EX_DATAERR)
    hashed = accounts.hashed(password, secrets.token_bytes(accounts.SALT_BYTES))
    try:
        return accounts.added({}, name, FIRST_ROLE, hashed, Stamp("link init", _now_ms()))
    except AccountRefused as error:
        raise Stop(str(error), EX_DATAERR) from None


def _make_store(where: str, account: AccountRow) -> None:
    """The first order of record says who was given the first account."""
    try:
        store = open_store(where, create=True)
        try:
            store.migrate(at_ms=account.at_ms)
            saved = store.load()
            if saved.accounts:
                raise Stop(
                    f"{store.place}: has accounts already; copy the first server's folder", 73
                )
            epoch = store.lead("link init", 1_000)
            if epoch is None:
                raise Stop(f"{store.place}: another server leads", 75)
            ledger = Ledger((), saved)
            ledger.note("add account", f"{account.name}, {account.role}", (SERVER,), account.at_ms)
            group = ledger.group(epoch)
            group.accounts[account.name] = account
            store.commit(group)
            store.resign(epoch)
        finally:
            store.close()
    except StoreError as error:
        raise Stop(str(error), error.exit_code) from None


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(descriptor)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
