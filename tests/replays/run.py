"""A thousand random rounds replayed: is what the replay tells what the table did?

python -m tests.replays.run [--rounds N] [--seed S] [--jobs J] [--report FILE]

Every scenario, then random people at simulated tables with device faults, a link that goes away and
power cuts, then rounds at a desk with all that people can report; all from the seed. Each round is
replayed without and with the table's key.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Final, NamedTuple

from hw_sim.scenario import HERE
from tests.controller.history.desk import GAMES
from tests.replays.desks import desk_rounds
from tests.replays.equality import all_differences
from tests.replays.playing import PLAIN, Journalled, people_rounds, scenario_rounds

AT_ONCE: Final = 4
"""Rounds that one random table plays."""
PEOPLE_SHARE: Final = 16
"""One round of so many is played by people at a simulated table; those take most of the time."""

HEAD: Final = """\
# Replays against the tables that played

`make replays`: {rounds} rounds, seed {seed}, each played by a real table with a journal and
replayed from that journal alone, once without and once with the table's key. Compared are every
amount per seat and wager with what the table published, the state's digest at the end, and the
displays both ways: every change that the replay tells with what the glass showed at that time, and
whatever somebody saw on prompt, lamps and magic card with what the replay shows for then. Meter and
sign count up in steps that the journal tells as one run: of them the told changes are compared, and
the meter's last value. At a desk every fact is compared too, as the table took it: that it is
told, in its order, by whom, with its seat, spot, amount and choice, with the amounts and clauses of
what it led to, with the faces of cards that became public, and with what lay at every seat.

* scenarios: every file of `hw_sim/scenarios`, with the irregularities they are about
* people: random players and dealers at a simulated table in virtual time; noise on the lines, a
  lost link, power cuts
* desk: random rounds at a core with its table log; whatever people can report, and supervisors who
  answer at random. No wire and no driver is there: prompt, lamps and magic card are glass that
  obeys at once, and there is no meter
"""


class Case(NamedTuple):
    kind: str
    game: str
    name: str
    seed: int = 0


class Proved(NamedTuple):
    kind: str
    game: str
    rounds: int
    irregular: tuple[str, ...]
    wrong: tuple[str, ...]
    changes: tuple[int, ...]
    """Changes of displays that were compared, of each round."""


def played(case: Case) -> Journalled:
    if case.kind == "scenarios":
        return scenario_rounds(HERE / "scenarios" / f"{case.name}.toml")
    if case.kind == "people":
        return people_rounds(case.game, case.seed, AT_ONCE)
    return desk_rounds(case.game, case.name, case.seed, AT_ONCE)


def proved(case: Case) -> Proved:
    made = played(case)
    wrong = all_differences(made)
    rounds = len(made.witness.results)
    changes = tuple(made.witness.compared.values())
    return Proved(case.kind, made.game, rounds, tuple(made.irregular), tuple(wrong), changes)


def cases(rounds: int, seed: int) -> Iterator[Case]:
    """More than enough of them, in an order that mixes the games."""
    for path in sorted((HERE / "scenarios").glob("*.toml")):
        yield Case("scenarios", path.stem.split("-")[0].upper(), path.stem)
    for n in range(rounds // PEOPLE_SHARE // AT_ONCE // len(PLAIN)):
        for game in PLAIN:
            yield Case("people", game, "", seed * 10_000 + n)
    for n in range(rounds):
        for game, device in GAMES:
            yield Case("desk", game, device, seed * 10_000 + n)


def run(rounds: int, seed: int, jobs: int) -> list[Proved]:
    found: list[Proved] = []
    with Pool(jobs) as pool:
        for number, one in enumerate(pool.imap(proved, cases(rounds, seed), 1), 1):
            found.append(one)
            if not number % 20:
                print(f"{number} tables, {sum(p.rounds for p in found)} rounds", flush=True)
            for text in one.wrong:
                print(text, flush=True)
            if sum(p.rounds for p in found) >= rounds:
                pool.terminate()
                break
    return found


def report(found: list[Proved], seed: int) -> str:
    total = sum(one.rounds for one in found)
    text = HEAD.format(rounds=f"{total:,}", seed=seed)
    text += "\n| played by | " + " | ".join(PLAIN)
    text += " | rounds | with displays | changes shown | differences |\n"
    text += "|---" * (len(PLAIN) + 5) + "|\n"
    for kind in ("scenarios", "people", "desk"):
        own = [one for one in found if one.kind == kind]
        by_game = Counter[str]()
        for one in own:
            by_game[one.game] += one.rounds
        cells = [str(by_game[game]) for game in PLAIN]
        bad = sum(len(one.wrong) for one in own)
        changes = [count for one in own for count in one.changes]
        seen = f"{sum(map(bool, changes))} | {sum(changes):,}"
        text += f"| {kind} | {' | '.join(cells)} | {sum(by_game.values())} | {seen} | {bad} |\n"
    events = Counter(word for one in found if one.kind != "scenarios" for word in one.irregular)
    clauses = {word for one in found if one.kind == "scenarios" for word in one.irregular}
    text += "\nIrregularities seen, by the number of random tables:\n\n"
    text += "".join(
        f"* {word.replace('_', ' ')}: {count}\n" for word, count in events.most_common()
    )
    text += f"\nClauses that settlements of the scenarios cite: {len(clauses)}.\n"
    wrong = [line for one in found for line in one.wrong]
    text += f"\n**Differences: {len(wrong)}.**\n" + "".join(f"* {line}\n" for line in wrong)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    found = run(options.rounds, options.seed, options.jobs)
    text = report(found, options.seed)
    if options.report is not None:
        options.report.write_text(text, "utf-8")
    print(text)
    return 1 if any(one.wrong for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
