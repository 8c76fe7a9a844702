"""Pipes that nobody empties, as a standard error whose reader hangs."""

from __future__ import annotations

import os


def full_pipe() -> tuple[int, int]:
    """Both ends; a program that writes to it now never returns."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    return reading, writing


def emptied(reading: int) -> str:
    """What is in it, without waiting for more."""
    os.set_blocking(reading, False)
    found = b""
    try:
        while data := os.read(reading, 65_536):
            found += data
    except BlockingIOError:
        pass
    return found.decode()
