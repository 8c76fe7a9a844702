"""The link's messages (docs/protocols/link.md): any bytes give a message or a ``WireError``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from random import Random
from typing import Any, Final

from record.link import codec
from tests.fuzz import mutate
from tests.fuzz.tally import FRAMES, Broken, Tally, Target

VECTORS: Final = tomllib.loads(
    (Path(__file__).parents[1] / "vectors" / "link.toml").read_text("utf-8")
)
SENT: Final = [
    row["frame"].encode()
    for kind in ("message", "refused", "taken")
    for row in VECTORS[kind]
    if row["frame"]
]
VALUES: Final[tuple[Any, ...]] = (
    0, -1, 1, 1.5, 2**53, 2**64, 10**30, True, None, "", "x", "E-LNK-001", "a" * 64,
    "a" * 64 + "\n", "\x00", "é" * 70, [], {}, [[]], [1], {"t": "beat"}, [[1, 2, 3]], [["a", 1, 1]],
)  # fmt: skip
DEEP: Final = (b"[" * 30_000, b'{"t":' * 12_000, b"9" * 60_000, b'"' + b"\\u00e9" * 10_900 + b'"')


def _value(rng: Random, frame: bytes, _other: bytes) -> bytes:
    """Sound JSON of another shape: one value anywhere in it is another one, or gone."""
    try:
        document = json.loads(frame)
    except ValueError:
        return frame
    places: list[tuple[Any, Any]] = []
    _places(document, places)
    if not places:
        return frame
    node, key = rng.choice(places)
    if rng.random() < 0.2:
        del node[key]
    elif isinstance(node, dict) and rng.random() < 0.2:
        node[rng.choice(("t", "what", "n", "more"))] = rng.choice(VALUES)
    else:
        node[key] = rng.choice(VALUES)
    return json.dumps(document).encode()


def _places(node: Any, found: list[tuple[Any, Any]]) -> None:
    if isinstance(node, dict):
        inner = list(node.items())
    elif isinstance(node, list):
        inner = list(enumerate(node))
    else:
        return
    for key, value in inner:
        found.append((node, key))
        _places(value, found)


def _deep(rng: Random, frame: bytes, _other: bytes) -> bytes:
    at = frame.find(b":", rng.randrange(len(frame))) + 1
    return frame[:at] + rng.choice(DEEP) + frame[at:]


def _long(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame.ljust(65_536 + rng.randint(-1, 3))


CHOICE: Final = [
    *mutate.OTHERS.items(),
    *mutate.GUARDED.items(),
    *[("another value", _value)] * 20,
    ("deep or endless", _deep),
    ("about 64 KiB", _long),
]


def case(rng: Random, tally: Tally) -> None:
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    frame = mutator(rng, rng.choice(SENT), rng.choice(SENT))
    tally[name, FRAMES] += 1
    for reader in (codec.from_table, codec.from_server, codec.from_meters, codec.from_hits):
        try:
            message = reader(frame)
        except codec.WireError as error:
            if error.code not in ("E-LNK-001", "E-LNK-002"):
                raise Broken(f"{frame!r}: {error}") from None
            if (error.code == "E-LNK-001") != (len(frame) > 65_536):
                raise Broken(f"{len(frame)} bytes: {error}") from None
            continue
        tally[name, "read"] += 1
        if len(frame) > 65_536:
            raise Broken(f"{len(frame)} bytes were read")
        written = codec.encode(message)
        if reader(written) != message or codec.encode(reader(written)) != written:
            raise Broken(f"{frame!r}: {message} is not what it says it is")
    if codec.offered(frame) and b"hello" not in frame and b"\\u" not in frame:
        raise Broken(f"{frame!r} is no hello")


TARGET: Final = Target(
    "link",
    "Link messages",
    case,
    (FRAMES, "read"),
    notes="Each frame goes to the readers of table, server and sign. *Read* messages are written "
    "and read again; what comes back must be equal.",
)
