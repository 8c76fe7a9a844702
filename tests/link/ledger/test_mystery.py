"""The mystery level: sealed, committed, won by the contribution that reaches it."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter

import msgspec
import pytest

from link.ledger import mystery as m
from link.ledger.errors import LedgerBroken, PoolError
from link.ledger.history import check_history
from link.ledger.ledger import Ledger
from link.ledger.level import Level, LevelState
from link.ledger.orders import Approve, Draw, Given, Pay, Reject, Verify
from link.ledger.terms import MustHit
from link.rows import Saved
from record.link.messages import MysteryWon
from tests.link.ledger.support import ANNA, BEN, BOTH, Chance, Floor, Sealed, mystery, pool, terms

CENT = 1_000_000
SEED = hashlib.sha256(b"chance 1").digest()


def level_of(floor: Floor) -> Level:
    return floor.ledger.state.pool("pool").level("mystery")


def trigger_of(floor: Floor) -> int:
    """What only the ledger knows, in cents."""
    return level_of(floor).trigger_units // CENT


def draws(floor: Floor) -> list[Draw]:
    given = [msgspec.json.decode(e.body, type=Given) for e in floor.store.events if not e.table]
    return [g.order for g in given if isinstance(g.order, Draw)]


def test_commitment_and_trigger_by_the_page() -> None:
    """Recomputed here with the standard library, from docs/operations/pools.md alone."""
    floor = Floor(pool(mystery()))
    (draw,) = draws(floor)
    subject = b"pool\tmystery\t1\t2000\t3000"
    assert (draw.low_cents, draw.high_cents, draw.generation) == (2_000, 3_000, 1)
    assert draw.commitment == hashlib.sha256(b"underfelt mystery 1\0" + SEED + subject).hexdigest()
    for counter in range(100):
        message = b"underfelt mystery 1\0" + subject + counter.to_bytes(4, "big")
        block = hmac.digest(SEED, message, "sha256")
        value = int.from_bytes(block, "big") >> 246  # ten bits for 1,001 possibilities
        if value < 1_001:
            break
    assert trigger_of(floor) == 2_000 + value == 2_336


def test_the_trigger_is_in_no_row_before_the_hit() -> None:
    floor = Floor(pool(mystery()))
    floor.bet("T1", 1, 1, 2)
    rows = str(floor.store.__dict__)
    for secret in (SEED.hex(), str(SEED), str(trigger_of(floor) * CENT), '"trigger_units"'):
        assert secret not in rows
    state = msgspec.json.decode(level_of(floor).row().state, type=LevelState)
    assert state.trigger is not None
    assert state.trigger.commitment == draws(floor)[0].commitment


def test_the_seat_that_reaches_it_wins_and_the_next_generation_begins() -> None:
    """1 cent a wager of 1.00: base 10.00, trigger 23.36; shown to the last cent."""
    floor = Floor(pool(mystery()))
    number = 0
    while floor.shown("mystery") < 2_334:
        number += 1
        seats = range(1, min(7, 2_334 - floor.shown("mystery")) + 1)
        assert len(floor.bet("T1", number, *seats)) == 1
    replies = floor.bet("T2", 1, 3, 5, 6, 7)
    assert replies[1:] == [("T2", MysteryWon(1, 5, "pool/1/1", "mystery", 2_336))]
    assert floor.balances("mystery") == {
        "wagers": -1_338 * CENT,
        "pending": 2_336 * CENT,
        "display": 502 * CENT,  # reset 5.00, and seats 6 and 7
        "house": -1_500 * CENT,
    }
    (award,) = floor.store.awards.values()
    assert (award.hand, award.percent, award.state, award.seat) == ("mystery", 0, "locked", 5)
    first, second = draws(floor)
    assert first.opened == ""
    assert bytes.fromhex(second.opened) == SEED  # now everybody can recompute the first
    assert (second.generation, second.low_cents) == (2, 2_000)
    # Told again to a table that did not hear it; paid like any other.
    assert floor.send("T2", floor.tables["T2"].sent[0])[1:] == replies[1:]
    assert ("T2", replies[1][1]) in floor.hello("T2").replies
    for order, by in (
        (Verify(award.award), ANNA), (Approve(award.award), ANNA), (Approve(award.award), BEN),
        (Pay(award.award), BEN),
    ):  # fmt: skip
        floor.order(order, by)
    assert floor.balances("mystery")["paid"] == 2_336 * CENT
    floor.check()


def test_an_auditor_without_the_key_replays_all_of_it() -> None:
    floor = Floor(pool(terms(), mystery(rate_ppm=900_000)))
    for number in range(1, 30):
        floor.bet("T1", number, 1, 2, 3)
    assert len(floor.store.awards) >= 3
    check_history(floor.store.history())


def test_it_must_hit_by_its_maximum() -> None:
    """One wager brings 7 cents and the ceiling is in its way: the maximum is never passed."""
    level = mystery(rate_ppm=70_000, must_hit=MustHit(1_002, 1_003))
    floor = Floor(pool(level))
    floor.bet("T1", 1, 1)
    (award,) = floor.store.awards.values()
    assert award.cents == 1_003
    over = [(e.credit, e.units) for e in floor.store.entries if e.why == "overflow"]
    assert over == [("next", 4 * CENT)]
    assert floor.balances("mystery")["house"] == -(1_000 + 496) * CENT  # they pay for the seed
    floor.check()


def test_a_reversal_of_the_winning_wager_warns_and_leaves_it_to_people() -> None:
    floor = Floor(pool(mystery(must_hit=MustHit(1_001, 1_001))))
    floor.bet("T1", 1, 1)
    floor.back("T1", 1, 1)
    assert [a.code for a in floor.store.alarms] == ["E-POOL-041"]
    floor.order(Reject("pool/1/1", "round void"), BOTH)
    assert floor.balances("mystery") == {"display": 1_000 * CENT, "house": -1_000 * CENT}
    floor.check()


def test_a_restored_mystery_does_not_give_the_next_hit_away() -> None:
    floor = Floor(pool(mystery(rate_ppm=1_000_000)))
    for number in range(1, 5):
        floor.bet("T1", number, 1, 2, 3, 4, 5, 6, 7)
        if floor.store.awards:
            break
    (award,) = floor.store.awards.values()
    before = len(draws(floor))
    floor.order(Reject(award.award, "deck fault"), BOTH)
    shown = floor.shown("mystery")
    assert shown > 2_000
    draw = draws(floor)[-1]
    assert len(draws(floor)) == before + 1
    assert (draw.low_cents, draw.high_cents) == (shown + 1, 3_000)
    assert trigger_of(floor) > shown
    floor.check()


def test_a_trigger_is_the_same_after_a_restart_and_never_drawn_again() -> None:
    floor = Floor(pool(mystery()))
    trigger, given = trigger_of(floor), floor.chance.given
    floor.start()
    assert (trigger_of(floor), floor.chance.given) == (trigger, given)


def test_without_its_key_a_mystery_does_not_start() -> None:
    class Blind(Sealed):
        def unseal(self, sealed: bytes) -> bytes | None:
            del sealed  # the key is another
            return None

    floor = Floor(pool(mystery()))
    with pytest.raises(PoolError, match="cannot be unsealed") as refused:
        Ledger(floor.pools, floor.store.saved(), sealer=Blind(), chance=Chance())
    assert refused.value.code == "E-POOL-018"
    with pytest.raises(PoolError, match="needs chance and a sealing key"):
        Ledger(floor.pools, Saved()).open(0)


def test_another_seed_than_the_committed_one_stops_the_ledger() -> None:
    class Liar(Sealed):
        def unseal(self, sealed: bytes) -> bytes | None:
            return bytes(len(sealed))

    floor = Floor(pool(mystery()))
    with pytest.raises(LedgerBroken, match="I25"):
        Ledger(floor.pools, floor.store.saved(), sealer=Liar(), chance=Chance())


def test_triggers_are_equally_likely() -> None:
    """Seven possibilities, 7,000 draws: each within five standard deviations of 1,000."""
    found = Counter(
        m.trigger_cents(hashlib.sha256(b"%d" % n).digest(), b"x", 100, 106) for n in range(7_000)
    )
    assert sorted(found) == list(range(100, 107))
    assert all(abs(count - 1_000) < 5 * 29.3 for count in found.values())
    assert m.trigger_cents(SEED, b"x", 5, 5) == 5
