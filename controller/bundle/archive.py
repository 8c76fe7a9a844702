"""A .tar.gz with its manifest first: the same bundle gives the same bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from typing import Any, Final

from controller.bundle.collect import Bundle

SCHEMA: Final = 1
MANIFEST: Final = "manifest.json"


def manifest_of(bundle: Bundle, made_ms: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "table": bundle.table,
        "made_ms": made_ms,
        "files": {
            name: {"what": bundle.what[name], "sha256": hashlib.sha256(data).hexdigest(),
                   "size": len(data)}
            for name, data in bundle.parts.items()
        },
        "redacted": bundle.redacted,
        "missing": bundle.missing,
    }  # fmt: skip


def archive(bundle: Bundle, made_ms: int) -> bytes:
    told = json.dumps(manifest_of(bundle, made_ms), indent=1).encode() + b"\n"
    stream = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=stream, mode="wb", mtime=made_ms // 1000) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, data in {MANIFEST: told, **bundle.parts}.items():
            about = tarfile.TarInfo(f"underfelt-{bundle.table or 'machine'}/{name}")
            about.size, about.mtime, about.mode = len(data), made_ms // 1000, 0o640
            tar.addfile(about, io.BytesIO(data))
    return stream.getvalue()
