"""Test mode at a real daemon with simulated devices: begun, seen, used, ended in every way."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from controller.rules.engine.state import Phase
from controller.shell.client import Client
from record.journal.reader import JournalReader
from tests.controller.shell.inside import Inside, table_in
from tests.e2e.keeper import Sitting
from tests.e2e.table import command, environment, underfelt
from tests.patience import PATIENCE_S

SHELL = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from controller.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Hears Ctrl-C, even where whoever runs the tests ignores it."""
NONCE = "00112233445566778899aabbccddeeff"


@pytest.fixture(scope="module")
def sitting() -> Iterator[Sitting]:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        run.mkdir()
        with Sitting(run, game="MBS3") as made:
            made.keeper.start()
            made.until(made.status, "an answer")
            made.until_phase("between rounds")
            made.until(lambda: not worse(made), "every device ready")
            yield made


def worse(sitting: Sitting) -> list[dict[str, Any]]:
    return [one for one in sitting.status()["troubles"] if one["level"] != "note"]


@pytest.fixture
def at_rest(sitting: Sitting) -> None:
    """The test before this one may have left devices that are not back yet."""
    sitting.until(lambda: rests(sitting), "a table at rest")


@pytest.fixture
def client(sitting: Sitting) -> Iterator[Client]:
    sitting.until(lambda: rests(sitting), "a table at rest")
    made = Client(sitting.run / "service.sock")
    yield made
    made.close()
    sitting.until(lambda: not sitting.status()["test_mode"], "out of test mode")


PLAY: Final = {
    "lamps": ["off"] * 7,
    "meter": "   $123.456.78",
    "sign": "JACKPOT $123,456.78",
}
"""What the devices of an idle table show, with the meter of ``table_arguments``."""


def shows_play(sitting: Sitting) -> bool:
    now = sitting.ask_sim("/state")
    prompt = [line.strip() for line in now["prompt"]]
    return prompt == sitting.status()["prompt"] and PLAY.items() <= now.items()


def rests(sitting: Sitting) -> bool:
    """Between rounds, with every device ready; the prompt is compared with what it is now, as a
    device that is late on a busy machine changes it for a while."""
    status = sitting.status()
    return bool(status) and not status["test_mode"] and not worse(sitting) and shows_play(sitting)


def rows_of_test(sitting: Sitting) -> list[dict[str, Any]]:
    records = JournalReader(sitting.run / "journal").records()
    return [json.loads(r.body) for r in records if r.kind == "test"]


def audited(sitting: Sitting, kind: str) -> list[dict[str, Any]]:
    records = JournalReader(sitting.run / "audit").records()
    return [json.loads(r.body) for r in records if r.kind == kind]


def ok(client: Client, *words: str, cursor: int | None = None) -> dict[str, Any]:
    answer = client.ask(words, cursor)
    assert answer.get("ok"), answer
    return dict(answer["data"])


def guide(sitting: Sitting, client: Client, *words: str, say: str = "yes") -> dict[str, Any]:
    """To its end; every question has the same answer."""
    told = ok(client, *words)
    steps = list(told["steps"])

    def goes_on() -> bool:
        nonlocal told
        if told["question"]:
            ok(client, "answer", say)
        told = ok(client, *words, cursor=told["cursor"])
        steps.extend(told["steps"])
        return bool(told["done"])

    if not told["done"]:
        sitting.until(goes_on, f"the end of {words}")
    return {**told, "steps": steps}


def test_on_is_seen_everywhere_and_off_puts_the_table_back(
    sitting: Sitting, client: Client
) -> None:
    asked = sitting.status()
    assert ok(client, "test", "on")["by"]["role"] == "technician"
    sitting.until(lambda: sitting.prompt()[0].startswith("TEST MODE"), "TEST MODE on the prompt")
    status = sitting.status()
    (note,) = [one for one in status["troubles"] if one["code"] == "E-TBL-019"]
    assert note["level"] == "note"
    assert "TEST MODE" in underfelt(
        "shell", "--socket", str(sitting.run / "service.sock"), "status"
    ).stdout  # fmt: skip
    other = Client(sitting.run / "service.sock")
    for words in (("test", "on"), ("test", "off"), ("keys",)):
        assert other.ask(words)["error"] == "E-SHL-007"
    other.close()
    assert ok(client, "test", "off")["test_mode"] is False
    sitting.until(lambda: rests(sitting), "the prompt of play")
    after = sitting.status()
    assert after["test_mode"] is None
    for name in ("round", "phase", "jackpot_cents", "gaming_day"):
        assert after[name] == asked[name]
    begin, end = rows_of_test(sitting)[-2:]
    assert (begin["event"], end["event"], end["why"]) == ("begin", "end", "test off")
    assert begin["state"] == end["state"]


def test_a_test_verb_needs_test_mode(client: Client) -> None:
    assert client.ask(["lamp", "walk"])["error"] == "E-SHL-004"


@pytest.mark.usefixtures("at_rest")
def test_a_dropped_connection_ends_it(sitting: Sitting) -> None:
    gone = Client(sitting.run / "service.sock")
    ok(gone, "test", "on")
    ok(gone, "keys")
    gone.close()
    sitting.until(lambda: not sitting.status()["test_mode"], "out of test mode")
    assert rows_of_test(sitting)[-1]["why"] == "the connection ended"
    certificate = audited(sitting, "certificate")[-1]
    assert (certificate["test"], certificate["passed"]) == ("keys", False)


def test_lamps_displays_and_a_certificate(sitting: Sitting, client: Client) -> None:
    ok(client, "test", "on")
    walked = guide(sitting, client, "lamp", "walk")
    assert walked["passed"] is True
    assert sum(step["kind"] == "pass" for step in walked["steps"]) == 9
    certificate = audited(sitting, "certificate")[-1]
    assert certificate["test"] == "lamp walk"
    assert certificate["by"]["role"] == "technician"
    assert certificate["devices"]["chips-1"]["serial"]
    shown = guide(sitting, client, "display", "walk", say="no")
    assert shown["passed"] is False
    assert all("not seen" in s["text"] for s in shown["steps"] if s["kind"] == "fail")
    ok(client, "test", "off")

    sitting.until(lambda: rests(sitting), "the displays of play")


def test_keys_reach_the_test_and_not_the_table(sitting: Sitting, client: Client) -> None:
    facts = sitting.status()["journal"]["next_seq"]
    ok(client, "test", "on")
    told = ok(client, "keys")
    sitting.ask_sim("/do", "press OPEN")
    cursor = told["cursor"]
    seen = sitting.until(lambda: ok(client, "keys", cursor=cursor)["steps"], "a key")
    assert seen[0]["text"] == "OPEN; 27 to go"
    ok(client, "answer", "no")
    last = sitting.until(
        lambda: (t := ok(client, "keys", cursor=cursor))["done"] and t, "the end of the test"
    )
    assert last["passed"] is False
    assert sitting.status()["phase"] == "between rounds"
    records = [r for r in JournalReader(sitting.run / "journal").records() if r.seq >= facts]
    assert "fact" not in {record.kind for record in records}


def test_a_loopback_plug_at_a_real_port(sitting: Sitting, client: Client) -> None:
    sitting.ask_sim("/fault", "loopback sign")
    sitting.until(lambda: sitting.status()["devices"]["sign"]["state"] != "ready", "a silent sign")
    ok(client, "test", "on")
    assert guide(sitting, client, "loopback", "sign")["passed"] is True
    told = guide(sitting, client, "loopback", "shoe")
    assert "a device answers on this port" in told["steps"][-1]["text"]
    sitting.ask_sim("/fault", "loopback sign off")
    ok(client, "test", "off")
    sitting.until(lambda: not worse(sitting), "every device ready again")


def test_row_68_a_challenge_with_a_fresh_nonce_and_never_twice(
    sitting: Sitting, client: Client
) -> None:
    """Fault row 68 at a real daemon, the digest made away from the table."""
    image = sitting.run / "shoe.bin"
    image.write_bytes(b"underfelt simulated SHOE-1")
    made = json.loads(underfelt("firmware", "challenge", str(image), "--json").stdout)
    digest = hashlib.sha256(bytes.fromhex(made["nonce"]) + image.read_bytes()).digest()[:16]
    assert made["digest"] == digest.hex()
    ok(client, "test", "on")
    words = ("challenge", "shoe", made["nonce"], made["digest"])
    assert guide(sitting, client, *words)["passed"] is True
    assert client.ask(words)["error"] == "E-SHL-013"
    assert client.ask(["challenge", "sign", NONCE, NONCE])["error"] == "E-SHL-008"
    wrong = guide(sitting, client, "challenge", "shoe", NONCE, "00" * 16)
    assert "it is locked (E-CDP-024)" in wrong["steps"][-1]["text"]
    assert sitting.status()["devices"]["shoe"]["code"] == "E-CDP-024"
    client.close()  # test mode ends with it
    started_again(sitting)
    sitting.until(lambda: barred(sitting), "locked after the restart as before it")
    ok(client, "test", "on")
    again = json.loads(underfelt("firmware", "challenge", str(image), "--json").stdout)
    words = ("challenge", "shoe", again["nonce"], again["digest"])
    assert guide(sitting, client, *words)["passed"] is True, "and only a proof opens it"
    ok(client, "test", "off")
    sitting.until(lambda: not worse(sitting), "every device ready again")


def barred(sitting: Sitting) -> bool:
    shoe = sitting.status()["devices"]["shoe"]
    assert shoe["state"] != "ready"
    return bool(shoe["code"] == "E-CDP-024")


def started_again(sitting: Sitting) -> None:
    pid = sitting.keeper.pid
    sitting.keeper.signal(signal.SIGKILL)
    sitting.until(lambda: sitting.keeper.process and sitting.keeper.pid != pid, "another start")
    sitting.until(sitting.status, "an answer")


@pytest.mark.usefixtures("at_rest")
def test_one_command_takes_the_table_out_and_puts_it_back(sitting: Sitting) -> None:
    path = str(sitting.run / "service.sock")
    told = subprocess.run(
        command("shell", "--socket", path, "--json", "sign", "test"),
        input="yes\nyes\n", capture_output=True, text=True, env=environment(), timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    *steps, certificate = [json.loads(line) for line in told.stdout.splitlines()]
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    assert certificate["passed"] is True
    sitting.until(lambda: not sitting.status()["test_mode"], "out of test mode")


@pytest.mark.usefixtures("at_rest")
def test_ctrl_c_gives_a_test_up_and_the_table_is_put_back(sitting: Sitting) -> None:
    path = str(sitting.run / "service.sock")
    shell = subprocess.Popen(
        command("shell", "--socket", path, "keys", shim=SHELL),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(),
    )  # fmt: skip
    sitting.until(lambda: sitting.prompt()[0].startswith("TEST MODE"), "TEST MODE")
    assert shell.stdout is not None
    assert shell.stdout.readline().startswith("-> press each of the 28 keys")
    shell.send_signal(signal.SIGINT)
    out, err = shell.communicate(timeout=PATIENCE_S)
    assert (shell.returncode, err) == (1, "")
    assert "given up" in out
    sitting.until(lambda: rests(sitting), "the prompt of play")


def test_a_killed_daemon_starts_in_normal_mode_and_says_so(
    sitting: Sitting, client: Client
) -> None:
    ok(client, "test", "on")
    client.close()
    held = Client(sitting.run / "service.sock")
    sitting.until(lambda: not sitting.status()["test_mode"], "out of test mode")
    ok(held, "test", "on")
    started_again(sitting)
    assert sitting.status()["test_mode"] is None
    assert rows_of_test(sitting)[-1]["why"] == "the table started again"
    held.close()


def test_a_reboot_in_a_test_leaves_its_certificate(sitting: Sitting, client: Client) -> None:
    ok(client, "test", "on")
    ok(client, "keys")
    before, pid = len(audited(sitting, "certificate")), sitting.keeper.pid
    ok(client, "reboot", "yes")
    sitting.until(lambda: sitting.keeper.process is None, "the end of the daemon")
    assert sitting.keeper.exits[-1] == (0, "")
    certificate = audited(sitting, "certificate")[before:][0]
    assert (certificate["test"], certificate["passed"]) == ("keys", False)
    assert certificate["results"][-1]["text"].startswith("never pressed, stuck or dead: 1 2 3")
    assert rows_of_test(sitting)[-1]["why"] == "the table stops"
    sitting.keeper.start()
    sitting.until(lambda: sitting.status() and sitting.keeper.pid != pid, "an answer")


def test_not_during_a_round_and_the_reason_is_audited(tmp_path: Path) -> None:
    desk = Inside(table_in("mbs3-plain", Phase.BETTING), tmp_path)
    technician = 2

    async def refused() -> list[dict[str, Any]]:
        asked = (["test", "on"], ["lamp", "walk"], ["challenge", "shoe", NONCE, NONCE])
        found = [await desk.line(technician, words) for words in asked]
        await desk.desk.audit.close()
        return found

    on, walk, challenge = asyncio.run(refused())
    assert {one["error"] for one in (on, walk, challenge)} == {"E-SHL-005"}
    assert on["text"] == "round 1: bets are open"
    assert walk["text"] == "lamp walk needs test mode: not now, round 1: bets are open"
    records = JournalReader(tmp_path / "audit").records()
    outcomes = [(b["words"][0], b["outcome"]) for r in records if (b := json.loads(r.body))]
    assert outcomes == [
        ("test", "accepted"),
        ("test", "E-SHL-005"),
        ("lamp", "E-SHL-005"),
        ("challenge", "E-SHL-005"),
    ]
    assert desk.now() == desk.before
