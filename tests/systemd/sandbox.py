"""A unit's own kernel filters, put on a process that is not started by systemd.

``python -m tests.systemd.sandbox UNIT COMMAND ...`` reads SystemCallFilter, RestrictRealtime,
RestrictAddressFamilies and MemoryDenyWriteExecute from the unit file, loads them through libseccomp
as systemd does, and runs the command in place of itself.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from tests.systemd.tools import run, values

ALLOW: Final = 0x7FFF0000
EQ, GT, MASKED_EQ = 4, 6, 7
FAMILIES_END: Final = 64
"""More than the kernel has address families."""
POLICIES: Final = {"other": 0, "batch": 3, "idle": 5}
"""What RestrictRealtime= leaves of the scheduling policies."""
PROT_WRITE, PROT_EXEC, SHM_EXEC = 2, 4, 0o100000


def refuse(number: int) -> int:
    return 0x00050000 | number


class Compare(ctypes.Structure):
    """struct scmp_arg_cmp"""

    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    ]


class Filter:
    """One seccomp filter; several are in force together, and the strictest answer counts."""

    def __init__(self, otherwise: int) -> None:
        self._library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(ctypes.c_uint32(otherwise)))
        assert self._context, "libseccomp: no filter"

    def add(self, action: int, call: str, *compares: tuple[int, int, int, int]) -> None:
        """A call that this architecture does not have is left out, as systemd leaves it out."""
        number = self._library.seccomp_syscall_resolve_name(call.encode())
        if number < 0:
            return
        array = (Compare * len(compares))(*(Compare(*one) for one in compares))
        done = self._library.seccomp_rule_add_array(
            self._context, ctypes.c_uint32(action), number, len(compares), array
        )
        assert done == 0, f"{call}: {os.strerror(-done)}"

    def load(self) -> None:
        done = self._library.seccomp_load(self._context)
        assert done == 0, f"seccomp_load: {os.strerror(-done)}"


def allowed_calls(filters: Iterable[str]) -> set[str]:
    """The allow-list that SystemCallFilter= lines add up to, in their order."""
    allowed = expanded("@default")
    for value in filters:
        for name in value.lstrip("~").split():
            calls = expanded(name)
            allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


def expanded(name: str) -> set[str]:
    """A group as the installed systemd defines it."""
    if not name.startswith("@"):
        return {name}
    listed = run("systemd-analyze", "syscall-filter", name).stdout.splitlines()
    calls: set[str] = set()
    for line in listed[1:]:
        word = line.strip()
        if word and not word.startswith("#"):
            calls |= expanded(word)
    return calls


def filters_of(unit: Path) -> list[Filter]:
    calls = Filter(refuse(getattr(errno, values(unit, "SystemCallErrorNumber")[0])))
    for call in sorted(allowed_calls(values(unit, "SystemCallFilter"))):
        calls.add(ALLOW, call)
    families = Filter(ALLOW)
    names = " ".join(values(unit, "RestrictAddressFamilies")).split()
    for family in set(range(FAMILIES_END)) - {int(getattr(socket, name)) for name in names}:
        families.add(refuse(errno.EAFNOSUPPORT), "socket", (0, EQ, family, 0))
    # The allow-list comes last: it could forbid loading another filter.
    return [*_switches(unit), families, calls]


def _switches(unit: Path) -> list[Filter]:
    found = []
    if values(unit, "RestrictRealtime") == ["yes"]:
        policies = Filter(ALLOW)
        last = max(POLICIES.values())
        for policy in set(range(last)) - set(POLICIES.values()):
            policies.add(refuse(errno.EPERM), "sched_setscheduler", (1, EQ, policy, 0))
        policies.add(refuse(errno.EPERM), "sched_setscheduler", (1, GT, last, 0))
        found.append(policies)
    if values(unit, "MemoryDenyWriteExecute") == ["yes"]:
        memory, denied = Filter(ALLOW), refuse(errno.EPERM)
        both = PROT_WRITE | PROT_EXEC
        memory.add(denied, "mmap", (2, MASKED_EQ, both, both))
        for call in ("mprotect", "pkey_mprotect"):
            memory.add(denied, call, (2, MASKED_EQ, PROT_EXEC, PROT_EXEC))
        memory.add(denied, "shmat", (2, MASKED_EQ, SHM_EXEC, SHM_EXEC))
        found.append(memory)
    return found


def command(unit: Path, *arguments: str) -> list[str]:
    """The command line that runs another one under the unit's filters."""
    return [sys.executable, "-m", "tests.systemd.sandbox", str(unit), *arguments]


def main(arguments: Sequence[str]) -> NoReturn:
    unit, *program = arguments
    made = filters_of(Path(unit))
    for one in made:
        one.load()
    os.execv(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1:])
