"""The program: is every library there, real and new enough?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final

from controller.faults.troubles import Trouble

OLD_PYTHON: Final = "E-DOC-002"
NO_LIBRARY: Final = "E-DOC-003"
OLD_ZMQ: Final = "E-DOC-004"
LEAST_PYTHON: Final = (3, 11)
LEAST_ZMQ: Final = (4, 3, 5)
LIBRARIES: Final = {
    "serial": ("pyserial", "Serial"),
    "smbus2": ("smbus2", "SMBus"),
    "gpiozero": ("gpiozero", "Device"),
    "zmq": ("pyzmq", "Context"),
    "nacl.secret": ("PyNaCl", "SecretBox"),
    "msgspec": ("msgspec", "Struct"),
}
"""Module to the package's name and a symbol that must be in it."""


def program(load: Callable[[str], Any] = import_module) -> Iterator[Trouble]:
    if sys.version_info < LEAST_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        yield Trouble(OLD_PYTHON, "program", "stopped", f"this is Python {found}")
    for module, (package, symbol) in LIBRARIES.items():
        try:
            real = hasattr(load(module), symbol)
            said = f"{package} has no {symbol}"
        except ImportError as error:
            real, said = False, f"{package}: {error}"
        if not real:
            yield Trouble(NO_LIBRARY, "program", "stopped", said)
        elif module == "zmq":
            yield from _zmq(load(module))


def _zmq(zmq: Any) -> Iterator[Trouble]:
    version = zmq.zmq_version_info()
    if version < LEAST_ZMQ or not zmq.has("curve"):
        curve = "" if zmq.has("curve") else ", without CURVE"
        text = f"libzmq {'.'.join(map(str, version))}{curve}"
        yield Trouble(OLD_ZMQ, "program", "stopped", text)
