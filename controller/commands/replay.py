"""``underfelt replay``: a past round, moment by moment, for a dispute at the table."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from controller.commands.ending import ends
from controller.commands.replay_logs import read_logs
from controller.config.keys import load_key
from controller.config.live import line_kinds, load_live
from controller.history.replay import NO_START as REFERS_BACK
from controller.history.sealing import CardSealer, TableKey
from controller.replay import screen
from controller.replay.cards import closed_cards
from controller.replay.compare import compare
from controller.replay.felt import SeatRow, card_text
from controller.replay.finding import NotThere, rounds_in
from controller.replay.frames import Antennas, join
from controller.replay.jump import NoMoment, clock, exact, to_moment
from controller.replay.player import Player
from controller.replay.screen import COLUMNS
from controller.replay.timeline import Moment, Timeline, build
from record.frame_files import FOLDER
from record.journal import JournalCorrupt, Record
from record.journal.reader import JournalReader
from record.kit.arguments import Arguments, add_config
from record.kit.places import TABLE
from record.kit.terminal import draw
from record.kit.verbs import Stop
from record.kit.words import counted

UNDER_WAY: Final = "E-RPY-004"
OTHER_KEY: Final = "E-SEAL-004"
RECENT: Final = 20_000
"""Records that are read first: the last hours of a table."""
LAST: Final = "last"
EPILOG: Final = """\
Keys: SPACE or RIGHT next, LEFT back, p play, j jump (03:12:45, #80, seat 3,
decision of seat 3, cards, dispute, settlement), / find, n find again, s compare with
settle, f bytes of the moment, a all of the moment, q quit. Without a
terminal, on a dumb one, or with --plain, the whole round is printed.

Replaying changes nothing and does not disturb a running table. Cards that never
became public stay masked. --key opens the device bytes of cards that did.
--closed-cards shows the others too, marked NEVER PUBLIC: for an investigation
with a written order, never beside a player, never while the round is under way
(docs/operations/dispute.md).

exit codes: 0 replayed and equal, 65 the replay or the settlement differs, 66 no
such round or file, 77 not allowed

examples:
  underfelt replay 1042 --config /etc/underfelt/table-7/table.toml
  underfelt replay last --journal /var/lib/underfelt/table-7/journal
  underfelt replay 1042 --config table.toml --at 03:12:45 --seat 3
  underfelt replay 1042 --config table.toml --plain > round-1042.txt
  underfelt replay 1042 --config table.toml --key sealing.key --json
"""


@dataclass(frozen=True, slots=True)
class ReplayPlace:
    """Where the table keeps its evidence, and which antenna reads which spot."""

    journal: Path
    antennas: Antennas


@ends("replay")
def run(argv: list[str]) -> int:
    options = _parser().parse_args(argv)
    try:
        return _replay(options)
    except (NotThere, NoMoment) as error:
        raise Stop(str(error), os.EX_NOINPUT) from None


def _parser() -> Arguments:
    parser = Arguments("underfelt replay", "A past round, moment by moment.", EPILOG)
    parser.add_argument("round", metavar="ROUND", type=_round, help="its number, or last")
    add_config(parser, TABLE, "the table's configuration", "journal")
    parser.add_argument(
        "--journal", metavar="DIR", type=Path, help="its journal, instead of --config"
    )
    parser.add_argument("--key", metavar="FILE", type=Path, help="the table's sealing key")
    parser.add_argument(
        "--closed-cards", action="store_true", help="cards that never became public (needs --key)"
    )
    parser.add_argument("--at", metavar="MOMENT", help="begin at (print only) this moment")
    parser.add_argument("--seat", metavar="N", type=int, help="only what concerns this seat")
    parser.add_argument("--plain", action="store_true", help="print it all, without keys")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object per moment, and one that compares"
    )
    return parser


def _round(text: str) -> str:
    if text != LAST and not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a round's number, or last")
    return text


def _replay(options: argparse.Namespace) -> int:
    if bool(options.config) == bool(options.journal):
        raise Stop("expected --config FILE or --journal DIR", os.EX_USAGE)
    if options.closed_cards and options.key is None:
        raise Stop("--closed-cards needs --key FILE", os.EX_USAGE)
    where = _place(options)
    key = None if options.key is None else load_key(options.key)
    timeline, table = _timeline(where.journal, options.round, key, closed=options.closed_cards)
    logs, unread = read_logs(where.journal.parent / FOLDER, timeline, key)
    missing = join(timeline, logs, where.antennas, closed_cards=options.closed_cards)
    missing = unread or missing
    if options.seat is not None:
        if not any(options.seat in moment.seats for moment in timeline.moments):
            raise NoMoment(f"seat {options.seat} is not in round {timeline.round_no}")
        timeline.moments = [m for m in timeline.moments if _concerns(m, options.seat)]
    place = next((i for i, m in enumerate(timeline.moments) if "opening" in m.marks), 0)
    if options.at is not None:
        place = to_moment(timeline.moments, options.at, timeline.utc_offset_min, -1)
    if options.json or options.plain or not _screen():
        chosen = timeline.moments if options.at is None else [timeline.moments[place]]
        for line in (
            _rows(timeline, chosen, missing)
            if options.json
            else _text(timeline, chosen, missing, table)
        ):
            print(line)
    else:
        from controller.commands.replay_terminal import play

        play(Player(timeline, table, missing, place))
    return _verdict(timeline)


def _screen() -> bool:
    """Is there a terminal on both sides that can be drawn upon?"""
    drawn = os.environ.get("TERM", "dumb") != "dumb"
    return drawn and sys.stdin.isatty() and sys.stdout.isatty()


def _verdict(timeline: Timeline) -> int:
    wrong = compare(timeline).differences
    if timeline.diverged is not None and timeline.under_way:
        wrong = (f"the replay diverges: {timeline.diverged}",)
    for one in wrong:
        print(f"underfelt replay: {one}", file=sys.stderr)
    return os.EX_DATAERR if wrong else os.EX_OK


def _concerns(moment: Moment, seat: int) -> bool:
    """What names the seat, and what concerns everybody."""
    return seat in moment.seats or not moment.seats


def _place(options: argparse.Namespace) -> ReplayPlace:
    if options.journal is not None:
        return ReplayPlace(options.journal, {})
    config = load_live(options.config, line_kinds())
    antennas = {spot: antenna for antenna, spot in config.layout.spots.items()}
    return ReplayPlace(config.journal.path, antennas)


# --- reading -------------------------------------------------------------------------------------


def _timeline(
    folder: Path, wanted: str, key: TableKey | None, *, closed: bool
) -> tuple[Timeline, str]:
    """From the last records if the round is among them, else from all."""
    for last in (RECENT, None):
        reader, records = _records(folder, last)
        report = reader.report()
        try:
            number = _number(wanted, records)
            sealer = None if key is None else CardSealer(key, report.journal_id)
            timeline = build(records, number, sealer, progress=_progress)
            _progress(0, 0)
            if timeline.diverged is not None and timeline.diverged.code == REFERS_BACK and last:
                continue
            if timeline.diverged is not None and timeline.diverged.code == OTHER_KEY:
                raise Stop(f"--key: {timeline.diverged}", os.EX_DATAERR)
            if closed and sealer is not None:
                if timeline.under_way:
                    said = f"round {number} is under way: closed cards stay closed ({UNDER_WAY})"
                    raise Stop(said, os.EX_NOPERM)
                own = {moment.seq for moment in timeline.moments}
                timeline = build(records, number, sealer, closed_cards(records, sealer, own))
        except NotThere:
            if last is None or report.first_seq == 1:
                raise
        else:
            return timeline, report.table
    raise AssertionError("all records were read")


def _progress(done: int, of: int) -> None:
    """On a terminal: how far it is; 0 of 0 takes the line away again."""
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        said = f"\r{done:,} of {counted(of, 'record')}" if of else "\r\x1b[K"
        draw(said, sys.stderr)


def _records(folder: Path, last: int | None) -> tuple[JournalReader, list[Record]]:
    """Twice if need be: a group that is just being written may look like anything."""
    try:
        reader = JournalReader(folder, last=last)
        return reader, list(reader.records())
    except JournalCorrupt:
        reader = JournalReader(folder, last=last)
        return reader, list(reader.records())


def _number(wanted: str, records: Sequence[Record]) -> int:
    if wanted != LAST:
        return int(wanted)
    numbers = rounds_in(records)
    if not numbers:
        raise NotThere("E-RPY-001", "no round in this journal yet")
    return numbers[-1]


# --- printing ------------------------------------------------------------------------------------


def _text(timeline: Timeline, moments: Sequence[Moment], missing: str, table: str) -> Iterator[str]:
    day = clock(moments[0].at_ms, timeline.utc_offset_min, "%Y-%m-%d")
    offset = clock(moments[0].at_ms, timeline.utc_offset_min, "UTC%z")
    yield f"{table}  {timeline.game}  round {timeline.round_no}  {timeline.status}  {day} {offset}"
    if missing:
        yield f"note: {missing}"
    lay: tuple[SeatRow, ...] = ()
    for moment in moments:
        yield ""
        yield from screen.moment_page(timeline, moment)
        if moment.felt.rows != lay:
            yield "  then on the felt:"
            yield from (f"  {line}" for line in screen.felt_page(moment, COLUMNS - 2) if line)
        lay = moment.felt.rows
    yield ""
    yield from screen.compare_page(compare(timeline))


def _rows(timeline: Timeline, moments: Sequence[Moment], missing: str) -> Iterator[str]:
    for moment in moments:
        row = {
            "round": timeline.round_no,
            "moment": moment.number,
            "seq": moment.seq,
            "at_ms": moment.at_ms,
            "at": exact(moment.at_ms, timeline.utc_offset_min),
            "kind": moment.kind,
            "what": moment.what,
            "by": moment.by,
            "clause": moment.clause or None,
            "seats": sorted(moment.seats),
            "marks": sorted(moment.marks),
            "phase": moment.phase,
            "felt": [one.row() for one in moment.felt.rows],
            "board": [card_text(card) for card in moment.felt.board],
            "bonus": None if moment.felt.bonus is None else card_text(moment.felt.bonus),
            "pot_cents": moment.felt.pot_cents,
            "followed": [{"text": s.text, "clause": s.clause or None} for s in moment.followed],
            "cards": [card._asdict() for card in moment.cards],
            "shown": [shown._asdict() for shown in moment.shown],
            "displays": dict(moment.displays),
            "frames": [frame._asdict() for frame in moment.frames],
            "frames_more": moment.frames_more,
            "state": moment.digest or None,
            "trouble": moment.trouble or None,
        }
        yield json.dumps(row, ensure_ascii=False)
    found = compare(timeline)
    last = {
        "round": timeline.round_no,
        "game": timeline.game,
        "status": timeline.status,
        "compared": found.verdict,
        "equal": None if timeline.under_way else not found.differences,
        "differences": found.differences,
        "diverged": None if timeline.diverged is None else str(timeline.diverged),
        "note": missing or None,
    }
    yield json.dumps(last, ensure_ascii=False)
