"""What a hostile floor does: sound play, almost sound play, nonsense, people, time, crashes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from link.ledger.terms import MustHit, Pool
from record.link.messages import VERSION, VERSIONS
from tests.fuzz import mutate
from tests.fuzzlink.followers import Follower, compare, forged
from tests.fuzzlink.spoiling import TEXTS, spoiled
from tests.fuzzlink.staff import any_order, asks, decide, journals, watch
from tests.fuzzlink.world import TABLES, Table, World
from tests.link.ledger.support import SHARES, mystery, pool, terms

HANDS: Final = (*SHARES, "full house", "nonsense")
KINDS: Final = ("envy", "magic card", "lucky player", "four of a kind", "full house")
MUTATORS: Final = [*mutate.OTHERS.values(), *mutate.GUARDED.values()]


def pools(rng: Random) -> tuple[Pool, ...]:
    """Two pools of random terms; every table plays for one of them."""
    ties = rng.choice(("strict_order", "share", "same_cycle_full"))
    tie_ms = 0 if ties == "strict_order" else 10
    main = terms(
        rate_ppm=rng.choice((1, 3_700, 10_000)),
        hidden_ppm=rng.choice((0, 900)),
        ties=ties,
        tie_ms=tie_ms,
        ceiling_cents=rng.choice((100_001, 100_010)),
        overflow=rng.choice(("next", "reserve", "revenue")),
        fixed_awards=rng.choice(("table", "pool")),
        envy=rng.choice(("table", "pool")),
        envy_ppm=rng.choice((0, 500)),
    )
    levels = [main]
    if rng.random() < 0.5:
        levels.append(mystery(must_hit=MustHit(1_003, 1_020), ties=ties, tie_ms=tie_ms))
    return (
        pool(*levels, name="one", tables=TABLES[:3]),
        pool(terms(), name="two", tables=TABLES[3:]),
        pool(terms(base_cents=0), name="three", tables=()),
    )


# --- bodies --------------------------------------------------------------------------------------


def _wagers(rng: Random) -> list[list[int]]:
    seats = rng.sample(range(1, 8), rng.randint(1, 4))
    return [[seat, 100, 1] for seat in seats]


def contributed(table: Table, rng: Random) -> dict[str, Any]:
    table.round += 1
    wagers = _wagers(rng)
    table.wagers[table.round] = wagers
    return {"what": "contributed", "round": table.round, "wagers": wagers}


def _known(table: Table, rng: Random) -> int:
    """A round of the last few; seldom one that is forgotten, or never was."""
    rounds = list(table.wagers)[-3:]
    if not rounds or rng.random() < 0.02:
        return max(1, table.round - rng.choice((0, 4, 9)))
    return rng.choice(rounds)


def reversed_(table: Table, rng: Random) -> dict[str, Any]:
    number = _known(table, rng)
    wagers = [w for w in table.wagers.get(number, []) if rng.random() < 0.6]
    return {"what": "reversed", "round": number, "wagers": wagers}


def claimed(table: Table, rng: Random) -> dict[str, Any]:
    number = _known(table, rng)
    seats = [w[0] for w in table.wagers.get(number, [[1, 100, 1]])]
    claims = []
    for seat in rng.sample(seats, rng.randint(1, min(2, len(seats)))):
        hand = rng.choice(HANDS[:2] if rng.random() < 0.98 else HANDS)
        claims.append([seat, hand, SHARES.get(hand, 10)])
    return {"what": "claimed", "round": number, "claims": claims}


def withdrawn(table: Table, rng: Random) -> dict[str, Any]:
    number = _known(table, rng)
    seats = [w[0] for w in table.wagers.get(number, [[1, 100, 1]])]
    return {"what": "withdrawn", "round": number, "seats": rng.sample(seats, 1)}


def played(table: Table, rng: Random) -> dict[str, Any]:
    number = _known(table, rng)
    seats = [w[0] for w in table.wagers.get(number, [])]
    awards = [[seat, rng.choice(KINDS), rng.choice((0, 1, 500, 30_000))]
              for seat in seats if rng.random() < 0.3]  # fmt: skip
    record = {"game": "MBS3", "round": {"seats": seats}, "note": rng.choice(TEXTS[:6])}
    body: dict[str, Any] = {"what": "round", "round": number, "record": record, "result": {}}
    return {**body, "awards": awards} if awards else body


def wanted(table: Table, rng: Random) -> dict[str, Any]:
    seats = sorted(rng.sample(range(1, 8), rng.randint(0, 5)))
    number = table.round + rng.choice((0, 0, 0, 1))
    rates = {"magic_rate": rng.choice(("1", "1/4", "0")), "lucky_rate": rng.choice(("1", "1/500"))}
    return {"what": "selection wanted", "round": number, "seats": seats, **rates}


def body(table: Table, rng: Random) -> dict[str, Any]:
    if not table.wagers:
        return contributed(table, rng)
    return rng.choice(BODIES)(table, rng)


BODIES: Final = [contributed] * 6 + [played] * 3 + [claimed] * 2 + [reversed_, withdrawn, wanted]


# --- tables --------------------------------------------------------------------------------------


def say(world: World, table: Table, rng: Random) -> None:
    """The next event, after a hello if that is needed."""
    if not table.joined:
        world.send(table, table.hello())
        if table.receipt is not None and table.version >= 3:
            world.send(table, {"t": "receipt", "receipt": table.receipt})
    sent = table.acked.get(table.journal, 0)
    if sent < len(table.events):
        for event in table.events[sent : sent + 8]:
            world.send(table, event)
        return
    for _ in range(rng.randint(1, 3)):
        world.send(table, table.event(body(table, rng)))


def almost(world: World, table: Table, rng: Random) -> None:
    """An event that is wrong in one place; the table does not keep it."""
    event = {"t": "event", "n": len(table.events) + 1, "seq": table.seq + 1, "hash": "ab" * 32,
             "at_ms": 1, "body": unsaid(table, rng)}  # fmt: skip
    world.send(table, spoiled(event, rng))


def unsaid(table: Table, rng: Random) -> dict[str, Any]:
    """A body that the table itself forgets."""
    number, wagers = table.round, dict(table.wagers)
    made = body(table, rng)
    table.round, table.wagers = number, wagers
    return made


def nonsense(world: World, table: Table, rng: Random) -> None:
    frames = [json.dumps(m).encode() for m in (table.hello(), *table.events[-3:])]
    frame = rng.choice((
        lambda: rng.choice(MUTATORS)(rng, rng.choice(frames), rng.choice(frames)),
        lambda: rng.randbytes(rng.choice((0, 1, 40, 70_000))),
        lambda: bytes([rng.randrange(256)]) * rng.choice((1, 20_000, 65_536)),
        lambda: b"[" * 30_000,
    ))()  # fmt: skip
    world.send(table, frame)


def again(world: World, table: Table, rng: Random) -> None:
    """A repeat, a gap, or another history under the same number."""
    if not table.events:
        return
    event = dict(rng.choice(table.events[-20:]))
    how = rng.random()
    if how < 0.1:
        event["n"] += rng.choice((1, 2, 1000))
    elif how < 0.15:
        event["hash"] = "cd" * 32
    elif how < 0.2:
        event["body"] = unsaid(table, rng)
    world.send(table, event)


def greet(world: World, table: Table, rng: Random) -> None:
    table.version = rng.choice((*VERSIONS, VERSION, VERSION))
    table.connect()
    changes: dict[str, Any] = {}
    if rng.random() < 0.15:
        changes = rng.choice((
            {"table": "T9"}, {"sent": 0}, {"seq": 0}, {"head": "ef" * 32},
            {"versions": []}, {"versions": [9]}, {"game": "RICO"}, {"meter_rule": "snapshot"},
        ))  # fmt: skip
    world.send(table, table.hello(**changes))


def new_card(world: World, table: Table, rng: Random) -> None:  # noqa: ARG001
    table.begin()
    world.send(table, table.hello())


def stands(table: Table, rng: Random) -> dict[str, Any]:
    """A heartbeat with how the table stands."""
    troubles = rng.sample(("E-LNK-001", "E-DEV-003", "E-JNL-004"), rng.choice((0, 0, 1, 3)))
    now = {"phase": rng.choice(("betting", "dealing", "idle")), "round": table.round,
           "waiting": rng.choice((0, 0, 1, 7)), "troubles": troubles}  # fmt: skip
    return {"t": "beat", "at_ms": rng.randrange(2**53), "now": now}


def other(world: World, table: Table, rng: Random) -> None:
    kind = rng.randrange(7)
    if kind == 0:
        table.record("checkpoint")
    told: dict[str, Any] = {"t": "checkpoint", "seq": table.seq, "hash": table.head, "at_ms": 1}
    if kind > 1:
        told = rng.choice((
            {"t": "beat", "at_ms": rng.randrange(2**53)}, {"t": "beat", "at_ms": 1, "test": True},
            {"t": "bye", "why": "x"},
        ))  # fmt: skip
    if kind > 3:
        told = stands(table, rng)
        if rng.random() < 0.2:
            told = spoiled(told, rng)
    world.send(table, told)


def receipt(world: World, table: Table, rng: Random) -> None:
    if table.receipt is None or table.version < 3:
        return
    shown = list(table.receipt)
    if rng.random() < 0.05:
        shown[rng.randrange(3)] = rng.choice((0, 1, 2**53 - 1, "0" * 64))
    world.send(table, {"t": "receipt", "receipt": shown})


# --- time, the machine ----------------------------------------------------------------------------


def time(world: World, rng: Random) -> None:
    world.clock.go(rng.choice((1, 5, 20, 150, 1_000, 1_000, 4_000, 40_000, 3_600_000)))
    world.turn()


def follow(world: World, rng: Random) -> None:
    """Somebody who follows, stops for a while, or begins again with nothing."""
    place = rng.randrange(len(world.followers))
    chance = rng.random()
    if chance < 0.05:
        world.followers[place] = Follower()
    elif chance < 0.1:
        forged(world, world.followers[place])
    world.followers[place].read(world)


def crash(world: World, rng: Random) -> None:
    if rng.random() < 0.5:
        world.crash()
    else:
        world.stop()
        for table in world.tables:
            table.connect()
    world.start()


OF_TABLES: Final[Sequence[Callable[[World, Table, Random], None]]] = (
    [say] * 24 + [again] * 2 + [almost, greet, other, other, receipt, nonsense]
)
OF_OTHERS: Final[Sequence[Callable[[World, Random], None]]] = (
    [decide] * 4
    + [journals] * 8
    + [any_order] * 3
    + [asks] * 2
    + [time] * 3
    + [follow] * 4
    + [watch]
)


def step(world: World, rng: Random) -> None:
    world.steps += 1
    chance = rng.random()
    if chance < 0.012:
        crash(world, rng)
    elif chance < 0.015:
        world.lose()
    elif chance < 0.018:
        compare(world)
    elif chance < 0.023:
        new_card(world, rng.choice(world.tables), rng)
    elif chance < 0.25:
        rng.choice(OF_OTHERS)(world, rng)
    else:
        # Often several in one group.
        for _ in range(rng.choice((1, 1, 2, 5))):
            rng.choice(OF_TABLES)(world, rng.choice(world.tables), rng)
    world.turn()
