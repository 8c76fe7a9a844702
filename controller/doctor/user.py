"""The eyes of the daemon's user. Root may use everything, so what root sees says nothing."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

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
