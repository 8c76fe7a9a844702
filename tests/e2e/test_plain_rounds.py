"""The real daemon against the simulator over ptys: plain rounds of each game, side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.table import play

PLAIN = (
    "mbs3-plain",
    "pp6-plain",
    "nsw-shoe-plain",
    "mega-plain",
    "rico-plain",
)
"""Side by side: a table waits for its people most of the time."""


def test_plain_rounds_end_as_written_and_the_evidence_agrees(tmp_path: Path) -> None:
    with ThreadPoolExecutor(len(PLAIN)) as pool:
        played = dict(
            zip(PLAIN, pool.map(lambda name: play(name, tmp_path / name), PLAIN), strict=True)
        )
    for number, name in enumerate([name for name, one in played.items() if one.problems]):
        # Devices answer within milliseconds or not at all, and the machine may be too busy for
        # five tables at once: alone a table must do it.
        played[name] = play(name, tmp_path / f"alone{number}")
    assert {name: one.problems for name, one in played.items()} == {name: [] for name in PLAIN}
    assert all(one.rounds for one in played.values())
