"""Power cut and kill at every call of the journal to the disk; what had been synced is there."""

from __future__ import annotations

import contextlib
import errno
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from record.journal import Journal, JournalError, JournalFailed
from tests.record.journal.simdisk import PowerCut, SimDisk

FOLDER = Path("journal")
SEGMENT = 4096
DAY = 86_400_000


@dataclass
class Story:
    """What the writer knows: bodies it appended in order, and how many had been synced."""

    written: list[bytes] = field(default_factory=list)
    synced: int = 0
    prepared: bool = True


def open_on(disk: SimDisk, now_ms: int = 0, retention_days: int | None = None) -> Journal:
    return Journal.open(
        FOLDER,
        table="T-1",
        disk=disk,
        segment_bytes=SEGMENT,
        reserve_bytes=SEGMENT,
        now_ms=now_ms,
        retention_days=retention_days,
    )


def play(journal: Journal, story: Story, random: Random, groups: int) -> None:
    """Groups of one to four records, from a few bytes to several sectors each."""
    for _ in range(groups):
        for _ in range(random.randint(1, 4)):
            size = random.choice((3, 60, 500, 1300))
            body = random.randbytes(size // 2).hex().encode()
            journal.append("fact", body, 1000 + len(story.written))
            story.written.append(body)
        journal.sync()
        story.synced = len(story.written)
        if story.prepared and random.random() < 0.3:
            journal.prepare()


def bodies(journal: Journal, kind: str = "fact") -> list[bytes]:
    return [record.body for record in journal.records() if record.kind == kind]


def calls_of(seed: int) -> int:
    disk = SimDisk()
    journal = open_on(disk)
    play(journal, Story(), Random(seed), 12)
    return disk.calls


def cut_run(seed: int, cut_at: int) -> tuple[SimDisk, Story]:
    disk, story = SimDisk(), Story()
    disk.cut_at = cut_at
    with pytest.raises(PowerCut):
        play(open_on(disk), story, Random(seed), 12)
    return disk, story


def check(disk: SimDisk, story: Story) -> Journal:
    """The property: all that was synced, in order, then at most a beginning of the rest."""
    journal = open_on(disk)
    found = bodies(journal)
    assert found == story.written[: len(found)], "not a prefix of what was written"
    assert len(found) >= story.synced, f"{story.synced - len(found)} synced records lost"
    repairs = len(bodies(journal, "repair"))
    assert journal.next_seq == len(found) + repairs + 1
    assert repairs or not journal.repaired, "cut without a word"
    return journal


@pytest.mark.parametrize("seed", range(4))
def test_power_cut_at_every_call(seed: int) -> None:
    for cut_at in range(1, calls_of(seed) + 1):
        disk, story = cut_run(seed, cut_at)
        for fate in range(12):
            survivor = disk.after_cut(Random(f"{seed} {cut_at} {fate}"))
            check(survivor, story).close()


@pytest.mark.parametrize("seed", range(2))
def test_kill_at_every_call(seed: int) -> None:
    for cut_at in range(1, calls_of(seed) + 1):
        disk, story = cut_run(seed, cut_at)
        journal = check(disk.after_kill(), story)
        assert journal.repaired == 0
        journal.close()


def test_what_a_start_has_read_is_durable_when_it_says_so() -> None:
    """Killed between write and sync, started again, and only then the power goes; and the same
    after a sync that failed and left in memory what the medium never got."""
    for cut_at in range(1, calls_of(0) + 1):
        killed, _ = cut_run(0, cut_at)
        failed, story = SimDisk(), Story()
        failed.fail_at = {cut_at: errno.EIO}
        with contextlib.suppress(JournalError):
            play(open_on(failed), story, Random(0), 12)
        for disk in (killed.after_kill(), failed.after_kill()):
            journal = open_on(disk)
            told = list(journal.records())
            after = open_on(disk.after_cut(Random(cut_at)))
            assert list(after.records()) == told


@pytest.mark.parametrize("seed", range(3))
def test_power_cut_during_recovery_and_again(seed: int) -> None:
    """Recovery is itself cut at each of its calls; the second recovery holds the same property."""
    calls = calls_of(seed)
    for cut_at in range(2, calls + 1, 5):
        disk, story = cut_run(seed, cut_at)
        for second in range(1, 12):
            survivor = disk.after_cut(Random(f"{seed} {cut_at}"))
            survivor.cut_at = second
            try:
                open_on(survivor)
            except PowerCut:
                survivor = survivor.after_cut(Random(f"{seed} {cut_at} {second}"))
            else:
                break
            check(survivor, story).close()


def test_many_lives_of_one_journal() -> None:
    """Fifty power cuts in a row at random calls: nothing that was ever synced goes missing."""
    random = Random(5)
    disk, story = SimDisk(), Story()
    repairs = 0
    for life in range(50):
        disk.cut_at = random.randint(12, 60)
        try:
            journal = open_on(disk)
            found = bodies(journal)
            assert found[: story.synced] == story.written[: story.synced]
            assert len(found) >= story.synced
            repairs = len(bodies(journal, "repair"))
            story.written, story.synced = found, len(found)
            play(journal, story, random, 40)
        except PowerCut:
            pass
        disk = disk.after_cut(Random(f"life {life}"))
    assert repairs >= 4, "the test no longer tears anything"
    check(disk, story)


def test_the_property_can_fail() -> None:
    """Without the syncs, records that the writer believes in are lost: the test sees it."""

    class NoSync(SimDisk):
        def sync(self, handle: int) -> None:
            assert handle in self.handles
            self._call("sync")
            self._cut()

    lost = 0
    for cut_at in range(20, 40):
        disk, story = NoSync(), Story()
        disk.cut_at = cut_at
        with pytest.raises(PowerCut):
            play(open_on(disk), story, Random(1), 12)
        try:
            check(disk.after_cut(Random(cut_at)), story)
        except (AssertionError, JournalError):
            lost += 1
    assert lost


def test_a_sync_that_fails_once_ends_everything() -> None:
    """For every sync: JournalFailed, then nothing works; the next start has all before it."""
    clean = SimDisk()
    play(open_on(clean), Story(), Random(3), 12)
    syncs = [n for n, name in enumerate(clean.log, 1) if name in ("sync", "write", "sync_folder")]
    for number in syncs:
        disk, story = SimDisk(), Story()
        disk.fail_at = {number: errno.EIO}
        journals: list[Journal] = []

        def run(disk: SimDisk = disk, story: Story = story, made: list[Journal] = journals) -> None:
            made.append(open_on(disk))
            play(made[0], story, Random(3), 12)

        with pytest.raises(JournalFailed) as failed:
            run()
        assert (failed.value.code, failed.value.exit_code) == ("E-JRN-030", 74)
        for journal in journals:
            nothing_works(journal, disk)
        check(disk.after_kill(), story).close()


def nothing_works(journal: Journal, disk: SimDisk) -> None:
    calls = disk.calls
    with pytest.raises(JournalFailed, match="E-JRN-032"):
        journal.append("fact", b"{}", 1)
    with pytest.raises(JournalFailed, match="E-JRN-032"):
        journal.sync()
    with pytest.raises(JournalFailed, match="E-JRN-032"):
        journal.prepare()
    with pytest.raises(JournalFailed, match="E-JRN-032"):
        list(journal.records())
    assert disk.calls == calls, "the disk was touched again after it had failed"
    journal.close()


def test_a_sync_that_was_interrupted_ends_everything_too() -> None:
    disk = SimDisk()
    journal = open_on(disk)
    disk.cut_at = disk.calls + 1
    journal.append("fact", b"{}", 1)
    with pytest.raises(PowerCut):
        journal.sync()
    nothing_works(journal, disk)


def test_a_reserve_that_is_not_blank_is_made_anew() -> None:
    """Power went between its header and its new name: what is in it must not come to light."""
    disk, story = SimDisk(room=3 * SEGMENT), Story(prepared=False)
    open_on(disk).close()
    disk.names_seen["reserve"].seen[4050:4090] = b"r" * 40
    disk.names_seen["reserve"].settle()
    journal = open_on(disk)
    while not journal.full:
        play(journal, story, Random(len(story.written)), 1)
    journal.close()
    check(disk.after_kill(), story).close()


def test_disk_full_closes_the_round_on_the_reserve() -> None:
    disk, story = SimDisk(room=3 * SEGMENT), Story(prepared=False)
    journal = open_on(disk)
    random = Random(2)
    while not journal.full:
        play(journal, story, random, 1)
    play(journal, story, Random(9), 1)  # the round closes
    with pytest.raises(JournalFailed, match="E-JRN-031"):
        play(journal, story, random, 50)
    journal.close()
    again = check(disk.after_cut(Random(1)), story)
    assert again.full, "there still is no room for a reserve"
    again.close()


def renewed(journal: Journal) -> bool:
    journal.prepare()
    return not journal.full


def test_room_that_comes_back_renews_the_reserve() -> None:
    disk, story = SimDisk(room=3 * SEGMENT), Story(prepared=False)
    journal = open_on(disk)
    while not journal.full:
        play(journal, story, Random(len(story.written)), 1)
    assert renewed(journal) is False
    disk.room = 1 << 30
    assert renewed(journal) is True
    play(journal, story, Random(4), 30)
    journal.close()
    assert not check(disk.after_cut(Random(1)), story).full


@pytest.mark.parametrize("fate", range(3))
def test_power_cut_at_every_call_with_retention(fate: int) -> None:
    """Old segments go only after the checkpoint is durable; what is kept verifies at every cut."""

    def run(disk: SimDisk) -> int:
        kept = 0
        journal = open_on(disk, now_ms=100 * DAY, retention_days=5)
        for day in range(12):
            for _ in range(4):
                journal.append("fact", f"{day}".encode() * 400, day * DAY)
                journal.sync()
                kept = max(kept, day)
        return kept

    disk = SimDisk()
    run(disk)
    assert "unlink" in disk.log, "nothing was ever removed"
    for cut_at in range(1, disk.calls + 1):
        disk = SimDisk()
        disk.cut_at = cut_at
        with pytest.raises(PowerCut):
            run(disk)
        journal = open_on(disk.after_cut(Random(f"{fate} {cut_at}")), 100 * DAY, 5)
        facts = [r for r in journal.records() if r.kind == "fact"]
        if facts:
            newest = facts[-1].at_ms
            have = {r.at_ms for r in facts}
            assert {n * DAY for n in range(12) if newest - 5 * DAY <= n * DAY <= newest} <= have
