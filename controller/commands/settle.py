"""``underfelt settle``: settle one record, or one record per line."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from controller.commands.ending import ends
from controller.commands.io import parse_json, read_input, read_lines
from controller.rules.decode import decode_record
from controller.rules.errors import RecordError
from controller.rules.settle import settle
from record.kit.arguments import Arguments
from record.kit.outside import printable_json
from record.kit.verbs import Stop

_encode = msgspec.json.Encoder().encode


def _encoded(answer: dict[str, Any]) -> bytes:
    """JSON as bytes, for speed; nothing in it moves a cursor."""
    data = _encode(answer)
    if data.isascii() and b"\x7f" not in data:
        return data
    return printable_json(data.decode()).encode()


def settle_text(text: bytes) -> dict[str, Any]:
    return settle(decode_record(parse_json(text)))


@ends("settle")
def run(argv: list[str]) -> int:
    parser = Arguments(
        prog="underfelt settle",
        description="Settle a finished or interrupted round and print what should have been paid.",
        epilog="example: underfelt settle round.json",
    )
    parser.add_argument("file", metavar="FILE", help="the record, or - for standard input")
    parser.add_argument(
        "--lines", action="store_true", help="one record per line in, one result per line out"
    )
    parser.add_argument(
        "--json", action="store_true", help="accepted like everywhere; the output is always JSON"
    )
    arguments = parser.parse_args(argv)
    if arguments.lines:
        return _lines(arguments.file)
    try:
        result = settle_text(read_input(arguments.file))
    except RecordError as error:
        raise Stop(f"{arguments.file}: {error}", os.EX_DATAERR) from None
    sys.stdout.buffer.write(_encoded(result) + b"\n")
    return os.EX_OK


def _lines(path: str) -> int:
    """Answers every line in its place; a bad line does not lose the others."""
    failed = os.EX_OK
    write = sys.stdout.buffer.write
    for number, line in enumerate(read_lines(path), 1):
        try:
            answer = _encoded(settle_text(line.rstrip(b"\r\n")))
        except RecordError as error:
            failed = os.EX_DATAERR
            where = {"code": error.code, "path": error.path, "line": number}
            answer = _encoded({"error": str(error), **where})
            print(f"underfelt settle: {path}: line {number}: {error}", file=sys.stderr)
        write(answer + b"\n")
    return failed
