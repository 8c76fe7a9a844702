"""Torn tails are repaired and said so; any flipped bit refuses to open; nothing is ever cleared."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from record.journal import Journal, JournalCorrupt, JournalError
from record.journal.format import HEADER_BYTES, SECTOR, decode_head, encode_record
from record.journal.reader import JournalReader, verify
from record.verify_journal import verify as verify_alone
from tests.record.journal.making import SEGMENT, copy, make, open_at, segments, snapshot

FLIPS = int(os.environ.get("UNDERFELT_FLIPS", "1000"))
GROUPS = [[b'{"n":1}', b'{"n":2}'], [b'{"n":3,"x":"%s"}' % (b"a" * 700)], [b'{"n":4}']]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Four records in three groups, in one segment; the last record crosses no sector."""
    return make(tmp_path / "journal", GROUPS)


def offsets(data: bytes) -> Iterator[tuple[int, int]]:
    at = HEADER_BYTES
    while head := decode_head(data, at):
        yield at, at + head.length
        at += head.length


def recovered(folder: Path) -> tuple[list[bytes], list[bytes], int]:
    opened = open_at(folder, now_ms=5_000)
    read = list(opened.records())
    opened.close()
    facts = [record.body for record in read if record.kind == "fact"]
    return facts, [r.body for r in read if r.kind == "repair"], opened.repaired


# --- torn ----------------------------------------------------------------------------------------


def test_cut_at_every_byte_of_the_last_two_records(journal: Path, tmp_path: Path) -> None:
    """Truncated, and zeroed from there on: back to the record before, with a repair record."""
    (segment,) = segments(journal)
    data = segment.read_bytes()
    places = list(offsets(data))
    bodies = [body for group in GROUPS for body in group]
    used = places[-1][1]
    for cut in range(places[-2][0], used):
        whole = sum(end <= cut for _, end in places)
        for name, left in (("short", data[:cut]), ("zeroed", data[:cut].ljust(SEGMENT, b"\0"))):
            torn = copy(journal, tmp_path / f"{name}{cut}")
            (torn / segment.name).write_bytes(left)
            stands = len(left.rstrip(b"\0"))
            last = max(end for _, end in places[:whole])
            facts, repairs, cut_bytes = recovered(torn)
            assert facts == bodies[:whole]
            assert cut_bytes == stands - last
            if name == "zeroed" and stands == last:
                assert repairs == []  # as if it had never been written: nothing is left to name
                continue
            said = json.loads(repairs[0])
            assert said["segment"] == 1
            assert (said["offset"], said["bytes"]) == (last, stands - last)
            assert said["sha256"] == sha256(data[last:stands]).hexdigest()
            assert verify(torn).repairs == (whole + 1,)
            assert verify_alone(torn)["ok"]
            # Repaired once, and the evidence still lies there.
            assert recovered(torn) == (facts, repairs, 0)
            assert (torn / segment.name).read_bytes().rstrip(b"\0") == data[:stands]


def test_every_set_of_lost_sectors_of_the_last_group(tmp_path: Path) -> None:
    """A group over five sectors, written in any order: each of the 32 outcomes is repaired."""
    first = [b'{"n":0}']
    group = [b'{"n":%d,"x":"%s"}' % (n, b"b" * size) for n, size in ((1, 90), (2, 900), (3, 700))]
    whole = make(tmp_path / "whole", [first, group])
    (segment,) = segments(whole)
    data = segment.read_bytes()
    start = list(offsets(data))[1][0]
    used = len(data.rstrip(b"\0"))
    sectors = range(start // SECTOR, -(-used // SECTOR))
    assert len(sectors) == 5
    for kept in range(1 << len(sectors)):
        left = bytearray(data)
        for index, sector in enumerate(sectors):
            if not kept >> index & 1:
                low, high = max(start, sector * SECTOR), min(used, (sector + 1) * SECTOR)
                left[low:high] = bytes(high - low)
        torn = copy(whole, tmp_path / f"kept{kept}")
        (torn / segment.name).write_bytes(left)
        facts, repairs, _ = recovered(torn)
        assert facts == (first + group)[: len(facts)]
        assert facts[:1] == first
        changed = bytes(left) != data
        assert (len(facts) < 4) == changed
        assert len(repairs) == (changed and any(left[start:]))
        assert verify_alone(torn)["ok"]


def test_a_zeroed_sector_that_had_been_synced_is_no_torn_write(tmp_path: Path) -> None:
    """What stands behind was written after the sync, and says so: refuse, do not cut."""
    whole = make(tmp_path / "whole", [[b"%d" % n * 300] for n in range(6)])
    (segment,) = segments(whole)
    data = bytearray(segment.read_bytes())
    data[SECTOR * 2 : SECTOR * 3] = bytes(SECTOR)
    segment.write_bytes(data)
    refused(whole, "E-JRN-008")


# --- flipped -------------------------------------------------------------------------------------


def refused(folder: Path, code: str = "") -> JournalError:
    """It refuses, changes not one byte, and refuses again: nothing clears itself."""
    before = snapshot(folder)
    for _ in range(2):
        with pytest.raises(JournalError) as said:
            open_at(folder)
        assert said.value.exit_code == 65
        assert code in said.value.code
    assert snapshot(folder) == before
    assert not verify_alone(folder)["ok"]
    return said.value


def flip(path: Path, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(bit // 8)
        (old,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes([old ^ 1 << bit % 8]))


def test_every_byte_of_a_small_journal(journal: Path) -> None:
    """Header, records, the last record, the zeros behind it: one bit of each byte in turn."""
    (segment,) = segments(journal)
    for byte in range(SEGMENT):
        bit = byte * 8 + byte % 8
        flip(segment, bit)
        with pytest.raises(JournalError) as said:
            open_at(journal)
        assert said.value.exit_code == 65, f"bit {bit}"
        assert not verify_alone(journal)["ok"], f"bit {bit}"
        flip(segment, bit)
    assert verify(journal).records == 4
    assert verify_alone(journal)["ok"]


def test_a_thousand_random_bits(tmp_path: Path) -> None:
    """Several segments and a repaired tail: each flip anywhere in any file is found."""
    random = Random(1904)
    groups = [
        [b'{"n":%d,"x":"%s"}' % (n, random.randbytes(random.randint(1, 500)).hex().encode())]
        for n in range(30)
    ]
    folder = make(tmp_path / "journal", groups)
    last = segments(folder)[-1]
    last.write_bytes(last.read_bytes().rstrip(b"\0")[:-20].ljust(SEGMENT, b"\0"))
    assert recovered(folder)[2] > 0
    files = segments(folder)
    assert len(files) > 4
    undetected: list[tuple[str, int]] = []
    for _ in range(FLIPS):
        path = random.choice(files)
        bit = random.randrange(path.stat().st_size * 8)
        flip(path, bit)
        with pytest.raises(JournalError) as said:
            open_at(folder)
        assert said.value.exit_code == 65, f"{path.name} bit {bit}"
        if verify_alone(folder)["ok"]:
            undetected.append((path.name, bit))
        flip(path, bit)
    assert undetected == []
    recovered(folder)


def test_a_flip_refuses_and_changes_nothing(journal: Path) -> None:
    (segment,) = segments(journal)
    places = list(offsets(segment.read_bytes()))
    for number, code in ((0, "E-JRN-008"), (3, "E-JRN-004")):
        start, end = places[number]
        flip(segment, (start + 80) * 8)
        said = refused(journal, code)
        assert (Path(said.file).name, said.offset) == (segment.name, start)
        flip(segment, (start + 80) * 8)
        assert end - start > 80


def test_a_missing_segment(tmp_path: Path) -> None:
    folder = make(tmp_path / "j", [[b"%d" % n * 900] for n in range(12)])
    files = segments(folder)
    kept = files[1].read_bytes()
    files[1].unlink()
    refused(folder, "E-JRN-003")
    files[1].write_bytes(kept)
    files[0].unlink()
    refused(folder, "E-JRN-010")


def test_a_segment_in_anothers_place(tmp_path: Path) -> None:
    bodies = [[b"%d" % n * 900] for n in range(12)]
    one, two = make(tmp_path / "1", bodies), make(tmp_path / "2", bodies)
    segments(one)[1].write_bytes(segments(two)[1].read_bytes())
    refused(one, "E-JRN-003")


def test_stale_records_behind_the_end_are_never_read(journal: Path, tmp_path: Path) -> None:
    """A whole record of another journal right behind the last one: refused, not taken."""
    other = make(tmp_path / "other", [*GROUPS, [b'{"n":5}']])
    (mine,), (theirs,) = segments(journal), segments(other)
    place = list(offsets(theirs.read_bytes()))[-1]
    data = bytearray(mine.read_bytes())
    data[place[0] : place[1]] = theirs.read_bytes()[place[0] : place[1]]
    mine.write_bytes(data)
    refused(journal, "E-JRN-005")


def test_a_whole_record_with_a_wrong_number(journal: Path) -> None:
    """Made by hand with sound check sums and the right hash before it."""
    (segment,) = segments(journal)
    data = segment.read_bytes().rstrip(b"\0")
    head = list(JournalReader(journal).records())[-1].hash
    for seq, durable, code in ((6, 4, "E-JRN-006"), (5, 5, "E-JRN-004")):
        forged = encode_record("fact", b"{}", seq=seq, durable=durable, at_ms=1, previous=head)
        segment.write_bytes((data + forged).ljust(SEGMENT, b"\0"))
        refused(journal, code)


def test_bytes_behind_a_closed_segment(tmp_path: Path) -> None:
    """Even what would pass for a torn write in the last segment needs its repair record."""
    folder = make(tmp_path / "j", [[b"%d" % n * 900] for n in range(12)])
    first = segments(folder)[0]
    with first.open("ab") as file:
        file.write(b"UFRC")
    refused(folder, "E-JRN-007")


def test_a_later_segment_is_never_empty(tmp_path: Path) -> None:
    """It is made together with its first group, so zeros there are a loss, not an end."""
    folder = make(tmp_path / "j", [[b"%d" % n * 900] for n in range(12)])
    last = segments(folder)[-1]
    last.write_bytes(last.read_bytes()[:HEADER_BYTES].ljust(SEGMENT, b"\0"))
    refused(folder, "E-JRN-004")


def test_a_repair_record_where_nothing_was_cut(tmp_path: Path) -> None:
    """The record exists, its evidence is gone: as much a change as any other."""
    folder = make(tmp_path / "j", [[b"1"], [b"2"]])
    (first,) = segments(folder)
    data = first.read_bytes().rstrip(b"\0")
    first.write_bytes(data[:-30].ljust(SEGMENT, b"\0"))
    recovered(folder)
    torn = first.read_bytes()
    first.write_bytes(torn[: list(offsets(torn))[-1][1]])
    refused(folder, "E-JRN-009")


def test_a_journal_that_refused_can_be_put_back(journal: Path) -> None:
    """The lock is not kept by a refusal, and the sound file opens as before."""
    (segment,) = segments(journal)
    flip(segment, 9000)
    with pytest.raises(JournalCorrupt):
        open_at(journal)
    flip(segment, 9000)
    opened: Journal = open_at(journal)
    assert opened.next_seq == 5
