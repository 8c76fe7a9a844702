"""The data of the verbs that only look at what the daemon knows already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.daemon.desk.desk import Act, Asked
from controller.daemon.desk.reach import Reach
from controller.faults.catalogue import UNKNOWN, said
from controller.shell.errors import NOT_FOUND, Refused
from controller.shell.verbs import ROLES, VERBS, Verb


def looking(reach: Reach) -> dict[str, Act]:
    async def status(_: Asked) -> Mapping[str, Any]:
        return {**reach.verbs.status(), "test_mode": reach.test_mode()}

    async def devices(_: Asked) -> Mapping[str, Any]:
        return {"devices": rows_of(reach)}

    async def faults(asked: Asked) -> Mapping[str, Any]:
        if "code" not in asked.words:
            return {"troubles": reach.verbs.status()["troubles"]}
        return {"code": asked.words["code"], **looked_up(asked.words["code"])}

    async def identity(_: Asked) -> Mapping[str, Any]:
        return reach.verbs.identity()

    async def help_(asked: Asked) -> Mapping[str, Any]:
        return help_for(asked)

    return {
        "status": status,
        "devices": devices,
        "faults": faults,
        "identity": identity,
        "help": help_,
    }


def rows_of(reach: Reach) -> list[dict[str, Any]]:
    """Every device: its kind, state, and how often it was heard."""
    told, counters = reach.runtime.status.get("devices", {}), reach.verbs.counters()
    kinds = {line.name: line.kind for line in reach.config.layout.lines}
    kinds |= dict.fromkeys(reach.config.layout.boards, "i2c")
    nothing = {"state": "", "code": "", "detail": ""}
    return [
        {
            "device": name,
            "kind": kinds.get(name, name),
            **{key: told.get(name, nothing)[key] for key in nothing},
            "counters": counters.get(name, {}),
        }
        for name in reach.devices()
    ]


def looked_up(code: str) -> dict[str, str]:
    found = said(code)
    if found is UNKNOWN:
        raise Refused(NOT_FOUND, f"{code}: no such code in the manual")
    return {"meaning": found.meaning, "do": found.action}


def help_for(asked: Asked) -> dict[str, Any]:
    """The verbs that this author may use; or one of them, or those that begin with a word."""
    wanted = asked.words.get("verb")
    role = asked.author.role
    rank = -1 if role is None else ROLES.index(role)
    listed = [
        verb for name, verb in VERBS.items() if not wanted or f"{name} ".startswith(f"{wanted} ")
    ]
    return {"role": role, "about": wanted, "verbs": [_row(verb, rank) for verb in listed]}


def _row(verb: Verb, rank: int) -> dict[str, Any]:
    return {
        "verb": verb.name,
        "usage": verb.usage,
        "help": verb.help,
        "role": verb.role,
        "test_mode": verb.test,
        "when": verb.runbook,
        "allowed": ROLES.index(verb.role) <= rank,
    }
