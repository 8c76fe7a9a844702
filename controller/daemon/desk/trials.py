"""Which guided test a verb begins, from what this table has."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from controller.daemon.desk.audit import Audit
from controller.daemon.desk.desk import Asked
from controller.daemon.desk.reach import Reach
from controller.rules.engine.deal import packet_size, plan, uses_packets
from controller.rules.engine.state import TableRules
from controller.shell.errors import NO_DEVICE, USED, Refused
from controller.testing.antennas import AntennaTest
from controller.testing.cards import DeckTest, PatternTest
from controller.testing.console import KeyTest
from controller.testing.lines import ChallengeTest, LoopTest
from controller.testing.steps import Guided
from controller.testing.walks import (
    Displays,
    Walk,
    display_pictures,
    lamp_pictures,
    sign_pictures,
)
from drivers.base import Identity
from drivers.mcp23017 import KEYS_1, KEYS_2
from drivers.orders import ShowMagicCard, ShowMeter, ShowSign
from drivers.readings import Uid
from record.kit.money import cents_text

CHALLENGE: Final = "challenge"
"""The record of a nonce: none is ever asked twice."""
PASSED: Final = "challenges passed"
Make = Callable[[Asked], Awaitable[Guided]]


class Trials:
    def __init__(self, reach: Reach, audit: Audit, identities: Mapping[str, Identity]) -> None:
        self._reach, self._audit, self._identities = reach, audit, identities

    def makers(self) -> dict[str, Make]:
        return {
            "antenna test": self._antennas,
            "cards": self._deck,
            "cards pattern": self._pattern,
            "lamp walk": self._lamps,
            "display walk": self._displays,
            "sign test": self._sign,
            "keys": self._keys,
            "loopback": self._loopback,
            "challenge": self._challenge,
        }

    # --- chips ---------------------------------------------------------------------------------

    async def _antennas(self, asked: Asked) -> Guided:
        word = asked.words.get("seat")
        seat = None if word is None else 0 if word == "pot" else int(word)
        serials = {name: one.serial for name, one in self._identities.items()}
        return AntennaTest(self._reach.config.layout.spots, seat, self._worth, serials)

    def _worth(self, uid: Uid) -> str:
        chip = self._reach.started.writer.core.chips.find(uid)
        if chip is None:
            return "not in the register"
        return f"{cents_text(chip.cents)} {chip.kind}, {chip.status}"

    # --- cards ---------------------------------------------------------------------------------

    def _card_device(self) -> tuple[str, TableRules]:
        writer = self._reach.started.writer
        devices = sorted(writer.core.health.card_devices)
        if not devices:
            raise Refused(NO_DEVICE, "this table has no card device")
        return devices[0], writer.core.state.rules

    async def _deck(self, _: Asked) -> Guided:
        device, rules = self._card_device()
        return DeckTest(device, in_order=not uses_packets(rules))

    async def _pattern(self, _: Asked) -> Guided:
        device, rules = self._card_device()
        places = plan(rules, list(range(1, rules.table.seats + 1)))
        packets = uses_packets(rules)
        sizes = [packet_size(rules, place) if packets else 1 for place in places]
        return PatternTest(device, places, sizes)

    # --- what is seen --------------------------------------------------------------------------

    def _states(self) -> dict[str, tuple[str, str]]:
        told = self._reach.runtime.status.get("devices", {})
        return {name: (one["state"], one["code"]) for name, one in told.items()}

    async def _lamps(self, _: Asked) -> Guided:
        config = self._reach.config
        pictures = lamp_pictures(config.table.seats, tuple(config.layout.boards))
        return Walk("lamp walk", pictures, self._states())

    def _have(self) -> Displays:
        config = self._reach.config
        book = self._reach.started.writer.core.state.rules.book
        shown: set[type] = set()
        if book.progressive is not None:
            shown |= {ShowMeter, ShowSign}
        if book.magic_card is not None:
            shown.add(ShowMagicCard)
        signs = tuple(line.name for line in config.layout.lines if line.kind == "alpha")
        return Displays(tuple(sorted(config.layout.boards)), signs, frozenset(shown))

    async def _displays(self, _: Asked) -> Guided:
        return Walk("display walk", display_pictures(self._have()), self._states())

    async def _sign(self, _: Asked) -> Guided:
        return Walk("sign test", sign_pictures(self._have()), self._states())

    async def _keys(self, _: Asked) -> Guided:
        chips = self._reach.config.layout.boards
        caps = [cap for name, row in (("keys-1", KEYS_1), ("keys-2", KEYS_2)) for cap in row
                if name in chips]  # fmt: skip
        return KeyTest(caps)

    # --- lines ---------------------------------------------------------------------------------

    async def _loopback(self, asked: Asked) -> Guided:
        line = asked.words["port"]
        state = self._states().get(line, ("unknown", ""))[0]
        # Plain characters: some lines carry seven bits.
        pattern = f"UNDERFELT {secrets.token_hex(16).upper()} ".encode("ascii")
        return LoopTest(line, state, pattern)

    async def _challenge(self, asked: Asked) -> Guided:
        device = asked.words["device"]
        line = self._reach.started.rig.lines.get(device)
        if line is None or device not in self._reach.started.writer.core.health.card_devices:
            raise Refused(NO_DEVICE, f"{device}: only a card device can be challenged")
        nonce, digest = (bytes.fromhex(asked.words[name]) for name in ("nonce", "digest"))
        used: list[dict[str, Any]] = await self._audit.rows_of(CHALLENGE)
        if any(row.get("nonce") == nonce.hex() for row in used):
            raise Refused(USED, f"{nonce.hex()}: this nonce was asked before; make a fresh one")
        await self._audit.keep(CHALLENGE, {"device": device, "nonce": nonce.hex()})
        counters = line.counters
        return ChallengeTest(device, nonce, digest, lambda: counters[PASSED])
