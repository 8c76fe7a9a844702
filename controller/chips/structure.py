"""Is a signed register well-formed? Whole columns at a time: 200,000 chips in a few hundredths of a
second, so that a table can afford it at every start. Pure; page section 2.

A fault here is never the card's or the thief's (the hash has been checked): it is the writer's.
"""

from __future__ import annotations

from collections.abc import Iterator

from controller.chips.layout import (
    CHIP_BYTES,
    HOUSE_NAME,
    KEY_BYTES,
    KINDS,
    MAX_CENTS,
    MAX_CHIPS,
    MAX_HISTORY_BYTES,
    MAX_SERIES,
    MAX_UID_BYTES,
    SERIES_NAME,
    STATUSES,
    Head,
    Series,
    pack_head,
    pack_series,
    uid_text,
)


def head_faults(head: Head, signed: bytes) -> Iterator[str]:
    if not head.version:
        yield "version 0"
    if not HOUSE_NAME.fullmatch(head.house) or pack_head(head) != signed:
        yield "the house in the head is no name"
    if head.chip_count > MAX_CHIPS:
        yield f"{head.chip_count} chips, more than {MAX_CHIPS}"
    if head.series_count > MAX_SERIES:
        yield f"{head.series_count} series, more than {MAX_SERIES}"
    if head.history_bytes > MAX_HISTORY_BYTES:
        yield f"{head.history_bytes} bytes of history, more than {MAX_HISTORY_BYTES}"


def series_faults(series: tuple[Series, ...], table: bytes) -> Iterator[str]:
    for number, one in enumerate(series):
        if not SERIES_NAME.fullmatch(one.name) or not HOUSE_NAME.fullmatch(one.house):
            yield f"series {number} has no proper name or house"
            return
    if b"".join(map(pack_series, series)) != table:
        yield "a series is not filled with zero bytes"
    if len(set(series)) != len(series):
        yield "a series appears twice"


def chip_faults(chips: bytes, head: Head) -> Iterator[str]:
    """What is wrong with the chips; stops early where the rest would mean nothing."""
    lengths = _column(chips, 0)
    if not set(lengths) <= set(range(1, MAX_UID_BYTES + 1)):
        yield f"a UID is not 1 to {MAX_UID_BYTES} bytes long"
        return
    if not _padded(chips, lengths):
        yield "a UID is not filled with zero bytes"
    yield from _order_faults(chips)
    if not set(_column(chips, 17)) <= set(range(1, len(KINDS) + 1)):
        yield "a chip has no known class"
    if not set(_column(chips, 18)) <= set(range(1, len(STATUSES) + 1)):
        yield "a chip has no known status"
    if any(_column(chips, 19)):
        yield "byte 19 of a chip is not zero"
    if any(number >= head.series_count for number in _numbers(chips, 20, 4)):
        yield "a chip's series is not in the table"
    if not all(1 <= cents <= MAX_CENTS for cents in _numbers(chips, 24, 8)):
        yield f"a chip's value is not 1 to {MAX_CENTS}"
    if not all(1 <= added <= head.version for added in _numbers(chips, 32, 4)):
        yield "a chip was added in a version that is none"
    if any(marked > head.version for marked in _numbers(chips, 36, 4)):
        yield "a chip was marked in a version that is none"


def _column(chips: bytes, offset: int) -> bytes:
    return chips[offset::CHIP_BYTES]


def _numbers(chips: bytes, offset: int, size: int) -> set[int]:
    """The different numbers in a column of several bytes: few, however many the chips."""
    columns = (_column(chips, offset + byte) for byte in range(size))
    return {int.from_bytes(bytes(number), "big") for number in set(zip(*columns, strict=True))}


def _padded(chips: bytes, lengths: bytes) -> bool:
    shortest, longest = min(lengths, default=0), max(lengths, default=0)
    for place in range(shortest, MAX_UID_BYTES):
        column = _column(chips, 1 + place)
        if place >= longest:
            if any(column):
                return False
        elif any(byte and length <= place for byte, length in zip(column, lengths, strict=True)):
            return False
    return True


def _order_faults(chips: bytes) -> Iterator[str]:
    previous = b""
    for start in range(0, len(chips), CHIP_BYTES):
        key = chips[start : start + KEY_BYTES]
        if key <= previous:
            what = "appears twice" if key == previous else "is out of order"
            yield f"chip {uid_text(key[1 : 1 + key[0]])} {what}"
            return
        previous = key
