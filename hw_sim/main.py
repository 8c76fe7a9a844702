"""``underfelt sim``: a table's devices in a process of their own (docs/protocols/simulator.md)."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hw_sim import scenario as scenarios
from hw_sim.cable import Cable, CableError
from hw_sim.control import NOT_TRUE, Control
from hw_sim.faults import FaultError
from hw_sim.http import JSON, STEP_S, ControlServer
from hw_sim.layout import LayoutError, load
from hw_sim.people.bots import Bots
from hw_sim.people.director import Director, Link
from hw_sim.people.random_play import random_rounds
from hw_sim.people.technician import calling
from hw_sim.scenario import HERE, Expected, Scenario, ScenarioError
from hw_sim.shell import SimShell
from hw_sim.table import SimTable

AGAIN_S: Final = 5.0
PAUSED_S: Final = 0.1
FAILED: Final = 1
"""The scenario did not come true; the other exit codes are ``os.EX_*``."""

EPILOG: Final = """\
examples:
  underfelt sim --game MBS3                    devices of a reference table, until interrupted
  underfelt sim --scenario mbs3-plain          people play; exit code 1 if it does not come true
  underfelt sim --game NSW --random 20 --seed 7 --faults
  underfelt sim fault unplug shoe --run DIR    a fault at a running table
  underfelt sim do press OPEN --run DIR        a step by hand
  underfelt sim look --run DIR                 what a person at the table sees
  underfelt sim list                           the scenarios there are
"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        self.print_usage(sys.stderr)
        print(f"underfelt sim: {message}", file=sys.stderr)
        sys.exit(os.EX_USAGE)


def parser() -> Arguments:
    top = Arguments(
        "underfelt sim", description="The hardware simulator of one table.", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("verb", nargs="*", help="fault VERB ..., do STEP ..., look, list")
    top.add_argument("--game", default="MBS3", type=str.upper, help="reference table of this game")
    top.add_argument("--layout", help="a layout file instead")
    top.add_argument("--run", help="directory for ports and socket (default: a new one)")
    top.add_argument("--scenario", help="a scenario file, or the name of one of ours")
    top.add_argument(
        "--random", type=int, metavar="ROUNDS", help="random play; 0: until interrupted"
    )
    top.add_argument("--players", type=int, default=7, metavar="N", help="at most so many of them")
    top.add_argument("--pace", type=int, default=1, metavar="N", help="hands N times as fast, to 4")
    top.add_argument(
        "--paused", action="store_true", help="random play begins when its bots are resumed"
    )
    top.add_argument("--faults", action="store_true", help="random play with faults")
    top.add_argument("--seed", type=int, default=1, help="of random play and faults")
    top.add_argument(
        "--link-elsewhere", action="store_true", help="steps of the link are played by a real one"
    )
    top.add_argument(
        "--link-cable", metavar="tcp://HOST:PORT",
        help="the link server; DIR/link then has the address for the table (fault link cut)",
    )  # fmt: skip
    top.add_argument(
        "--no-supervisor", action="store_true",
        help="random play without end: a stopped round waits for your ruling (do supervisor menu)",
    )  # fmt: skip
    top.add_argument("--http", type=int, default=0, help="port of the HTTP API (0 picks one)")
    return top


def run(argv: list[str]) -> int:
    top = parser()
    options = top.parse_args(argv)
    for name, least, most in (("random", 0, 10**9), ("players", 1, 7), ("pace", 1, 4)):
        given = getattr(options, name)
        if given is not None and not least <= given <= most:
            top.error(f"--{name} {given}: expected {least} to {most}")
    try:
        if options.verb:
            return _verb(options)
        return asyncio.run(_serve(options))
    except (LayoutError, ScenarioError, FaultError, CableError) as error:
        print(f"underfelt sim: {error}", file=sys.stderr)
        return os.EX_CONFIG
    except FileNotFoundError as error:
        print(f"underfelt sim: {error.filename}: no such file", file=sys.stderr)
        return os.EX_NOINPUT
    except KeyboardInterrupt:
        return os.EX_OK


# --- a running simulator -----------------------------------------------------------------------


def _scenarios(options: argparse.Namespace, table: SimTable, bots: Bots) -> Iterator[Scenario]:
    """What the people play, one after the other; nothing: devices only."""
    if options.scenario:
        yield scenarios.load(scenarios.find(options.scenario))
    elif options.random is not None:
        rounds = random_rounds(
            options.game, table.layout, options.seed, options.random,
            players=options.players, faults=options.faults, free=bots.seats,
        )  # fmt: skip
        for number, steps in enumerate(rounds, 1):
            name = f"random, seed {options.seed}, round {number}"
            expected = (Expected("settled", {}),)
            yield Scenario(name, options.game, "", "random play", steps, expected)


async def _serve(options: argparse.Namespace) -> int:
    path = Path(options.layout) if options.layout else None
    seed = options.seed
    if options.scenario:
        wanted = scenarios.load(scenarios.find(options.scenario))
        path, seed = path or wanted.layout_path, wanted.seed
    path = path or HERE / "tables" / f"{options.game.lower()}.toml"
    table = SimTable(load(path), seed)
    run_dir = Path(options.run or tempfile.mkdtemp(prefix="underfelt-sim-"))
    cable = Cable(options.link_cable) if options.link_cable else None
    shell = SimShell(table, run_dir, path.read_text("utf-8"), cable)
    await shell.start()
    _end_on_terminate()
    bots = Bots(table.layout.seats, on=options.random is not None, paused=options.paused)
    answer = Control(shell, bots, options.pace).answer
    control = ControlServer(options.http, answer, asyncio.get_running_loop())
    (run_dir / "control").write_text(control.address + "\n", "ascii")
    print(f"table {table.layout.name}: {run_dir}/layout.toml, {control.address}", flush=True)
    clock = asyncio.create_task(shell.run())
    try:
        if options.scenario is None and options.random is None:
            await clock
        link = LinkElsewhere() if options.link_elsewhere else None
        rest = _scenarios(options, table, bots)
        await _bots_can_begin(bots, clock)
        while scenario := next(rest, None):
            code = await _play(scenario, shell, clock, link, options, bots=bots)
            while code and (options.random == 0 or not bots.dealer_plays):
                await asyncio.sleep(AGAIN_S)  # the people begin again
                await _bots_can_begin(bots, clock)
                code = await _play(_begin_again(options), shell, clock, link, options, bots=bots)
            if code:
                return code
            await _bots_can_begin(bots, clock)
        return os.EX_OK
    except asyncio.CancelledError:
        return os.EX_OK  # SIGTERM
    finally:
        clock.cancel()
        control.close()
        await shell.close()


async def _bots_can_begin(bots: Bots, clock: asyncio.Task[None]) -> None:
    """Back when no pause keeps random play from a round."""
    while bots.on and not bots.can_begin:
        if clock.done():
            clock.result()
        await asyncio.sleep(PAUSED_S)


def _end_on_terminate() -> None:
    """As an interrupt does: names of ports and socket do not stay behind."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


class LinkElsewhere:
    """The link is a process of its own: what it tells the table is not ours to play."""

    def meter(self, amount_cents: int) -> None: ...

    def lost(self) -> None: ...

    def back(self) -> None: ...

    def select(self, magic: str | None, lucky: int | None) -> None: ...


def _begin_again(options: argparse.Namespace) -> Scenario:
    step = scenarios.parse_step(1, "dealer takes over")
    assert step is not None
    return Scenario("the people begin again", options.game, "", "random play", (step,), ())


def _say(text: str) -> None:
    print(text, flush=True)


async def _play(
    scenario: Scenario,
    shell: SimShell,
    clock: asyncio.Task[None],
    link: Link | None,
    options: argparse.Namespace,
    *,
    bots: Bots,
) -> int:
    director = Director(scenario, shell.faults, link, options.pace)
    if options.random == 0:
        director.dealer.call = calling(director.dealer, _say, rules=not options.no_supervisor)
    director.start()
    while not (director.ending.done or director.ending.failed):
        if clock.done():
            clock.result()
        if not bots.dealer_plays:
            director.stop("the dealer was paused; a visitor has the table")
        await asyncio.sleep(0.05)
    for seat, *lines in director.dealer.paid:
        print(f"paid seat {seat}: {' | '.join(lines)}")
    if director.ending.failed:
        print(f"failed: {director.ending.failed}", file=sys.stderr)
        return FAILED
    print(f"{scenario.name}: {director.ending.steps} steps came true")
    return os.EX_OK


# --- talking to a running simulator ------------------------------------------------------------


def _verb(options: argparse.Namespace) -> int:
    verb, *words = options.verb
    if verb == "list":
        for path in sorted((HERE / "scenarios").glob("*.toml")):
            found = scenarios.load(path)
            print(f"{found.name:34} {found.game:5} {found.about}")
        return os.EX_OK
    if verb not in ("fault", "do", "look") or not options.run:
        print(f"underfelt sim: {verb}: expected fault, do or look with --run DIR, or list",
              file=sys.stderr)  # fmt: skip
        return os.EX_USAGE
    address = (Path(options.run) / "control").read_text("ascii").strip()
    body = None if verb == "look" else json.dumps({"do": " ".join(words)}).encode()
    where = {"look": "/state", "fault": "/fault", "do": "/do"}[verb]
    request = urllib.request.Request(f"{address}{where}", body, {"Content-Type": JSON})
    try:
        with urllib.request.urlopen(request, timeout=STEP_S + 10) as answer:
            print(json.dumps(json.load(answer), indent=2, ensure_ascii=False))
        return os.EX_OK
    except urllib.error.HTTPError as error:
        print(f"underfelt sim: {json.load(error)['error']}", file=sys.stderr)
        return os.EX_USAGE if error.code < NOT_TRUE else FAILED
    except urllib.error.URLError as error:
        print(f"underfelt sim: {address}: {error.reason}; is it running?", file=sys.stderr)
        return os.EX_UNAVAILABLE
