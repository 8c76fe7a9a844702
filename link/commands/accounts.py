"""``underfelt accounts``: the people who may order something at the link server.

The owner of an account makes its key from a password that nobody else types: ``request``. Two
others with different roles, who compare the fingerprint with the owner, put it into force.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from link import accounts
from link.accounts import ROLES
from link.commands.accounts_local import declare_recover, recover
from link.commands.io import (
    add_passwords,
    add_people,
    add_place,
    asked,
    command,
    control_of,
    fresh,
    listed,
    ordered,
    passwords,
    present,
    print_answer,
    table_text,
)
from link.server.replies import AccountsReply, ListedAccount
from record.kit.verbs import Stop, Verb

LONGEST: Final = 4_096
FIELDS: Final = ("account", "key", "proof", "salt")


def _declare_people(parser: argparse.ArgumentParser) -> None:
    add_people(parser)
    add_place(parser)


def _declare_one(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    _declare_people(parser)


# --- a new key ------------------------------------------------------------------------------------


def key_order(what: str, name: str, password: str) -> dict[str, str]:
    """What the owner's password makes; without it nobody can."""
    salt = secrets.token_bytes(accounts.SALT_BYTES)
    credential, secret = accounts.made(password, salt)
    proof = accounts.ownership(name, secret)
    return {
        "what": what,
        "name": name,
        "key": credential.key,
        "proof": proof,
        "salt": credential.salt,
    }


def _declare_request(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--out", metavar="FILE", required=True, help="a new file")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")
    add_passwords(parser)


def _request(options: argparse.Namespace) -> int:
    """Nothing is sent: the file goes to the two people who put it into force."""
    (password,) = passwords(options, fresh(options.name))
    order = key_order("", options.name, password)
    row = {"account": options.name, **{name: order[name] for name in FIELDS[1:]}}
    try:
        descriptor = os.open(options.out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(row, indent=1) + "\n")
    except OSError as error:
        raise Stop(f"{options.out}: {error.strerror}", os.EX_CANTCREAT) from None
    mark = accounts.mark(order["key"])
    said = f"{options.out}: fingerprint {mark}; tell it to the two people yourself"
    return print_answer(options, {"file": options.out, "fingerprint": mark}, said)


def _declare_reset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("request", metavar="REQUEST", help="the file that the owner made")
    parser.add_argument(
        "--fingerprint", required=True, metavar="MARK", help="as the owner told you in person"
    )
    add_people(parser)
    add_place(parser)


def _declare_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--role", choices=ROLES, required=True, help="what the person may order")
    _declare_reset(parser)


def _requested(options: argparse.Namespace, what: str) -> dict[str, str]:
    try:
        with Path(options.request).open("rb") as stream:
            row = json.loads(stream.read(LONGEST))
        row = {name: str(row[name]) for name in FIELDS}
        mark = accounts.mark(row["key"])
    except OSError as error:
        raise Stop(f"{options.request}: {error.strerror}", os.EX_NOINPUT) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        said = f"{options.request}: not a request; the owner makes one with 'accounts request'"
        raise Stop(f"{said} (E-ACT-003)", os.EX_DATAERR) from None
    if row["account"] != options.name:
        raise Stop(f"{options.request}: for {row['account']!r}, not {options.name}", os.EX_DATAERR)
    if mark != options.fingerprint.strip().lower():
        said = f"{options.request}: fingerprint {mark}, not {options.fingerprint}"
        raise Stop(f"{said}; ask the owner again (E-ACT-003)", os.EX_DATAERR)
    return {"what": what, "name": options.name, **{name: row[name] for name in FIELDS[1:]}}


def _add(options: argparse.Namespace) -> int:
    order = {**_requested(options, "add account"), "role": options.role}
    return print_answer(options, ordered(options, order), f"{options.name}: {options.role}")


def _reset(options: argparse.Namespace) -> int:
    answer = ordered(options, _requested(options, "reset account"))
    return print_answer(options, answer, f"{options.name}: has the password that the owner chose")


def _declare_passwd(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    add_passwords(parser)
    add_place(parser)


def _passwd(options: argparse.Namespace) -> int:
    old, new = passwords(options, present(options.name), fresh(options.name))
    options.by = [options.name]
    answer = ordered(options, key_order("set password", options.name, new), [old])
    return print_answer(options, answer, f"{options.name}: new password")


# --- what two people decide -----------------------------------------------------------------------


def _declare_role(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--role", choices=ROLES, required=True, help="what the person may order")
    _declare_one(parser)


def _role(options: argparse.Namespace) -> int:
    order = {"what": "set role", "name": options.name, "role": options.role}
    return print_answer(options, ordered(options, order), f"{options.name}: {options.role}")


def _ordering(what: str, said: str) -> Callable[[argparse.Namespace], int]:
    """An order that names an account and nothing else."""

    def act(options: argparse.Namespace) -> int:
        answer = ordered(options, {"what": what, "name": options.name})
        return print_answer(options, answer, f"{options.name}: {said}")

    return act


def _acknowledge(options: argparse.Namespace) -> int:
    number = asked(control_of(options), {"verb": "accounts"}, AccountsReply).unacknowledged
    if not number:
        raise Stop("no account was made without proof since the last time", os.EX_DATAERR)
    answer = ordered(options, {"what": "acknowledge accounts", "number": number})
    return print_answer(options, answer, f"staff order {number}: acknowledged")


def _list(options: argparse.Namespace) -> int:
    pages = list(listed(control_of(options), "accounts", AccountsReply))
    people = [account for page in pages for account in page.accounts]
    rows = [(a.name, a.role, _state(a), a.key, a.by) for a in people]
    head = ("account", "role", "state", "key", "by")
    answer = {"accounts": people, "unacknowledged": pages[-1].unacknowledged}
    return print_answer(options, answer, table_text(head, rows))


def _state(account: ListedAccount) -> str:
    if account.disabled:
        return "disabled"
    if not account.key:
        return "old password"
    return "delayed" if account.waiting_ms else "active"


_TWO: Final = "--by m.ng --by a.kim --config link.toml"
VERBS: Final = {
    "request": Verb(
        _declare_request,
        _request,
        "the owner chooses a password; a file for the two who confirm it",
        "request k.lee --out k.lee.request",
    ),
    "add": Verb(
        _declare_add,
        _add,
        "a new account from its owner's request; two people",
        f"add k.lee k.lee.request --fingerprint 1f0c-77aa-0b52-9e4d --role supervisor {_TWO}",
    ),
    "reset": Verb(
        _declare_reset,
        _reset,
        "a forgotten password, from the owner's request; two people",
        f"reset k.lee k.lee.request --fingerprint 1f0c-77aa-0b52-9e4d {_TWO}",
    ),
    "passwd": Verb(
        _declare_passwd,
        _passwd,
        "a new password, by its owner",
        "passwd k.lee --config link.toml",
    ),
    "role": Verb(
        _declare_role,
        _role,
        "another role; two people",
        f"role k.lee --role manager {_TWO}",
    ),
    "unlock": Verb(
        _declare_one,
        _ordering("unlock account", "no delay any more"),
        "no delay after wrong passwords; two people",
        f"unlock k.lee {_TWO}",
    ),
    "disable": Verb(
        _declare_one,
        _ordering("disable account", "disabled"),
        "an account may no longer be used; two people",
        f"disable k.lee {_TWO}",
    ),
    "enable": Verb(
        _declare_one,
        _ordering("enable account", "enabled, with the password it had"),
        "it may be used again, with its password; two people",
        f"enable k.lee {_TWO}",
    ),
    "acknowledge": Verb(
        _declare_people,
        _acknowledge,
        "accounts were made at the machine, and two people know",
        f"acknowledge {_TWO}",
    ),
    "recover": Verb(
        declare_recover,
        recover,
        "at the machine, server stopped: nobody can log in",
        "recover --account m.ng=manager --account k.lee=supervisor --why 'phones lost'"
        " --config link.toml",
    ),
    "list": Verb(add_place, _list, "all accounts and their state", "list --config link.toml"),
}

run: Final = command("accounts", "People with an account at the link server.", VERBS).run
