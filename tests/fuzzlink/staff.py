"""What people and programs of the machine do: every order, every verb of the control socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from msgspec import to_builtins
from msgspec.structs import fields

from link.accounts import MAY, ROLES
from link.ledger.rounds import OPEN
from link.server.requests import LISTS, QUESTIONS, Changes, Password
from record.link.keys import encode_z85
from tests.fuzz.link import VALUES as WIRE_VALUES
from tests.fuzzlink.spoiling import NUMBERS, TEXTS, spoiled
from tests.fuzzlink.world import OTHER, World
from tests.link.people import PASSWORD, STAFF, request

Order = dict[str, Any]
POOLS: Final = ("one", "two", "three")
"""Nobody plays for the last one."""
NAMES: Final = (*STAFF, "new")
FIELDS: Final = sorted(
    {"by", "order", "path", "before"}.union(
        field.name
        for kind in (*QUESTIONS.values(), *LISTS.values(), Changes, Password)
        for field in fields(kind)
    )
    - {"verb"}
)


def two(rng: Random) -> tuple[str, ...]:
    return tuple(rng.sample(sorted(STAFF), rng.choice((1, 2, 2, 2))))


# --- play: awards and journals as people deal with them -------------------------------------------


def _awards(world: World) -> list[str]:
    held = world.floor.ledger.state.awards
    return [name for name, award in held.items() if award.state in OPEN]


def decide(world: World, rng: Random) -> None:
    awards = _awards(world)
    if not awards:
        return
    award = rng.choice(awards)
    if rng.random() < 0.3:
        for what, by in (("verify", "k.lee"), ("approve", "k.lee"), ("approve", "m.ng"),
                         ("pay", "m.ng")):  # fmt: skip
            world.order({"what": what, "award": award}, by)
        return
    what = rng.choice(("verify", "approve", "pay", "reject"))
    order = {"what": what, "award": award}
    if what == "reject":
        order["why"] = "no"
    world.order(order, *two(rng))


def journals(world: World, rng: Random) -> None:
    found = list(world.floor.ledger.state.journals.values())
    if not found:
        return
    journal = rng.choice(found)
    name = journal.journal
    if journal.state == "proposed":
        for by in ("k.lee", "m.ng"):
            world.order({"what": "accept", "journal": name}, by)
    elif journal.state == "halted":
        order: Order = {"what": "resume", "journal": name, "why": "seen"}
        if rng.random() < 0.7:
            order |= {"skip": journal.n + 1, "skip_hash": _hash_of(world, name, journal.n + 1)}
        world.order(order, "k.lee", "m.ng")
    elif rng.random() < 0.1:
        world.order({"what": "retire", "journal": name, "why": "x"}, *two(rng))
    for table in world.tables:
        if table.journal == name:
            table.halted, table.joined = "", False


def _hash_of(world: World, journal: str, n: int) -> str:
    for table in world.tables:
        if table.journal == journal and n <= len(table.events):
            return str(table.events[n - 1]["hash"])
    return "ab" * 32


def watch(world: World, rng: Random) -> None:
    """Somebody looks after what is on the board."""
    shown = world.server.teller.board.shown()
    if shown:
        order = {"what": "acknowledge alarm", "alarm": rng.choice(shown).alarm, "why": "seen"}
        world.order(order, rng.choice(sorted(STAFF)))


# --- any order ------------------------------------------------------------------------------------


def _award(world: World, rng: Random) -> Order:
    return {"award": rng.choice((*_awards(world), "one/main/1"))}


def _journal(world: World, rng: Random) -> Order:
    known = world.floor.ledger.state.journals
    return {"journal": rng.choice((*known, rng.choice(world.tables).journal))}


def _level(_world: World, rng: Random) -> Order:
    return {"pool": rng.choice(POOLS), "level": rng.choice(("main", "mystery"))}


def _transfer(world: World, rng: Random) -> Order:
    to = {"to_pool": rng.choice(POOLS), "to_level": "main"}
    return {**_level(world, rng), **to, "why": "x", "cents": rng.choice((0, 1, 10**13))}


def _restore(world: World, rng: Random) -> Order:
    head = {"head_seq": rng.choice((0, 1, 10**6)), "head_hash": "ab" * 32}
    return {"why": "x", "journal": rng.choice(world.tables).journal, **head}


def _change(world: World, rng: Random) -> Order:
    """Terms as they are, with one value another."""
    pool = rng.choice(list(world.floor.ledger.state.pools.values()))
    level = rng.choice(list(pool.levels))
    terms = to_builtins(level.next_terms or level.terms)
    changed = rng.choice(("rate_ppm", "hidden_ppm", "reset_cents", "ceiling_cents"))
    terms[changed] = rng.choice((0, 1, 3_700, 20_000, 100_010))
    return {"pool": pool.pool, "terms": terms}


def _alarm(world: World, rng: Random) -> Order:
    shown = [one.alarm for one in world.server.teller.board.shown()]
    return {"alarm": rng.choice((*shown, 1, 10**6)), "why": "x"}


def _key(world: World, rng: Random) -> list[str]:
    table = world.tables[0]
    public = rng.choice((table.public, encode_z85(rng.randbytes(32))))
    return [rng.choice((table.name, "T9")), public, rng.choice(("table", "table", "sign"))]


def _name(_world: World, rng: Random) -> Order:
    """Without the two whom the rest of the history needs."""
    return {"name": rng.choice(("a.kim", "new", "x" * 64))}


def _request(what: str) -> Callable[[World, Random], Order]:
    def made(_world: World, rng: Random) -> Order:
        more = {"role": rng.choice((*ROLES, "cashier"))} if what == "add account" else {}
        return request(what, rng.choice(NAMES), rng.choice((PASSWORD, OTHER)), **more)

    return made


ORDERS: Final[Mapping[str, Callable[[World, Random], Order]]] = {
    "verify": _award,
    "approve": _award,
    "pay": _award,
    "reject": lambda world, rng: {**_award(world, rng), "why": "x"},
    "accept": _journal,
    "resume": lambda world, rng: {**_journal(world, rng), "why": "x"},
    "retire": lambda world, rng: {**_journal(world, rng), "why": "x"},
    "restore": _restore,
    "change": _change,
    "transfer": _transfer,
    "close": lambda _world, rng: {"pool": rng.choice(POOLS), "why": "x"},
    "note": lambda _world, rng: {"topic": "x", "text": rng.choice(TEXTS)},
    "acknowledge alarm": _alarm,
    "enrol keys": lambda world, rng: {"keys": [_key(world, rng)]},
    "rotate key": lambda world, rng: {"key": _key(world, rng), "overlap_ms": 10**9},
    "revoke key": lambda _world, rng: {"which": rng.choice(("T9", "nobody")), "why": "x"},
    "add account": _request("add account"),
    "reset account": _request("reset account"),
    "set password": _request("set password"),
    "set role": lambda world, rng: {**_name(world, rng), "role": rng.choice((*ROLES, "nobody"))},
    "unlock account": lambda _world, rng: {"name": rng.choice((*NAMES, "x" * 64))},
    "disable account": _name,
    "enable account": _name,
    "acknowledge accounts": lambda world, _rng: {
        "number": world.server.office.chain.unacknowledged
    },
}
"""Every order that people may give; tests/fuzzlink/test_fuzz_link.py compares."""


def made(what: str, world: World, rng: Random) -> Order:
    return {"what": what, **ORDERS[what](world, rng)}


def any_order(world: World, rng: Random) -> None:
    order = made(rng.choice(sorted(ORDERS)), world, rng)
    if rng.random() < 0.3:
        order = spoiled(order, rng)
    world.order(order, *_people(order, rng))


def _people(order: Order, rng: Random) -> tuple[str, ...]:
    """Mostly those who may."""
    what, name = str(order.get("what")), str(order.get("name"))
    if what == "set password" and name in STAFF:
        return (name,)
    if rng.random() < 0.4:
        return two(rng)
    may = [name for name, role in STAFF.items() if role in MAY.get(what, ())]
    return ("k.lee", "m.ng") if len(may) < 2 else tuple(rng.sample(may, 2))


# --- any verb -------------------------------------------------------------------------------------


def asks(world: World, rng: Random) -> None:
    verb = rng.choice(world.control.verbs)
    ask: dict[str, Any] = {"verb": verb, **_base(verb, world, rng)}
    for _ in range(rng.choice((0, 1, 2))):
        ask[rng.choice(FIELDS)] = rng.choice(rng.choice((NUMBERS, TEXTS, WIRE_VALUES)))
    if str(ask.get("path", "")).startswith("/tmp"):
        del ask["path"]
    if verb == "changes":
        ask["wait_ms"] = 0  # a history does not wait
    answer = world.ask(ask)
    if verb == "password" and "error" not in answer:
        assert world.password_of(str(ask["name"])) == ask["password"], ask
        assert answer["ok"]
        assert answer["name"] == ask["name"]


def _base(verb: str, world: World, rng: Random) -> Order:
    """What it needs, mostly sound."""
    name = rng.choice(NAMES)
    word = rng.choice((PASSWORD, PASSWORD, OTHER))
    match verb:
        case "rows":
            return {"kind": rng.choice(("mark", "events", "entries", "alarms"))}
        case "backup":
            return {"path": rng.choice(("/", "/nowhere/x", "/dev/null/x", "x"))}
        case "password":
            source = {"source": rng.choice(("10.0.0.1", "::1"))} if rng.random() < 0.3 else {}
            return {"name": name, "password": word, **source}
        case "order":
            return {"by": [[name, word]], "order": made(rng.choice(sorted(ORDERS)), world, rng)}
        case "journals" | "awards" | "alarms" | "tables" | "keys" | "accounts":
            return {"cursor": rng.choice(_cursors(world))} if rng.random() < 0.5 else {}
        case _:
            return {}


def _cursors(world: World) -> list[str]:
    state = world.floor.ledger.state
    return ["", "7", *state.journals, *state.awards, *NAMES]
