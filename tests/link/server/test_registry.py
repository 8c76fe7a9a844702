"""The key registry and the accounts: pure rules, every refusal with its code."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from link import accounts, registry
from link.accounts import AccountRefused
from link.registry import KeyRefused, Stamp, Wanted
from link.rows import AccountRow, KeyRow
from record.link.keys import encode_z85, fingerprint

HOUR = 3_600_000
NOW = Stamp("m.ng", 1_000_000)


def key(number: int) -> str:
    return encode_z85(number.to_bytes(32, "big"))


def rows(*made: KeyRow) -> dict[str, KeyRow]:
    return {row.public: row for row in made}


def enrolled(*names: str) -> dict[str, KeyRow]:
    wanted = [Wanted(key(n), name) for n, name in enumerate(names)]
    return rows(*registry.enrol({}, wanted, NOW))


def test_an_enrolled_key_is_valid_from_now_on_without_end() -> None:
    (row,) = registry.enrol({}, [Wanted(key(1), "table-1")], NOW)
    assert row == KeyRow(key(1), "table-1", "table", 1_000_000, 0, 0, "m.ng", 1_000_000)
    assert not registry.is_valid(row, 999_999)
    assert registry.is_valid(row, 1_000_000)
    assert registry.is_valid(row, 1 << 50)


def test_a_key_never_changes_hands_not_even_when_it_is_revoked() -> None:
    known = enrolled("table-1")
    for state in (known, rows(*registry.revoke(known, "table-1", NOW))):
        with pytest.raises(KeyRefused, match=r"for table-1.*E-KEY-111"):
            registry.enrol(state, [Wanted(key(0), "table-2")], NOW)


def test_rotation_lets_both_keys_work_until_the_old_one_ends() -> None:
    known = enrolled("table-1")
    new, old = registry.rotate(known, Wanted(key(9), "table-1"), HOUR, NOW)
    assert (new.public, new.until_ms) == (key(9), 0)
    assert (old.public, old.until_ms) == (key(0), 1_000_000 + HOUR)
    for at, both in ((1_000_000, True), (999_999 + HOUR, True), (1_000_000 + HOUR, False)):
        assert registry.is_valid(new, at)
        assert registry.is_valid(old, at) == both
    with pytest.raises(KeyRefused, match="E-KEY-112"):  # not a third one meanwhile
        registry.rotate(rows(new, old), Wanted(key(10), "table-1"), HOUR, NOW)
    later = Stamp("m.ng", 1_000_000 + HOUR)
    assert len(registry.rotate(rows(new, old), Wanted(key(10), "table-1"), HOUR, later)) == 2


def test_rotation_needs_something_to_take_over_from() -> None:
    with pytest.raises(KeyRefused, match="E-KEY-110"):
        registry.rotate({}, Wanted(key(9), "table-1"), HOUR, NOW)


@pytest.mark.parametrize("which", [key(0), fingerprint(key(0)), "table-1"])
def test_a_key_is_revoked_by_itself_its_fingerprint_or_its_table(which: str) -> None:
    known = enrolled("table-1", "table-2")
    (row,) = registry.revoke(known, which, Stamp("k.lee", 2_000_000))
    assert (row.public, row.revoked_ms, row.by) == (key(0), 2_000_000, "k.lee")
    assert not registry.is_valid(row, 2_000_000)
    with pytest.raises(KeyRefused, match="E-KEY-110"):
        registry.revoke(rows(row), which, NOW)


def test_many_are_enrolled_or_none() -> None:
    wanted = [Wanted(key(1), "table-1"), Wanted(key(2), "table-2"), Wanted(key(1), "table-3")]
    with pytest.raises(KeyRefused, match="E-KEY-111"):
        registry.enrol({}, wanted, NOW)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (Wanted("short", "table-1"), "E-KEY-113"),
        (Wanted(key(1), ""), "E-KEY-114"),
        (Wanted(key(1), "a table"), "E-KEY-114"),
        (Wanted(key(1), "t" * 65), "E-KEY-114"),
        (Wanted(key(1), "table-1", from_ms=50, until_ms=50), "E-KEY-115"),
    ],
)
def test_what_cannot_be_enrolled_is_refused(wanted: Wanted, code: str) -> None:
    with pytest.raises(KeyRefused, match=code):
        registry.enrol({}, [wanted], NOW)


def test_a_name_is_a_table_or_a_sign_not_both() -> None:
    with pytest.raises(KeyRefused, match=r"name of a table.*E-KEY-114"):
        registry.enrol(enrolled("x"), [Wanted(key(5), "x", "sign")], NOW)


def test_a_third_key_of_a_table_is_refused() -> None:
    two = enrolled("table-1", "table-1")
    with pytest.raises(KeyRefused, match="E-KEY-112"):
        registry.enrol(two, [Wanted(key(5), "table-1")], NOW)


def test_a_csv_with_head_empty_lines_and_roles() -> None:
    text = f"name,key,role\n\ntable-1,{key(1)}\n sign-1 , {key(2)} ,sign\n"
    assert list(registry.read_csv(text)) == [
        Wanted(key(1), "table-1"),
        Wanted(key(2), "sign-1", "sign"),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("table-1", "line 2: 1 columns"),
        (f"table-1,{key(1)},table,more", "line 2: 4 columns"),
        (f"table-1,{key(1)},king", "line 2: role 'king'"),
        ("table-1,no-key-at-all-but-something-secret", "line 2: table-1: expected a public key"),
        (f"a b,{key(1)}", "line 2: name 'a b'"),
    ],
)
def test_a_wrong_line_is_named_and_a_wrong_key_not_repeated(line: str, said: str) -> None:
    with pytest.raises(KeyRefused) as refused:
        list(registry.read_csv(f"name,key\n{line}\n"))
    assert said in refused.value.text
    assert "something-secret" not in str(refused.value)


@given(st.text(max_size=200))
def test_any_text_is_a_list_of_keys_or_refused(text: str) -> None:
    with suppress(KeyRefused):
        list(registry.read_csv(text))


def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(KeyRefused, match="E-KEY-113"):
        list(registry.read_csv("x" * 200_000))


# --- accounts -----------------------------------------------------------------------------------

SALT = b"\x01" * 16


def account(name: str = "m.ng", role: str = "manager", **changes: object) -> AccountRow:
    made = accounts.added({}, name, role, accounts.hashed("three cards and a river", SALT), NOW)
    return replace(made, **changes)


def test_a_password_fits_and_nothing_else_does() -> None:
    mine = account()
    assert accounts.fits(mine, "three cards and a river")
    assert not accounts.fits(mine, "three cards and a rive")
    assert not accounts.fits(mine, "")
    assert not accounts.fits(None, "three cards and a river")
    assert "three cards" not in repr(mine)


def test_the_hash_is_scrypt_as_rfc_7914_has_it() -> None:
    """The third vector of the RFC, through our own form."""
    stored = (
        "scrypt$16384$8$1$" + b"SodiumChloride".hex() + "$"
        "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
    )
    # The vector has 64 bytes; the first 32 of PBKDF2's output are those of a shorter length.
    assert accounts.fits(account(scrypt=stored), "pleaseletmein")


def test_five_failures_in_a_row_lock_and_a_success_forgives_fewer() -> None:
    mine = account()
    for _ in range(4):
        mine = accounts.after_failure(mine, 5)
    assert (mine.failures, mine.locked) == (4, False)
    assert accounts.fits(mine, "three cards and a river")
    assert accounts.after_success(mine).failures == 0
    locked = accounts.after_failure(mine, 6)
    assert locked.locked
    assert not accounts.fits(locked, "three cards and a river")
    assert accounts.fits(accounts.unlocked(locked, NOW), "three cards and a river")


def test_a_disabled_account_fits_nobody_until_it_gets_a_new_password() -> None:
    gone = accounts.disabled(account(), NOW)
    assert accounts.is_disabled(gone)
    assert not accounts.fits(gone, "three cards and a river")
    assert accounts.disabled(gone, NOW).scrypt == gone.scrypt
    back = accounts.with_password(gone, accounts.hashed("another river card", SALT), NOW)
    assert accounts.fits(back, "another river card")


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("short", "at least 10"),
        ("a" * 300, "at most 200"),
        ("abababababab", "five different"),
        ("xxm.ngxx1234", "name of the account"),
    ],
)
def test_a_weak_password_is_refused_without_repeating_it(password: str, said: str) -> None:
    wrong = accounts.weakness(password, "m.ng")
    assert wrong is not None
    assert said in wrong
    assert password not in wrong


@pytest.mark.parametrize(
    ("name", "role", "code"),
    [
        ("M.Ng", "manager", "E-ACT-004"),
        ("m", "manager", "E-ACT-004"),
        ("k.lee", "king", "E-ACT-004"),
        ("m.ng", "manager", "E-ACT-005"),
    ],
)
def test_what_is_no_account_is_refused(name: str, role: str, code: str) -> None:
    with pytest.raises(AccountRefused, match=code):
        accounts.added({"m.ng": account()}, name, role, "", NOW)


PEOPLE = {
    name: account(name, role)
    for name, role in (
        ("m.ng", "manager"),
        ("k.lee", "supervisor"),
        ("a.kim", "engineer"),
        ("r.roy", "auditor"),
    )
}


def may(what: str, *names: str) -> bool:
    try:
        accounts.check_authority(what, tuple(PEOPLE[name] for name in names), PEOPLE)
    except AccountRefused:
        return False
    return True


def test_who_may_give_which_order_alone() -> None:
    """Every kind of order and every role: the whole table, by hand."""
    alone = {
        "verify": "sm", "approve": "sm", "pay": "sm", "reject": "sm", "accept": "sme",
        "resume": "sme", "retire": "sme", "restore": "me", "change": "me", "transfer": "me",
        "close": "me",
        "note": "smea", "enrol keys": "me", "rotate key": "me", "revoke key": "",
        "add account": "", "set password": "", "unlock account": "", "disable account": "sm",
    }  # fmt: skip
    letters = {"s": "k.lee", "m": "m.ng", "e": "a.kim", "a": "r.roy"}
    found = {
        what: "".join(letter for letter in "smea" if may(what, letters[letter]))
        for what in accounts.MAY
    }
    assert found == alone


def test_two_people_are_two_and_one_of_them_has_the_role() -> None:
    assert may("add account", "m.ng", "k.lee")
    assert may("add account", "r.roy", "m.ng")
    assert not may("add account", "k.lee", "a.kim")
    assert not may("add account", "m.ng", "m.ng")
    assert may("revoke key", "a.kim", "r.roy")
    assert not may("revoke key", "a.kim")
    assert not may("eat", "m.ng")
    assert not may("verify")


def test_the_very_first_account_adds_the_second_alone() -> None:
    alone = {"m.ng": account()}
    accounts.check_authority("add account", (account(),), alone)
