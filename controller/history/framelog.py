"""Raw bytes of the devices, kept for a while beside the journal; page section 7.

Evidence of what a device really sent. Not money: nothing waits for it, nothing is
synced, and a full disk stops it without stopping the table. Bytes that may hold a card or a PIN are
sealed as a whole.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Literal
from zlib import crc32

from controller.history.errors import FrameLogError
from controller.history.sealing import Random, TableKey, open_frame, seal_frame

MAGIC: Final = b"UFFRAMES"
VERSION: Final = 1
LOG_ID_BYTES: Final = 16
DATA_MAX: Final = 4096
"""Most bytes in one frame; longer ones are kept as several."""
RETRY_FRAMES: Final = 256
"""Frames lost before a new file is tried again."""

Direction = Literal["in", "out"]

_HEAD: Final = struct.Struct(">8sB16sQ")
_FRONT: Final = struct.Struct(">IH")
_FRAME: Final = struct.Struct(">BQQB")
_OUT: Final = 0x01
_SEALED: Final = 0x02


@dataclass(frozen=True, slots=True)
class LoggedFrame:
    """Bytes of one device. ``data`` is None where they are sealed and no key was given."""

    seq: int
    at_us: int
    device: str
    direction: Direction
    sealed: bool
    data: bytes | None = field(repr=False)


def encode_head(log_id: bytes, first_seq: int) -> bytes:
    return _HEAD.pack(MAGIC, VERSION, log_id, first_seq)


def encode_logged(frame: LoggedFrame) -> bytes:
    """One frame on disk; ``data`` is what is to stand there, sealed or not."""
    assert frame.data is not None
    name = frame.device.encode()
    flags = (_OUT if frame.direction == "out" else 0) | (_SEALED if frame.sealed else 0)
    rest = _FRAME.pack(flags, frame.at_us, frame.seq, len(name)) + name + frame.data
    length = len(rest).to_bytes(2, "big")
    return crc32(length + rest).to_bytes(4, "big") + length + rest


def read_frames(log: bytes, key: TableKey | None = None) -> Iterator[LoggedFrame]:
    """The frames of one file. A torn last frame ends it; anything else that is wrong raises."""
    if len(log) < _HEAD.size:
        return
    magic, version, log_id, seq = _HEAD.unpack_from(log)
    if magic != MAGIC:
        raise FrameLogError("E-FLOG-001", 0, "no frame log")
    if version != VERSION:
        raise FrameLogError("E-FLOG-002", 8, f"version {version}: this program reads {VERSION}")
    at = _HEAD.size
    while at + _FRONT.size <= len(log):
        check, length = _FRONT.unpack_from(log, at)
        start, end = at + _FRONT.size, at + _FRONT.size + length
        if end > len(log):
            return
        if crc32(log[at + 4 : end]) != check:
            if end == len(log):
                return
            raise FrameLogError("E-FLOG-003", at, "the checksum does not fit: altered or damaged")
        if length < _FRAME.size:
            raise FrameLogError("E-FLOG-003", at, "too short for a frame")
        frame = _read(log[start:end], log_id, key, at)
        if frame.seq != seq:
            raise FrameLogError("E-FLOG-004", at, f"frame {frame.seq}, expected {seq}")
        yield frame
        seq, at = seq + 1, end


def log_id_of(log: bytes) -> bytes:
    """Which start of the daemon wrote the file: equal in all files of one start."""
    return log[len(MAGIC) + 1 :][:LOG_ID_BYTES]


def times_us(log: bytes) -> tuple[int, int] | None:
    """When the first and the last frame of a file came; None if it holds none.

    Only lengths are followed, nothing is checked: for finding the file that is worth reading.
    """
    first, last, at = None, 0, _HEAD.size
    while at + _FRONT.size + _FRAME.size <= len(log):
        _, length = _FRONT.unpack_from(log, at)
        start, at = at + _FRONT.size, at + _FRONT.size + length
        if at > len(log) or length < _FRAME.size:
            break
        last = _FRAME.unpack_from(log, start)[1]
        first = last if first is None else first
    return None if first is None else (first, last)


def _read(rest: bytes, log_id: bytes, key: TableKey | None, at: int) -> LoggedFrame:
    flags, at_us, seq, size = _FRAME.unpack_from(rest)
    body = rest[_FRAME.size :]
    try:
        device = body[:size].decode()
    except UnicodeDecodeError:
        raise FrameLogError("E-FLOG-003", at, "the device has no readable name") from None
    data: bytes | None = body[size:]
    sealed = bool(flags & _SEALED)
    if sealed and data is not None:
        data = None if key is None else open_frame(key.for_frame(log_id.hex(), seq), data)
    return LoggedFrame(seq, at_us, device, "out" if flags & _OUT else "in", sealed, data)


class FrameLog:
    """Writes frames to files of limited size, the oldest of which are removed.

    ``open_new`` makes the file of a number, ``remove`` deletes one; both may fail with ``OSError``,
    which loses frames and nothing else.
    """

    def __init__(
        self,
        open_new: Callable[[int], BinaryIO],
        remove: Callable[[int], None],
        key: TableKey,
        random: Random,
        *,
        sealed: frozenset[str],
        first_file: int = 1,
        max_bytes: int = 4 << 20,
        keep: int = 8,
    ) -> None:
        self._open_new, self._remove = open_new, remove
        self._key, self._random, self._sealed = key, random, sealed
        self._log_id = random(LOG_ID_BYTES)
        self._max_bytes, self._keep = max_bytes, keep
        self._number = first_file - 1
        self._file: BinaryIO | None = None
        self._bytes = 0
        self._seq = 1
        self._pause = 0
        self.lost = 0
        """Frames that could not be kept."""

    def note(self, device: str, direction: Direction, data: bytes, at_us: int) -> None:
        """Keep what went over the wire; never raises because of the disk."""
        for start in range(0, len(data), DATA_MAX):
            self._note(device, direction, data[start : start + DATA_MAX], at_us)

    def _note(self, device: str, direction: Direction, data: bytes, at_us: int) -> None:
        if self._pause:
            self._pause -= 1
            self.lost += 1
            return
        sealed = device in self._sealed
        if sealed:
            own = self._key.for_frame(self._log_id.hex(), self._seq)
            data = seal_frame(own, data, self._random)
        row = encode_logged(LoggedFrame(self._seq, at_us, device, direction, sealed, data))
        try:
            if self._file is None or self._bytes + len(row) > self._max_bytes:
                self._rotate()
            assert self._file is not None
            self._file.write(row)
        except OSError:
            self._give_up()
            return
        self._bytes += len(row)
        self._seq += 1

    def flush(self) -> None:
        """Hand over what is buffered; now and then, never per frame."""
        if self._file is not None:
            try:
                self._file.flush()
            except OSError:
                self._give_up()

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def _rotate(self) -> None:
        self.close()
        self._number += 1
        if self._number > self._keep:
            with suppress(OSError):
                self._remove(self._number - self._keep)
        self._file = self._open_new(self._number)
        head = encode_head(self._log_id, self._seq)
        self._file.write(head)
        self._bytes = len(head)

    def _give_up(self) -> None:
        self.close()
        self.lost += 1
        self._pause = RETRY_FRAMES
