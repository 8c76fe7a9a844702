"""What the writer may rely on: buffer, sync, numbers, one owner, refusals, reading back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from record.journal import (
    Journal,
    JournalCorrupt,
    JournalFailed,
    JournalLocked,
    JournalMismatch,
    JournalMissing,
    JournalTooNew,
    NotAppendable,
    Record,
)
from record.journal.format import MAX_RECORD_BYTES, chained
from record.journal.reader import Follower, verify
from record.verify_journal import verify as verify_alone
from tests.record.journal.making import SEGMENT, make, open_at, segments, snapshot
from tests.record.journal.simdisk import SimDisk

ROOT = Path(__file__).resolve().parents[3]
DAY = 86_400_000


def test_nothing_is_on_the_disk_before_sync(tmp_path: Path) -> None:
    journal = open_at(tmp_path)
    before = snapshot(tmp_path)
    first = journal.append("fact", b'{"n":1}', 5)
    second = journal.append("alarm", b"", 6)
    assert snapshot(tmp_path) == before
    assert list(journal.records()) == []
    journal.sync()
    read = list(journal.records())
    assert read == [
        Record(1, "fact", b'{"n":1}', 5, first.hash),
        Record(2, "alarm", b"", 6, second.hash),
    ]
    assert (journal.next_seq, journal.head, journal.durable_seq) == (3, second.hash, 2)


def test_a_group_is_one_write_and_one_sync() -> None:
    disk = SimDisk()
    journal = Journal.open(Path("j"), table="T", disk=disk, now_ms=1)
    disk.log.clear()
    for number in range(40):
        journal.append("fact", b"%d" % number, number)
    journal.sync()
    journal.sync()
    assert disk.log == ["write", "sync"]


def test_one_life_after_another(tmp_path: Path) -> None:
    journal = open_at(tmp_path)
    identity, at = journal.journal_id, journal.append("opened", b"{}", 1)
    journal.sync()
    journal.append("fact", b"never synced", 2)
    journal.close()
    again = open_at(tmp_path)
    assert (again.journal_id, again.next_seq, again.head) == (identity, 2, at.hash)
    assert again.repaired == 0
    assert len(identity) == 32
    with pytest.raises(JournalFailed, match="closed"):
        journal.append("fact", b"", 1)


def test_two_journals_have_two_names(tmp_path: Path) -> None:
    one, two = open_at(tmp_path / "1"), open_at(tmp_path / "2")
    assert one.journal_id != two.journal_id
    assert one.head != two.head


def test_the_second_opener_is_refused(tmp_path: Path) -> None:
    journal = open_at(tmp_path)
    program = (
        "import sys; from pathlib import Path; from record.journal import Journal, JournalError\n"
        "try: Journal.open(Path(sys.argv[1]), table='T-1', now_ms=1)\n"
        "except JournalError as error: print(error.code); sys.exit(error.exit_code)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    before = snapshot(tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (75, "E-JRN-020\n")
    assert snapshot(tmp_path) == before
    with pytest.raises(JournalLocked):
        open_at(tmp_path)
    journal.close()
    open_at(tmp_path).close()


def test_a_journal_of_a_later_program_is_left_alone(tmp_path: Path) -> None:
    folder = make(tmp_path / "j", [[b"1" * 900] for _ in range(9)])
    last = segments(folder)[-1]
    data = bytearray(last.read_bytes())
    data[7] = 2
    last.write_bytes(data)
    (folder / "spare.tmp").write_bytes(b"left by the later program")
    before = snapshot(folder)
    with pytest.raises(JournalTooNew, match="E-JRN-002") as said:
        open_at(folder)
    assert said.value.exit_code == 65
    assert "version 2" in str(said.value)
    assert snapshot(folder) == before


def test_another_table_and_no_journal(tmp_path: Path) -> None:
    make(tmp_path / "j", [[b"1"]])
    with pytest.raises(JournalMismatch, match="'T-1', not of 'T-2'") as said:
        Journal.open(tmp_path / "j", table="T-2", now_ms=1)
    assert said.value.exit_code == 78
    with pytest.raises(JournalMissing) as missing:
        open_at(tmp_path / "none", create=False)
    assert missing.value.exit_code == 66
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("kind", "body", "at_ms", "what"),
    [
        ("", b"", 1, "kind"),
        ("Fact", b"", 1, "kind"),
        ("x" * 33, b"", 1, "kind"),
        ("repair", b"", 1, "kind"),
        ("checkpoint", b"", 1, "kind"),
        ("fact", b"x" * MAX_RECORD_BYTES, 1, "at most"),
        ("fact", b"a" + bytes(64), 1, "zero bytes"),
        ("fact", b"", -1, "at_ms"),
        ("fact", b"", 1 << 63, "at_ms"),
    ],
)
def test_what_cannot_be_written(
    tmp_path: Path, kind: str, body: bytes, at_ms: int, what: str
) -> None:
    journal = open_at(tmp_path)
    with pytest.raises(NotAppendable, match=f"{what}.*E-JRN-040"):
        journal.append(kind, body, at_ms)
    assert journal.next_seq == 1
    journal.append("fact", b"{}", 1)  # a refusal harms nothing
    journal.sync()


@pytest.mark.parametrize("sizes", [{"segment_bytes": 4097}, {"reserve_bytes": 512}, {"table": ""}])
def test_settings_that_cannot_work(tmp_path: Path, sizes: dict[str, int | str]) -> None:
    with pytest.raises(NotAppendable, match="E-JRN-041"):
        Journal.open(tmp_path, now_ms=1, **({"table": "T"} | sizes))  # type: ignore[arg-type]


def test_a_group_larger_than_a_segment_gets_one_of_its_own_size(tmp_path: Path) -> None:
    journal = open_at(tmp_path)
    journal.append("fact", b"small", 1)
    journal.sync()
    journal.append("round", b"x" * 3 * SEGMENT, 2)
    journal.append("round", b"y" * 3 * SEGMENT, 3)
    journal.sync()
    journal.append("fact", b"after", 4)
    journal.sync()
    journal.close()
    assert [len(r.body) for r in open_at(tmp_path).records()] == [5, 12288, 12288, 5]
    assert verify_alone(tmp_path)["records"] == 4


bodies = st.binary(max_size=900).filter(lambda body: bytes(64) not in body)
kinds = st.from_regex(r"[a-z][a-z0-9-]{0,31}", fullmatch=True).filter(
    lambda kind: kind not in ("repair", "checkpoint", "revealed")
)
rows = st.tuples(kinds, bodies, st.integers(0, (1 << 63) - 1))


@given(st.lists(st.lists(rows, min_size=1, max_size=5), max_size=12))
def test_what_is_written_is_read(groups: list[list[tuple[str, bytes, int]]]) -> None:
    disk = SimDisk()
    journal = Journal.open(
        Path("j"), table="T", disk=disk, segment_bytes=SEGMENT, reserve_bytes=SEGMENT, now_ms=1
    )
    for group in groups:
        for row in group:
            journal.append(*row)
        journal.sync()
    written = [row for group in groups for row in group]
    read = list(journal.records())
    assert [(r.kind, r.body, r.at_ms) for r in read] == written
    assert [r.seq for r in read] == list(range(1, len(written) + 1))
    head = journal.head
    journal.close()
    report = verify(Path("j"), disk)
    assert (report.records, report.head, report.tail.torn) == (len(written), head, False)


def test_the_chain_is_what_it_is_said_to_be(tmp_path: Path) -> None:
    folder = make(tmp_path, [[b"1", b"2"]])
    data = segments(folder)[0].read_bytes()
    first, second = open_at(folder).records()
    length = int.from_bytes(data[516:520], "big")
    assert chained(data[24:56], data[512 : 512 + length]) == first.hash
    start = 512 + length
    assert data[start + 32 : start + 64] == first.hash
    assert chained(first.hash, data[start : start + length]) == second.hash


def test_reading_from_a_record_on(tmp_path: Path) -> None:
    folder = make(tmp_path, [[b"%d" % n * 300] for n in range(40)])
    journal = open_at(folder)
    assert len(segments(folder)) > 2
    for start in (1, 2, 9, 10, 11, 39, 40, 41):
        assert [r.seq for r in journal.records(start)] == list(range(start, 41))


# --- retention -----------------------------------------------------------------------------------


def years(folder: Path, days: int, keep: int | None, needed: int | None = None) -> Journal:
    """Two records a day, three to a segment."""
    journal = open_at(folder, 0, retention_days=keep)
    journal.keep_from_seq = needed
    for half in range(days * 2):
        journal.append("fact", b"%d" % half * 400, half * DAY // 2)
        journal.sync()
    return journal


def test_old_segments_go_and_the_chain_still_begins_somewhere(tmp_path: Path) -> None:
    journal = years(tmp_path, 40, 10)
    first = next(journal.records())
    assert 0 < first.at_ms < 30 * DAY + 3 * DAY
    assert {n * DAY // 2 for n in range(60, 80)} <= {r.at_ms for r in journal.records()}
    journal.close()
    report = verify(tmp_path)
    assert report.first_seq == first.seq > 1
    alone = verify_alone(tmp_path)
    assert (alone["ok"], alone["first_seq"], alone["head"]) == (True, first.seq, report.head.hex())
    open_at(tmp_path).close()


def test_without_retention_nothing_goes(tmp_path: Path) -> None:
    assert next(years(tmp_path, 40, None).records()).seq == 1


def test_what_somebody_still_needs_stays(tmp_path: Path) -> None:
    assert next(years(tmp_path, 40, 10, needed=8).records()).seq <= 8


def test_an_old_segment_removed_by_hand_is_noticed(tmp_path: Path) -> None:
    years(tmp_path, 40, 10).close()
    segments(tmp_path)[0].unlink()
    with pytest.raises(JournalCorrupt, match="E-JRN-010"):
        open_at(tmp_path)
    assert verify_alone(tmp_path)["code"] == "E-JRN-010"


def test_a_clock_ten_years_ahead_empties_nothing(tmp_path: Path) -> None:
    """At the start it alone decides nothing; while it lasts, two segments go at a time."""
    years(tmp_path, 40, None).close()
    count = len(segments(tmp_path))
    journal = open_at(tmp_path, 3650 * DAY, retention_days=365)
    assert len(segments(tmp_path)) == count
    journal.append("fact", b"x" * 1500, 3650 * DAY)
    journal.sync()
    journal.append("fact", b"x" * 1500, 40 * DAY)  # the clock is right again
    journal.sync()
    journal.close()
    assert len(segments(tmp_path)) >= count


def test_checking_the_end_first_and_the_rest_later(tmp_path: Path) -> None:
    years(tmp_path, 40, None).close()
    files = segments(tmp_path)
    journal = open_at(tmp_path, check_segments=2)
    assert journal.unchecked == len(files) - 2
    journal.append("fact", b"meanwhile", 1)
    journal.sync()
    assert list(journal.check_older()) == list(range(1, len(files) - 1))
    assert journal.unchecked == 0
    journal.close()
    data = bytearray(files[3].read_bytes())
    data[700] ^= 1
    files[3].write_bytes(data)
    journal = open_at(tmp_path, check_segments=2)
    with pytest.raises(JournalCorrupt, match=r"00000004\.ufj.*E-JRN-004"):
        list(journal.check_older())
    journal.close()
    with pytest.raises(JournalCorrupt):
        open_at(tmp_path)


# --- following -----------------------------------------------------------------------------------


def test_following_a_running_journal(tmp_path: Path) -> None:
    journal = open_at(tmp_path)
    journal.append("opened", b"{}", 1)
    journal.sync()
    follower = Follower(tmp_path, verify(tmp_path))
    assert follower.poll() == []
    seen: list[int] = []
    for number in range(30):
        journal.append("fact", b"%d" % number * 200, number)
        if number % 3 == 2:
            journal.sync()
        if number % 7 == 6:
            seen += [record.seq for record in follower.poll()]
    seen += [record.seq for record in follower.poll()]
    assert seen == list(range(2, 32))
    assert len(segments(tmp_path)) > 2


def test_a_follower_waits_for_half_a_group_and_then_complains(tmp_path: Path) -> None:
    journal = open_at(tmp_path)
    journal.append("fact", b"1", 1)
    journal.sync()
    follower = Follower(tmp_path, verify(tmp_path))
    path = segments(tmp_path)[0]
    data = path.read_bytes()
    path.write_bytes(data[:700] + b"?" + data[701:])
    assert follower.poll() == []
    path.write_bytes(data)
    other = make(tmp_path / "other", [[b"2"], [b"3"]])
    path.write_bytes(segments(other)[0].read_bytes())
    for _ in range(Follower.PATIENCE - 1):
        assert follower.poll() == []
    with pytest.raises(JournalCorrupt, match="another one"):
        follower.poll()
