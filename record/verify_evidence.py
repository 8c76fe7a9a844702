#!/usr/bin/env python3
"""Verify an Underfelt evidence pack with nothing but Python: python3 verify.py [FOLDER] [--json]

One file, standard library only, written from docs/operations/evidence.md and sharing no code with
the program that makes packs or keeps jackpots. Reads the folder (its own, if none is named),
changes nothing. A pack that was tampered with may hold a verifier that was tampered with: use a
copy from elsewhere, or compare its SHA-256 with that of the installed program.

  --json                 the answer as one JSON object
  --lines                every line that the amount is made of
  --expect-chain ID:HEX  chain value of a server event that somebody else kept; may be repeated
  --expect SEQ:HEX       hash of a journal record that somebody else kept; may be repeated
  --expect-staff N:HEX   head of the staff orders that somebody else kept; may be repeated

Exit 0: every check holds. 3: every other check holds, and signatures of people were not checked:
PyNaCl is not installed, or the pack has none. 65: a check does not hold, and the answer names the
file. 66: no pack. 64: usage.
"""

from __future__ import annotations

import hashlib
import hmac
import html.parser
import importlib
import itertools
import json
import re
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

SCHEMA = 1
MANIFEST = "evidence.json"
EVENTS, OPENING, SERVER = "events.jsonl", "opening.json", "server.json"
STAFF = "orders.jsonl"
UNSIGNED = 3
TABLE, FRAMES, PAGE, PROGRAM = "table.jsonl", "frames.jsonl", "index.html", "verify.py"
UNITS = 1_000_000
NEVER = 1 << 200
CARDS = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
OPEN_STATES = ("claimed", "locked", "verified", "approved")
HELD_STATES = ("locked", "verified", "approved")
IDENTITY = ("version", "python", "program", "platform", "game", "rule_book", "pay_tables",
            "configuration", "layout")  # fmt: skip
SELF = re.compile(rb'"self": "([0-9a-f]{64})"')

Row = dict[str, Any]


class Wrong(Exception):
    """A check that does not hold, with the file it was found in."""

    def __init__(self, file: str, what: str) -> None:
        super().__init__(f"{file}: {what}")
        self.file, self.what = file, what


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Whatever a forger puts there, the answer is a finding that names the file."""
    try:
        yield
    except Wrong:
        raise
    except Exception as error:
        raise Wrong(file, f"cannot be read: {str(error)[:200] or type(error).__name__}") from None


def once(pairs: list[tuple[str, Any]]) -> Row:
    """Of two values under one name every reader takes another one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("the same name twice")
    return found


def sha(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def money(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def exact(units: int) -> str:
    """Units as money, to the last millionth of a cent."""
    cents, rest = divmod(abs(units), UNITS)
    return f"{'-' if units < 0 else ''}{money(cents)}" + f"{rest:06}".rstrip("0")


# --- the folder -----------------------------------------------------------------------------------


def read_manifest(folder: Path) -> Row:
    """The manifest, if not a byte of it was altered since it was written."""
    path = folder / MANIFEST
    if path.is_symlink() or not path.is_file():
        raise Wrong(MANIFEST, "no regular file" if path.exists() else "missing")
    with reading(MANIFEST):
        data = path.read_bytes()
    found = SELF.findall(data)
    if len(found) != 1 or sha(SELF.sub(b'"self": "' + b"0" * 64 + b'"', data)) != found[0].decode():
        raise Wrong(MANIFEST, "altered: its own hash does not fit")
    with reading(MANIFEST):
        manifest: Row = json.loads(data, object_pairs_hook=once)
        if manifest["schema"] != SCHEMA:
            raise Wrong(MANIFEST, f"schema {manifest['schema']}; this verifier reads {SCHEMA}")
        for name, row in manifest["files"].items():
            if "/" in name or not (isinstance(row["sha256"], str) and isinstance(row["size"], int)):
                raise Wrong(MANIFEST, f"the entry of {name!r} cannot be read")
        for text in (manifest["award"], *manifest["missing"]):
            if not isinstance(text, str):
                raise Wrong(MANIFEST, f"{text!r} is no text")
    return manifest


def check_files(folder: Path, manifest: Row) -> Iterator[Wrong]:
    """Every file with its size and hash, none missing and none added."""
    stated = manifest["files"]
    there = {path.name: path for path in folder.iterdir() if path.name != MANIFEST}
    for name in sorted(there.keys() - stated.keys()):
        yield Wrong(name, "added: the manifest does not name it")
    for name, row in stated.items():
        if name not in there:
            yield Wrong(name, "missing")
            continue
        if there[name].is_symlink() or not there[name].is_file():
            yield Wrong(name, "no regular file")
            continue
        data = there[name].read_bytes()
        if len(data) != row["size"]:
            yield Wrong(name, f"altered: {len(data)} bytes, {row['size']} in the manifest")
        elif sha(data) != row["sha256"]:
            yield Wrong(name, "altered: its hash is not the one in the manifest")


def load(folder: Path, name: str) -> Any:
    with reading(name):
        return json.loads((folder / name).read_bytes(), object_pairs_hook=once)


def load_lines(folder: Path, name: str) -> list[Row]:
    with reading(name):
        lines = (folder / name).read_bytes().splitlines()
        return [json.loads(line, object_pairs_hook=once) for line in lines]


# --- the server's events --------------------------------------------------------------------------


def chain_value(before: str, row: Row) -> str:
    fields = ("id", "table", "journal", "n", "seq", "hash", "at_ms", "received_ms")
    head = "\t".join([before, *(str(row[name]) for name in fields)]) + "\n"
    return sha(head.encode(), row["body"].encode())


def check_chain(events: Sequence[Row], before: str, first: int) -> Iterator[str]:
    """Every row follows from the one before; numbers of each journal run without gaps. Of a row
    that is left out only the chain value is there, and is taken as it stands."""
    chain, last = before, dict[str, int]()
    for expected, row in enumerate(events, first):
        if row["id"] != expected:
            yield f"event {row['id']} stands where {expected} belongs"
            return
        if row["body"] is None:
            if row["table"] or not re.fullmatch(r"[0-9a-f]{64}", row["chain"]):
                yield f"event {expected}: only a draw of the server may be left out"
                return
        elif row["chain"] != chain_value(chain, row):
            yield f"event {expected}: its chain value is not that of its content"
            return
        if last.get(row["journal"], row["n"] - 1) != row["n"] - 1:
            yield f"event {expected}: number {row['n']} of its journal, not the next one"
            return
        chain, last[row["journal"]] = row["chain"], row["n"]


# --- the pools, from wagers and orders alone ------------------------------------------------------


def worths(jackpot: int, reset: int, rule: str, percents: Sequence[int]) -> list[tuple[int, bool]]:
    """Cents of each claim of a round in settlement order, and whether it is a share of what the
    jackpot was reset to by an earlier one."""
    now, after, found = jackpot, False, list[tuple[int, bool]]()
    for percent in percents:
        cents = (jackpot if rule == "snapshot" else now) * percent // 100
        found.append((cents, after and rule != "snapshot"))
        now, after = (reset, True) if percent == 100 else (now - cents, after)
    return found


def drawn_seeds(events: Iterable[Row]) -> dict[str, str]:
    """Commitment of a mystery trigger to its seed, where a later draw opened it."""
    last, seeds = dict[tuple[str, str], str](), dict[str, str]()
    for row in events:
        if row["table"] or row["body"] is None:
            continue
        order = json.loads(row["body"])["order"]
        if order["what"] == "draw":
            key = (order["pool"], order["level"])
            if order.get("opened") and key in last:
                seeds[last[key]] = order["opened"]
            last[key] = order["commitment"]
    return seeds


def trigger(order: Row, seed: bytes) -> int:
    """Cents at which a mystery level is hit. The commitment must be that of the seed."""
    names = ("pool", "level", "generation", "low_cents", "high_cents")
    subject = "\t".join(str(order[name]) for name in names).encode()
    label = b"underfelt mystery 1\0"
    if sha(label, seed, subject) != order["commitment"]:
        raise Wrong(EVENTS, f"the trigger of {order['pool']}/{order['level']} is not as committed")
    low, many = order["low_cents"], order["high_cents"] - order["low_cents"] + 1
    if many < 1:
        raise Wrong(EVENTS, f"the trigger of {order['pool']}/{order['level']} has no room")
    bits = (many - 1).bit_length()
    for counter in itertools.count():
        block = hmac.new(seed, label + subject + struct.pack(">I", counter), "sha256").digest()
        value = int.from_bytes(block, "big") >> (256 - bits)
        if value < many:
            return int(low + value)
    raise AssertionError


def _nobody(_level: Row, _what: Row) -> None:
    """Listens to nothing."""


class Pools:
    """All pools as the events make them: what stands in each jackpot, awards, who decided what.

    ``state`` is plain JSON, so that a fold can begin in the middle. Of each level only the jackpot
    is kept (in units of a millionth of a cent): reserve, next base and house never change what a
    jackpot holds. ``heard`` gets every line that changes a jackpot, ``locking`` every award
    before its money is taken.
    """

    def __init__(self, seeds: Mapping[str, str], state: Row | None = None) -> None:
        empty: Row = {"pools": {}, "pool_of": {}, "journals": {}, "awards": {}, "counts": {}}
        self.state: Row = state or empty
        self.pools, self.pool_of = self.state["pools"], self.state["pool_of"]
        self.journals, self.awards = self.state["journals"], self.state["awards"]
        self.seeds = seeds
        self.final: dict[str, Row] = {}
        """Every award as it stood last, those forgotten by the pools too."""
        self.steps: list[Row] = []
        self.event, self.at_ms, self.table = 0, 0, ""
        self.heard: Callable[[Row, Row], None] = _nobody
        self.locking: Callable[[Row, Row], None] = _nobody

    def take(self, row: Row) -> None:
        self.event, self.at_ms, self.table = row["id"], row["received_ms"], row["table"]
        if row["body"] is None:
            return  # a selection of magic card and lucky player: it moves no money
        body = json.loads(row["body"])
        if not row["table"]:
            self._order(body["order"], body["by"])
            return
        journal = self._journal(row["journal"])
        if row["n"] == journal["skip"] and row["hash"] == journal["skip_hash"]:
            return
        name = row["journal"]
        match body["what"]:
            case "contributed":
                self._contributed(name, journal, body)
            case "reversed":
                self._reversed(journal, body)
            case "claimed":
                self._claimed(name, journal, body)
            case "withdrawn":
                self._withdrawn(journal, body)
            case "round":
                self._played(journal, body)

    def _order(self, order: Row, by: list[list[str]]) -> None:
        match order["what"]:
            case "open":
                self._open(order["pool"], order["terms"])
            case "change":
                level = self.level(order["pool"], order["terms"]["level"])
                level["next"] = None if order["terms"] == level["terms"] else order["terms"]
            case "link":
                self._link(order["pool"], order["terms"])
            case "draw":
                level = self.level(order["pool"], order["level"])
                seed = self.seeds.get(order["commitment"])
                cents = None if seed is None else trigger(order, bytes.fromhex(seed))
                level["trigger"] = None if cents is None else cents * UNITS
            case "transfer":
                self._transfer(order)
            case "resume":
                journal = self._journal(order["journal"])
                journal["skip"], journal["skip_hash"] = (
                    order.get("skip", 0),
                    order.get("skip_hash", ""),
                )
            case "lock":
                self._lock_waiting(self.pools[order["pool"]])
            case "verify" | "approve" | "pay" | "reject":
                self._people(order, *by)

    # --- levels ---------------------------------------------------------------------------------

    def level(self, pool: str, name: str) -> Row:
        found: Row = self.pools[pool]["levels"][name]
        return found

    def _journal(self, name: str) -> Row:
        fresh = {"rounds": {}, "forgotten": 0, "skip": 0, "skip_hash": ""}
        found: Row = self.journals.setdefault(name, fresh)
        return found

    def _open(self, pool: str, terms: Row) -> None:
        fresh: Row = {"levels": {}, "tables": {}, "waiting": [], "count": 0, "games": {}}
        levels = self.pools.setdefault(pool, fresh)["levels"]
        level = levels[terms["level"]] = {
            "pool": pool, "level": terms["level"], "generation": 1, "terms": terms, "next": None,
            "units": 0, "living": [1], "owed": {}, "resets": [], "trigger": None,
        }  # fmt: skip
        self._put(level, terms["base_cents"] * UNITS, "base", "the house")

    def _link(self, pool: str, terms: Row) -> None:
        mine = self.pools[pool]
        for table in mine["tables"]:
            self.pool_of.pop(table, None)
        mine["tables"], mine["games"] = terms["tables"], terms.get("games", {})
        self.pool_of.update(dict.fromkeys(terms["tables"], pool))

    def _transfer(self, order: Row) -> None:
        source = self.level(order["pool"], order["level"])
        target = self.level(order["to_pool"], order["to_level"])
        units = order.get("cents", 0) * UNITS or source["units"]
        self._put(source, -units, "transfer out", f"{target['pool']}/{target['level']}")
        self._fit(target, units, "transfer in", f"{source['pool']}/{source['level']}")

    def _put(self, level: Row, units: int, why: str, how: str = "", **more: Any) -> None:
        if not units and not more.get("over"):
            return
        level["units"] += units
        if level["units"] < 0:
            raise Wrong(EVENTS, f"event {self.event}: {level['pool']}/{level['level']} below 0")
        line = {"event": self.event, "at_ms": self.at_ms, "table": self.table, "why": why,
                "how": how, "units": units, "after": level["units"]}  # fmt: skip
        self.heard(level, line | more)

    @staticmethod
    def limit(level: Row) -> int:
        terms = level["terms"]
        most = terms["must_hit"]["max_cents"] if "must_hit" in terms else terms.get("ceiling_cents")
        return NEVER if most is None else most * UNITS

    def _fit(self, level: Row, units: int, why: str, how: str = "", **more: Any) -> int:
        """Into the jackpot as far as the ceiling lets it; how much that was."""
        fits: int = min(units, max(0, self.limit(level) - level["units"]))
        self._put(level, fits, why, how, **more, over=units - fits)
        return fits

    # --- wagers ---------------------------------------------------------------------------------

    def _contributed(self, name: str, journal: Row, body: Row) -> None:
        number = str(body["round"])
        book = journal["rounds"].get(number)
        if book is None:
            book = self._new_book(journal, number, self.pool_of[self.table])
        post: Row = {}
        for level in list(self.pools[book["pool"]]["levels"].values()):
            for seat, cents, *_ in body["wagers"]:
                rate, generation = level["terms"]["rate_ppm"], level["generation"]
                said = {"seat": seat, "cents": cents, "rate": rate, "round": body["round"]}
                fits = self._fit(level, cents * rate, "contribution", **said)
                put = post.setdefault(str(seat), {"cents": cents, "levels": {}})
                put["levels"][level["level"]] = [generation, fits, cents * rate - fits]
                if level["trigger"] is not None and level["units"] >= level["trigger"]:
                    self._lock_mystery(name, book, level, seat)
        book["posts"].update(post)

    def _new_book(self, journal: Row, number: str, pool: str) -> Row:
        """The oldest rounds that nothing hangs on are forgotten: three are kept."""
        rounds = journal["rounds"]
        book: Row = {"round": int(number), "pool": pool, "posts": {}, "back": {}, "awards": [],
                     "fixed": [], "fixed_units": 0}  # fmt: skip
        rounds[number] = book
        for old in list(rounds)[: max(0, len(rounds) - 3)]:
            held = [self.awards[name] for name in rounds[old]["awards"]]
            if any(award["state"] in OPEN_STATES for award in held):
                continue
            for award in held:
                del self.awards[award["award"]]
            del rounds[old]
            journal["forgotten"] = max(journal["forgotten"], int(old))
        return book

    @staticmethod
    def wagered(book: Row, seat: int) -> int:
        put = book["posts"].get(str(seat), {"cents": 0})["cents"]
        return int(put - book["back"].get(str(seat), 0))

    def _reversed(self, journal: Row, body: Row) -> None:
        book = journal["rounds"][str(body["round"])]
        for seat, cents, *_ in body["wagers"]:
            put, before = book["posts"][str(seat)], book["back"].get(str(seat), 0)
            for name, (generation, fits, over) in put["levels"].items():
                level = self.level(book["pool"], name)
                rate = (fits + over) // put["cents"]
                # The last that came in goes out first, and over the ceiling was the last.
                spared = max(0, before * rate - over)
                left = max(0, over - before * rate)
                out = min(fits - min(fits, spared), max(0, cents * rate - left))
                self._out(level, out, generation, round=body["round"], seat=seat)
            book["back"][str(seat)] = before + cents

    def _out(self, level: Row, units: int, generation: int, **said: Any) -> None:
        there = min(units, level["units"]) if generation in level["living"] else 0
        self._put(level, -there, "reversal", "a wager went back", **said)
        gone = units - there
        if gone and generation not in level["living"]:
            key = str(generation)
            level["owed"][key] = level["owed"].get(key, 0) + gone
        elif gone:
            pending = [a for a in self.awards.values() if self._of(a, level)]
            for award in sorted(pending, key=lambda a: a["order"], reverse=True):
                lent = max(0, min(gone, award["pot"] - award["lent"]))
                award["lent"] += lent
                gone -= lent

    @staticmethod
    def _of(award: Row, level: Row) -> bool:
        mine = (award["pool"], award["level"]) == (level["pool"], level["level"])
        return mine and award["state"] in HELD_STATES

    def _played(self, journal: Row, body: Row) -> None:
        """What the pool pays of the awards that a table paid by odds or as fixed sums."""
        book, awards = journal["rounds"].get(str(body["round"])), body.get("awards", [])
        if book is None or awards == book["fixed"]:
            return
        level = next(iter(self.pools[book["pool"]]["levels"].values()))
        self._fit(level, book["fixed_units"], "correction", f"round {body['round']}")
        book["fixed"], book["fixed_units"] = awards, 0
        if level["terms"].get("fixed_awards", "table") != "pool":
            return
        for seat, kind, cents in awards:
            if kind != "envy":
                there = min(cents * UNITS, level["units"])
                self._put(level, -there, "fixed award", f"seat {seat}, {kind}")
                book["fixed_units"] += there

    # --- claims ---------------------------------------------------------------------------------

    def _step(self, award: Row, state: str, by: str, role: str, note: str = "") -> None:
        award["state"] = state
        award["steps"] += 1
        self.steps.append(
            {"award": award["award"], "step": award["steps"], "state": state, "by": by,
             "role": role, "at_ms": self.at_ms, "note": note, "event": self.event}
        )  # fmt: skip

    def _new(self, level: Row, journal: str, book: Row, claim: list[Any]) -> Row:
        pool = self.pools[level["pool"]]
        pool["count"] += 1
        seat, hand, percent = claim
        award: Row = {
            "award": f"{level['pool']}/{level['generation']}/{pool['count']}",
            "pool": level["pool"], "level": level["level"], "generation": level["generation"],
            "order": pool["count"], "table": self.table, "journal": journal, "round": book["round"],
            "seat": seat, "hand": hand, "percent": percent, "event": self.event, "cents": 0,
            "policy": "", "jackpot_cents": 0, "reset_cents": 0, "rule": "", "state": "", "pot": 0,
            "steps": 0, "first": ["", ""], "restored": False, "lent": 0, "before": [],
        }  # fmt: skip
        self.awards[award["award"]] = self.final[award["award"]] = award
        self._step(award, "claimed", self.table, "table")
        return award

    def _standing(self, book: Row) -> list[Row]:
        found = [self.awards[name] for name in book["awards"]]
        return [a for a in found if a["percent"] and a["state"] != "withdrawn"]

    def _claimed(self, name: str, journal: Row, body: Row) -> None:
        book = journal["rounds"][str(body["round"])]
        pool = self.pools[book["pool"]]
        standing = self._standing(book)
        if any(award["state"] != "claimed" for award in standing):
            return
        kept = {(a["seat"], a["hand"], a["percent"]): a for a in standing}
        if list(kept) != [tuple(claim) for claim in body["claims"]]:
            self._replace(name, book, pool, body["claims"], kept)
        if [name, book["round"]] in pool["waiting"]:
            return
        levels = [self._level_of(pool, claim[1]) for claim in body["claims"] if claim[2] == 100]
        if pool["waiting"] or any(
            level["terms"].get("ties", "strict_order") != "strict_order" for level in levels
        ):
            pool["waiting"].append([name, book["round"]])
        else:
            self._lock(pool, [book])

    @staticmethod
    def _level_of(pool: Row, hand: str) -> Row:
        for level in pool["levels"].values():
            if hand in level["terms"].get("shares", {}):
                found: Row = level
                return found
        raise Wrong(EVENTS, f"no level pays a share for {hand}")

    def _replace(
        self, name: str, book: Row, pool: Row, claims: list[Any], kept: dict[Any, Row]
    ) -> None:
        now = []
        for claim in claims:
            found = kept.pop(tuple(claim), None)
            level = self._level_of(pool, claim[1])
            if level["terms"]["shares"][claim[1]] != claim[2]:
                raise Wrong(EVENTS, f"event {self.event}: {claim[2]} % is not the share of {claim}")
            if not self.wagered(book, claim[0]):
                raise Wrong(EVENTS, f"event {self.event}: seat {claim[0]} claims without a wager")
            now.append((found or self._new(level, name, book, claim))["award"])
        for award in kept.values():
            self._step(award, "withdrawn", self.table, "table", "replaced by a later claim")
        book["awards"] = [one for one in book["awards"] if one not in now] + now

    def _lock_waiting(self, pool: Row) -> None:
        books = [self.journals[name]["rounds"][str(number)] for name, number in pool["waiting"]]
        pool["waiting"] = []
        books.sort(key=lambda book: min(a["order"] for a in self._claims_of(book)))
        self._lock(pool, books)

    def _claims_of(self, book: Row) -> list[Row]:
        return [award for award in self._standing(book) if award["state"] == "claimed"]

    def _lock(self, pool: Row, books: list[Row]) -> None:
        for level in list(pool["levels"].values()):
            rounds = [
                mine
                for book in books
                if (mine := [a for a in self._claims_of(book) if a["level"] == level["level"]])
            ]
            ties = level["terms"].get("ties", "strict_order")
            alone = rounds if ties == "strict_order" or len(rounds) == 1 else []
            together = [] if alone else rounds
            if ties == "share" and together:
                alone = [r for r in rounds if all(a["percent"] != 100 for a in r)]
                together = [r for r in rounds if any(a["percent"] == 100 for a in r)]
            for one in alone:
                self._settle(level, [one], level["units"] // UNITS)
            if together:
                many = len(together) if ties == "share" else 1
                self._settle(level, together, level["units"] // UNITS // many)

    def _settle(self, level: Row, rounds: list[list[Row]], jackpot: int) -> None:
        """Claims of these rounds on one jackpot: one reset, even if one claim takes all."""
        terms = level["terms"]
        reset = (level["next"] or terms)["reset_cents"]
        rule = terms.get("meter_rule", "sequential")
        later, resetting, everyone = list[tuple[Row, int]](), list[Row](), list[str]()
        for awards in rounds:
            found = worths(jackpot, reset, rule, [a["percent"] for a in awards])
            for award, (cents, after) in zip(awards, found, strict=True):
                award |= {"jackpot_cents": jackpot, "reset_cents": reset, "rule": rule,
                          "policy": terms.get("ties", "strict_order")}  # fmt: skip
                everyone.append(award["award"])
                if after:
                    later.append((award, cents))
                    continue
                self._fund(level, award, cents)
                if award["percent"] == 100:
                    resetting.append(award)
        if resetting:
            self._begin(level, resetting, everyone)
        for award, cents in later:
            self._fund(level, award, cents)
            if award["percent"] == 100:
                self._begin(level, [award], [award["award"]])

    def _fund(self, level: Row, award: Row, cents: int) -> None:
        """From the jackpot as far as it goes; the house adds the rest."""
        self.locking(level, award)
        pot = min(cents, level["units"] // UNITS) * UNITS
        award |= {"cents": cents, "pot": pot, "generation": level["generation"]}
        self._put(level, -pot, "award", award["award"], award=award["award"])
        self._step(award, "locked", "server", "")

    def _begin(self, level: Row, awards: list[Row], everyone: list[str]) -> None:
        """The next generation: what was below a cent stays, the seed comes on top of it."""
        level["terms"], level["next"] = level["next"] or level["terms"], None
        level["generation"] += 1
        seed = level["terms"]["reset_cents"] * UNITS
        level["resets"].append(
            {"generation": level["generation"], "living": level["living"], "seed": seed,
             "awards": [a["award"] for a in awards], "locked": everyone, "restored": False}
        )  # fmt: skip
        level["living"] = [level["generation"]]
        self._put(level, seed, "seed", "next base, reserve, house")
        over = level["units"] - self.limit(level)
        if over > 0:
            self._put(level, -over, "overflow", "no room under the ceiling")
        self._forget(level)
        level["trigger"] = None

    def _forget(self, level: Row) -> None:
        held = {name for name, award in self.awards.items() if award["state"] in HELD_STATES}
        resets = level["resets"]
        old = [r for r in resets[:-8] if not held.isdisjoint(r["locked"])]
        level["resets"] = resets = old + resets[-8:]
        alive = {str(g) for r in resets for g in r["living"]} | {str(g) for g in level["living"]}
        level["owed"] = {g: units for g, units in level["owed"].items() if g in alive}

    def _lock_mystery(self, name: str, book: Row, level: Row, seat: int) -> None:
        award = self._new(level, name, book, [seat, "mystery", 0])
        jackpot, terms = level["units"] // UNITS, level["terms"]
        award |= {"jackpot_cents": jackpot, "rule": terms.get("meter_rule", "sequential"),
                  "policy": terms.get("ties", "strict_order"),
                  "reset_cents": (level["next"] or terms)["reset_cents"]}  # fmt: skip
        book["awards"].append(award["award"])
        self._fund(level, award, jackpot)
        self._begin(level, [award], [award["award"]])

    # --- what becomes of an award ---------------------------------------------------------------

    def _people(self, order: Row, by: list[str], *others: list[str]) -> None:
        account, role = by
        what, award, note = order["what"], self.awards[order["award"]], order.get("note", "")
        wanted = {"verify": ("locked",), "approve": ("verified",), "pay": ("approved",)}
        if award["state"] not in wanted.get(what, OPEN_STATES) or not account or not role:
            said = f"event {self.event}: {what} by {account!r} ({role!r}) of an award that is"
            raise Wrong(EVENTS, f"{said} {award['state']}")
        if what == "verify":
            self._step(award, "verified", account, role, note)
        elif what == "approve" and not award["first"][0]:
            award["first"] = [account, role]
            self._step(award, "verified", account, role, note or "first approval")
        elif what == "approve":
            if award["first"][0] == account or award["first"][1] == role:
                said = f"event {self.event}: {award['award']} approved twice by one person or role"
                raise Wrong(EVENTS, said)
            self._step(award, "approved", account, role, note)
        elif what == "pay":
            self._step(award, "paid", account, role, note)
        else:
            also = "".join(f"; with {other} ({role})" for other, role in others)
            self._undo(award, "rejected", account, role, order["why"] + also)

    def _withdrawn(self, journal: Row, body: Row) -> None:
        book = journal["rounds"][str(body["round"])]
        for name in list(book["awards"]):
            award = self.awards[name]
            if award["seat"] not in body["seats"]:
                continue
            if award["state"] in OPEN_STATES:
                self._undo(award, "withdrawn", self.table, "table", "void")
            elif award["state"] == "paid" and not award["restored"]:
                level = self.level(award["pool"], award["level"])
                self._restore(level, award, award["pot"])

    def _undo(self, award: Row, to: str, by: str, role: str, note: str) -> None:
        """The jackpot as if the award had not been."""
        locked = award["state"] in HELD_STATES
        self._step(award, to, by, role, note)
        if not locked:
            pool = self.pools[award["pool"]]
            rounds = {name: self.journals[name]["rounds"] for name, _ in pool["waiting"]}
            pool["waiting"] = [
                [n, r] for n, r in pool["waiting"] if self._claims_of(rounds[n][str(r)])
            ]
            return
        level = self.level(award["pool"], award["level"])
        used = 0
        for reset in level["resets"]:
            for name in reset["locked"] if award["award"] in reset["locked"] else ():
                other = self.awards.get(name)
                if other is None or other is award or other["state"] not in (*HELD_STATES, "paid"):
                    continue
                more = min(other["cents"] * UNITS - other["pot"], award["pot"] - used)
                if more > 0:
                    other["pot"] += more
                    used += more
        self._restore(level, award, award["pot"] - used)
        self._revalue(level, award)

    def _restore(self, level: Row, award: Row, units: int) -> None:
        award["restored"] = True
        for reset in level["resets"]:
            stands = any(n not in self.awards or not self.awards[n]["restored"]
                         for n in reset["awards"])  # fmt: skip
            if award["award"] in reset["awards"] and not reset["restored"] and not stands:
                reset["restored"] = True
                back = [g for g in reset["living"] if g not in level["living"]]
                level["living"] = (back + level["living"])[-16:]
        self._seeds_back(level)
        self._fit(level, units, "restored", award["award"])
        self._seeds_back(level)
        lent = min(award["lent"], level["units"])
        self._put(level, -lent, "reversal", "while the jackpot was out")
        award["lent"] -= lent
        for key in [g for g in level["owed"] if int(g) in level["living"]]:
            owed = min(level["owed"][key], level["units"])
            self._put(level, -owed, "reversal", "while the jackpot was out")
            level["owed"][key] -= owed
            if not level["owed"][key]:
                del level["owed"][key]
        level["trigger"] = None

    def _seeds_back(self, level: Row) -> None:
        for reset in level["resets"]:
            if reset["restored"] and reset["generation"] in level["living"]:
                units = min(reset["seed"], level["units"])
                reset["seed"] -= units
                self._put(level, -units, "seed back", reset["awards"][0])

    def _revalue(self, level: Row, gone: Row) -> None:
        """The other claims of the round, as they are without the one that is gone."""
        book = self.journals[gone["journal"]]["rounds"][str(gone["round"])]
        rest = [a for a in self._standing(book) if gone["percent"] and a["level"] == gone["level"]
                and a["state"] in (*HELD_STATES, "paid")]  # fmt: skip
        percents = [a["percent"] for a in rest]
        found = worths(gone["jackpot_cents"], gone["reset_cents"], gone["rule"], percents)
        for award, (cents, _) in zip(rest, found, strict=True):
            if cents == award["cents"] or award["state"] not in ("locked", "verified"):
                continue
            note = f"{award['cents']} cents before; {gone['award']} is {gone['state']}"
            more = cents - award["cents"]
            if more > 0:
                pot = min(more, level["units"] // UNITS) * UNITS
                self._put(level, -pot, "award", award["award"], award=award["award"])
                award["pot"] += pot
            else:
                house = min(-more * UNITS, award["cents"] * UNITS - award["pot"])
                self._fit(level, -more * UNITS - house, "restored", award["award"])
                award["pot"] -= -more * UNITS - house
            award["before"].append(award["cents"])
            award["cents"], award["first"] = cents, ["", ""]
            self._step(award, award["state"], "server", "", note)


class Derivation:
    """What one award was taken from: the lines of its jackpot since the generation began."""

    def __init__(self, pools: Pools, award: str) -> None:
        self.award, self.pools = award, pools
        self.pool = award.rsplit("/", 2)[0]
        """Lines of other pools are not kept: a floor has many, and each line takes memory."""
        self.lines: dict[tuple[str, str], list[Row]] = {}
        for level in pools.pools.get(self.pool, {"levels": {}})["levels"].values():
            self._begin(level, level["units"], "stated", "at the start of this pack")
        self.found: list[Row] | None = None
        self.terms: Row = {}
        pools.heard, pools.locking = self._heard, self._locking

    def _begin(self, level: Row, units: int, why: str, how: str) -> None:
        line = {"event": self.pools.event, "at_ms": self.pools.at_ms, "table": "", "why": why,
                "how": how, "units": units, "after": units}  # fmt: skip
        self.lines[level["pool"], level["level"]] = [line] if units else []

    def _heard(self, level: Row, line: Row) -> None:
        if level["pool"] != self.pool:
            return
        if line["why"] == "seed":
            carried = f"below a cent, of generation {level['generation'] - 1}"
            self._begin(level, line["after"] - line["units"], "carried over", carried)
        self.lines.setdefault((level["pool"], level["level"]), []).append(line)

    def _locking(self, level: Row, award: Row) -> None:
        if award["award"] != self.award:
            return
        self.found = list(self.lines.get((level["pool"], level["level"]), ()))
        self.terms = level["terms"]
        if sum(line["units"] for line in self.found) != level["units"]:
            raise Wrong(EVENTS, f"the lines of {self.award} do not add up to its jackpot")


AWARD_FIELDS = ("award", "pool", "level", "generation", "order", "table", "journal", "round",
                "seat", "hand", "percent", "cents", "state", "policy", "event", "jackpot_cents",
                "reset_cents")  # fmt: skip


def check_server(folder: Path, manifest: Row, wanted: Mapping[int, str]) -> tuple[Row, list[str]]:
    """The server's half: what was found, and what is wrong with it by file."""
    events, stated = load_lines(folder, EVENTS), load(folder, SERVER)
    opening: Row = {"after": 0, "chain": "", "state": None}
    if OPENING in manifest["files"]:
        opening = load(folder, OPENING)
    with reading(EVENTS):
        for said in check_chain(events, opening["chain"], opening["after"] + 1):
            raise Wrong(EVENTS, said)
        seeds = drawn_seeds(events)
    chains = {row["id"]: row["chain"] for row in events} | {opening["after"]: opening["chain"]}
    left_out = [row["id"] for row in events if row["body"] is None]
    for event, chain in wanted.items():
        if chains.get(event) != chain:
            raise Wrong(EVENTS, f"event {event}: chain value {chain} was expected")
        if left_out and event >= left_out[0]:
            said = f"event {left_out[0]} is left out, so the chain value of event {event} does not"
            more = "prove those before it: expect one before it, or have the pack made again"
            raise Wrong(EVENTS, f"{said} {more}")
    name = manifest["award"]
    pools = Pools(seeds, opening["state"])
    derived = Derivation(pools, name)
    for award in pools.awards.values():
        pools.final[award["award"]] = award
    try:
        for row in events:
            pools.take(row)
    except Wrong:
        raise
    except Exception as error:
        said = f"event {pools.event} does not follow from those before: {error!r}"
        raise Wrong(EVENTS, said) from None
    if name not in pools.final:
        raise Wrong(EVENTS, f"nobody claimed award {name}")
    award = pools.final[name]
    found = {
        "award": award, "lines": derived.found, "terms": derived.terms, "events": len(events),
        "first": opening["after"] + 1, "last": opening["after"] + len(events),
        "chain": events[-1]["chain"] if events else opening["chain"],
        "steps": [step for step in pools.steps if step["award"] == name],
        "games": pools.pools[award["pool"]]["games"],
        "mine": [row for row in events if row["journal"] == award["journal"]],
        "left_out": left_out, "rows": events,
    }  # fmt: skip
    if OPENING in manifest["files"] and award["event"] <= opening["after"]:
        raise Wrong(OPENING, "the claim lies before the first event of the pack")
    with reading(SERVER):
        return found, list(compare_server(found, stated, manifest, pools))


def compare_server(found: Row, stated: Row, manifest: Row, pools: Pools) -> Iterator[str]:
    """What the server stated against what its events make."""
    award = found["award"]
    for row in stated["awards"]:
        made = pools.final.get(row["award"], {})
        for name in AWARD_FIELDS:
            if made.get(name) != row[name]:
                said = f"award {row['award']}: {name} {row[name]!r}"
                yield f"{said}, its events make {made.get(name)!r}"
    if [row for row in stated["steps"] if row["award"] == award["award"]] != found["steps"]:
        yield "the steps of the award are not those that its events make"
    if found["lines"] is not None and stated["terms"] != found["terms"]:
        yield "the terms are not those in force at the lock"
    if stated["games"] != found["games"]:
        yield "the par sheets are not those that the events name"
    amounts = {name: award[name] for name in ("cents", "jackpot_cents", "reset_cents", "state")}
    if manifest["amounts"] != amounts:
        yield f"the manifest states {manifest['amounts']}, the events make {amounts}"
    if stated["awards"][0]["award"] != award["award"]:
        yield f"it is about {stated['awards'][0]['award']}, another award"
    for name, value in manifest["claim"].items():
        if award[name] != value:
            yield f"the manifest claims {name} {value!r}, the events make {award[name]!r}"
    people = approving(award, found["steps"])
    if people and (len({by for by, _ in people}) < 2 or len({role for _, role in people}) < 2):
        yield "it was not approved by two people of two roles"


def approving(award: Row, steps: Iterable[Row]) -> list[tuple[str, str]]:
    """The two who approved, with their roles; nobody before the second one has."""
    if award["state"] not in ("approved", "paid"):
        return []
    who = [(s["by"], s["role"]) for s in steps if s["state"] in ("verified", "approved")]
    return who[-2:]


# --- orders of people -----------------------------------------------------------------------------

ALONE = ("verify", "approve", "accept", "pay", "note", "set password", "adopt key")
"""What one person may order; everything else needs two with different roles."""


class Staff:
    """Who was authorised, and whether each order is theirs; by the chain of staff orders alone."""

    def __init__(self, rows: list[Row]) -> None:
        self.heads: dict[int, str] = {0: "0" * 64}
        self.bodies: dict[int, str] = {}
        self.first = rows[0]["event"] if rows else 0
        self.people: dict[str, Row] = {}
        self.checked = 0
        self.verify = verifier()
        head = ""
        for number, row in enumerate(rows, 1):
            with reading(STAFF):
                self._take(row, number, head)
            head = self.heads[number] = row["head"]
            self.bodies[row["event"]] = row["body"]

    def _take(self, row: Row, number: int, before: str) -> None:
        text = row["body"].encode()
        line = f"{before}\t{number}\t{row['at_ms']}\n".encode()
        if row["number"] != number or hashlib.sha256(line + text).hexdigest() != row["head"]:
            raise Wrong(STAFF, f"order {number} does not follow from the one before")
        body = json.loads(row["body"], object_pairs_hook=once)
        order, by = body["order"], body["by"]
        if order["what"] == "found":
            self._found(order, by, number, "proofs" in body)
            return
        if order["what"] == "office":
            order = json.loads(order["text"], object_pairs_hook=once)
        self._proofs(body, text, f"underfelt order 1\t{before}\t{number}\t{row['at_ms']}\n", order)
        self._authority(order, by, number)
        self._change(order)

    def _found(self, order: Row, by: list[list[str]], number: int, proved: bool) -> None:
        upgrade = order.get("upgrade", False)
        who = "server" if upgrade else "machine"
        if proved or by not in ([[who, ""]], [[who]]) or (upgrade and number != 1):
            raise Wrong(STAFF, f"order {number} makes accounts as nobody may")
        for name, role, key in order["accounts"]:
            self.people[name] = {"role": role, "key": key, "disabled": False}

    def _proofs(self, body: Row, text: bytes, line: str, order: Row) -> None:
        by, proofs = body["by"], body["proofs"]
        end = b',"proofs":' + json.dumps(proofs, separators=(",", ":")).encode() + b"}"
        if len(proofs) != len(by) or not by or not text.endswith(end):
            raise Wrong(STAFF, f"{order['what']}: not signed by everyone who gave it")
        signed = line.encode() + text[: -len(end)] + b"}"
        for (name, role), proof in zip(by, proofs, strict=True):
            person = self.people.get(name)
            if person is None or person["disabled"] or person["role"] != role:
                raise Wrong(STAFF, f"{order['what']}: {name} was not {role} then")
            adopts = order["what"] == "adopt key" and order["name"] == name and not person["key"]
            key = order["key"] if adopts else person["key"]
            if self.verify is not None:
                if not self.verify(key, signed, proof):
                    raise Wrong(STAFF, f"{order['what']}: the signature of {name} is wrong")
                self.checked += 1

    def _authority(self, order: Row, by: list[list[str]], number: int) -> None:
        names, roles = {name for name, _ in by}, {role for _, role in by}
        wanted = 1 if order["what"] in ALONE else 2
        own = order["what"] in ("set password", "adopt key")
        if not len(by) == len(names) == len(roles) == wanted:
            raise Wrong(STAFF, f"order {number}, {order['what']}: expected {wanted} people")
        if "name" in order and (order["name"] in names) != own:
            raise Wrong(STAFF, f"order {number}, {order['what']}: about {order['name']} himself")

    def _change(self, order: Row) -> None:
        what, name = order["what"], order.get("name", "")
        if what == "add account":
            self.people[name] = {"role": order["role"], "key": order["key"], "disabled": False}
        elif what in ("reset account", "set password", "adopt key"):
            self.people[name]["key"] = order["key"]
        elif what == "set role":
            self.people[name]["role"] = order["role"]
        elif what in ("disable account", "enable account"):
            self.people[name]["disabled"] = what == "disable account"


def verifier() -> Callable[[str, bytes, str], bool] | None:
    """Checks one signature; None without PyNaCl."""
    try:
        signing = importlib.import_module("nacl.signing")
        errors = importlib.import_module("nacl.exceptions")
    except ImportError:
        return None

    def verify(key: str, text: bytes, proof: str) -> bool:
        try:
            signing.VerifyKey(bytes.fromhex(key)).verify(text, bytes.fromhex(proof))
        except (errors.BadSignatureError, ValueError):
            return False
        return True

    return verify


def check_staff(staff: Staff, events: list[Row], steps: list[Row]) -> Iterator[str]:
    """Every order of people in the pack, and every step that people took, is signed."""
    for row in events:
        if row["table"] or row["body"] is None or row["id"] < staff.first:
            continue
        body = json.loads(row["body"])
        people = any(len(person) > 1 and person[1] for person in body["by"])
        if people and staff.bodies.get(row["id"]) != row["body"]:
            yield f"event {row['id']}: {body['order']['what']} by people, and not among them"
    for step in steps:
        if step["role"] not in ("", "table") and step["event"] >= staff.first:
            body = json.loads(staff.bodies.get(step["event"], '{"by":[],"order":{}}'))
            if [step["by"], step["role"]] not in body["by"]:
                yield f"award {step['award']}: {step['state']} by {step['by']}, who did not sign it"
            elif body["order"].get("award") != step["award"]:
                yield f"award {step['award']}: {step['state']} by an order about another award"


def witnessed(staff: Staff, heads: Mapping[int, str]) -> Iterator[str]:
    """Heads that somebody else kept."""
    last = len(staff.heads) - 1
    for number, head in heads.items():
        if number > last:
            yield f"order {number} was seen, and these end at {last}: some are missing"
        elif staff.heads[number] != head:
            yield f"head {head} was seen after order {number}; these orders make another one"


# --- the table's journal --------------------------------------------------------------------------


def record_bytes(row: Row, previous: bytes) -> bytes:
    """A journal record as it stands on disk."""
    kind, body = str(row["kind"]).encode(), body_bytes(row)
    length = (84 + len(kind) + len(body) + 7) // 8 * 8
    head = struct.pack(">4sIQQQ32sII", b"UFRC", length, row["seq"], row["durable"], row["at_ms"],
                       previous, len(body), len(kind))  # fmt: skip
    whole = head + struct.pack(">I", zlib.crc32(head)) + kind + body
    whole += bytes(length - 8 - len(whole))
    return whole + struct.pack(">I", zlib.crc32(whole)) + b"CRFU"


def body_bytes(row: Row) -> bytes:
    return bytes.fromhex(row["body_hex"]) if "body_hex" in row else str(row["body"]).encode()


def sealed_in(value: Any) -> Iterator[str]:
    """Commitments of the sealed cards of a body, in the order in which they stand there."""
    if isinstance(value, dict):
        if set(value) == {"commit", "box"}:
            yield str(value["commit"])
            return
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from sealed_in(part)


def names_in(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value in CARDS:
        yield value
    for part in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from names_in(part)


class TableJournal:
    """Records of the table around the round, each checked into the chain."""

    def __init__(self, lines: list[Row]) -> None:
        self.head, self.rows = lines[0], lines[1:]
        self.hashes: dict[int, str] = {}
        self.told: dict[str, str] = {}
        """Card to the moment it became public, with its commitment recomputed."""
        self.opened = self.unchecked = 0
        self._sealed: dict[tuple[int, int], str] = {}
        chain, expected = bytes.fromhex(self.head["previous"]), self.head["first_seq"]
        if expected == 1:
            start = b"underfelt journal 1\n" + bytes.fromhex(self.head["journal"])
            if sha(start, self.head["table"].encode()) != chain.hex():
                raise Wrong(TABLE, "the chain does not begin with this journal and table")
        for row in self.rows:
            before = bytes.fromhex(row["apart"]) if "apart" in row else chain
            digest = hashlib.sha256(before + record_bytes(row, before)).digest()
            if digest.hex() != row["hash"]:
                raise Wrong(TABLE, f"record {row['seq']}: its hash is not that of its content")
            if "apart" not in row:
                if row["seq"] != expected:
                    raise Wrong(TABLE, f"record {row['seq']} stands where {expected} belongs")
                chain, expected = digest, expected + 1
            self.hashes[row["seq"]] = row["hash"]
            self._cards(row)

    def body(self, row: Row) -> Row:
        try:
            found = json.loads(body_bytes(row))
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def bodies(self, *kinds: str) -> Iterator[tuple[Row, Row]]:
        return ((row, self.body(row)) for row in self.rows if row["kind"] in kinds)

    def _cards(self, row: Row) -> None:
        body = self.body(row)
        if row["kind"] != "revealed":
            self._sealed |= {(row["seq"], n): c for n, c in enumerate(sealed_in(body))}
            return
        for card in body["cards"]:
            commit = self._sealed.pop((card["seq"], card["index"]), None)
            made = sha(bytes.fromhex(card["nonce"]), bytes([CARDS.index(card["card"])]))
            if commit is None and card["seq"] >= self.head["first_seq"]:
                raise Wrong(TABLE, f"record {row['seq']} opens a card that was never sealed")
            if commit is not None and commit != made:
                raise Wrong(TABLE, f"record {row['seq']}: {card['card']} is not the card sealed")
            self.told[card["card"]] = card["moment"]
            self.opened += commit is not None
            self.unchecked += commit is None


def check_anchors(journal: TableJournal, events: Iterable[Row], claim: int) -> Iterator[str]:
    """The server holds hashes of this journal: those in the pack must be among them."""
    by_seq, anchored = {row["seq"]: row for row in journal.rows}, False
    for event in events:
        row = by_seq.get(event["seq"])
        if row is None:
            continue
        if row["hash"] != event["hash"]:
            yield f"record {event['seq']}: the server holds another hash (event {event['id']})"
            return
        body = journal.body(row)
        if body.get("n") != event["n"] or body.get("event") != json.loads(event["body"]):
            yield f"record {event['seq']} is not what the server received (event {event['id']})"
        anchored = anchored or ("apart" not in row and event["id"] >= claim)
    if not anchored:
        yield "no record of the claim or after it is held by the server: the chain has no witness"


def below(limit: int, seed: bytes, domain: str, place: tuple[str, int]) -> int:
    if limit < 1:
        raise Wrong(TABLE, f"the draw of {domain} has no room")
    bits = (limit - 1).bit_length()
    for counter in itertools.count():
        said = f"underfelt draw 1\0{domain}\0{place[0]}\0".encode()
        block = hmac.new(seed, said + struct.pack(">QI", place[1], counter), "sha256").digest()
        value = int.from_bytes(block, "big") >> (256 - bits)
        if value < limit:
            return value
    raise AssertionError


def check_selection(journal: TableJournal, number: int) -> tuple[str, list[str]]:
    """The draw of the round from its seed, which must be the one committed to."""
    commit: Row | None = None
    for _, body in journal.bodies("selection"):
        if body.get("round") != number:
            continue
        if body["what"] in ("committed", "server committed"):
            commit = body
        elif commit is not None and body["what"] in ("revealed", "server revealed"):
            told = body if body["what"] == "server revealed" else {**commit, **body}
            place, seed = (journal.head["journal"], number), bytes.fromhex(told["seed"])
            tail = place[0].encode() + b"\0" + struct.pack(">Q", number)
            if sha(seed, bytes.fromhex(told["salt"]), tail) != commit["committed"]:
                return "", ["the seed of the selection is not the one committed to"]
            magic, lucky = Fraction(told["magic_rate"]), Fraction(told["lucky_rate"])
            card, seat = None, None
            if below(magic.denominator, seed, "has magic card", place) < magic.numerator:
                card = CARDS[below(52, seed, "magic card", place)]
            has = below(lucky.denominator, seed, "has lucky player", place) < lucky.numerator
            if told["seats"] and has:
                seat = told["seats"][below(len(told["seats"]), seed, "lucky player", place)]
            if (card, seat) != (body["magic_card"], body["lucky_seat"]):
                return "", [f"the selection is {card}, seat {seat} by its seed"]
            return f"magic card {card or 'none'}, lucky seat {seat or 'none'}", []
    return "committed, not opened" if commit else "none", []


def hand_of(cards: Sequence[str]) -> str:
    """The class of five cards."""
    ranks = sorted((CARDS.index(card) // 4 for card in cards), reverse=True)
    times = sorted(Counter(ranks).values(), reverse=True)
    flush = len({card[1] for card in cards}) == 1
    straight = times[0] == 1 and (ranks[0] - ranks[4] == 4 or ranks == [12, 3, 2, 1, 0])
    if straight and flush:
        return "royal flush" if ranks[4] == 8 else "straight flush"
    if times[0] == 4:
        return "four of a kind"
    if times[:2] == [3, 2]:
        return "full house"
    if flush or straight:
        return "flush" if flush else "straight"
    if times[0] == 3:
        return "three of a kind"
    return ("high card", "one pair", "two pair")[times.count(2)]


def check_round(played: Row, award: Row, told: Mapping[str, str] | None) -> tuple[Row, list[str]]:
    """The hand, from the round's record: is it what was claimed, of cards that were opened?"""
    record, result, wrong = played["record"], played["result"], list[str]()
    seats = {row["seat"]: row for row in record.get("round", {}).get("seats", ())}
    seat = seats.get(award["seat"])
    if seat is None:
        return {}, ([f"seat {award['seat']} is not in the record of its round"] if seats else [])
    cards = [*seat["cards"], *record["round"].get("community", ())]
    found: Row = {"cards": cards, "game": record["game"], "wagers": seat["wagers"]}
    if award["percent"] and award["state"] in (*HELD_STATES, "paid"):
        hand = hand_of(cards) if len(cards) == 5 and None not in cards else "no whole hand"
        if hand != award["hand"]:
            wrong.append(f"{' '.join(map(str, cards))} is {hand}, claimed was {award['hand']}")
        for card in cards:
            if told is not None and card not in told:
                wrong.append(f"{card} of the hand was neither opened nor declared in this journal")
        rows = {row["seat"]: row for row in result.get("seats", ())}
        win = rows.get(award["seat"], {}).get("wagers", {}).get("progressive", {}).get("win")
        if win is not None and win not in (award["cents"], *award.get("before", ())):
            wrong.append(f"the table settled {money(win)}, the award is {money(award['cents'])}")
    return found, wrong


def check_table(folder: Path, found: Row | None, manifest: Row) -> tuple[Row, list[str]]:
    lines = load_lines(folder, TABLE)
    if not lines:
        raise Wrong(TABLE, "empty")
    with reading(TABLE):
        journal = TableJournal(lines)
        award = found["award"] if found else manifest["claim"]
        if (journal.head["journal"], journal.head["table"]) != (award["journal"], award["table"]):
            return {}, [f"this is the journal of {journal.head['table']}, another one"]
        wrong = list(check_anchors(journal, found["mine"], award["event"])) if found else []
        selection, more = check_selection(journal, award["round"])
        rounds = [body for _, body in journal.bodies("round") if body["round"] == award["round"]]
        told = dict(journal.told)
        for _, body in journal.bodies("fact"):
            if "person" in body.get("by", {}):
                told |= dict.fromkeys(names_in(body.get("of")), "declared")
        hand: Row = {}
        if rounds:
            hand, third = check_round(rounds[-1], award, told)
            more += third
        outbox = [body["event"] for _, body in journal.bodies("outbox")]
        put = [w for e in outbox if e["what"] == "contributed" and e["round"] == award["round"]
               for w in e["wagers"] if w[0] == award["seat"]]  # fmt: skip
        if not put:
            more.append(f"seat {award['seat']} has no wager in round {award['round']}")
        if found is None and not claimed_in(journal, outbox, award):
            more.append(f"the table did not claim {award['hand']} for seat {award['seat']}")
    about = {"records": len(journal.rows), "first_seq": journal.head["first_seq"],
             "opened": journal.opened, "unchecked": journal.unchecked, "selection": selection,
             "closed": bool(rounds), "hashes": journal.hashes, "told": told,
             "identity": identity_in(journal),
             "witness": {b["staff"]: b["head"] for _, b in journal.bodies("witness")}}  # fmt: skip
    return about | hand, wrong + more


def claimed_in(journal: TableJournal, outbox: Iterable[Row], award: Row) -> bool:
    """By the table itself; or, of a mystery, heard by it from the server."""
    told = [award["seat"], award["hand"], award["percent"]]
    won = [body["of"] for _, body in journal.bodies("fact") if body["what"] == "mystery won"]
    return any(
        e["what"] == "claimed" and e["round"] == award["round"] and told in e["claims"]
        for e in outbox
    ) or any((of["award"], of["seat"]) == (award["award"], award["seat"]) for of in won)


def identity_in(journal: TableJournal) -> Row:
    """What ran, by the record of the last start and of the configurations taken since."""
    found: Row = {}
    for row, body in journal.bodies("opened", "configuration"):
        if row["kind"] == "opened":
            found = {name: str(body[name]) for name in IDENTITY if name in body}
        elif "in_force" in body:
            found["configuration"] = str(body["in_force"])
    return found


# --- the devices' frames --------------------------------------------------------------------------


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def cards_of(chunk: bytes) -> list[int] | None:
    """Card bytes of one frame of a card device (without its closing zero); None if it is none."""
    body, at = bytearray(), 0
    while at < len(chunk):
        code = chunk[at]
        body += chunk[at + 1 : at + code] + (b"\0" if at + code < len(chunk) else b"")
        at += max(code, 1)
    if len(body) < 10 or crc32c(bytes(body[:-4])) != int.from_bytes(body[-4:], "little"):
        return None
    kind, payload = body[2], body[6:-4]
    return [payload[4]] if kind == 0x20 else list(payload[3:]) if kind == 0x42 else []


def check_frames(folder: Path, told: Mapping[str, str]) -> tuple[Row, list[str]]:
    """Bytes of card devices are open only where every card in them became public."""
    rows, wrong, seen = load_lines(folder, FRAMES), list[str](), list[str]()
    for row in rows:
        if row["hex"] is None:
            continue
        data = bytes.fromhex(row["hex"])
        if len(data) != row["bytes"]:
            wrong.append(f"frame {row['number']}: {len(data)} bytes, {row['bytes']} stated")
        if not row["sealed"] or row["direction"] == "out":
            continue
        for chunk in data.split(b"\0"):
            for value in cards_of(chunk) or ():
                name = wire_card(value)
                seen.append(name)
                if name not in told:
                    wrong.append(f"frame {row['number']} shows a card that was never opened")
    return {"frames": len(rows), "cards_in_frames": sorted(set(seen))}, wrong


def wire_card(value: int) -> str:
    """A card byte of a device: suit in the high half, rank from the ace (1) on in the low one."""
    suit, rank = value >> 4, value & 15
    if suit > 3 or not 1 <= rank <= 13:
        return "no card"
    return "A23456789TJQK"[rank - 1] + "cdhs"[suit]


# --- the page -------------------------------------------------------------------------------------


class Figures(html.parser.HTMLParser):
    """Texts of the elements that carry ``data-figure``; scripts and outside links are counted."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self.outside: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        links = [v for k, v in attrs if k in ("src", "href") and not (v or "").startswith("#")]
        if (
            tag in ("script", "iframe", "object", "link")
            or links
            or any(k.startswith("on") for k in given)
        ):
            self.outside.append(tag)
        if name := given.get("data-figure"):
            self._open = [name]
            self.found.setdefault(name, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("br", "b", "i"):
            self._open = []

    def handle_data(self, data: str) -> None:
        if self._open:
            self.found[self._open[0]][-1] += data


def figures(server: Row | None, table: Row | None, manifest: Row) -> dict[str, str]:
    """What the page must say, by the name of its figure; money as printed."""
    award = server["award"] if server else manifest["claim"]
    said = {"award": award["award"], "table": award["table"], "seat": str(award["seat"]),
            "round": str(award["round"]), "hand": award["hand"]}  # fmt: skip
    if server is not None:
        lines, people = server["lines"] or [], approving(award, server["steps"])
        said |= {
            "amount": money(award["cents"]), "jackpot": money(award["jackpot_cents"]),
            "approved": " and ".join(f"{by} ({role})" for by, role in people) or "nobody",
            "state": award["state"], "chain": f"{server['last']}:{server['chain']}",
        }  # fmt: skip
        if server["lines"] is not None:  # a claim that was never locked is made of nothing yet
            put = [line["units"] for line in lines if line["why"] == "contribution"]
            said["held"] = exact(sum(line["units"] for line in lines))
            said["contributed"] = exact(sum(put))
    if table is not None and "cards" in table:
        said["cards"] = " ".join(str(card) for card in table["cards"])
    return said


def check_page(folder: Path, expected: Mapping[str, str]) -> Iterator[str]:
    parser = Figures()
    parser.feed((folder / PAGE).read_text("utf-8"))
    if parser.outside:
        yield f"it holds {', '.join(sorted(set(parser.outside)))}: a page of evidence needs nothing"
    for name, text in expected.items():
        shown = parser.found.get(name, [])
        if not shown or any(" ".join(one.split()) != text for one in shown):
            yield f"{name} is shown as {shown}, the data make {text!r}"


# --- the whole ------------------------------------------------------------------------------------


def verify(
    folder: Path,
    chains: Mapping[int, str] | None = None,
    hashes: Mapping[int, str] | None = None,
    heads: Mapping[int, str] | None = None,
) -> Row:
    """The answer as data: ``ok``, ``problems`` by file, and what was found."""
    problems: list[Row] = []
    answer: Row = {"ok": False, "problems": problems}

    def wrong(file: str, what: str) -> None:
        problems.append({"file": file, "what": what})

    try:
        manifest = read_manifest(folder)
        for found in check_files(folder, manifest):
            wrong(found.file, found.what)
        if not problems:
            answer |= {"award": manifest["award"], "missing": manifest["missing"]}
            _contents(folder, manifest, answer, wrong, (chains or {}, hashes or {}, heads or {}))
    except Wrong as error:
        wrong(error.file, error.what)
    except Exception as error:
        wrong(MANIFEST, f"something that it names cannot be read: {error!r}")
    answer["ok"] = not problems
    return answer


def _contents(
    folder: Path,
    manifest: Row,
    answer: Row,
    wrong: Callable[[str, str], None],
    witnesses: tuple[Mapping[int, str], Mapping[int, str], Mapping[int, str]],
) -> None:
    files, server, table = manifest["files"], None, None
    chains, hashes, heads = witnesses
    if EVENTS in files:
        server, said = check_server(folder, manifest, chains)
        for one in said:
            wrong(SERVER, one)
        played = [json.loads(row["body"]) for row in server["mine"]]
        rounds = [
            b for b in played if (b["what"], b.get("round")) == ("round", server["award"]["round"])
        ]
        if rounds and TABLE not in files:
            table, said = check_round(rounds[-1], server["award"], None)
            for one in said:
                wrong(EVENTS, one)
        answer |= {"amount_cents": server["award"]["cents"], "state": server["award"]["state"],
                   "lines": server["lines"] or [], "events": server["events"],
                   "from_event": server["first"], "chain": f"{server['last']}:{server['chain']}",
                   "stated_opening": OPENING in files, "left_out": server["left_out"]}  # fmt: skip
    if TABLE in files:
        table, said = check_table(folder, server, manifest)
        for one in said:
            wrong(TABLE, one)
        for seq, digest in hashes.items():
            if table.get("hashes", {}).get(seq) != digest:
                wrong(TABLE, f"record {seq}: hash {digest} was expected")
        if FRAMES in files:
            with reading(FRAMES):
                frames, said = check_frames(folder, table.get("told", {}))
            answer |= frames
            for one in said:
                wrong(FRAMES, one)
        hidden = ("hashes", "told", "identity", "witness")
        answer |= {k: v for k, v in table.items() if k not in hidden}
    if server is not None:
        rows = load_lines(folder, STAFF) if STAFF in files else []
        for one in _signed(rows, server, {**(table or {}).get("witness", {}), **heads}, answer):
            wrong(STAFF, one)
    if not {EVENTS, TABLE} & files.keys() or PAGE not in files:
        wrong(MANIFEST, "neither the server's events nor the table's journal, or no page")
        return
    if manifest["award"] != manifest["claim"]["award"]:
        wrong(MANIFEST, f"it claims {manifest['claim']['award']!r}, another award")
    if server is None and manifest["amounts"] is not None:
        wrong(MANIFEST, "it states an amount, and no server's half to prove it")
    identity = dict((table or {}).get("identity", {}))
    identity |= {f"par sheet {game}": h for game, h in (server or {}).get("games", {}).items()}
    if manifest["identity"] != identity:
        wrong(MANIFEST, f"identity {manifest['identity']}, the records make {identity}")
    with reading(PAGE):
        for one in check_page(folder, figures(server, table, manifest)):
            wrong(PAGE, one)


def _signed(rows: list[Row], server: Row, heads: Mapping[int, str], answer: Row) -> list[str]:
    staff = Staff(rows)
    answer["staff_orders"], answer["witnessed"] = len(rows), len(heads)
    if not rows:
        answer["signatures"] = "none: the server's orders are from before keys"
        return list(witnessed(staff, heads))
    if staff.verify is None:
        answer["signatures"] = "not checked: PyNaCl is not installed"
    else:
        answer["signatures"] = f"checked: {staff.checked}"
    with reading(STAFF):
        found = list(check_staff(staff, server["rows"], server["steps"]))
    return [*found, *witnessed(staff, heads)]


def as_text(answer: Row, lines: bool) -> Iterator[str]:
    for problem in answer["problems"]:
        yield f"WRONG  {problem['file']}: {problem['what']}"
    if answer["problems"]:
        yield f"{len(answer['problems'])} problems: keep this folder as it is and call an auditor"
        return
    yield f"award {answer['award']}: every check holds"
    if "amount_cents" in answer:
        rows, since = answer["lines"], answer["from_event"]
        if lines:
            yield from (
                f"{line['event']:>9} {line['table']:10} {line['why']:13} {line['how']:30} "
                f"{exact(line['units']):>20} {exact(line['after']):>22}"
                for line in rows
            )
        held = exact(sum(line["units"] for line in rows))
        yield f"amount {money(answer['amount_cents'])}, {answer['state']}"
        yield f"{len(rows)} lines from event {since} on make {held} in the jackpot at the lock"
        yield f"chain of the server's events through {answer['chain']}"
        if answer["stated_opening"]:
            yield "what stood there before the first event is stated, not recomputed"
        for event in answer["left_out"]:
            yield f"event {event} is LEFT OUT: a draw that was not public when this pack was made;"
            yield "  its chain value is stated, not recomputed. A pack made later has all of it"
    if "signatures" in answer:
        many, seen = answer["staff_orders"], answer["witnessed"]
        yield f"{many} staff orders, {seen} of their heads witnessed elsewhere"
        if answer["signatures"].startswith("checked"):
            yield f"signatures {answer['signatures']}"
        else:
            yield f"signatures not checked ({answer['signatures']})"
    if "records" in answer:
        yield f"{answer['records']} journal records, {answer['opened']} cards opened as committed"
        yield f"selection: {answer['selection']}"
        if not answer["closed"]:
            yield "the round was not closed when this pack was made"
    if answer.get("cards"):
        yield f"hand {' '.join(map(str, answer['cards']))}"
    for text in answer["missing"]:
        yield f"MISSING  {text}"


def _expected(argv: list[str], option: str) -> dict[int, str]:
    given = [argv[n + 1] for n, word in enumerate(argv[:-1]) if word == option]
    found = dict[int, str]()
    for text in given:
        number, _, digest = text.partition(":")
        if not number.isdecimal() or not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise ValueError(f"{option} {text}: expected NUMBER:HEX with 64 hex digits")
        found[int(number)] = digest
    return found


def main(argv: list[str]) -> int:
    options = ("--expect-chain", "--expect", "--expect-staff")
    values = {n + 1 for n, word in enumerate(argv) if word in options}
    plain = [word for n, word in enumerate(argv) if not word.startswith("-") and n not in values]
    known = {"--json", "--lines", *options}
    try:
        expected = [_expected(argv, option) for option in options]
    except ValueError as error:
        print(f"verify: {error}", file=sys.stderr)
        return 64
    if len(plain) > 1 or any(w.startswith("-") and w not in known for w in argv):
        print("usage: verify.py [FOLDER] [--json] [--lines]", file=sys.stderr)
        return 64
    folder = Path(plain[0]) if plain else Path(__file__).resolve().parent
    if not folder.is_dir():
        print(f"verify: {folder}: no such folder", file=sys.stderr)
        return 66
    answer = verify(folder, *expected)
    if "--json" in argv:
        print(json.dumps(answer, indent=2))
    else:
        for line in as_text(answer, "--lines" in argv):  # a terminal must not obey a forger
            print("".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in line))
    if not answer["ok"]:
        return 65
    return 0 if answer.get("signatures", "checked").startswith("checked") else UNSIGNED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
