"""The udev rules, run over described devices: names by port, serial only, strangers refused."""

from __future__ import annotations

import pytest

from tests.systemd.tools import SYSTEMD
from tests.systemd.udev_rules import Device, apply, parse

PORTS = parse(SYSTEMD / "udev" / "70-underfelt-ports.rules")
DEVICES = parse(SYSTEMD / "udev" / "70-underfelt-devices.rules")
USB = parse(SYSTEMD / "udev" / "60-underfelt-usb.rules")

PI4 = "platform-fd500000.pcie-pci-0000:01:00.0-usb-0:1.{}:1.0"
SOCKETS = {
    "pi 4": [PI4.format(n) for n in (1, 2, 3, 4)],
    "pi 5": [f"platform-xhci-hcd.{c}-usb-0:{n}:1.0" for c in (0, 1) for n in (1, 2)],
}


def tty(id_path: str, kernel: str = "ttyUSB0", action: str = "add") -> Device:
    env = {"ID_PATH": id_path} if id_path else {}
    return Device(action, "tty", ("usb-serial", "usb"), kernel, env=env)


@pytest.mark.parametrize("board", SOCKETS)
def test_each_socket_has_one_name_whatever_the_kernel_calls_it(board: str) -> None:
    names = []
    for number, path in enumerate(SOCKETS[board]):
        for kernel in (f"ttyUSB{number}", f"ttyACM{3 - number}"):
            links = apply(PORTS, tty(path, kernel)).done["SYMLINK"]
            names.append(links[0])
            assert ("underfelt/shoe" in links) == ("underfelt/cards" in links)
    assert sorted(set(names)) == [
        f"underfelt/{name}" for name in ("cards", "chips-1", "chips-2", "sign")
    ]
    assert len(names) == 2 * len(set(names))


def test_a_named_port_is_for_the_group_and_not_for_modem_managers() -> None:
    device = apply(PORTS, tty(SOCKETS["pi 4"][0]))
    assert device.done["GROUP"] == ["dialout"]
    assert device.done["MODE"] == ["0660"]
    assert device.env["ID_MM_DEVICE_IGNORE"] == device.env["ID_MM_PORT_IGNORE"] == "1"


@pytest.mark.parametrize(
    "device",
    [
        tty(PI4.format(5)),
        tty(PI4.format("1.1")),
        tty("platform-xhci-hcd.0-usb-0:1:1.1"),  # the second interface of an adapter
        tty("", "ttyS0"),
        tty(SOCKETS["pi 4"][0], action="remove"),
        Device("add", "block", ("usb",), "sda", env={"ID_PATH": SOCKETS["pi 4"][0]}),
    ],
    ids=["other port", "behind a hub", "second interface", "no path", "removed", "a disk"],
)
def test_anything_else_gets_no_name(device: Device) -> None:
    assert "SYMLINK" not in apply(PORTS, device).done


def test_the_adapters_answer_at_once() -> None:
    ftdi = apply(DEVICES, Device("add", "usb-serial", ("usb",), "ttyUSB0", "ftdi_sio"))
    assert ftdi.written == {"latency_timer": "1"}
    other = apply(DEVICES, Device("add", "usb-serial", ("usb",), "ttyUSB0", "cp210x"))
    assert other.written == {}


def test_bus_and_pins_are_for_their_groups() -> None:
    bus = apply(DEVICES, Device("add", "i2c-dev", (), "i2c-1"))
    assert (bus.done["GROUP"], bus.done["MODE"]) == (["i2c"], ["0660"])
    pins = apply(DEVICES, Device("add", "gpio", (), "gpiochip0"))
    assert (pins.done["GROUP"], pins.done["MODE"]) == (["gpio"], ["0660"])


SEALED = frozenset({"/etc/underfelt/refuse-usb"})


def plugged(
    kind: str, sub: str = "00", vendor: str = "046d", files: frozenset[str] = SEALED
) -> Device:
    attr = {"bInterfaceClass": kind, "bInterfaceSubClass": sub, "authorized": "1"}
    env = {"DEVTYPE": "usb_interface"}
    made = Device(
        "add", "usb", kernel="1-1.2:1.0", env=env, attr=attr, attrs={"idVendor": vendor},
        files=files,
    )  # fmt: skip
    return apply(USB, made)


@pytest.mark.parametrize(("kind", "sub"), [("03", "01"), ("08", "06")], ids=["keyboard", "disk"])
def test_nothing_is_refused_where_nobody_asked_for_it(kind: str, sub: str) -> None:
    """A link server, a board whose root is on a USB disk: the rule alone does nothing."""
    device = plugged(kind, sub, files=frozenset())
    assert (device.written, device.done) == ({}, {})


@pytest.mark.parametrize(
    ("kind", "sub"),
    [("03", "01"), ("08", "06"), ("e0", "01"), ("02", "06"), ("02", "0d"), ("0e", "01"),
     ("0a", "01"), ("06", "01"), ("01", "01"), ("ff", "00")],
    ids=["keyboard", "disk", "radio", "network", "ncm", "camera", "ncm data", "still", "sound",
         "unknown maker"],
)  # fmt: skip
def test_row_65_a_stranger_is_switched_off_and_reported(kind: str, sub: str) -> None:
    device = plugged(kind, sub)
    assert device.written == {"authorized": "0"}
    assert "refused-1-1.2:1.0" in device.done["RUN"]


@pytest.mark.parametrize(
    ("kind", "sub", "vendor"),
    [("ff", "ff", "0403"), ("ff", "00", "10c4"), ("ff", "01", "1a86"), ("ff", "00", "067b"),
     ("02", "02", "2e8a"), ("0a", "00", "2e8a"), ("09", "00", "2109")],
    ids=["ftdi", "silicon labs", "wch", "prolific", "cdc", "cdc data", "hub"],
)  # fmt: skip
def test_serial_adapters_and_hubs_are_left_alone(kind: str, sub: str, vendor: str) -> None:
    device = plugged(kind, sub, vendor)
    assert (device.written, device.done) == ({}, {})
