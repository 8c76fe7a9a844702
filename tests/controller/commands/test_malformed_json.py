"""Malformed input is named with its place and its value, however it is malformed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from controller.commands.io import DEEPEST, LONGEST, parse_json
from controller.commands.settle import run, settle_text
from controller.rules.errors import RecordError


def refusal(text: bytes) -> str:
    with pytest.raises(RecordError) as found:
        settle_text(text)
    return str(found.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'\xef\xbb\xbf{"game": "NSW"}', "$: begins with a byte-order mark (EF BB BF); save it as"),
        (b'{"game": "\xff"}', "$: byte 10 (0xff) is not UTF-8; expected JSON in UTF-8"),
        (b'{"game": "NSW", "game": "NSW"}', "$.game: the key appears twice in one object"),
        (
            b'{"game": "NSW", "round": {"seats": [{"seat": 1}, {"seat": 2, "seat": 3}]}}',
            "$.round.seats[1].seat: the key appears twice",
        ),
        (b'{"a": [1, {"b\\u0062": 1, "bb": 2}]}', "$.a[1].bb: the key appears twice"),
        (b"[" * 3000 + b"]" * 3000, f"...: nested deeper than {DEEPEST} levels"),
        (
            b'{"game": "NSW", "settings": {"jackpot": -' + b"9" * 5000 + b"}}",
            "$.settings.jackpot: -9999999999999999999... has 5000 digits; expected at most",
        ),
        (b"{bad", "$: not JSON at column 2: "),
        (b'{\n"a": 1,\n"b" 2}', "$: not JSON at line 3 column 5: Expecting ':' delimiter"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_document_is_refused_with_its_place(text: bytes, said: str) -> None:
    assert said in refusal(text)


@pytest.mark.parametrize("extra", ["", ', "\\u0061"'], ids=["fast", "strict"])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a": ', "}")])
def test_how_deep_a_document_may_be_is_ours_to_say(opened: str, closed: str, extra: str) -> None:
    """Not the decoder's, whose stack differs from one Python to the next."""

    def nested(levels: int) -> bytes:
        around = levels - 1
        return f"[{opened * around}0{closed * around}{extra}]".encode()

    assert parse_json(nested(DEEPEST)) == json.loads(nested(DEEPEST))
    for levels in (DEEPEST + 1, 900, 9_000, 90_000):
        with pytest.raises(RecordError, match=f"nested deeper than {DEEPEST} levels"):
            parse_json(nested(levels))


def test_a_missing_ante_is_called_missing() -> None:
    seat = {"seat": 1, "wagers": {"ante": 500}, "cards": ["As", "Ks"], "action": "fold"}
    body: dict[str, Any] = {"seats": [seat], "dealer": ["2c", "3c", "4c", "5c", "7d"]}
    said = refusal(json.dumps({"game": "RICO", "round": body}).encode())
    assert said.startswith("$.round.ante: missing, or 0: expected an amount above 0")


def test_a_bad_line_has_one_number_its_own(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "rounds"
    file.write_bytes(b'{"game": "NSW", "round": {"seats": []}}\n\n{"game": 5}\r\n{bad\n')
    assert run(["--lines", str(file)]) == 65
    said = capfdbinary.readouterr().err.decode().splitlines()
    assert [line.split(": ")[2] for line in said] == ["line 2", "line 3", "line 4"]
    assert said[0].endswith("line 2: $: not JSON at column 1: Expecting value (E-REC-019)")


def test_the_place_of_a_key_that_stands_twice_is_found_anywhere() -> None:
    """Random documents; one object gets a key twice, by a name that stands nowhere else."""
    for seed in range(200):
        rng = random.Random(seed)
        paths: list[str] = []
        text = _document(rng, "$", 0, paths)
        path = rng.choice(paths)
        twice = text.replace(f'"mark {path}": 0', '"twice": 1, "twice": 2')
        with pytest.raises(RecordError) as found:
            parse_json(twice.encode())
        assert found.value.path == f"{path}.twice", f"seed {seed}"
        assert parse_json(text.encode()) == json.loads(text)


def _document(rng: random.Random, path: str, depth: int, paths: list[str]) -> str:
    """JSON whose every object says where it is."""
    if depth and rng.random() < 0.4:
        return rng.choice(("1", "-2", '"a, {b}: [c]"', '"\\\\\\""', "null", "true"))
    if depth and rng.random() < 0.5:
        count = rng.randrange(4) if depth < 4 else 0
        inner = (_document(rng, f"{path}[{i}]", depth + 1, paths) for i in range(count))
        return "[" + ", ".join(inner) + "]"
    paths.append(path)
    names = [f"k{i}" for i in range(rng.randrange(4) if depth < 4 else 0)]
    rows = [f'"{n}": {_document(rng, f"{path}.{n}", depth + 1, paths)}' for n in names]
    rows.insert(rng.randint(0, len(rows)), f'"mark {path}": 0')
    return "{" + ", ".join(rows) + "}"


def test_a_long_number_that_is_allowed_is_named_by_its_setting() -> None:
    body = b'{"game": "NSW", "settings": {"jackpot": ' + b"9" * LONGEST + b"}}"
    assert refusal(body).startswith("$.settings.jackpot: 9999")
