"""Somebody at a terminal who does what the screen asks: chips, cards, keys, plugs, his own eyes.

He knows what stands on the screen and what can be seen at the table, nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

import pexpect

from controller.table.spots import WAGERS
from drivers.mcp23017.keys import KEYS_1, KEYS_2
from tests.controller.shell.screen import Screen
from tests.e2e.keeper import Sitting

PROMPT: Final = r"round \d+ [^>\r\n]*> "
MORE: Final = r"-- Enter for more, q to stop -- "
ASKED: Final = r"(does|is|did) [^\r\n]*\(yes or no\) "
"""The question itself, where the cursor stands; above it the same as a step has a line's end."""
PUT: Final = r"-> put one chip on seat (\d+), ([^\r]+)\r\n"
TAKE: Final = r"-> take the chip away from seat (\d+), ([^\r]+)\r\n"
LOAD: Final = r"-> load a new deck, [^;]*; (draw every card|take every packet)"
KEYS: Final = r"-> press each of the 28 keys"
DEAL: Final = r"-> deal (\d+) cards as in a round"
STEPS: Final = (PROMPT, MORE, ASKED, PUT, TAKE, LOAD, KEYS, DEAL)
COLUMNS: Final = 80
LOOK_S: Final = 5
"""So long he looks before he presses a key again; nothing is measured."""
PRESSES: Final = 20
CAPS: Final = (*KEYS_1, *KEYS_2)


@dataclass(slots=True)
class Technician:
    sitting: Sitting
    screen: Screen
    stuck: set[str] = field(default_factory=set)
    """Keys that are down already: nobody can press them."""
    draws: int = 52
    """Cards of a shoe, packets of a shuffler."""

    def does(self, line: str) -> list[str]:
        """One guided test to its end: what stands on the screen, a row for every step."""
        child, told = self.screen.child, ""
        child.send(f"{line}\r")
        while True:
            found = STEPS[child.expect(list(STEPS))]
            told += f"{child.before}{child.after}"
            if found == PROMPT:
                break
            told += self._act(found, str(child.after))
        self.screen.seen += told
        shown = told.replace("\r", "").split("\n")
        assert max(map(len, shown)) <= COLUMNS
        return _joined(shown)

    def _act(self, found: str, text: str) -> str:
        """What more was read meanwhile."""
        match found:
            case _ if found == MORE:
                self.screen.child.send("\r")
            case _ if found == ASKED:
                self.screen.child.send("yes\r" if self.sees(text) else "no\r")
            case _ if found == PUT:
                seat, spot = _place(found, text)
                self.does_at_the_table(f"seat {seat} bets 5.00 on {spot}")
            case _ if found == TAKE:
                seat, spot = _place(found, text)
                self.does_at_the_table(f"seat {seat} takes {spot}")
            case _ if found in (LOAD, DEAL):
                self.does_at_the_table("dealer loads a new deck")
                self.sitting.until(self._may_draw, "an open gate")
                self.does_at_the_table(f"draw {self.draws}")
            case _:
                free = [cap for cap in CAPS if cap not in self.stuck]
                told = "".join(map(self._presses, free))
                if self.screen.child.match[1] != "0":  # no more will come
                    self.screen.child.send("no\r")
                return told
        return ""

    def _presses(self, cap: str) -> str:
        """He looks whether it was taken, and presses again if not, as a dealer does."""
        child, taken = self.screen.child, rf"   {re.escape(cap)}; (\d+) to go\r\n"
        for _ in range(PRESSES):
            self.does_at_the_table(f"press {cap}")
            if child.expect([taken, pexpect.TIMEOUT], timeout=LOOK_S) == 0:
                return f"{child.before}{child.after}"
        raise AssertionError(f"{cap} was pressed {PRESSES} times: {child.before}")

    def _may_draw(self) -> bool:
        device = self.sitting.ask_sim("/state")["card device"]
        return bool(device["gate open"] and device["cards left"] == 52)

    def does_at_the_table(self, step: str) -> None:
        self.sitting.ask_sim("/do", step)

    def sees(self, question: str) -> bool:
        """Looks, and answers by what is there."""
        wanted = re.search(r"show (\S[^?]*)\?", question)
        state = self.sitting.ask_sim("/state")
        if "every cell" in question:
            return bool("ABCDEFGHIJKLMNOPQRST" in state["prompt"][0])
        if "list says" in question or wanted is None:
            return True
        seen = (state["meter"].strip(), state["magic"], state["sign"])
        return any(wanted[1] in one for one in seen if one)


def _place(pattern: str, text: str) -> tuple[str, str]:
    found = re.search(pattern, text)
    assert found is not None
    spots = {name: spot for spot, name in WAGERS.items()}
    return found[1], spots.get(found[2], found[2])


def _joined(shown: list[str]) -> list[str]:
    """A step that was too long for a line is one row again."""
    rows, before = list[str](), ""
    for line in shown:
        words = line.split()
        if line.startswith("   ") and words and len(before) + 1 + len(words[0]) > COLUMNS:
            rows[-1] += f" {line.strip()}"
        else:
            rows.append(line)
        before = line
    return rows


def failures(rows: list[str]) -> list[str]:
    return [row.removeprefix("!! ") for row in rows if row.startswith("!! ")]


def verdict(rows: list[str]) -> str:
    """``FAILED: cards``: the head of the certificate."""
    (found,) = [row for row in rows if row.startswith(("PASSED: ", "FAILED: "))]
    return found
