"""Evidence packs: whole, with the half of the table, and nothing of them stays."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S
from tests.web.browser import until
from tests.web.test_places import served

EVIDENCE = "/api/v1/awards/main/1/1/evidence"


@pytest.fixture
def packs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where packs are made."""
    folder = tmp_path / "packs"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.parametrize("asked", ["", "bytes=0-9", "bytes=junk", "bytes=99999999-", "lines=1-2"])
def test_nothing_of_an_evidence_pack_stays(tmp_path: Path, packs: Path, asked: str) -> None:
    with served(tmp_path) as (web, _):
        cookie = web.signed_in()
        headers = {**cookie, "Range": asked} if asked else cookie
        reply = web.get(EVIDENCE, headers)
        assert list(packs.iterdir()) == []
        assert (reply.status, reply.body[:2]) == (200, b"PK"), "whole, whatever was asked"
        assert int(reply.headers["content-length"]) == len(reply.body) > 12_000_000
        assert reply.headers["content-disposition"].endswith('filename="evidence-main-1-1.zip"')
        assert web.ask("HEAD", EVIDENCE, headers=headers).body == b""
        assert list(packs.iterdir()) == []


@pytest.mark.parametrize("more", ["", "evidence.DOWNLOAD_S = 2"], ids=["left", "too long"])
def test_packs_that_are_downloaded_slowly_are_few(tmp_path: Path, packs: Path, more: str) -> None:
    with served(tmp_path, more=f"evidence.MOST = 1; {more}") as (web, _):
        k_lee, m_ng = web.signed_in(), web.signed_in("m.ng", "battery staple")
        slow = socket.socket()
        slow.settimeout(PATIENCE_S)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        slow.connect(web.address)
        ask = f"GET {EVIDENCE} HTTP/1.1\r\nHost: {web.netloc}\r\nCookie: {k_lee['Cookie']}\r\n\r\n"
        slow.sendall(ask.encode())
        assert slow.recv(12) == b"HTTP/1.1 200"
        if not more:
            busy = web.get(EVIDENCE, m_ng)
            assert (busy.status, busy.code) == (503, "E-WEB-011")
            slow.close()
        until(lambda: web.get(EVIDENCE, m_ng).status == 200)
        slow.close()
        assert list(packs.iterdir()) == []


@pytest.mark.usefixtures("packs")
def test_a_pack_has_the_journal_of_its_table_however_old_the_award(tmp_path: Path) -> None:
    """The feed has open awards and the latest ones only."""
    with served(tmp_path) as (web, _):
        cookie = web.signed_in()
        web.stop()
        text = web.config.read_text("utf-8")
        table = 'socket = "table.sock"\n'
        web.config.write_text(text.replace(table, f'{table}journal = "journal"\n'), "utf-8")
        web.start()
        cookie = web.signed_in()
        assert web.get(EVIDENCE, cookie).status == 200
        ran = [json.loads(line) for line in (tmp_path / "ran").read_text().splitlines()]
        assert ran[-1][-3:] == ["--journal", str(tmp_path / "journal"), "--json"]
