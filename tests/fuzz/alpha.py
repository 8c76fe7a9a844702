"""The sign's answers (docs/protocols/alpha.md section 3): a 16-bit sum, weak and harmless.

What passes the sum is counted and not forbidden, but for one flipped bit, which a sum always finds.
What is forbidden: that the driver says a text is shown which is not the text that was ordered.
"""

from __future__ import annotations

from random import Random
from typing import Final

from drivers.alpha.codec import FRAME_LIMIT, Answer, AnswerDecoder
from drivers.alpha.driver import AlphaDriver
from drivers.base import Fault, Write
from drivers.orders import ShowSign
from drivers.readings import Shown
from tests.fuzz import mutate, wire
from tests.fuzz.tally import ACCEPTED, FRAMES, Bound, Broken, Tally, Target

GAPS: Final = (0, 0, 1_200, 499_000, 500_000)
BROKEN_GAPS: Final = (499_999, 500_000, 500_001, 900_000)


def cancelling(rng: Random, frame: bytes, _other: bytes) -> bytes:
    """Two bytes changed so that the sum stays: what a sum cannot see."""
    out = bytearray(frame)
    for _ in range(20):
        a, b = rng.randrange(len(out)), rng.randrange(len(out))
        by = rng.randint(1, 9)
        if a != b and out[a] - by >= 0x20 and out[b] + by < 0x7F:
            out[a] -= by
            out[b] += by
            return bytes(out)
    return bytes(out)


OTHERS: Final = {**mutate.OTHERS, "two changes that cancel": cancelling}
CHOICE: Final = mutate.weighted(mutate.GUARDED, OTHERS)


def _text(rng: Random) -> str:
    if rng.random() < 0.7:
        return f"${rng.randrange(10_000_000) / 100:,.2f}"
    return "".join(chr(rng.randint(0x20, 0x7E)) for _ in range(rng.randrange(33)))


def case(rng: Random, tally: Tally) -> None:
    sent, other, after = (_text(rng) for _ in range(3))
    label = rng.choice("1123")
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    data = mutator(rng, wire.alpha(label, sent), wire.alpha("1", other))
    gaps = GAPS if rng.random() < 0.8 else BROKEN_GAPS
    tally[name, FRAMES] += 1
    decoder = AnswerDecoder()
    out: list[Answer | Fault] = []
    now = 1_000_000
    for part in (data, wire.alpha("1", after)):
        for piece in mutate.pieces(rng, part):
            out += decoder.feed(piece, now)
            if decoder.buffered > FRAME_LIMIT:
                raise Broken(f"{decoder.buffered} bytes kept")
            if part is data:
                now += gaps[int(rng.random() * len(gaps))]
    answers = [item for item in out if isinstance(item, Answer)]
    if len(answers) + sum(isinstance(item, Fault) for item in out) != len(out):
        raise Broken(f"neither answer nor fault: {out}")
    if not answers or answers[-1] != Answer("1", after):
        raise Broken(f"the valid answer after it was lost: {data.hex(' ')}")
    answers.pop()
    if any(answer not in (Answer(label, sent), Answer("1", other)) for answer in answers):
        tally[name, ACCEPTED] += 1
    else:
        tally[name, "intact" if answers else "refused"] += 1


def _run(driver: AlphaDriver, now: int, until: int, out: list[object]) -> int:
    """Wake the driver until it has asked for the sign's text."""
    while now < until:
        wake = driver.wake_us
        if wake is None:
            return until
        now = max(now, wake)
        said = driver.advance(now)
        out += said
        if any(isinstance(it, Write) and b"H1" in it.data for it in said):
            return now
    return now


def driver_case(rng: Random, tally: Tally) -> None:
    """A sign that answers in mutants: shown is only what was ordered."""
    ordered = [_text(rng)[:32] for _ in range(2)]
    driver = AlphaDriver("sign")
    out: list[object] = [*driver.opened(1_000_000), *driver.order(ShowSign(ordered[0]), 1_000_000)]
    now = 1_000_000
    asked: set[str] = {ordered[0]}
    for turn in range(4):
        now = _run(driver, now, now + 5_000_000, out)
        name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
        sent = ordered[turn % 2] if rng.random() < 0.8 else _text(rng)
        data = mutator(rng, wire.alpha("1", sent), wire.alpha("1", _text(rng)))
        tally[name, FRAMES] += 1
        for piece in mutate.pieces(rng, data):
            now += 1_000
            said = driver.received(piece, now)
            out += said
            shown = [it.content for it in said if isinstance(it, Shown)]
            tally[name, "shown"] += len(shown)
            if any(content not in asked for content in shown):
                raise Broken(f"shown {shown}, ordered {sorted(asked)}: {data.hex(' ')}")
            if shown and shown[-1].encode() not in data:
                raise Broken(f"shown {shown}, read {data.hex(' ')}")
        if turn == 1:
            asked.add(ordered[1])
            out += driver.order(ShowSign(ordered[1]), now)


TARGET: Final = Target(
    "alpha",
    "Alpha answers",
    case,
    (FRAMES, "refused", "intact", ACCEPTED),
    (Bound("one flipped bit", ACCEPTED, frozenset({"1 bit"})),),
    notes=(
        "The sum is weak and the page says why that is harmless: *accepted* is a text that "
        "nobody sent and that the decoder passed on; the next table shows what becomes of "
        "such texts."
    ),
)
DRIVER: Final = Target(
    "alpha-driver",
    "Alpha driver fed with the same",
    driver_case,
    (FRAMES, "shown"),
    one_in=20,
    notes=(
        "*shown*: the driver said that the ordered text was read back, and it stood in the "
        "bytes to the letter."
    ),
)
