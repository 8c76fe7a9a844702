"""One greeting over a socket of its own, for commands while the daemon does not run."""

from __future__ import annotations

import zmq

from controller.link.dealer import dealer
from record.link.codec import encode, from_server
from record.link.keys import SecretKey
from record.link.messages import Bye, FromServer, FromTable

ANSWER_MS = 5_000


class NoAnswer(Exception):
    """No server of the list answered."""


def greet(
    endpoints: tuple[str, ...], keys: tuple[SecretKey, str], messages: tuple[FromTable, ...]
) -> list[FromServer]:
    """The answers to these messages, each waited for; stops at the first ``ServerRefused``. The
    next endpoint is asked if one does not answer at all or does not lead."""
    for endpoint in endpoints:
        answers = _greet(endpoint, *keys, messages)
        if answers and getattr(answers[0], "code", "") != "E-LNK-020":
            return answers
    raise NoAnswer(f"no link server answers at {', '.join(endpoints)}")


def _greet(
    endpoint: str, secret: SecretKey, server: str, messages: tuple[FromTable, ...]
) -> list[FromServer]:
    context = zmq.Context()
    made = dealer(context, secret, server)
    made.linger = 500
    found: list[FromServer] = []
    try:
        made.connect(endpoint)
        for message in messages:
            made.send(encode(message))
            if not made.poll(ANSWER_MS):
                break
            found.append(from_server(made.recv()))
            if hasattr(found[-1], "code"):
                break
        else:
            made.send(encode(Bye("done")))
    finally:
        made.close()
        context.term()
    return found
