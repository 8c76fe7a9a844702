"""Which segments may go. Pure; a wrong clock must not be able to empty a journal.

Only whole segments from the oldest on, every record of which is too old, never the open one. Age
is not judged by the clock alone: the last closed segment's last record must agree that so much time
has gone by. And at most two segments go at a time, which keeps pace with rotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from record.journal.segments import SegmentInfo

AT_A_TIME: Final = 2


def segments_to_remove(
    closed: Sequence[SegmentInfo], now_ms: int, keep_ms: int, keep_from_seq: int | None
) -> list[SegmentInfo]:
    if not closed:
        return []
    limit = min(now_ms, closed[-1].last_ms) - keep_ms
    old: list[SegmentInfo] = []
    for info in closed[:AT_A_TIME]:
        needed = keep_from_seq is not None and info.last_seq >= keep_from_seq
        if info.newest_ms >= limit or needed:
            break
        old.append(info)
    return old
