"""The key registry and the accounts: pure rules, every refusal with its code."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from link import accounts, registry
from link.accounts import AccountRefused
from link.registry import KeyRefused, Stamp, Wanted
from link.rows import AccountRow, KeyRow
from record.link.keys import encode_z85, fingerprint
from tests.link import people

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

RIVER = "three cards and a river"


def account(name: str = "m.ng", role: str = "manager", **changes: object) -> AccountRow:
    return replace(people.account(name, role, RIVER), **changes)


def test_a_password_makes_the_key_and_nothing_else_does() -> None:
    mine = account()
    secret = accounts.proved(mine, RIVER)
    assert secret is not None
    assert bytes(secret.verify_key).hex() == accounts.key_of(mine)
    assert accounts.proved(mine, RIVER[:-1]) is None
    assert accounts.proved(mine, "") is None
    assert accounts.proved(None, RIVER) is None
    assert accounts.proved(account(credential="scrypt$2$1$1$00$00"), RIVER) is None
    assert "three cards" not in repr(mine)


def test_the_seed_of_a_key_is_scrypt_as_rfc_7914_has_it() -> None:
    """The third vector of the RFC, through both of our forms."""
    salt = b"SodiumChloride"
    seed = "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
    # The vector has 64 bytes; the first 32 of PBKDF2's output are those of a shorter length.
    _, secret = accounts.made("pleaseletmein", salt)
    assert bytes(secret).hex() == seed
    old = account(credential=f"scrypt$16384$8$1${salt.hex()}${seed}")
    assert accounts.fits_old(old, "pleaseletmein")
    assert not accounts.fits_old(old, "pleaseletmeim")
    assert not accounts.fits_old(account(), RIVER)


def test_only_the_owner_of_a_key_makes_its_request() -> None:
    credential, secret = people.made(RIVER)
    proof = accounts.ownership("k.lee", secret)
    assert accounts.is_owned("k.lee", credential.key, proof)
    assert not accounts.is_owned("m.ng", credential.key, proof)
    assert not accounts.is_owned("k.lee", people.made("another river")[0].key, proof)
    assert not accounts.is_owned("k.lee", credential.key, "00" * 64)


def test_wrong_passwords_delay_an_account_longer_and_longer_and_never_for_ever() -> None:
    mine, waits = account(), []
    for _ in range(40):
        mine = accounts.after_failure(mine, 1_000)
        waits.append(accounts.waiting_ms(mine, 1_000))
    assert waits[:7] == [0, 0, 1_000, 2_000, 4_000, 8_000, 16_000]
    assert set(waits[7:]) == {30_000}
    assert accounts.waiting_ms(mine, 31_000) == 0
    assert accounts.waiting_ms(mine, -86_400_000) == 30_000  # the clock went back by a day
    assert accounts.waiting_ms(accounts.after_success(mine), 1_000) == 0
    assert accounts.waiting_ms(accounts.unlocked(mine, NOW), 1_000) == 0
    assert [n for n in range(1, 100) if accounts.is_alarming(n)] == [5, 10, 20, 40, 80]


def test_a_source_waits_longer_than_any_account() -> None:
    """So an attacker cannot keep an account busy: the owner comes from somewhere else."""
    sources = accounts.Sources()
    for number in range(30):
        sources.failed(1001, f"name-{number % 3}", 0)
    assert sources.waiting_ms(1001, 0) == 600_000 > 10 * accounts.ACCOUNT_LONGEST_MS
    assert sources.waiting_ms(1001, 600_000) == 0
    assert sources.waiting_ms(1002, 0) == 0
    assert sources.failed(1001, "name-0", accounts.FORGIVEN_MS + 1) == 1


def test_a_source_is_not_forgiven_for_one_account_by_getting_another_right() -> None:
    sources = accounts.Sources()
    for _ in range(10):
        sources.failed(1001, "k.lee", 0)
        sources.succeeded(1001, "his.own")
    assert sources.waiting_ms(1001, 0) == 128_000
    sources.succeeded(1001, "k.lee")
    assert sources.waiting_ms(1001, 0) == 0


def test_a_flood_of_sources_keeps_its_bound() -> None:
    sources = accounts.Sources()
    for source in range(3 * accounts.MOST_SOURCES):
        sources.failed(source, "k.lee", source)
    assert len(sources._wrong) == accounts.MOST_SOURCES


def test_a_disabled_account_proves_nothing_until_it_is_enabled_with_its_own_password() -> None:
    gone = accounts.disabled(account(), NOW)
    assert accounts.is_disabled(gone)
    assert accounts.proved(gone, RIVER) is None
    assert accounts.disabled(gone, NOW).credential == gone.credential
    other = accounts.with_key(gone, people.made("another river card")[0], NOW)
    assert accounts.proved(other, "another river card") is None  # a new key enables nobody
    assert accounts.proved(accounts.enabled(gone, NOW), RIVER) is not None


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
        ("machine", "manager", "E-ACT-004"),
    ],
)
def test_what_is_no_account_is_refused(name: str, role: str, code: str) -> None:
    with pytest.raises(AccountRefused, match=code):
        accounts.check_new({"m.ng": account()}, name, role)


PEOPLE = {
    name: account(name, role)
    for name, role in (
        ("m.ng", "manager"),
        ("k.lee", "supervisor"),
        ("a.kim", "engineer"),
        ("r.roy", "auditor"),
    )
}


def may(what: str, *names: str, subject: str = "j.doe") -> bool:
    try:
        accounts.check_authority(what, tuple(PEOPLE[name] for name in names), subject)
    except AccountRefused:
        return False
    return True


LETTERS = {"s": "k.lee", "m": "m.ng", "e": "a.kim", "a": "r.roy"}


def test_who_may_give_which_order_alone() -> None:
    """Every kind of order and every role: the whole table, by hand. What two people must give,
    the ledger refuses too (``reject`` to ``close``)."""
    alone = {
        "verify": "sm", "approve": "sm", "pay": "sm", "reject": "sm", "accept": "sme",
        "resume": "sme", "retire": "sme", "restore": "me", "change": "me", "transfer": "me",
        "close": "me", "note": "smea", "acknowledge alarm": "sme",
    }  # fmt: skip
    found = {
        what: "".join(letter for letter in "smea" if may(what, LETTERS[letter]))
        for what in accounts.MAY
    }
    assert found == dict.fromkeys(accounts.MAY, "") | alone


def test_who_may_give_which_order_together() -> None:
    """Every pair of roles; one of the two has a role that may."""
    pairs = {
        "enrol keys": "sm se me ma ea", "rotate key": "sm se me ma ea",
        "revoke key": "sm se sa me ma ea", "add account": "sm me ma", "reset account": "sm me ma",
        "set role": "sm me ma", "unlock account": "sm se sa me ma", "enable account": "sm me ma",
        "disable account": "sm se sa me ma", "acknowledge accounts": "sm se sa me ma ea",
    }  # fmt: skip
    found = {
        what: " ".join(
            one + other
            for one, other in combinations("smea", 2)
            if may(what, LETTERS[one], LETTERS[other])
        )
        for what in accounts.TWO_PEOPLE
    }
    assert found == pairs


def test_two_people_are_two_have_two_roles_and_are_not_the_subject() -> None:
    assert not may("add account", "m.ng", "m.ng")
    assert not may("add account", "m.ng", "k.lee", "a.kim")
    for what in accounts.TWO_PEOPLE:
        assert not may(what, "m.ng", "k.lee", subject="k.lee")
    twin = replace(PEOPLE["m.ng"], name="n.ng")
    with pytest.raises(AccountRefused, match="different roles"):
        accounts.check_authority("add account", (PEOPLE["m.ng"], twin), "j.doe")
    assert not may("eat", "m.ng")
    assert not may("verify")


def test_a_password_is_set_by_its_owner_alone() -> None:
    assert may("set password", "k.lee", subject="k.lee")
    assert not may("set password", "m.ng", subject="k.lee")
    assert not may("set password", "m.ng", "k.lee", subject="k.lee")


def test_somebody_must_be_left_who_can_change_accounts() -> None:
    two = {name: PEOPLE[name] for name in ("m.ng", "k.lee")}
    accounts.check_enough(two)
    for gone in two.values():
        with pytest.raises(AccountRefused, match="E-ACT-012"):
            accounts.check_enough({**two, gone.name: accounts.disabled(gone, NOW)})
