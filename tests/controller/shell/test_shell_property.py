"""No sequence of lines, by whoever, moves a meter, a wager, a settlement, a pool or the journal.

State digest, meter, wagers, credits, results, the journal's head and what the displays were told
are compared; the desk's only way to act at the table is counted apart (``reboot`` stops the daemon
between rounds and nothing else).
"""

from __future__ import annotations

import asyncio
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.rules.engine.state import Phase
from controller.shell.errors import EXIT
from controller.shell.verbs import VERBS
from record.journal.reader import verify
from tests.controller.shell.inside import UIDS, Inside, Unwritten, inside, table_in

MOMENTS = (
    ("mbs3-plain", Phase.BETTING),
    ("mbs3-plain", Phase.DEALING),
    ("nsw-shuffler-plain", Phase.DECISION_1),
    ("mega-plain", Phase.SETTLEMENT),
    ("rico-plain", None),
)


@cache
def desk_at(moment: int) -> Inside:
    return inside(*MOMENTS[moment])


KNOWN = sorted({part for name in VERBS for part in name.split()})
WORDS = st.one_of(
    st.sampled_from(KNOWN),
    st.sampled_from(["shoe", "chips-1", "sign", "1", "7", "pot", "0", "yes", "on", "E-TBL-003"]),
    st.text(max_size=8),
    st.integers(-1, 10**12).map(str),
)
LINES = st.lists(
    st.tuples(
        st.sampled_from(sorted(UIDS)),
        st.one_of(
            st.sampled_from([name.split() for name in VERBS]),
            st.lists(WORDS, max_size=4),
            st.sampled_from([["device", "shoe"], ["chips", "2"], ["reboot", "yes"]]),
            st.sampled_from([["test", "on"], ["test", "off"], ["answer", "yes"], ["answer", "no"]]),
            st.sampled_from([["loopback", "sign"], ["antenna", "test", "2"]]),
        ),
        st.none() | st.integers(-5, 10**6),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("moment", range(len(MOMENTS)))
@given(lines=LINES)
def test_no_lines_change_what_counts(moment: int, lines: list[tuple[int, list[str], Any]]) -> None:
    desk = desk_at(moment)
    stopped = len(desk.runtime.stopped)

    async def ask() -> list[dict[str, Any]]:
        more = [{} if cursor is None else {"cursor": cursor} for *_, cursor in lines]
        found = [
            await desk.line(uid, words, **one)
            for (uid, words, _), one in zip(lines, more, strict=True)
        ]
        await desk.leave()
        return found

    answers = asyncio.run(ask())
    assert desk.now() == desk.before
    rebooted = 0
    for (uid, words, _), answer in zip(lines, answers, strict=True):
        if answer.get("ok"):
            assert uid != 4, "eve has no role"
            rebooted += words == ["reboot", "yes"]
        else:
            assert answer["error"] in EXIT
            assert answer["error"] != "E-SHL-010"
    assert len(desk.runtime.stopped) - stopped == rebooted
    assert MOMENTS[moment][1] is None or not rebooted


def test_the_comparison_sees_a_verb_that_moves_something() -> None:
    """A desk with a verb that tells the table a wager: it is found."""
    desk = inside("mbs3-plain", Phase.BETTING)

    async def pays(_: Any) -> dict[str, Any]:
        core = desk.table.writer.core
        core.outbox.append(object())  # type: ignore[arg-type]
        return {}

    desk.desk.acts = {**desk.desk.acts, "why": pays}
    asyncio.run(desk.line(1, ["why"]))
    assert desk.now() != desk.before


def test_every_line_is_on_the_record_before_it_is_answered() -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Inside(table_in("mbs3-plain", Phase.BETTING), Path(folder))
        audit = Path(folder) / "audit"

        async def ask() -> list[int]:
            counts = []
            for uid, words in ((1, ["why"]), (4, ["why"]), (2, ["reboot", "yes"]), (1, ["x"])):
                await desk.line(uid, words)
                counts.append(verify(audit).records)
            await desk.desk.audit.close()
            return counts

        # A reboot in a round is accepted by role and refused by the round: two records.
        assert asyncio.run(ask()) == [1, 2, 4, 5]


def test_only_a_look_that_goes_on_is_on_the_record_once() -> None:
    desk = inside("mbs3-plain", Phase.BETTING)
    kept = cast(Unwritten, desk.desk.audit).kept

    async def ask() -> int:
        for words in (["watch"], ["why"]):
            for _ in range(3):
                await desk.line(1, words, cursor=0)
        return len(cast(Unwritten, desk.desk.audit).kept) - len(kept)

    assert asyncio.run(ask()) == 1 + 3
