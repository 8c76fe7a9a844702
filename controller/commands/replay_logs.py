"""The frame log beside a journal, as much of it as a round needs.

A table that has played for a while holds some hundred thousand frames; the replay of one round, on
the very computer that plays the next one, reads the files that reach it and keeps its seconds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from controller.history.errors import FrameLogError
from controller.history.framelog import DATA_MAX, LoggedFrame, log_id_of, read_frames, times_us
from controller.history.sealing import TableKey
from controller.replay.frames import StartLog, Windows, windows
from controller.replay.timeline import Timeline
from record.frame_files import FrameFolder


@dataclass
class _Files:
    """Those of one start of the daemon, in order."""

    files: list[tuple[Path, int]] = field(default_factory=list)
    """(file, its first frame in milliseconds)"""

    @property
    def log(self) -> StartLog:
        last, first_ms = self.files[-1]
        try:
            times = times_us(last.read_bytes())
        except OSError:
            times = None
        return StartLog(self.files[0][1], first_ms if times is None else times[1] // 1000)

    def reaching(self, wanted: Windows) -> Iterator[Path]:
        """A file reaches to the next one, the last to any time: it may be damaged half-way."""
        ends = [first_ms for _, first_ms in self.files[1:]]
        for (file, first_ms), end_ms in zip_longest(self.files, ends):
            if any(
                first_ms <= end and (end_ms is None or start <= end_ms) for start, end in wanted
            ):
                yield file


def read_logs(folder: Path, timeline: Timeline, key: TableKey | None) -> tuple[list[StartLog], str]:
    """The logs with what is wanted of each, and what could not be read."""
    found: dict[bytes, _Files] = {}
    trouble = _refused(folder)
    files = FrameFolder(folder)
    for file in map(files.file, files.numbers()):
        try:
            head = _head(file)
        except FileNotFoundError:
            continue  # rotated away while we looked
        except OSError as error:
            trouble = f"{file.name}: {error.strerror}"
            continue
        times = times_us(head)
        if times is not None:
            own = found.setdefault(log_id_of(head), _Files())
            own.files.append((file, times[0] // 1000))
    logs = [own.log for own in found.values()]
    for n, (own, wanted) in enumerate(zip(found.values(), windows(timeline, logs), strict=True)):
        kept: list[LoggedFrame] = []
        for file in own.reaching(wanted):
            try:
                kept.extend(_within(file, key, wanted))
            except FileNotFoundError:
                continue
            except FrameLogError as error:
                trouble = f"{file.name}: {error}"
        logs[n] = logs[n]._replace(frames=kept)
    return logs, trouble and f"frame log: {trouble}"


def _refused(folder: Path) -> str:
    """A folder that is there and may not be looked into is not one that is not there."""
    try:
        next(folder.iterdir(), None)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return str(error.strerror)
    return ""


def _head(file: Path) -> bytes:
    """Enough of it for its first frame."""
    with file.open("rb") as stream:
        return stream.read(4 * DATA_MAX)


def _within(file: Path, key: TableKey | None, wanted: Windows) -> Iterator[LoggedFrame]:
    starts = [start for start, _ in wanted]
    for frame in read_frames(file.read_bytes(), key):
        at_ms = frame.at_us // 1000
        n = bisect_right(starts, at_ms)
        if n and at_ms <= wanted[n - 1][1]:
            yield frame
