"""Which guided test a verb begins, from what this table has. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from controller.rules.engine.deal import packet_size, plan, uses_packets
from controller.rules.engine.state import TableRules
from controller.shell.errors import NO_DEVICE, VerbRefused
from controller.shell.testing.antennas import AntennaTest
from controller.shell.testing.cards import DeckTest, PatternTest
from controller.shell.testing.keys import KeyTest
from controller.shell.testing.lines import ChallengeTest, LoopTest
from controller.shell.testing.steps import Guided
from controller.shell.testing.walks import (
    Displays,
    Walk,
    display_pictures,
    lamp_pictures,
    sign_pictures,
)
from controller.table.chips import Find
from drivers.layout import TableLayout
from drivers.mcp23017.keys import KEYS_1, KEYS_2
from drivers.orders import ShowMagicCard, ShowMeter, ShowSign
from drivers.readings import Uid
from record.kit.money import cents_text

POT: Final = "pot"
PASSED: Final = "challenges passed"


@dataclass(frozen=True, slots=True)
class Equipment:
    """The table as it stands when a test is begun."""

    layout: TableLayout
    rules: TableRules
    find: Find
    """Of the chip register, which never changes."""
    card_devices: Sequence[str]
    states: Mapping[str, tuple[str, str]]
    """Of every device its state and the code behind it."""
    serials: Mapping[str, str]
    counters: Callable[[], Mapping[str, Mapping[str, int]]]
    """What every driver counts, now."""

    def card_device(self) -> str:
        if not self.card_devices:
            raise VerbRefused(NO_DEVICE, "this table has no card device")
        return self.card_devices[0]

    def displays(self) -> Displays:
        book = self.rules.book
        shown: set[type] = set()
        if book.progressive is not None:
            shown |= {ShowMeter, ShowSign}
        if book.magic_card is not None:
            shown.add(ShowMagicCard)
        signs = tuple(line.name for line in self.layout.lines if line.kind == "alpha")
        return Displays(tuple(sorted(self.layout.boards)), signs, frozenset(shown))


Words = Mapping[str, str]
Make = Callable[[Equipment, Words], Guided]


def seat_of(word: str) -> int:
    return 0 if word == POT else int(word)


def worth(find: Find, uid: Uid) -> str:
    chip = find(uid)
    if chip is None:
        return "not in the register"
    return f"{cents_text(chip.cents)} {chip.kind}, {chip.status}"


def _antennas(have: Equipment, words: Words) -> Guided:
    seat = seat_of(words["seat"]) if "seat" in words else None
    return AntennaTest(have.layout.spots, seat, partial(worth, have.find), have.serials)


def _deck(have: Equipment, _: Words) -> Guided:
    return DeckTest(have.card_device(), in_order=not uses_packets(have.rules))


def _pattern(have: Equipment, _: Words) -> Guided:
    rules = have.rules
    places = plan(rules, list(range(1, rules.table.seats + 1)))
    packets = uses_packets(rules)
    sizes = [packet_size(rules, place) if packets else 1 for place in places]
    return PatternTest(have.card_device(), places, sizes)


def _lamps(have: Equipment, _: Words) -> Guided:
    pictures = lamp_pictures(have.rules.table.seats, tuple(have.layout.boards))
    return Walk("lamp walk", pictures, have.states)


def _displays(have: Equipment, _: Words) -> Guided:
    return Walk("display walk", display_pictures(have.displays()), have.states)


def _sign(have: Equipment, _: Words) -> Guided:
    return Walk("sign test", sign_pictures(have.displays()), have.states)


def _keys(have: Equipment, _: Words) -> Guided:
    rows = (("keys-1", KEYS_1), ("keys-2", KEYS_2))
    return KeyTest([cap for name, row in rows if name in have.layout.boards for cap in row])


def _loopback(have: Equipment, words: Words) -> Guided:
    line = words["port"]
    state, _ = have.states.get(line, ("unknown", ""))
    # Plain characters: some lines carry seven bits.
    pattern = f"UNDERFELT {secrets.token_hex(16).upper()} ".encode("ascii")
    return LoopTest(line, state, pattern)


def _challenge(have: Equipment, words: Words) -> Guided:
    device = words["device"]
    if device not in have.card_devices:
        raise VerbRefused(NO_DEVICE, f"{device}: only a card device can be challenged")
    nonce, digest = bytes.fromhex(words["nonce"]), bytes.fromhex(words["digest"])
    return ChallengeTest(device, nonce, digest, lambda: have.counters()[device].get(PASSED, 0))


MAKERS: Final[Mapping[str, Make]] = {
    "antenna test": _antennas,
    "cards": _deck,
    "cards pattern": _pattern,
    "lamp walk": _lamps,
    "display walk": _displays,
    "sign test": _sign,
    "keys": _keys,
    "loopback": _loopback,
    "challenge": _challenge,
}
