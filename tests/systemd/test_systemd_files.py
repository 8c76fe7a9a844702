"""sysusers, tmpfiles and the message catalogue, each through the program that reads it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from controller.daemon.journald import MESSAGE_IDS
from tests.systemd.tools import ROOT, SYSTEMD, run

CATALOG = SYSTEMD / "catalog" / "underfelt.catalog"


def test_sysusers_makes_the_users_and_their_groups(tmp_path: Path) -> None:
    target = tmp_path / "usr/lib/sysusers.d"
    target.mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    shutil.copy(SYSTEMD / "sysusers.d" / "underfelt.conf", target)
    made = run("systemd-sysusers", f"--root={tmp_path}")
    assert made.returncode == 0, made.stderr
    groups = {
        name: set(members.split(",")) - {""}
        for name, _, _, members in (
            line.split(":") for line in (tmp_path / "etc/group").read_text().splitlines()
        )
    }
    assert all(groups[name] == {"underfelt"} for name in ("dialout", "i2c", "gpio"))
    users = (tmp_path / "etc/passwd").read_text().splitlines()
    assert {line.split(":")[0] for line in users} == {"underfelt", "underfelt-link"}
    assert all(line.endswith("/nologin") for line in users)


def test_tmpfiles_makes_the_directories_and_closes_the_keys(tmp_path: Path) -> None:
    key = tmp_path / "etc/underfelt/table-1/table.key"
    key.parent.mkdir(parents=True)
    key.write_text("not a real one")
    key.chmod(0o644)
    target = tmp_path / "usr/lib/tmpfiles.d"
    target.mkdir(parents=True)
    shutil.copy(SYSTEMD / "tmpfiles.d" / "underfelt.conf", target)
    # Root's name for whoever runs the test, so that it needs no privilege.
    (tmp_path / "etc/passwd").write_text(f"root:x:{key.stat().st_uid}:{key.stat().st_gid}::/:\n")
    (tmp_path / "etc/group").write_text(f"root:x:{key.stat().st_gid}:\n")
    made = run("systemd-tmpfiles", f"--root={tmp_path}", "--create", "underfelt.conf")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "var/lib/underfelt").is_dir()
    assert key.stat().st_mode & 0o777 == 0o400


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
