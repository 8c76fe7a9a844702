"""A floor with literal values, for the tests of what it looks like."""

from __future__ import annotations

from dataclasses import replace

from controller.demo.screen import FloorNote, FloorView, MeterView, PendingAward, TableView

TABLES = (
    TableView("mbs3", "Let It Ride", "second decision", 12, True, "open", 0, 16, 16),
    TableView(
        "mega", "Megalink", "settlement", 9, True, "open", 2, 17, 17,
        prompt=("SETTLEMENT      R 9 ", "SEAT 4 PAY    175.00", "TWO PAIR            ",
                "PAID                "),
    ),
    TableView("rico", "Ricochet", "three cards to a player", 7, False, "open", 0, 10, 10),
)  # fmt: skip
NOTES = (
    FloorNote(1, "21:04:35", "rico", "hand 6 settled, house +11.00"),
    FloorNote(2, "21:04:42", "mega", "hand 8 settled, house -61.00; magic card pays 15.00", "hit"),
    FloorNote(3, "21:04:48", "mbs3", "JACKPOT $ 21.80 mystery, hand 12 seat 3: mbs3/2/2 locked",
         "jackpot"),
)  # fmt: skip
QUIET = FloorView(
    "UNDERFELT  demonstration floor",
    "link-1 leads",
    59,
    (
        MeterView("mbs3", "grand", 2_500_120, 1),
        MeterView("mbs3", "mini", 2_000, 3, must_hit_cents=2_200),
        MeterView("mega", "grand", 5_001_010, 1),
        MeterView("mega", "mini", 2_130, 1, must_hit_cents=2_200),
    ),
    0,
    TABLES,
    {"mbs3": "+26.00", "mega": "-61.00", "rico": "ruled on"},
    NOTES,
    (),
    (
        ("a table", "underfelt status --config .demo/mega/table.toml"),
        ("jackpots", "underfelt jackpot list --all --config .demo/link/link.toml"),
        ("the day", "underfelt report day --config .demo/link/link.toml"),
    ),
)
WAITING = replace(
    QUIET,
    meters=(QUIET.meters[0], replace(QUIET.meters[1], pending=1), *QUIET.meters[2:]),
    pending=(
        PendingAward(
            "mbs3/2/2",
            "mbs3/2/2 $ 21.80: sue (supervisor) verifies in 7 s, or you:",
            "underfelt jackpot verify mbs3/2/2 --by sue --password-file .demo/sue.password "
            "--config .demo/link/link.toml",
        ),
    ),
)
