"""What the service forbids or lacks, on a machine with the units as they are shipped."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zmq

import controller
from controller.config.keys import key_line
from controller.config.live import LiveConfig, line_kinds, load_live
from controller.doctor.machine import Machine, seen_by
from controller.doctor.service import Unit, service, unit_of
from controller.doctor.table import table
from controller.faults.catalogue import UNKNOWN, said
from hw_sim.scenario import HERE, find, load
from record.link.keys import write_pair
from tests.conformance.clauses import ROOT
from tests.controller.doctor.test_doctor import put
from tests.e2e.table import toml

DROP_IN = "/etc/systemd/system/underfelt-table@t1.service.d/site.conf"
SITE = """\
[Service]
LoadCredential=link.key:/etc/underfelt/%i/link.key
IPAddressAllow=10.1.0.0/16
User=nobody
"""
PROGRAM = "opt/underfelt/controller/__init__.py"


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A Pi with one table, all of it in order, whose daemon has not been started yet."""
    with TemporaryDirectory() as folder:  # pytest's own is closed to other users
        os.chmod(folder, 0o755)
        put(Path(folder), f"/{PROGRAM}", "")  # the checkout may be in a home that is closed
        monkeypatch.setattr(controller, "__file__", str(Path(folder) / PROGRAM))
        yield furnished(Path(folder))


def furnished(tmp_path: Path) -> Path:
    etc = tmp_path / "etc/underfelt/t1"
    etc.mkdir(parents=True)
    (tmp_path / "var/lib/underfelt").mkdir(parents=True)
    text = (HERE / "tables" / "mbs3.toml").read_text("utf-8").replace('"mbs3"', '"t1"', 1)
    real = text.replace("hw_sim.client.bus.SimBus", "smbus2.SMBus")
    (etc / "layout.toml").write_text(real)
    put(tmp_path, "/etc/underfelt/t1/table.key", key_line())
    secret, public = zmq.curve_keypair()[::-1]
    write_pair(etc / "link.key", etc / "t1.pub", secret, public)
    write_pair(tmp_path / "server.key", etc / "link.pub", secret, public)
    (etc / "table.key").chmod(0o400)
    settings = load(find("mbs3-plain")).settings
    rows = "\n".join(f"{name} = {toml(value)}" for name, value in settings.items())
    (etc / "table.toml").write_text(
        f'game = "MBS3"\nlayout = "layout.toml"\n[settings]\n{rows}\n'
        '[chips]\nregister = "house.chips"\npublic_key = "chips.pub"\nhouse = "OURS"\n'
        '[staff]\nregister = "house.staff"\npublic_key = "staff.pub"\n'
        '[keys]\nsealing = "credential:table.key"\n'
        '[link]\nendpoints = ["tcp://10.1.2.3:5701"]\nsecret_key = "credential:link.key"\n'
        'server_key = "link.pub"\n'
    )
    units = tmp_path / "usr/lib/systemd/system"
    units.parent.mkdir(parents=True)
    shutil.copytree(ROOT / "systemd/system", units)
    put(tmp_path, DROP_IN, SITE)
    put(tmp_path, "/etc/systemd/system/multi-user.target.wants/underfelt-table@t1.service", "")
    put(tmp_path, "/etc/systemd/system.conf", "[Manager]\nRuntimeWatchdogSec=14s\n")
    return tmp_path


def site(root: Path, old: str, new: str) -> None:
    put(root, DROP_IN, SITE.replace(old, new))


def looked_at(root: Path) -> tuple[LiveConfig, Unit]:
    config = load_live(root / "etc/underfelt/t1/table.toml", line_kinds())
    unit = unit_of(Machine(root), config.path)
    assert unit is not None
    return config, unit


def test_the_units_as_shipped_have_nothing_against_a_table_in_order(root: Path) -> None:
    config, unit = looked_at(root)
    assert list(service(Machine(root), config, unit)) == []
    assert unit.words("User")[-1] == "nobody"
    assert unit.writable == [Path("/var/lib/underfelt/t1")]


def found_at(root: Path) -> dict[str, list[str]]:
    """Everything, with a link server that nobody waits for."""
    path = root / "etc/underfelt/t1/table.toml"
    path.write_text(path.read_text().replace("10.1.2.3:5701", "127.0.0.1:1"))
    config, _ = looked_at(root)
    return {name: [one.code for one in some] for name, _, some in table(config, Machine(root))}


def rename(root: Path) -> None:
    path = root / "etc/underfelt/t1/layout.toml"
    path.write_text(path.read_text().replace('name = "t1"', 'name = "table-1"', 1))


Harm = Callable[[Path], object]
ILL: dict[str, Harm] = {
    "E-DOC-060": lambda root: shutil.rmtree(root / "usr/lib/systemd/system"),
    "E-DOC-061": lambda root: shutil.rmtree(root / "etc/systemd/system/multi-user.target.wants"),
    "E-DOC-062": rename,
    "E-DOC-063": lambda root: (root / "etc/underfelt/t1/table.key").unlink(),
    "E-DOC-064": lambda root: site(root, "link.key:", "other.key:"),
    "E-DOC-065": lambda root: (root / "etc/underfelt/t1/link.key").chmod(0o440),
    "E-DOC-066": lambda root: site(root, "10.1.0.0/16", "10.2.0.0/16"),
    "E-DOC-067": lambda root: put(root, "/etc/systemd/system.conf", "#RuntimeWatchdogSec=14s\n"),
}


@pytest.mark.parametrize("code", ILL)
def test_each_illness_is_found_alone_and_says_what_to_do(code: str, root: Path) -> None:
    ILL[code](root)
    config, unit = looked_at(root)
    assert [one.code for one in service(Machine(root), config, unit)] == [code]
    assert said(code) is not UNKNOWN


def test_a_drop_in_may_forget_what_the_unit_says(root: Path) -> None:
    encrypted = "LoadCredential=\nLoadCredentialEncrypted=table.key:/etc/underfelt/%i/t.cred\n"
    put(root, DROP_IN.replace("site", "tpm"), f"[Service]\n{encrypted}")
    _, unit = looked_at(root)
    assert unit.credentials == {"table.key": Path("/etc/underfelt/t1/t.cred")}
    assert list(unit.encrypted) == ["table.key"]


def test_a_table_by_hand_has_no_service(root: Path) -> None:
    assert unit_of(Machine(root), root / "bench/t1/table.toml") is None


needs_root = pytest.mark.usefixtures("as_root")


@needs_root
def test_root_looks_with_the_eyes_of_the_daemons_user(root: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    with seen_by("nobody", ["dialout", "no-such-group"]):
        assert (os.geteuid(), os.getegid()) == (nobody.pw_uid, nobody.pw_gid)
        with pytest.raises(PermissionError):
            (root / "etc/underfelt/t1/table.key").read_text()
    assert os.geteuid() == 0
    assert (root / "etc/underfelt/t1/table.key").read_text()


@needs_root
def test_credentials_are_opened_by_root_and_the_journal_is_the_services_to_make(root: Path) -> None:
    found = found_at(root)
    assert (found["service"], found["credentials"], found["user"]) == ([], [], [])
    assert not {"E-SEAL-001", "E-SEAL-002", "E-CFG-015"} & set(found["keys"])
    assert "E-DOC-040" in found["disk"]
    assert "E-DOC-045" not in found["disk"]
    assert found["link"] == ["E-DOC-070"]
    assert found["lines"] == ["E-DOC-010"] * 4
    put(root, "/etc/underfelt/t1/table.key", "nonsense\n")
    assert found_at(root)["credentials"] == ["E-SEAL-003"]
    assert os.geteuid() == 0


@needs_root
def test_a_program_that_the_daemons_user_cannot_read_is_found(root: Path) -> None:
    (root / PROGRAM).parent.chmod(0o700)
    assert found_at(root)["user"] == ["E-DOC-005"]


@needs_root
def test_somebody_else_is_told_that_the_credentials_stay_closed(root: Path) -> None:
    config, _ = looked_at(root)
    with seen_by("nobody"):
        credentials = next(some for name, _, some in table(config, Machine(root)) if name[0] == "c")
    assert [one.code for one in credentials] == ["E-DOC-069", "E-DOC-069"]


@needs_root
def test_a_socket_that_is_closed_to_us_does_not_say_that_no_table_runs(root: Path) -> None:
    config, _ = looked_at(root)
    closed = root / "closed"
    closed.mkdir(mode=0o700)
    service_at = replace(config.service, socket=closed / "service.sock")
    config = replace(config, service=service_at, link=None)
    with seen_by("nobody"):
        *_, (name, _, found) = table(config, Machine(root))
    assert (name, [one.code for one in found]) == ("table", ["E-DOC-091"])
