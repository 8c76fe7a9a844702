"""``underfelt link``: runs the progressive-link server until it is stopped, and looks after it.

underfelt link --config link.toml
underfelt link init DIR | install DIR | status | check | backup | restore
underfelt link journals | alarms | accept | resume | retire | transfer | decommission
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import Final

from link.commands.io import add_place, asked, command, control_of, load_config, plain, print_answer
from link.commands.link_init import declare_init, init
from link.commands.link_install import declare_install, install
from link.commands.link_journals import VERBS as JOURNALS
from link.commands.link_store import backup, check, declare_backup, declare_check, declare_restore
from link.commands.link_store import restore as restore_backup
from link.ledger.errors import LedgerBroken, PoolError
from link.server.compose import compose
from link.server.doors import DoorError
from link.server.log import Log
from link.server.replies import LevelMeter, MetersReply, StatusReply
from link.store.errors import StoreError
from record.kit.arguments import Arguments
from record.kit.exits import TROUBLE
from record.kit.money import cents_text
from record.kit.notify import Notifier
from record.kit.outside import printable
from record.kit.process import keep_memory_private
from record.kit.verbs import Stop, Verb
from record.kit.words import counted
from record.link.keys import KeyFileError

TEXT: Final = (
    "The progressive-link server: underfelt link --config FILE runs it; the verbs look after it."
)


def run(argv: list[str]) -> int:
    if argv and argv[0].partition("=")[0] == "--config":
        return _serve(argv)
    return command("link", TEXT, VERBS).run(argv)


def _serve(argv: list[str]) -> int:
    parser = Arguments(
        "underfelt link",
        "Run the progressive-link server.",
        "example: underfelt link --config /etc/underfelt/link/link.toml",
    )
    parser.add_argument("--config", required=True, metavar="FILE", help="link.toml")
    options = parser.parse_args(argv)
    log, notifier = Log(), Notifier.from_environment()
    keep_memory_private()
    try:
        config = load_config(options.config)
        link = compose(config, log=log, notifier=notifier)
        link.open()
    except Stop as stop:
        return _refused(stop.text, stop.code)
    except (KeyFileError, StoreError, DoorError) as error:
        return _refused(str(error), error.exit_code)
    except OSError as error:
        return _refused(
            f"{error.filename or options.config}: {error.strerror or error}", os.EX_OSERR
        )
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: link.server.stop())
    for at in link.server.endpoints():
        where = f"tables at {at.tables}, signs at {at.signs or 'nowhere'}"
        log.info(f"{config.server.name}: {where}")
    try:
        link.run()
    except StoreError as error:
        return _refused(str(error), error.exit_code)
    except PoolError as error:
        return _refused(str(error), os.EX_CONFIG)
    except LedgerBroken as error:
        return _refused(f"the ledger does not balance: {error}", os.EX_SOFTWARE)
    return os.EX_OK


def _refused(text: str, code: int) -> int:
    for line in text.splitlines():
        print(printable(f"underfelt link: {line}"), file=sys.stderr)
    return code


# --- status ------------------------------------------------------------------------------------


def _status(options: argparse.Namespace) -> int:
    control = control_of(options)
    status = asked(control, {"verb": "status"}, StatusReply)
    meters = MetersReply([])
    if status.leading:
        meters = asked(control, {"verb": "meters"}, MetersReply)
    print_answer(options, plain(status) | plain(meters), _told(status, meters.meters))
    return os.EX_OK if status.leading else TROUBLE


def _told(status: StatusReply, meters: list[LevelMeter]) -> str:
    word = f"leading, epoch {status.epoch}" if status.leading else "standing by"
    rows = [f"{status.server}: {word}, {counted(status.tables, 'table')}, {status.store}"]
    if status.trouble:
        rows.append(f"  trouble: {status.trouble}")
    rows += [f"  ALARM: {text}" for text in status.standing]
    if status.clock_behind_ms >= 2_000:
        rows.append(f"  CLOCK {status.clock_behind_ms // 1_000} s behind the last record")
    for at in status.endpoints:
        rows.append(f"  tables {at.tables}, signs {at.signs or 'nowhere'}")
    if status.test_mode:
        rows.append(f"  TEST MODE: {', '.join(status.test_mode)}")
    for meter in meters:
        pending = f", {meter.pending} pending" if meter.pending else ""
        rows.append(f"  {meter.pool}/{meter.level}: {cents_text(meter.cents)}{pending}")
    return "\n".join(rows)


VERBS: Final = {
    "init": Verb(
        declare_init,
        init,
        "a folder with configuration, keys, store and the first accounts",
        "init /srv/link --account m.ng=manager --account k.lee=supervisor",
    ),
    "install": Verb(
        declare_install,
        install,
        "move a folder that init made to where the service expects it",
        "install /srv/link",
    ),
    "status": Verb(add_place, _status, "what the server is doing", "status --config F"),
    "check": Verb(
        declare_check, check, "everything that must hold in the store", "check --config link.toml"
    ),
    "backup": Verb(
        declare_backup,
        backup,
        "a copy of the store, also while it runs",
        "backup /backup/link-1 --config link.toml",
    ),
    "restore": Verb(
        declare_restore,
        restore_backup,
        "a backup into an empty store; two people",
        "restore /backup/link-1 --why 'disk' --by m.ng --by k.lee --config link.toml",
    ),
    **JOURNALS,
}
