"""Every setting, once: its type, default, the games it belongs to, and what to choose between.

``Settings`` are those that decide money and travel in a round record (all optional there);
``TableSettings`` are those a live table needs besides. A setting without a safe default is
``required``: a table does not open until somebody has chosen it (AMB: settings without a default).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from fractions import Fraction
from typing import Any, Final, Literal, TypeVar

from controller.rules.cards import BY_NAME, Card
from controller.rules.errors import SettingsError
from controller.rules.hands import HAND_BY_NAME, Hand
from record.kit.words import shown

Convert = Callable[[object], Any]


class Bad(Exception):
    """The value is not what the setting expects; the text says what is."""


# --- kinds of values ---------------------------------------------------------------------------


def whole(value: object) -> int:
    if type(value) is not int:
        raise Bad("expected a whole number")
    return value


MOST: Final = 10**13
"""No amount is larger: a hundred billion in a currency of cents."""


def at_least(least: int, unit: str = "minor units (cents)") -> Convert:
    def convert(value: object) -> int:
        if type(value) is not int or not least <= value <= MOST:
            raise Bad(f"expected a whole number of {unit}, at least {least}, at most {MOST}")
        return value

    return convert


def between(least: int, most: int) -> Convert:
    def convert(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            raise Bad(f"expected a whole number from {least} to {most}")
        return value

    return convert


def flag(value: object) -> bool:
    if type(value) is not bool:
        raise Bad("expected true or false")
    return value


def choice(*values: object) -> Convert:
    listed = ", ".join(shown(v) for v in values)

    def convert(value: object) -> object:
        if not any(type(value) is type(v) and value == v for v in values):
            raise Bad(f"expected one of {listed}")
        return value

    convert.__doc__ = listed
    return convert


def a_card(value: object) -> Card:
    found = BY_NAME.get(value) if isinstance(value, str) else None
    if found is None:
        raise Bad('expected a card: rank 23456789TJQKA then suit cdhs, e.g. "Th"')
    return found


def share_of_one(value: object) -> Fraction:
    """``"1/20"``: how often something happens, as an exact fraction."""
    expected = 'expected a fraction from 0 to 1 as text, e.g. "1/20"'
    if not isinstance(value, str):
        raise Bad(expected)
    above, _, below = value.partition("/")
    if not (above.isascii() and above.isdigit() and (below.isascii() and below.isdigit())):
        raise Bad(expected)
    if int(below) == 0 or int(above) > int(below):
        raise Bad(expected)
    return Fraction(int(above), int(below))


MOST_ODDS: Final = 10_000


def rapid_fire_table(value: object) -> Mapping[str, int]:
    if not isinstance(value, dict) or set(value) != {"win", "tie"}:
        raise Bad('expected {"win": n, "tie": n}, each "n to 1"')
    for odds in value.values():
        if type(odds) is not int or not 0 <= odds <= MOST_ODDS:
            raise Bad(f'expected whole odds, 0 to {MOST_ODDS}, for both "win" and "tie"')
    return dict(value)


def hedge_table(value: object) -> Mapping[Hand, int]:
    if not isinstance(value, dict):
        raise Bad('expected {"three of a kind": n, ...}, each "n to 1"')
    table = {}
    for name, odds in value.items():
        if name not in HAND_BY_NAME:
            raise Bad(
                f"{shown(name)} is no class of hand; expected one of {', '.join(HAND_BY_NAME)}"
            )
        if odds is None:
            continue
        if type(odds) is not int or not 0 <= odds <= MOST_ODDS:
            raise Bad(f"odds of {shown(name)}: expected a whole number, 0 to {MOST_ODDS}")
        table[HAND_BY_NAME[name]] = odds
    return table


def limits_table(value: object) -> Mapping[str, tuple[int, int]]:
    expected = 'expected {"$" = [least, most], ...} in minor units (cents), least above 0'
    if not isinstance(value, dict):
        raise Bad(expected)
    table = {}
    for spot, pair in value.items():
        whole_pair = isinstance(pair, list) and [type(cents) for cents in pair] == [int, int]
        if not whole_pair or not 0 < pair[0] <= pair[1] <= MOST:
            raise Bad(f"{shown(spot)}: {expected}, and least not above most")
        table[spot] = (pair[0], pair[1])
    return table


# --- the settings ------------------------------------------------------------------------------

LIR: Final = ("MBS3", "PP6", "NSW", "MEGA")
ALL: Final = (*LIR, "RICO")
LINKED: Final = ("MBS3", "MEGA")


def setting(
    default: Any,
    convert: Convert,
    games: tuple[str, ...],
    text: str,
    *,
    required: tuple[str, ...] = (),
) -> Any:
    meta = {"convert": convert, "games": games, "text": text, "required": required}
    if isinstance(default, dict):
        return field(default_factory=lambda: default, metadata=meta)
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides money; the names are those of the round record."""

    jackpot: int = setting(0, at_least(0), LINKED, "amount of record of percentage awards")
    jackpot_reset: int = setting(0, at_least(0), LINKED, "meter after a 100 % award")
    meter_rule: Literal["sequential", "snapshot"] = setting(
        "sequential",
        choice("sequential", "snapshot"),
        LINKED,
        "two percentage awards in a round: sequential pays each on the meter as it then is, "
        "snapshot pays both on the same meter",
        required=LINKED,
    )
    progressive_stake_returned: bool = setting(
        True,
        flag,
        LINKED,
        "true: a winning progressive wager also returns its stake, once; false: the stake is kept",
        required=LINKED,
    )
    envy_self: bool = setting(False, flag, ("MBS3",), "envy also for one's own hand")
    envy_per_hand: bool = setting(
        True, flag, ("MBS3",), "one envy payment per triggering hand; false: the highest only"
    )
    min_wager: int | None = setting(None, at_least(0), ("NSW",), "posted minimum")
    max_wager: int | None = setting(None, at_least(1), ("NSW",), "posted maximum")
    limit_scope: Literal["per_spot", "per_area"] = setting(
        "per_spot", choice("per_spot", "per_area"), ("NSW",), "what the posted limits apply to"
    )
    max_payout: int | None = setting(
        None, at_least(0), ("NSW",), "posted cap on winnings without stake"
    )
    max_payout_scope: Literal["per_hand", "per_wager"] = setting(
        "per_hand", choice("per_hand", "per_wager"), ("NSW",), "what the cap applies to"
    )
    magic_card: Card | None = setting(None, a_card, ("MEGA",), "this round's magic card")
    lucky_seat: int | None = setting(None, between(1, 7), ("MEGA",), "this round's lucky player")
    smallest_chip: int = setting(100, at_least(1), ("RICO",), "indivisible unit of a split pot")
    odd_chips: Literal["last_actor", "one_each_from_last"] = setting(
        "last_actor", choice("last_actor", "one_each_from_last"), ("RICO",), "who gets odd chips"
    )
    orphan_pot: Literal["last_player", "house", "carry"] | None = setting(
        None,
        choice("last_player", "house", "carry"),
        ("RICO",),
        "nobody is left to take the pot: last_player gives it to the last to act, house takes it, "
        "carry leaves it for the next round",
        required=("RICO",),
    )
    pot_carried_in: int = setting(
        0, at_least(0), ("RICO",), "what an earlier round's orphan pot left in this round's pot"
    )
    rapid_fire_pay: Mapping[str, int] | None = setting(
        None, rapid_fire_table, ("RICO",), 'Rapid Fire odds, {"win": n, "tie": n} to 1'
    )
    hedge_pay: Mapping[Hand, int] | None = setting(
        None, hedge_table, ("RICO",), "HedgeBet odds by the dealer's class"
    )
    ricochet_order: Literal["literal", "must_top_all"] = setting(
        "literal", choice("literal", "must_top_all"), ("RICO",), "rule 5 before 6, or 6 before 5"
    )
    ante: int | None = setting(
        None, at_least(1), ("RICO",), "the common ante, set by the operator", required=("RICO",)
    )


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What a live table needs besides."""

    seats: int = setting(
        7,
        between(1, 7),
        ALL,
        "number of seats at the table, 1 to 7",
        required=("MBS3", "PP6", "MEGA"),
    )
    card_device: Literal["shoe", "shuffler"] = setting(
        "shoe", choice("shoe", "shuffler"), ALL, "the one active card source"
    )
    deal_pattern: Literal["passes", "hands", "packets"] = setting(
        "passes",
        choice("passes", "hands", "packets"),
        ALL,
        "how cards go out: passes (one each, round by round), hands (a seat's cards in a row), "
        "packets (from a shuffler)",
        required=("MBS3", "MEGA", "RICO"),
    )
    dealer_packet: int = setting(
        3, choice(2, 3), LINKED, "cards in the dealer's packet: 2, or 3 with one burnt"
    )
    packet_bottom: Literal["first_out", "last_out"] = setting(
        "first_out",
        choice("first_out", "last_out"),
        ("MBS3", "NSW", "MEGA"),
        "which card of the dealer's packet is at the bottom and is burnt",
    )
    community_order: Literal["as_dispensed", "reversed"] = setting(
        "as_dispensed",
        choice("as_dispensed", "reversed"),
        ("MBS3", "NSW", "MEGA"),
        "which of the dealer's other two cards is turned first",
    )
    bonus_index: int = setting(
        2,
        choice(1, 2, 3),
        ("PP6",),
        "which card of the dealer's packet is the middle one: 1, 2 or 3",
    )
    selector: Literal["server", "table"] = setting(
        "table",
        choice("server", "table"),
        ("MEGA",),
        "who draws the magic card and the lucky player: server or table",
        required=("MEGA",),
    )
    magic_rate: Fraction = setting(
        Fraction(1), share_of_one, ("MEGA",), "share of rounds that have a magic card"
    )
    lucky_rate: Fraction = setting(
        Fraction(1), share_of_one, ("MEGA",), "share of rounds that have a lucky player"
    )
    lucky_pool: Literal["progressive_seats", "all_seats"] = setting(
        "progressive_seats",
        choice("progressive_seats", "all_seats"),
        ("MEGA",),
        "which seats the lucky player is drawn from",
    )
    credit_cents: int = setting(100, at_least(1), LINKED, "value of one progressive credit")
    max_credits: int = setting(1, at_least(1, "credits"), LINKED, "most credits on one seat")
    allow_over_100_percent: bool = setting(
        False,
        flag,
        LINKED,
        "open even if the progressive wager returns more than 100 % at its reset value",
    )
    irregularity_profile: Literal["supervisor", "MBS", "NSW"] = setting(
        "supervisor",
        choice("supervisor", "MBS", "NSW"),
        ("PP6", "RICO"),
        "what is proposed where this book is silent: supervisor (nothing), or the MBS or NSW rules",
        required=("PP6", "RICO"),
    )
    circles_optional: bool = setting(True, flag, ("PP6",), "circles 1 and 2 may stay empty")
    wager_limits: Mapping[str, tuple[int, int]] | None = setting(
        None,
        limits_table,
        ("PP6",),
        "narrower limits than the book prints, by wager ($ also holds for 1 and 2): "
        '{ "$" = [500, 1000], pair_plus = [100, 500] }',
    )
    multi_seat: Literal["allowed", "not_allowed"] = setting(
        "allowed",
        choice("allowed", "not_allowed"),
        ("MBS3", "PP6", "MEGA"),
        "one player at several seats; not_allowed: chips of one seat that come down at another are "
        "reported (NSW: never allowed)",
    )
    rapid_fire: bool = setting(False, flag, ("RICO",), "offer Rapid Fire")
    hedge: bool = setting(False, flag, ("RICO",), "offer HedgeBet")
    handled_mode: Literal["one_button", "per_seat", "automatic"] = setting(
        "one_button",
        choice("one_button", "per_seat", "automatic"),
        LIR,
        "how the dealer reports that players handled their cards",
    )
    wager_unit: int = setting(1, at_least(1), ("NSW",), "unit in which wagers go above the minimum")
    shuffle_required: bool = setting(True, flag, ALL, "a shuffle before every round")
    vacancy_ms: int = setting(
        600_000, at_least(0, "milliseconds"), ALL, "an empty table needs a shuffle after this"
    )
    notice_ms: int = setting(
        1_200_000, at_least(0, "milliseconds"), ALL, "how long a sign must be up before a change"
    )
    idle_rounds: int = setting(3, at_least(1, "rounds"), ALL, "rounds without a wager to a notice")
    face_up: bool = setting(False, flag, ("PP6",), "players' cards are dealt face up")
    after_void: Literal["leave_up", "clear"] = setting(
        "leave_up", choice("leave_up", "clear"), ALL, "wagers after a void round"
    )


T = TypeVar("T")
Spec = Mapping[str, "Field[Any]"]

MONEY_SPEC: Final[Spec] = {f.name: f for f in fields(Settings)}
TABLE_SPEC: Final[Spec] = {f.name: f for f in fields(TableSettings)}
_CONVERT: Final = {name: f.metadata["convert"] for name, f in {**MONEY_SPEC, **TABLE_SPEC}.items()}
DEFAULTS: Final = Settings()
PER_ROUND: Final = ("magic_card", "lucky_seat", "pot_carried_in")
"""Settings of one round, drawn or left by the round before."""


def convert(name: str, value: object) -> Any:
    """One setting's value, converted; raises ``Bad`` with what is expected."""
    return _CONVERT[name](value)


def default_of(spec: Field[Any]) -> object:
    return spec.default_factory() if spec.default_factory is not MISSING else spec.default


def open_settings(game: str, values: Mapping[str, object]) -> tuple[Settings, TableSettings]:
    """The settings of a live table; every problem is named at once, with what to choose."""
    problems: list[tuple[str, str, str]] = []
    money: dict[str, Any] = {}
    table: dict[str, Any] = {}
    for name, value in values.items():
        home = money if name in MONEY_SPEC else table if name in TABLE_SPEC else None
        if home is None:
            problems.append(("E-CFG-001", name, "is no setting of a table"))
            continue
        try:
            home[name] = convert(name, value)
        except Bad as bad:
            problems.append(("E-CFG-002", name, f"{shown(value)}: {bad}"))
    for name, spec in {**MONEY_SPEC, **TABLE_SPEC}.items():
        if game in spec.metadata["required"] and values.get(name) is None:
            problems.append(_missing(name, spec, f"required at a {game} table"))
    for name in _required_by_others(game, table):
        if values.get(name) is None:
            spec = MONEY_SPEC.get(name) or TABLE_SPEC[name]
            problems.append(_missing(name, spec, "required by the settings chosen"))
    for name in PER_ROUND:
        if money.get(name) is not None:
            text = "belongs to one round; a table cannot be opened with it"
            problems.append(("E-CFG-010", name, text))
    problems += [*_contradictions(game, table), *_impossible(game, money, table)]
    if problems:
        raise SettingsError(problems)
    return Settings(**money), TableSettings(**table)


def _missing(name: str, spec: Field[Any], why: str) -> tuple[str, str, str]:
    choices = (
        spec.metadata["convert"].__doc__ if "choice" in str(spec.metadata["convert"]) else None
    )
    offer = f" Choose between {choices}." if choices else ""
    return ("E-CFG-003", name, f"{why} and has no safe default.{offer} {spec.metadata['text']}.")


def _required_by_others(game: str, table: Mapping[str, object]) -> list[str]:
    """Settings that become required by another choice: packets, and each Ricochet bonus wager."""
    names: list[str] = []
    if table.get("card_device") == "shuffler" or table.get("deal_pattern") == "packets":
        for name in ("dealer_packet", "packet_bottom", "community_order", "bonus_index"):
            if game in TABLE_SPEC[name].metadata["games"]:
                names.append(name)
    if game == "RICO":
        names += ["rapid_fire_pay"] if table.get("rapid_fire") else []
        names += ["hedge_pay"] if table.get("hedge") else []
    return names


def _impossible(
    game: str, money: Mapping[str, Any], table: Mapping[str, object]
) -> list[tuple[str, str, str]]:
    """Values that a record may state and no table opens with."""
    problems = []
    least, most = money.get("min_wager"), money.get("max_wager")
    if game == "NSW" and (wrong := limits_crossed(least, most)):
        problems.append(("E-CFG-004", "min_wager", wrong))
    if game == "NSW" and money.get("max_payout") == 0:
        text = "0: no hand could win; expected an amount above 0, or no cap at all"
        problems.append(("E-CFG-004", "max_payout", text))
    if game == "RICO" and table.get("hedge") and money.get("hedge_pay") == {}:
        text = "empty: every HedgeBet loses; expected a class that pays, or hedge = false"
        problems.append(("E-CFG-004", "hedge_pay", text))
    return problems


def limits_crossed(least: int | None, most: int | None) -> str:
    """Why no wager lies within these posted limits; empty if one does."""
    if least is None or most is None or least <= most:
        return ""
    return f"{least}: a minimum above the maximum of {most}; expected at most that"


def _contradictions(game: str, table: Mapping[str, object]) -> list[tuple[str, str, str]]:
    problems = []
    device, pattern = table.get("card_device", "shoe"), table.get("deal_pattern")
    if game == "NSW" and pattern == "hands":
        text = '"hands" is against NSW-7.3: a shoe deals "passes"'
        problems.append(("E-CFG-004", "deal_pattern", text))
    if pattern is not None and (pattern == "packets") != (device == "shuffler"):
        text = f"{shown(pattern)} does not go with card_device {shown(device)}; "
        text += 'a shoe deals "passes" or "hands", a shuffler deals "packets"'
        problems.append(("E-CFG-004", "deal_pattern", text))
    if game == "RICO" and pattern == "packets":
        text = '"packets" is not supported in Ricochet, whose cards go out one at a time'
        problems.append(("E-CFG-004", "deal_pattern", text))
    return problems
