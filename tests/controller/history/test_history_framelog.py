"""The frame log: bytes of the devices, sealed where a card or PIN may be, bounded, never fatal."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.history.errors import FrameLogError, SealError
from controller.history.framelog import (
    DATA_MAX,
    RETRY_FRAMES,
    FrameLog,
    LoggedFrame,
    encode_head,
    encode_logged,
    read_frames,
)
from controller.history.sealing import TableKey
from tests.paper import KEY, Noise

LITERAL = (
    "55464652414d4553 01 000102030405060708090a0b0c0d0e0f 0000000000000007"
    " aa7a76a2 001b 01 00000000000f4240 0000000000000007 06 6c616d70732d 010203"
)


class Kept(io.BytesIO):
    """A file whose content outlives its closing."""

    def __init__(self) -> None:
        super().__init__()
        self.content = b""

    def write(self, data: object) -> int:
        self.content += bytes(data)  # type: ignore[call-overload]
        return len(self.content)


class Folder:
    def __init__(self) -> None:
        self.files: dict[int, Kept] = {}
        self.full = False

    def open_new(self, number: int) -> BinaryIO:
        if self.full:
            raise OSError(28, "No space left on device")
        self.files[number] = Kept()
        return self.files[number]

    def remove(self, number: int) -> None:
        del self.files[number]

    def log(self, **more: int) -> FrameLog:
        sealed = frozenset({"shoe", "keys-1"})
        return FrameLog(self.open_new, self.remove, KEY, Noise(), sealed=sealed, **more)

    def frames(self, key: TableKey | None = KEY) -> list[LoggedFrame]:
        return [f for n in sorted(self.files) for f in read_frames(self.files[n].content, key)]


def test_the_bytes_on_disk_are_those_of_the_page() -> None:
    frame = LoggedFrame(7, 1_000_000, "lamps-", "out", False, b"\1\2\3")
    made = encode_head(bytes(range(16)), 7) + encode_logged(frame)
    assert made.hex() == LITERAL.replace(" ", "")
    assert list(read_frames(made)) == [frame]


def test_frames_come_back_in_order_with_time_and_direction() -> None:
    folder = Folder()
    log = folder.log()
    log.note("chips-1", "in", b"\xaa" * 5, 10)
    log.note("shoe", "in", b"card", 20)
    log.note("shoe", "out", b"ack", 30)
    assert folder.frames() == [
        LoggedFrame(1, 10, "chips-1", "in", False, b"\xaa" * 5),
        LoggedFrame(2, 20, "shoe", "in", True, b"card"),
        LoggedFrame(3, 30, "shoe", "out", True, b"ack"),
    ]


def test_without_the_key_sealed_frames_stay_closed() -> None:
    folder = Folder()
    log = folder.log()
    log.note("shoe", "in", b"a card nobody has seen", 20)
    log.note("keys-1", "in", b"a pin", 20)
    assert [f.data for f in folder.frames(None)] == [None, None]
    content = folder.files[1].content
    assert b"nobody" not in content
    assert b"pin" not in content
    with pytest.raises(SealError):
        folder.frames(TableKey(bytes(32)))


def test_twins_differ_in_the_sealed_bytes_only() -> None:
    runs = []
    for secret in (b"\x31\x01", b"\x0d\x02"):
        folder = Folder()
        log = folder.log()
        log.note("shoe", "in", secret, 20)
        log.note("chips-1", "in", b"x", 21)
        runs.append(folder.files[1].content)
    first, second = runs
    assert len(first) == len(second)
    assert first != second
    assert first[-len(b"chips-1x") :] == second[-len(b"chips-1x") :]


def test_files_are_bounded_and_the_oldest_go() -> None:
    folder = Folder()
    log = folder.log(max_bytes=400, keep=3)
    for n in range(100):
        log.note("chips-1", "in", bytes([n]) * 20, n)
    assert len(folder.files) == 3
    assert all(len(kept.content) <= 400 for kept in folder.files.values())
    found = folder.frames()
    assert [f.seq for f in found] == list(range(found[0].seq, 101))
    assert found[-1].data == bytes([99]) * 20


def test_long_bytes_are_kept_as_several_frames() -> None:
    folder = Folder()
    log = folder.log()
    data = bytes(range(256)) * 40
    log.note("shoe", "in", data, 5)
    found = folder.frames()
    assert len(found) == -(-len(data) // DATA_MAX)
    assert b"".join(f.data or b"" for f in found) == data


def test_a_full_disk_loses_frames_and_nothing_else() -> None:
    folder = Folder()
    log = folder.log(max_bytes=100)
    log.note("chips-1", "in", b"first", 1)
    folder.full = True
    for n in range(RETRY_FRAMES):
        log.note("chips-1", "in", b"x" * 60, n)
    folder.full = False
    assert log.lost == RETRY_FRAMES
    log.note("chips-1", "in", b"lost", 8)
    log.note("chips-1", "in", b"again", 9)
    log.flush()
    log.close()
    assert [f.data for f in folder.frames()] == [b"first", b"again"]
    assert log.lost == RETRY_FRAMES + 1


def whole() -> bytes:
    folder = Folder()
    log = folder.log()
    for n in range(4):
        log.note("shoe" if n % 2 else "chips-1", "in", bytes([n]) * 9, n)
    return folder.files[1].content


@given(st.integers(0, len(whole())))
def test_a_torn_tail_ends_the_file(cut: int) -> None:
    found = list(read_frames(whole()[:cut], KEY))
    assert found == list(read_frames(whole(), KEY))[: len(found)]
    assert len(found) == 4 or cut < len(whole())


@given(st.integers(0, 8 * len(whole()) - 1))
def test_a_flipped_bit_invents_nothing(bit: int) -> None:
    damaged = bytearray(whole())
    damaged[bit // 8] ^= 1 << bit % 8
    sound, found = list(read_frames(whole(), KEY)), []
    with suppress(FrameLogError, SealError):
        for frame in read_frames(bytes(damaged), KEY):
            found.append(frame)
    assert found == sound[: len(found)]


@given(st.binary(max_size=80))
def test_any_bytes_are_frames_or_refused(log: bytes) -> None:
    for content in (log, encode_head(bytes(16), 1) + log):
        with suppress(FrameLogError):
            assert list(read_frames(content, KEY)) == []
