"""A diagnostics archive: what is in it, what is not, and that no key and no card can be."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import io
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.bundle import make as make_module
from controller.bundle.collect import Bundle, collect
from controller.bundle.guard import forms, secrets_in, z85_decode, z85_encode
from controller.bundle.make import MANIFEST, archive
from controller.bundle.redact import FIELDS, WHOLE, log_lines, record_row
from controller.commands.bundle import run
from controller.daemon.service import Service
from controller.shell.answers import MadeBundle
from controller.shell.render.records import bundle as lines_of
from hw_sim.scenario import HERE, find, load
from record.journal import Record
from tests.controller.daemon.test_daemon_metrics import STATUS
from tests.controller.evidence.house import BURNT, HANDS, JournalTable
from tests.controller.link.files import with_link
from tests.e2e.table import configure, environment
from tests.hidden.search import Channel, needles, search
from tests.patience import PATIENCE_S

NOBODY = 65534
LOGGED = "2026-03-10T12:00:00 table-1 underfelt[1]: "


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, JournalTable]:
    """A configured table with its keys, a journal and a frame log; nothing runs."""
    folder = tmp_path_factory.mktemp("table")
    shutil.copy(HERE / "tables" / "mbs3.toml", folder / "layout.toml")
    (folder / "chips.csv").write_text("uid,value,class,series\nE004010100000001,100,cash,sim\n")
    config = configure(folder, "MBS3", load(find("mbs3-plain")).settings)
    with_link(config, ["tcp://127.0.0.1:5701"])
    key = bytes.fromhex((folder / "sealing.key").read_text().split()[1])
    made = JournalTable("mbs3", folder, Random(3), key)
    for hands in ({1: "royal flush"}, {2: "straight flush"}):
        made.open_bets()
        made.deal(hands)
        made.close(1, hands, {})
    made.put("selection", {"what": "committed", "round": 1, "seed": "5" * 64})
    made.put("deckwatch", {"cards": [30, 0, 26, 12, 22]})
    made.frames.close()
    made.disk.close()
    return config, made


def logging(text: str) -> Any:
    def answer(*_: Any, **__: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], 0, text.encode(), b"")

    return answer


def members(data: bytes) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        for one in tar.getmembers():
            stream = tar.extractfile(one)
            assert stream is not None
            found[one.name.partition("/")[2]] = stream.read()
    return found


def secrets(config: Path) -> list[bytes]:
    names = ("sealing.key", "link.key", "chips.key")
    found = [s for name in names for s in secrets_in((config.parent / name).read_text())]
    assert len(found) == 3
    return found


def test_no_key_in_any_form_and_no_card_of_any_round(
    table: tuple[Path, JournalTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, made = table
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/journalctl")
    data = archive(collect(config, logging(f"{LOGGED}started\n")), 1)
    found = members(data)
    assert {"journal.jsonl", "frames.jsonl", "log.txt", "config.json"} <= found.keys()
    everything = [*found.values(), data, gzip.decompress(data)]
    for secret in secrets(config):
        for form in forms(secret):
            assert not any(form in part for part in everything)
    cards = sorted({c for hand in HANDS.values() for part in hand for c in part} | {BURNT})
    told = needles([card for card in made.dealt if card in cards], made.sent_frames)
    channels = [Channel(name, part, text=True) for name, part in found.items()]
    assert search(channels, told) == {}
    assert b"5555555555555555" not in found["journal.jsonl"]
    assert b"[30,0,26" not in found["journal.jsonl"]


def test_the_search_finds_what_is_there(table: tuple[Path, JournalTable]) -> None:
    """The same search over the journal's own bodies, where told cards stand."""
    made = table[1]
    plain = b'{"cards":[{"card":"9s"}]}'
    assert search([Channel("x", plain, text=True)], needles(["9s"], made.sent_frames))


def test_a_key_that_got_into_a_part_takes_the_part_out(
    table: tuple[Path, JournalTable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(table[0].parent, folder)
    config = folder / "table.toml"
    secret = secrets(config)[1]
    layout = folder / "layout.toml"
    layout.write_text(layout.read_text() + f"# {z85_encode(secret)}\n")
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/journalctl")
    bundle = collect(config, logging(f"{LOGGED}key {secret.hex()}\n"))
    assert "layout.toml" not in bundle.parts
    assert {"part": "layout.toml", "what": "all of it",
            "why": "a key of this table was found in it"} in bundle.redacted  # fmt: skip
    assert b"key " + secret.hex()[:12].encode() + b"..." in bundle.parts["log.txt"]


def test_a_key_pasted_where_its_path_belongs_does_not_leave(
    table: tuple[Path, JournalTable], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(table[0].parent, folder)
    config, secret = folder / "table.toml", secrets(folder / "table.toml")[0].hex()
    stated = re.sub(r"(?m)^sealing = .*$", f'sealing = "{secret}"', config.read_text())
    config.write_text(stated)
    assert secret in stated
    bundle = collect(config)
    everything = gzip.decompress(archive(bundle, 1)).decode("utf-8", "replace")
    assert secret not in everything
    assert "config.json" not in bundle.parts
    assert "where the path of its file belongs" in everything
    config.write_text(stated.replace('game = "MBS3"', f'game = "{secret}"'))
    bundle = collect(config)  # which cannot be used now, and its problems are told
    assert [row["part"] for row in bundle.missing][-1] == "everything of the table"
    assert secret not in gzip.decompress(archive(bundle, 1)).decode("utf-8", "replace")


def test_what_was_left_out_is_listed_with_the_reason(table: tuple[Path, JournalTable]) -> None:
    bundle = collect(table[0])
    said = {row["what"]: row["why"] for row in bundle.redacted}
    assert said["bodies of 1 record of kind deckwatch"] == "cards, persons or seeds may stand there"
    assert said["bodies of 2 records of kind revealed"]
    assert said["bytes of 12 frames of card devices"] == "a card or a PIN may be in them"
    assert said["contents of key files"]
    gone = [row["part"] for row in bundle.missing]
    assert "status.json" in gone  # nobody answers, and the rest is there all the same


@contextmanager
def answering(path: Path) -> Iterator[None]:
    """The daemon's own service with one verb, in a thread of its own."""
    loop, up = asyncio.new_event_loop(), threading.Event()

    async def serve() -> None:
        service = Service(
            path, {"status": lambda _: STATUS, "metrics": lambda _: {"text": "underfelt_up 1\n"}}
        )
        await service.start()
        up.set()
        await stop.wait()
        await service.close()

    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert up.wait(PATIENCE_S)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def test_a_table_that_answers_adds_its_status_and_numbers(table: tuple[Path, JournalTable]) -> None:
    with answering(table[0].parent / "service.sock"):
        bundle = collect(table[0])
    assert json.loads(bundle.parts["status.json"])["counts"]["rounds"] == 41
    assert bundle.parts["metrics.txt"] == b"underfelt_up 1\n"


def test_the_command_says_the_size_and_keeps_an_old_file(
    table: tuple[Path, JournalTable], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "b.tar.gz"
    asked = ["--config", str(table[0]), "--output", str(target), "--json"]
    assert run(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["size"] == target.stat().st_size
    found = members(target.read_bytes())
    stated = json.loads(found.pop(MANIFEST))
    assert stated["files"].keys() == found.keys()
    for name, data in found.items():
        row = stated["files"][name]
        assert (row["sha256"], row["size"]) == (hashlib.sha256(data).hexdigest(), len(data))
    assert run(asked) == 73
    assert "E-BDL-001" in capsys.readouterr().err


def test_without_a_name_it_gets_one_of_its_own_in_this_folder(
    table: tuple[Path, JournalTable],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(make_module, "now_ms", lambda: 1_700_000_000_000)
    names = []
    for _ in range(2):  # in the same second: the first one stays
        assert run(["--config", str(table[0]), "--json"]) == 0
        names.append(json.loads(capsys.readouterr().out)["file"])
    assert re.fullmatch(r"mbs3-2023111[45]-\d{6}\.tar\.gz", names[0])
    assert names[1] == names[0].replace(".tar.gz", "-2.tar.gz")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_half_an_archive_does_not_stay(
    table: tuple[Path, JournalTable], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk that is full at a limit of the process."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    had = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        code = run(["--config", str(table[0]), "--output", str(tmp_path / "b.tar.gz")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, had)
    assert (code, list(tmp_path.iterdir())) == (73, [])
    assert "E-BDL-001" in capsys.readouterr().err


def as_nobody(folder: Path, config: Path) -> MadeBundle:
    """What somebody without rights gets, who typed it in ``folder``."""
    if os.getuid() != 0:
        pytest.fail("this test changes its user: run it as root")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            os.setgroups([])
            os.setresuid(NOBODY, NOBODY, NOBODY)
            os.write(writer, json.dumps(make_module.make(config)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        told: MadeBundle = json.loads(stream.read())
    os.waitpid(child, 0)
    return told


def test_who_may_not_read_it_all_is_told_the_command_that_does(
    table: tuple[Path, JournalTable],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, mine = Path(place) / "mbs3", Path(place) / "home"
        Path(place).chmod(0o755)
        shutil.copytree(table[0].parent, folder)
        folder.chmod(0o755)
        config = folder / "table.toml"
        config.write_text(config.read_text().replace(str(table[0].parent), str(folder)))
        for closed in ("journal", "frames"):
            (folder / closed).chmod(0o700)
        mine.mkdir()
        os.chown(mine, NOBODY, NOBODY)
        told = as_nobody(mine, config)
        gone = {row["part"]: row["why"] for row in told["missing"]}
        assert "Permission denied" in gone["journal.jsonl"]
        assert gone["frames.jsonl"] == f"{folder}/frames: Permission denied"
        assert "link.key: Permission denied; what is in it could not" in gone["search for keys"]
        (made,) = mine.iterdir()
        assert (made.name, made.owner()) == (told["file"], "nobody")
        assert {"config.json", "doctor.json"} <= members(made.read_bytes()).keys()
        last = list(lines_of(told, 80))[-3:]
        assert last[0].endswith(" bundle \\")
        assert last[0].startswith("sudo ")
        assert [line.endswith("\\") for line in last] == [True, True, False]
        ran = re.sub(r"sudo \S+", shlex.join([sys.executable, "-m", "controller.cli"]), last[0])
        done = subprocess.run(
            ["sh", "-c", "\n".join([ran, *last[1:]])], cwd=mine, env=environment(),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (whole,) = (path for path in mine.iterdir() if path != made)
        assert whole.name == made.name.replace(".tar.gz", "-all.tar.gz")
        assert {"journal.jsonl", "frames.jsonl"} <= members(whole.read_bytes()).keys()
        assert "-: " in done.stderr


def test_an_archive_is_nothing_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(SystemExit) as stopped:
        run(["--config", "t.toml", "--output", "-"])
    assert stopped.value.code == 64


def test_without_a_readable_configuration_the_machine_is_still_described(tmp_path: Path) -> None:
    bundle = collect(tmp_path / "none.toml", logging(f"{LOGGED}started\n"))
    assert set(bundle.parts) - {"log.txt"} == {"versions.json", "doctor.json"}
    assert bundle.missing


def test_the_same_bundle_is_the_same_bytes() -> None:
    bundle = Bundle("t", {"a": b"1"}, {"a": "one"})
    assert archive(bundle, 5_000) == archive(bundle, 5_000)


def test_an_unknown_kind_of_record_tells_nothing() -> None:
    row, redacted = record_row(Record(7, "novelty", b'{"v":1,"card":"9s"}', 5, bytes(32)))
    assert (row["body"], redacted) == ({}, True)
    row, _ = record_row(Record(7, "fact", b'{"what":"x","of":{"card":"9s"},"by":{"person":"D7",'
                                          b'"role":"dealer"}}', 5, bytes(32)))  # fmt: skip
    assert row["body"] == {"what": "x", "by": {"role": "dealer"}}
    who = b'{"uid":1000,"user":"mia","role":"technician"}'
    begun = b'{"event":"begin","by":' + who + b',"state":"ab"}'
    row, _ = record_row(Record(7, "test", begun, 5, bytes(32)))
    assert row["body"] == {"event": "begin", "state": "ab", "by": {"role": "technician"}}
    assert not WHOLE & FIELDS.keys()


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=9), st.binary(max_size=9))
def test_every_form_of_a_secret_is_searched_for(secret: bytes, before: bytes, after: bytes) -> None:
    assert z85_decode(z85_encode(secret)) == secret
    assert list(secrets_in(f"word {secret.hex()}\n")) == [secret]
    assert secret in secrets_in(f"word {z85_encode(secret)}\n")
    for text in (
        before + secret + after,
        base64.b64encode(before + secret + after),
        base64.urlsafe_b64encode(before + secret + after),
        secret.hex().upper().encode(),
        z85_encode(secret).encode(),
    ):
        assert any(form in text for form in forms(secret))


def test_z85_is_the_one_of_the_standard() -> None:
    assert z85_encode(bytes.fromhex("864fd26fb559f75b")) == "HelloWorld"
    assert z85_decode("HelloWorld") == bytes.fromhex("864fd26fb559f75b")
    assert z85_decode("Hello~orld") is None


def test_long_numbers_go_from_the_log() -> None:
    line = "head " + "ab" * 32 + " of round 7"
    assert list(log_lines([line, "round 7 over"])) == [
        ("head abababababab... of round 7", True), ("round 7 over", False)
    ]  # fmt: skip
    hidden = list(log_lines(["underfelt-link-secret " + "x" * 40]))
    assert hidden == [("[a line with a key in it]", True)]
    assert not re.search("x{40}", hidden[0][0])
