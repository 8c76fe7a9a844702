"""``underfelt check-wagers``: what each game accepts before the deal, and its error exits."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from controller.rules.errors import RecordError
from controller.rules.wagers import check_wagers

from .running import COMMAND, run

Json = dict[str, Any]
IDS = frozenset((Path(__file__).parents[2] / "contract" / "clause_ids.txt").read_text().split())


def base(stake: int, **more: int) -> Json:
    return {"1": stake, "2": stake, "$": stake, **more}


ACCEPTED: list[tuple[str, Json, Json]] = [
    ("MBS3", {}, base(500)),
    ("MBS3", {}, base(500, progressive=100)),
    ("MBS3", {}, base(500, progressive=0)),
    ("MEGA", {}, base(1, progressive=300)),
    ("NSW", {}, base(500)),
    ("NSW", {"min_wager": 500, "max_wager": 500}, base(500)),
    ("NSW", {"min_wager": 1500, "max_wager": 1500, "limit_scope": "per_area"}, base(500)),
    ("MBS3", {"min_wager": 1000, "max_wager": 1000}, base(500)),
    ("PP6", {}, base(200)),
    ("PP6", {}, base(1000, pair_plus=1000, six_card=1000)),
    ("PP6", {}, {"$": 500}),
    ("PP6", {}, {"$": 500, "1": 500, "2": 0}),
    ("PP6", {}, {"$": 500, "2": 500, "pair_plus": 100}),
    ("PP6", {}, {"$": 500, "six_card": 500}),
    ("RICO", {}, {"ante": 1}),
    ("RICO", {"ante": 500}, {"ante": 500}),
    ("RICO", {"rapid_fire_pay": {"win": 5, "tie": 5}}, {"ante": 500, "rapid_fire": 100}),
    ("RICO", {"hedge_pay": {"flush": 5}}, {"ante": 500, "hedge": 100, "rapid_fire": 0}),
]
REFUSED: list[tuple[str, Json, Json, str | None]] = [
    ("MBS3", {}, {}, "MBS3-3.4"),
    ("MBS3", {}, base(0), "MBS3-3.4"),
    ("MBS3", {}, base(500) | {"1": 400}, "MBS3-3.4"),
    ("MBS3", {}, base(500) | {"2": 0}, "MBS3-3.4"),
    ("MBS3", {}, {"progressive": 100}, "MBS3-3.5"),
    ("MEGA", {}, base(500) | {"$": 600}, "MEGA-3.4"),
    ("MEGA", {}, {"progressive": 100}, "MEGA-3.5"),
    ("NSW", {}, base(500) | {"1": 400}, "NSW-5.2"),
    ("NSW", {}, {"$": 500}, "NSW-5.2"),
    ("NSW", {}, {}, "NSW-5.2"),
    ("NSW", {"min_wager": 501}, base(500), None),
    ("NSW", {"max_wager": 499}, base(500), None),
    ("NSW", {"max_wager": 1499, "limit_scope": "per_area"}, base(500), None),
    ("NSW", {"min_wager": 1501, "limit_scope": "per_area"}, base(500), None),
    ("PP6", {}, {"$": 199}, "PP6-W1"),
    ("PP6", {}, {"$": 1001}, "PP6-W1"),
    ("PP6", {}, {"$": 500, "1": 400}, "PP6-R2b"),
    ("PP6", {}, {"$": 500, "2": 600}, "PP6-R2b"),
    ("PP6", {}, {"1": 500, "2": 500}, None),
    ("PP6", {}, {"pair_plus": 500}, "PP6-R2c"),
    ("PP6", {}, {"$": 500, "pair_plus": 99}, "PP6-W2"),
    ("PP6", {}, {"$": 500, "six_card": 99}, "PP6-W3"),
    ("PP6", {}, {"$": 500, "pair_plus": 501}, "PP6-W2a"),
    ("PP6", {}, {"$": 500, "six_card": 501}, "PP6-W3a"),
    ("PP6", {}, {}, None),
    ("RICO", {}, {}, "RICO-1"),
    ("RICO", {}, {"ante": 0}, "RICO-1"),
    ("RICO", {"ante": 500}, {"ante": 400}, "RICO-1"),
    ("RICO", {}, {"ante": 500, "rapid_fire": 100}, "RICO-RFP"),
    ("RICO", {}, {"ante": 500, "hedge": 100}, "RICO-HBP"),
    ("RICO", {"rapid_fire_pay": {"win": 5, "tie": 5}}, {"rapid_fire": 100}, "RICO-1"),
    ("RICO", {"hedge_pay": {"flush": 5}}, {"ante": 500, "rapid_fire": 100}, "RICO-RFP"),
]


@pytest.mark.parametrize(("game", "settings", "wagers"), ACCEPTED)
def test_accepted(game: str, settings: Json, wagers: Json) -> None:
    answer = check_wagers({"game": game, "settings": settings, "wagers": wagers})
    assert answer == {"accept": True, "broken": []}


@pytest.mark.parametrize(("game", "settings", "wagers", "clause"), REFUSED)
def test_refused(game: str, settings: Json, wagers: Json, clause: str | None) -> None:
    answer = check_wagers({"game": game, "settings": settings, "wagers": wagers})
    assert answer["accept"] is False
    assert answer.keys() == {"accept", "broken"}
    assert answer["broken"]
    assert set(answer["broken"]) <= IDS
    assert all(broken.startswith(game + "-") for broken in answer["broken"])
    if clause is not None:
        assert clause in answer["broken"]


BAD: dict[str, tuple[Any, str]] = {
    "unknown game": ({"game": "UTH", "wagers": {}}, "game"),
    "no game": ({"wagers": {}}, "game"),
    "no wagers": ({"game": "NSW"}, "wagers"),
    "wagers not an object": ({"game": "NSW", "wagers": []}, "wagers"),
    "unknown field": ({"game": "NSW", "wagers": base(5), "seat": 1}, "seat"),
    "unknown wager": ({"game": "NSW", "wagers": base(5, ante=5)}, "wagers.ante"),
    "play is no wager to check": ({"game": "RICO", "wagers": {"play": 5}}, "wagers.play"),
    "unknown setting": ({"game": "NSW", "settings": {"x": 1}, "wagers": base(5)}, "settings.x"),
    "negative": ({"game": "NSW", "wagers": base(-5)}, "wagers.1"),
    "with a point": ({"game": "NSW", "wagers": base(5) | {"1": 5.0}}, "wagers.1"),
    "a truth": ({"game": "NSW", "wagers": base(5) | {"1": True}}, "wagers.1"),
    "a word": ({"game": "NSW", "wagers": base(5) | {"1": "5"}}, "wagers.1"),
    "not a number": ({"game": "NSW", "wagers": base(5) | {"1": float("nan")}}, ""),
    "a list": ([], ""),
    "null": (None, ""),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_names_its_path(name: str) -> None:
    request, path = BAD[name]
    with pytest.raises(RecordError) as caught:
        check_wagers(request)
    assert path in str(caught.value)


@pytest.mark.parametrize("settings", [None, {}, {"jackpot": 5, "orphan_pot": "house"}])
def test_settings_may_be_null_empty_or_of_other_games(settings: Json | None) -> None:
    request = {"game": "NSW", "settings": settings, "wagers": base(5)}
    assert check_wagers(request)["accept"] is True
    del request["settings"]
    assert check_wagers(request)["accept"] is True


@pytest.mark.parametrize("empty", [0, None])
def test_an_empty_spot_is_nought_or_null(empty: int | None) -> None:
    wagers = {"$": 500, "1": empty, "pair_plus": empty}
    assert check_wagers({"game": "PP6", "wagers": wagers})["accept"] is True


def test_the_process_answers_and_exits_0_either_way(tmp_path: Path) -> None:
    path = tmp_path / "seat.json"
    path.write_text(json.dumps({"game": "MBS3", "wagers": base(500)}))
    done = run("check-wagers", str(path))
    assert (done.code, json.loads(done.out), done.err) == (0, {"accept": True, "broken": []}, "")
    refused = run("check-wagers", "-", stdin=b'{"game":"MBS3","wagers":{"1":5}}')
    assert refused.code == 0
    assert json.loads(refused.out)["accept"] is False


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"game":"NSW","wagers":{"1":500.0,"2":500,"$":500}}',
        b'{"game":"NSW","wagers":{"1":500,"1":500,"2":500,"$":500}}',
        b'{"game":"NSW","wagers":{"1":NaN,"2":500,"$":500}}',
        b'{"game":"\xff"}',
        b'{"game":"\\ud800"}',
        b"[" * 100_000,
        b'{"game":"NSW","wagers":{"1":' + b"9" * 5000 + b"}}",
    ],
)
def test_malformed_exits_65_with_nothing_on_stdout(text: bytes) -> None:
    done = run("check-wagers", "-", stdin=text)
    assert (done.code, done.out) == (65, "")
    assert done.err.startswith("underfelt")


def test_usage_and_unreadable(tmp_path: Path) -> None:
    assert run("check-wagers").code == 64
    assert run("check-wagers", "a", "b").code == 64
    assert run("check-wagers", "--lines", "-").code == 64
    missing = run("check-wagers", str(tmp_path / "none.json"))
    assert (missing.code, missing.out) == (66, "")
    assert run("check-wagers", str(tmp_path)).code == 66


def test_a_closed_standard_input_exits_66() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "check-wagers", "-"],
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 66
