"""Accounts made at the machine, without proof: the first ones, and when nobody can log in.

The server is stopped: the store belongs to one program at a time. What was done is an order of
record by ``machine``, in the chain that the tables witness, and an alarm until two people have
acknowledged it.
"""

from __future__ import annotations

import argparse
import getpass
import os
import secrets
from contextlib import closing
from typing import Final

from link import accounts
from link.accounts import AccountRefused
from link.commands.io import add_passwords, fresh, load_config, passwords, print_answer
from link.ledger.ledger import Ledger
from link.ledger.orders import MACHINE, SERVER, Found, Founded
from link.registry import Stamp
from link.rows import AccountRow, Saved
from link.server.clock import SYSTEM_CLOCK
from link.server.staff_chain import upgrade
from link.store import open_store
from link.store.base import Store
from record.kit.verbs import Stop

LEASE_MS: Final = 1_000


def add_accounts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--account",
        metavar="NAME=ROLE",
        action="append",
        required=True,
        help="at least two, one of them a manager, with different roles; each types a password",
    )
    add_passwords(parser)


def stated(options: argparse.Namespace) -> dict[str, str]:
    """Names and roles, before anybody is asked for a password."""
    pairs = [text.partition("=") for text in options.account]
    found = {name: role for name, _, role in pairs}
    try:
        for name, role in found.items():
            accounts.check_new({}, name, role)
    except AccountRefused as error:
        raise Stop(str(error), os.EX_DATAERR) from None
    if len(found) != len(pairs) or len(set(found.values())) < 2 or "manager" not in found.values():
        said = "--account: expected at least two NAME=ROLE, a manager and another role"
        raise Stop(f"{said} (E-ACT-012)", os.EX_USAGE)
    return found


def made(options: argparse.Namespace, people: dict[str, str], at_ms: int) -> list[AccountRow]:
    rows = []
    words = passwords(options, *map(fresh, people))
    for (name, role), password in zip(people.items(), words, strict=True):
        credential, _ = accounts.made(password, secrets.token_bytes(accounts.SALT_BYTES))
        rows.append(accounts.added(name, role, credential, Stamp("machine", at_ms)))
    return rows


def found(store: Store, rows: list[AccountRow], why: str, at_ms: int, *, first: bool) -> None:
    """Into the store, as one order. ``Stop`` if a server has it."""
    epoch = store.lead(f"machine/{os.getpid()}", LEASE_MS)
    if epoch is None:
        raise Stop(f"{store.place}: a server leads; stop it first", os.EX_TEMPFAIL)
    saved: Saved = store.load()
    if first and saved.accounts:
        raise Stop(f"{store.place}: has accounts already; copy the first server's folder", 73)
    ledger = Ledger((), saved)
    if saved.accounts and not saved.staff:
        ledger.found(upgrade(saved.accounts), SERVER, at_ms)
    listed = tuple(Founded(row.name, row.role, accounts.key_of(row)) for row in rows)
    who = f"user {os.getuid()} ({_login()})"
    ledger.found(Found(listed, f"{why}; at the machine, {who}"[:500]), MACHINE, at_ms)
    group = ledger.group(epoch)
    group.accounts = {row.name: row for row in rows}
    store.commit(group)
    store.resign(epoch)


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "no name"


def declare_recover(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--why", required=True, help="for the record")
    parser.add_argument("--config", metavar="FILE", required=True, help="link.toml")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")
    add_accounts(parser)


def recover(options: argparse.Namespace) -> int:
    config = load_config(options.config)
    people = stated(options)
    at_ms = SYSTEM_CLOCK.now_ms()
    rows = made(options, people, at_ms)
    with closing(open_store(config.server.store)) as store:
        store.migrate(at_ms=at_ms)
        found(store, rows, options.why, at_ms, first=False)
    said = f"{', '.join(people)}: new passwords; an alarm stays until two people acknowledge it"
    return print_answer(options, {"accounts": people}, f"{said}\nunderfelt accounts acknowledge")
