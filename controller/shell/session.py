"""What a client does with a line, whoever types it: ask, render, remember where the table is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from controller.shell.client import Client
from controller.shell.errors import EX_OK, EX_UNAVAILABLE, EXIT, Refused
from controller.shell.parse import Live, find, split
from controller.shell.render.render import refused, rendered
from controller.shell.verbs import VERBS

WATCH: Final = "watch"
POLL_S: Final = 0.5
ROUNDS: Final = 10
"""Rounds that Tab offers, the last ones."""
Show = Callable[[Sequence[str]], None]


@dataclass
class Session:
    client: Client
    show: Show
    """Puts lines on the screen."""
    complain: Show
    columns: Callable[[], int] = lambda: 80
    as_json: bool = False
    rest: Callable[[float], None] = time.sleep
    at: Mapping[str, Any] = field(default_factory=dict)
    """Where the table was at the last answer."""
    live: Live = field(default_factory=dict)

    def hello(self) -> int:
        """Who am I here, and what is there?"""
        code, data = self._asked(["hello"])
        if code == EX_OK:
            self.live = {**self.live, **data["live"]}
        return code

    def line(self, text: str) -> int:
        """A line as it was typed; its exit code."""
        try:
            words = split(text)
        except Refused as error:
            return self._refuse({"error": error.code, "text": error.text})
        return self.words(words) if words else EX_OK

    def words(self, words: Sequence[str]) -> int:
        if list(words[:1]) == [WATCH]:
            return self._watch(words)
        code, data = self._asked(words)
        if code == EX_OK:
            self._show(words, data)
        return code

    def prompt(self) -> str:
        """Table, round, phase; that something is wrong; that this is no play."""
        at = self.at
        if not at:
            return "underfelt> "
        test = "TEST MODE " if at["test_mode"] else ""
        number = at["troubles"]
        wrong = "" if not number else f" !{number} trouble{'' if number == 1 else 's'}"
        return f"{test}{at['table']} round {at['round']} {at['phase']}{wrong}> "

    # --- in between ------------------------------------------------------------------------------

    def _asked(self, words: Sequence[str], cursor: int | None = None) -> tuple[int, dict[str, Any]]:
        answer = self.client.ask(words, cursor)
        if not answer.get("ok"):
            return self._refuse(answer), {}
        self.at = answer["at"]
        last = self.at["round"]
        rounds = [str(number) for number in range(max(1, last - ROUNDS + 1), last + 1)]
        self.live = {**self.live, "round": rounds}
        return EX_OK, dict(answer["data"])

    def _refuse(self, answer: Mapping[str, Any]) -> int:
        if self.as_json:
            told = {key: answer[key] for key in ("error", "text", "do") if key in answer}
            self.show([json.dumps(told)])
        else:
            self.complain(refused(answer, self.columns()))
        return EXIT.get(str(answer.get("error")), EX_UNAVAILABLE)

    def _show(self, words: Sequence[str], data: Mapping[str, Any]) -> None:
        if self.as_json:
            self.show(json.dumps(data, indent=2, ensure_ascii=False).splitlines())
            return
        verb, _ = find(words, VERBS)
        self.show(rendered(verb.name, data, self.columns()))

    def _watch(self, words: Sequence[str]) -> int:
        """Until Ctrl-C: only what is new is asked for."""
        code, data = self._asked(words)
        try:
            while code == EX_OK:
                for lines in self._rows(data):
                    self.show(lines)
                self.rest(POLL_S)
                code, data = self._asked(words, data["cursor"])
        except KeyboardInterrupt:
            self.show([""])
            return EX_OK
        return code

    def _rows(self, data: Mapping[str, Any]) -> Iterator[list[str]]:
        if self.as_json:
            yield from ([json.dumps(row)] for row in data["readings"])
        elif data["readings"] or data["missed"]:
            yield rendered(WATCH, data, self.columns())
