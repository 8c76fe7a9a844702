"""PURE: people with an account at the link server: passwords, lock-out, who may order what.

There is no default account and no default password. A password is held by nothing here longer than
a call, and no error repeats it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from hashlib import scrypt
from typing import Final

from msgspec.structs import replace

from link.registry import Stamp
from link.rows import AccountRow

ROLES: Final = ("supervisor", "manager", "engineer", "auditor")
MOST_FAILURES: Final = 5
LEAST_CHARACTERS: Final = 10
MOST_CHARACTERS: Final = 200
NAME: Final = re.compile(r"[a-z][a-z0-9._-]{1,31}")
DISABLED: Final = "!"
"""In front of the hash of an account that may not be used."""

COST_N: Final = 2**14
COST_R: Final = 8
COST_P: Final = 1
"""16 MiB and some tens of milliseconds a try."""
MOST_MEMORY: Final = 64 * 2**20
SALT_BYTES: Final = 16
HASH_BYTES: Final = 32

MAY: Final[Mapping[str, tuple[str, ...]]] = {
    "verify": ("supervisor", "manager"),
    "approve": ("supervisor", "manager"),
    "pay": ("supervisor", "manager"),
    "reject": ("supervisor", "manager"),
    "accept": ("supervisor", "manager", "engineer"),
    "retire": ("supervisor", "manager", "engineer"),
    "resume": ("supervisor", "manager", "engineer"),
    "restore": ("manager", "engineer"),
    "change": ("manager", "engineer"),
    "transfer": ("manager", "engineer"),
    "close": ("manager", "engineer"),
    "note": ("supervisor", "manager", "engineer", "auditor"),
    "enrol keys": ("manager", "engineer"),
    "rotate key": ("manager", "engineer"),
    "revoke key": ("supervisor", "manager", "engineer"),
    "add account": ("manager",),
    "set password": ("manager",),
    "unlock account": ("manager",),
    "disable account": ("supervisor", "manager"),
}
"""Kind of order to the roles that may give it."""

TWO_PEOPLE: Final = frozenset(("revoke key", "add account", "set password", "unlock account"))
"""Given by two people together, one of them of a role above, the other of any; alone only while
there is nobody else. Otherwise one manager could make up the second person of every other order.
Orders about money are the ledger's to judge."""


class AccountRefused(ValueError):
    """Nothing is done: ``text (E-ACT-003)``; the text never says whether a name exists."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


def weakness(password: str, name: str) -> str | None:
    """What is wrong with a password, in words that do not repeat it; None if it will do."""
    if len(password) < LEAST_CHARACTERS:
        return f"expected at least {LEAST_CHARACTERS} characters"
    if len(password) > MOST_CHARACTERS:
        return f"expected at most {MOST_CHARACTERS} characters"
    if len(set(password)) < 5:
        return "expected at least five different characters"
    if name in password.lower():
        return "it holds the name of the account"
    return None


def hashed(password: str, salt: bytes) -> str:
    digest = _scrypt(password, salt, COST_N, COST_R, COST_P)
    return f"scrypt${COST_N}${COST_R}${COST_P}${salt.hex()}${digest.hex()}"


NOBODY: Final = f"scrypt${COST_N}${COST_R}${COST_P}${'00' * SALT_BYTES}${'00' * HASH_BYTES}"
"""Checked when there is nobody to check: an unknown name must not answer faster."""


def fits(account: AccountRow | None, password: str) -> bool:
    """Takes the same time whoever is asked for; never True for a disabled or locked account."""
    stored = NOBODY if account is None else account.scrypt.removeprefix(DISABLED)
    try:
        word, n, r, p, salt, digest = stored.split("$")
        found = _scrypt(password, bytes.fromhex(salt), int(n), int(r), int(p))
        same = word == "scrypt" and hmac.compare_digest(found, bytes.fromhex(digest))
    except ValueError:
        return False
    return same and account is not None and may_sign(account)


def may_sign(account: AccountRow) -> bool:
    return not account.locked and not is_disabled(account)


def is_disabled(account: AccountRow) -> bool:
    return account.scrypt.startswith(DISABLED)


def after_failure(account: AccountRow, at_ms: int) -> AccountRow:
    """One more; the fifth in a row locks the account until a manager unlocks it."""
    failures = account.failures + 1
    locked = account.locked or failures >= MOST_FAILURES
    return replace(account, failures=failures, locked=locked, at_ms=at_ms)


def after_success(account: AccountRow) -> AccountRow:
    return replace(account, failures=0) if account.failures else account


# --- changes -------------------------------------------------------------------------------------


def added(
    accounts: Mapping[str, AccountRow], name: str, role: str, scrypt_text: str, stamp: Stamp
) -> AccountRow:
    if NAME.fullmatch(name) is None:
        said = f"account {name!r}: expected 2 to 32 of a-z 0-9 . _ -, a letter first"
        raise AccountRefused("E-ACT-004", said)
    if role not in ROLES:
        raise AccountRefused("E-ACT-004", f"role {role!r}: expected {', '.join(ROLES)}")
    if name in accounts:
        raise AccountRefused("E-ACT-005", f"account {name}: exists already")
    return AccountRow(name, role, scrypt_text, 0, False, stamp.by, stamp.at_ms)


def known(accounts: Mapping[str, AccountRow], name: str) -> AccountRow:
    found = accounts.get(name)
    if found is None:
        raise AccountRefused("E-ACT-006", f"account {name!r}: there is none of this name")
    return found


def with_password(account: AccountRow, scrypt_text: str, stamp: Stamp) -> AccountRow:
    """Also what unlocks it and takes a disabled one back."""
    by, at_ms = stamp.by, stamp.at_ms
    return replace(account, scrypt=scrypt_text, failures=0, locked=False, by=by, at_ms=at_ms)


def unlocked(account: AccountRow, stamp: Stamp) -> AccountRow:
    return replace(account, failures=0, locked=False, by=stamp.by, at_ms=stamp.at_ms)


def disabled(account: AccountRow, stamp: Stamp) -> AccountRow:
    stored = account.scrypt if is_disabled(account) else DISABLED + account.scrypt
    return replace(account, scrypt=stored, by=stamp.by, at_ms=stamp.at_ms)


# --- who may -------------------------------------------------------------------------------------


def check_authority(
    what: str, people: tuple[AccountRow, ...], accounts: Mapping[str, AccountRow]
) -> None:
    """``people`` have proved who they are; may they give this order together?"""
    roles = MAY.get(what)
    if roles is None:
        said = f"order {what!r}: expected one of {', '.join(MAY)}"
        raise AccountRefused("E-ACT-007", said)
    if not people or len({person.name for person in people}) != len(people):
        raise AccountRefused("E-ACT-008", f"{what}: expected different people")
    wrong = [person for person in people if person.role not in roles]
    if wrong and not (what in TWO_PEOPLE and len(wrong) < len(people)):
        said = f"{what}: {wrong[0].name} is {wrong[0].role}; expected {' or '.join(roles)}"
        raise AccountRefused("E-ACT-009", said)
    active = sum(may_sign(account) for account in accounts.values())
    if what in TWO_PEOPLE and len(people) < 2 and active > 1:
        raise AccountRefused("E-ACT-008", f"{what}: expected two people")


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    text = password.encode("utf-8", "surrogatepass")
    return scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=MOST_MEMORY, dklen=HASH_BYTES)
