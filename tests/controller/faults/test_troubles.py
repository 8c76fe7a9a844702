"""Every degraded state is one line with its code and what to do, in the words of the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.commands.status import told
from controller.faults import troubles as module
from controller.faults.catalogue import UNKNOWN, said
from controller.faults.status import DeviceStatus, Status
from controller.faults.troubles import ill, troubles
from docs.faults import codes_in, faults

WELL: Status = {
    "table": "table-7",
    "game": "MBS3",
    "round": 12,
    "phase": "settlement",
    "progressive": True,
    "link_up": True,
    "link_configured": True,
    "locked": "",
    "journal": {"id": "0123456789abcdef", "next_seq": 812, "full": False},
    "gaming_day": {"number": 3, "rounds": 41, "from_ms": 1},
    "devices": {
        "shoe": {"state": "ready", "code": "", "detail": ""},
        "sign": {"state": "ready", "code": "", "detail": ""},
    },
    "card_devices": ["shoe"],
    "prompt": ["SETTLEMENT       R 12", "SEAT 3  PAY   175.00", "FLUSH", "PAID"],
    "why": {
        "text": "Seat 3 has not been settled.",
        "clause": "MBS3-3.17",
        "do": "press PAID",
        "code": "",
        "seat": 3,
    },
    "lamps": [{"seat": 2, "lamp": "off"}, {"seat": 3, "lamp": "your turn"}],
    "beacon": False,
    "felt": {
        "rows": [
            {"seat": 3, "wagers": [{"spot": "$", "cents": 2500}], "cards": ["5h", "6h", "8h"]},
            {"seat": 0, "wagers": [], "cards": ["7h", "9h"]},
        ],
        "board": ["7h", "9h"],
    },
    "configuration_change": {"verdict": "nothing"},
    "disk": {"free_bytes": 1 << 30, "low_bytes": 64 << 20},
    "overflows": 0,
    "frames_lost": 0,
    "safe_mode": False,
    "supply_low": False,
    "power_failing": False,
    "door_open": False,
    "http_error": "",
}


def device(state: str, code: str = "", detail: str = "") -> DeviceStatus:
    return {"state": state, "code": code, "detail": detail}


LINES = [
    (
        {"devices": {"shoe": device("unknown", "E-CDP-010", "900 ms")}},
        (
            "!! E-CDP-010  shoe: silent for 850 ms; 900 ms; no card can be dealt -> "
            "Check the device's power and cable."
        ),
    ),
    (
        {"devices": {"feig-1": device("locked", "E-FEIG-016", "serial 77")}},
        (
            " ! E-FEIG-016 feig-1: not the reader of the layout: LOCKED; serial 77 -> "
            "Swap the cables back, or correct the layout file."
        ),
    ),
    (
        {"devices": {"feig-1": device("degraded", "E-FEIG-021")}},
        (
            " ! E-FEIG-021 feig-1: status 83, RF communication -> "
            "Check the antenna's tuning, and look for metal near it."
        ),
    ),
    (
        {"devices": {"sign": device("unknown", "", "has not answered yet")}},
        (
            " ! E-TBL-011  sign: a device has not answered since the start -> "
            "Check the device's power, cable and address, and the layout file."
        ),
    ),
    (
        {"devices": {"box": device("degraded", "E-ACME-001", "hot")}},
        " ! E-ACME-001 box: hot -> look the code up in the manual of the device's driver",
    ),
    (
        {"journal": {"full": True}},
        (
            "!! E-TBL-001  disk: the disk is full: the current round ends on the reserve, no new "
            "one opens -> Free space on the journal's disk. The table continues by itself."
        ),
    ),
    (
        {"disk": {"free_bytes": (64 << 20) - 1, "low_bytes": 64 << 20}},
        (
            " ! E-TBL-002  disk: the disk is nearly full; 64 MiB are free -> Free space on the "
            "journal's disk now: older copies, other programs' files."
        ),
    ),
    (
        {"link": {"halted": "event 7 has two hashes (E-LNK-030)"}},
        (
            "!! E-TBL-018  link: the link server refuses this journal, or the table refuses the "
            "server; event 7 has two hashes (E-LNK-030) -> Look up the code in the detail: "
            "link-table.md. Play continues without progressive wagers."
        ),
    ),
    (
        {"link_up": False},
        (
            " ! E-TBL-003  link: the link is lost: the progressive is closed -> Check network and "
            "link server. Play continues without progressive wagers; accepted ones are kept."
        ),
    ),
    (
        {"link_up": False, "link_configured": False},
        (
            " - E-TBL-004  link: no link is configured: the progressive is closed -> "
            "Nothing, or complete [link] in the configuration."
        ),
    ),
    (
        {"safe_mode": True, "safe_mode_by": "tom"},
        (
            " ! E-TBL-005  progressive: safe mode: sensors are read, nothing is contributed to the "
            "progressive; ordered by tom -> When the cause is fixed: safe-mode off at the shell, "
            "by a supervisor, or policy.safe_mode = false if it is set in the configuration."
        ),
    ),
    (
        {"locked": "journal damaged"},
        (
            "!! E-TBL-006  table: locked out; journal damaged -> "
            "Fix the cause, then have two people with authority clear it."
        ),
    ),
    (
        {"configuration_change": {"verdict": "wait", "changes": [{"key": "settings.seats"}]}},
        (
            " - E-TBL-007  configuration: another configuration waits; settings.seats -> "
            "End the round. Changes to the sign also wait until the table is closed."
        ),
    ),
    (
        {"configuration_change": {"verdict": "restart", "changes": []}},
        (
            " ! E-TBL-008  configuration: another configuration needs a restart -> "
            "End the round and restart the daemon."
        ),
    ),
    (
        {"configuration_change": {"verdict": "refused", "why": "table.toml: game: no"}},
        (
            " ! E-TBL-009  configuration: the files of the configuration cannot be used; "
            "table.toml: game: no -> Correct the file. The table runs with its old configuration "
            "but would not start with this one."
        ),
    ),
    (
        {"overflows": 5},
        (
            " ! E-TBL-010  devices: readings were lost because too many came at once; 5 since the "
            "start -> Every spot was read again. If the count grows, look for a device that "
            "chatters (underfelt status --json, counters)."
        ),
    ),
    (
        {"frames_lost": 2},
        (
            " - E-TBL-012  frame log: frames were not kept: disk too slow or full; 2 since the "
            "start -> Check the disk. Only the frame log is affected."
        ),
    ),
    (
        {"supply_low": True},
        (
            "!! E-TBL-013  power: the supply voltage is low: no round opens -> "
            "Check power supply and cable of the board."
        ),
    ),
    (
        {"power_failing": True},
        (
            "!! E-TBL-014  power: the 24 V rail is failing -> "
            "Check the power. The table waits until it is back or off."
        ),
    ),
    (
        {"strangers": {"1-1.2:1.0": "disk"}},
        (
            " ! E-TBL-020  USB 1-1.2:1.0: an unexpected USB device was plugged in and was switched "
            "off; disk -> Unplug it. Find out who plugged it in. The journal has the alarm (usb "
            "refused)."
        ),
    ),
    (
        {"stopped": "draw 2 was not read"},
        (
            "!! E-TBL-021  round 12: the round stopped for the supervisor; the detail says why: "
            "where a gap is and how many cards are missing, a card device that restarted, a card "
            "seen twice; draw 2 was not read -> The supervisor checks, then rules with the key and "
            "MENU 51; why names the clause."
        ),
    ),
    (
        {"untold": "KeyError"},
        (
            " ! E-TBL-022  pages: what the pages show of the table could not be made, so they may "
            "be out of date; the detail is the kind of the exception; KeyError -> Play continues. "
            "Follow the table's own displays, and report it with underfelt bundle. A restart "
            "between rounds clears it until it happens again."
        ),
    ),
    (
        {"test_mode": {"uid": 1000, "user": "mia"}},
        (
            " - E-TBL-019  table: test mode: a technician tests the devices and nobody can play; "
            "mia has it -> Run test off in the technician's shell. Test mode ends by itself after "
            "15 minutes without a command, or when the connection ends (shell.md)."
        ),
    ),
    (
        {"door_open": True},
        " ! E-TBL-015  door: the cabinet door is open -> Close it. Find out who opened it.",
    ),
    (
        {"http_error": "Address already in use"},
        (
            " ! E-TBL-016  metrics: metrics are not served; Address already in use -> Free the "
            "address and port, or correct [service]. Then restart the daemon."
        ),
    ),
    (
        {"mode": "locked"},
        (
            "!! E-TBL-017  table: locked mode: the daemon could not be started -> "
            "journalctl -x -u underfelt-table@NAME -p warning says why. Fix it, then run "
            "systemctl reset-failed and systemctl start for that unit."
        ),
    ),
]


@pytest.mark.parametrize(("changed", "line"), LINES, ids=[line[:40] for _, line in LINES])
def test_each_is_one_line(changed: Status, line: str) -> None:
    found = troubles({**WELL, **changed})
    assert [one.line for one in found] == [line]
    assert ill(found) == (not line.startswith(" - "))
    row = found[0].row()
    assert line.endswith(f"{row['about']}: {row['what']} -> {row['do']}")


def test_nothing_is_degraded() -> None:
    assert troubles(WELL) == []
    assert told(WELL).splitlines() == [
        "table table-7  MBS3  round 12: settlement",
        "gaming day 3, 41 rounds closed",
        "journal 0123456789ab, next record 812",
        "2 of 2 devices ready",
        "",
        "  | SETTLEMENT       R 12 |",
        "  | SEAT 3  PAY   175.00 |",
        "  | FLUSH                |",
        "  | PAID                 |",
        "",
        "waits: Seat 3 has not been settled. (MBS3-3.17) -> press PAID",
        "lamps: 3 your turn",
        "felt: seat 3: 5h 6h 8h $ 25.00; board 7h 9h",
        "",
        "nothing is degraded",
    ]


def test_the_worst_comes_first() -> None:
    found = troubles({**WELL, "frames_lost": 1, "door_open": True, "locked": "x", "link_up": False})
    assert [one.level for one in found] == ["stopped", "degraded", "degraded", "note"]


def test_a_game_without_a_progressive_needs_no_link() -> None:
    assert troubles({**WELL, "progressive": False, "link_up": False}) == []


def test_every_code_of_the_table_has_its_line_here_and_on_the_page() -> None:
    code = re.compile(r"E-TBL-\d{3}")
    used = set(code.findall(Path(module.__file__).read_text("utf-8")))
    shown = {line.split()[1] for _, line in LINES if "E-TBL" in line}
    listed = {one.code for one in faults() if one.code.startswith("E-TBL")}
    assert used == shown == listed
    assert len(used) == 22


# --- the texts ---------------------------------------------------------------------------------


def test_no_code_sends_its_reader_to_another_one() -> None:
    for one in faults():
        assert said(one.code).meaning, one.code
        assert not re.match(r"as (\d|above|E-)", said(one.code).action), one.code
        assert "`" not in "".join(said(one.code))
    assert said("E-DSP-003").action == said("E-BUS-001").action
    assert said("E-JRN-006").action == said("E-JRN-001").action
    assert said("E-NOT-000") == UNKNOWN


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("`E-JRN-001`", ["E-JRN-001"]),
        ("E-ENT-004, 005", ["E-ENT-004", "E-ENT-005"]),
        ("`E-JRN-005`, `006`", ["E-JRN-005", "E-JRN-006"]),
        ("`E-JRN-050` to `052`", ["E-JRN-050", "E-JRN-051", "E-JRN-052"]),
        ("`E-JRN-001` and more", []),
        ("code", []),
    ],
)
def test_the_codes_of_a_cell(cell: str, codes: list[str]) -> None:
    assert codes_in(cell) == codes
