"""Reading displays back (docs/protocols/hd44780.md, ht16k33.md): right to the bit, or not shown."""

from __future__ import annotations

from random import Random
from typing import Final

from drivers.base import BusDone, BusFailed, BusOp, ReadByte
from drivers.hd44780 import codec as lcd_codec
from drivers.hd44780.driver import PromptDriver
from drivers.ht16k33.driver import MeterDriver
from drivers.orders import ShowMeter, ShowPrompt
from drivers.readings import Shown
from tests.drivers.hd44780.lcd import Lcd
from tests.fuzz import mutate
from tests.fuzz.tally import FRAMES, Bound, Broken, Tally, Target

BELIEVED: Final = "believed"
WRONGLY: Final = "believed though wrong"
CHOICE: Final = [*mutate.GUARDED.items(), *mutate.OTHERS.items()]
STARTS: Final = (0x00, 0x40, 0x14, 0x54)


def _nibbles(values: bytes, rng: Random) -> bytes:
    """Port bytes as the pins would show them; the low half of each means nothing."""
    return bytes(
        nibble << 4 | rng.getrandbits(4) for value in values for nibble in (value >> 4, value & 15)
    )


def prompt_case(rng: Random, tally: Tally) -> None:
    line, piece = rng.randrange(4), rng.randrange(4)
    address = STARTS[line] + 5 * piece
    codes = bytes(rng.randint(0x20, 0x7D) for _ in range(5))
    last = address + 5
    counter = {0x28: 0x40, 0x68: 0x00}.get(last, last)
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    glyph = rng.randrange(8)
    of_glyph = rng.random() < 0.2
    right = lcd_codec.GLYPHS[glyph][1] if of_glyph else codes + bytes((counter,))
    pins = _nibbles(right, rng)
    read = mutator(rng, pins, pins)
    tally[name, FRAMES] += 1
    data = tuple(read[n : n + 1] for n in range(len(read)))
    if rng.random() < 0.3:  # the empty results of the writes between
        data = tuple(it for one in data for it in (b"", one))
    if of_glyph:
        believed = lcd_codec.glyph_matches(data, glyph)
        mask = bytes((0x10, 0xF0)) * len(right)
    else:
        believed = lcd_codec.text_matches(data, address, codes)
        mask = b"\xf0" * len(pins)
    alike = len(read) >= len(pins) and not any(
        (a ^ b) & m for a, b, m in zip(read, pins, mask, strict=False)
    )
    same = alike and len(read) == len(pins)
    tally[name, BELIEVED if believed else "refused"] += 1
    if believed and not same:
        # An odd nibble at the end is dropped by the codec; the batch always reads an even number.
        odd = alike and len(read) == len(pins) + 1
        tally[name, "odd nibble" if odd else WRONGLY] += 1
    if same and not believed:
        raise Broken(f"a right reading was refused: {read.hex(' ')}")


def meter_case(rng: Random, tally: Tally) -> None:
    """One module from its order to its light; one read-back is spoiled."""
    driver = MeterDriver("meter-1", 0x70, rng.randrange(3))
    text = f"{rng.randrange(10**9) / 100:,.2f}"
    driver.order(ShowMeter(text), 1_000)
    written = bytes(16)
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    spoil_at, turn, now = rng.randrange(3), 0, 1_000
    tally[name, FRAMES] += 1
    right = False
    for _ in range(8):
        ops = driver.plan(now)
        data, written, read = _run_meter(ops, written)
        if read is not None:
            if turn == spoil_at:
                data[-1] = mutator(rng, written, written)
            right = data[-1] == written
            turn += 1
        now = max(now + 2_000, driver.wake_us)
        out = driver.finish(BusDone(tuple(data)), now)
        now = max(now, driver.wake_us)
        shown = any(isinstance(it, Shown) for it in out)
        if read is not None and shown:
            raise Broken("shown before it was lit")
        if shown and not right:
            tally[name, WRONGLY] += 1
        tally[name, BELIEVED] += shown
    if driver.counters["mismatches"] and not driver.counters["confirmed"]:
        raise Broken("one wrong reading and never shown again")


def _run_meter(ops: tuple[BusOp, ...], ram: bytes) -> tuple[list[bytes], bytes, bytes | None]:
    """The chip of the page, as far as a healthy one goes."""
    data: list[bytes] = []
    read: bytes | None = None
    for op in ops:
        match op.__class__.__name__:
            case "WriteBlock":
                ram = getattr(op, "data")  # noqa: B009 - narrowing by name keeps the loop short
                data.append(b"")
            case "ReadBlock":
                read = ram
                data.append(ram)
            case _:
                data.append(b"")
    return data, ram, read


class _NoisyLcd(Lcd):
    """The tests' own display; the numbered read-back batch is spoiled on its way."""

    def spoil(self, rng: Random, mutator: mutate.Mutator, outcome: BusDone | BusFailed,
              ops: tuple[BusOp, ...]) -> tuple[BusDone | BusFailed, bool]:  # fmt: skip
        """The outcome as the host sees it, and whether a bit that counts was changed."""
        if isinstance(outcome, BusFailed):
            return outcome, True
        places = [n for n, op in enumerate(ops) if isinstance(op, ReadByte)]
        read = b"".join(outcome.data[n] for n in places)
        wrong = mutator(rng, read, read)[: len(read)].ljust(len(read), b"\xff")
        data = list(outcome.data)
        for n, value in zip(places, wrong, strict=True):
            data[n] = bytes((value,))
        # A glyph's first nibble counts in its lowest bit alone; such a change may pass.
        return BusDone(tuple(data)), any((a ^ b) & 0xF0 for a, b in zip(read, wrong, strict=True))


def prompt_driver_case(rng: Random, tally: Tally) -> None:
    """A whole prompt from its order to Shown with spoiled read-backs on the way."""
    driver, lcd = PromptDriver("prompt", 0x3F), _NoisyLcd()
    lines = tuple("".join(chr(rng.randint(0x20, 0x5B)) for _ in range(20)) for _ in range(4))
    driver.order(ShowPrompt((lines[0], lines[1], lines[2], lines[3])), 0)
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    now, spoil_at, reads = 1_000_000, rng.randrange(16), 0
    tally[name, FRAMES] += 1
    for _ in range(120):
        now = max(now, driver.wake_us)
        ops = driver.plan(now)
        outcome = lcd.run(ops, now)
        spoiled = False
        if any(isinstance(op, ReadByte) for op in ops):
            if reads == spoil_at:
                outcome, spoiled = lcd.spoil(rng, mutator, outcome, ops)
            reads += 1
        now = max(lcd.now_us, now + 100)
        for it in driver.finish(outcome, now):
            if isinstance(it, Shown):
                tally[name, BELIEVED] += 1
                wrong = it.content.replace("\n", "").encode() != b"".join(lcd.visible)
                tally[name, WRONGLY] += wrong or spoiled
    if not tally[name, BELIEVED]:
        raise Broken("never shown")


_COLUMNS: Final = (FRAMES, "refused", BELIEVED, WRONGLY)
_LAW: Final = (Bound("a reading that differs in a bit that counts", WRONGLY, None),)
PROMPT: Final = Target(
    "hd44780",
    "HD44780 read-back",
    prompt_case,
    (FRAMES, "refused", BELIEVED, "odd nibble", WRONGLY),
    _LAW,
    notes=(
        "*believed*: every bit that counts was right (the low half of a port byte and bits "
        "7 to 5 of a glyph's row do not). *odd nibble*: one more nibble than was asked for,"
        " after the right ones; a batch cannot return it."
    ),
)
PROMPT_DRIVER: Final = Target(
    "hd44780-driver",
    "HD44780 driver, one read-back spoiled",
    prompt_driver_case,
    (FRAMES, BELIEVED, WRONGLY),
    _LAW,
    one_in=500,
)
METER: Final = Target(
    "ht16k33",
    "HT16K33 from order to light, one read-back spoiled",
    meter_case,
    (FRAMES, BELIEVED, WRONGLY),
    _LAW,
    notes=(
        "*believed*: times that the module was said to show its text: at first, and again "
        "after a repair."
    ),
)
