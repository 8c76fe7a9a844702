"""Verbs that do something, none of which moves money, and those that say where it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controller.daemon.desk.desk import Act, Asked
from controller.daemon.desk.reach import Reach
from controller.shell.errors import CONFIRM, IN_ROUND, NOT_NOW, Refused
from controller.shell.render.house import HELD


def doing(reach: Reach) -> dict[str, Act]:
    async def safe_mode(_: Asked) -> Mapping[str, Any]:
        return safe_mode_now(reach.runtime.status)

    def ordered(on: bool) -> Act:
        async def act(asked: Asked) -> Mapping[str, Any]:
            user = asked.author.user or f"uid {asked.author.uid}"
            blocked = await reach.runtime.direct(
                lambda writer, at_us: writer.order_safe_mode(on, user, at_us)
            )
            if blocked is not None:
                raise Refused(IN_ROUND if blocked.in_round else NOT_NOW, blocked.why)
            return safe_mode_now(reach.runtime.status)

        return act

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
        # A daemon in its sandbox does not pack the machine: the client does, as whoever typed it.
        return {"config": str(reach.config.path.absolute())}

    return {
        "safe-mode": safe_mode,
        "safe-mode on": ordered(True),
        "safe-mode off": ordered(False),
        "reboot": reboot,
        "bundle": bundle,
    }


def safe_mode_now(status: Mapping[str, Any]) -> dict[str, Any]:
    """Ordered at the shell, or stated in the configuration: who holds it, and how it ends."""
    change = status.get("configuration_change", {})
    waiting = [one for one in change.get("changes", ()) if one["key"] == HELD]
    on, by = bool(status.get("safe_mode")), status.get("safe_mode_by", "")
    return {
        "safe_mode": on,
        "by": by or (HELD if on else ""),
        "waits": waiting[0]["new"] if waiting else None,
    }


def confirm_reboot(asked: Asked, *, in_round: bool) -> None:
    if in_round:
        raise Refused(IN_ROUND, "the table is in a round; it is not ended from here")
    if asked.words.get("confirm") != "yes":
        raise Refused(CONFIRM, "reboot ends the daemon; say: reboot yes")
