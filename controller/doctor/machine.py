"""The machine as the doctor looks at it: files under a root, and whom the daemon runs as.

Read-only. ``root`` is ``/``; a test gives a folder that looks like a sick Pi.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Machine:
    root: Path = Path("/")
    uid: int = field(default_factory=os.geteuid)
    groups: frozenset[int] = field(
        default_factory=lambda: frozenset((*os.getgroups(), os.getegid()))
    )

    def path(self, name: str | Path) -> Path:
        """A path below the root; a relative path is left as it is."""
        given = Path(name)
        return self.root / given.relative_to("/") if given.is_absolute() else given

    def text(self, name: str | Path) -> str | None:
        """What a file says, without the end of the line; None if it cannot be read."""
        try:
            return self.path(name).read_text("utf-8", "replace").rstrip("\0\n")
        except OSError:
            return None

    def is_there(self, name: str | Path) -> bool:
        # Unlike Path.exists this is no error where a folder on the way is closed to us.
        return os.path.exists(self.path(name))

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(self.path(folder)))
        except OSError:
            return []

    def is_device(self, name: str | Path) -> bool:
        return stat.S_ISCHR(self.path(name).stat().st_mode)

    def may_use(self, name: str | Path) -> bool:
        """May the daemon's user read and write it, by owner, group and mode?"""
        about = self.path(name).stat()
        if self.uid == 0:
            return True
        shift = 6 if about.st_uid == self.uid else 3 if about.st_gid in self.groups else 0
        return (about.st_mode >> shift) & 0o6 == 0o6

    def owned(self, name: str | Path) -> str:
        """Which group to join for it; root's and a group without rights are none to join."""
        about = self.path(name).stat()
        if about.st_gid == 0 or (about.st_mode >> 3) & 0o6 != 0o6:
            mode = stat.S_IMODE(about.st_mode)
            return f"{name} has mode {mode:04o} and no group for it: no udev rule gave it one"
        try:
            return f"{name} belongs to group {self.path(name).group()}"
        except KeyError:
            return f"{name} belongs to group {about.st_gid}"


# --- the daemon's user --------------------------------------------------------------------------


USER: Final = "underfelt"


def is_known(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@contextmanager
def seen_by(name: str, more: Iterable[str] = ()) -> Iterator[None]:
    """As this user and its groups, and those that the service adds; needs root."""
    who = pwd.getpwnam(name)
    groups = {*os.getgrouplist(name, who.pw_gid), *_ids(more)}
    before = os.getgroups(), os.getegid(), os.geteuid()
    os.setgroups(sorted(groups))
    os.setegid(who.pw_gid)
    os.seteuid(who.pw_uid)
    try:
        yield
    finally:
        os.seteuid(before[2])
        os.setegid(before[1])
        os.setgroups(before[0])


def _ids(names: Iterable[str]) -> Iterator[int]:
    for name in names:
        try:
            yield grp.getgrnam(name).gr_gid
        except KeyError:
            continue  # no such group: nothing can belong to it
