"""``underfelt link check|backup|restore``: the store, with the server running or without."""

from __future__ import annotations

import argparse
import os
import secrets
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final

from nacl.signing import SigningKey

from link import accounts
from link.accounts import AccountRefused
from link.commands.io import add_people, asked, load_config, passwords, present, print_answer
from link.ledger.errors import LedgerBroken, PoolError
from link.ledger.history import History, check_history
from link.ledger.ledger import Ledger
from link.ledger.orders import Person, Restore
from link.ledger.state import Sign
from link.registry import Stamp
from link.rows import AccountRow, Group, Saved
from link.server.clock import SYSTEM_CLOCK
from link.server.replies import BackedUp
from link.server.staff_chain import StaffChain, adoption
from link.server.staff_orders import for_the_record
from link.store import open_store
from link.store.backup import restore as restore_store
from link.store.backup import verify_backup
from link.store.base import Store
from link.store.contract import Manifest
from link.store.errors import StoreError
from record.kit.arguments import add_config
from record.kit.places import LINK
from record.kit.verbs import Stop
from record.kit.words import counted

LONG_S: Final = 3_600.0


def _declare(parser: argparse.ArgumentParser) -> None:
    add_config(parser, LINK, "link.toml")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def declare_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--history", action="store_true", help="also apply every event again, from the first one"
    )
    _declare(parser)


def check(options: argparse.Namespace) -> int:
    """The server must not be running on a SQLite store: it keeps the file to itself."""
    config = load_config(options.config)
    try:
        with closing(open_store(config.server.store)) as store:
            counts = asdict(store.check()) | {"sums": store.check_sums()}
            register = StaffChain().read(store.staff()).compare(store.load().accounts)
            register.search(store.events(table=""), store.steps())
            if options.history:
                check_history(history_of(store))
    except LedgerBroken as error:
        raise Stop(
            f"{config.server.store}: {error}; keep the store, call the auditor", os.EX_DATAERR
        ) from None
    if register.findings:
        lines = [f"{config.server.store}: {text} (E-ACT-013)" for text in register.findings]
        raise Stop("\n".join(lines), os.EX_DATAERR)
    counts |= {"staff_orders": register.number, "staff_head": register.head}
    heads = ("chain", "staff_head")
    listed = ", ".join(f"{value} {name}" for name, value in counts.items() if name not in heads)
    said = f"sound: {listed}\nchain {counts['chain']}"
    return print_answer(options, counts, f"{said}\nstaff orders {register.number}:{register.head}")


def history_of(store: Store) -> History:
    """Everything the store holds, in memory."""
    saved = store.load()
    return History(
        events=list(store.events()),
        entries=list(store.entries()),
        balances=saved.balances,
        levels=saved.levels,
        journals=list(store.journals()),
        awards=list(store.awards()),
        steps=list(store.steps()),
        alarms=list(store.alarms()),
    )


def declare_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a new file; its manifest goes beside it")
    _declare(parser)


def backup(options: argparse.Namespace) -> int:
    config = load_config(options.config)
    path = Path(options.file).absolute()
    request = {"verb": "backup", "path": str(path)}
    try:
        manifest = asked(config.server.control, request, BackedUp, LONG_S).manifest
        _verified(path)
    except Stop as stop:
        if stop.code != os.EX_UNAVAILABLE:
            raise
        manifest = _backup_alone(config.server.store, path)  # nobody is running it
    said = f"{path}: {counted(manifest.bytes, 'byte')}, event {manifest.last_event}"
    return print_answer(options, asdict(manifest), f"{said}\nsha256 {manifest.sha256}")


def _verified(path: Path) -> None:
    """In this process: the server has its tables to answer."""
    try:
        verify_backup(path)
    except StoreError as error:
        raise Stop(f"{error}; take another backup, do not use this one", error.exit_code) from None
    except OSError as error:
        said = f"{path}: {error.strerror}; written and not verified"
        raise Stop(said, os.EX_NOPERM) from None


def _backup_alone(where: str, path: Path) -> Manifest:
    with closing(open_store(where)) as store:
        return store.backup(path, at_ms=SYSTEM_CLOCK.now_ms())


def declare_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a backup, with its manifest beside it")
    parser.add_argument("--why", required=True, help="for the record")
    add_people(parser)
    _declare(parser)


def restore(options: argparse.Namespace) -> int:
    """Tables send again what the backup did not have; people of the backup's accounts answer."""
    config = load_config(options.config)
    words = passwords(options, *map(present, options.by))

    def explain(saved: Saved, epoch: int) -> Group:
        return _explained(saved, epoch, list(zip(options.by, words, strict=True)), options.why)

    try:
        with closing(open_store(config.server.store, create=True)) as store:
            store.migrate(at_ms=SYSTEM_CLOCK.now_ms())
            manifest = restore_store(store, Path(options.file), explain=explain)
    except PoolError as error:
        raise Stop(str(error), os.EX_NOPERM) from None
    said = f"{config.server.store}: restored, event {manifest.last_event}; start the server"
    return print_answer(options, asdict(manifest), said)


def _explained(saved: Saved, epoch: int, given: list[tuple[str, str]], why: str) -> Group:
    """The order of two people of the backup's accounts. Who had no key yet gets it first."""
    ledger, at_ms = Ledger((), saved), SYSTEM_CLOCK.now_ms()
    known = {account.name: account for account in saved.accounts}
    people, keys, adopted = list[AccountRow](), list[SigningKey](), dict[str, AccountRow]()
    for name, password in given:
        account = known.get(name)
        secret = accounts.proved(account, password)
        if account is not None and secret is None and accounts.fits_old(account, password):
            salt = secrets.token_bytes(accounts.SALT_BYTES)
            order, secret = adoption(account, password, salt)
            person = Person(account.name, account.role)
            for text in for_the_record(order):
                ledger.office(text, (person,), at_ms, _sign_with([secret]))
            credential = accounts.Credential(order.salt, order.key)
            adopted[name] = accounts.with_key(account, credential, Stamp(name, at_ms))
        if account is None or secret is None:
            said = "wrong name or password, or the account is disabled (E-ACT-001)"
            raise Stop(said, os.EX_NOPERM)
        people.append(account)
        keys.append(secret)
    try:
        accounts.check_authority("restore", tuple(people))
    except AccountRefused as error:
        raise Stop(str(error), os.EX_NOPERM) from None
    by = [Person(account.name, account.role) for account in people]
    ledger.order(Restore(why), by, at_ms, _sign_with(keys))
    group = ledger.group(epoch)
    group.accounts |= adopted
    return group


def _sign_with(keys: list[SigningKey]) -> Sign:
    return lambda text: tuple(secret.sign(text).signature.hex() for secret in keys)
