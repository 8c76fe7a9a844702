"""Sealed cards: same size, own key, a commitment that SHA-256 alone can check; and the key file."""

from __future__ import annotations

import ast
import copy
import hashlib
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.config.keys import key_line, load_key
from controller.history.errors import SealError, TableKeyError
from controller.history.sealing import BOX_BYTES, CardSealer, Sealed, TableKey
from controller.rules.cards import DECK, HiddenCard, PublicMoment, reveal
from tests.controller.history.test_history_entries import SEAL
from tests.paper import JOURNAL_ID, KEY, Noise, cards

ROOT = Path(__file__).resolve().parents[3]


def test_every_card_has_the_same_size_and_the_same_calls() -> None:
    seen = set()
    for card in DECK:
        noise = Noise()
        sealed = cards(noise).seal(HiddenCard(card), 9, 1)
        seen.add((len(sealed.commit), len(sealed.box), tuple(noise.calls)))
    assert seen == {(32, BOX_BYTES, (32, 24))}


def test_a_sealed_card_comes_back_with_its_nonce() -> None:
    for card in DECK:
        sealer = cards()
        sealed = sealer.seal(HiddenCard(card), 9, 1)
        hidden, nonce = sealer.open(sealed, 9, 1)
        assert reveal(hidden, PublicMoment.HAND_OPENED) == card
        assert hashlib.sha256(nonce + bytes([card])).digest() == sealed.commit


def test_only_the_told_card_fits_the_commitment() -> None:
    sealer = cards()
    sealed = sealer.seal(HiddenCard(DECK[34]), 9, 1)
    _, nonce = sealer.open(sealed, 9, 1)
    fits = [c for c in DECK if hashlib.sha256(nonce + bytes([c])).digest() == sealed.commit]
    assert fits == [34]


def test_card_keys_are_those_of_the_vectors() -> None:
    key = TableKey(bytes.fromhex(SEAL["key"]))
    made = [key.for_card(SEAL["journal_id"], SEAL["seq"], i).hex() for i in range(3)]
    assert made == SEAL["card_keys"]


def test_every_place_has_its_own_key() -> None:
    keys = {
        KEY.for_card(journal, seq, index)
        for journal in ("a", "b", "aa")
        for seq in (1, 2, 256)
        for index in (0, 1)
    }
    assert len(keys) == 18
    assert KEY.for_frame("a", 1) not in keys


def test_equal_cards_look_different() -> None:
    sealer = cards()
    first, second = (sealer.seal(HiddenCard(DECK[0]), 9, 0) for _ in range(2))
    assert first.commit != second.commit
    assert first.box[24:] != second.box[24:]


@pytest.mark.parametrize(("seq", "index"), [(10, 1), (9, 0)])
def test_a_moved_card_does_not_open(seq: int, index: int) -> None:
    sealer = cards()
    sealed = sealer.seal(HiddenCard(DECK[0]), 9, 1)
    with pytest.raises(SealError, match="E-SEAL-004"):
        sealer.open(sealed, seq, index)


def test_another_table_or_journal_does_not_open_it() -> None:
    sealed = cards().seal(HiddenCard(DECK[0]), 9, 1)
    for other in (CardSealer(TableKey(bytes(32)), JOURNAL_ID), CardSealer(KEY, "ff")):
        with pytest.raises(SealError, match="E-SEAL-004"):
            other.open(sealed, 9, 1)


@given(st.integers(0, 8 * BOX_BYTES - 1))
def test_one_flipped_bit_does_not_open(bit: int) -> None:
    sealer = cards()
    sealed = sealer.seal(HiddenCard(DECK[7]), 9, 1)
    box = bytearray(sealed.box)
    box[bit // 8] ^= 1 << bit % 8
    with pytest.raises(SealError, match="E-SEAL-004"):
        sealer.open(Sealed(sealed.commit, bytes(box)), 9, 1)


def test_a_box_that_is_not_what_was_committed_to_is_refused() -> None:
    sealer = cards()
    first, second = (sealer.seal(HiddenCard(DECK[c]), 9, 1) for c in (1, 2))
    with pytest.raises(SealError, match="E-SEAL-005"):
        sealer.open(Sealed(first.commit, second.box), 9, 1)


def test_a_key_shows_itself_to_nobody() -> None:
    assert repr(KEY) == str(KEY) == f"{KEY}" == "<table key>"
    assert "0001" not in repr(cards())
    with pytest.raises(TypeError):
        pickle.dumps(KEY)
    with pytest.raises(TypeError):
        copy.copy(KEY)


def test_nobody_else_looks_into_a_hidden_card() -> None:
    """``_card`` is read where it is defined and where it is sealed, nowhere else."""
    looking = []
    for path in sorted((ROOT / "controller").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if any(isinstance(n, ast.Attribute) and n.attr == "_card" and not _own(n) for n in
               ast.walk(tree)):  # fmt: skip
            looking.append(path.relative_to(ROOT).as_posix())
    assert looking == ["controller/history/sealing.py", "controller/rules/cards.py"]


def _own(node: ast.Attribute) -> bool:
    """A method of that name (``self._card(reading)``) is no look into a card."""
    return isinstance(node.value, ast.Name) and node.value.id == "self"


# --- the key file ------------------------------------------------------------------------------


def key_file(folder: Path, text: str | None = None, mode: int = 0o400) -> Path:
    path = folder / "table.key"
    path.write_text(key_line() if text is None else text)
    path.chmod(mode)
    return path


def test_a_key_file_is_loaded(tmp_path: Path) -> None:
    text = f"underfelt-table-key-1 {bytes(range(32)).hex()}\n"
    loaded = load_key(key_file(tmp_path, text))
    assert loaded.for_card("a", 1, 0) == KEY.for_card("a", 1, 0)


@pytest.mark.parametrize("mode", [0o600, 0o440, 0o404, 0o644, 0o500, 0o4400])
def test_a_key_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(TableKeyError, match="E-SEAL-002") as refused:
        load_key(key_file(tmp_path, mode=mode))
    assert refused.value.exit_code == 77
    assert f"{mode:04o}" in str(refused.value)


def test_a_credential_may_show_its_access_list_and_belong_to_root(tmp_path: Path) -> None:
    path = key_file(tmp_path, mode=0o440)
    load_key(path, credentials=tmp_path)
    with pytest.raises(TableKeyError, match="E-SEAL-002"):
        load_key(path, credentials=tmp_path / "elsewhere")


def test_somebody_elses_key_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = key_file(tmp_path)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(TableKeyError, match=f"owner {owner}.*E-SEAL-002"):
        load_key(path)


@pytest.mark.parametrize(
    "text", ["", "secret", "underfelt-table-key-1 00ff\n", f"other-word-1 {'00' * 32}\n"]
)
def test_a_file_that_is_no_key_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(TableKeyError, match="E-SEAL-003") as refused:
        load_key(key_file(tmp_path, text))
    assert refused.value.exit_code == 78
    assert "00ff" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_no_file_and_a_link_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableKeyError, match="E-SEAL-001") as refused:
        load_key(tmp_path / "none")
    assert refused.value.exit_code == 66
    (tmp_path / "link").symlink_to(key_file(tmp_path))
    with pytest.raises(TableKeyError, match="E-SEAL-001"):
        load_key(tmp_path / "link")
