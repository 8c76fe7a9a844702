"""Expected values that may leave a field open, and their comparison with a result."""

from __future__ import annotations

from typing import Any


class _Any:
    def __repr__(self) -> str:
        return "ANY"


class OneOf:
    """Several values would keep the contract."""

    def __init__(self, *values: object) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"OneOf{self.values!r}"


# The contract does not say what stands here.
ANY = _Any()


def wager(
    placed: object, status: object, win: int = 0, back: int = 0, odds: object = None
) -> dict[str, Any]:
    return {
        "placed": placed,
        "status": status,
        "odds": odds,
        "win": win,
        "stake_back": back,
        "to_player": win + back,
    }


def held_wager(placed: object) -> dict[str, Any]:
    """`win`, `stake_back`, `to_player` of a `supervisor` wager are null."""
    return {
        "placed": placed,
        "status": "supervisor",
        "odds": ANY,
        "win": None,
        "stake_back": None,
        "to_player": None,
    }


def differences(expected: Any, got: Any, path: str = "") -> list[str]:
    """Every place where ``got`` breaks what is expected; surplus keys of ``got`` count too."""
    if expected is ANY:
        return []
    if isinstance(expected, OneOf):
        return [] if got in expected.values else [f"{path}: expected {expected!r}, got {got!r}"]
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return [f"{path}: expected an object, got {got!r}"]
        found = []
        for key in expected.keys() | got.keys():
            if key not in expected:
                found.append(f"{path}.{key}: not expected, got {got[key]!r}")
            elif key not in got:
                if expected[key] is not ANY:
                    found.append(f"{path}.{key}: missing, expected {expected[key]!r}")
            else:
                found += differences(expected[key], got[key], f"{path}.{key}")
        return sorted(found)
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return [f"{path}: expected {expected!r}, got {got!r}"]
        return [
            line
            for index, (want, have) in enumerate(zip(expected, got, strict=True))
            for line in differences(want, have, f"{path}[{index}]")
        ]
    if type(expected) is not type(got) or expected != got:
        return [f"{path}: expected {expected!r}, got {got!r}"]
    return []
