"""Key files: made once, readable by their owner alone, never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.registers.errors import (
    CreateError,
    NotPermittedError,
    RegisterKeyError,
    UnreadableError,
)
from controller.registers.keys import (
    Signed,
    fingerprint,
    load_public,
    load_secret,
    make_keys,
)
from controller.registers.kinds import CHIPS
from tests.controller.registers.chips.vector import KEY, PUBLIC, PUBLIC_LINE, SECRET_LINE, VECTOR


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "k"
    path.write_text(SECRET_LINE)
    path.chmod(0o400)
    return path


def test_a_made_pair_fits_and_only_the_owner_can_read_the_secret(tmp_path: Path) -> None:
    made = make_keys(CHIPS, tmp_path / "k", tmp_path / "p")
    key, public = load_secret(CHIPS, tmp_path / "k"), load_public(CHIPS, tmp_path / "p")
    assert key.public == public
    assert made == fingerprint(public)
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o400
    assert (tmp_path / "p").stat().st_mode & 0o777 == 0o644
    assert Signed(b"chips", key.sign(b"chips"), public).holds
    assert not Signed(b"chipz", key.sign(b"chips"), public).holds
    assert make_keys(CHIPS, tmp_path / "k2", tmp_path / "p2") != made


@pytest.mark.parametrize("taken", ["k", "p"])
def test_a_key_is_never_overwritten(taken: str, tmp_path: Path) -> None:
    (tmp_path / taken).write_text("mine")
    with pytest.raises(CreateError, match="E-CHIP-042"):
        make_keys(CHIPS, tmp_path / "k", tmp_path / "p")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(taken, "mine")]


def test_a_published_key_is_read_as_it_is(secret: Path, tmp_path: Path) -> None:
    (tmp_path / "p").write_text(PUBLIC_LINE)
    assert load_secret(CHIPS, secret).public == load_public(CHIPS, tmp_path / "p") == PUBLIC


@pytest.mark.parametrize("mode", [0o440, 0o404, 0o644, 0o410, 0o401, 0o420, 0o777])
def test_a_secret_that_others_may_use_is_refused(mode: int, secret: Path) -> None:
    secret.chmod(mode)
    with pytest.raises(NotPermittedError) as caught:
        load_secret(CHIPS, secret)
    assert caught.value.code == "E-CHIP-040"
    assert VECTOR["key"]["secret"] not in str(caught.value)


def test_the_owner_may_also_write(secret: Path) -> None:
    secret.chmod(0o600)
    assert load_secret(CHIPS, secret).public == PUBLIC


@pytest.mark.parametrize(
    "text",
    ["", PUBLIC_LINE, SECRET_LINE[:-2], SECRET_LINE + "\n", SECRET_LINE.upper(), "x" * 5000],
)
def test_what_is_no_secret_key_is_refused_and_not_repeated(text: str, secret: Path) -> None:
    secret.chmod(0o600)
    secret.write_text(text)
    with pytest.raises(RegisterKeyError) as caught:
        load_secret(CHIPS, secret)
    assert caught.value.code == "E-CHIP-041"
    assert text[-20:-2] not in str(caught.value) or not text


def test_a_secret_where_a_public_key_belongs_is_refused_and_not_shown(secret: Path) -> None:
    with pytest.raises(RegisterKeyError) as caught:
        load_public(CHIPS, secret)
    assert VECTOR["key"]["secret"] not in str(caught.value)


def test_a_missing_key(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="E-CHIP-050"):
        load_secret(CHIPS, tmp_path / "none")


def test_a_key_shows_itself_to_nobody() -> None:
    for text in (repr(KEY), str(KEY), f"{KEY}"):
        assert text == f"<secret key of {VECTOR['key']['fingerprint']}>"
