"""``underfelt bundle`` beside a real table in the middle of a round: nothing closed leaves, nothing
is disturbed."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from controller.bundle.guard import forms, secrets_in
from controller.bundle.make import MANIFEST
from record.journal.reader import JournalReader
from tests.controller.bundle.test_bundle import members
from tests.e2e.keeper import bodies
from tests.e2e.table import command, environment
from tests.hidden.process import Searched, needles_of
from tests.hidden.search import Channel, search
from tests.hidden.test_hidden_search import again

DEALT = ["Jd", "9s", "Td", "Jc", "3h", "5h"]
TURNED = ["9s"]
"""The first community card; all others are closed when the bundle is made."""


def bundled(table: Searched) -> tuple[dict[str, bytes], bytes]:
    """As a person calls it, as a process of its own."""
    output = table.run / "bundle.tar.gz"
    asked = command("bundle", "--config", str(table.config), "--output", str(output), "--json")
    done = subprocess.run(asked, capture_output=True, text=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (0, "")
    told, data = json.loads(done.stdout), output.read_bytes()
    found = members(data)
    manifest = json.loads(found.pop(MANIFEST))
    assert manifest == {name: told[name] for name in manifest}
    assert {name: row["sha256"] for name, row in manifest["files"].items()} == {
        name: hashlib.sha256(part).hexdigest() for name, part in found.items()
    }
    output.unlink()  # the search that follows is of the table's own files
    return found, data


def typed(table: Searched) -> dict[str, bytes]:
    """``bundle`` at the shell: the file is there, in the folder of whoever typed it."""
    folder = table.run.parent / f"{table.run.name}-here"
    folder.mkdir()
    asked = command("shell", "--config", str(table.config), "bundle")
    done = subprocess.run(
        asked, cwd=folder, capture_output=True, text=True, env=environment(), check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    (made,) = folder.iterdir()
    assert re.fullmatch(r"[a-z0-9-]+-\d{8}-\d{6}\.tar\.gz", made.name)
    said = done.stdout.splitlines()
    assert said[0].startswith(f"{made.name}: {made.stat().st_size:,} bytes, ")
    assert any(line.startswith("left out  frames.jsonl: bytes of ") for line in said)
    assert max(map(len, said)) <= 80
    (audited,) = [
        json.loads(record.body) for record in JournalReader(table.run / "audit").records()
    ]
    assert (audited["words"], audited["outcome"]) == (["bundle"], "accepted")
    refused = subprocess.run(
        [*asked, "--json"], cwd="/proc", capture_output=True, text=True, env=environment(),
        check=False,
    )  # fmt: skip
    assert (refused.returncode, json.loads(refused.stdout)["error"]) == (73, "E-BDL-001")
    return members(made.read_bytes())


def stood(table: Searched) -> dict[str, Any]:
    status = table.status()
    return {name: status[name] for name in ("round", "phase", "prompt")}


def round_with_a_bundle(run: Path) -> None:
    with Searched(run, game="PP6") as table:
        table.keeper.start()
        table.until_phase("between rounds")
        table.do("dealer opens", "bets are open")
        table.do(f"deck {' '.join(DEALT)}")
        table.do("seat 6 bets 5.00 on 1 $")
        table.do("dealer closes")
        table.do("dealer until COMM2", "second decision")
        table.logged_by_now()
        before, pid = stood(table), table.keeper.pid
        found, data = bundled(table)
        no_closed_card(table, typed(table))
        assert (stood(table), table.keeper.pid) == (before, pid)
        no_closed_card(table, found)
        no_key(table, [*found.values(), data, gzip.decompress(data)])
        assert json.loads(found["status.json"])["phase"] == "second decision"
        table.do("dealer plays on", "between rounds")
        table.keeper.stop()
        assert (table.keeper.exits, table.keeper.starved) == ([(0, "")], 0)
        played_on(table)


def no_closed_card(table: Searched, found: dict[str, bytes]) -> None:
    assert table.dealt == DEALT
    closed = [card for card in DEALT if card not in TURNED]
    channels = [Channel(name, part, text=True) for name, part in found.items()]
    assert search(channels, needles_of(closed, table.card_frames())) == {}
    frames = [json.loads(line) for line in found["frames.jsonl"].splitlines()]
    assert sum(row["device"] == "shoe" and row["hex"] is None for row in frames) >= len(DEALT)


def no_key(table: Searched, everything: list[bytes]) -> None:
    (secret,) = secrets_in((table.run / "sealing.key").read_text("ascii"))
    assert not any(form in part for form in forms(secret) for part in everything)


def played_on(table: Searched) -> None:
    """To its end, by the process that began it, with the cards that were dealt."""
    records = table.records()
    (closed,) = bodies(records, "round")
    assert closed["result"]["round_status"] == "settled"
    (seat,) = closed["record"]["round"]["seats"]
    assert (seat["seat"], seat["cards"]) == (6, ["Jd", "Td", "3h"])
    kinds = [record.kind for record in records]
    assert (kinds.count("opened"), kinds.count("lock")) == (1, 0)


def test_a_bundle_in_the_middle_of_a_round(tmp_path: Path) -> None:
    again(round_with_a_bundle, tmp_path)
