"""PURE: was a write-ahead log of SQLite damaged after it had been flushed?

SQLite reads a log up to the first frame whose check sum is wrong and takes the rest for the torn
end of a transaction that nobody was told about. A bit that flips in the middle would so undo groups
that were acknowledged, without a word. With a flush at every commit only the last transaction can
be torn: two commits behind the first bad frame, or a head that is no head, are damage. A flip in
the last transaction of all cannot be told from a torn one; tables send those events again.
"""

from __future__ import annotations

import struct
from typing import Final

_HEAD: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MAGIC: Final = 0x377F0682
"""The last bit says whether check sums are of big-endian words."""


def damage(log: bytes) -> str | None:
    """What is wrong, or None: whole, or torn as a power cut may tear it."""
    if not log.strip(b"\0"):
        return None
    if len(log) < _HEAD.size:
        return None  # the very first write of a new log
    magic, _, page_bytes, _, salt1, salt2, sum1, sum2 = _HEAD.unpack_from(log)
    order = ">" if magic & 1 else "<"
    good_magic = magic & ~1 == _MAGIC
    if not good_magic or _summed(order, log[:24], (0, 0)) != (sum1, sum2):
        return "the head of the write-ahead log is damaged"
    size = _FRAME.size + page_bytes
    sums, bad, commits = (sum1, sum2), 0, 0
    for number, offset in enumerate(range(_HEAD.size, len(log) - size + 1, size), 1):
        _, pages, frame_salt1, frame_salt2, frame1, frame2 = _FRAME.unpack_from(log, offset)
        if (frame_salt1, frame_salt2) != (salt1, salt2):
            if not bad:
                bad = number  # the end of this log; behind it lies an older one
            continue
        if not bad:
            page = log[offset + _FRAME.size : offset + size]
            sums = _summed(order, log[offset : offset + 8], sums)
            sums = _summed(order, page, sums)
            if sums == (frame1, frame2):
                continue
            bad = number
        commits += pages != 0
    if commits >= 2:
        return f"frame {bad} of the write-ahead log is damaged, and {commits} commits follow it"
    return None


def _summed(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """SQLite's check sum: two running sums over pairs of 32-bit words."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
