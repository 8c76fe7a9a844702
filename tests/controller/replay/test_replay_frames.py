"""Bytes beside the facts they led to: those of the very antenna, from no more files than needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from controller.commands import replay as command
from controller.commands import replay_logs
from controller.config.keys import load_key
from controller.history.framelog import FrameLog, LoggedFrame, read_frames
from controller.history.sealing import TableKey
from controller.replay.chips import chip_lines
from controller.replay.frames import Antennas, StartLog, join
from controller.replay.screen import frames_page
from controller.replay.timeline import FrameLine, Moment, build
from drivers.feig.commands import Command, Request, inventory, mux_select, to_bytes
from drivers.layout import load as load_layout
from hw_sim.scenario import find, load
from record.frame_files import FrameFolder
from tests.replays.playing import LoggedPeople

Capture = pytest.CaptureFixture[str]
HOUR_US = 3_600_000_000


@pytest.fixture(scope="module")
def people() -> LoggedPeople:
    found = LoggedPeople(load(find("mbs3-plain")))
    found.play()
    return found


def logged(people: LoggedPeople) -> StartLog:
    rows = [
        LoggedFrame(n, at_us, name, way, False, data)
        for n, (name, way, data, at_us) in enumerate(people.frames, 1)
    ]
    return StartLog(rows[0].at_us // 1000, rows[-1].at_us // 1000, rows)


def antennas(people: LoggedPeople) -> Antennas:
    spots = load_layout(people.scenario.layout_path).spots
    return {spot: antenna for antenna, spot in spots.items()}


def wager(moments: list[Moment], what: str) -> Moment:
    (found,) = [m for m in moments if m.what == what]
    return found


def test_beside_a_wager_stand_the_answers_of_its_own_antenna(people: LoggedPeople) -> None:
    timeline = build(list(people.journal.records()), 1)
    assert join(timeline, [logged(people)], antennas(people)) == ""
    for what, count in (("Seat 2: 25.00 is on $", 1), ("Seat 2: 0.00 is on wager 1", 0)):
        moment = wager(timeline.moments, what)
        assert moment.place is not None
        own = antennas(people)[moment.place]
        chips = "1 chip" if count else "no chips"
        assert {frame.label.partition(":")[0] for frame in moment.frames} == {
            f"antenna {own.mux}/{own.channel}"
        }
        assert moment.frames[-1].label.endswith(f": {chips}")
        assert {frame.direction for frame in moment.frames} == {"in"}
        assert moment.frames_more > len(moment.frames)


def test_without_the_layout_they_are_those_of_every_antenna(people: LoggedPeople) -> None:
    timeline = build(list(people.journal.records()), 1)
    join(timeline, [logged(people)], {})
    moment = wager(timeline.moments, "Seat 2: 25.00 is on $")
    assert all(frame.label.startswith("antenna ") for frame in moment.frames)
    assert len({frame.label.partition(":")[0] for frame in moment.frames}) > 1


def test_a_moment_without_a_line_misses_no_bytes(people: LoggedPeople) -> None:
    timeline = build(list(people.journal.records()), 1)
    linked = replace(timeline, moments=[m for m in timeline.moments if m.device == "link"])
    assert linked.moments
    later = StartLog(10**12, 10**12 + 1)
    assert join(linked, [later], {}) == ""
    missing = join(timeline, [later], {})
    assert "no longer reaches" in missing
    none = "no bytes of a serial line belong to this moment"
    assert frames_page(linked.moments[0], missing)[-1] == none
    assert frames_page(wager(timeline.moments, "Seat 2: 25.00 is on $"), missing)[-1] == missing


def test_bytes_of_a_reader_in_words() -> None:
    tag = bytes.fromhex("01 03 00 e0 04 01 03 00 00 00 02")

    def line(way: str, request: Request) -> FrameLine:
        return FrameLine(0, "chips-1", way, to_bytes(request, 1).hex(" "))

    lines = [
        line("out", mux_select(4, 2)),
        line("in", Request(Command.MUX_SELECT, b"\0")),
        line("out", inventory()),
        line("in", Request(Command.HOST, b"\0" + tag)),
        line("in", Request(Command.HOST, b"\x01")),
        line("in", Request(Command.HOST, b"\x0b")),
        FrameLine(0, "chips-1", "in", "02 00 13"),
    ]
    assert [one.label for one in chip_lines(lines)] == [
        "mux select", "mux select", "host", "antenna 4/2: 1 chip", "antenna 4/2: no chips",
        "antenna 4/2: E-FEIG-022", "",
    ]  # fmt: skip


# --- a log of hours ------------------------------------------------------------------------------


@pytest.fixture
def hours(people: LoggedPeople, tmp_path: Path) -> Path:
    """The round's frames in the first of several files; the others are hours later."""
    people.save(tmp_path)
    folder = FrameFolder(tmp_path / "frames")
    key = load_key(tmp_path / "sealing.key")
    (number,) = folder.numbers()
    own = list(read_frames(folder.file(number).read_bytes(), key))
    folder.file(number).unlink()
    size = sum(len(one.data or b"") + 60 for one in own)
    log = FrameLog(
        folder.open_new, folder.remove, key, Random(2).randbytes,
        sealed=frozenset({"shoe"}), max_bytes=size, keep=99,
    )  # fmt: skip
    for hour in range(3):
        for one in own:
            log.note(one.device, one.direction, one.data or b"", one.at_us + hour * HOUR_US)
    log.close()
    assert len(folder.numbers()) >= 2
    return tmp_path


def told(capsys: Capture, folder: Path) -> tuple[list[str], list[dict[str, object]]]:
    journal = str(folder / "journal")
    assert command.run(["1", "--plain", "--journal", journal]) == 0
    notes = [one for one in capsys.readouterr().out.splitlines() if one.startswith("note: ")]
    assert command.run(["1", "--json", "--journal", journal]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()[:-1]]
    return notes, [frame for row in rows for frame in row["frames"]]


def test_only_files_that_reach_the_round_are_read(
    hours: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    folder = FrameFolder(hours / "frames")

    def counted(data: bytes, key: TableKey | None = None) -> Iterator[LoggedFrame]:
        read.append(len(data))
        return read_frames(data, key)

    monkeypatch.setattr(replay_logs, "read_frames", counted)
    last = folder.file(folder.numbers()[-1])
    data = bytearray(last.read_bytes())
    data[len(data) // 2] ^= 1
    last.write_bytes(data)
    notes, frames = told(capsys, hours)
    assert notes == []
    assert len(frames) > 20
    assert len(read) == 2, "one file, for two replays"


def test_a_damaged_file_of_the_round_is_said(hours: Path, capsys: Capture) -> None:
    first = FrameFolder(hours / "frames").file(1)
    data = bytearray(first.read_bytes())
    data[len(data) // 4] ^= 1
    first.write_bytes(data)
    (note,) = told(capsys, hours)[0]
    assert note.startswith("note: frame log: frames-00000001.bin: ")
    assert "E-FLOG-003" in note


def test_a_log_that_cannot_be_looked_into_is_not_told_as_missing(
    people: LoggedPeople, tmp_path: Path, capsys: Capture
) -> None:
    people.save(tmp_path)
    (tmp_path / "frames").rename(tmp_path / "away")
    (tmp_path / "frames").write_text("no folder", "ascii")
    assert told(capsys, tmp_path)[0] == ["note: frame log: Not a directory"]
