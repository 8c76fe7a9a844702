"""A new configuration beside the running one: what changed, and when it may take effect.

Pure. A configuration is taken whole or not at all, because its hash is in every round; the
strictest of its changes decides the moment. Nothing ever takes effect inside a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from controller.config.live import LiveConfig
from controller.config.options import When, when_of

Verdict = Literal["nothing", "apply", "wait", "restart"]
_STRICTNESS: Final[tuple[When, ...]] = ("round", "closed", "restart")


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """``old`` or ``new`` is None where a key is not there; ``origin`` is where the new one is."""

    key: str
    old: Any
    new: Any
    when: When
    origin: str


@dataclass(frozen=True, slots=True)
class PendingConfig:
    """The way from one configuration to another."""

    old_hash: str
    new_hash: str
    changes: tuple[ConfigChange, ...]

    @classmethod
    def between(cls, running: LiveConfig, loaded: LiveConfig) -> PendingConfig:
        changes = []
        for key in (*running.values, *(k for k in loaded.values if k not in running.values)):
            before, after = running.values.get(key), loaded.values.get(key)
            old = None if before is None else before.value
            new = None if after is None else after.value
            if type(old) is not type(new) or old != new:
                origin = "no longer there" if after is None else after.origin(key)
                # A section that comes or goes is built or taken down at a start.
                when = when_of(key) if before is not None and after is not None else "restart"
                changes.append(ConfigChange(key, old, new, when, origin))
        if running.layout_sha256 != loaded.layout_sha256:
            digests = running.layout_sha256, loaded.layout_sha256
            origin = str(loaded.layout_path)
            changes.append(ConfigChange("layout (content)", *digests, "restart", origin))
        if running.language_sha256 != loaded.language_sha256 and all(
            change.key != "display.language" for change in changes
        ):
            digests = running.language_sha256, loaded.language_sha256
            origin = str(loaded.display.language)
            changes.append(ConfigChange("display.language (content)", *digests, "round", origin))
        return cls(running.effective_hash, loaded.effective_hash, tuple(changes))

    @property
    def needs(self) -> When | None:
        """The strictest moment any change asks for; None if nothing changed."""
        wanted = {change.when for change in self.changes}
        return next((when for when in reversed(_STRICTNESS) if when in wanted), None)

    def verdict(self, *, in_round: bool, table_open: bool) -> Verdict:
        """May it be applied now? ``wait`` until the round, or the table, is closed."""
        match self.needs:
            case None:
                return "nothing"
            case "restart":
                return "restart"
            case "closed":
                return "wait" if in_round or table_open else "apply"
            case "round":
                return "wait" if in_round else "apply"
