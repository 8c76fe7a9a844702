"""A healthy FEIG reader in few lines, and the worst that can be done to one of its answers.

Written from docs/protocols/feig.md sections 3 and 4; it shares nothing with the driver. What
is done here is one that the CRC does not see: the frame is encoded anew after it.
"""

from __future__ import annotations

from random import Random
from typing import Final

from drivers.readings import Antenna
from tests.fuzz import wire

DEVICE_ID: Final = bytes.fromhex("0A1B2C01")
NAME: Final = "chips-1"
PART: Final = 8
CHARACTER_US: Final = 287
TAG_US: Final = 33_333
DATA_AFTER: Final = frozenset((0x00, 0x94))
Tags = dict[Antenna, list[bytes]]


class Reader:
    def __init__(self, tags: Tags) -> None:
        self.tags = tags
        self.selected: Antenna | None = None
        self._left: list[bytes] = []

    def answer(self, request: bytes) -> tuple[int, int, bytes]:
        """When the answer is complete, its command and its body."""
        command, data = request[4], request[5:-2]
        delay = 2_000
        match command:
            case 0x66:
                body = b"\0" + DEVICE_ID
            case 0x65:
                body = bytes.fromhex("0003030044530D30")
            case 0x80:
                body = b"\0" + bytes(11) + b"\x04" + bytes(2)
            case 0xDD:
                self.selected, body, delay = Antenna(NAME, data[0], data[1]), b"\0", 4_000
            case 0xB0:
                body, delay = self._inventory(more=data[1] == 0x80)
            case _:
                body = b"\0"
        size = len(request) + len(body) + 7
        return delay + size * CHARACTER_US, command, body

    def _inventory(self, *, more: bool) -> tuple[bytes, int]:
        if not more:
            self._left = list(self.tags.get(self.selected, [])) if self.selected else []
        now, self._left = self._left[:PART], self._left[PART:]
        if not now:
            return b"\x01", 15_000
        return (b"\x94" if self._left else b"\0") + wire.tag_sets(now), 15_000 + len(now) * TAG_US


def sets_of(body: bytes) -> list[bytes]:
    """The identifiers in an inventory of the model above."""
    if body[0] not in DATA_AFTER:
        return []
    return [body[2 + n * 10 + 2 : 2 + n * 10 + 10] for n in range(body[1])]


def corrupted(
    rng: Random, command: int, body: bytes, elsewhere: list[bytes]
) -> tuple[str, int, bytes]:
    """How it was corrupted, and the answer that takes the place of the true one."""
    if command != 0xB0:
        return _other(rng, command, body)
    uids = sets_of(body)
    status = body[:1] if uids else b"\0"
    ways = ["tag added", "another spot's answer", "noise", "another command"]
    if uids:
        ways += [
            "identifier changed",
            "tag dropped",
            "no tag",
            "status",
            "more or complete",
            "twice",
        ]
    if elsewhere:
        ways.append("another spot's tag")
    way = rng.choice(ways)
    at = rng.randrange(len(uids)) if uids else 0
    match way:
        case "tag added":
            uids.insert(at, b"\xe0\x04" + rng.randbytes(6))
        case "another spot's tag":
            uids.insert(at, rng.choice(elsewhere))
        case "another spot's answer":
            uids = elsewhere[:PART]
        case "identifier changed":
            mask = 1 << rng.randrange(48)
            uids[at] = (int.from_bytes(uids[at], "big") ^ mask).to_bytes(8, "big")
        case "tag dropped":
            del uids[at]
        case "twice":
            uids.insert(at, uids[at])
        case "no tag":
            return way, command, b"\x01"
        case "status":
            return way, command, rng.randbytes(1) + body[1:]
        case "more or complete":
            return way, command, bytes((body[0] ^ 0x94,)) + body[1:]
        case "noise":
            return way, command, rng.randbytes(rng.randint(0, 40))
        case _:
            return way, rng.choice((0x66, 0xDD, 0x80, 0x69)), body
    return way, command, status + wire.tag_sets(uids)


def _other(rng: Random, command: int, body: bytes) -> tuple[str, int, bytes]:
    way = rng.choice(("a bit", "status", "taken for an inventory"))
    if way == "a bit":
        at = rng.randrange(len(body) * 8)
        value = int.from_bytes(body, "big") ^ 1 << at
        return f"{way} of {command:02X}", command, value.to_bytes(len(body), "big")
    if way == "status":
        return f"{way} of {command:02X}", command, rng.randbytes(1)
    return way, 0xB0, b"\0" + wire.tag_sets([b"\xe0\x04" + rng.randbytes(6)])
