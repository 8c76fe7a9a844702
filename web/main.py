"""``underfelt web``: serves the pages and the API until it is stopped."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from record.kit.arguments import Arguments
from record.kit.config import ConfigError
from record.kit.key_files import KeyFileError
from record.kit.notify import Notifier
from record.kit.outside import printable
from record.kit.process import keep_memory_private
from web.config import load

EXTRA: Final = ("starlette", "uvicorn", "rjsmin", "rcssmin")
"""What `[web]` installs."""
EPILOG: Final = """\
It follows the table, the link server and the simulator named in web.toml and
changes nothing by itself: every order carries the passwords of people to the
link server. It refuses to listen off loopback without a certificate.

exit codes: 0 stopped, 64 usage, 66 no such file, 69 the address is in use or
the extra [web] is not installed, 77 others can read a secret key, 78 the
configuration cannot be used

examples:
  underfelt web --config /etc/underfelt/web.toml
  underfelt web --config web.toml --check
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt web", "The floor and the tables in a browser.", EPILOG)
    parser.add_argument("--config", required=True, metavar="FILE", help="web.toml")
    parser.add_argument("--check", action="store_true", help="only check the configuration")
    options = parser.parse_args(argv)
    try:
        config = load(Path(options.config))
    except ConfigError as error:
        return _refused(str(error), error.exit_code)
    except OSError as error:
        return _refused(f"{options.config}: {error.strerror}", os.EX_NOINPUT)
    if options.check:
        print(f"{options.config}: ok")
        return os.EX_OK
    try:
        from web.server import CannotListen, serve
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in EXTRA:
            raise
        said = f"{missing.name} is missing; install underfelt[web]"
        return _refused(said, os.EX_UNAVAILABLE)
    keep_memory_private()  # passwords pass through it
    try:
        serve(config, Notifier.from_environment())
    except CannotListen as error:
        return _refused(str(error), os.EX_UNAVAILABLE)
    except KeyFileError as error:
        return _refused(str(error), error.exit_code)
    return os.EX_OK


def _refused(text: str, code: int) -> int:
    for line in text.splitlines():
        print(printable(f"underfelt web: {line}"), file=sys.stderr)
    return code
