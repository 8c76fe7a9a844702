"""The verifier's own pools: whatever is played, they hold what the ledger holds.

The play is that of the ledger's state machine: ceilings, ties, mysteries, voids, rejections,
transfers, changed terms, poison left without effect. The verifier sees the events alone.
"""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import settings
from msgspec.structs import asdict

from link.ledger.level import DISPLAY
from record.verify_evidence import AWARD_FIELDS, Derivation, Pools, check_chain, drawn_seeds
from tests.link.ledger.test_machine import Play


def rows_of(events: Any) -> list[dict[str, Any]]:
    return [{**asdict(row), "body": row.body.decode()} for row in events]


class Folded(Play):
    def teardown(self) -> None:
        if not hasattr(self, "floor"):
            return
        self.floor.commit()
        store, state = self.floor.store, self.floor.ledger.state
        events = rows_of(store.events)
        assert list(check_chain(events, "", 1)) == []
        pools = Pools(drawn_seeds(events))
        for name in store.awards:
            Derivation(pools, name)  # adds up the lines of every award at its lock
        half = json.dumps({})
        for row in events:
            pools.take(row)
            if row["id"] == len(events) // 2:
                half = json.dumps(pools.state)
        for level in state.levels():
            assert pools.level(level.pool, level.name)["units"] == level.balances[DISPLAY]
            assert pools.level(level.pool, level.name)["generation"] == level.generation
        for name, award in store.awards.items():
            made = pools.final[name]
            assert {k: made[k] for k in AWARD_FIELDS} == {
                k: getattr(award, k) for k in AWARD_FIELDS
            }
        assert pools.steps == [asdict(step) for step in store.steps]
        if len(events) > 1:  # the second half from the state in the middle, as JSON
            again = Pools(drawn_seeds(events), json.loads(half))
            for row in events[len(events) // 2 :]:
                again.take(row)
            assert again.state == json.loads(json.dumps(pools.state))


many = int(os.environ.get("UNDERFELT_EVIDENCE_PLAYS", "15"))
TestFolded = Folded.TestCase
TestFolded.settings = settings(max_examples=many, stateful_step_count=60, deadline=None)
