"""Key files: what they must look like, who may read them, and that no secret is ever shown."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from unittest.mock import patch

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st
from zmq.utils import z85

from record.link import keys

PUBLIC = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
SECRET = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
"""The pair of ZeroMQ's own documentation (zmq_curve(7)): known to everybody."""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    made = tmp_path / "table.key", tmp_path / "table.pub"
    keys.write_pair(*made, SECRET.encode(), PUBLIC.encode())
    return made


def test_the_files_are_one_line_each_and_the_secret_is_for_one_user(
    pair: tuple[Path, Path],
) -> None:
    secret, public = pair
    assert secret.read_text() == f"underfelt-link-secret {SECRET}\n"
    assert public.read_text() == f"underfelt-link-public {PUBLIC}\n"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o400
    assert keys.load_secret(secret).reveal() == SECRET.encode()
    assert keys.load_public(public) == PUBLIC
    assert zmq.curve_public(keys.load_secret(secret).reveal()).decode() == PUBLIC


def test_a_secret_shows_itself_to_nobody(pair: tuple[Path, Path]) -> None:
    loaded = keys.load_secret(pair[0])
    assert SECRET not in f"{loaded} {loaded!r} {[loaded]}"


def test_the_fingerprint_is_that_of_the_bytes() -> None:
    # The digest is that of sha256sum over these 32 bytes.
    raw = bytes.fromhex("bb88471d65e2659b30c55a5321cebb5aab2b70a398645c26dca2b2fcb43fc518")
    assert keys.decode_z85(PUBLIC) == raw
    assert keys.fingerprint(PUBLIC) == "ebb3af4dd99ceff3"


def test_a_secret_that_systemd_hands_over_shows_the_mask_of_its_access_list(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair[0].chmod(0o440)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(pair[0].parent))
    assert keys.load_secret(pair[0]).reveal() == SECRET.encode()
    pair[0].chmod(0o444)
    with pytest.raises(keys.KeyFileError, match="E-KEY-102"):
        keys.load_secret(pair[0])


@pytest.mark.parametrize("mode", [0o440, 0o404, 0o600 | 0o020, 0o644])
def test_a_secret_that_others_may_read_is_refused(pair: tuple[Path, Path], mode: int) -> None:
    pair[0].chmod(mode)
    with pytest.raises(keys.KeyFileError, match="E-KEY-102") as refused:
        keys.load_secret(pair[0])
    assert refused.value.exit_code == 77
    assert f"{mode:04o}" in str(refused.value)


def test_a_secret_of_another_user_is_refused(pair: tuple[Path, Path]) -> None:
    owner = pair[0].stat().st_uid
    with (
        patch.object(os, "geteuid", lambda: owner + 1),
        patch.object(
            os, "fstat", lambda _fd: os.stat_result((0o100400, 0, 0, 1, 4711, 0, 0, 0, 0, 0))
        ),
        pytest.raises(keys.KeyFileError, match=r"user 4711.*E-KEY-103"),
    ):
        keys.load_secret(pair[0])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        SECRET.encode(),
        f"underfelt-link-public {SECRET}\n".encode(),
        f"underfelt-link-secret {SECRET[:-1]}\n".encode(),
        f"underfelt-link-secret {SECRET}0\n".encode(),
        f"underfelt-link-secret  {SECRET}\n".encode(),
        f"underfelt-link-secret {SECRET[:-1]}~\n".encode(),
        b"underfelt-link-secret " + b"#" * 40 + b"\n",
        b"\xff\xfe" * 600,
    ],
)
def test_what_is_no_secret_key_is_refused_without_repeating_it(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "table.key"
    path.write_bytes(content)
    path.chmod(0o400)
    with pytest.raises(keys.KeyFileError, match="E-KEY-104") as refused:
        keys.load_secret(path)
    assert refused.value.exit_code == 78
    assert SECRET[:8] not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(keys.KeyFileError, match=r"No such file.*E-KEY-101") as refused:
        keys.load_public(tmp_path / "gone.pub")
    assert refused.value.exit_code == 66


def test_a_key_is_never_overwritten_and_a_pair_is_whole_or_not_there(tmp_path: Path) -> None:
    secret, public = tmp_path / "a.key", tmp_path / "a.pub"
    public.write_text("something")
    with pytest.raises(keys.KeyFileError, match=r"exists already.*E-KEY-105"):
        keys.write_pair(secret, public, SECRET.encode(), PUBLIC.encode())
    assert not secret.exists()
    assert public.read_text() == "something"
    with pytest.raises(keys.KeyFileError, match="E-KEY-106"):
        keys.write_pair(tmp_path / "no" / "a.key", secret, SECRET.encode(), PUBLIC.encode())


def test_a_credential_is_looked_for_where_systemd_puts_it(tmp_path: Path) -> None:
    found = keys.secret_path("credential:link.key", {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert found == tmp_path / "link.key"
    assert keys.secret_path("link.key", {}) == Path("link.key")
    with pytest.raises(keys.KeyFileError, match=r"LoadCredential.*E-KEY-101"):
        keys.secret_path("credential:link.key", {})


@given(st.binary(min_size=32, max_size=32))
def test_z85_is_that_of_zeromq(data: bytes) -> None:
    text = z85.encode(data).decode()
    assert keys.encode_z85(data) == text
    assert keys.decode_z85(text) == data
    assert keys.is_key(text)


@given(st.text(max_size=45))
def test_any_text_is_a_key_or_none(text: str) -> None:
    decoded = keys.decode_z85(text)
    assert decoded is None or keys.encode_z85(decoded) == text
    assert keys.is_key(text) == (decoded is not None and len(decoded) == 32)
