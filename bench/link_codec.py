"""Writing and reading the link's messages beside the standard library's json.

    python -m bench.link_codec [MESSAGES] [REPEATS]

The codec reads strictly: every field, its kind and its bounds. The first peer is ``json`` alone,
which checks nothing; the second checks by hand what the codec checks. Both make plain dictionaries.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from bench.common import Target, interleaved, print_ratios, verdict, versions
from record.link import codec
from record.link.events import Contributed, Wager
from record.link.messages import Ack, Beat, Event, MeterValue

HASH: Final = "fd61a03af4f77d870fc21e05e7e80678095c92d808cfb3b5c279ee04c74aca13"
EVENT: Final = Event(
    42, 1990, HASH, 1_762_000_000_000,
    Contributed(17, (Wager(1, 500), Wager(4, 100), Wager(5, 500))),
)  # fmt: skip
ACK: Final = Ack(
    42, (MeterValue("main", "grand", 12_345_678, 4, 1), MeterValue("main", "mini", 52_100, 19))
)
BEAT: Final = Beat(1_762_000_001_000)
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MOST: Final = 2**53


FROM_TABLE: Final = tuple(map(codec.encode, (EVENT, BEAT)))
FROM_SERVER: Final = tuple(map(codec.encode, (ACK, BEAT)))
"""What goes over the wire when a table plays, and when it does not."""


def by_codec(messages: int) -> None:
    table, server, encode = codec.from_table, codec.from_server, codec.encode
    for _ in range(messages):
        for frame in FROM_TABLE:
            encode(table(frame))
        for frame in FROM_SERVER:
            encode(server(frame))


def by_json(messages: int, check: Callable[[dict[str, Any]], object] | None) -> None:
    loads, dumps = json.loads, json.dumps
    for _ in range(messages):
        for frame in FROM_TABLE + FROM_SERVER:
            found = loads(frame)
            if check is not None:
                check(found)
            dumps(found, separators=(",", ":")).encode()


# --- the same checks, by hand ------------------------------------------------------------------


def checked(message: dict[str, Any]) -> None:
    kind = message.get("t")
    if kind == "event":
        _only(message, "t", "n", "seq", "hash", "at_ms", "body")
        _number(message["n"], 1, _MOST)
        _number(message["seq"], 0, _MOST)
        _number(message["at_ms"], 0, _MOST)
        if not isinstance(message["hash"], str) or not _HASH.fullmatch(message["hash"]):
            raise ValueError("hash")
        _contributed(message["body"])
    elif kind == "ack":
        _only(message, "t", "n", "meters")
        _number(message["n"], 0, _MOST)
        for meter in message["meters"]:
            _only(meter, "pool", "level", "cents", "generation", "pending")
            _word(meter["pool"])
            _word(meter["level"])
            _number(meter["cents"], 0, 10**13 + 1)
            _number(meter["generation"], 0, _MOST)
            _number(meter.get("pending", 0), 0, _MOST)
    elif kind == "beat":
        _only(message, "t", "at_ms", "meters")
        _number(message["at_ms"], 0, _MOST)
    else:
        raise ValueError("t")


def _contributed(body: dict[str, Any]) -> None:
    if body.get("what") != "contributed":
        raise ValueError("what")
    _only(body, "what", "round", "wagers")
    _number(body["round"], 1, _MOST)
    for wager in body["wagers"]:
        if not isinstance(wager, list) or not 2 <= len(wager) <= 3:
            raise ValueError("wager")
        _number(wager[0], 1, 13)
        _number(wager[1], 0, 10**13 + 1)
        if len(wager) == 3:
            _number(wager[2], 0, _MOST)


def _only(row: dict[str, Any], *known: str) -> None:
    if not isinstance(row, dict) or not row.keys() <= set(known):
        raise ValueError(row)


def _number(value: Any, least: int, below: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < below:
        raise ValueError(value)


def _word(value: Any) -> None:
    if not isinstance(value, str) or not 1 <= len(value) <= 64:
        raise ValueError(value)


def rate(act: Callable[[int], None], messages: int) -> Callable[[], float]:
    def measure() -> float:
        start = perf_counter()
        act(messages)
        return 4 * messages / (perf_counter() - start)

    return measure


def main(argv: list[str]) -> int:
    messages = int(argv[0]) if argv else 10_000
    repeats = int(argv[1]) if len(argv) > 1 else 7
    sizes = ", ".join(str(len(frame)) for frame in FROM_TABLE + FROM_SERVER)
    print(versions("msgspec"), f"event, beat, ack, beat of {sizes} bytes, read and written")
    for frame in FROM_TABLE + FROM_SERVER:
        checked(json.loads(frame))  # the peer takes what the codec takes
    rates = interleaved(
        {
            "codec": rate(by_codec, messages),
            "json": rate(lambda n: by_json(n, None), messages),
            "json, checked by hand": rate(lambda n: by_json(n, checked), messages),
        },
        repeats,
    )
    print_ratios(rates, "json", "messages/s")
    return verdict(
        rates, [Target("codec", "json, checked by hand", 10), Target("codec", "json", 10)]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
