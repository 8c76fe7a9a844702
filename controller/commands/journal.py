"""``underfelt journal``: verify, read and export a table's journal. Reads only; takes no lock.

Format and codes: docs/protocols/journal.md. With ``--json`` the answer is one JSON object (for
``tail`` one a line), also when it is a refusal; messages for people go to standard error.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
import time
from collections import Counter, deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.commands import journal_day
from record import verify_journal
from record.journal import JournalError, Record
from record.journal.reader import Follower, JournalReader, Report, verify
from record.kit.outside import printable
from record.kit.verbs import Answer, Command, Stop, Verb
from record.kit.words import counted

FOLLOW_EVERY_S: Final = 0.5
pause = time.sleep


def _refused(code: str, file: str, what: str, exit_code: int) -> Stop:
    """The journal is sound, but does not have what was asked for."""
    said = f"{file}: {what} ({code})"
    row = {"code": code, "file": file, "offset": -1, "what": what, "text": said}
    return Stop(said, exit_code, [row])


def _broken(error: JournalError) -> Stop:
    row = {"code": error.code, "file": error.file, "offset": error.offset, "what": error.what}
    return Stop(str(error), error.exit_code, [{**row, "text": str(error)}])


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path, help="the journal's folder")
    parser.add_argument("--json", action="store_true", help="the answer as JSON")


# --- verify --------------------------------------------------------------------------------------


def _declare_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expect",
        metavar="SEQ:HASH",
        action="append",
        default=[],
        type=_witness,
        help="a record's hash that somebody else kept; repeat it for more",
    )


def _witness(text: str) -> tuple[int, str]:
    seq, _, digest = text.partition(":")
    if not seq.isdecimal() or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected SEQ:HASH, 64 hex digits")
    return int(seq), digest


def _verify(arguments: argparse.Namespace) -> Answer:
    """Twice: by the code that writes journals and by the auditor's, which shares nothing with it.

    The table may be writing: the second must find what the first found, and may find more.
    """
    report = verify(arguments.folder)
    expected = dict(arguments.expect)
    if report.records:
        expected.setdefault(report.last_seq, report.head.hex())
    second = verify_journal.verify(arguments.folder, expected)
    if not second["ok"]:  # once more, for the same reason as in ``verify``
        second = verify_journal.verify(arguments.folder, expected)
    if not second["ok"]:
        raise _refused(second["code"], str(second["file"]), second["what"], os.EX_DATAERR)
    row = _report_json(report) | {
        "sealed": second["sealed"],
        "opened": second["opened"],
        "witnessed": len(arguments.expect),
    }
    return os.EX_OK, row, _report_text(arguments.folder, report, row)


def _report_json(report: Report) -> dict[str, Any]:
    return {
        "journal_id": report.journal_id,
        "table": report.table,
        "records": report.records,
        "first_seq": report.first_seq,
        "last_seq": report.last_seq,
        "segments": report.segments,
        "bytes": report.file_bytes,
        "head": report.head.hex(),
        "repairs": list(report.repairs),
        "torn_bytes": report.tail.size,
    }


def _report_text(folder: Path, report: Report, row: dict[str, Any]) -> str:
    span = f"{report.first_seq} to {report.last_seq}" if report.records else "none yet"
    lines = [
        f"{folder}: journal {report.journal_id} of table {printable(report.table)}",
        f"  records {report.records} ({span}), segments {report.segments}",
        f"  head {report.head.hex()}",
        "  check sums, hash chain, numbers, headers, repairs, checkpoints: all hold",
        f"  sealed cards {row['sealed']}, opened as they were sealed {row['opened']}",
    ]
    if report.first_seq > 1:
        lines.append(f"  what came before record {report.first_seq} is past its retention")
    for seq in report.repairs:
        lines.append(f"  record {seq}: a torn write was cut off here")
    if report.tail.torn:
        lines.append(
            f"  {counted(report.tail.size, 'byte')} of a torn write at the end, or the table is"
            " writing; the next start cuts them off and says so"
        )
    if row["witnessed"]:
        lines.append(f"  witnessed hashes that agree: {row['witnessed']}")
    return "\n".join(lines)


# --- tail ----------------------------------------------------------------------------------------


def _declare_tail(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", metavar="N", type=_count, default=10, help="how many (default 10)")
    parser.add_argument(
        "--follow", "-f", action="store_true", help="print new records as they come"
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number, 0 or more")
    return int(text)


def _tail(arguments: argparse.Namespace) -> Answer:
    say = _json_line if arguments.json else _line
    reader = JournalReader(arguments.folder, last=arguments.n)
    for record in deque(reader.records(), maxlen=arguments.n):
        print(say(record))
    if arguments.follow:
        follower = Follower(arguments.folder, reader.report())
        try:
            while True:
                sys.stdout.flush()
                pause(FOLLOW_EVERY_S)
                for record in follower.poll():
                    print(say(record))
        except KeyboardInterrupt:
            pass
    return os.EX_OK, {}, ""


def when(at_ms: int) -> str:
    try:
        return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S") + (
            f".{at_ms % 1000:03}Z"
        )
    except (ValueError, OverflowError, OSError):
        return f"{at_ms} ms"  # a clock that is wrong by millennia is shown unconverted


def _line(record: Record) -> str:
    body = printable(record.body.decode("utf-8", "backslashreplace"))
    return f"{record.seq:>8}  {when(record.at_ms)}  {record.kind:14} {body}"


def _json_line(record: Record) -> str:
    row: dict[str, Any] = {
        "seq": record.seq,
        "at_ms": record.at_ms,
        "kind": record.kind,
        "hash": record.hash.hex(),
    }
    try:
        row["body"] = msgspec.json.decode(record.body)
    except msgspec.DecodeError:
        row["body_base64"] = base64.b64encode(record.body).decode()
    return json.dumps(row)


# --- export-round --------------------------------------------------------------------------------


def _declare_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("round", metavar="ROUND", type=_count, help="the round's number")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--record", action="store_true", help="the record alone, for settle")
    only.add_argument("--result", action="store_true", help="the settled result alone")


class ExportedRound(msgspec.Struct):
    """Body of a record of kind ``round``; what is inside is handed on byte for byte."""

    round_no: int = msgspec.field(name="round")
    record: msgspec.Raw
    result: msgspec.Raw


def _export(arguments: argparse.Namespace) -> Answer:
    """The last one of that number: a correction after the settlement is exported again."""
    found: tuple[Record, ExportedRound] | None = None
    numbers: set[int] = set()
    reader = JournalReader(arguments.folder)
    for record in reader.records():
        if record.kind != "round":
            continue
        body = _round_body(arguments.folder, record)
        numbers.add(body.round_no)
        if body.round_no == arguments.round:
            found = record, body
    if found is None:
        held = f"it has {min(numbers)} to {max(numbers)}" if numbers else "it has none"
        what = f"no round {arguments.round} in this journal; {held}"
        raise _refused("E-JRN-060", str(arguments.folder), what, os.EX_NOINPUT)
    record, body = found
    report = reader.report()
    whole = {
        "round_no": body.round_no,
        "table": report.table,
        "journal_id": report.journal_id,
        "seq": record.seq,
        "hash": record.hash.hex(),
        "at_ms": record.at_ms,
        "record": body.record,
        "result": body.result,
    }
    chosen = body.record if arguments.record else body.result if arguments.result else whole
    print(msgspec.json.format(msgspec.json.encode(chosen), indent=2).decode())
    return os.EX_OK, {}, ""


def _round_body(folder: Path, record: Record) -> ExportedRound:
    try:
        return msgspec.json.decode(record.body, type=ExportedRound)
    except msgspec.DecodeError as error:
        what = f"record {record.seq}: kind round, but {error}"
        raise _refused("E-JRN-061", str(folder), what, os.EX_DATAERR) from None


# --- rounds --------------------------------------------------------------------------------------


def _declare_rounds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", metavar="N", type=_count, default=100, help="so many (default 100)")


def _rounds(arguments: argparse.Namespace) -> Answer:
    """Each as it was last recorded: a correction after the settlement is recorded again."""
    found: dict[int, tuple[int, int]] = {}
    times: Counter[int] = Counter()
    for record in JournalReader(arguments.folder).records():
        if record.kind == "round":
            number = _round_body(arguments.folder, record).round_no
            times[number] += 1
            found[number] = record.at_ms, record.seq
    rows = [
        {"round": number, "at_ms": at_ms, "seq": seq, "recorded": times[number]}
        for number, (at_ms, seq) in sorted(found.items(), reverse=True)[: arguments.n]
    ]
    lines = [f"{row['round']:>8}  {when(row['at_ms'])}  record {row['seq']}" for row in rows]
    return os.EX_OK, {"rounds": rows}, "\n".join(lines) or "no rounds"


# --- stats ---------------------------------------------------------------------------------------


def _declare_stats(_: argparse.ArgumentParser) -> None:
    pass


def _stats(arguments: argparse.Namespace) -> Answer:
    kinds: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    days: Counter[str] = Counter()
    oldest: int | None = None
    newest: int | None = None
    reader = JournalReader(arguments.folder)
    for record in reader.records():
        kinds[record.kind] += 1
        sizes[record.kind] += len(record.body)
        days[when(record.at_ms)[:10]] += 1
        oldest = record.at_ms if oldest is None else min(oldest, record.at_ms)
        newest = record.at_ms if newest is None else max(newest, record.at_ms)
    row = _report_json(reader.report()) | {
        "oldest_ms": oldest,
        "newest_ms": newest,
        "by_kind": {
            kind: {"records": count, "body_bytes": sizes[kind]}
            for kind, count in kinds.most_common()
        },
        "per_day": dict(sorted(days.items())),
    }
    counts = (("records", "record"), ("bytes", "byte"), ("segments", "segment"))
    size = ", ".join(counted(row[key], noun) for key, noun in counts)
    lines = [f"{arguments.folder}: {size}"]
    if oldest is not None and newest is not None:
        lines.append(f"  from {when(oldest)} to {when(newest)}")
    lines += [f"  {kind:14} {n:>10} {sizes[kind]:>12} bytes" for kind, n in kinds.most_common()]
    lines += [f"  {day}     {count:>10}" for day, count in sorted(days.items())]
    return os.EX_OK, row, "\n".join(lines)


# --- day -----------------------------------------------------------------------------------------


def _day(arguments: argparse.Namespace) -> Answer:
    try:
        return journal_day.answer(arguments)
    except journal_day.NoDay as error:
        raise _refused(error.code, str(arguments.folder), str(error), error.exit_code) from None


VERBS: Final = {
    "verify": Verb(
        _declare_verify,
        _verify,
        "check every byte with two programs that share no code",
        "verify /var/lib/underfelt/table-7/journal",
    ),
    "tail": Verb(
        _declare_tail,
        _tail,
        "the last records, a line each; sealed cards as they are stored",
        "tail /var/lib/underfelt/table-7/journal -n 20 --follow",
    ),
    "export-round": Verb(
        _declare_export,
        _export,
        "a round's record and its settled result",
        "export-round /var/lib/underfelt/table-7/journal 1042 --record | underfelt settle -",
    ),
    "rounds": Verb(
        _declare_rounds,
        _rounds,
        "the last rounds, newest first: number, time, record",
        "rounds /var/lib/underfelt/table-7/journal -n 20",
    ),
    "stats": Verb(
        _declare_stats,
        _stats,
        "how many records of which kind, how large, on which days",
        "stats /var/lib/underfelt/table-7/journal --json",
    ),
    "day": Verb(
        journal_day.declare,
        _day,
        "a gaming day's report, recomputed from its records",
        "day /var/lib/underfelt/table-7/journal last --csv",
    ),
}

COMMAND: Final = Command(
    "journal",
    "A table's journal; the table may be running.",
    VERBS,
    common=_common,
    stops={JournalError: _broken},
)
run: Final = COMMAND.run
