"""What every command's arguments have in common: exit 64 on a wrong use, and a readable help."""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Callable
from typing import Any, Final, NamedTuple, NoReturn

from record.kit.places import CONFIGS, Kind, NotFound, find_place

WIDTH: Final = 78


class Arguments(argparse.ArgumentParser):
    """``epilog`` is printed line by line as it is: examples and exit codes."""

    declared: Callable[[Arguments], None] | None = None
    """For the printer of the manual: called with each parser instead of reading arguments."""

    def __init__(self, prog: str, description: str = "", epilog: str = "", **more: Any) -> None:
        super().__init__(
            prog=prog,
            description=textwrap.fill(description, WIDTH),
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **more,
        )

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options = super().parse_args(args, namespace)
        wanted: _Wanted | None = vars(options).pop("wanted", None)
        if wanted is None or options.config is not None:
            return options
        if any(getattr(options, name) for name in wanted.instead):
            return options
        try:
            found = find_place(wanted.kind, wanted.instead)
        except NotFound as missing:
            if wanted.needed:
                self.error(str(missing))
            return options
        options.config = found.config or None
        if found.socket:
            options.socket = found.socket
        return options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._hand_over()
        return super().parse_known_args(args, namespace)

    def parse_known_intermixed_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Until Python 3.11 this came by ``parse_known_args``; later ones do not."""
        self._hand_over()
        return super().parse_known_intermixed_args(args, namespace)

    def _hand_over(self) -> None:
        if Arguments.declared is not None:
            Arguments.declared(self)

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(os.EX_USAGE)


class _Wanted(NamedTuple):
    kind: Kind
    instead: tuple[str, ...]
    needed: bool


def add_config(
    parser: argparse.ArgumentParser, kind: Kind, help_: str, *instead: str, needed: bool = True
) -> None:
    """``--config FILE``; without it, the environment's or the only one of this machine.

    ``instead``: other options that name the place, so that no configuration is looked for. With
    ``needed`` false a command can do without one.
    """
    said = f"{help_} (or {kind.variable}, or the only one in {CONFIGS})"
    parser.add_argument("--config", metavar="FILE", help=said)
    parser.set_defaults(wanted=_Wanted(kind, instead, needed))
