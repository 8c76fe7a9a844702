"""Verbs that do something, none of which moves money, and those that say where it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controller.cli import COMMANDS
from controller.daemon.desk.desk import Act, Asked
from controller.daemon.desk.reach import Reach
from controller.shell.errors import CONFIRM, IN_ROUND, Refused

SAFE_MODE_DO: Final = (
    "state policy.safe_mode in a file of conf.d beside the configuration and reload the service: "
    "it is taken between two rounds, and stands in the hash of the configuration"
)


def doing(reach: Reach) -> dict[str, Act]:
    async def safe_mode(_: Asked) -> Mapping[str, Any]:
        return safe_mode_now(reach.runtime.status)

    async def reboot(asked: Asked) -> Mapping[str, Any]:
        confirm_reboot(asked, in_round=bool(reach.runtime.status.get("in_round", True)))
        who = asked.author.user or str(asked.author.uid)
        reach.runtime.stop(f"shell: {who}")
        return {
            "ends": "the daemon",
            "then": "systemd starts it again and the table stands where it stood",
            "board": "for the whole board: sudo systemctl reboot",
        }

    async def bundle(_: Asked) -> Mapping[str, Any]:
        return {"command": bundle_command(str(reach.config.path))}

    return {"safe-mode": safe_mode, "reboot": reboot, "bundle": bundle}


def safe_mode_now(status: Mapping[str, Any]) -> dict[str, Any]:
    """Only shown: set from here, the table would play under rules that stand in no file."""
    change = status.get("configuration_change", {})
    waiting = [one for one in change.get("changes", ()) if one["key"] == "policy.safe_mode"]
    return {
        "safe_mode": bool(status.get("safe_mode")),
        "waits": waiting[0]["new"] if waiting else None,
        "do": SAFE_MODE_DO,
    }


def confirm_reboot(asked: Asked, *, in_round: bool) -> None:
    if in_round:
        raise Refused(IN_ROUND, "the table is in a round; it is not ended from here")
    if asked.words.get("confirm") != "yes":
        raise Refused(CONFIRM, "reboot ends the daemon; say: reboot yes")


def bundle_command(config: str) -> str:
    """A daemon in its sandbox does not pack the machine; a person with rights does."""
    if "bundle" not in COMMANDS:
        return ""
    return f"sudo underfelt bundle --config {config}"
