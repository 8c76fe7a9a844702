"""The doctor finds each illness by its code on a machine that has it, and none on a healthy one."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zmq

from controller.doctor.board import board, clock, sockets, supply
from controller.doctor.buses import buses
from controller.doctor.disk import disk
from controller.doctor.lines import lines
from controller.doctor.link import link
from controller.doctor.machine import Machine
from controller.doctor.program import program
from controller.faults.catalogue import UNKNOWN, said
from controller.faults.troubles import Trouble
from drivers.layout import LineLayout, TableLayout, Transport
from hw_sim.scenario import HERE, find, load
from record.link.keys import SecretKey
from tests.e2e.table import configure, underfelt
from tests.link.server.house import house_of

LAYOUT = TableLayout(
    name="t",
    seats=7,
    transport=Transport(),
    lines=(
        LineLayout("chips-1", "feig", "/dev/underfelt/chips-1"),
        LineLayout("shoe", "cdp-shoe", "/dev/underfelt/shoe"),
    ),
    boards={"prompt": 0x27},
    pins={"door": 17},
)


def put(root: Path, name: str, text: str) -> None:
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def device(root: Path, name: str, real: str) -> None:
    """A name of a real character device."""
    path = root / name.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(real)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A healthy Pi."""
    masters = []
    for name in ("chips-1", "shoe"):
        master, slave = pty.openpty()
        masters += [master, slave]
        device(tmp_path, f"/dev/underfelt/{name}", os.ttyname(slave))
    for name in ("i2c-1", "gpiochip0"):
        device(tmp_path, f"/dev/{name}", "/dev/null")
    put(tmp_path, "/proc/cmdline", "console=tty1 root=/dev/mmcblk0p2 usbcore.authorized_default=2")
    put(tmp_path, "/proc/mounts", "/dev/mmcblk0p2 / ext4 rw,noatime 0 0\n")
    put(tmp_path, "/proc/sys/kernel/core_pattern", "core")
    put(tmp_path, "/sys/devices/platform/soc/soc:firmware/get_throttled", "0")
    put(tmp_path, "/sys/class/thermal/thermal_zone0/temp", "48312")
    put(tmp_path, "/sys/class/rtc/rtc0", "")
    put(tmp_path, "/sys/block/mmcblk0/device/life_time", "0x01 0x01")
    put(tmp_path, "/sys/block/mmcblk0/device/pre_eol_info", "0x01")
    put(tmp_path, "/sys/bus/usb/devices/usb1/authorized_default", "2")
    put(tmp_path, "/run/systemd/timesync/synchronized", "")
    yield tmp_path
    for handle in masters:
        os.close(handle)


def real(_name: str) -> object:
    return SimpleNamespace(gpiochip_open=None)


def everything(machine: Machine, load: Callable[[str], object] = real) -> list[Trouble]:
    found = [*lines(machine, LAYOUT), *buses(machine, LAYOUT, load), *board(machine)]
    found += [*clock(machine, 2_000, 1_000), *sockets(machine)]
    return [*found, *disk(machine, machine.root)]


def stranger(root: Path) -> Machine:
    """Somebody who owns nothing and is in no group."""
    return Machine(root, uid=12_345, groups=frozenset())


def test_a_healthy_machine_has_nothing(root: Path) -> None:
    assert everything(Machine(root)) == []


Harm = Callable[[Path], None]
ILL: dict[str, Harm] = {
    "E-DOC-010": lambda root: (root / "dev/underfelt/shoe").unlink(),
    "E-DOC-013": lambda root: put(
        root, "/proc/cmdline", f"console={(root / 'dev/underfelt/shoe').resolve().name},115200"
    ),
    "E-DOC-014": lambda root: put(
        root,
        f"/sys/bus/usb-serial/devices/{(root / 'dev/underfelt/shoe').resolve().name}/latency_timer",
        "16\n",
    ),
    "E-DOC-015": lambda root: device(
        root, "/dev/underfelt/shoe", str((root / "dev/underfelt/chips-1").resolve())
    ),
    "E-DOC-020": lambda root: (root / "dev/i2c-1").unlink(),
    "E-DOC-022": lambda root: (root / "dev/gpiochip0").unlink(),
    "E-DOC-030": lambda root: (root / "run/systemd/timesync/synchronized").unlink(),
    "E-DOC-032": lambda root: (root / "sys/class/rtc/rtc0").unlink(),
    "E-DOC-044": lambda root: put(root, "/sys/block/mmcblk0/device/life_time", "0x01 0x0a"),
    "E-DOC-050": lambda root: put(
        root, "/sys/devices/platform/soc/soc:firmware/get_throttled", "1"
    ),
    "E-DOC-051": lambda root: put(
        root, "/sys/devices/platform/soc/soc:firmware/get_throttled", "10000"
    ),
    "E-DOC-052": lambda root: put(
        root, "/sys/devices/platform/soc/soc:firmware/get_throttled", "4"
    ),
    "E-DOC-053": lambda root: put(
        root, "/sys/devices/platform/soc/soc:firmware/get_throttled", "40000"
    ),
    "E-DOC-054": lambda root: put(root, "/sys/class/thermal/thermal_zone0/temp", "81000"),
    "E-DOC-041": lambda root: put(root, "/proc/mounts", "/dev/mmcblk0p2 / ext4 ro,noatime 0 0\n"),
    "E-DOC-046": lambda root: put(root, "/proc/mounts", "tmpfs / tmpfs rw 0 0\n"),
    "E-DOC-047": lambda root: put(root, "/sys/fs/ext4/mmcblk0p2/errors_count", "3\n"),
    "E-DOC-080": lambda root: put(root, "/sys/bus/usb/devices/usb1/authorized_default", "1"),
    "E-DOC-081": lambda root: put(root, "/proc/sys/kernel/core_pattern", "|/usr/lib/dump %P"),
}


@pytest.mark.parametrize("code", ILL)
def test_each_illness_is_found_alone_and_says_what_to_do(code: str, root: Path) -> None:
    ILL[code](root)
    found = everything(Machine(root))
    assert [one.code for one in found] == [code]
    assert found[0].do
    assert said(code) is not UNKNOWN


FIRMWARE = "/sys/devices/platform/soc/soc:firmware/get_throttled"


def test_other_boards_tell_their_supply_elsewhere(root: Path) -> None:
    shutil.rmtree(root / "sys/devices")
    assert supply(Machine(root)) is None
    put(root, "/sys/class/hwmon/hwmon1/name", "rpi_volt\n")
    put(root, "/sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n")
    assert [one.code for one in board(Machine(root))] == ["E-DOC-050"]
    put(root, FIRMWARE.replace("soc", "soc@107c000000"), "10000\n")
    assert [one.code for one in board(Machine(root))] == ["E-DOC-051"]


def test_a_layout_that_looks_for_the_supply_of_another_board(root: Path) -> None:
    layout = TableLayout("t", 7, Transport(throttled=FIRMWARE), (), {}, {})
    assert list(buses(Machine(root), layout)) == []
    (root / FIRMWARE.lstrip("/")).unlink()
    put(root, FIRMWARE.replace("soc", "soc@107c000000"), "0\n")
    (found,) = buses(Machine(root), layout)
    assert (found.code, "soc@107c000000/" in found.detail) == ("E-DOC-055", True)


@pytest.mark.parametrize("nonsense", ["", "zzz", "-1", "\0"])
def test_a_board_that_talks_nonsense_ends_no_examination(root: Path, nonsense: str) -> None:
    put(root, FIRMWARE, nonsense)
    put(root, "/sys/class/thermal/thermal_zone0/temp", nonsense)
    put(root, "/sys/block/mmcblk0/device/life_time", nonsense)
    put(root, "/sys/block/mmcblk0/device/pre_eol_info", nonsense)
    assert everything(Machine(root)) == []


def test_a_login_that_somebody_enabled_on_a_line(root: Path) -> None:
    tty = (root / "dev/underfelt/shoe").resolve().name
    put(root, f"/etc/systemd/system/getty.target.wants/serial-getty@{tty}.service", "")
    assert [one.code for one in lines(Machine(root), LAYOUT)] == ["E-DOC-013"]


def test_a_bus_that_is_switched_on_but_has_no_device(root: Path) -> None:
    (root / "dev/i2c-1").unlink()
    put(root, "/sys/bus/i2c/devices/i2c-1/name", "bcm2835")
    (found,) = buses(Machine(root), LAYOUT, real)
    assert (found.code, "i2c-dev is not loaded" in found.detail) == ("E-DOC-020", True)


def test_nobody_is_sent_into_the_group_of_root(root: Path) -> None:
    (root / "dev/i2c-1").unlink()
    put(root, "/dev/i2c-1", "")
    (root / "dev/i2c-1").chmod(0o600)
    (found,) = buses(stranger(root), LAYOUT, real)
    assert found.detail == "/dev/i2c-1 has mode 0600 and no group for it: no udev rule gave it one"


def test_a_file_in_place_of_a_port(root: Path) -> None:
    (root / "dev/underfelt/shoe").unlink()
    put(root, "/dev/underfelt/shoe", "written while nothing was plugged in")
    assert [one.code for one in lines(Machine(root), LAYOUT)] == ["E-DOC-011"]


def test_a_port_by_the_order_of_plugging(root: Path) -> None:
    device(root, "/dev/ttyUSB0", str((root / "dev/underfelt/shoe").resolve()))
    layout = TableLayout("t", 7, Transport(), (LineLayout("x", "feig", "/dev/ttyUSB0"),), {}, {})
    assert [one.code for one in lines(Machine(root), layout)] == ["E-DOC-016"]


def test_rights_are_those_of_the_daemons_user(root: Path) -> None:
    (root / "dev/i2c-1").unlink()
    put(root, "/dev/i2c-1", "")
    (root / "dev/i2c-1").chmod(0o660)
    found = [*lines(stranger(root), LAYOUT), *buses(stranger(root), LAYOUT, real)]
    assert [one.code for one in found] == ["E-DOC-012", "E-DOC-012", "E-DOC-021"]
    group = (root / "dev/i2c-1").stat().st_gid
    member = Machine(root, uid=12_345, groups=frozenset((group,)))
    assert list(buses(member, LAYOUT, real)) == []


@pytest.mark.parametrize("stub", [SimpleNamespace(), None])
def test_an_lgpio_that_imports_and_is_empty_is_no_lgpio(root: Path, stub: Any) -> None:
    def loaded(name: str) -> object:
        if stub is None:
            raise ImportError(f"No module named {name!r}")
        return stub

    assert [one.code for one in buses(Machine(root), LAYOUT, loaded)] == ["E-DOC-024"]


def test_libraries_that_are_missing_empty_or_old() -> None:
    assert list(program()) == []

    def loaded(name: str) -> object:
        if name == "smbus2":
            return SimpleNamespace()
        if name == "serial":
            raise ImportError("No module named 'serial'")
        if name == "zmq":
            return SimpleNamespace(
                Context=None, zmq_version_info=lambda: (4, 3, 4), has=lambda _feature: True
            )
        return import_module(name)

    found = list(program(loaded))
    assert [one.code for one in found] == ["E-DOC-003", "E-DOC-003", "E-DOC-004"]
    assert [one.detail for one in found] == [
        "pyserial: No module named 'serial'", "smbus2 has no SMBus", "libzmq 4.3.4",
    ]  # fmt: skip


def test_a_clock_behind_the_journal(root: Path) -> None:
    (found,) = clock(Machine(root), 1_000, 61_000)
    assert (found.code, found.detail) == ("E-DOC-031", "60 s behind the journal")


def test_a_folder_nobody_may_write_to(root: Path) -> None:
    (root / ".underfelt-doctor").mkdir()  # also for root, who may write anywhere
    assert [one.code for one in disk(Machine(root), root)] == ["E-DOC-045"]


# --- the link -------------------------------------------------------------------------------------


def test_the_link_takes_our_key_or_says_why_not(tmp_path: Path) -> None:
    with house_of(tmp_path, "t1") as house:
        live = house.start()
        ours = SecretKey(house.pairs["t1"][1].decode())
        server = house.server_keys[0].decode()
        assert list(link((live.endpoint,), ours, server)) == []
        unknown = SecretKey(zmq.curve_keypair()[1].decode())
        assert [one.code for one in link((live.endpoint,), unknown, server)] == ["E-DOC-071"]
        wrong = zmq.curve_keypair()[0].decode()
        assert [one.code for one in link((live.endpoint,), ours, wrong)] != []
        assert live.ask("tables")["tables"] == []  # nobody said hello


def test_a_link_that_is_not_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        ours = SecretKey(zmq.curve_keypair()[1].decode())
        server = zmq.curve_keypair()[0].decode()
        assert [one.code for one in link((endpoint,), ours, server)] == ["E-DOC-070"]
    named = ("tcp://no-such-host.invalid:5701",)
    assert [one.code for one in link(named, ours, server)] == ["E-DOC-072"]


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated table that does not run."""
    folder = tmp_path_factory.mktemp("table")
    shutil.copy(HERE / "tables" / "mbs3.toml", folder / "layout.toml")
    (folder / "chips.csv").write_text("uid,value,class,series\nE004010100000001,100,cash,sim\n")
    return configure(folder, "MBS3", load(find("mbs3-plain")).settings)


def examined(config: Path) -> dict[str, list[str]]:
    ran = underfelt("doctor", "--config", str(config), "--json")
    answer = json.loads(ran.stdout)
    assert ran.returncode == (0 if answer["ok"] else 1)
    return {one["name"]: [found["code"] for found in one["found"]] for one in answer["examined"]}


def test_the_command_examines_a_whole_table(table: Path) -> None:
    found = examined(table)
    assert list(found) == [
        "program", "board", "sockets", "configuration", "devices", "keys", "disk", "clock", "table",
    ]  # fmt: skip
    assert (found["configuration"], found["keys"], found["table"]) == ([], [], ["E-DOC-090"])


def test_keys_and_configuration_keep_their_own_codes(table: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(table.parent, run)
    (run / "sealing.key").chmod(0o644)
    (run / "house.chips").write_text("nothing\n")
    found = examined(run / "table.toml")
    assert found["keys"][0] == "E-SEAL-002"
    assert found["keys"][1].startswith("E-CHIP-")
    (run / "table.toml").write_text("game = 'MBS3'\nnonsense = 1\n")
    found = examined(run / "table.toml")
    assert "E-CFG-001" in found["configuration"]
    assert "keys" not in found
    assert examined(run / "no.toml")["configuration"] == ["E-DOC-001"]


def test_a_terminal_reads_it_in_eighty_columns(table: Path) -> None:
    ran = underfelt("doctor", "--config", str(table))
    assert "ok configuration  MBS3 at mbs3\n" in ran.stdout
    assert " - E-DOC-090  table: no table answers at its socket" in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80
