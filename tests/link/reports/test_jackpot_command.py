"""``underfelt jackpot`` against a real server on its control socket: every step, every refusal."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from link.commands import jackpot, report
from link.commands.io import listed
from link.rows import AwardState, AwardStep
from link.server import service
from link.server.replies import AwardsReply
from record.kit.lines import ask
from tests.link.people import PASSWORD
from tests.link.server.house import House

AWARD = "main/1/1"


@pytest.fixture
def control(house: House, tmp_path: Path) -> Iterator[Path]:
    """A royal flush at table-1 after wagers of 7.00: 1,000.07 at 1 %."""
    path = tmp_path / "run" / "control.sock"
    live = house.start(control=path)
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 100, 2)
    table.wager(2, 500, 3)
    table.wager(3, 100, 4)
    table.write({"what": "claimed", "round": 3, "claims": [[4, "royal flush", 100]]})
    table.deliver()
    yield path
    live.stop()


class Desk:
    """Runs the command with passwords on standard input."""

    def __init__(self, control: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.control, self._capsys, self._patch = control, capsys, monkeypatch

    def __call__(self, *argv: str, by: tuple[str, ...] = (), password: str = PASSWORD) -> Any:
        people = [word for name in by for word in ("--by", name)]
        if by and "--password-file" not in argv:
            people.append("--passwords-stdin")
            self._patch.setattr(sys, "stdin", io.StringIO(f"{password}\n" * len(by)))
        code = jackpot.run([*argv, *people, "--socket", str(self.control)])
        said = self._capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def desk(
    control: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(control, capsys, monkeypatch)


def test_from_lock_to_payment(desk: Desk) -> None:
    code, out, _ = desk("list")
    first, second = out.splitlines()[1:]
    assert code == 0
    assert first.split() == [AWARD, "grand", "1,000.07", "table-1", "3", "4", "locked"]
    assert second.startswith("    royal flush; to be verified, ")
    assert all(len(line) <= 80 for line in out.splitlines())

    code, _, err = desk("approve", AWARD, by=("k.lee",))
    assert (code, "is locked; expected verified (E-POOL-022)" in err) == (65, True)
    assert desk("verify", AWARD, "--note", "deck 7", by=("k.lee",))[:2] == (
        0,
        f"{AWARD}: verified\n",
    )
    code, out, _ = desk("approve", AWARD, by=("k.lee",))
    assert code == 0
    assert "another person with another role must approve too" in out
    assert "approved by k.lee (supervisor); to be approved by another role" in desk("list")[1]
    code, _, err = desk("approve", AWARD, by=("k.lee",))
    assert (code, "E-POOL-024" in err) == (77, True)
    code, _, err = desk("paid", AWARD, by=("m.ng",))
    assert (code, "is verified; expected approved (E-POOL-022)" in err) == (65, True)
    assert desk("approve", AWARD, by=("m.ng",))[:2] == (0, f"{AWARD}: approved by m.ng\n")
    assert desk("paid", AWARD, by=("m.ng",))[0] == 0
    assert desk("list")[1] == "no jackpot waits\n"
    assert " paid" in desk("list", "--all")[1]


def test_both_approve_at_once_and_show_says_who_and_why(desk: Desk) -> None:
    desk("verify", AWARD, by=("m.ng",))
    assert desk("approve", AWARD, by=("k.lee", "m.ng"))[:2] == (
        0,
        f"{AWARD}: approved by k.lee and m.ng\n",
    )
    code, out, _ = desk("show", AWARD)
    assert code == 0
    for wanted in (
        "7.00 at 1 %",
        "1,000.07",
        "100 % for royal flush",
        "Everything agrees.",
        "approved  m.ng",
        "k.lee",
    ):
        assert wanted in out
    code, out, _ = desk("show", AWARD, "--json")
    told = json.loads(out)
    assert [step["state"] for step in told["steps"]] == [
        "claimed", "locked", "verified", "verified", "approved",
    ]  # fmt: skip
    assert told["approved_by"] == [["k.lee", "supervisor"], ["m.ng", "manager"]]
    assert told["derivation"][-1] == [
        "amount of record", "100 % for royal flush", 100_007_000_000,
    ]  # fmt: skip
    assert told["findings"] == []


def test_a_refused_second_leaves_the_first(desk: Desk) -> None:
    desk("verify", AWARD, by=("m.ng",))
    code, _, err = desk("approve", AWARD, by=("k.lee", "a.kim"))
    assert code == 77
    assert "a.kim" in err
    assert "E-ACT-009" in err
    assert "the approval by k.lee stands" in err


@pytest.mark.parametrize(
    ("argv", "by", "exit_code", "said"),
    [
        (("verify", "main/1/9"), ("k.lee",), 65, "E-POOL-021"),
        (("show", "main/1/9"), (), 65, "E-POOL-021"),
        (("verify", AWARD), ("k.lee", "m.ng"), 64, "expected one --by"),
        (("verify", AWARD), ("a.kim",), 77, "E-ACT-009"),
        (("verify", AWARD), ("nobody",), 77, "E-ACT-001"),
        (("approve", AWARD), ("k.lee", "m.ng", "a.kim"), 64, "one --by, or two"),
    ],
)
def test_refusals_say_why(
    desk: Desk, argv: tuple[str, ...], by: tuple[str, ...], exit_code: int, said: str
) -> None:
    code, _, err = desk(*argv, by=by)
    assert (code, said in err) == (exit_code, True), err


def test_rejected_and_restored(desk: Desk) -> None:
    reject = ("reject", AWARD, "--why", "dead hand")
    code, _, err = desk(*reject, by=("m.ng",))
    assert (code, "expected two --by, with different roles" in err) == (64, True)
    code, out, _ = desk(*reject, by=("m.ng", "k.lee"))
    assert (code, out) == (0, f"{AWARD}: rejected; the jackpot is as if it had not been\n")
    assert "dead hand" in desk("show", AWARD)[1]


def test_password_files_are_for_their_owner_alone(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    file.chmod(0o440)
    code, _, err = desk("verify", AWARD, "--password-file", str(file), by=("k.lee",))
    assert (code, "mode 0440" in err, PASSWORD in err) == (77, True, False)
    file.chmod(0o400)
    assert desk("verify", AWARD, "--password-file", str(file), by=("k.lee",))[0] == 0
    code, _, err = desk("approve", AWARD, "--password-file", str(file), by=("k.lee", "m.ng"))
    assert (code, "1 --password-file; expected 2: k.lee, m.ng" in err) == (64, True)
    missing = str(tmp_path / "none")
    assert desk("approve", AWARD, "--password-file", missing, by=("k.lee",))[0] == 66


def test_nobody_listens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert jackpot.run(["list", "--socket", str(tmp_path / "none")]) == 69
    assert "is the server running?" in capsys.readouterr().err


def test_a_report_through_the_running_server(
    control: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same rows in pages over the socket as from the store."""
    code = report.run(["pool", "--socket", str(control), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert found["facts"]["Read from"] == "the running server"
    (jackpot_lines,) = [s["rows"] for s in found["sections"] if s["name"] == "jackpot"]
    # How many entries there are depends on how the messages fell into groups.
    assert [(what, other, units) for what, other, _, units in jackpot_lines] == [
        ("opening", None, 0),
        ("award", "pending", -100_007_000_000),
        ("base", "house", 100_000_000_000),
        ("seed", "house", 100_000_000_000),
        ("contribution", "wagers", 7_000_000),
        ("closing", None, 100_000_000_000),
    ]


def test_rows_are_asked_for_by_kind_and_come_in_pages(control: Path) -> None:
    for wrong in ({}, {"kind": "keys"}, {"kind": "events", "after": -1}, {"kind": "mark", "x": 1}):
        assert ask(control, {"verb": "rows", **wrong})["error"] == "E-SVC-001"
    last = ask(control, {"verb": "rows", "kind": "mark"})["last_event"]
    ids: list[int] = []
    after, pages = 0, 0
    while after or not pages:
        page = ask(control, {"verb": "rows", "kind": "events", "after": after, "most": 2})
        ids += [row["id"] for row in page["rows"]]
        after, pages = page["next"], pages + 1
    assert ids == list(range(1, last + 1))


def test_awards_come_in_pages_each_with_all_its_steps(
    house: House,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(service, "MOST_AWARDS", 2)
    path = tmp_path / "run" / "control.sock"
    live = house.start(control=path)
    table = house.stranger("table-1", live)
    table.join()
    for number in range(1, 6):
        table.wager(number, 100)
        body = {"what": "claimed", "round": number, "claims": [[1, "straight flush", 10]]}
        table.write(body)
    table.deliver()
    pages = list(listed(path, "awards", AwardsReply))
    assert [[row.award for row in page.awards] for page in pages] == [
        ["main/1/5", "main/1/4"],
        ["main/1/3", "main/1/2"],
        ["main/1/1"],
    ]
    for page in pages:
        stepped = {step.award for step in page.steps}
        assert stepped == {row.award for row in page.awards}
    for wrong in (-1, "\n", "\0", True, None, "x" * 201):
        assert ask(path, {"verb": "awards", "cursor": wrong})["error"] == "E-SVC-001"
    assert ask(path, {"verb": "awards", "after": 2})["error"] == "E-SVC-001"
    assert jackpot.run(["list", "--socket", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["awards"]
    assert [row["award"] for row in told] == [f"main/1/{number}" for number in (5, 4, 3, 2, 1)]
    live.stop()


def test_an_amount_that_changed_needs_both_approvals_anew() -> None:
    def step(place: int, state: AwardState, by: str, role: str) -> AwardStep:
        return AwardStep(AWARD, place, state, by, role, place, "", place)

    steps = [
        step(1, "claimed", "table-1", "table"),
        step(2, "locked", "server", ""),
        step(3, "verified", "k.lee", "supervisor"),
        step(4, "verified", "k.lee", "supervisor"),
    ]
    assert jackpot.approvals(steps) == [["k.lee", "supervisor"]]
    steps.append(step(5, "verified", "server", ""))
    assert jackpot.approvals(steps) == []
    steps += [step(6, "verified", "m.ng", "manager"), step(7, "approved", "k.lee", "supervisor")]
    assert jackpot.approvals(steps) == [["m.ng", "manager"], ["k.lee", "supervisor"]]
