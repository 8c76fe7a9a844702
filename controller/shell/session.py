"""What a client does with a line: ask the table, render the answer, remember where the table is."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from controller.shell.client import Client, NoTable
from controller.shell.errors import EXIT, VerbRefused
from controller.shell.messages import HELLO, At, Progress, Refusal, reply_of
from controller.shell.parse import Live, find, split
from controller.shell.render.render import refused, rendered
from controller.shell.verbs import VERBS, WATCH
from record.kit.exits import TROUBLE

BUNDLE: Final = "bundle"
POLL_S: Final = 0.5
ROUNDS: Final = 10
"""Rounds that Tab offers, the last ones."""
YES: Final = ("y", "yes")
NO: Final = ("n", "no")
RECONNECTED: Final = "reconnected: the table was restarted, or closed this connection"
Show = Callable[[Sequence[str]], None]


@dataclass
class ShellSession:
    client: Client
    show: Show
    """Puts lines on the screen."""
    complain: Show
    columns: Callable[[], int] = lambda: 80
    as_json: bool = False
    rest: Callable[[float], None] = time.sleep
    listen: Callable[[float], str] | None = None
    """Waits this long for a typed line; None without a terminal."""
    confirm: Callable[[str], str] = lambda _question: ""
    """Asks a person; empty without an answer."""
    pack: Callable[[str], Mapping[str, Any] | Refusal] = lambda _config: {}
    """Makes a bundle here, as this user: its data, or a refusal in the daemon's form."""
    at: At | None = None
    """Where the table was at the last answer."""
    live: Live = field(default_factory=dict)
    gone: bool = False
    """The last command got no answer."""
    _connection: int = 0
    _greeted: int = 0

    def hello(self) -> int:
        """Who am I here, and what is there?"""
        code, data = self._asked(HELLO)
        self._greeted = self._connection
        if code == os.EX_OK:
            self.live = {**self.live, **data["live"]}
        return code

    def line(self, text: str) -> int:
        """A line as it was typed; its exit code."""
        try:
            words = split(text)
        except VerbRefused as error:
            return self._refuse(Refusal(error.code, error.text))
        code = self.words(words) if words else os.EX_OK
        if self._greeted != self._connection:  # its devices may be others
            self.hello()
        return code

    def words(self, words: Sequence[str]) -> int:
        if list(words[:1]) == [WATCH]:
            return self._watch(words)
        if _is_guided(words):
            return self._guide(words)
        code, data = self._asked(words)
        if code == os.EX_OK and list(words) == [BUNDLE]:
            packed = self.pack(data["config"])
            if isinstance(packed, Refusal):
                return self._refuse(packed)
            data = dict(packed)
        if code == os.EX_OK:
            self._show(words, data)
        return code

    def once(self, words: Sequence[str]) -> int:
        """One command, and leave. A test takes the table out of play and puts it back."""
        if not _is_guided(words):
            return self.words(words)
        code, _ = self._asked(["test", "on"])
        if code != os.EX_OK:
            return code
        code = self.words(words)
        ended, _ = self._asked(["test", "off"])
        return code or ended

    def prompt(self) -> str:
        """Table, round, phase; that something is wrong; that this is no play."""
        at = self.at
        if at is None:
            return "underfelt> "
        if self.gone:
            return f"{at.table} does not answer> "
        test = "TEST MODE " if at.test_mode else ""
        number = at.troubles
        wrong = "" if not number else f" !{number} trouble{'' if number == 1 else 's'}"
        return f"{test}{at.table} round {at.round} {at.phase}{wrong}> "

    # --- in between ------------------------------------------------------------------------------

    def _asked(self, words: Sequence[str], cursor: int | None = None) -> tuple[int, dict[str, Any]]:
        try:
            answer = self.client.ask(words, cursor)
        except NoTable:
            self.gone = True
            raise
        self.gone = False
        before, self._connection = self._connection, self.client.opened
        if before not in (0, self._connection):
            self.complain([RECONNECTED])
        reply = reply_of(answer)
        if reply.at is not None:
            self._place(reply.at)
        if isinstance(reply, Refusal):
            return self._refuse(reply), {}
        return os.EX_OK, dict(reply.data)

    def _place(self, at: At) -> None:
        """Where the table is now, whether it did what was asked or not."""
        self.at = at
        closed = at.round - (1 if at.in_round else 0)
        rounds = [str(number) for number in range(max(1, closed - ROUNDS + 1), closed + 1)]
        self.live = {**self.live, "round": rounds}

    def _refuse(self, refusal: Refusal) -> int:
        if self.as_json:
            self.show([json.dumps(replace(refusal, at=None).row())])
        else:
            self.complain(refused(refusal, self.columns()))
        return EXIT.get(refusal.error, os.EX_UNAVAILABLE)

    def _show(self, words: Sequence[str], data: Mapping[str, Any]) -> None:
        if self.as_json:
            self.show(json.dumps(data, indent=2, ensure_ascii=False).splitlines())
            return
        verb, _ = find(words, VERBS)
        self.show(rendered(verb.name, data, self.columns()))

    def _guide(self, words: Sequence[str]) -> int:
        """Step by step until it is done; Ctrl-C gives it up, and the table is put back."""
        try:
            code, data = self._asked(words)
            while code == os.EX_OK:
                so_far = Progress.read(data)
                self._show_steps(words, so_far)
                if so_far.done:
                    return os.EX_OK if so_far.passed else TROUBLE
                if so_far.question:
                    code = self._ask_person(so_far.question, so_far.cursor)
                elif self.listen is None:
                    self.rest(POLL_S)
                elif self.listen(POLL_S).strip().lower() in NO:
                    code, _ = self._asked(["answer", "no"])
                if code == os.EX_OK:
                    code, data = self._asked(words, so_far.cursor)
        except KeyboardInterrupt:
            self._asked(["test", "stop"])
            self.show(["", "given up"] if not self.as_json else [])
            return TROUBLE
        return code

    def _ask_person(self, question: str, cursor: int) -> int:
        """Yes or no; no answer counts as no. The cursor names the question: an answer that comes
        too late must not count for the next one."""
        said = self.confirm(f"-> {question}").strip().lower()
        answer = "yes" if said in YES else "no"
        code, _ = self._asked(["answer", answer], cursor)
        return code

    def _show_steps(self, words: Sequence[str], so_far: Progress) -> None:
        steps = list(so_far.steps)
        if self.as_json:
            rows = [*steps, so_far.certificate] if so_far.done else steps
            self.show([json.dumps(row, ensure_ascii=False) for row in rows])
            return
        if self.listen is not None and steps and steps[-1]["text"] == so_far.question:
            steps.pop()  # the next line asks it
        if steps or so_far.done:
            self._show(words, replace(so_far, steps=steps).row())

    def _watch(self, words: Sequence[str]) -> int:
        """Until Ctrl-C: only what is new is asked for."""
        code, data = self._asked(words)
        try:
            while code == os.EX_OK:
                for line in self._rows(data):
                    self.show([line])  # one by one: what is live does not stop at each screen
                self.rest(POLL_S)
                code, data = self._asked(words, data["cursor"])
        except KeyboardInterrupt:
            self.show([""])
            return os.EX_OK
        return code

    def _rows(self, data: Mapping[str, Any]) -> Iterable[str]:
        if self.as_json:
            return (json.dumps(row) for row in data["readings"])
        return rendered(WATCH, data, self.columns())


def _is_guided(words: Sequence[str]) -> bool:
    """A wrong line is of no verb, and refused later."""
    try:
        return find(words, VERBS)[0].guided
    except VerbRefused:
        return False
