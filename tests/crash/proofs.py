"""What ``make crash`` proves, one case each: a scripted round, something that happens to its disk,
and how the round must have ended. Every case is named by its scenario, a number and a seed."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from controller.commands.journal_day import days
from controller.daemon.writer import Released
from controller.history.memory import Memory
from controller.history.replay import replay
from controller.history.sealing import CardSealer
from controller.history.snapshot import Opening
from controller.rules.engine.state import Phase
from hw_sim.clock import MS, SECOND
from hw_sim.scenario import find, load
from record.journal import Journal, JournalError, Record
from record.journal.format import HEADER_BYTES, decode_head
from record.verify_journal import verify as verify_alone
from tests.crash.forking import ForkingDisk, Forks
from tests.record.journal.simdisk import Inode, SimDisk
from tests.sim.table import FOLDER, KEY, TODAY, VirtualTable, differences

ROUNDS: Final = (
    "mbs3-plain",
    "pp6-plain",
    "nsw-shoe-plain",
    "nsw-shuffler-plain",
    "mega-plain",
    "rico-plain",
)
SMALL: Final = 16 << 10
"""A segment so small that a round needs several."""
IN_PLAY: Final = (Phase.DEALING, Phase.DECISION_1, Phase.ACTION)


class Case(NamedTuple):
    name: str
    at: int
    seed: int

    def wrong(self, what: str) -> str:
        return f"{self.name}, {self.at}, seed {self.seed}: {what}"


@cache
def calls_of(name: str) -> tuple[str, ...]:
    """The disk calls of the round when nothing happens, in order."""
    table = VirtualTable(load(find(name)))
    table.play()
    return tuple(table.disk.log)


def numbers_of(name: str, kind: str) -> list[int]:
    """At which calls the disk is asked for this, from 1."""
    return [n for n, call in enumerate(calls_of(name), 1) if call == kind]


def played(table: VirtualTable) -> list[str]:
    """To the end; what is not as the scenario says."""
    try:
        table.play()
    except AssertionError as error:
        return [str(error)]
    return ended(table)


def ended(table: VirtualTable) -> list[str]:
    history = table.writer.core.state.history
    expected = table.scenario.rounds
    problems = [] if len(history) == len(expected) else [f"{len(history)} rounds"]
    for one, archive in zip(expected, history, strict=False):
        problems += differences(one, archive.result)
    return problems


@dataclass(frozen=True)
class Proof:
    """Something that happens at a call to the disk, and how all must be well afterwards."""

    name: str
    calls: str = ""
    """The calls it happens at; empty for all."""
    left_by: Callable[[SimDisk, Random], SimDisk] = SimDisk.after_cut
    fails: bool = False
    """The call fails instead of being the last one."""
    day: bool = False
    """The gaming day is closed after the round, and it happens there."""

    def table(self, name: str, seed: int, disk: SimDisk, cut_at: int = 0) -> VirtualTable:
        return VirtualTable(
            load(find(name)), cut_at, seed, disk, left_by=self.left_by, goes_on=self.fails
        )

    def numbers(self, name: str) -> Sequence[int]:
        if self.day:
            return day_calls(name)
        return numbers_of(name, self.calls) if self.calls else range(1, len(calls_of(name)) + 1)

    def wrong(self, table: VirtualTable, at: Callable[[], int]) -> list[str]:
        """Play to the end; ``at`` is the call at which it happened, once it has."""
        late: list[int] = []

        def released(_: Released) -> None:
            if self.fails and table.starts == 1 and 0 < at() <= table.disk.calls:
                late.append(table.disk.calls)

        table.on_released = released
        problems = played(table)
        if self.day:
            problems += _closed_once(table)
        if not self.fails and table.cuts != 1:
            problems.append(f"{table.cuts} cuts")
        if self.fails and "E-JRN-030" not in table.failed:
            problems.append(f"it went on: {table.failed or 'no failure'}")
        if late:
            problems.append(f"released after it failed, at calls {late}")
        return problems


POWER: Final = Proof("power")
"""Of what was not synced a random part survives."""
KILLED: Final = Proof("killed", "write", lambda disk, _: disk.after_kill())
"""The machine lives on: everything written is there."""
SYNC: Final = Proof("sync", "sync", fails=True)
"""Fails once: the process stops, nothing leaves it afterwards, the next one ends the round."""
DAY: Final = Proof("day", day=True)
"""The gaming day is closed once, and adds up to its records."""


def happens(proof: Proof, case: Case) -> str:
    """One case by itself; empty if all was well."""
    disk = SimDisk()
    if proof.fails:
        disk.fail_at = {case.at: errno.EIO}
    table = proof.table(case.name, case.seed, disk, 0 if proof.fails else case.at)
    problems = proof.wrong(table, lambda: case.at)
    return case.wrong("; ".join(problems)) if problems else ""


class _FailingForks(ForkingDisk):
    """The call fails in the child."""

    def happens_at(self, number: int) -> None:
        self.fail_at = {number: errno.EIO}


def happens_everywhere(
    proof: Proof, name: str, seed: int, wanted: Collection[int], jobs: int
) -> list[str]:
    """All these cases from one run of the round: what comes before each is played once."""
    forks = Forks(jobs, wanted.__contains__)
    disk = (_FailingForks if proof.fails else ForkingDisk)(forks.fork)
    table = proof.table(name, seed, disk)
    try:
        problems = proof.wrong(table, lambda: forks.child)
    except BaseException as error:
        if not forks.child:
            raise
        problems = [f"{type(error).__name__}: {error}"]
    if forks.child:
        case = Case(name, forks.child, seed)
        forks.end_child(case.wrong("; ".join(problems)) if problems else "")
    said = dict(forks.collect())
    assert said.keys() == set(wanted), "a case was not played"
    return [text for text in said.values() if text]


# --- the file is cut short ---------------------------------------------------------------------


def last_segment(disk: SimDisk) -> tuple[str, bytes]:
    name = max(name for name in disk.names_seen if name.endswith(".ufj"))
    return name, bytes(disk.names_seen[name].seen)


def last_record(data: bytes) -> tuple[int, int]:
    """From where to where the last record of a segment stands."""
    at, start = HEADER_BYTES, HEADER_BYTES
    while head := decode_head(data, at):
        start, at = at, at + head.length
    return start, at


def shortened(disk: SimDisk, size: int) -> SimDisk:
    """The same disk, its last segment truncated to this size."""
    name, data = last_segment(disk)
    fresh = disk.after_kill()
    fresh.names_seen = {n: Inode(i.seen[:], i.seen[:]) for n, i in disk.names_seen.items()}
    fresh.names_seen[name] = Inode(bytearray(data[:size]), bytearray(data[:size]))
    fresh.names_durable, fresh.changes = dict(fresh.names_seen), []
    return fresh


def middle_of(name: str, seed: int) -> int:
    """A write from the second half of the round, chosen by the seed."""
    writes = numbers_of(name, "write")
    return Random(f"{seed} {name}").choice(writes[len(writes) // 2 : -2])


def _at_the_cut(case: Case) -> SimDisk:
    """The disk of a table that was killed at this call, with all that was written."""
    kept: list[SimDisk] = []

    def keep(disk: SimDisk, _: Random) -> SimDisk:
        kept.append(shortened(disk, len(last_segment(disk)[1])))
        return disk.after_kill()

    VirtualTable(load(find(case.name)), case.at, case.seed, left_by=keep).play()
    return kept[0]


def _read(disk: SimDisk) -> tuple[list[Record], str]:
    journal = Journal.open(
        FOLDER, table="crash", disk=disk, create=False, now_ms=1, segment_bytes=SMALL
    )
    try:
        return list(journal.records()), journal.journal_id
    finally:
        journal.close()


def _memory(name: str, records: list[Record], journal_id: str) -> Memory:
    scenario = load(find(name))
    opening = Opening(scenario.game, scenario.settings, TODAY.isoformat())
    return replay(records, CardSealer(KEY, journal_id, Random(0).randbytes), opening).memory


def truncated(case: Case) -> tuple[int, list[str]]:
    """The last segment cut at every byte of its last record: the table stands before it.

    How many offsets, and what is wrong.
    """
    disk = _at_the_cut(case)
    data = last_segment(disk)[1]
    start, end = last_record(data)
    whole, journal_id = _read(shortened(disk, len(data)))
    expected = _memory(case.name, whole[:-1], journal_id).snapshot()
    wrong = []
    for size in range(start, end):
        records, _ = _read(shortened(disk, size))
        repairs = [r for r in records[len(whole) - 1 :] if r.kind == "repair"]
        found = _memory(case.name, records, journal_id).snapshot()
        if found != expected or records[: len(whole) - 1] != whole[:-1] or len(repairs) != 1:
            wrong.append(case.wrong(f"cut to {size} bytes: the table does not stand where it did"))
    return end - start, wrong


def truncated_and_played(case: Case, keep: int) -> str:
    """So many bytes of the last record are left; the round is played to its end."""

    def left_by(disk: SimDisk, _: Random) -> SimDisk:
        start, end = last_record(last_segment(disk)[1])
        return shortened(disk, start + keep % (end - start))

    return happens(replace(KILLED, left_by=left_by), case)


# --- a bit flips -------------------------------------------------------------------------------


def flipped(name: str, copies: int, seed: int) -> tuple[int, int]:
    """One random bit in so many copies of a round's journal: how many the journal refuses to open,
    and how many the auditor's verifier finds."""
    table = VirtualTable(load(find(name)), segment=SMALL)
    table.play()
    random = Random(f"{seed} {name}")
    refused = found = 0
    with TemporaryDirectory(prefix="underfelt-flips-") as place:
        folder = Path(place)
        for file, inode in table.disk.names_seen.items():
            (folder / file).write_bytes(inode.seen)
        files = sorted(folder.glob("*.ufj"))
        for _ in range(copies):
            path = random.choices(files, [p.stat().st_size for p in files])[0]
            sound = path.read_bytes()
            bit = random.randrange(len(sound) * 8)
            broken = bytearray(sound)
            broken[bit // 8] ^= 1 << bit % 8
            path.write_bytes(broken)
            refused += _refuses(folder)
            found += not verify_alone(folder)["ok"]
            path.write_bytes(sound)
        assert verify_alone(folder)["ok"]
    return refused, found


def _refuses(folder: Path) -> bool:
    try:
        Journal.open(folder, table="crash", create=False, now_ms=1).close()
    except JournalError:
        return True
    return False


# --- the gaming day is closed ------------------------------------------------------------------


def day_calls(name: str) -> range:
    """The disk calls from the end of the round to the closed gaming day."""
    table = VirtualTable(load(find(name)))
    table.play()
    _announce(table)
    before = table.disk.calls
    _close_the_day(table)
    return range(before + 1, table.disk.calls + 1)


def _announce(table: VirtualTable) -> None:
    """NSW-14.8: a table with players closes only when its sign has stood long enough."""
    rules = table.writer.core.state.rules
    if rules.book.closing_clause:
        for pause_us in table.director.dealer.menu("72", "2"):
            table.run_for(pause_us)
        table.run_for(10 * SECOND + rules.table.notice_ms * MS)
        assert "closing" in table.writer.core.state.signs


def _close_the_day(table: VirtualTable) -> None:
    """The supervisor looks whether it took, as people do, and calls again if it did not."""
    dealer = table.director.dealer
    for _ in range(4):
        for pause_us in dealer.supervisor_menu("85"):
            table.run_for(pause_us)
        table.run_for(10 * SECOND)
        if table.writer.core.table_closed:
            return


def _closed_once(table: VirtualTable) -> list[str]:
    """Close the day; what is not as it should be."""
    _announce(table)
    _close_the_day(table)
    records = list(table.journal.records())
    closes = sum(r.kind == "table-call" for r in records)
    closed = [one for one in days(iter(records), whole=True) if one.seq is not None]
    if (closes, len(closed)) != (1, 1):
        return [f"{closes} closing calls, {len(closed)} days"]
    (one,) = closed
    problems = one.differences if one.made is not None else ["not recomputed"]
    if one.day.rounds.settled != len(table.scenario.rounds):
        problems.append(f"{one.day.rounds.settled} rounds in the day")
    return problems


# --- the disk is full --------------------------------------------------------------------------


def disk_full(name: str, seed: int) -> str:
    """No room from the deal on: the round ends, no other opens, and with room play goes on."""
    case = Case(name, 0, seed)
    table = VirtualTable(load(find(name)), seed=seed, segment=SMALL)

    def released(_: Released) -> None:
        if table.starts and table.writer.core.state.phase in IN_PLAY:
            table.disk.room = sum(len(i.seen) for i in table.disk.names_seen.values())

    table.on_released = released
    # Then the people would wait for a prompt that does not come.
    table.play(until=lambda: bool(table.results) and table.journal.full)
    problems = ended(table)
    if not table.journal.full:
        problems.append("the disk was never full")
    _press(table, "OPEN", until=lambda: False)
    state = table.writer.core.state
    if state.phase is not Phase.IDLE or state.round_no != len(table.scenario.rounds):
        problems.append(f"a round was opened: {state.phase.value}")
    if table.writer.core.credits.enabled(state, closing=False):
        problems.append("an acceptor takes credits")
    if (said := " ".join(table.bench.sim.prompt()[2].split())) != "DISK FULL: NO ROUND":
        problems.append(f"the prompt says {said!r}")
    table.disk.room = 1 << 40
    _press(table, "OPEN", until=lambda: table.writer.core.state.phase is Phase.BETTING)
    if table.writer.core.state.phase is not Phase.BETTING:
        problems.append("with room again no round opens")
    return case.wrong("; ".join(problems)) if problems else ""


def _press(table: VirtualTable, key: str, until: Callable[[], Any]) -> None:
    """Again and again for some time, whatever else the table asks for being done."""
    dealer = table.director.dealer
    for _ in range(12):
        words = [word for word in dealer.words() if word != "WAIT"] or [key]
        for pause_us in dealer.act(words):
            table.run_for(pause_us)
        table.run_for(SECOND)
        if until():
            return
