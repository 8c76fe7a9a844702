"""``underfelt``: one command, dispatched through a literal table of lazily imported modules.

Nothing else is imported before the command is known, so ``underfelt --help`` stays cheap.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final

from record.kit.terminal import guarded

COMMANDS: Final = {
    "settle": ("controller.commands.settle", "settle a finished or interrupted round"),
    "check-wagers": (
        "controller.commands.check_wagers",
        "check whether a seat's wagers are valid",
    ),
    "par": ("controller.commands.par", "compute the exact par sheet of a game"),
    "chips": ("controller.commands.chips", "the house's signed chip register"),
    "table": ("controller.commands.table", "run a table"),
    "status": ("controller.commands.status", "show what a running table is doing"),
    "shell": ("controller.commands.shell", "examine a running table and test its devices"),
    "firmware": ("controller.commands.firmware", "challenge a card device to prove its program"),
    "doctor": ("controller.commands.doctor", "find what is wrong on this machine, and the fix"),
    "bundle": ("controller.commands.bundle", "collect diagnostics for support, without secrets"),
    "retire": ("controller.commands.retire", "clear a table's memory; two people and the link"),
    "identity": ("controller.commands.identity", "hashes of program, rules and configuration"),
    "journal": ("controller.commands.journal", "verify and read a table's journal"),
    "replay": ("controller.commands.replay", "step through a past round, for a dispute"),
    "draws": ("controller.commands.draws", "re-check every random draw in a journal"),
    "config": ("controller.commands.config", "check, show, compare or create a configuration"),
    "staff": ("controller.commands.staff", "the house's signed staff register"),
    "link": ("link.commands.link", "run and manage the progressive-link server"),
    "keys": ("link.commands.keys", "CURVE keys of tables, signs and servers"),
    "accounts": ("link.commands.accounts", "accounts of people at the link server"),
    "jackpot": ("link.commands.jackpot", "list, verify, approve, reject, pay jackpots"),
    "evidence": ("controller.commands.evidence", "collect the proof of one jackpot in one folder"),
    "report": ("link.commands.report", "reports of the link server by gaming day"),
    "web": ("web.main", "the floor and the tables in a browser"),
    "sim": ("hw_sim.main", "the hardware simulator: a table's devices, people and faults"),
    "demo": ("controller.commands.demo", "rounds of the five games, narrated; demo floor: live"),
}

EXAMPLES: Final = """\
examples:
  underfelt settle round.json          what should have been paid?
  underfelt settle --lines - < night.jsonl
  underfelt check-wagers seat.json
  underfelt par NSW
  underfelt chips check house.chips --pubkey house.pub
  underfelt replay last --config table.toml
  underfelt evidence grand/3/17 --config link.toml --journal T/journal --output pack
  underfelt bundle --config table.toml
  underfelt sim --scenario mbs3-plain
  underfelt demo --game RICO --seed 7
  underfelt demo floor                 link server, tables and pages, live
"""


def usage() -> str:
    rows = "\n".join(f"  {name:13} {text}" for name, (_, text) in COMMANDS.items())
    return f"usage: underfelt COMMAND [ARGUMENT ...]\n\ncommands:\n{rows}\n\n{EXAMPLES}"


def main(argv: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    if argv is None:
        _hear_interrupts()
    with guarded():
        return _told(arguments)


def _told(arguments: list[str]) -> int:
    if "--js" in " ".join(arguments):  # others do not pay for the import
        from controller import failures

        if failures.wanted(arguments):
            return failures.as_json(lambda: _main(arguments))
    return _main(arguments)


def _main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage(), end="")
        return os.EX_OK if arguments else os.EX_USAGE
    if arguments[0] == "--version":
        from record import __version__

        print(f"underfelt {__version__}")
        return os.EX_OK
    command = COMMANDS.get(arguments[0])
    if command is None:
        from record.kit.words import did_you_mean

        said = did_you_mean(arguments[0], COMMANDS, "commands:")
        print(f"underfelt: no command {arguments[0]!r}; {said}", file=sys.stderr)
        return os.EX_USAGE
    if sys.stdout is None:
        print("underfelt: standard output is closed", file=sys.stderr)
        return os.EX_IOERR
    try:
        code: int = import_module(command[0]).run(arguments[1:])
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            return _no_access(arguments[0], error)
        return _output_failed(error)
    return code


def _hear_interrupts() -> None:
    """Ctrl-C works at a terminal even if the parent ignores it, as shells do in the background."""
    try:
        at_terminal = os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return
    if at_terminal:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _no_access(command: str, error: OSError) -> int:
    """A file that the command itself has no word for: it is there and cannot be used."""
    print(f"underfelt {command}: {error.filename}: {error.strerror}", file=sys.stderr)
    if isinstance(error, PermissionError):
        return os.EX_NOPERM
    known = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
    return os.EX_NOINPUT if isinstance(error, known) else os.EX_IOERR


def _output_failed(error: OSError) -> int:
    """The reader went away or the disk is full: say so, and lose no second message over it."""
    if not isinstance(error, BrokenPipeError):
        print(f"underfelt: cannot write the output: {error.strerror}", file=sys.stderr)
    # What is still buffered cannot be written either; the interpreter must not try at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return os.EX_IOERR


if __name__ == "__main__":
    sys.exit(main())
