"""``underfelt retire``: clear a table's memory, with the consent of two people at the link."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Final

from controller.commands.ending import ends
from controller.config.keys import link_keys
from controller.config.live import LiveConfig, load_live
from controller.daemon import compose as starting
from controller.daemon.linking import no_network
from controller.daemon.retiring import RETIRED, NotNow, put_aside, seal
from controller.daemon.setup import setup_of
from controller.link.greeting import NoAnswer, greet
from controller.link.session import Head
from record.journal.reader import JournalReader, Report
from record.kit.arguments import Arguments, add_config
from record.kit.places import TABLE
from record.kit.verbs import Stop
from record.kit.words import counted
from record.link.messages import Checkpoint, FromServer, ServerRefused, Welcome

CONSENT: Final = "E-LNK-021"
EPILOG: Final = """\
Stop the daemon, then run this command twice. The first run closes the journal for
good: its last record holds the counters, and the link server learns where it
ends. Then two people consent at the server (underfelt link retire). The second
run puts the journal aside; nothing is deleted. The next start begins a new
journal, which two people must accept at the server (underfelt link accept).

exit codes: 0 put aside, 75 people or the link must act first, 69 no server

example: underfelt retire --config /etc/underfelt/table-1/table.toml
"""


@ends("retire")
def run(argv: list[str]) -> int:
    parser = Arguments("underfelt retire", "Clear a table's memory.", EPILOG)
    add_config(parser, TABLE, "the table's configuration")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")
    options = parser.parse_args(argv)
    try:
        row = retire(load_live(options.config, starting.KINDS))
    except NoAnswer as error:
        said = f"{error}; nothing was put aside (E-RUN-008)"
        raise Stop(said, os.EX_UNAVAILABLE) from None
    print(json.dumps(row) if options.json else row["said"])
    return os.EX_OK if row["put_aside"] else os.EX_TEMPFAIL


def retire(config: LiveConfig) -> dict[str, Any]:
    if config.link is None:
        text = "no link is configured, so nobody can consent; give the table another journal.path"
        raise NotNow("E-RUN-009", text)
    ended = _sealed(config)
    report, events = _end(config.journal.path)
    answers = _told(config, report, events)
    row = {"journal": report.journal_id, "sealed_now": ended, "put_aside": ""}
    first = answers[0]
    if isinstance(first, ServerRefused) and first.code == CONSENT:
        aside = put_aside(config.journal.path, report.journal_id)
        said = f"{report.journal_id}: put aside as {aside}; the next start begins a new journal"
        return {**row, "put_aside": str(aside), "said": said}
    if isinstance(first, ServerRefused):
        raise NotNow("E-RUN-007", f"the link server says: {first.text} ({first.code})")
    assert isinstance(first, Welcome)
    if first.n != events:
        text = f"the link server has {first.n} of {counted(events, 'event')} of this journal"
        raise NotNow("E-RUN-007", text)
    said = (
        f"{report.journal_id}: closed for good; its counters are record {report.last_seq}. Now two"
        f" people at the link server: underfelt link retire {report.journal_id[:12]}; then again"
        " underfelt retire here"
    )
    return {**row, "said": said}


def _sealed(config: LiveConfig) -> bool:
    """True if it was done now: only with every event at the server."""
    if not config.journal.path.is_dir():
        raise NotNow("E-RUN-007", f"{config.journal.path}: there is no journal")
    setup = setup_of(config)
    try:
        table = starting.compose(setup, network=no_network)
    except starting.Retired:
        return False
    try:
        events = table.replayed.memory.sent or 0
        journal = table.journal
        head = Head(events, journal.next_seq - 1, journal.head.hex())
        hello = setup.identity(journal.journal_id).hello(head)
        first = greet(*_who(config), (hello,))[0]
        if not isinstance(first, Welcome) or first.n != events:
            taken = first.n if isinstance(first, Welcome) else 0
            said = first.text if isinstance(first, ServerRefused) else f"it has {taken} of {events}"
            text = f"the link server does not have all events of this journal: {said}"
            raise NotNow("E-RUN-007", f"{text}; start the table and let it send them")
        seal(table, time.time_ns() // 1_000_000)
    finally:
        table.journal.close()
    return True


def _end(folder: Path) -> tuple[Report, int]:
    """Where the journal ends, and the events that its last record counts."""
    reader = JournalReader(folder, last=1)
    last = list(reader.records())[-1]
    assert last.kind == RETIRED
    return reader.report(), int(json.loads(last.body)["events"] or 0)


def _told(config: LiveConfig, report: Report, events: int) -> list[FromServer]:
    end = Head(events, report.last_seq, report.head.hex())
    hello = setup_of(config).identity(report.journal_id).hello(end)
    last = Checkpoint(end.seq, end.hash, time.time_ns() // 1_000_000)
    return greet(*_who(config), (hello, last))


def _who(config: LiveConfig) -> tuple[tuple[str, ...], Any]:
    assert config.link is not None
    return config.link.endpoints, link_keys(config)
