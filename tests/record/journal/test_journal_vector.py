"""The literal journal of tests/vectors/journal.toml: read twice, refused twice, written once."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from record import verify_journal
from record.journal import JournalError, format
from record.journal.reader import JournalReader
from tests.record.journal.making import open_at

ROOT = Path(__file__).resolve().parents[3]
VECTOR = tomllib.loads((ROOT / "tests/vectors/journal.toml").read_text("utf-8"))


def segment_bytes(row: dict[str, Any]) -> bytes:
    header = bytes.fromhex(row["header"]).ljust(508, b"\0") + bytes.fromhex(row["header_crc"])
    records = b"".join(record_bytes(record) for record in row["record"])
    return (header + records + bytes.fromhex(row["tail"])).ljust(row["bytes"], b"\0")


def record_bytes(row: dict[str, Any]) -> bytes:
    head = bytes.fromhex(row["head"] + row["head_crc"])
    text = str(row["kind"] + row["body"]).encode() + bytes(row["pad"])
    return head + text + bytes.fromhex(row["crc"] + row["end"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for row in VECTOR["segment"]:
        (tmp_path / f"{row['number']:08}.ufj").write_bytes(segment_bytes(row))
    return tmp_path


def test_the_vector_is_what_it_says() -> None:
    for row in VECTOR["segment"]:
        data = segment_bytes(row)
        assert (len(data), sha256(data).hexdigest()) == (row["bytes"], row["sha256"])


def test_the_package_reads_it(folder: Path) -> None:
    reader = JournalReader(folder)
    read = [(r.seq, r.kind, r.body.decode(), r.hash.hex()) for r in reader.records()]
    rows = [record for row in VECTOR["segment"] for record in row["record"]]
    typed = [(n, r["kind"], r["body"], r["hash"]) for n, r in enumerate(rows, 1)]
    assert read == typed
    report = reader.report()
    expect = VECTOR["expect"]
    assert (report.records, list(report.repairs)) == (expect["records"], expect["repairs"])
    assert report.head.hex() == expect["head"]
    assert (report.journal_id, report.table) == (VECTOR["journal"]["id"], "T-1")


def test_the_verifier_for_auditors_reads_it(folder: Path) -> None:
    row = verify_journal.verify(folder)
    assert row["ok"], row
    assert {key: row[key] for key in VECTOR["expect"]} == VECTOR["expect"]


def test_the_journal_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same facts, a write torn after 90 bytes, a new start: the same bytes, both files."""
    monkeypatch.setattr("secrets.token_bytes", lambda _: bytes.fromhex(VECTOR["journal"]["id"]))
    start = 1_762_000_000_000
    first, second = VECTOR["segment"]
    journal = open_at(tmp_path, start)
    for number, row in enumerate(first["record"], 1):
        journal.append(row["kind"], row["body"].encode(), start + 1000 * number)
        if number != 2:
            journal.sync()
    journal.close()
    with (tmp_path / "00000001.ufj").open("r+b") as file:
        file.seek(1208)
        file.write(bytes.fromhex(first["tail"]))
    open_at(tmp_path, start + 9000).close()
    assert (tmp_path / "00000001.ufj").read_bytes() == segment_bytes(first)
    assert (tmp_path / "00000002.ufj").read_bytes() == segment_bytes(second)


@pytest.mark.parametrize("row", VECTOR["refused"], ids=lambda row: row["what"])
def test_one_byte_changed(folder: Path, row: dict[str, Any]) -> None:
    path = folder / f"{row['segment']:08}.ufj"
    data = bytearray(path.read_bytes())
    assert data[row["offset"]] != row["value"]
    data[row["offset"]] = row["value"]
    path.write_bytes(data)
    with pytest.raises(JournalError) as said:
        open_at(folder)
    assert said.value.code == row["code"]
    assert verify_journal.verify(folder)["code"] == row["code"]


def test_the_first_hash(folder: Path) -> None:
    made = format.genesis(bytes.fromhex(VECTOR["journal"]["id"]), VECTOR["journal"]["table"])
    assert made.hex() == VECTOR["journal"]["before_record_1"]
    assert folder.exists()


def test_the_verifier_runs_alone(folder: Path, tmp_path: Path) -> None:
    """Copied out of the project and run by an isolated interpreter without site packages."""
    alone = tmp_path / "alone.py"
    alone.write_bytes((ROOT / "record/verify_journal.py").read_bytes())
    head = VECTOR["expect"]["head"]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(alone), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = run(str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert head in done.stdout
    assert run(str(folder), "--expect", f"5:{head}").returncode == 0
    other = run(str(folder), "--expect", f"4:{head}", "--json")
    assert other.returncode == 1
    assert "E-JRN-053" in other.stdout
    assert run(str(folder / "none")).returncode == 1
    assert run().returncode == 2
    assert run(str(folder), "--expect", "5").returncode == 2


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"card":"As"', '"card":"Ks"', "E-JRN-052"),
        ('"seq":3', '"seq":2', "E-JRN-051"),
        ('"index":0', '"index":1', "E-JRN-051"),
        ('"card":"As"', '"card":"1s"', "E-JRN-050"),
    ],
)
def test_another_card_than_was_sealed(tmp_path: Path, old: str, new: str, code: str) -> None:
    """A journal whose chain is sound but whose reveal lies, as a dishonest writer would make it."""
    rows = VECTOR["segment"][0]["record"]
    for name, change in (("honest", (old, old)), ("lying", (old, new))):
        journal = open_at(tmp_path / name)
        for row in rows:
            body = row["body"].replace(*change) if row["kind"] == "revealed" else row["body"]
            journal.append(row["kind"], body.encode(), 1)
        journal.sync()
        journal.close()
    assert verify_journal.verify(tmp_path / "honest")["opened"] == 1
    assert verify_journal.verify(tmp_path / "lying")["code"] == code
