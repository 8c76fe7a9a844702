"""The fault verbs (docs/protocols/simulator.md, section 3): one table for files, CLI and HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from hw_sim.devices.card_device import CardDevice
from hw_sim.devices.hd44780 import Hd44780
from hw_sim.devices.ht16k33 import Ht16k33
from hw_sim.devices.keys import KEYS
from hw_sim.layout import SEATS
from hw_sim.line import Line
from hw_sim.scenario import ScenarioError, card_byte
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

    def link(self, *, on: bool) -> None: ...


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
        arguments, verb = VERBS[words[0]]
        self._check(words[0], arguments, words[1:])
        verb(self, words[1:])

    def _check(self, verb: str, arguments: str, given: list[str]) -> None:
        """Every argument is of its kind, and none is missing or left over."""
        kinds = arguments.split()
        needed = sum(not kind.startswith("[") for kind in kinds)
        if not needed <= len(given) <= len(kinds):
            many = f"{needed} argument(s)" if needed == len(kinds) else "arguments"
            raise FaultError(f"{verb}: expected {many}: {arguments or 'none'}")
        for kind, word, before in zip(kinds, given, ["", *given], strict=False):
            wrong = [KINDS[one](self, word, before) for one in kind.strip("[]").split("/")]
            if all(wrong):
                raise FaultError(f"{word!r}: {' or '.join(wrong)}")

    # --- arguments -----------------------------------------------------------------------------

    def line(self, name: str) -> Line:
        return self.table.lines[name]

    def address_of(self, name: str) -> int:
        return self.table.layout.boards[name]

    def pin(self, name: str) -> int:
        """Pins are not all wired, and some verbs mean one without naming it."""
        number = self.table.layout.pins.get(name)
        if number is None:
            raise FaultError(f"{name!r}: {_one_of('pin', self.table.layout.pins, name)}")
        return number

    def spot(self, seat: str, spot: str) -> tuple[int, str]:
        return int(seat), spot


def _one_of(what: str, known: Iterable[str], word: str) -> str:
    """Empty if the word is known, else which are."""
    return "" if word in known else f"no such {what}; one of {', '.join(known)}"


def _spot(f: Faults, spot: str, seat: str) -> str:
    found = seat.isdecimal() and f.table.layout.antenna_of(int(seat), spot) is not None
    return "" if found else f"no antenna at {seat}/{spot}"


def _card(_f: Faults, word: str, _before: str) -> str:
    try:
        card_byte(word)
    except ScenarioError:
        return "expected a card such as 7h or Td, or cut"
    return ""


def _chance(_f: Faults, word: str, _before: str) -> str:
    return "" if re.fullmatch(r"[01]|0?\.\d{1,9}|1\.0+", word) else "expected a chance from 0 to 1"


def _whole(least: int, most: int) -> Check:
    def check(_f: Faults, word: str, _before: str) -> str:
        fits = re.fullmatch(r"\d{1,9}", word, re.ASCII) and least <= int(word) <= most
        return "" if fits else f"expected a whole number from {least} to {most}"

    return check


def _words(*known: str) -> Check:
    return lambda _f, word, _before: "" if word in known else f"expected {' or '.join(known)}"


Check = Callable[[Faults, str, str], str]
"""Empty if the word (after the one before it) will do, else what would."""
KINDS: Final[dict[str, Check]] = {
    "line": lambda f, word, _: _one_of("line", f.table.lines, word),
    "board": lambda f, word, _: _one_of("board", f.table.layout.boards, word),
    "pin": lambda f, word, _: _one_of("pin", f.table.layout.pins, word),
    "key": lambda _f, word, _: _one_of("key", KEYS, word),
    "seat": _whole(0, SEATS),
    "spot": _spot,
    "card": _card,
    "rate": _chance,
    "count": _whole(0, 1_000_000),
    "cards": _whole(1, 52),
    "times": _whole(1, 100),
    "edges": _whole(1, 1_000),
    "microseconds": _whole(0, 1_000_000),
    "level": _words("0", "1"),
    "off": _words("off", "on", "0", "1"),
    "open": _words("open"),
    "closed": _words("closed"),
    "cut": _words("cut"),
    "back": _words("back"),
}
"""What the arguments of VERBS may be."""


def _on(words: list[str], index: int) -> bool:
    return not (len(words) > index and words[index] in ("off", "0", "closed"))


def _number(words: list[str], index: int, default: int) -> int:
    return int(words[index]) if len(words) > index else default


# --- lines -------------------------------------------------------------------------------------


def _unplug(f: Faults, a: list[str]) -> None:
    f.cabling.unplug(f.line(a[0]))


def _replug(f: Faults, a: list[str]) -> None:
    f.cabling.replug(f.line(a[0]))


def _rename(f: Faults, a: list[str]) -> None:
    f.cabling.rename(f.line(a[0]))


def _swap(f: Faults, a: list[str]) -> None:
    if a[0] == a[1]:
        raise FaultError(f"{a[1]!r}: expected another line")
    f.cabling.swap(f.line(a[0]), f.line(a[1]))


def _stick(f: Faults, a: list[str]) -> None:
    f.cabling.stick(f.line(a[0]), on=_on(a, 1))


def _link(f: Faults, a: list[str]) -> None:
    f.cabling.link(on=a[0] == "back")


def _flip(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.flip_rate = float(a[1])


def _lose(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.loss_rate = float(a[1])


def _insert(f: Faults, a: list[str]) -> None:
    f.line(a[0]).noise.insert_rate = float(a[1])


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


# --- boards on the bus --------------------------------------------------------------------------

FOR_EVER: Final = 1 << 60


def _nak(f: Faults, a: list[str]) -> None:
    faults = f.table.bus.faults[f.address_of(a[0])]
    faults.nak_next = 0 if not _on(a, 1) else _number(a, 1, FOR_EVER)


def _stale(f: Faults, a: list[str]) -> None:
    f.table.bus.faults[f.address_of(a[0])].stale_next = _number(a, 1, 1)


def _brownout(f: Faults, a: list[str]) -> None:
    address = f.address_of(a[0])
    if a[0] == "acceptors" and f.table.acceptors is not None:
        f.table.acceptors.power_up()  # one supply: the acceptors restart with their board
    else:
        f.table.bus.boards[address].power_cycle()


def _absent(f: Faults, a: list[str]) -> None:
    f.table.bus.faults[f.address_of(a[0])].absent = _on(a, 1)


def _stuck(f: Faults, a: list[str]) -> None:
    f.table.bus.stuck = _on(a, 0)


def _display(f: Faults, name: str) -> Ht16k33 | Hd44780:
    board = f.table.bus.boards[f.address_of(name)]
    if not isinstance(board, Ht16k33 | Hd44780):
        raise FaultError(f"{name!r}: not a display")
    return board


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
    f.table.pins.drive(f.pin("power_fail"), not _on(a, 0))


def _door(f: Faults, a: list[str]) -> None:
    f.table.pins.drive(f.pin("door"), a[0] == "open")


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
    if one == other:
        raise FaultError(f"{a[2]}/{a[3]}: expected another spot")
    for place in (one, other):
        if place in felt.crossed and felt.crossed[place] not in (one, other):
            raise FaultError(f"{place[0]}/{place[1]}: already exchanged with another")
    if felt.crossed.pop(one, None) is None:
        felt.crossed |= {one: other, other: one}
    else:
        del felt.crossed[other]


def _heldkey(f: Faults, a: list[str]) -> None:
    (f.table.keyboard.down if _on(a, 1) else f.table.keyboard.up)(a[0])


# --- cards -------------------------------------------------------------------------------------


def _card_device(f: Faults) -> CardDevice:
    device = f.table.shoe or f.table.shuffler
    if device is None:
        raise FaultError("this table has no card device")
    return device


def _next_read(kind: str) -> Verb:
    def verb(f: Faults, _a: list[str]) -> None:
        _card_device(f).next_read = kind

    return verb


def _mistake(f: Faults, a: list[str]) -> None:
    """The reader takes one card for another."""
    mistaken = _card_device(f).mistaken
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
    _card_device(f).jam(_on(a, 0))


def _lid(f: Faults, a: list[str]) -> None:
    _card_device(f).lid(a[0] == "open")


VERBS: Final[dict[str, tuple[str, Verb]]] = {
    "unplug": ("line", _unplug),
    "replug": ("line", _replug),
    "rename": ("line", _rename),
    "swap": ("line line", _swap),
    "stick": ("line [off]", _stick),
    "link": ("cut/back", _link),
    "flip": ("line rate", _flip),
    "lose": ("line rate", _lose),
    "insert": ("line rate", _insert),
    "glue": ("line [off]", _glue),
    "split": ("line microseconds", _split),
    "repeat": ("line [times]", _repeat),
    "mute": ("line [off]", _mute),
    "loopback": ("line [off]", _loopback),
    "reboot": ("line", _reboot),
    "backwards": ("line [count]", _backwards),
    "firmware": ("line [off]", _firmware),
    "nak": ("board [count/off]", _nak),
    "stale": ("board [count]", _stale),
    "brownout": ("board", _brownout),
    "absent": ("board [off]", _absent),
    "stuck": ("[off]", _stuck),
    "dead": ("board [off]", _dead),
    "dark": ("board [off]", _dark),
    "edges": ("pin [off]", _edges),
    "bounce": ("pin level [edges]", _bounce),
    "pin": ("pin level", _pin),
    "flap": ("seat spot [off]", _flap),
    "antenna": ("seat spot [off]", _antenna),
    "crossed": ("seat spot seat spot", _crossed),
    "heldkey": ("key [off]", _heldkey),
    "foreign": ("", _next_read("foreign")),
    "duplicate": ("", _next_read("duplicate")),
    "misread": ("", _next_read("misread")),
    "mistake": ("card card [off]", _mistake),
    "missing": ("[cards]", _missing),
    "doublefeed": ("", _next_read("double feed")),
    "pushback": ("", _pushback),
    "jam": ("[off]", _jam),
    "lid": ("open/closed", _lid),
    "undervoltage": ("[off]", _undervoltage),
    "powerfail": ("[off]", _powerfail),
    "door": ("open/closed", _door),
}
"""Verb to (its arguments, what it does); in brackets what may be left out."""
