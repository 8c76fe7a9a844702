"""``underfelt link journals|alarms|accept|resume|retire`` and ``transfer|decommission``.

What people decide about tables' journals and about pools: proved with passwords, and of record.
"""

from __future__ import annotations

import argparse
import os
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from link.commands.io import (
    add_people,
    add_place,
    control_of,
    listed,
    ordered,
    print_answer,
    table_text,
)
from link.server.replies import AlarmsReply, JournalsReply, ListedJournal
from record.kit.verbs import Stop, Verb
from record.kit.words import counted

_HEAD: Final = ("journal", "table", "state", "events", "why")
_ALARM_HEAD: Final = ("time", "code", "table", "text")
_DIGITS: Final = set("0123456789abcdef")
_LATEST: Final = 100


def _journals(options: argparse.Namespace) -> int:
    rows = _listed(options)
    cells = [(row.journal, row.table, row.state, row.n, row.why) for row in rows]
    return print_answer(options, {"journals": rows}, table_text(_HEAD, cells))


def _declare_alarms(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all", action="store_true", help=f"every alarm of record, not only the last {_LATEST}"
    )
    add_place(parser)


def _alarms(options: argparse.Namespace) -> int:
    pages = listed(control_of(options), "alarms", AlarmsReply)
    found = (row for page in pages for row in page.alarms)
    rows = list(found if options.all else islice(found, _LATEST))
    cells = [(_time(row.at_ms), row.code, row.table, row.text) for row in rows]
    return print_answer(options, {"alarms": rows}, table_text(_ALARM_HEAD, cells))


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms // 1_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _declare_journal(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("journal", metavar="JOURNAL", help="its id, or as much as is unmistakable")


def _declare_why(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--why", required=True, help="for the record")
    add_people(parser)
    add_place(parser)


def _declare_accept(parser: argparse.ArgumentParser) -> None:
    _declare_journal(parser)
    parser.add_argument("--note", default="", help="for the record")
    add_people(parser)
    add_place(parser)


def _declare_retire(parser: argparse.ArgumentParser) -> None:
    _declare_journal(parser)
    _declare_why(parser)


def _declare_resume(parser: argparse.ArgumentParser) -> None:
    _declare_journal(parser)
    parser.add_argument(
        "--skip", type=int, default=0, metavar="N", help="leave this event without effect"
    )
    parser.add_argument("--skip-hash", default="", metavar="HASH", help="of that event")
    _declare_why(parser)


def _listed(options: argparse.Namespace, prefix: str = "") -> list[ListedJournal]:
    pages = listed(control_of(options), "journals", JournalsReply, prefix=prefix)
    return [row for page in pages for row in page.journals]


def _found(options: argparse.Namespace) -> ListedJournal:
    """The journal that is meant; never one of several."""
    prefix = options.journal
    can_be = set(prefix) <= _DIGITS and len(prefix) <= 32
    found = _listed(options, prefix) if can_be else []
    if len(found) != 1:
        what = (
            f"{counted(len(found), 'journal')} begin like this"
            if found
            else "there is no such journal"
        )
        raise Stop(f"{options.journal}: {what}; see underfelt link journals", os.EX_DATAERR)
    return found[0]


def _done(options: argparse.Namespace, order: dict[str, Any], said: str) -> int:
    answer = ordered(options, order)
    return print_answer(options, {**answer, **order}, said)


def _accept(options: argparse.Namespace) -> int:
    """By one person now and another later: each gives an order of his own."""
    if len(options.by) != 1:
        raise Stop(
            "accept: expected one --by; the second person accepts after the first", os.EX_USAGE
        )
    journal = _found(options).journal
    order = {"what": "accept", "journal": journal}
    answer = ordered(options, order | ({"note": options.note} if options.note else {}))
    state = _found(options).state
    more = "" if state == "active" else "; another person with another role must accept it too"
    said = f"{journal}: accepted by {options.by[0]}{more}"
    return print_answer(options, {**answer, "journal": journal, "state": state}, said)


def _resume(options: argparse.Namespace) -> int:
    journal = _found(options).journal
    order = {"what": "resume", "journal": journal, "why": options.why}
    if options.skip:
        order |= {"skip": options.skip, "skip_hash": options.skip_hash}
    return _done(options, order, f"{journal}: continues where it stopped")


def _retire(options: argparse.Namespace) -> int:
    journal = _found(options).journal
    order = {"what": "retire", "journal": journal, "why": options.why}
    said = f"{journal}: retired; nothing more is taken from it. At the table: underfelt retire"
    return _done(options, order, said)


# --- pools ----------------------------------------------------------------------------------------


def _declare_transfer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="POOL/LEVEL")
    parser.add_argument("target", metavar="POOL/LEVEL")
    parser.add_argument(
        "--cents", type=int, default=0, help="so much; all of it with reserve and next base if not"
    )
    _declare_why(parser)


def _transfer(options: argparse.Namespace) -> int:
    (pool, level), (to_pool, to_level) = _place(options.source), _place(options.target)
    order = {
        "what": "transfer",
        "pool": pool,
        "level": level,
        "to_pool": to_pool,
        "to_level": to_level,
        "cents": options.cents,
        "why": options.why,
    }
    return _done(options, order, f"{options.source}: transferred to {options.target}")


def _place(text: str) -> tuple[str, str]:
    pool, _, level = text.partition("/")
    if not pool or not level:
        raise Stop(f"{text}: expected POOL/LEVEL", os.EX_USAGE)
    return pool, level


def _declare_close(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pool", metavar="POOL")
    _declare_why(parser)


def _close(options: argparse.Namespace) -> int:
    order = {"what": "close", "pool": options.pool, "why": options.why}
    return _done(options, order, f"{options.pool}: decommissioned")


VERBS: Final = {
    "journals": Verb(
        add_place,
        _journals,
        "tables' journals, newest first: active, proposed, halted, retired",
        "journals --config link.toml",
    ),
    "alarms": Verb(
        _declare_alarms,
        _alarms,
        "what the server reported, newest first",
        "alarms --config link.toml",
    ),
    "accept": Verb(
        _declare_accept,
        _accept,
        "a new journal of a known table; two people, one after the other",
        "accept 8b0d78ea --by m.ng --config link.toml",
    ),
    "resume": Verb(
        _declare_resume,
        _resume,
        "let a halted journal continue; two people",
        "resume 8b0d78ea --why 'looked into' --by m.ng --by k.lee --config link.toml",
    ),
    "retire": Verb(
        _declare_retire,
        _retire,
        "consent to clear a table's memory; two people",
        "retire 8b0d78ea --why 'new card' --by m.ng --by k.lee --config link.toml",
    ),
    "transfer": Verb(
        _declare_transfer,
        _transfer,
        "money of a level to another pool's; two people",
        "transfer old/grand main/grand --why 'closing' --by m.ng --by k.lee --config link.toml",
    ),
    "decommission": Verb(
        _declare_close,
        _close,
        "close an empty pool; two people",
        "decommission old --why 'sold' --by m.ng --by k.lee --config link.toml",
    ),
}
