"""A file system of a test's own, in an image file that can be copied as it lies there: what was not
flushed is not in the copy. Needs root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def need(command: str, package: str) -> str:
    found = shutil.which(command, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if found is None:
        pytest.fail(f"{command} is missing; run: apt-get install -y {package}")
    return found


def run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(command)}: {done.stderr.strip()}")


@contextmanager
def mounted(image: Path, at: Path) -> Iterator[Path]:
    at.mkdir()
    run(need("mount", "mount"), "-o", "loop", str(image), str(at))
    try:
        yield at
    finally:
        run(need("umount", "mount"), str(at))


def make_image(image: Path, size: int) -> None:
    """An empty ext4 file system."""
    if os.geteuid() != 0:
        pytest.fail("mounting needs root; run these tests as root")
    with image.open("wb") as file:
        file.truncate(size)
    run(need("mkfs.ext4", "e2fsprogs"), "-q", "-F", str(image))
