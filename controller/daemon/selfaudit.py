"""Before anything is opened: is somebody else able to look into this process, or to steer it?

A table with real devices refuses to start while a debugger is attached, while its environment lets
foreign code in, or with a port open that it did not open itself. Keys that others may read are
refused where they are loaded.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from controller.rules.errors import UnderfeltError

CODE: Final = "E-RUN-005"
FOREIGN: Final = (
    "LD_PRELOAD",
    "LD_AUDIT",
    "PYTHONBREAKPOINT",
    "PYTHONDEBUG",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
)
"""Each brings code of somebody's, or a prompt, into the process."""
FIRST: Final = 3


class Exposed(UnderfeltError):
    """Exit 77: not with this process."""

    exit_code = os.EX_NOPERM
    code = CODE

    def __init__(self, found: Iterable[str]) -> None:
        listed = "; ".join(found)
        super().__init__(f"{listed}; a table does not start like this ({CODE})")


def findings(
    environ: Mapping[str, str], status: str, listening: Iterable[str], *, prompt: bool
) -> Iterator[str]:
    """``status`` is the text of /proc/self/status."""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == "TracerPid" and value.strip() not in ("", "0"):
            yield f"process {value.strip()} is attached as a debugger: end it"
    for name in FOREIGN:
        if environ.get(name):
            yield f"{name} is set: take it out of the service's environment"
    for address in listening:
        yield f"a port is open that is not the table's: {address}: close it in the starter"
    if prompt:
        yield "the interpreter was started with -i: start it without"


def inherited() -> Iterator[str]:
    """Sockets that listen and were handed to this process by its starter."""
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number < FIRST:
            continue
        try:
            copy = socket.socket(fileno=os.dup(number))
        except OSError:
            continue  # no socket, or the folder's own descriptor
        with copy:
            if copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                yield str(copy.getsockname())


def audit(flags_inspect: bool) -> None:
    """``Exposed`` with everything that was found."""
    status = Path("/proc/self/status").read_text("ascii", "replace")
    found = list(findings(os.environ, status, inherited(), prompt=flags_inspect))
    if found:
        raise Exposed(found)
