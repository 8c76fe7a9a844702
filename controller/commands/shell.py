"""``underfelt shell``: look at a running table, and test its devices, from a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from controller.commands.ending import ends
from controller.shell.answers import MadeBundle
from controller.shell.client import Client, NoTable, NotAllowed
from controller.shell.messages import Refusal
from controller.shell.repl import Repl, columns, complain, confirm, listen, show
from controller.shell.session import ShellSession
from record.kit.arguments import Arguments, add_config
from record.kit.places import TABLE
from record.kit.verbs import Stop

EPILOG: Final = """\
Without a command: a prompt; Tab completes, help lists the verbs, Ctrl-C ends a
command, Ctrl-D leaves. The socket identifies you. Your permissions are set in
[[shell.people]] of the configuration. Every command is recorded.

exit codes: 0 done, 1 a test has failed, 64 no such verb or word, 66 not there,
69 no table answers, 73 a bundle cannot be written, 74 the audit journal cannot
be written, 75 not now, 77 permission denied, 78 configuration

examples:
  underfelt shell                       the one table of this machine
  underfelt shell --config /etc/underfelt/table-1/table.toml
  underfelt shell why
  underfelt shell device shoe --json
  underfelt shell antenna test 3        out of play, test seat 3, back into play
  underfelt shell --socket /run/underfelt/table-1/service.sock watch chips-1
"""


@ends("shell")
def run(argv: list[str]) -> int:
    parser = Arguments("underfelt shell", "Look at a running table, test its devices.", EPILOG)
    add_config(parser, TABLE, "the table's configuration", "socket")
    parser.add_argument("--socket", metavar="PATH", help="its socket, instead of --config")
    parser.add_argument("--json", action="store_true", help="answers as JSON")
    parser.add_argument("command", metavar="CMD", nargs="*", help="run one command and exit")
    options = parser.parse_args(argv)
    client = Client(Path(options.socket) if options.socket else _configured(options.config))
    session = ShellSession(client, show, complain, columns, as_json=options.json, confirm=confirm)
    session.pack = _packed
    session.listen = listen if sys.stdin.isatty() else None
    try:
        return session.once(options.command) if options.command else Repl(session).run()
    except NotAllowed as refused:
        raise Stop(str(refused), os.EX_NOPERM) from None
    except NoTable as gone:
        look = "systemctl status underfelt-table@NAME"
        raise Stop(f"{gone}. Look at {look}", os.EX_UNAVAILABLE) from None
    except KeyboardInterrupt:
        return os.EX_OK
    finally:
        client.close()


def _packed(config: str) -> MadeBundle | Refusal:
    # The daemon authorised the user; file permissions decide what can be packed.
    from controller.bundle.make import CODE, CannotWrite, make
    from controller.faults.catalogue import said

    try:
        return make(Path(config))
    except CannotWrite as error:
        return Refusal(CODE, str(error), said(CODE).action)


def _configured(path: str) -> Path:
    # Loaded here alone: with --socket the shell needs nothing but the core library.
    from controller.config.live import line_kinds, load_live

    return load_live(path, line_kinds()).service.socket
