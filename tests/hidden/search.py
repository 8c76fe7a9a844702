"""A search for hidden cards in whatever lies outside the process, in every form they could have.

Two sorts of channel. In text a name, a named number or a run of numbers is looked for as a word of
its own, so that a digest that happens to hold ``4c`` is none. In bytes, besides text in them, only
what is too long to be there by chance counts: the frames in which the device told the card, their
payloads, runs of card bytes; plain, as hex, as base 64. A single byte in a stream of bytes cannot
be found by any search: that is what the twins are for.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from hw_sim.devices import cdp
from hw_sim.scenario import card_byte

RUN_IN_TEXT: Final = 3
RUN_IN_BYTES: Final = 5
"""Cards in a row that are no chance any more: 40 bits in some hundred kilobytes of noise."""
SUITS: Final = {"c": ("♣", "clubs"), "d": ("♦", "diamonds"), "h": ("♥", "hearts"),
                "s": ("♠", "spades")}  # fmt: skip
RANKS: Final = {
    "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine", "T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace",
}  # fmt: skip
_BEFORE, _AFTER = rb"(?<![0-9A-Za-z])", rb"(?![0-9A-Za-z])"
_NUMBERED: Final = rb'"(?:\w+[_ ])?(?:card|face|code)"\s*:\s*\[?\s*"?(?:0x)?'


_PRINTABLE: Final = re.compile(rb"[\x20-\x7e]{20,}")
"""Text among bytes: so much of it in a row is no chance."""


class Channel(NamedTuple):
    """One thing outside the process."""

    name: str
    data: bytes
    text: bool


class Needle(NamedTuple):
    form: str
    what: bytes | re.Pattern[bytes]
    in_text_only: bool = False

    def within(self, data: bytes) -> int:
        """Where it lies; -1 if it does not."""
        if isinstance(self.what, bytes):
            return data.find(self.what)
        found = self.what.search(data)
        return -1 if found is None else found.start()


def index_of(card: str) -> int:
    """The number of a card in the records: four times the rank plus the suit."""
    return 4 * "23456789TJQKA".index(card[0]) + "cdhs".index(card[1])


def words(card: str) -> Iterator[str]:
    """A card as people write it."""
    rank, suit = card[0], card[1]
    sign, name = SUITS[suit]
    yield from (card, card.upper(), rank + sign, sign + rank, f"{RANKS[rank]} of {name}")
    if rank == "T":
        yield from (f"10{suit}", f"10{suit.upper()}", f"10{sign}", f"{sign}10")


def base64_forms(data: bytes) -> Iterator[bytes]:
    """What stands in base 64 wherever the data begins in it."""
    for shift in range(3):
        whole = base64.b64encode(bytes(shift) + data)
        first = -(-shift * 8 // 6)
        yield whole[first : (shift + len(data)) * 8 // 6]


def _bytes_forms(what: str, data: bytes) -> Iterator[Needle]:
    yield Needle(what, data)
    for between in ("", " ", ":"):
        hexed = data.hex(between).encode() if between else data.hex().encode()
        yield Needle(f"{what} in hex", hexed)
        yield Needle(f"{what} in hex", hexed.upper())
    for form in base64_forms(data):
        yield Needle(f"{what} in base 64", form)
        yield Needle(f"{what} in base 64", form.replace(b"+", b"-").replace(b"/", b"_"))


def _word_forms(card: str) -> Iterator[Needle]:
    for word in words(card):
        flags = re.IGNORECASE if " " in word else re.NOFLAG
        pattern = re.compile(_BEFORE + re.escape(word.encode()) + _AFTER, flags)
        yield Needle(f"the name {word}", pattern, True)
    name = card.encode()
    glued = re.compile(_BEFORE + rb"(?:[2-9TJQKA][cdhs])*" + name + rb"(?:[2-9TJQKA][cdhs])*"
                       + _AFTER)  # fmt: skip
    yield Needle(f"{card} among others", glued, True)
    for number in (index_of(card), card_byte(card)):
        for digits in (b"%d" % number, b"%02x" % number):
            pattern = re.compile(_NUMBERED + digits + _AFTER, re.IGNORECASE)
            yield Needle(f"{card} as the number {number}", pattern, True)


def _runs(cards: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    for first in range(len(cards) - length + 1):
        yield tuple(cards[first : first + length])


def needles(hidden: Sequence[str], frames: Iterable[bytes]) -> list[Needle]:
    """``hidden`` in the order of the deal; ``frames`` as they came from the device."""
    found = [needle for card in hidden for needle in _word_forms(card)]
    for ways in (index_of, card_byte):
        for run in _runs(hidden, RUN_IN_TEXT):
            numbers = rb"[\s,;]+".join(b"%d" % ways(card) for card in run)
            pattern = re.compile(_BEFORE + numbers + _AFTER)
            found.append(Needle(f"{' '.join(run)} as numbers", pattern, True))
        for run in _runs(hidden, RUN_IN_BYTES):
            found += _bytes_forms(f"{' '.join(run)} as bytes", bytes(map(ways, run)))
    for frame in frames:
        chunk = frame.strip(b"\0")
        decoded = cdp.decode(chunk)
        assert decoded is not None
        found += _bytes_forms("a frame", chunk)
        found += _bytes_forms("the payload of a frame", decoded.payload)
    return found


def cards_told(frame: bytes) -> tuple[int, ...]:
    """The card bytes in a frame of a card device; none if it tells no card."""
    decoded = cdp.decode(frame.strip(b"\0"))
    if decoded is None:
        return ()
    if decoded.kind == cdp.CARD:
        return (decoded.payload[4],)
    return tuple(decoded.payload[3:]) if decoded.kind == cdp.PACKET else ()


def search(channels: Iterable[Channel], looked_for: Iterable[Needle]) -> dict[str, list[str]]:
    """What was found, by channel."""
    wanted = list(looked_for)
    words = [needle for needle in wanted if needle.in_text_only]
    others = [needle for needle in wanted if not needle.in_text_only]
    any_word = _any(words)
    found: dict[str, list[str]] = {}
    for channel in channels:
        text = channel.data if channel.text else b"\n".join(_PRINTABLE.findall(channel.data))
        hits = _found(others, channel.data)
        if any_word is not None and any_word.search(text):
            hits += _found(words, text)
        if hits:
            found[channel.name] = hits
    return found


def _any(words: list[Needle]) -> re.Pattern[bytes] | None:
    """All of them at once: nearly always there is none."""
    sources = []
    for needle in words:
        assert isinstance(needle.what, re.Pattern)
        flag = b"i" if needle.what.flags & re.IGNORECASE else b""
        sources.append(b"(?%s:%s)" % (flag, needle.what.pattern))
    return re.compile(b"|".join(sources)) if sources else None


def _found(wanted: list[Needle], data: bytes) -> list[str]:
    places = ((needle.form, needle.within(data)) for needle in wanted)
    return [f"{form}: {data[max(0, at - 40) : at + 40]!r}" for form, at in places if at >= 0]
