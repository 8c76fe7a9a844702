"""An evidence pack as one file: ``underfelt evidence``, zipped."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from web.problems import COMMAND_SLOW, Problem
from web.runner import Done, Runner, failed

MOST_BYTES: Final = 256 << 20
KIND: Final = "application/zip"


async def evidence_pack(
    runner: Runner, key: str, socket: str, award: str, journal: Path | None
) -> Response:
    """Made in a folder of its own, which is removed when the browser has it."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, "", "underfelt-web-"))
    name = "evidence-" + award.replace("/", "-")
    arguments = ["evidence", award, "--socket", socket, "--output", str(folder / name)]
    if journal is not None:
        arguments += ["--journal", str(journal)]
    try:
        done = await runner.run(key, *arguments, "--json")
        packed = await asyncio.to_thread(_packed, folder, name, done)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    headers = {"X-Underfelt-Sound": "true" if done.code == os.EX_OK else "false"}
    return FileResponse(packed, 200, headers, KIND, gone, filename=f"{name}.zip")


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
