"""What each verb of the shell does, but for the tests. None of it moves money."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from controller.config.live import LiveConfig
from controller.daemon.compose import Table
from controller.daemon.runtime import Runtime
from controller.daemon.verbs import Verbs, free_bytes
from controller.faults.catalogue import UNKNOWN, said
from controller.shell.answers import (
    Clocks,
    ClosedRound,
    CodeMeaning,
    ConfigInForce,
    ConfigPath,
    DeviceRow,
    Devices,
    Help,
    JournalHead,
    JournalState,
    LinkAnswer,
    OneDevice,
    Reboot,
    SafeMode,
    SeatChips,
    Troubles,
    VerbRow,
    Watched,
    WhyWaits,
)
from controller.shell.desk.decoding import decoded
from controller.shell.desk.journal_files import checked, past_round
from controller.shell.desk.recent import Recent
from controller.shell.desk.roles import Act, Asked
from controller.shell.desk.table_views import kept_round, lying, public_in, told_round, waits
from controller.shell.errors import CONFIRM, IN_ROUND, NOT_FOUND, NOT_NOW, VerbRefused
from controller.shell.messages import At
from controller.shell.parse import Live
from controller.shell.render.records import HELD
from controller.shell.testing.makers import POT, seat_of
from controller.shell.verbs import ROLES, VERBS

BEAT: Final = "HEARTBEAT"
"""Counted, not listed: they would hide everything else."""
MOST_FRAMES: Final = 200
NOTHING: Final = {"state": "", "code": "", "detail": ""}


class Acts:
    def __init__(
        self, config: LiveConfig, table: Table, runtime: Runtime, verbs: Verbs, recent: Recent
    ) -> None:
        self._config, self._runtime, self._verbs, self._recent = config, runtime, verbs, recent
        self._link, self._clock = table.link, table.clock
        self._repaired_bytes = table.journal.repaired
        """Of the journal, when it was opened."""

    def all(self) -> dict[str, Act]:
        return {
            "status": self._status,
            "devices": self._devices,
            "device": self._device,
            "watch": self._watch,
            "chips": self._chips,
            "link": self._linked,
            "journal": self._journal,
            "round": self._round,
            "why": self._why,
            "faults": self._faults,
            "config": self._in_force,
            "identity": self._identity,
            "help": self._help,
            "safe-mode": self._safe_mode,
            "safe-mode on": self._order_safe_mode,
            "safe-mode off": self._open_again,
            "reboot": self._reboot,
            "bundle": self._bundle,
        }

    # --- for words and the prompt --------------------------------------------------------------

    def live(self) -> Live:
        """Devices, seats and ports of this table."""
        layout = self._config.layout
        seats = [str(seat) for seat in range(1, self._config.table.seats + 1)]
        if any(seat == 0 for seat, _ in layout.spots.values()):
            seats.append(POT)
        ports = [line.name for line in layout.lines]
        return {"device": sorted(self._verbs.counters()), "seat": seats, "port": ports}

    def at(self) -> At:
        status = self._verbs.status()
        return At(
            table=status["table"],
            game=status["game"],
            round=status["round"],
            phase=status["phase"],
            in_round=status["in_round"],
            troubles=sum(one["level"] != "note" for one in status["troubles"]),
            test_mode=bool(status["test_mode"]),
        )

    # --- the table now -------------------------------------------------------------------------

    async def _status(self, _: Asked) -> Mapping[str, Any]:
        status = self._verbs.status()
        return {**status, "test_mode": bool(status["test_mode"])}

    async def _faults(self, asked: Asked) -> Troubles | CodeMeaning:
        code = asked.words.get("code")
        if code is None:
            return {"troubles": self._verbs.status()["troubles"]}
        found = said(code)
        if found is UNKNOWN:
            raise VerbRefused(NOT_FOUND, f"{code}: no such code in the manual")
        return {"code": code, "meaning": found.meaning, "do": found.action}

    async def _why(self, _: Asked) -> WhyWaits:
        return await self._runtime.look(waits)

    async def _chips(self, asked: Asked) -> SeatChips:
        seat = seat_of(asked.words["seat"])
        return await self._runtime.look(lambda writer: lying(writer, seat))

    async def _linked(self, _: Asked) -> LinkAnswer:
        return {
            "configured": self._config.link is not None,
            "link_up": self._runtime.status.get("link_up"),
            "status": self._link.status(),
            "fingerprints": self._link.fingerprints(),
        }

    async def _identity(self, _: Asked) -> Mapping[str, Any]:
        return self._verbs.identity()

    async def _in_force(self, _: Asked) -> ConfigInForce:
        chosen, status = self._runtime.beside.chosen, self._runtime.status
        values = self._config.values if chosen is None else chosen.values
        return {
            "hash": status.get("configuration", ""),
            "files": [str(path) for path in self._config.files],
            "values": [
                {"key": key, "value": one.value, "origin": one.origin(key)}
                for key, one in values.items()
            ],
            "change": status.get("configuration_change", {}),
        }

    async def _help(self, asked: Asked) -> Help:
        """The verbs that this author may use; or one of them, or those that begin with a word."""
        about, role = asked.words.get("verb"), asked.author.role
        rank = -1 if role is None else ROLES.index(role)
        rows: list[VerbRow] = [
            {
                "verb": verb.name,
                "usage": verb.usage,
                "help": verb.help,
                "role": verb.role,
                "test_mode": verb.test,
                "when": verb.runbook,
                "allowed": ROLES.index(verb.role) <= rank,
            }
            for name, verb in VERBS.items()
            if not about or f"{name} ".startswith(f"{about} ")
        ]
        return {"role": role, "about": about, "verbs": rows}

    # --- devices -------------------------------------------------------------------------------

    async def _devices(self, _: Asked) -> Devices:
        return {"devices": self._rows()}

    def _rows(self) -> list[DeviceRow]:
        """Every device: its kind, state, and how often it was heard."""
        layout, told = self._config.layout, self._runtime.status.get("devices", {})
        kinds = {line.name: line.kind for line in layout.lines}
        kinds |= dict.fromkeys(layout.boards, "i2c")
        rows: list[DeviceRow] = []
        for name, counters in sorted(self._verbs.counters().items()):
            one = told.get(name, NOTHING)
            rows.append(
                {
                    "device": name,
                    "kind": kinds.get(name, name),
                    "state": one["state"],
                    "code": one["code"],
                    "detail": one["detail"],
                    "counters": counters,
                }
            )
        return rows

    async def _device(self, asked: Asked) -> OneDevice:
        name, recent = asked.words["device"], self._recent
        row = next(one for one in self._rows() if one["device"] == name)
        opened = await self._runtime.look(lambda writer: Counter(writer.table_log.memory.opened))
        is_public = public_in(tuple(recent.dealt), name, opened)
        rows = await asyncio.to_thread(decoded, row["kind"], recent.pieces(name), is_public)
        frames = [one for one in rows if not one["text"].startswith(BEAT)]
        heard = [one["at_us"] for one in rows if one["direction"] == "in"]
        return {
            **row,
            "identity": recent.identities.get(name),
            "heartbeats": len(rows) - len(frames),
            "heard_us": max(0, self._clock.now_us() - heard[-1]) if heard else None,
            "frames": frames[-MOST_FRAMES:],
        }

    async def _watch(self, asked: Asked) -> Watched:
        """A first look begins now; later ones go on behind the cursor."""
        recent, cursor = self._recent, asked.cursor
        number = recent.last if cursor is None else min(max(cursor, 0), recent.last)
        rows, missed = recent.after(number, asked.words.get("device", ""))
        now = Clocks(us=self._clock.now_us(), wall_ms=self._clock.wall_ms())
        return {"readings": rows, "missed": missed, "cursor": recent.last, "now": now}

    # --- journal and rounds --------------------------------------------------------------------

    async def _journal(self, _: Asked) -> JournalState:
        folder = self._config.journal.path
        end = await asyncio.to_thread(checked, folder)
        head: JournalHead = self._runtime.status.get("journal", {})
        return {
            **head,
            "path": str(folder),
            "repaired_bytes": self._repaired_bytes,
            "free_bytes": free_bytes(folder),
            **end,
        }

    async def _round(self, asked: Asked) -> ClosedRound:
        """From what the table keeps of its last rounds, or from the journal."""
        number = int(asked.words["round"]) if "round" in asked.words else None
        kept = await self._runtime.look(lambda writer: kept_round(writer, number))
        if isinstance(kept, VerbRefused):
            raise kept
        if kept is not None:
            record, result = kept.current
            return told_round(kept.round_no, record, result, corrected=bool(kept.corrections))
        if number is None:
            raise VerbRefused(NOT_FOUND, "no round is closed yet")
        return await self._past_round(number)

    async def _past_round(self, number: int) -> ClosedRound:
        folder, last = self._config.journal.path, self._runtime.status["round"]
        body = await asyncio.to_thread(past_round, folder, number)
        if body is None and number > last:
            raise VerbRefused(NOT_FOUND, f"there is no round {number} yet; the last one is {last}")
        if body is None:
            more = f"underfelt journal export-round {folder} {number} looks at all of it"
            text = f"round {number} is not in the newer part of the journal; {more}"
            raise VerbRefused(NOT_FOUND, text)
        record, result = body.get("ruled_anew") or (body["record"], body["result"])
        return told_round(number, record, result, corrected=bool(body["corrections"]))

    # --- what is done --------------------------------------------------------------------------

    async def _safe_mode(self, _: Asked) -> SafeMode:
        """Ordered at the shell, or stated in the configuration: who holds it, and how it ends."""
        status = self._runtime.status
        change = status.get("configuration_change", {})
        waiting = [one for one in change.get("changes", ()) if one["key"] == HELD]
        on, by = bool(status.get("safe_mode")), status.get("safe_mode_by", "")
        return {
            "safe_mode": on,
            "by": by or (HELD if on else ""),
            "waits": waiting[0]["new"] if waiting else None,
        }

    async def _order_safe_mode(self, asked: Asked, *, on: bool = True) -> SafeMode:
        user = asked.author.user or f"uid {asked.author.uid}"
        blocked = await self._runtime.direct(
            lambda writer, at_us: writer.order_safe_mode(on, user, at_us)
        )
        if blocked is not None:
            raise VerbRefused(IN_ROUND if blocked.in_round else NOT_NOW, blocked.why)
        return await self._safe_mode(asked)

    async def _open_again(self, asked: Asked) -> SafeMode:
        return await self._order_safe_mode(asked, on=False)

    async def _reboot(self, asked: Asked) -> Reboot:
        if self._runtime.status.get("in_round", True):
            raise VerbRefused(IN_ROUND, "the table is in a round; it is not ended from here")
        if asked.words.get("confirm") != "yes":
            raise VerbRefused(CONFIRM, "reboot ends the daemon; say: reboot yes")
        self._runtime.stop(f"shell: {asked.author.user or asked.author.uid}")
        return {
            "ends": "the daemon",
            "then": "systemd restarts it and the table resumes where it was",
            "board": "for the whole board: sudo systemctl reboot",
        }

    async def _bundle(self, _: Asked) -> ConfigPath:
        # The daemon runs in a sandbox, so the client packs, with the rights of its user.
        return {"config": str(self._config.path.absolute())}
