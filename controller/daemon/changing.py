"""A configuration that changes while the table runs: what is taken at once, what waits, what not.

Rule settings, displays and policy are taken between two rounds, as a whole and by a new snapshot
record, so that a replay sees them change where they changed. Everything else is built at a start
and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from controller.config.live import LiveConfig
from controller.config.options import When
from controller.config.pending import PendingConfig
from controller.daemon.house_options import HouseOptions, house_options
from controller.faults.status import ChangeStatus
from controller.history.memory import Memory, reopen
from controller.history.snapshot import Opening
from controller.rules.errors import UnderfeltError
from record.kit.config import ConfigError

CONFIGURATION: Final = "configuration"
Verdict = Literal["nothing", "apply", "wait", "restart", "refused"]
WHAT_TO_DO: Final[Mapping[Verdict, str]] = {
    "nothing": "nothing: the table runs on what is in the files",
    "apply": "nothing: it is taken now",
    "wait": "end the round; what stands on the sign also waits until the table is closed",
    "restart": "end the round and start the daemon again",
    "refused": "put the file right; the table runs on what it had",
}
_LIVE: Final = ("settings.", "display.", "policy.", "shell.")
"""What a running table can take; the parts behind all other keys are built at its start."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The configuration was read again. ``needs`` None: it is the running one."""

    hash: str
    opening: Opening | None = None
    needs: When | None = None
    changes: tuple[tuple[str, Any, Any], ...] = ()
    """(key, old, new)"""
    refused: str = ""
    chosen: HouseOptions | None = None
    """Texts and options; None: those in force stay."""


class Reloader:
    """Reads the configuration again; touches files and nothing of the table."""

    def __init__(
        self,
        running: LiveConfig,
        load: Callable[[], LiveConfig],
        opening_of: Callable[[LiveConfig], Opening],
        choose: Callable[[LiveConfig], HouseOptions] = house_options,
    ) -> None:
        self._running = running
        self._load, self._opening_of, self._choose = load, opening_of, choose
        self._seen = {running.effective_hash: running}

    def reload(self, in_force: str) -> Reloaded:
        """``in_force`` is the hash of the configuration that the table plays under."""
        try:
            loaded = self._load()
            opening = self._opening_of(loaded)
            opening.state()
            taken = self._choose(loaded)
        except (ConfigError, OSError, UnderfeltError) as error:
            return Reloaded("", refused=str(error))
        pending = PendingConfig.between(self._seen.get(in_force, self._running), loaded)
        self._seen[loaded.effective_hash] = loaded
        changes = tuple((one.key, one.old, one.new) for one in pending.changes)
        built = any(not one.key.startswith(_LIVE) for one in pending.changes)
        needs: When | None = "restart" if built else pending.needs
        return Reloaded(pending.new_hash, opening, needs, changes, chosen=taken)


class Changing:
    """The writer's side: which configuration is in force, and which one waits."""

    def __init__(self, in_force: str = "", waiting: Reloaded | None = None) -> None:
        self.in_force = in_force
        self.waiting = waiting

    def take(self, one: Reloaded) -> None:
        if not one.refused and one.hash == self.in_force:
            self.waiting = None
        elif self.waiting is None or one.hash != self.waiting.hash or one.refused:
            self.waiting = one

    def verdict(self, *, in_round: bool, table_open: bool) -> Verdict:
        one = self.waiting
        if one is None:
            return "nothing"
        if one.refused:
            return "refused"
        match one.needs:
            case "restart":
                return "restart"
            case "closed":
                return "wait" if in_round or table_open else "apply"
            case _:
                return "wait" if in_round else "apply"

    def told(self, verdict: Verdict) -> ChangeStatus:
        """For journal and status: what is to come, and what to do about it."""
        one = self.waiting
        told: ChangeStatus = {"verdict": verdict, "in_force": self.in_force}
        if one is not None and one.refused:
            told["why"] = one.refused
        elif one is not None:
            told["hash"] = one.hash
            told["needs"] = one.needs or "round"
            told["changes"] = [{"key": k, "old": old, "new": new} for k, old, new in one.changes]
        return {**told, "what_to_do": WHAT_TO_DO[verdict]}

    def apply(self, memory: Memory) -> tuple[dict[str, Any], HouseOptions | None]:
        """Take what waits: the table is between rounds. Returns the journal's record, and what is
        for the table core."""
        one = self.waiting
        assert one is not None
        assert one.opening is not None
        reopen(memory, one.opening)
        before, self.in_force, self.waiting = self.in_force, one.hash, None
        changes = [{"key": k, "old": old, "new": new} for k, old, new in one.changes]
        told = {"verdict": "applied", "before": before, "in_force": one.hash, "changes": changes}
        return told, one.chosen
