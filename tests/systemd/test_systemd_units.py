"""The unit files: how exposed they are, what they promise, and that systemd can read them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.systemd.sandbox import allowed_calls
from tests.systemd.tools import ROOT, SYSTEMD, directives, run, values

UNITS = SYSTEMD / "system"
TABLE = UNITS / "underfelt-table@.service"
LOCKED = UNITS / "underfelt-locked@.service"
LINK = UNITS / "underfelt-link.service"
WEB = UNITS / "underfelt-web.service"
ALL = (TABLE, LOCKED, LINK, WEB)


def instance(unit: Path, folder: Path) -> Path:
    """The unit as an instance, which is what systemd judges."""
    copied = folder / unit.name.replace("@.", "@table-1.")
    shutil.copy(unit, copied)
    return copied


def exposure(unit: Path, folder: Path) -> float:
    judged = run("systemd-analyze", "security", "--offline=true", str(instance(unit, folder)))
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", judged.stdout)
    assert found, judged.stdout + judged.stderr
    return float(found[1])


@pytest.mark.parametrize(("unit", "most"), [(TABLE, 1.5), (LOCKED, 1.5), (LINK, 1.2), (WEB, 1.5)])
def test_the_exposure_is_low(unit: Path, most: float, tmp_path: Path) -> None:
    assert exposure(unit, tmp_path) <= most
    threshold = f"--threshold={round(most * 10)}"
    judged = instance(unit, tmp_path)
    assert (
        run("systemd-analyze", "security", "--offline=true", threshold, str(judged)).returncode == 0
    )


def test_the_exposure_of_a_bare_unit_is_high(tmp_path: Path) -> None:
    """The measure can fail: the same service without its sandbox."""
    bare = tmp_path / "underfelt-table@.service"
    kept = [line for line in TABLE.read_text().splitlines() if re.match(r"\[|Type|ExecStart", line)]
    bare.write_text("\n".join(kept))
    (tmp_path / "judged").mkdir()
    assert exposure(bare, tmp_path / "judged") > 8


@pytest.mark.parametrize("unit", ALL, ids=lambda u: u.name)
def test_systemd_reads_every_line(unit: Path, tmp_path: Path) -> None:
    """Only the program itself may be missing on the machine that runs the tests."""
    judged = run(
        "systemd-analyze", "verify", "--recursive-errors=no", str(instance(unit, tmp_path))
    )
    said = (judged.stdout + judged.stderr).splitlines()
    wrong = [s for s in said if unit.name.split("@")[0].split(".")[0] in s]
    assert [s for s in wrong if "is not executable" not in s] == []


def test_the_table_is_watched_and_falls_back_to_the_locked_mode() -> None:
    expected = {
        "Type": ["notify"],
        "NotifyAccess": ["main"],
        "WatchdogSec": ["5"],
        "Restart": ["always"],
        "OnFailure": ["underfelt-locked@%i.service"],
        "StartLimitBurst": ["5"],
        "StartLimitIntervalSec": ["120"],
        "WorkingDirectory": ["/run/underfelt-%i"],
        "RuntimeDirectory": ["underfelt-%i underfelt/%i"],
        "StateDirectoryMode": ["0710"],
        "UMask": ["0077"],
        "LimitCORE": ["0"],
        "MemorySwapMax": ["0"],
    }
    assert {key: values(TABLE, key) for key in expected} == expected
    assert "78" in values(TABLE, "RestartPreventExitStatus")[0].split()
    # Five failing starts with their pauses fit into the interval, or the limit never strikes.
    assert 5 * (int(values(TABLE, "RestartSec")[0]) + 1) < 120
    assert "GPIOZERO_PIN_FACTORY=lgpio" in values(TABLE, "Environment")
    assert values(TABLE, "LoadCredential") == ["table.key:/etc/underfelt/%i/table.key"]


def test_table_and_locked_mode_exclude_each_other() -> None:
    assert values(TABLE, "Conflicts") == ["underfelt-locked@%i.service"]
    assert values(LOCKED, "Conflicts") == ["underfelt-table@%i.service"]
    assert values(LOCKED, "StartLimitIntervalSec") == ["0"]
    assert values(LOCKED, "OnFailure") == []
    assert values(LOCKED, "LoadCredential") == []
    assert "--locked" in values(LOCKED, "ExecStart")[0]


def test_units_that_share_a_folder_and_exclude_each_other_never_overlap() -> None:
    """The one that stops removes the folder: the other may only start afterwards."""
    for unit in ALL:
        for name in values(unit, "Conflicts"):
            other = UNITS / name.replace("%i", "")
            shared = set(" ".join(values(unit, "RuntimeDirectory")).split()) & set(
                " ".join(values(other, "RuntimeDirectory")).split()
            )
            ordered = [
                one.name
                for one, two in ((unit, other), (other, unit))
                if two.name.replace("@.", "@%i.") in " ".join(values(one, "After")).split()
            ]
            assert shared == set() or len(ordered) == 1, (unit.name, name)


def test_a_missing_device_does_not_keep_the_table_down() -> None:
    for key in ("Requires", "BindsTo", "Requisite", "PartOf"):
        assert values(TABLE, key) == []
    assert not any("dev-" in value for _, _, value in directives(TABLE))


JUDGES = {"controller": (TABLE, LOCKED), "link": (LINK,)}
"""Packages that ask the kernel who is at the other end of a socket, and the units that run them."""


def test_no_unit_hides_other_users_from_a_daemon_that_judges_by_them() -> None:
    """In a user namespace the kernel reports every peer but root and the unit's own user as 65534:
    the web process could not be told from anybody else, and all people would be one."""
    asking = {
        path.relative_to(ROOT).parts[0]
        for package in ("controller", "drivers", "link", "web")
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"\bpeer_of\(|\bSO_PEERCRED,", path.read_text("utf-8"))
    }
    assert asking == JUDGES.keys()
    for unit in (unit for units in JUDGES.values() for unit in units):
        assert values(unit, "PrivateUsers") == [], unit.name


def test_devices_are_allowed_by_class_only() -> None:
    assert values(TABLE, "DevicePolicy") == ["closed"]
    assert sorted(values(TABLE, "DeviceAllow")) == [
        f"char-{kind} rw" for kind in ("gpiochip", "i2c", "ttyACM", "ttyAMA", "ttyUSB")
    ]
    assert values(TABLE, "SupplementaryGroups") == ["dialout i2c gpio"]
    assert values(LINK, "DeviceAllow") == []
    # gpiozero finds out which board it runs on from /proc/device-tree.
    assert values(TABLE, "ProcSubset") == []


@pytest.mark.parametrize("unit", ALL, ids=lambda u: u.name)
def test_what_the_program_needs_of_the_kernel_is_allowed(unit: Path) -> None:
    """The journal's calls, sockets and threads pass the filter; what breaks out of it does not."""
    allowed = allowed_calls(values(unit, "SystemCallFilter"))
    needed = {
        "openat", "pwrite64", "fdatasync", "fsync", "fallocate", "ftruncate", "renameat2", "flock",
        "unlinkat", "fadvise64", "statfs", "ioctl", "ppoll", "epoll_wait", "clone3", "futex",
        "sendto", "sendmsg", "recvmsg", "socket", "getrandom", "mmap", "mprotect", "timerfd_create",
        "eventfd2", "fchmod",
    }  # fmt: skip
    assert needed - allowed == set()
    assert allowed & {"ptrace", "init_module", "mount", "reboot", "settimeofday", "chroot"} == set()


@pytest.mark.parametrize("unit", ALL, ids=lambda u: u.name)
def test_no_unit_holds_a_secret_or_runs_as_root(unit: Path) -> None:
    assert values(unit, "User")[0].startswith("underfelt")
    for _, key, value in directives(unit):
        assert key not in ("SetCredential", "PassEnvironment", "EnvironmentFile")
        assert not re.search(r"[0-9a-fA-F]{32}", value)
