"""What a pack is made of, before it is written."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from controller.evidence.table import TableHalf
from record.verify_evidence import IDENTITY

if TYPE_CHECKING:  # the server's half needs the server's package; a table may be without it
    from controller.evidence.server import ServerHalf

Row = dict[str, Any]


@dataclass
class PackParts:
    claim: Row
    """Who, where and what: award, table, journal, round, seat, hand, percent, event."""
    server: ServerHalf | None = None
    table: TableHalf | None = None
    frames: list[Row] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    currency: str = ""
    """As the house writes it before an amount; the data are in cents whatever it is."""

    def let_go(self) -> None:
        """The folder has it now, and the verifier reads it from there: memory need not hold a long
        history twice."""
        if self.server is not None:
            self.server.events, self.server.lines = [], []
        self.frames = []

    def bodies(self, kind: str) -> list[Row]:
        if self.table is None:
            return []
        return [json.loads(row["body"]) for row in self.table.rows if row["kind"] == kind]

    @property
    def steps(self) -> list[Row]:
        """The award's own, without those of others that hang together with it."""
        stated = [] if self.server is None else self.server.stated["steps"]
        return [step for step in stated if step["award"] == self.claim["award"]]

    @property
    def played(self) -> Row:
        """The round as it was closed or last corrected: the table's word, else the server's."""
        number = self.claim["round"]
        found = [body for body in self.bodies("round") if body["round"] == number]
        if not found and self.table is None and self.server is not None:
            rows = [e for e in self.server.events if e["journal"] == self.claim["journal"]]
            bodies = [json.loads(row["body"]) for row in rows]
            found = [b for b in bodies if (b["what"], b.get("round")) == ("round", number)]
        return found[-1] if found else {}

    @property
    def cards(self) -> list[str]:
        record = self.played.get("record", {}).get("round", {})
        for seat in record.get("seats", ()):
            if seat["seat"] == self.claim["seat"]:
                return [*seat["cards"], *record.get("community", ())]
        return []

    @property
    def identity(self) -> dict[str, str]:
        """By hash: what ran at the table, and the par sheets that the pool was opened with."""
        found: dict[str, str] = {}
        opened = self.bodies("opened")
        if opened:
            found = {name: str(opened[-1][name]) for name in IDENTITY if name in opened[-1]}
        for body in self.bodies("configuration"):
            found["configuration"] = str(body.get("in_force", found.get("configuration", "")))
        if self.server is not None:
            found |= {f"par sheet {g}": h for g, h in self.server.stated["games"].items()}
        return found

    @property
    def first_ms(self) -> int:
        """When the round's bets were opened, by the wall's clock."""
        own = [] if self.table is None else self.table.own
        return int(own[0]["at_ms"]) if own else 0

    @property
    def at_ms(self) -> int:
        """When the jackpot was won."""
        if self.server is not None:
            return int(self.steps[0]["at_ms"])
        return self.first_ms
