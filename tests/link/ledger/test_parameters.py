"""Pools from their file: what is read, and what is refused with which words."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from controller.math.par import par_sheet
from controller.math.sheet import as_json
from controller.rules.books import BOOKS
from controller.rules.hands import HAND_NAMES, Hand
from controller.rules.paytables import JackpotShare, Odds
from controller.rules.progressive_return import FIVE_CARD_COUNTS
from controller.rules.settings import Settings, TableSettings
from link.ledger.equal_cost import costs_of
from link.ledger.errors import PoolError
from link.ledger.parameters import pools_from, read_pools
from link.ledger.terms import MustHit, PoolTerms, Terms
from record.games import COUNTS, FIVE_CARD_HANDS, PROGRESSIVES

TOML = b"""
[pools.mega]
tables = { T1 = "MBS3", T2 = "MBS3" }
meter_rule = "snapshot"
denominations_cents = [100, 500]
max_credits = 3
seats = 6
ties = "share"
tie_ms = 50
envy = "pool"

[[pools.mega.levels]]
level = "grand"
base_cents = 5000000
reset_cents = 1000000
rate = "0.37 %"
hidden_rate = "1/1000"
envy_rate = "0.05 %"
reserve_max_cents = 1000000
ceiling_cents = 90000000
overflow = "reserve"
shares = { "royal flush" = 100, "straight flush" = 10 }

[[pools.mega.levels]]
level = "mystery"
base_cents = 10000
reset_cents = 5000
rate = "1 %"
must_hit = { min_cents = 20000, max_cents = 50000 }
"""


def no_file(name: str) -> bytes:
    raise FileNotFoundError(2, "No such file or directory", name)


def stated(**changes: Any) -> dict[str, Any]:
    """One pool with one level; ``level_x`` changes the level."""
    level = {
        "level": "main",
        "base_cents": 100_000,
        "reset_cents": 50_000,
        "rate": "0.37 %",
        "shares": {"royal flush": 100, "straight flush": 10},
    }
    pool: dict[str, Any] = {"tables": {"T1": "MBS3"}, "meter_rule": "sequential", "levels": [level]}
    for key, value in changes.items():
        at = level if key.startswith("level_") else pool
        name = key.removeprefix("level_")
        at[name] = value
        if value is None:
            del at[name]
    return {"pools": {"a": pool}}


def refusal(value: object) -> PoolError:
    with pytest.raises(PoolError) as refused:
        pools_from(value, "pools.toml", no_file)
    return refused.value


def test_a_whole_file() -> None:
    (pool,) = read_pools(TOML, "pools.toml", no_file)
    common: dict[str, Any] = {
        "meter_rule": "snapshot", "ties": "share", "tie_ms": 50, "envy": "pool",
    }  # fmt: skip
    assert pool.pool == "mega"
    assert pool.terms == PoolTerms(
        tables={"T1": "MBS3", "T2": "MBS3"},
        denominations_cents=(100, 500),
        max_credits=3,
        seats=6,
    )
    assert pool.terms.most_cents == 6 * 3 * 500
    assert pool.levels == (
        Terms(
            level="grand",
            base_cents=5_000_000,
            reset_cents=1_000_000,
            rate_ppm=3_700,
            hidden_ppm=1_000,
            envy_ppm=500,
            reserve_max_cents=1_000_000,
            ceiling_cents=90_000_000,
            overflow="reserve",
            shares={"royal flush": 100, "straight flush": 10},
            **common,
        ),
        Terms(
            level="mystery",
            base_cents=10_000,
            reset_cents=5_000,
            rate_ppm=10_000,
            must_hit=MustHit(20_000, 50_000),
            **common,
        ),
    )


def test_json_says_the_same() -> None:
    text = json.dumps(tomllib.loads(TOML.decode())).encode()
    assert read_pools(text, "pools.json", no_file) == read_pools(TOML, "pools.toml", no_file)


def test_terms_survive_their_row() -> None:
    for terms in read_pools(TOML, "pools.toml", no_file)[0].levels:
        assert msgspec.json.decode(msgspec.json.encode(terms), type=Terms) == terms


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"level_rat": "1 %"}, "E-POOL-002", "unknown field `rat`"),
        ({"seat": 7}, "E-POOL-002", "unknown field `seat`"),
        ({"level_reset_cents": None}, "E-POOL-002", "missing required field `reset_cents`"),
        ({"meter_rule": None}, "E-POOL-002", "missing required field `meter_rule`"),
        ({"level_base_cents": 1.5}, "E-POOL-002", "Expected `int`, got `float`"),
        ({"level_base_cents": 10**13}, "E-POOL-002", "<= 1000000000000"),
        ({"level_shares": {"royal flush": 101}}, "E-POOL-002", "<= 100"),
        ({"level_rate": "0.37"}, "E-POOL-003", 'pools.a.main.rate: "0.37" is no rate'),
        ({"level_hidden_rate": "1/3"}, "E-POOL-004", "pools.a.main.hidden_rate"),
        ({"level_rate": "101 %"}, "E-POOL-005", "more than the whole wager"),
        ({"level_rate": "90 %", "level_hidden_rate": "10.5 %"}, "E-POOL-006", "take 100.5 %"),
        ({"level_shares": {}}, "E-POOL-007", "nothing wins it"),
        ({"level_ceiling_cents": 100_000}, "E-POOL-008", "expected more than 100000"),
        ({"level_reserve_max_cents": 1}, "E-POOL-009", "nothing goes to the reserve"),
        ({"ties": "share"}, "E-POOL-010", "tie_ms 0"),
        ({"tie_ms": 20}, "E-POOL-010", "'strict_order' with tie_ms 20"),
        ({"level_must_hit": {"min_cents": 1, "max_cents": 2}}, "E-POOL-011", "both shares"),
        ({"levels": []}, "E-POOL-012", "expected at least one"),
        ({"denominations_cents": []}, "E-POOL-015", "denominations_cents"),
        ({"denominations_cents": [10**12]}, "E-POOL-030", "in one round"),
        (
            {"envy": "pool", "level_base_cents": 0, "level_reset_cents": 0},
            "E-POOL-032",
            "award_max_cents: 0",
        ),
        ({"tables": {"T1": "MBS3", "T2": "MEGA"}}, "E-POOL-016", "MBS3, MEGA share the pool"),
        ({"games": {"NSW": {"par": "a", "sha256": "0" * 64}}}, "E-POOL-016", "no table"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], code: str, words: str) -> None:
    error = refusal(stated(**changes))
    assert error.code == code
    assert words in error.text
    assert error.text.startswith("pools.toml: ")


@pytest.mark.parametrize(
    ("hit", "words"),
    [
        ((100_000, 200_000), "above 100000"),
        ((200_000, 150_000), "max_cents not below min_cents"),
    ],
)
def test_a_mystery_needs_room(hit: tuple[int, int], words: str) -> None:
    value = stated(level_shares=None)
    value["pools"]["a"]["levels"][0]["must_hit"] = {"min_cents": hit[0], "max_cents": hit[1]}
    error = refusal(value)
    assert error.code == "E-POOL-011"
    assert words in error.text


def test_a_mystery_has_no_other_ceiling_and_grows() -> None:
    hit = {"min_cents": 200_000, "max_cents": 300_000}
    value = stated(level_shares=None, level_must_hit=hit, level_ceiling_cents=400_000)
    assert "take it out" in refusal(value).text
    value = stated(level_shares=None, level_must_hit=hit, level_rate="0 %")
    assert "never be hit" in refusal(value).text


def test_pools_and_levels_and_hands_and_tables_stand_once() -> None:
    value = stated()
    level = value["pools"]["a"]["levels"][0]
    value["pools"]["a"]["levels"] = [level, level]
    assert refusal(value).code == "E-POOL-012"
    value["pools"]["a"]["levels"] = [level, {**level, "level": "other"}]
    error = refusal(value)
    assert (error.code, "royal flush takes from main already" in error.text) == ("E-POOL-014", True)
    value = stated()
    value["pools"]["b"] = value["pools"]["a"]
    error = refusal(value)
    assert error.code == "E-POOL-013"
    assert "T1 plays for a already" in error.text


def test_rates_of_all_levels_fit_into_one_wager() -> None:
    value = stated(level_rate="60 %")
    level = value["pools"]["a"]["levels"][0]
    other = {**level, "level": "other", "shares": {"straight flush": 10}}
    level["shares"] = {"royal flush": 100}
    value["pools"]["a"]["levels"] = [level, other]
    error = refusal(value)
    assert (error.code, "together take 120 %" in error.text) == ("E-POOL-006", True)


# --- what a pool can pay --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"tables": {"T1": "XX"}}, "E-POOL-033", 'a.tables.T1: "XX" is no game'),
        ({"tables": {"T1": "mbs3"}}, "E-POOL-033", "expected one of MBS3, MEGA"),
        ({"tables": {"T1": "NSW"}}, "E-POOL-033", "has no progressive wager"),
        (
            {"level_shares": {"royal flush": 100, "straigth flush": 10}},
            "E-POOL-034",
            '"straigth flush"; expected royal flush, straight flush; did you mean "straight flu',
        ),
        (
            {"level_shares": {"royal flush": 100, "straight flush": 20}},
            "E-POOL-034",
            '"straight flush" = 20; MBS3 pays 10 % of the jackpot for it',
        ),
        (
            {"level_shares": {"royal flush": 100}},
            "E-POOL-034",
            "MBS3 pays 10 % of the jackpot for straight flush, and no level has it",
        ),
        (
            {"level_shares": {"royal flush": 100, "straight flush": 10, "four of a kind": 5}},
            "E-POOL-034",
            'no table of the pool takes a share for "four of a kind"',
        ),
    ],
)
def test_a_pool_that_could_not_pay_is_refused(
    changes: dict[str, Any], code: str, words: str
) -> None:
    error = refusal(stated(**changes))
    assert (error.code, words in error.text) == (code, True), error.text


def test_the_games_are_those_of_the_rule_books() -> None:
    """Hands, shares, odds and counts, as every book states them."""
    assert PROGRESSIVES.keys() == BOOKS.keys()
    assert {HAND_NAMES[hand]: many for hand, many in FIVE_CARD_COUNTS.items()} == COUNTS
    assert sum(COUNTS.values()) == FIVE_CARD_HANDS
    for game, book in BOOKS.items():
        stated = PROGRESSIVES[game]
        if book.progressive is None:
            assert stated is None
            continue
        assert stated is not None
        pays = {HAND_NAMES[hand]: book.progressive.pay(hand) for hand in Hand}
        shares = {h: p.percent for h, p in pays.items() if isinstance(p, JackpotShare)}
        odds = {h: p.to_one for h, p in pays.items() if isinstance(p, Odds)}
        assert (stated.shares, stated.odds) == (shares, odds)


@pytest.mark.parametrize(("text", "file"), [(b"a = ", "x.toml"), (b"{", "x.json"), (b"\xff", "x")])
def test_what_cannot_be_read(text: bytes, file: str) -> None:
    with pytest.raises(PoolError, match=f"{file}: cannot be read") as refused:
        read_pools(text, file, no_file)
    assert refused.value.code == "E-POOL-001"


# --- two games on one pool ------------------------------------------------------------------------

SHARES = {"royal flush": 100, "straight flush": 10}


@pytest.fixture(scope="module")
def sheets() -> dict[str, bytes]:
    """What `underfelt par GAME --json` prints."""
    made = {g: par_sheet(g, Settings(), TableSettings()) for g in ("MBS3", "MEGA")}
    return {g: json.dumps(as_json(sheet), indent=2).encode() for g, sheet in made.items()}


def two_games(sheets: dict[str, bytes], **changes: Any) -> dict[str, Any]:
    games = {
        game: {"par": f"{game}.json", "sha256": hashlib.sha256(text).hexdigest()}
        for game, text in sheets.items()
    }
    tables = {"T1": "MBS3", "T2": "MEGA"}
    return stated(tables=tables, games=games, level_shares=dict(SHARES), **changes)


def read_from(sheets: dict[str, bytes]) -> Any:
    return lambda name: sheets[name.removesuffix(".json")]


def test_the_cost_of_a_wager_by_hand(sheets: dict[str, bytes]) -> None:
    """4 royals and 36 straight flushes in 2,598,960 hands, at 1.00 a wager."""
    (cost,) = costs_of(sheets["MBS3"], "MBS3", SHARES, (100,), "par")
    assert cost.between_hits_cents == 64_974_000
    assert (cost.per_cent.numerator, cost.per_cent.denominator) == (19, 649_740_000)


def test_games_of_equal_cost_share_a_pool(sheets: dict[str, bytes]) -> None:
    (pool,) = pools_from(two_games(sheets), "pools.toml", read_from(sheets))
    assert pool.terms.games == {g: hashlib.sha256(t).hexdigest() for g, t in sheets.items()}
    assert pool.terms.equal_cost == (
        "equal cost: MBS3: 64974000 cents wagered between hits, 19/649740000 of the jackpot per "
        "cent wagered; MEGA: 64974000 cents wagered between hits, 19/649740000 of the jackpot per "
        "cent wagered"
    )


def printed(game: str, **table: Any) -> bytes:
    sheet = par_sheet(game, Settings(), replace(TableSettings(), **table))
    return json.dumps(as_json(sheet), indent=2).encode()


def test_games_of_unequal_cost_do_not(sheets: dict[str, bytes]) -> None:
    """A wager of 2.00 has half as many hits for the money."""
    unequal = {**sheets, "MEGA": printed("MEGA", credit_cents=200)}
    stakes = {"denominations_cents": [100, 200]}
    with pytest.raises(PoolError) as refused:
        pools_from(two_games(unequal, **stakes), "pools.toml", read_from(unequal))
    assert refused.value.code == "E-POOL-016"
    assert "MBS3 at $1.00: 64974000 cents" in refused.value.text
    assert "MEGA at $2.00: 129948000 cents" in refused.value.text
    reason = "approved by the commission, letter 7"
    allowed = two_games(unequal, unequal_cost=reason, **stakes)
    (pool,) = pools_from(allowed, "pools.toml", read_from(unequal))
    assert pool.terms.equal_cost.startswith(f"exception: {reason} (MBS3")


def test_sheets_cannot_say_which_of_two_wagers_a_table_takes(sheets: dict[str, bytes]) -> None:
    """Both sheets are genuine and alike, but the pool takes 5.00 from either table too."""
    value = two_games(sheets, denominations_cents=[100, 500])
    with pytest.raises(PoolError, match=r"MEGA at \$5\.00") as refused:
        pools_from(value, "pools.toml", read_from(sheets))
    assert refused.value.code == "E-POOL-016"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from leaves(inner, (*path, key))
    else:
        yield path


BELIEVED = [
    path
    for path in leaves(json.loads(printed("MEGA")))
    if path[:2] == ("wagers", "progressive")
    and (path[2:] in (("figures", "stake_cents"), ("figures", "slope"))
         or (path[2:4] == ("tables", "classes") and path[5] in ("hand", "combinations",
                                                                "probability", "pays")))
]  # fmt: skip


@pytest.mark.parametrize("path", BELIEVED, ids=lambda path: ".".join(map(str, path[2:])))
def test_an_edited_sheet_with_its_hash_is_refused(
    sheets: dict[str, bytes], path: tuple[Any, ...]
) -> None:
    """Every figure that the comparison rests on, changed together with the stated hash."""
    sheet = json.loads(sheets["MEGA"])
    place = sheet
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    place[path[-1]] = old + 1 if isinstance(old, int) else "1/7" if "/" in old else f"{old} x"
    edited = {**sheets, "MEGA": json.dumps(sheet).encode()}
    with pytest.raises(PoolError, match=r"games\.MEGA\.par") as refused:
        pools_from(two_games(edited), "pools.toml", read_from(edited))
    assert refused.value.code == "E-POOL-017"


def test_a_sheet_of_another_game_under_a_new_name_is_refused(sheets: dict[str, bytes]) -> None:
    renamed = {**json.loads(sheets["MBS3"]), "game": "MEGA"}
    edited = {**sheets, "MEGA": json.dumps(renamed).encode()}
    with pytest.raises(PoolError, match="what four of a kind pays as 300 to 1") as refused:
        pools_from(two_games(edited), "pools.toml", read_from(edited))
    assert refused.value.code == "E-POOL-017"


def test_a_sheet_is_the_one_that_was_stated(sheets: dict[str, bytes]) -> None:
    changed = {**sheets, "MEGA": sheets["MEGA"] + b"\n"}
    with pytest.raises(PoolError, match=r"games\.MEGA\.sha256: MEGA\.json has") as refused:
        pools_from(two_games(sheets), "pools.toml", read_from(changed))
    assert refused.value.code == "E-POOL-016"
    with pytest.raises(PoolError, match=r"MBS3\.par: MBS3\.json: No such file"):
        pools_from(two_games(sheets), "pools.toml", no_file)


def test_without_sheets_only_by_exception() -> None:
    tables = {"T1": "MBS3", "T2": "MEGA"}
    value = stated(tables=tables, unequal_cost="trial of one week")
    (pool,) = pools_from(value, "pools.toml", no_file)
    assert pool.terms.equal_cost == (
        "exception: trial of one week (without a par sheet: MBS3, MEGA)"
    )
    assert refusal(stated(tables=tables, unequal_cost="x" * 401)).code == "E-POOL-002"


@pytest.mark.parametrize("broken", [b"", b"[]", b"{}", b'{"schema":"underfelt.par/2"}'])
def test_what_is_no_par_sheet(broken: bytes) -> None:
    with pytest.raises(PoolError, match="underfelt par MBS3 --json") as refused:
        costs_of(broken, "MBS3", SHARES, (100,), "par")
    assert refused.value.code == "E-POOL-017"


def test_a_sheet_of_another_game_or_without_the_hand(sheets: dict[str, bytes]) -> None:
    with pytest.raises(PoolError, match="game MEGA"):
        costs_of(sheets["MEGA"], "MBS3", SHARES, (100,), "par")
    with pytest.raises(PoolError, match="knows no five aces"):
        costs_of(sheets["MBS3"], "MBS3", {"five aces": 100}, (100,), "par")
    with pytest.raises(PoolError, match="no hand takes the whole"):
        costs_of(sheets["MBS3"], "MBS3", {"straight flush": 10}, (100,), "par")
