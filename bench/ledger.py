"""What the link server's ledger costs per event, beside adding up in a dict.

    python -m bench.ledger [EVENTS] [REPEATS]

An event is a round's contribution of five seats; a hundred tables send in turn and every hundred
events are a group, as one commit would be. Decoding and storing are not in it. Two peers do a part
of it: ``dict adds`` adds each wager's share to each level and remembers nothing; ``floor`` also
writes the body and chains it with SHA-256, as every event of record must be.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from time import process_time

from bench.common import Target, interleaved, print_ratios, verdict, versions
from link.ledger.ledger import Ledger
from link.ledger.terms import MustHit, Pool, PoolTerms, Terms
from link.rows import Saved
from record.link.codec import encode_body
from record.link.events import Contributed, Wager
from record.link.messages import Event, Hello

TABLES = 100
GROUP = 100
NIL = "0" * 64
MOST_US = 15.0
"""Microseconds per event on the machine the target was set for."""


class Key:
    def seal(self, secret: bytes) -> bytes:
        return secret

    def unseal(self, sealed: bytes) -> bytes | None:
        return sealed


def levels(many: int) -> tuple[Terms, ...]:
    """One with a ceiling, a reserve and a share of the jackpot; more, and a mystery at the end."""
    made = [
        Terms(
            level=f"level {n}",
            base_cents=1_000_000,
            reset_cents=500_000,
            rate_ppm=3_700,
            hidden_ppm=1_000,
            reserve_max_cents=10**9,
            ceiling_cents=10**10,
            shares={f"hand {n}": 100},
        )
        for n in range(many)
    ]
    if many > 1:
        hit = MustHit(10**9, 10**10)
        made[-1] = Terms(
            level="mystery", base_cents=1000, reset_cents=500, rate_ppm=500, must_hit=hit
        )
    return tuple(made)


def events(many: int) -> list[tuple[str, str, Event]]:
    made = []
    for number in range(many):
        n, table = number // TABLES + 1, number % TABLES
        wagers = tuple(Wager(seat, 100, 1) for seat in range(1, 6))
        hash = hashlib.sha256(b"%d" % number).hexdigest()
        made.append((f"T{table}", f"{table:032x}", Event(n, n, hash, 1, Contributed(n, wagers))))
    return made


def ledger(many: int, sent: list[tuple[str, str, Event]]) -> float:
    """Microseconds per event."""
    tables = {f"T{n}": "MBS3" for n in range(TABLES)}
    pool = Pool(pool="bench", terms=PoolTerms(tables=tables), levels=levels(many))
    made = Ledger((pool,), Saved(), sealer=Key(), chance=lambda: bytes(32))
    made.open(1)
    for n in range(TABLES):
        hello = Hello((2,), f"T{n}", f"{n:032x}", 0, 0, NIL, "MBS3", "bench", NIL)
        assert made.hello(f"T{n}", hello, 1).refused is None
    made.group(1)
    take, start = made.take, process_time()
    for number, (table, journal, event) in enumerate(sent, 1):
        take(table, journal, event, 1)
        if number % GROUP == 0:
            made.group(1)
    took = process_time() - start
    (first, *_) = made.level_meters()
    assert first.in_units == len(sent) * 500 * 4_700
    return took / len(sent) * 1e6


def adds(many: int, sent: list[tuple[str, str, Event]], *, chained: bool) -> float:
    pools, chain = {f"level {n}": 0 for n in range(many)}, ""
    start = process_time()
    for _, _, event in sent:
        body = event.body
        assert isinstance(body, Contributed)
        for wager in body.wagers:
            for name in pools:
                pools[name] += wager.cents * 3_700
        if chained:
            text = f"{chain}{event.n}{event.seq}{event.hash}{event.at_ms}".encode()
            chain = hashlib.sha256(text + encode_body(body)).hexdigest()
    return (process_time() - start) / len(sent) * 1e6


def main(argv: list[str]) -> int:
    many, repeats = int(argv[0]) if argv else 30_000, int(argv[1]) if len(argv) > 1 else 5
    sent = events(many)
    print(f"{versions('msgspec')}; {many:,} events of five wagers, groups of {GROUP}")
    missed = 0
    for count, most in ((1, 8.0), (4, 6.0)):
        of = f"{count} level" + "s" * (count > 1)
        alternatives: dict[str, Callable[[], float]] = {
            f"dict adds, {of}": lambda c=count: adds(c, sent, chained=False),  # type: ignore[misc]
            f"floor, {of}": lambda c=count: adds(c, sent, chained=True),  # type: ignore[misc]
            f"ledger, {of}": lambda c=count: ledger(c, sent),  # type: ignore[misc]
        }
        medians = interleaved(alternatives, repeats)
        print_ratios(medians, f"dict adds, {of}", "us/event")
        missed |= verdict(medians, [Target(f"ledger, {of}", f"floor, {of}", most, at_most=True)])
        reached = medians[f"ledger, {of}"]
        word = "met" if reached <= MOST_US else "MISSED"
        print(f"  target: ledger, {of} at most {MOST_US:g} us: {reached:.1f} us, {word}")
        missed |= reached > MOST_US
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
