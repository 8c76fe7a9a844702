"""The fault verbs (docs/protocols/simulator.md, section 3): one table for files, CLI and HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from hw_sim.devices.hd44780 import Hd44780
from hw_sim.devices.ht16k33 import Ht16k33
from hw_sim.devices.keys import KEYS
from hw_sim.line import Line
from hw_sim.scenario import card_byte
from hw_sim.table import SimTable


class FaultError(ValueError):
    """A verb or argument that makes no sense here; the text says what would."""


class Cabling(Protocol):
    """What only the shell around a table can do: the names of its ports."""

    def unplug(self, line: Line) -> None: ...

    def replug(self, line: Line) -> None: ...

    def rename(self, line: Line) -> None: ...

    def swap(self, one: Line, other: Line) -> None: ...

    def stick(self, line: Line, *, on: bool) -> None: ...


Verb = Callable[["Faults", list[str]], None]
CHANGED: Final = b" and a little more"
"""What somebody has added to a program."""
UNDER_VOLTAGE: Final = 0x50005
"""Now and since boot: under-voltage and throttled."""


class Faults:
    def __init__(self, table: SimTable, cabling: Cabling) -> None:
        self.table = table
        self.cabling = cabling

    def do(self, sentence: str) -> None:
        """One verb with its arguments, as it is typed."""
        words = sentence.split()
        if not words or words[0] not in VERBS:
            raise FaultError(f"{sentence!r}: no such fault; one of {', '.join(VERBS)}")
        least, verb = VERBS[words[0]]
        if len(words) - 1 < least:
            raise FaultError(f"{sentence!r}: {words[0]} needs {least} argument(s)")
        verb(self, words[1:])

    # --- arguments -----------------------------------------------------------------------------

    def line(self, name: str) -> Line:
        found = self.table.lines.get(name)
        if found is None:
            raise FaultError(f"{name!r}: no such line; one of {', '.join(self.table.lines)}")
        return found

    def chip_faults(self, name: str) -> int:
        address = self.table.layout.chips.get(name)
        if address is None:
            known = ", ".join(self.table.layout.chips)
            raise FaultError(f"{name!r}: no such chip; one of {known}")
        return address

    def pin(self, name: str) -> int:
        number = self.table.layout.pins.get(name)
        if number is None:
            raise FaultError(f"{name!r}: no such pin; one of {', '.join(self.table.layout.pins)}")
        return number

    def spot(self, seat: str, spot: str) -> tuple[int, str]:
        if not seat.isdecimal() or self.table.layout.antenna_of(int(seat), spot) is None:
            raise FaultError(f"{seat}/{spot}: no antenna there")
        return int(seat), spot


def _on(words: list[str], index: int) -> bool:
    return not (len(words) > index and words[index] in ("off", "0", "closed"))


def _number(words: list[str], index: int, default: int) -> int:
    if len(words) <= index:
        return default
    try:
        return int(words[index])
    except ValueError:
        raise FaultError(f"{words[index]!r}: expected a whole number") from None


def _rate(word: str) -> float:
    try:
        rate = float(word)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate <= 1.0:
        raise FaultError(f"{word!r}: expected a chance from 0 to 1")
    return rate


# --- lines -------------------------------------------------------------------------------------


def _unplug(f: Faults, a: list[str]) -> None:
    f.cabling.unplug(f.line(a[0]))


def _replug(f: Faults, a: list[str]) -> None:
    f.cabling.replug(f.line(a[0]))


def _rename(f: Faults, a: list[str]) -> None:
    f.cabling.rename(f.line(a[0]))


def _swap(f: Faults, a: list[str]) -> None:
    f.cabling.swap(f.line(a[0]), f.line(a[1]))


def _stick(f: Faults, a: list[str]) -> None:
    f.cabling.stick(f.line(a[0]), on=_on(a, 1))


def _flip(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.flip_rate = _rate(a[1])


def _lose(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.loss_rate = _rate(a[1])


def _insert(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.insert_rate = _rate(a[1])


def _glue(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.glue = _on(a, 1)


def _split(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.split_us = _number(a, 1, 0)


def _repeat(f: Faults, a: list[str]) -> None:
    f.line(a[0]).repeat_last(_number(a, 1, 1))


def _mute(f: Faults, a: list[str]) -> None:
    f.line(a[0]).device.muted = _on(a, 1)


def _loopback(f: Faults, a: list[str]) -> None:
    f.line(a[0]).looped = _on(a, 1)


def _reboot(f: Faults, a: list[str]) -> None:
    f.line(a[0]).device.reboot()


def _backwards(f: Faults, a: list[str]) -> None:
    device = f.line(a[0]).device
    if device is not f.table.shoe and device is not f.table.shuffler:
        raise FaultError(f"{a[0]!r}: only a card device has a counter of its own")
    device.counter_back(_number(a, 1, 1))


def _firmware(f: Faults, a: list[str]) -> None:
    device = f.line(a[0]).device
    if device is not f.table.shoe and device is not f.table.shuffler:
        raise FaultError(f"{a[0]!r}: only a card device proves its program")
    plain = device.image.removesuffix(CHANGED)
    device.image = plain + CHANGED if _on(a, 1) else plain


# --- chips on the bus --------------------------------------------------------------------------

FOR_EVER: Final = 1 << 60


def _nak(f: Faults, a: list[str]) -> None:
    faults = f.table.bus.faults[f.chip_faults(a[0])]
    faults.nak_next = 0 if not _on(a, 1) else _number(a, 1, FOR_EVER)


def _stale(f: Faults, a: list[str]) -> None:
    f.table.bus.faults[f.chip_faults(a[0])].stale_next = _number(a, 1, 1)


def _brownout(f: Faults, a: list[str]) -> None:
    address = f.chip_faults(a[0])
    if a[0] == "acceptors" and f.table.acceptors is not None:
        f.table.acceptors.power_up()  # one supply: the acceptors start anew with their chip
    else:
        f.table.bus.chips[address].power_cycle()


def _absent(f: Faults, a: list[str]) -> None:
    f.table.bus.faults[f.chip_faults(a[0])].absent = _on(a, 1)


def _stuck(f: Faults, a: list[str]) -> None:
    f.table.bus.stuck = _on(a, 0)


def _display(f: Faults, name: str) -> Ht16k33 | Hd44780:
    chip = f.table.bus.chips[f.chip_faults(name)]
    if not isinstance(chip, Ht16k33 | Hd44780):
        raise FaultError(f"{name!r}: not a display")
    return chip


def _dead(f: Faults, a: list[str]) -> None:
    _display(f, a[0]).dead = _on(a, 1)


def _dark(f: Faults, a: list[str]) -> None:
    _display(f, a[0]).dark = _on(a, 1)


# --- pins and supply ---------------------------------------------------------------------------


def _edges(f: Faults, a: list[str]) -> None:
    number = f.pin(a[0])
    (f.table.pins.lose_edges.add if _on(a, 1) else f.table.pins.lose_edges.discard)(number)


def _bounce(f: Faults, a: list[str]) -> None:
    f.table.pins.bounce(f.pin(a[0]), _on(a, 1), _number(a, 2, 200), 5_000)


def _pin(f: Faults, a: list[str]) -> None:
    f.table.pins.drive(f.pin(a[0]), _on(a, 1))


def _undervoltage(f: Faults, a: list[str]) -> None:
    f.table.throttled = UNDER_VOLTAGE if _on(a, 0) else 0x50000


def _powerfail(f: Faults, a: list[str]) -> None:
    f.table.drive_pin("power_fail", not _on(a, 0))


def _door(f: Faults, a: list[str]) -> None:
    f.table.drive_pin("door", a[0] == "open")


# --- chips on the felt -------------------------------------------------------------------------


def _flap(f: Faults, a: list[str]) -> None:
    place = f.spot(a[0], a[1])
    (f.table.felt.flapping.add if _on(a, 2) else f.table.felt.flapping.discard)(place)


def _antenna(f: Faults, a: list[str]) -> None:
    place = f.spot(a[0], a[1])
    (f.table.felt.broken.add if _on(a, 2) else f.table.felt.broken.discard)(place)


def _crossed(f: Faults, a: list[str]) -> None:
    """The cables of two antennas are exchanged; once more puts them right."""
    felt, one, other = f.table.felt, f.spot(a[0], a[1]), f.spot(a[2], a[3])
    for place in (one, other):
        if place in felt.crossed and felt.crossed[place] not in (one, other):
            raise FaultError(f"{place[0]}/{place[1]}: already exchanged with another")
    if felt.crossed.pop(one, None) is None:
        felt.crossed |= {one: other, other: one}
    else:
        del felt.crossed[other]


def _heldkey(f: Faults, a: list[str]) -> None:
    if a[0] not in KEYS:
        raise FaultError(f"{a[0]!r}: no such key; one of {', '.join(KEYS)}")
    (f.table.keyboard.down if _on(a, 1) else f.table.keyboard.up)(a[0])


# --- cards -------------------------------------------------------------------------------------


def _card_device(f: Faults) -> object:
    device = f.table.shoe or f.table.shuffler
    if device is None:
        raise FaultError("this table has no card device")
    return device


def _next_read(kind: str) -> Verb:
    def verb(f: Faults, _a: list[str]) -> None:
        _card_device(f).next_read = kind  # type: ignore[attr-defined]

    return verb


def _mistake(f: Faults, a: list[str]) -> None:
    """The reader takes one card for another."""
    mistaken = _card_device(f).mistaken  # type: ignore[attr-defined]
    card, read = card_byte(a[0]), card_byte(a[1])
    if _on(a, 2):
        mistaken[card] = read
    else:
        mistaken.pop(card, None)


def _missing(f: Faults, a: list[str]) -> None:
    count = _number(a, 0, 1)
    if f.table.shoe is not None:
        del f.table.shoe.remaining[-count:]
    elif f.table.shuffler is not None:
        for cards in f.table.shuffler.present.values():
            del cards[-count:]


def _pushback(f: Faults, _a: list[str]) -> None:
    if f.table.shoe is None:
        raise FaultError("only a shoe takes a card back")
    f.table.shoe.push_back()


def _jam(f: Faults, a: list[str]) -> None:
    _card_device(f).jam(_on(a, 0))  # type: ignore[attr-defined]


def _lid(f: Faults, a: list[str]) -> None:
    _card_device(f).lid(a[0] == "open")  # type: ignore[attr-defined]


VERBS: Final[dict[str, tuple[int, Verb]]] = {
    "unplug": (1, _unplug),
    "replug": (1, _replug),
    "rename": (1, _rename),
    "swap": (2, _swap),
    "stick": (1, _stick),
    "flip": (2, _flip),
    "lose": (2, _lose),
    "insert": (2, _insert),
    "glue": (1, _glue),
    "split": (2, _split),
    "repeat": (1, _repeat),
    "mute": (1, _mute),
    "loopback": (1, _loopback),
    "reboot": (1, _reboot),
    "backwards": (1, _backwards),
    "firmware": (1, _firmware),
    "nak": (1, _nak),
    "stale": (1, _stale),
    "brownout": (1, _brownout),
    "absent": (1, _absent),
    "stuck": (0, _stuck),
    "dead": (1, _dead),
    "dark": (1, _dark),
    "edges": (1, _edges),
    "bounce": (2, _bounce),
    "pin": (2, _pin),
    "flap": (2, _flap),
    "antenna": (2, _antenna),
    "crossed": (4, _crossed),
    "heldkey": (1, _heldkey),
    "foreign": (0, _next_read("foreign")),
    "duplicate": (0, _next_read("duplicate")),
    "misread": (0, _next_read("misread")),
    "mistake": (2, _mistake),
    "missing": (0, _missing),
    "doublefeed": (0, _next_read("double feed")),
    "pushback": (0, _pushback),
    "jam": (0, _jam),
    "lid": (1, _lid),
    "undervoltage": (0, _undervoltage),
    "powerfail": (0, _powerfail),
    "door": (1, _door),
}
"""Verb to (least number of arguments, what it does)."""
