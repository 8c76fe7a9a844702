"""An evidence pack as one file: ``underfelt evidence``, zipped."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from web.places import Full, Places
from web.problems import BUSY, COMMAND_SLOW, Problem
from web.runner import Done, Runner, failed

MOST_BYTES: Final = 256 << 20
KIND: Final = "application/zip"
MOST: Final = 4
MOST_EACH: Final = 1
"""Packs that are being made or downloaded; those of one person. Each takes room on the disk."""
DOWNLOAD_S: Final = 600.0
CHUNK: Final = 1 << 16


class Wanted(NamedTuple):
    """``key``: who asks."""

    key: str
    socket: str
    award: str
    journal: Path | None


class EvidencePack(Response):
    """Made when it is sent, whole and never a range, in a folder of its own. When this returns,
    folder and file are gone, whatever happened."""

    def __init__(self, runner: Runner, places: Places, wanted: Wanted) -> None:
        super().__init__(media_type=KIND)
        self._runner, self._places, self._wanted = runner, places, wanted

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """``Problem`` before the first byte if it cannot be made."""
        try:
            with self._places.place(self._wanted.key):
                await self._made_and_sent(send)
        except Full:
            said = "too many evidence packs are being made or downloaded; try again"
            raise Problem(503, BUSY, said, {"Retry-After": "5"}) from None

    async def _made_and_sent(self, send: Send) -> None:
        _, socket, award, journal = self._wanted
        name = "evidence-" + award.replace("/", "-")
        folder = Path(tempfile.mkdtemp(prefix="underfelt-web-"))
        arguments = ["evidence", award, "--socket", socket, "--output", str(folder / name)]
        if journal is not None:
            arguments += ["--journal", str(journal)]
        try:
            done = await self._runner.run(self._wanted.key, *arguments, "--json")
            packed = await asyncio.to_thread(_packed, folder, name, done)
            with packed.open("rb") as file:
                shutil.rmtree(folder, ignore_errors=True)
                # A browser that takes too long is left: the answer ends before its length.
                with suppress(TimeoutError):
                    async with asyncio.timeout(DOWNLOAD_S):
                        await _sent(send, file, f"{name}.zip", sound=done.code == os.EX_OK)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


async def _sent(send: Send, file: BinaryIO, filename: str, *, sound: bool) -> None:
    headers = {
        "content-type": KIND,
        "content-length": str(os.fstat(file.fileno()).st_size),
        "content-disposition": f'attachment; filename="{filename}"',
        "x-underfelt-sound": "true" if sound else "false",
    }
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    while part := await asyncio.to_thread(file.read, CHUNK):
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _packed(folder: Path, name: str, done: Done) -> Path:
    if done.code not in (os.EX_OK, os.EX_DATAERR) or not (folder / name).is_dir():
        raise failed(done)
    return _zipped(folder, name)


def _zipped(folder: Path, name: str) -> Path:
    files = sorted(path for path in (folder / name).rglob("*") if path.is_file())
    if sum(path.stat().st_size for path in files) > MOST_BYTES:
        said = f"more than {MOST_BYTES:,} bytes; make the pack at the machine"
        raise Problem(502, COMMAND_SLOW, said)
    packed = folder / f"{name}.zip"
    with zipfile.ZipFile(packed, "x", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder))
    return packed
