"""``underfelt shell``: look at a running table, and test its devices, from a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

from controller.shell.client import Client, NoTable, NotAllowed
from controller.shell.messages import Refusal
from controller.shell.repl import Repl, columns, complain, confirm, listen, show
from controller.shell.session import Session
from record.kit.arguments import Arguments, add_config
from record.kit.places import TABLE

EPILOG: Final = """\
Without a command: a prompt; Tab completes, help lists the verbs, Ctrl-C ends a
command, Ctrl-D leaves. The socket identifies you. Your permissions are set in
[[shell.people]] of the configuration. Every command is recorded.

exit codes: 0 done, 1 a test has failed, 64 no such verb or word, 66 not there,
69 no table answers, 73 a bundle cannot be written, 74 the audit journal cannot
be written, 75 not now, 77 not you, 78 configuration

examples:
  underfelt shell                       the one table of this machine
  underfelt shell --config /etc/underfelt/table-1/table.toml
  underfelt shell why
  underfelt shell device shoe --json
  underfelt shell antenna test 3        out of play, test seat 3, back into play
  underfelt shell --socket /run/underfelt/table-1/service.sock watch chips-1
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt shell", "Look at a running table, test its devices.", EPILOG)
    add_config(parser, TABLE, "the table's configuration", "socket")
    parser.add_argument("--socket", metavar="PATH", help="its socket, instead")
    parser.add_argument("--json", action="store_true", help="answers as JSON")
    parser.add_argument("command", metavar="CMD", nargs="*", help="one command, and leave")
    options = parser.parse_args(argv)
    found = _socket(options)
    if isinstance(found, int):
        return found
    client = Client(found)
    session = Session(client, show, complain, columns, as_json=options.json, confirm=confirm)
    session.pack = _packed
    session.listen = listen if sys.stdin.isatty() else None
    try:
        return session.once(options.command) if options.command else Repl(session).run()
    except NotAllowed as refused:
        complain([f"underfelt shell: {refused}"])
        return os.EX_NOPERM
    except NoTable as gone:
        look = "systemctl status underfelt-table@NAME"
        complain([f"underfelt shell: {gone}. Look at {look}"])
        return os.EX_UNAVAILABLE
    except KeyboardInterrupt:
        return os.EX_OK
    finally:
        client.close()


def _socket(options: Any) -> Path | int:
    """The socket, or the exit code if there is none."""
    if options.socket:
        return Path(options.socket)
    return _configured(options.config)


def _packed(config: str) -> dict[str, Any] | Refusal:
    # The daemon has said that he may; what he may read, the system decides.
    from controller.bundle.make import CODE, CannotWrite, make
    from controller.faults.catalogue import said

    try:
        return make(Path(config))
    except CannotWrite as error:
        return Refusal(CODE, str(error), said(CODE).action)


def _configured(path: str) -> Path | int:
    # Loaded here alone: with --socket the shell needs nothing but the core library.
    from controller.config.live import line_kinds, load_live
    from record.kit.config import ConfigError

    try:
        return load_live(path, line_kinds()).service.socket
    except ConfigError as error:
        print(f"underfelt shell: {error}", file=sys.stderr)
        return os.EX_CONFIG
    except OSError as error:
        print(f"underfelt shell: {error.filename}: {error.strerror}", file=sys.stderr)
        return os.EX_NOINPUT
