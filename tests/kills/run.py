"""Random SIGKILLs of link server and tables under load; nothing lost, nothing counted twice.

python -m tests.kills.run [--sqlite N] [--postgresql N] [--seed S] [--floor NAME] [--report FILE]

The kills are spread over floors of their own, several side by side. What happens on a floor, and
when, follows from the seed and the floor's name; a floor on which something was wrong is kept.
"""

from __future__ import annotations

import argparse
import platform
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path
from typing import Final

from tests.kills.floor import CLI, DEVICES, Floor, GaveUp
from tests.postgres import Instance

FULL: Final = {"sqlite": 1_000, "postgresql": 100}
KILLS_OF_A_FLOOR: Final = 50
LOADS: Final = 4
CHECK_EVERY: Final = 5
"""At every so many kills of the server the store is looked at before the next one starts."""


@dataclass(frozen=True)
class Kill:
    """After something was seen and a while more, SIGKILL to all victims at once."""

    number: int
    victims: tuple[str, ...]
    seen: str
    """What is waited for: ``load``, that every table with a load is acknowledged something; the
    name of a table, that it writes an event; or nothing."""
    after_s: float
    down_s: float

    def __str__(self) -> str:
        first = {"": "", "load": "the load under way, "}.get(
            self.seen, f"an event of {self.seen}, "
        )
        return f"kill {self.number}: {' and '.join(self.victims)} after {first}{self.after_s:.3f} s"


def plan(seed: str, kills: int, loads: Sequence[str], devices: Sequence[str] = ()) -> list[Kill]:
    """Nine in twenty hit the server, seven a table, three both, one everybody at once. Two in five
    come while somebody is still starting, or sending again what was under way. Where people play,
    half of the others come within moments of an event of theirs."""
    rng = random.Random(seed)
    made = []
    for number in range(1, kills + 1):
        kind, one = rng.randrange(20), rng.choice([*loads, *devices])
        seen, after_s = ("", rng.uniform(0, 1.0))
        if rng.random() < 0.6:
            seen, after_s = ("load", rng.uniform(0, 4.0 if devices else 0.4))
            if devices and rng.random() < 0.5:
                one = rng.choice(list(devices))
                seen, after_s = (one, rng.uniform(0, 0.03))
        if kind < 9:
            victims: tuple[str, ...] = ("server",)
        elif kind < 16:
            victims = (one,)
        else:
            victims = ("server", one) if kind < 19 else ("server", *loads, *devices)
        down_s = rng.uniform(0, 0.2) if rng.random() < 0.3 else 0.0
        made.append(Kill(number, victims, seen, after_s, down_s))
    return made


@dataclass(frozen=True)
class Order:
    """One floor to play."""

    name: str
    kind: str
    kills: int
    seed: int
    folder: Path
    loads: int = LOADS
    devices: tuple[str, ...] = ()
    server: tuple[str, ...] = CLI


@dataclass
class Outcome:
    name: str
    kind: str
    tables: tuple[str, ...]
    kills: int = 0
    processes: int = 0
    server: int = 0
    under_way: int = 0
    """Kills at which an event was durable at a table and not acknowledged."""
    events: int = 0
    real: int = 0
    """Of these, events of tables with devices and people."""
    words: int = 0
    """Acknowledgements and welcomes that tables heard."""
    wagers: int = 0
    problems: list[str] = field(default_factory=list)
    last: str = ""
    """The last kill."""
    took_s: float = 0.0


def play(order: Order) -> Outcome:
    """One floor from the first start to the last check; it is kept if anything was wrong."""
    began, folder = time.monotonic(), order.folder / order.name
    with ExitStack() as stack:
        store, instance = "sqlite:link.db", None
        if order.kind == "postgresql":
            instance = Instance()
            stack.callback(instance.remove)
            instance.start()
            store = instance.create_schema("link")
        floor = Floor(
            folder,
            loads=order.loads,
            devices=order.devices,
            store=store,
            seed=f"{order.seed}/{order.name}",
            server=order.server,
        )
        stack.callback(floor.close)
        found = Outcome(order.name, order.kind, floor.names)
        try:
            _play(order, floor, found)
        except GaveUp as error:
            found.problems.append(str(error))
        found.problems = list(dict.fromkeys([*floor.problems, *found.problems]))
        floor.close()
        if found.problems and instance is not None:
            instance.stop()
            shutil.copytree(instance.data, folder / "postgresql")
    found.took_s = time.monotonic() - began
    if not found.problems:
        shutil.rmtree(folder)
    return found


def _play(order: Order, floor: Floor, found: Outcome) -> None:
    floor.open()
    floor.await_load()
    loads = [name for name in floor.names if name not in order.devices]
    for kill in plan(f"{order.seed}/{order.name}", order.kills, loads, order.devices):
        found.last = str(kill)
        if kill.seen == "load":
            floor.await_load()
        elif kill.seen:
            floor.await_event(kill.seen)
        time.sleep(kill.after_s)
        found.under_way += floor.kill(kill.victims) > 0
        found.kills += 1
        found.processes += len(kill.victims)
        if "server" in kill.victims:
            found.server += 1
            if found.server % CHECK_EVERY == 0:
                floor.check_promises()
        time.sleep(kill.down_s)
        floor.start(kill.victims)
        floor.look()
        broken = [text for table in floor.tables for text in table.witness.broken]
        if floor.problems or broken:
            raise GaveUp("; ".join(broken))
    floor.await_load()
    for name in order.devices:
        floor.await_event(name)  # play has gone on
    floor.drain()
    books = floor.check()
    found.events = sum(len(book.sent) for book in books)
    found.real = sum(len(book.sent) for book in books if book.name in order.devices)
    found.words = sum(table.witness.words for table in floor.tables)
    found.wagers = sum(
        len(sent.body["wagers"])
        for book in books
        for sent in book.sent
        if sent.body["what"] == "contributed"
    )


# --- all floors --------------------------------------------------------------------------------


def orders(kind: str, kills: int, seed: int, folder: Path) -> list[Order]:
    """One floor in ten has real tables with devices and people beside two with a load."""
    made = []
    for number, first in enumerate(range(0, kills, KILLS_OF_A_FLOOR)):
        real = number % 10 == 1
        made.append(
            Order(
                name=f"{kind}-{number + 1}",
                kind=kind,
                kills=min(KILLS_OF_A_FLOOR, kills - first),
                seed=seed,
                folder=folder,
                loads=2 if real else LOADS,
                devices=tuple(DEVICES) if real else (),
            )
        )
    return made


HEAD: Final = """\
# Kills of link server and tables

`make kills`: random SIGKILLs of real processes under load: `underfelt link` with CURVE, tables that
run the real journal, outbox and session under a generated load, and on some floors `underfelt
table` over simulated devices with people who play. A killed process is restarted and play
continues. Nine kills in twenty hit the server, seven a table, three both, one everything at once;
two in five come while a process is still starting or sending again.

{how}

After every kill each table's witness is read: no word of the server may take back what it
acknowledged. At every {every}th kill of a server the store is looked at before the next one starts.
At the end of each floor, after a quiet drain: every acknowledged event is stored once, every
`outbox` record of every journal with the same hash and body, the pools are the exact sum that the
test computes from the journals' wagers and claims with arithmetic of its own, `underfelt link
check` and the ledger's invariants hold, and an auditor's verifier finds every journal sound.

Seed {seed}. What happens on a floor and when follows from the seed and its name
(`python -m tests.kills.run --seed {seed} --floor NAME`), as far as real processes allow.

"""


COLUMNS: Final = {
    "kills": "kills",
    "server": "of a server",
    "processes": "processes killed",
    "under_way": "with events under way",
    "events": "events",
    "wagers": "wagers",
    "words": "acknowledgements",
}


def report(found: Sequence[Outcome], seed: int) -> str:
    done = {kind: sum(one.kills for one in found if one.kind == kind) for kind in FULL}
    how = f"Python {platform.python_version()}, {platform.machine()}."
    if any(done[kind] < FULL[kind] for kind in FULL):
        played = " and ".join(f"{n:,} on {kind}" for kind, n in done.items())
        whole = " and ".join(f"{n:,} on {kind}" for kind, n in FULL.items())
        how += f" **A sample: {played}; the whole is {whole}.**"
    text = HEAD.format(how=how, seed=seed, every=CHECK_EVERY)
    text += f"| store | {' | '.join(COLUMNS.values())} | findings |\n"
    text += "|---" * (len(COLUMNS) + 2) + "|\n"
    for kind in FULL:
        mine = [one for one in found if one.kind == kind]
        cells = [sum(getattr(one, name) for one in mine) for name in COLUMNS]
        findings = sum(len(one.problems) for one in mine)
        text += f"| {kind} | " + " | ".join(f"{n:,}" for n in (*cells, findings)) + " |\n"
    text += "\n| floor | tables | kills | events | of tables with devices | outcome |\n"
    text += "|---|---|---|---|---|---|\n"
    for one in found:
        outcome = "all of it held" if not one.problems else f"**{len(one.problems)} findings**"
        row = (one.name, ", ".join(one.tables), one.kills, f"{one.events:,}", one.real, outcome)
        text += "| " + " | ".join(map(str, row)) + " |\n"
    for one in found:
        text += "".join(f"\n* {one.name}, {one.last}: {text_}" for text_ in one.problems)
    return text.rstrip("\n") + "\n"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills.run", description=__doc__)
    for kind, number in FULL.items():
        parser.add_argument(f"--{kind}", type=int, default=number, help="kills on this store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--floor", help="only this one")
    parser.add_argument("--jobs", type=int, default=2, help="floors side by side")
    parser.add_argument("--report", help="write a Markdown report to this file")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="underfelt-kills-"))
    wanted = {kind: getattr(options, kind) for kind in FULL}
    made = [one for kind, n in wanted.items() for one in orders(kind, n, options.seed, folder)]
    made = [one for one in made if options.floor in (None, one.name)]
    found = []
    with Pool(options.jobs, maxtasksperchild=1) as pool:
        # Where people play it takes longest, so that comes first.
        for one in pool.imap(play, sorted(made, key=lambda one: not one.devices), 1):
            found.append(one)
            print(f"{one.name:15} {one.kills} kills, {one.events} events, {one.took_s:.0f} s")
            for text in one.problems:
                print(f"  seed {options.seed}, {one.last}: {text}; kept in {folder / one.name}")
            sys.stdout.flush()
    names = [one.name for one in made]
    found.sort(key=lambda one: names.index(one.name))
    bad = sum(len(one.problems) for one in found)
    kills = sum(one.kills for one in found)
    print(f"{kills} kills, {bad} findings")
    if options.report:
        Path(options.report).write_text(report(found, options.seed), "utf-8")
    if not bad:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
