"""``underfelt chips``: the house's chip register, from the delivery to the table.

Format, rules and codes: docs/protocols/chip-register.md. With ``--json`` the answer is one JSON
object on standard output, also when it is a refusal; messages for people go to standard error.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

from controller.commands import chips_text as say
from controller.commands.io import InputError, read_lines
from controller.commands.registers import (
    declare_change,
    declare_pubkey,
    keygen,
    roll_out,
    trusted,
)
from controller.registers.chips import bank
from controller.registers.chips.audit import difference, piles, story_of
from controller.registers.chips.batch import parse_uid, read_uid_list
from controller.registers.chips.history import ChipStamp
from controller.registers.chips.layout import MAX_CHIPS, STATUSES, Status, uid_text
from controller.registers.chips.load import LoadedChips, load
from controller.registers.chips.register import ChipRegister
from controller.registers.errors import (
    BatchError,
    Problem,
    SignedError,
    UnreadableError,
)
from controller.registers.keys import load_public, load_secret
from controller.registers.kinds import CHIPS
from record.kit.verbs import Answer, Command, Misuse, Stop, Verb, add_json

MAX_INPUT_BYTES: Final = 128 * MAX_CHIPS
STATUS_WORDS: Final[dict[str, Status]] = {status.replace(" ", "-"): status for status in STATUSES}


def now() -> int:
    return int(time.time())


# --- import, mark ------------------------------------------------------------------------------


def _declare_change(parser: argparse.ArgumentParser) -> None:
    declare_change(parser)
    parser.add_argument("--dry-run", action="store_true", help="only report what would change")


def _declare_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    parser.add_argument("batch", metavar="BATCH.csv", help="uid,value,class,series; - for stdin")
    _declare_change(parser)
    parser.add_argument("--reason", metavar="TEXT", default="", help="such as the delivery note")
    parser.add_argument("--new", metavar="HOUSE", help="start a new register of this house")
    parser.add_argument(
        "--chips-of", metavar="HOUSE", help="chips of another house: known, never counted"
    )


def _import(arguments: argparse.Namespace) -> Answer:
    path = Path(arguments.register)
    key = load_secret(CHIPS, Path(arguments.key))
    done = bank.import_batch(
        path,
        bank.Batch(arguments.batch, _read(arguments.batch), arguments.chips_of),
        key,
        ChipStamp(arguments.by, arguments.reason, now()),
        new_house=arguments.new,
        rehearse=arguments.dry_run,
    )
    count = sum(done.added.values())
    would = "would import" if arguments.dry_run else "imported"
    said = f"{path}: version {done.version}: {would} {say.chips_text(count)}"
    row = {"register": str(path), "version": done.version, "written": done.written}
    row |= {"imported": count, "piles": say.piles_json(done.added)}
    return os.EX_OK, row, f"{said}\n{say.piles_text(done.added)}"


def _declare_mark(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    parser.add_argument("uids", metavar="UID", nargs="*", help="one or more chips")
    parser.add_argument("status", metavar="STATUS", choices=STATUS_WORDS, help=_STATUS_HELP)
    parser.add_argument("--file", metavar="LIST", help="one UID a line; - for stdin")
    _declare_change(parser)
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why, for the history")


_STATUS_HELP: Final = ", ".join(STATUS_WORDS)


def _mark(arguments: argparse.Namespace) -> Answer:
    if not arguments.uids and not arguments.file:
        raise Misuse("which chips? give UIDs or --file LIST")
    path = Path(arguments.register)
    key = load_secret(CHIPS, Path(arguments.key))
    uids = [_uid(text) for text in arguments.uids]
    if arguments.file:
        uids += read_uid_list(_read(arguments.file), arguments.file)
    status = STATUS_WORDS[arguments.status]
    stamp = ChipStamp(arguments.by, arguments.reason, now())
    done = bank.mark(path, uids, status, key, stamp, rehearse=arguments.dry_run)
    verb = "would mark" if arguments.dry_run else "marked"
    said = [f"{path}: version {done.version}: {verb} {say.chips_text(len(done.marked))} {status}"]
    said += [f"  {uid}: already {status}" for uid in done.already]
    row = {"register": str(path), "version": done.version, "written": done.written}
    lists = {"status": status, "marked": list(done.marked), "already": list(done.already)}
    return os.EX_OK, row | lists, "\n".join(said)


def _uid(text: str) -> bytes:
    uid = parse_uid(text)
    if uid is None:
        said = "expected a UID, 1 to 16 bytes in pairs of hex digits"
        raise BatchError(Problem("E-CHIP-021", said, field="uid", value=text))
    return uid


def _read(path: str) -> bytes:
    """A batch or list; bounded, because what a person names by mistake may be anything."""
    pieces: list[bytes] = []
    size = 0
    try:
        for line in read_lines(path):
            pieces.append(line)
            size += len(line)
            if size > MAX_INPUT_BYTES:
                said = f"more than {MAX_INPUT_BYTES:,} bytes"
                raise BatchError(Problem("E-CHIP-013", said, path))
    except InputError as error:
        raise UnreadableError(Problem("E-CHIP-050", str(error))) from None
    return b"".join(pieces)


# --- show, check, diff, export -----------------------------------------------------------------


def _loaded(arguments: argparse.Namespace, *paths: str) -> list[LoadedChips]:
    public_key = trusted(CHIPS, "chips", arguments.pubkey, paths)
    return [load(Path(path), public_key) for path in paths]


def _declare_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    parser.add_argument("uid", metavar="UID")
    declare_pubkey(parser, required=False)


def _show(arguments: argparse.Namespace) -> Answer:
    uid = _uid(arguments.uid)
    (loaded,) = _loaded(arguments, arguments.register)
    chip = ChipRegister(loaded).find(uid_text(uid))
    if chip is None:
        where = f"not in version {loaded.head.version} of the register"
        raise BatchError(Problem("E-CHIP-028", where, arguments.register, 0, "uid", uid_text(uid)))
    story = story_of(chip, loaded, arguments.register)
    row = say.chip_json(chip) | {"history": [say.entry_json(entry) for entry in story]}
    told = [say.chip_text(chip), *(f"  {say.entry_text(entry)}" for entry in story)]
    return os.EX_OK, row, "\n".join(told)


def _declare_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    declare_pubkey(parser, required=True)
    parser.add_argument("--at-least", metavar="VERSION", type=int, default=0, help="not older")


def _check(arguments: argparse.Namespace) -> Answer:
    public_key = load_public(CHIPS, Path(arguments.pubkey))
    loaded = bank.audited(Path(arguments.register), public_key, arguments.at_least)
    counted = piles(ChipRegister(loaded))
    row = say.head_json(loaded.head) | {"piles": say.piles_json(counted)}
    said = (
        f"{arguments.register}: {say.head_text(loaded.head)}\n"
        "signature, length, hashes, order, duplicates, history: all correct\n"
        f"{say.piles_text(counted)}"
    )
    return os.EX_OK, row, said


def _declare_diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    declare_pubkey(parser, required=False)


def _diff(arguments: argparse.Namespace) -> Answer:
    old, new = _loaded(arguments, arguments.old, arguments.new)
    found = difference(old, new, arguments.new)
    row: dict[str, Any] = {
        "old": say.head_json(old.head),
        "new": say.head_json(new.head),
    }
    said = (
        f"{arguments.old}: {say.head_text(old.head)}\n"
        f"{arguments.new}: {say.head_text(new.head)}\n{say.difference_text(found)}"
    )
    return os.EX_OK if found.sound else os.EX_DATAERR, row | say.difference_json(found), said


def _declare_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("register", metavar="REGISTER")
    parser.add_argument("--csv", action="store_true", help="CSV on standard output, the default")
    declare_pubkey(parser, required=False)


def _export(arguments: argparse.Namespace) -> Answer:
    if arguments.csv and arguments.json:
        raise Misuse("--csv or --json, not both")
    register = ChipRegister(*_loaded(arguments, arguments.register))
    if arguments.json:
        return os.EX_OK, {"chips": [say.chip_json(chip) for chip in register]}, ""
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    write(["uid", "value", "class", "series", "house", "status", "added_in", "marked_in"])
    for c in register:
        write([c.uid, c.cents, c.kind, c.series, c.house, c.status, c.added_in, c.marked_in])
    return os.EX_OK, {}, ""


VERBS: Final = {
    "keygen": keygen(
        CHIPS,
        "chip bank",
        "make the house's pair of keys",
        "keygen --secret chips.key --public chips.pub",
    ),
    "import": Verb(
        _declare_import,
        _import,
        "add a manufacturer's batch of chips",
        "import house.chips batch-17.csv --key chips.key --by k.lee",
    ),
    "mark": Verb(
        _declare_mark,
        _mark,
        "mark chips stolen, retired or in play again",
        "mark house.chips E004010012345678 stolen --reason 'report 4711' --by m.ng --key chips.key",
    ),
    "show": Verb(
        _declare_show,
        _show,
        "show one chip with its history",
        "show house.chips E004010012345678 --pubkey chips.pub",
    ),
    "check": Verb(
        _declare_check,
        _check,
        "verify a register and count what is in it",
        "check house.chips --pubkey chips.pub",
    ),
    "diff": Verb(
        _declare_diff,
        _diff,
        "what changed from one register to another",
        "diff table.chips house.chips --pubkey chips.pub",
    ),
    "roll-out": roll_out(
        CHIPS,
        bank.roll_out,
        "roll-out house.chips --to /var/lib/underfelt/house.chips --pubkey chips.pub",
    ),
    "export": Verb(
        _declare_export,
        _export,
        "all chips as CSV or JSON",
        "export house.chips --csv > chips.csv",
    ),
}

COMMAND: Final = Command(
    "chips",
    "The house's signed chip register.",
    VERBS,
    common=add_json,
    stops={
        SignedError: lambda error: Stop(
            str(error), error.exit_code, [say.problem_json(p) for p in error.problems]
        )
    },
    intermixed=True,
)
run: Final = COMMAND.run
