"""Static files, and the page of each route. Held in memory; a file that changes is read again."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import os
import re
from pathlib import Path
from typing import Final, NamedTuple

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
FIRST: Final = "/floor"


class File(NamedTuple):
    changed_ns: int
    data: bytes
    packed: bytes
    etag: str
    kind: str


class Pages:
    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder
        self._files: dict[str, File] = {}

    async def first(self, _request: Request) -> Response:
        return RedirectResponse(FIRST, 307)

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


_CSS_COMMENT: Final = re.compile(rb"/\*(?s:.*?)\*/")
_CSS_MARKS: Final = re.compile(
    rb";?\s*([{}])\s*|\s*(;|,(?=\s)|[>~](?= )|!(?=i))\s*|(?<=[a-z]:) (?=[^ ])|(?<=[ (,-])0(?=\.)"
)
"""Spaces around marks, the last semicolon of a rule, and the 0 before a decimal point; no text of
ours holds these. A + keeps its spaces: a sum needs them."""


def _template() -> bytes:
    """A template, in which texts and templates may stand, two deep."""
    within = rb"`[^`]*`"
    for _ in range(2):
        within = rb"`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|\{[^{}]*\}|%s)*\})*`" % within
    return within


_JS: Final = re.compile(
    rb"(?P<left>//.*|/\*(?s:.*?)\*/)"
    rb"|(?P<space>\s+)"
    rb"|(?P<text>\"(?:[^\"\\]|\\.)*\"|" + _template() + rb"|"
    # A slash after one of these begins a regular expression, and divides after all others.
    rb"(?:(?<=[(,=:!&|?])|(?<=[=>:?&|,] )|(?<=return ))"
    rb"/(?:[^/\\\n[]|\\.|\[(?:[^]\\]|\\.)*\])+/\w*)"
    rb"|(?P<word>[\w$#]+)"
    rb"|(?P<mark>.)"
)


def as_served(name: str, data: bytes) -> bytes:
    """Without comments, and without spaces, line ends and quotes that mean nothing. Private names
    of classes are short."""
    if name.endswith(".js"):
        return _script(data)
    if name.endswith(".css"):
        return _CSS_MARKS.sub(rb"\1\2", _CSS_COMMENT.sub(b"", data)).strip()
    if name.endswith(".html"):
        text = re.sub(
            rb"(?<=>)\n\s*(?=<)|<!--(?s:.*?)-->\s*", b"", re.sub(rb"(?m)^[ \t]+", b"", data)
        )
        return re.sub(rb'(?<==)"([\w./-]*[\w-])"', rb"\1", text.replace(b" />", b">"))
    return data


def _script(data: bytes) -> bytes:
    """Our scripts end every statement with a semicolon or a brace, so that a line's end says no
    more than a space; between two words, or after a bracket and before a word, it stays."""
    made: list[bytes] = []
    space, last, kind = b"", b"", "mark"
    private = _private_names(data)
    for found in _JS.finditer(data):
        now, part = str(found.lastgroup), found.group()
        if now == "left":
            continue
        part = _PRIVATE.sub(lambda name: private[name[0]], part) if now == "text" else part
        part = private.get(part, part)
        if now == "space":
            space = b"\n" if b"\n" in space + part else b" "
            continue
        if last in (b",", b";") and part in (b"}", b")", b"]") and space != b" ":
            made.pop()
        elif space and _apart(last, kind, part, now, space):
            made.append(space)
        made.append(part)
        space, last, kind = b"", part, now
    return b"".join(made)


_PRIVATE: Final = re.compile(rb"(?<=\.)#\w+")


def _private_names(data: bytes) -> dict[bytes, bytes]:
    """#drawHands to #a, and so on. All that are used follow a dot; what else begins with # in a
    text is a selector or a colour."""
    names = dict.fromkeys(_PRIVATE.findall(data))
    letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    short = (b"#%c" % one for one in letters)
    longer = (b"#%c%c" % two for two in itertools.product(letters, letters))
    return dict(zip(names, itertools.chain(short, longer), strict=False))


def _apart(last: bytes, kind: str, part: bytes, now: str, space: bytes) -> bool:
    if now == "word":
        return kind == "word" or (space == b"\n" and (kind == "text" or last in (b")", b"]")))
    return last == part and part in (b"+", b"-", b"/")


def _made(data: bytes, changed_ns: int, kind: str) -> File:
    packed = gzip.compress(data, 9, mtime=0)
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    return File(changed_ns, data, packed if len(packed) < len(data) else b"", etag, kind)
