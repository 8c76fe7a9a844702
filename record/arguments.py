"""What every command's arguments have in common: exit 64 on a wrong use, and a readable help."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable
from typing import Any, Final, NoReturn

EX_USAGE: Final = 64
WIDTH: Final = 78


class Arguments(argparse.ArgumentParser):
    """``epilog`` is printed line by line as it is: examples and exit codes."""

    declared: Callable[[Arguments], None] | None = None
    """For whoever prints the manual: called with each parser instead of reading arguments."""

    def __init__(self, prog: str, description: str = "", epilog: str = "", **more: Any) -> None:
        super().__init__(
            prog=prog,
            description=textwrap.fill(description, WIDTH),
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **more,
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if Arguments.declared is not None:
            Arguments.declared(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(EX_USAGE)
