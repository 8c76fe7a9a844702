"""How a table stands, as its heartbeat says it: always a message that the server takes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from controller.daemon.linking import MOST_TROUBLES, table_now
from record.link.codec import encode, from_table
from record.link.messages import Beat

CODES = st.one_of(st.just(""), st.from_regex(r"E-[A-Z]{3,4}-[0-9]{3}", fullmatch=True), st.text())
DEVICES = st.dictionaries(
    st.text(max_size=5),
    st.fixed_dictionaries(
        {"state": st.sampled_from(["ready", "lost"]), "code": CODES, "detail": st.text(max_size=5)}
    ),
    max_size=30,
)


@given(DEVICES)
def test_whatever_a_driver_says_the_heartbeat_is_a_message(devices: dict[str, Any]) -> None:
    now = table_now({"phase": "betting", "round": 3, "devices": devices})
    beat = Beat(1, now=now)
    assert from_table(encode(beat)) == beat
    assert now is not None
    ill = [one for one in devices.values() if one["state"] != "ready"]
    assert bool(now.troubles) == bool(ill)
    assert len(now.troubles) <= MOST_TROUBLES


def test_before_there_is_a_round_a_table_says_nothing() -> None:
    assert table_now({}) is None
