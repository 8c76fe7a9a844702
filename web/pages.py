"""Static files, and the page of each route. Held in memory; a file that changes is read again."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from pathlib import Path
from typing import Final, NamedTuple

import rcssmin
import rjsmin
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from web.problems import NOT_HERE, Problem

STATIC: Final = Path(__file__).resolve().parent / "static"
KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".ico": "image/vnd.microsoft.icon",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
"""Nothing else is served."""
LONGEST: Final = 1 << 20
STAFF: Final = "index.html"
"""All pages of staff; its script shows the one of the address."""
PAGES: Final = {
    "/floor": STAFF,
    "/table/{table}": STAFF,
    "/jackpots": STAFF,
    "/jackpots/{pool}/{generation}/{number}": STAFF,
    "/replay/{table}/{round}": STAFF,
    "/reports": STAFF,
    "/audit": STAFF,
    "/login": STAFF,
    "/ticket": STAFF,
    "/sign/{pool}": "sign.html",
}


class File(NamedTuple):
    changed_ns: int
    data: bytes
    packed: bytes
    etag: str
    kind: str


class Pages:
    def __init__(self, first: str, folder: Path = STATIC) -> None:
        self._first, self._folder = first, folder
        self._files: dict[str, File] = {}

    async def first(self, _request: Request) -> Response:
        return RedirectResponse(self._first, 307)

    async def page(self, request: Request, name: str) -> Response:
        return self._answer(request, name)

    async def static(self, request: Request) -> Response:
        return self._answer(request, request.path_params["path"])

    def _answer(self, request: Request, name: str) -> Response:
        file = self._file(name)
        headers = {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if file.etag in (
            tag.strip() for tag in request.headers.get("if-none-match", "").split(",")
        ):
            return Response(status_code=304, headers=headers)
        data = file.data
        accepted = request.headers.get("accept-encoding", "")
        if file.packed and "gzip" in (one.partition(";")[0].strip() for one in accepted.split(",")):
            data = file.packed
            headers["Content-Encoding"] = "gzip"
        return Response(data, headers=headers, media_type=file.kind)

    def _file(self, name: str) -> File:
        path = self._folder / name
        kind = KINDS.get(path.suffix)
        parts = name.split("/")
        if kind is None or any(part in ("", ".", "..") or "\0" in part for part in parts):
            raise Problem(404, NOT_HERE, "there is no such file")
        try:
            changed_ns = os.stat(path, follow_symlinks=False).st_mtime_ns
            known = self._files.get(name)
            if known is None or known.changed_ns != changed_ns:
                with path.open("rb") as stream:
                    known = _made(as_served(name, stream.read(LONGEST)), changed_ns, kind)
                self._files[name] = known
        except OSError:
            raise Problem(404, NOT_HERE, "there is no such file") from None
        return known


_HTML_COMMENT: Final = re.compile(rb"<!--(?s:.*?)-->\s*")
_HTML_BETWEEN: Final = re.compile(rb"(?m)^[ \t]+|(?<=>)\n\s*(?=<)")


def as_served(name: str, data: bytes) -> bytes:
    """Without comments, and without the spaces and line ends that mean nothing."""
    if name.endswith(".js"):
        return bytes(rjsmin.jsmin(data))
    if name.endswith(".css"):
        return bytes(rcssmin.cssmin(data))
    if name.endswith(".html"):
        return _HTML_BETWEEN.sub(b"", _HTML_COMMENT.sub(b"", data))
    return data


def _made(data: bytes, changed_ns: int, kind: str) -> File:
    packed = gzip.compress(data, 9, mtime=0)
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    return File(changed_ns, data, packed if len(packed) < len(data) else b"", etag, kind)
