"""sysusers, tmpfiles and the message catalogue, each through the program that reads it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from controller.daemon.journald import MESSAGE_IDS
from tests.systemd.tools import ROOT, SYSTEMD, run, values

CATALOG = SYSTEMD / "catalog" / "underfelt.catalog"


def machine(root: Path, role: str) -> Path:
    """A root with the files of one role, beside those that systemd brings itself."""
    for kind in ("sysusers.d", "tmpfiles.d"):
        (root / "usr/lib" / kind).mkdir(parents=True)
        shutil.copy(SYSTEMD / kind / f"underfelt-{role}.conf", root / "usr/lib" / kind)
    shutil.copy("/usr/lib/sysusers.d/basic.conf", root / "usr/lib/sysusers.d")
    (root / "etc").mkdir()
    return root


def rows(path: Path) -> dict[str, list[str]]:
    return {line.split(":")[0]: line.split(":") for line in path.read_text().splitlines()}


GROUPS = {
    "table": {"dialout", "i2c", "gpio"},
    "link": set(),
    "web": {"underfelt", "underfelt-link"},
}


@pytest.mark.parametrize(
    ("role", "user"),
    [("table", "underfelt"), ("link", "underfelt-link"), ("web", "underfelt-web")],
)
def test_sysusers_makes_the_user_of_one_role_without_a_conflict(
    role: str, user: str, tmp_path: Path
) -> None:
    """Beside systemd's own groups, of which dialout is one; the second time is a boot."""
    machine(tmp_path, role)
    for _ in range(2):
        made = run("systemd-sysusers", f"--root={tmp_path}")
        assert made.returncode == 0, made.stderr
        assert "onflict" not in made.stderr
    users, groups = rows(tmp_path / "etc/passwd"), rows(tmp_path / "etc/group")
    assert {name for name in users if name.startswith("underfelt")} == {user}
    assert users[user][-1].endswith("/nologin")
    devices = {name for name, row in groups.items() if user in row[3].split(",")}
    assert devices == GROUPS[role]
    assert groups["dialout"][2] == "20"  # as Debian has it


def test_tmpfiles_makes_the_directories_and_closes_the_keys(tmp_path: Path) -> None:
    machine(tmp_path, "table")
    shutil.copy(SYSTEMD / "tmpfiles.d" / "underfelt-link.conf", tmp_path / "usr/lib/tmpfiles.d")
    site = tmp_path / "etc/underfelt"
    modes = {"table-1/table.key": 0o400, "link.key": 0o400, "seal.key": 0o400, "link.toml": 0o640}
    for name in modes:
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text("not a real one")
        (site / name).chmod(0o644)
    # Root's name for whoever runs the test, so that it needs no privilege.
    user, group = site.stat().st_uid, site.stat().st_gid
    (tmp_path / "etc/passwd").write_text(f"root:x:{user}:{group}::/:\n")
    (tmp_path / "etc/group").write_text(f"root:x:{group}:\nunderfelt-link:x:{group}:\n")
    made = run(
        "systemd-tmpfiles", f"--root={tmp_path}", "--create", "underfelt-table.conf",
        "underfelt-link.conf",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "var/lib/underfelt").is_dir()
    assert {name: (site / name).stat().st_mode & 0o777 for name in modes} == modes


def test_a_link_server_gets_nothing_that_is_for_a_table() -> None:
    """What the page tells to install there: its own unit, user and directories."""
    page = (ROOT / "docs/operations/systemd.md").read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (link,) = [block for block in blocks if "underfelt-link.conf" in block]
    (table,) = [block for block in blocks if "underfelt-table.conf" in block]
    (web,) = [block for block in blocks if "underfelt-web.conf" in block]
    named = {role: set(re.findall(r"systemd/\S+", block)) for role, block in
             (("link", link), ("table", table), ("web", web))}  # fmt: skip
    for pattern in named["link"] | named["table"] | named["web"]:
        assert list(ROOT.glob(pattern)), pattern
    files = {
        role: {p for pattern in patterns for p in ROOT.glob(pattern) if p.is_file()}
        for role, patterns in named.items()
    }
    assert not any("udev" in str(path) or "table" in path.name for path in files["link"])
    shipped = {path for path in SYSTEMD.rglob("*") if path.is_file()}
    assert files["link"] | files["table"] | files["web"] == shipped


def test_the_modules_of_every_device_class_are_loaded_first() -> None:
    """A class that the kernel does not know when the unit starts stays forbidden."""
    text = (SYSTEMD / "modules-load.d" / "underfelt-table.conf").read_text("utf-8")
    loaded = {line for line in text.splitlines() if line and not line.startswith("#")}
    known = {"ttyUSB": "usbserial", "ttyACM": "cdc_acm", "i2c": "i2c-dev"}
    built_in = {"ttyAMA", "gpiochip"}
    for name in ("underfelt-table@.service", "underfelt-locked@.service"):
        unit = SYSTEMD / "system" / name
        classes = {v.split()[0].removeprefix("char-") for v in values(unit, "DeviceAllow")}
        assert {known[one] for one in classes - built_in} <= loaded
        assert "systemd-modules-load.service" in " ".join(values(unit, "After")).split()


def test_every_alarm_class_has_its_entry_and_no_other(tmp_path: Path) -> None:
    assert len(set(MESSAGE_IDS.values())) == len(MESSAGE_IDS)
    listed = re.findall(r"^-- ([0-9a-f]{32})$", CATALOG.read_text(), re.M)
    assert sorted(listed) == sorted(MESSAGE_IDS.values())
    target = tmp_path / "usr/lib/systemd/catalog"
    target.mkdir(parents=True)
    (tmp_path / "var/lib/systemd/catalog").mkdir(parents=True)
    shutil.copy(CATALOG, target)
    built = run("journalctl", f"--root={tmp_path}", "--update-catalog")
    assert built.returncode == 0, built.stderr
    known = run("journalctl", f"--root={tmp_path}", "--list-catalog").stdout
    assert all(message_id in known for message_id in MESSAGE_IDS.values())


def test_an_entry_names_only_fields_that_are_sent_and_pages_that_exist() -> None:
    text = CATALOG.read_text()
    assert set(re.findall(r"@([A-Z_]+)@", text)) <= {"TABLE_ID", "DEVICE", "FAULT_CODE", "ROUND_ID"}
    for entry in re.split(r"^-- ", text, flags=re.M)[1:]:
        for header in ("Subject: ", "Defined-By: Underfelt", "Documentation: file:"):
            assert header in entry
    units = "".join(p.read_text() for p in (SYSTEMD / "system").iterdir())
    for page in set(re.findall(r"file:/usr/share/doc/underfelt/(\S+)", text + units)):
        assert (ROOT / "docs" / page).is_file(), page


def test_the_ids_are_these_for_ever() -> None:
    """A changed id breaks whoever filters by it: journalctl MESSAGE_ID=..."""
    assert MESSAGE_IDS["table locked"] == "445e8a613ce55861f1ba0878af4c9a3f"
    assert MESSAGE_IDS["journal failed"] == "8876fae2c0b6418850201674c5a3c54f"
    assert MESSAGE_IDS["device failed"] == "e89feaba8f4f308d3bb7cc7466cde45c"
    assert MESSAGE_IDS["deck alarm"] == "0a25caf9087dc8b76fac56d2ab528fe6"
