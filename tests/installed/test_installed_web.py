"""The pages, their files, the API and a command behind it, served by an installed ``underfelt web``
from a folder that no checkout is near."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError

import pytest

from tests.golden.files import unpack
from tests.installed.building import ROOT, Built, Machine, files_below
from tests.patience import PATIENCE_S
from web.pages import PAGES, STATIC, as_served
from web.routes import api_document

CONFIG: Final = """
[web]
listen = "127.0.0.1:0"
login = false
[[table]]
name = "mega"
journal = "journal"
"""
ARCHIVE: Final = ROOT / "tests/golden/v1/tables/mega-royal.tar.xz"
NAMED: Final = re.compile(rb"""["'](?:/static|\.)/([\w.-]+\.(?:css|js|svg))["']""")
"""Files that a page or a script names."""
VALUES: Final = {
    "table": "mega", "pool": "main", "generation": "1", "number": "1", "round": "last",
}  # fmt: skip


class Answer(NamedTuple):
    status: int
    kind: str
    body: bytes


class Served:
    def __init__(self, machine: Machine, folder: Path) -> None:
        config, self.log = folder / "web.toml", folder / "web.log"
        config.write_text(CONFIG)
        self.process = machine.start("web", "--config", str(config), log=self.log)
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"^(http://\S+)/$", self.log.read_text(), re.MULTILINE)):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)
        self.address = found[1]

    def get(self, path: str) -> Answer:
        try:
            with urllib.request.urlopen(self.address + path, timeout=PATIENCE_S) as answer:
                return Answer(answer.status, answer.headers.get_content_type(), answer.read())
        except HTTPError as error:
            return Answer(error.code, error.headers.get_content_type(), error.read())

    def ok(self, path: str) -> bytes:
        answer = self.get(path)
        assert answer.status == HTTPStatus.OK, (path, answer, self.log.read_text())
        return answer.body

    def json(self, path: str) -> Any:
        return json.loads(self.ok(path))

    def stop(self) -> int:
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture(scope="module")
def served(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    machine = Machine(tmp_path_factory.mktemp("web"))
    machine.install(built.wheel, "web")
    made = Served(machine, unpack(ARCHIVE, machine.folder))
    yield made
    assert made.stop() == 0, made.log.read_text()


def test_every_page_is_served(served: Served) -> None:
    for path, name in PAGES.items():
        expected = as_served(name, (STATIC / name).read_bytes())
        answer = served.get(path.format(**VALUES))
        assert answer == (HTTPStatus.OK, "text/html", expected), path


def test_every_file_that_pages_and_scripts_name_is_served(served: Served) -> None:
    seen: set[str] = set()
    wanted = {name for path in PAGES for name in named_in(served.ok(path.format(**VALUES)))}
    while wanted:
        name = wanted.pop()
        seen.add(name)
        wanted |= named_in(served.ok(f"/static/{name}")) - seen
    shipped = {Path(name).name for name in files_below("web/static")}
    assert seen == {name for name in shipped if not name.endswith(".html")}


def named_in(data: bytes) -> set[str]:
    return {found.decode() for found in NAMED.findall(data)}


def test_the_openapi_document_is_served(served: Served) -> None:
    assert served.json("/healthz")["ok"] is True
    told, ours = served.json("/api/v1/openapi.json"), api_document()
    assert told["info"] == ours["info"]
    assert told["components"] == ours["components"]
    assert {path: [*methods] for path, methods in told["paths"].items()} == {
        path: [*methods] for path, methods in ours["paths"].items()
    }


def test_texts_and_commands_are_found_in_the_installation(served: Served) -> None:
    """Texts of clauses and codes are data of the wheel; rounds and replays are processes."""
    assert served.json("/api/v1/clauses/MBS3-1.1.1")["text"]
    assert served.json("/api/v1/codes/E-TBL-003")["action"]
    rounds = served.json("/api/v1/tables/mega/rounds")["rounds"]
    assert rounds
    assert served.json("/api/v1/tables/mega/rounds/last")["sound"] is True
