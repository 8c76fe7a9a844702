"""A server that is wrong on purpose, so that the checker can be seen to find it.

python -m tests.kills.broken link --config FILE

It acknowledges a group a while before it commits it; and the first wagers of each journal after a
start go into the pool twice, as they would if a start applied again what was applied already. Its
books balance all the same. It believes no receipt: the checker has to find it without that help.
"""

from __future__ import annotations

import sys
import time
from typing import Final
from unittest.mock import patch

from controller.cli import main
from link.ledger import contributions
from link.ledger.state import Reply, State, TableJournal
from link.server import compose
from link.server.floor import Floor
from link.server.leadership import Leadership
from link.server.server import Server
from record.link.events import Contributed

LATE_S: Final = 0.1

_contribute: Final = contributions.contribute
_seen: Final[set[str]] = set()


class Early(Server):
    def _conclude(self, floor: Floor, mono: int) -> None:
        answers = list(floor.answers())
        for peer, data in answers:
            self._network.send(peer, data)
        if answers:
            time.sleep(LATE_S)
        super()._conclude(floor, mono)


def twice(state: State, journal: TableJournal, body: Contributed) -> list[Reply] | None:
    replies = _contribute(state, journal, body)
    if journal.journal not in _seen:
        _seen.add(journal.journal)
        state.pool_of[journal.table].came += sum(wager.cents for wager in body.wagers)
    return replies


if __name__ == "__main__":
    with (
        patch.object(compose, "Server", Early),
        patch.object(contributions, "contribute", twice),
        patch.object(Leadership, "compare", lambda *_: None),
    ):
        sys.exit(main(sys.argv[1:]))
