"""Lines to the shell's desk: words, garbage and broken requests, by people of every role.

Through the socket's own reading of a request, at tables in the middle of a round and between
rounds. Whatever comes in, an answer comes out that fits a terminal, and the table stays as it was.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from random import Random
from typing import Any, Final

from controller.rules.engine.state import Phase
from controller.shell.errors import EXIT
from controller.shell.messages import Refusal, reply_of
from controller.shell.parse import complete, find
from controller.shell.render.render import refused, rendered
from controller.shell.session import BUNDLE
from controller.shell.verbs import VERBS
from tests.controller.shell.inside import UIDS, Inside, inside
from tests.fuzz import mutate
from tests.fuzz.tally import FRAMES, Broken, Tally, Target

CHOICE: Final = [*mutate.GUARDED.items(), *mutate.OTHERS.items()]
PEOPLE: Final = tuple(UIDS)
MORE: Final = (
    "shoe", "chips-1", "sign", "prompt", "bus", "1", "2", "7", "pot", "0", "-1", "yes", "no", "on",
    "off", "900", "999999999", "E-TBL-003", "E-SHL-006", "e-x-1", "help", "watch", "hello", "?",
    "*", "../../etc", "$(id)", "`id`", ";", "|", "\x1b[2J", "\0", "٣", "", " ", "a" * 64, "a" * 65,
)  # fmt: skip
DEAR: Final = frozenset(("identity", "config", "journal", "device"))
"""Verbs that are asked for more seldom: a million lines should end."""


@cache
def desks() -> tuple[asyncio.AbstractEventLoop, Inside, Inside]:
    loop = asyncio.new_event_loop()
    return loop, inside("mbs3-plain", Phase.DECISION_1), inside("nsw-shuffler-plain", None)


def words_of(rng: Random) -> list[Any]:
    verb = rng.choice(tuple(VERBS))
    if verb in DEAR and rng.random() < 0.9:
        verb = "why"
    words: list[Any] = [*verb.split(), *rng.choices(MORE, k=rng.choice((0, 0, 1, 1, 2, 7, 8)))]
    match rng.randrange(12):
        case 0:
            rng.shuffle(words)
        case 1:
            words = rng.choices(MORE, k=rng.randrange(10))
        case 2:
            words.insert(rng.randrange(len(words) + 1), rng.choice((None, 3, [], {}, True, 1.5)))
        case 3:
            at = rng.randrange(len(words))
            text = str(words[at]).encode() or b"x"
            words[at] = rng.choice(CHOICE)[1](rng, text, b"status").decode("latin-1")
    return words


def request_of(rng: Random) -> tuple[str, bytes]:
    words = words_of(rng)
    request: dict[str, Any] = {"verb": "shell", "words": words}
    if rng.random() < 0.3:
        request["id"] = rng.choice((1, -1, 2**70, None, "x"))
    if rng.random() < 0.3:
        request["cursor"] = rng.choice((0, -1, 2**70, None, "x", True, 1.5))
    raw = json.dumps(request).encode()
    if rng.random() < 0.2:
        name, mutator = rng.choice(CHOICE)
        return name, mutator(rng, raw, raw)
    return "words", raw


def case(rng: Random, tally: Tally) -> None:
    loop, playing, idle = desks()
    desk = playing if rng.random() < 0.5 else idle
    name, raw = request_of(rng)
    tally[name, FRAMES] += 1
    answer = loop.run_until_complete(desk.raw(rng.choice(PEOPLE), raw))
    if answer.get("ok"):
        tally[name, "answered"] += 1
        words = json.loads(raw)["words"]
        verb = "" if words == ["hello"] else find(words, VERBS)[0].name
        # Of a bundle the daemon tells a path, which the client packs and does not show.
        lines = [] if verb == BUNDLE else rendered(verb, answer["data"], 80)
    else:
        tally[name, "refused"] += 1
        code = answer["error"]
        if code == "E-SHL-010" or (code not in EXIT and not code.startswith("E-SVC-")):
            raise Broken(f"{code}: {answer['text']}: {raw!r}")
        refusal = reply_of(answer)
        assert isinstance(refusal, Refusal)
        lines = refused(refusal, 80)
    if any(len(line) > 80 or not line.isprintable() for line in lines):
        raise Broken(f"a terminal does not take it: {raw!r}")
    if desk.watched.strange:
        raise Broken(f"the journal has moved: {raw!r}")
    if rng.random() < 0.01 and desk.now() != desk.before:
        raise Broken(f"the table has moved: {raw!r}")
    _completed(rng, desk)


def _completed(rng: Random, desk: Inside) -> None:
    """Tab offers what begins as the text ends, whatever the text is."""
    text = " ".join(str(word) for word in words_of(rng))
    last = text.rpartition(" ")[2] if text.strip() else ""
    if any(not word.startswith(last) for word in complete(text, desk.acts.live())):
        raise Broken(f"offered behind {text!r}")


TARGET: Final = Target(
    "shell",
    "Lines to the shell",
    case,
    (FRAMES, "answered", "refused"),
    notes=(
        "Through the reading of the socket, by an observer, a technician, a supervisor, somebody "
        "without a role and the daemon's own user, at a table in a round and one between rounds. "
        "An answer always comes, in 80 printable columns, and the table stays as it was."
    ),
)
