"""``underfelt accounts``: the people who may order something at the link server."""

from __future__ import annotations

import argparse
from typing import Any, Final

from link.accounts import ROLES
from link.commands.io import (
    EX_OK,
    add_people,
    add_place,
    asked,
    control_of,
    new_password,
    ordered,
    print_answer,
    table_text,
)
from link.commands.verbs import Verb, run_verb


def _declare_one(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME")
    add_people(parser)
    add_place(parser)


def _declare_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--role", choices=ROLES, required=True, help="what he may order")
    _declare_one(parser)


def _add(options: argparse.Namespace) -> int:
    """With ``--passwords-stdin`` the new password comes first, then those of ``--by``."""
    password = new_password(options.name, from_stdin=options.passwords_stdin)
    order = {"what": "add account", "name": options.name, "role": options.role}
    answer = ordered(options, {**order, "password": password})
    print_answer(options, answer, f"{options.name}: {options.role}")
    return EX_OK


def _passwd(options: argparse.Namespace) -> int:
    password = new_password(options.name, from_stdin=options.passwords_stdin)
    order = {"what": "set password", "name": options.name, "password": password}
    print_answer(options, ordered(options, order), f"{options.name}: new password")
    return EX_OK


def _unlock(options: argparse.Namespace) -> int:
    answer = ordered(options, {"what": "unlock account", "name": options.name})
    print_answer(options, answer, f"{options.name}: unlocked")
    return EX_OK


def _disable(options: argparse.Namespace) -> int:
    answer = ordered(options, {"what": "disable account", "name": options.name})
    print_answer(options, answer, f"{options.name}: disabled")
    return EX_OK


def _list(options: argparse.Namespace) -> int:
    answer = asked(control_of(options), {"verb": "accounts"})
    rows = [(a["name"], a["role"], _state(a), a["by"]) for a in answer["accounts"]]
    print_answer(options, answer, table_text(("account", "role", "state", "by"), rows))
    return EX_OK


def _state(account: dict[str, Any]) -> str:
    if account["disabled"]:
        return "disabled"
    return "locked" if account["locked"] else "active"


VERBS: Final = {
    "add": Verb(
        _declare_add,
        _add,
        "a new account; asks for its password",
        "add k.lee --role supervisor --by m.ng --by a.kim --config link.toml",
    ),
    "passwd": Verb(
        _declare_one,
        _passwd,
        "a new password; one's own alone",
        "passwd k.lee --by k.lee --config link.toml",
    ),
    "unlock": Verb(
        _declare_one,
        _unlock,
        "after five wrong passwords",
        "unlock k.lee --by m.ng --by a.kim --config link.toml",
    ),
    "disable": Verb(
        _declare_one,
        _disable,
        "an account may no longer be used",
        "disable k.lee --by m.ng --config link.toml",
    ),
    "list": Verb(add_place, _list, "all accounts and their state", "list --config link.toml"),
}


def run(argv: list[str]) -> int:
    return run_verb("accounts", "People with an account at the link server.", VERBS, argv)
