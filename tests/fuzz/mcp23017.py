"""Register blocks of the expanders (docs/protocols/mcp23017.md section 4) and what follows of one.

A block has no checksum: it is believed if every register that must be known is as it must be. What
can pass is a change in the pins of an input board and in registers that nobody looks at; and one
such block alone must not become a key, a switch or a credit.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from drivers.base import Fault, StateReported
from drivers.machines import BoardDriver
from drivers.mcp23017 import codec
from drivers.mcp23017.acceptors import AcceptorsDriver, SensorsDriver
from drivers.mcp23017.handshakes import CreditHandshakes
from drivers.mcp23017.keys import KEYS_1, KeysDriver
from tests.drivers.mcp23017.model import Board
from tests.fuzz import mutate
from tests.fuzz.tally import FRAMES, Bound, Broken, Tally, Target

PASSED: Final = "passed"
FORBIDDEN: Final = "passed though it must not"
IGNORED: Final = frozenset((0x0E, 0x0F, 0x10, 0x11))
PINS: Final = frozenset((0x12, 0x13))
SIZE: Final = 22


def block_of(address: int, sequence: int, *, inputs: bool, gpio: int, latch: int) -> bytes:
    """A block as the page describes it."""
    mask = b"\x7f\x7f" if inputs else b"\0\0"
    mark = bytes((sequence, sequence ^ address))
    fixed = mask * 3 + mark + b"\0\0" + b"\x44\x44" + mask
    pins = gpio if inputs else latch
    return fixed + bytes(4) + pins.to_bytes(2, "little") + latch.to_bytes(2, "little")


def shifted(rng: Random, frame: bytes, _other: bytes) -> bytes:
    """The bytes of a read from another register."""
    by = rng.randrange(1, len(frame))
    return frame[by:] + frame[:by]


def pins_only(rng: Random, frame: bytes, _other: bytes) -> bytes:
    out = bytearray(frame)
    out[rng.randint(0x12, 0x13)] ^= 1 << rng.randrange(8)
    return bytes(out)


def unseen(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame[:0x0E] + rng.randbytes(4) + frame[0x12:]


OTHERS: Final = {
    **mutate.OTHERS,
    "another register's": shifted,
    "one pin": pins_only,
    "INTF, INTCAP": unseen,
}
CHOICE: Final = [*mutate.GUARDED.items(), *OTHERS.items()]


def case(rng: Random, tally: Tally) -> None:
    inputs = rng.random() < 0.5
    config = codec.INPUTS if inputs else codec.OUTPUTS
    address, sequence = rng.randint(0x20, 0x27), rng.randint(1, 255)
    latch = 0 if inputs else rng.getrandbits(16)
    sent = block_of(
        address, sequence, inputs=inputs, gpio=rng.getrandbits(16) & 0x7F7F, latch=latch
    )
    old = block_of(address, codec.next_sequence(sequence + 7), inputs=inputs, gpio=0, latch=latch)
    if rng.random() < 0.1:
        name, data = "the block before", old
    else:
        name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
        data = mutator(rng, sent, old)
    tally[name, FRAMES] += 1
    parsed = codec.parse(data)
    if isinstance(parsed, Fault) or codec.refusal(parsed, config, address, sequence, latch):
        tally[name, "refused"] += 1
        if data == sent:
            raise Broken(f"a right block was refused: {data.hex(' ')}")
        return
    tally[name, PASSED] += 1
    free = IGNORED | PINS if inputs else IGNORED
    if len(data) != SIZE or any(data[n] != sent[n] for n in range(SIZE) if n not in free):
        tally[name, FORBIDDEN] += 1


def search_case(rng: Random, tally: Tally) -> None:
    """The search decides about a latch, and so about money: both its blocks must say the same."""
    inputs = rng.random() < 0.5
    config = codec.INPUTS if inputs else codec.OUTPUTS
    address, latch = rng.randint(0x20, 0x27), rng.getrandbits(16)
    sent = block_of(address, rng.randint(1, 255), inputs=inputs, gpio=0, latch=latch)
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    pair = [sent, mutator(rng, sent, sent)]
    rng.shuffle(pair)
    tally[name, FRAMES] += 1
    found = codec.found(pair[0], pair[1], config, address)
    if isinstance(found, Fault):
        tally[name, "refused"] += 1
        return
    tally[name, PASSED] += 1
    if not found.kept or found.olat != latch:
        tally[name, FORBIDDEN] += 1


def _play(parts: list[tuple[BoardDriver, Board]], now: int, until: int, said: list[object]) -> int:
    while True:
        driver, board = min(parts, key=lambda part: part[0].wake_us)
        now = max(now + 500, driver.wake_us)
        if now > until:
            return until
        said += driver.finish(board.run(driver.plan(now)), now)


def one_block_case(rng: Random, tally: Tally) -> None:
    """Exactly one block of a table at rest is spoiled, at any moment after the start."""
    keys = KeysDriver("keys-1", 0x20, KEYS_1)
    handshakes = CreditHandshakes("acceptors")
    sensors = SensorsDriver("sensors", 0x22, handshakes)
    acceptors = AcceptorsDriver("acceptors", 0x23, handshakes)
    parts: list[tuple[BoardDriver, Board]] = [
        (keys, Board()),
        (sensors, Board()),
        (acceptors, Board()),
    ]
    down = 1 << rng.randrange(7) if rng.random() < 0.3 else 0
    parts[0][1].low = down
    parts[1][1].low = rng.getrandbits(7)  # progressive sensors as they are; no credit line
    said: list[object] = []
    now = _play(parts, 1_000_000, 1_400_000, said)
    name, mutator = rng.choice((*CHOICE, ("one pin", pins_only), ("all pins", _all_pins)))
    spoiled = rng.choice(parts)[1]
    now = _play(parts, now, now + rng.randrange(200_000), said)
    before = len(said)
    hit: list[bytes] = []
    spoiled.corrupt = _once(rng, mutator, hit)
    _play(parts, now, now + 1_000_000, said)
    tally[name, FRAMES] += 1
    after = [reading for reading in said[before:] if not isinstance(reading, StateReported)]
    if not hit:
        raise Broken("no block was read within a second")
    if after:
        raise Broken(f"one block, {hit[0].hex(' ')}, gave {after}")
    tally[name, "states"] += len(said) - before


def _all_pins(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame[:0x12] + rng.randbytes(2) + frame[0x14:]


def _once(rng: Random, mutator: mutate.Mutator, hit: list[bytes]) -> Callable[[bytes], bytes]:
    def spoil(block: bytes) -> bytes:
        hit.append(mutator(rng, block, block))
        return hit[0]

    return spoil


TARGET: Final = Target(
    "mcp23017",
    "MCP23017 blocks",
    case,
    (FRAMES, "refused", PASSED, FORBIDDEN),
    (Bound("a block that differs where the page looks", FORBIDDEN, None),),
    notes=(
        "*passed*: the block differs from the one sent only in INTF, INTCAP (0E to 11) or, "
        "on an input board, in its pins (12, 13), or not at all."
    ),
)
SEARCH: Final = Target(
    "mcp23017-search",
    "MCP23017 search, one of its two blocks spoiled",
    search_case,
    (FRAMES, "refused", PASSED, FORBIDDEN),
    (Bound("another latch, or lost where it was kept", FORBIDDEN, None),),
    one_in=4,
)
ONE_BLOCK: Final = Target(
    "mcp23017-driver",
    "Keys, sensors and acceptors, one block spoiled",
    one_block_case,
    (FRAMES, "states"),
    one_in=100,
    notes=(
        "Pins at rest, one spoiled block: no key, no switch, no credit may come of it. "
        "*states*: changes of a board's state, which are allowed."
    ),
)
