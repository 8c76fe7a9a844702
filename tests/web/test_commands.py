"""Reports and replays: commands with a list of arguments, bounded in time, output and number."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser import Web
from web.problems import Problem
from web.runner import AT_ONCE, WAITING, Done, Runner, failed

PYTHON = (sys.executable, "-I", "-c")


def ran(runner: Runner, *arguments: str) -> Done:
    return asyncio.run(runner.run("k.lee", *arguments))


def test_output_messages_and_exit_code() -> None:
    code = "import sys; print('{}'); print('a\\x1b[2Jb', file=sys.stderr); sys.exit(65)"
    assert ran(Runner(PYTHON), code) == Done(65, b"{}\n", "a\\x1b[2Jb")


def test_arguments_are_never_read_by_a_shell() -> None:
    hostile = "; touch x $(id) `id` | --config=/etc/passwd"
    done = ran(Runner(PYTHON), "import sys; print(sys.argv[1:])", hostile)
    assert done.output.decode() == f"{[hostile]!r}\n"


def test_secrets_of_our_environment_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/run/credentials/x")
    done = ran(Runner(PYTHON), "import os; print(sorted(os.environ))")
    assert b"CREDENTIALS" not in done.output


def test_what_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    child = f"import time; open({str(tmp_path / 'child')!r}, 'w').close(); time.sleep(600)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(Problem) as caught:
        ran(Runner(PYTHON, limit_s=3), code)
    assert (caught.value.status, caught.value.code) == (504, "E-WEB-022")
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mentions(path, tmp_path)]
    assert left == []


def mentions(path: Path, what: Path) -> bool:
    try:
        return str(what).encode() in path.read_bytes() and path.parent.name != str(os.getpid())
    except OSError:
        return False


@pytest.mark.parametrize("most", [0, 1_000, 100_000, 1_000_000])
def test_what_prints_without_end_is_ended(most: int) -> None:
    """However much of it waits in the pipe and in our buffer at that moment."""
    with pytest.raises(Problem) as caught:
        ran(Runner(PYTHON, most_bytes=most), "while True: print('x' * 1000)")
    assert (caught.value.status, caught.value.code) == (502, "E-WEB-022")


def test_what_prints_without_end_and_too_long_is_ended() -> None:
    with pytest.raises(Problem) as caught:
        ran(
            Runner(PYTHON, limit_s=0.5),
            "import sys\nwhile True: print('x' * 1000, file=sys.stderr)",
        )
    assert caught.value.status == 504


def test_few_at_once_and_not_many_wait(tmp_path: Path) -> None:
    code = f"""
import os, time
open({str(tmp_path)!r} + "/" + str(os.getpid()), "w").close()
print(len(os.listdir({str(tmp_path)!r})))
time.sleep(0.2)
os.remove({str(tmp_path)!r} + "/" + str(os.getpid()))
"""

    async def many() -> list[Any]:
        runner = Runner(PYTHON)
        asked = [runner.run(f"p{number}", code) for number in range(WAITING + 3)]
        return await asyncio.gather(*asked, return_exceptions=True)

    done = asyncio.run(many())
    refused = [one for one in done if isinstance(one, Problem)]
    assert [one.code for one in refused] == ["E-WEB-011"] * 3
    assert max(int(one.output) for one in done if isinstance(one, Done)) <= AT_ONCE


def test_exit_codes_become_statuses() -> None:
    assert failed(Done(os.EX_NOINPUT, b"", "no such round")).status == 404
    assert failed(Done(os.EX_NOPERM, b"", "")).status == 403
    assert failed(Done(os.EX_SOFTWARE, b"", "")).status == 502


# --- through the process --------------------------------------------------------------------------


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    from record.journal import Journal

    folder = tmp_path / "journal"
    journal = Journal.open(folder, table="mega", now_ms=1_790_000_000_000)
    body = b'{"round":%d,"record":{},"result":{}}'
    for number in (7, 8):
        journal.append("round", body % number, 1_790_000_000_000 + number)
    journal.sync()
    journal.close()
    return folder


@pytest.fixture
def web(tmp_path: Path, journal: Path) -> Iterator[Web]:
    path = tmp_path / "web.toml"
    path.write_text(
        f'[web]\nlisten = "127.0.0.1:0"\nlogin = false\n[link]\ncontrol = "none.sock"\n'
        f'[[table]]\nname = "mega"\njournal = "{journal}"\n'
    )
    made = Web(path)
    yield made
    made.stop()


def test_rounds_replays_and_reports(web: Web) -> None:
    rounds = web.get("/api/v1/tables/mega/rounds?most=1").json()["rounds"]
    assert [row["round"] for row in rounds] == [8]
    gone = web.get("/api/v1/tables/mega/rounds/99")
    assert (gone.status, gone.code) == (404, "E-WEB-021")
    assert web.get("/api/v1/tables/mega/rounds/0").code == "E-WEB-001"
    assert web.get("/api/v1/tables/mega/rounds/1;id").code == "E-WEB-001"
    assert web.get("/api/v1/tables/none/rounds").code == "E-WEB-001"
    for path in ("reports/day?from=2026-03-10", "awards/main/1/1", "awards/main/1/1/evidence"):
        reply = web.get(f"/api/v1/{path}")
        assert (reply.status, reply.code) == (503, "E-WEB-021"), "no link server runs"
    assert web.get("/api/v1/reports/day?from=yesterday").code == "E-WEB-003"
    assert web.get("/api/v1/reports/day?from=2026-03-10&from=2026-03-11").code == "E-WEB-003"
    assert web.get("/api/v1/reports/day?output=/tmp/x").code == "E-WEB-003"
    assert web.get("/api/v1/reports/reconcile").code == "E-WEB-001"
