"""PURE: people with an account at the link server: keys, delays, who may order what.

There is no default account and no default password. A person's password makes an Ed25519 key
(scrypt is its seed); the store keeps the public half and the salt. A password is held by nothing
here longer than a call, and no error repeats it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from hashlib import scrypt, sha256
from typing import Final, NamedTuple

from msgspec.structs import replace
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from link.registry import Stamp
from link.rows import AccountRow

ROLES: Final = ("supervisor", "manager", "engineer", "auditor")
LEAST_CHARACTERS: Final = 10
MOST_CHARACTERS: Final = 200
NAME: Final = re.compile(r"[a-z][a-z0-9._-]{1,31}")
RESERVED: Final = ("server", "clock", "configuration", "machine")
DISABLED: Final = "!"
"""In front of the credential of an account that may not be used."""

COST_N: Final = 2**14
COST_R: Final = 8
COST_P: Final = 1
"""16 MiB and some tens of milliseconds a try."""
MOST_MEMORY: Final = 64 * 2**20
SALT_BYTES: Final = 16
SEED_BYTES: Final = 32

FREE_FAILURES: Final = 3
ALARM_FAILURES: Final = 5
ACCOUNT_LONGEST_MS: Final = 30_000
SOURCE_LONGEST_MS: Final = 600_000
"""A source waits much longer than an account: an attacker slows himself down, and the owner gets
in from another source between two of his tries."""
FORGIVEN_MS: Final = 3_600_000
MOST_SOURCES: Final = 1_000

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
    "note": ROLES,
    "acknowledge alarm": ("supervisor", "manager", "engineer"),
    "enrol keys": ("manager", "engineer"),
    "rotate key": ("manager", "engineer"),
    "revoke key": ("supervisor", "manager", "engineer"),
    "add account": ("manager",),
    "reset account": ("manager",),
    "set role": ("manager",),
    "unlock account": ("manager", "supervisor"),
    "disable account": ("manager", "supervisor"),
    "enable account": ("manager",),
    "set password": ROLES,
    "acknowledge accounts": ROLES,
}
"""Kind of order to the roles that may give it."""

TWO_PEOPLE: Final = frozenset(
    (
        *("enrol keys", "rotate key", "revoke key", "add account", "reset account", "set role"),
        *("unlock account", "disable account", "enable account", "acknowledge accounts"),
    )
)
"""Given by two people with different roles together, one of them of a role above, the other of any.
Otherwise one person could make up the second person of every other order. There is no exception
for an account that is alone: that is set right at the machine. Orders about money are the ledger's
to judge."""


class AccountRefused(ValueError):
    """Nothing is done: ``text (E-ACT-003)``; the text never says whether a name exists."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


# --- passwords and keys ---------------------------------------------------------------------------


class Credential(NamedTuple):
    """What the store keeps of a password: enough to check it, not to sign with it."""

    salt: str
    key: str
    """Ed25519 public key. Both hexadecimal."""

    def stored(self) -> str:
        return f"ed25519${COST_N}${COST_R}${COST_P}${self.salt}${self.key}"


NOBODY: Final = Credential("00" * SALT_BYTES, "00" * SEED_BYTES).stored()
"""Checked when there is nobody to check: an unknown name must not answer faster."""


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


def made(password: str, salt: bytes) -> tuple[Credential, SigningKey]:
    """The key that a password makes, and what is stored of it."""
    secret = SigningKey(_scrypt(password, salt, COST_N, COST_R, COST_P))
    return Credential(salt.hex(), bytes(secret.verify_key).hex()), secret


def proved(account: AccountRow | None, password: str) -> SigningKey | None:
    """The key with which this person signs; None if the password is wrong, the account is disabled
    or has no key yet. Takes the same time for every name."""
    stored = NOBODY if account is None else account.credential.removeprefix(DISABLED)
    try:
        word, n, r, p, salt, public = stored.split("$")
        seed = _scrypt(password, bytes.fromhex(salt), int(n), int(r), int(p))
    except ValueError:
        return None
    secret = SigningKey(seed)
    same = hmac.compare_digest(bytes(secret.verify_key).hex(), public)
    return secret if word == "ed25519" and same and account and not is_disabled(account) else None


def fits_old(account: AccountRow, password: str) -> bool:
    """The password of an account from before keys: a plain scrypt hash."""
    try:
        word, n, r, p, salt, digest = account.credential.split("$")
        found = _scrypt(password, bytes.fromhex(salt), int(n), int(r), int(p))
    except ValueError:
        return False
    return word == "scrypt" and hmac.compare_digest(found.hex(), digest)


def key_of(account: AccountRow) -> str:
    """Its public key; empty for an account from before keys."""
    word, *_, public = account.credential.removeprefix(DISABLED).split("$")
    return public if word == "ed25519" else ""


def is_disabled(account: AccountRow) -> bool:
    return account.credential.startswith(DISABLED)


def mark(key: str) -> str:
    """The fingerprint of a key as people read it out: four groups of four."""
    digest = sha256(bytes.fromhex(key)).hexdigest()
    return "-".join(digest[at : at + 4] for at in range(0, 16, 4))


def ownership(name: str, secret: SigningKey) -> str:
    """Signed with the typed password: this key is to be this account's."""
    return secret.sign(_owned(name, bytes(secret.verify_key).hex())).signature.hex()


def is_owned(name: str, key: str, proof: str) -> bool:
    try:
        VerifyKey(bytes.fromhex(key)).verify(_owned(name, key), bytes.fromhex(proof))
    except (BadSignatureError, ValueError):
        return False
    return True


def _owned(name: str, key: str) -> bytes:
    return f"underfelt account 1\t{name}\t{key}\n".encode()


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    text = password.encode("utf-8", "surrogatepass")
    return scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=MOST_MEMORY, dklen=SEED_BYTES)


# --- wrong passwords ------------------------------------------------------------------------------


def delay_ms(failures: int, longest_ms: int) -> int:
    """How long to wait after so many wrong passwords: nothing, then 1 s, 2 s, 4 s, ..."""
    over = failures - FREE_FAILURES
    return 0 if over < 0 else min(longest_ms, 1_000 << min(over, 30))


def is_alarming(failures: int) -> bool:
    """At 5, 10, 20, 40 and so on."""
    times, rest = divmod(failures, ALARM_FAILURES)
    return not rest and times > 0 and times & (times - 1) == 0


def waiting_ms(account: AccountRow, now_ms: int) -> int:
    """Also after the clock was set back: never longer than the longest delay."""
    return min(max(account.until_ms - now_ms, 0), ACCOUNT_LONGEST_MS)


def after_failure(account: AccountRow, at_ms: int) -> AccountRow:
    failures = account.failures + 1
    until_ms = at_ms + delay_ms(failures, ACCOUNT_LONGEST_MS)
    return replace(account, failures=failures, until_ms=until_ms)


def after_success(account: AccountRow) -> AccountRow:
    return replace(account, failures=0, until_ms=0)


Source = int | str
"""Where a password comes from: a user of this machine, or the address of a browser."""


class Sources:
    """Wrong passwords by where they came from. What a source got wrong about one
    account is forgiven when it gets that account right, not when it gets another one right."""

    def __init__(self) -> None:
        self._wrong: dict[Source, dict[str, int]] = {}
        self._last_ms: dict[Source, int] = {}

    def failed(self, source: Source, name: str, mono_ms: int) -> int:
        """How many now."""
        self._forgive(source, mono_ms)
        if source not in self._wrong and len(self._wrong) >= MOST_SOURCES:
            oldest = min(self._last_ms, key=lambda one: self._last_ms[one])
            del self._wrong[oldest], self._last_ms[oldest]
        wrong = self._wrong.setdefault(source, {})
        wrong[name] = wrong.get(name, 0) + 1
        self._last_ms[source] = mono_ms
        return sum(wrong.values())

    def succeeded(self, source: Source, name: str) -> None:
        self._wrong.get(source, {}).pop(name, None)

    def waiting_ms(self, source: Source, mono_ms: int) -> int:
        self._forgive(source, mono_ms)
        failures = sum(self._wrong.get(source, {}).values())
        since = mono_ms - self._last_ms.get(source, mono_ms)
        return max(delay_ms(failures, SOURCE_LONGEST_MS) - since, 0)

    def clear(self) -> None:
        self._wrong.clear()
        self._last_ms.clear()

    def _forgive(self, source: Source, mono_ms: int) -> None:
        if mono_ms - self._last_ms.get(source, mono_ms) > FORGIVEN_MS:
            del self._wrong[source], self._last_ms[source]


# --- changes --------------------------------------------------------------------------------------


def check_new(accounts: Mapping[str, AccountRow], name: str, role: str) -> None:
    if NAME.fullmatch(name) is None or name in RESERVED:
        said = f"account {name!r}: expected 2 to 32 of a-z 0-9 . _ -, a letter first"
        raise AccountRefused("E-ACT-004", said)
    check_role(role)
    if name in accounts:
        raise AccountRefused("E-ACT-005", f"account {name}: exists already")


def check_role(role: str) -> None:
    if role not in ROLES:
        raise AccountRefused("E-ACT-004", f"role {role!r}: expected {', '.join(ROLES)}")


def check_owned(name: str, key: str, proof: str) -> None:
    if not is_owned(name, key, proof):
        said = f"account {name}: the request was not made with this key; let the owner make another"
        raise AccountRefused("E-ACT-003", said)


def known(accounts: Mapping[str, AccountRow], name: str) -> AccountRow:
    found = accounts.get(name)
    if found is None:
        raise AccountRefused("E-ACT-006", f"account {name!r}: there is none of this name")
    return found


def added(name: str, role: str, credential: Credential, stamp: Stamp) -> AccountRow:
    return AccountRow(name, role, credential.stored(), 0, 0, stamp.by, stamp.at_ms)


def with_key(account: AccountRow, credential: Credential, stamp: Stamp) -> AccountRow:
    """Another password. An account that is disabled stays disabled."""
    word = DISABLED if is_disabled(account) else ""
    stored = word + credential.stored()
    return replace(_stamped(account, stamp), credential=stored, failures=0, until_ms=0)


def with_role(account: AccountRow, role: str, stamp: Stamp) -> AccountRow:
    return replace(_stamped(account, stamp), role=role)


def unlocked(account: AccountRow, stamp: Stamp) -> AccountRow:
    return replace(_stamped(account, stamp), failures=0, until_ms=0)


def disabled(account: AccountRow, stamp: Stamp) -> AccountRow:
    return replace(_stamped(account, stamp), credential=DISABLED + _enabled(account))


def enabled(account: AccountRow, stamp: Stamp) -> AccountRow:
    """With the password that its owner had: nobody else learns or sets anything."""
    return replace(_stamped(account, stamp), credential=_enabled(account))


def _enabled(account: AccountRow) -> str:
    return account.credential.removeprefix(DISABLED)


def _stamped(account: AccountRow, stamp: Stamp) -> AccountRow:
    return replace(account, by=stamp.by, at_ms=stamp.at_ms)


def check_enough(accounts: Mapping[str, AccountRow]) -> None:
    """Someone must be left who can change accounts: a manager, and somebody with another role."""
    roles = {account.role for account in accounts.values() if not is_disabled(account)}
    if "manager" not in roles or len(roles) < 2:
        said = "expected a manager and somebody with another role to be left; add one first"
        raise AccountRefused("E-ACT-012", said)


# --- who may --------------------------------------------------------------------------------------


def check_authority(what: str, people: tuple[AccountRow, ...], subject: str = "") -> None:
    """``people`` have proved who they are; may they give this order together? ``subject`` is the
    account that the order is about."""
    roles = MAY.get(what)
    if roles is None:
        said = f"order {what!r}: expected one of {', '.join(MAY)}"
        raise AccountRefused("E-ACT-007", said)
    names = [person.name for person in people]
    if not people or len(set(names)) != len(people):
        raise AccountRefused("E-ACT-008", f"{what}: expected different people")
    if what == "set password" and names != [subject]:
        said = f"{what}: expected {subject} alone; two others use 'accounts reset'"
        raise AccountRefused("E-ACT-009", said)
    wrong = [person for person in people if person.role not in roles]
    if wrong and not (what in TWO_PEOPLE and len(wrong) < len(people)):
        said = f"{what}: {wrong[0].name} is {wrong[0].role}; expected {' or '.join(roles)}"
        raise AccountRefused("E-ACT-009", said)
    if what not in TWO_PEOPLE:
        return
    if len(people) != 2 or people[0].role == people[1].role:
        raise AccountRefused("E-ACT-008", f"{what}: expected two people with different roles")
    if subject in names:
        said = f"{what}: {subject} cannot decide about his own account; expected two others"
        raise AccountRefused("E-ACT-008", said)
