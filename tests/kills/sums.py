"""What the pool must hold, by arithmetic of the test's own, from the tables' journals.

Nothing here knows the ledger. Rates are parts per million and a cent is a million units, so a wager
of c cents at a rate r is c x r units. The server's part in it is only the order of its events, as a
share of the jackpot depends on what came before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

POOL: Final = "main"
BASE_CENTS: Final = 100_000
UNITS: Final = 1_000_000
RATES: Final = {"grand": (15_000, 5_000), "minor": (3_700, 0)}
"""Level to what goes to the display and to the reserve, parts per million."""
SHARES: Final = {"straight flush": ("grand", 10)}
"""No claim resets a level, so that every reversal finds its money where it went."""
Account = tuple[str, str]
"""Level and account."""

CONFIG: Final = """
[pools.main]
tables = {{ {tables} }}
meter_rule = "sequential"
max_credits = 3
unequal_cost = "a test"

[[pools.main.levels]]
level = "grand"
base_cents = 100000
reset_cents = 100000
rate = "1.5 %"
hidden_rate = "0.5 %"
shares = {{ "straight flush" = 10 }}

[[pools.main.levels]]
level = "minor"
base_cents = 100000
reset_cents = 100000
rate = "0.37 %"
shares = {{ "royal flush" = 100 }}
"""
"""The same for the server's configuration; ``RATES`` and ``SHARES`` are stated again on purpose."""


def expected(bodies: Iterable[Mapping[str, Any]]) -> Counter[Account]:
    """The balances after these events, as they stand in the tables' journals."""
    held = Counter[Account]()
    for level in RATES:
        held[level, "display"] = BASE_CENTS * UNITS
        held[level, "house"] = -BASE_CENTS * UNITS
    for body in bodies:
        if body["what"] in ("contributed", "reversed"):
            sign = 1 if body["what"] == "contributed" else -1
            cents = sign * sum(wager[1] for wager in body["wagers"])
            for level, (shown, hidden) in RATES.items():
                held[level, "display"] += cents * shown
                held[level, "reserve"] += cents * hidden
                held[level, "wagers"] -= cents * (shown + hidden)
        elif body["what"] == "claimed":
            for _, hand, percent in body["claims"]:
                level, share = SHARES[hand]
                assert share == percent
                cents = held[level, "display"] // UNITS * percent // 100
                held[level, "display"] -= cents * UNITS
                held[level, "pending"] += cents * UNITS
    return held
