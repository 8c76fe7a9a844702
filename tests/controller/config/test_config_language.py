"""A language file by path: part of the configuration, checked before anything starts."""

from __future__ import annotations

import pytest

from controller.cli import main
from controller.config.pending import PendingConfig
from controller.daemon.house_options import FOLDER, house_options, options_of
from controller.table.options import DEFAULTS
from record.kit.config import ConfigError
from tests.controller.config.conftest import Folder

GERMAN = (FOLDER / "de.toml").read_text("utf-8")


def with_language(folder: Folder, text: str, name: str = "house.toml") -> None:
    folder.write(text, name)
    folder.write(f'[display]\nlanguage = "{name}"\n', "conf.d/10.toml")


def test_the_defaults_of_configuration_and_table_core_are_the_same(folder: Folder) -> None:
    assert options_of(folder.load()) == DEFAULTS


def test_every_display_option_reaches_the_table_core(folder: Folder) -> None:
    folder.write(
        '[display]\nlanguage = "de"\ncurrency = "KD"\ndecimals = 3\ndecimal_point = ","\n'
        'thousands = "."\n', "conf.d/10.toml",
    )  # fmt: skip
    taken = house_options(folder.load())
    assert taken.texts["ask"]["place bets"] == "BITTE SETZEN"
    assert taken.options.amounts.on_sign(1_234_567) == "KD 1.234,567"


def test_a_language_file_is_read_from_the_site_files_folder(folder: Folder) -> None:
    with_language(folder, GERMAN.replace("BITTE SETZEN", "FAITES VOS JEUX"), "pit-3.toml")
    folder.write('[display]\nlanguage = "{table}.toml"\n', "conf.d/10.toml")
    assert house_options(folder.load()).texts["ask"]["place bets"] == "FAITES VOS JEUX"


def test_its_bytes_are_in_the_hash_and_change_between_rounds(folder: Folder) -> None:
    with_language(folder, GERMAN)
    running = folder.load()
    folder.write(GERMAN.replace("BITTE SETZEN", "BITTE  SETZEN"), "house.toml")
    loaded = folder.load()
    assert loaded.effective_hash != running.effective_hash
    pending = PendingConfig.between(running, loaded)
    assert [(c.key, c.when) for c in pending.changes] == [("display.language (content)", "round")]
    folder.write("", "conf.d/10.toml")
    gone = PendingConfig.between(running, folder.load())
    assert [c.key for c in gone.changes] == ["display.language"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"cut" = ', '"cutt" = ', 'house.toml: ask.cut: missing; expected a text for "CUT AND'),
        ("BITTE SETZEN", "B" * 21, 'house.toml: ask.place bets: "BBBBBBBBBBBBBBBBBBBBB": 21 col'),
    ],
)
def test_a_flaw_refuses_with_file_key_and_what_is_expected(
    folder: Folder, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with_language(folder, GERMAN.replace(old, new))
    with pytest.raises(ConfigError) as refused:
        house_options(folder.load())
    assert str(refused.value).splitlines()[0].startswith(f"{folder.path}/{said}")
    assert refused.value.code == "E-CFG-017"
    assert main(["config", "check", "--no-files", str(folder.site)]) == 78
    assert said in capsys.readouterr().err


def test_a_file_that_is_no_text_is_refused(folder: Folder) -> None:
    with_language(folder, GERMAN)
    (folder.path / "house.toml").write_bytes(b"[state]\n\xff")
    with pytest.raises(ConfigError, match=r"house\.toml: file: byte 8 is not UTF-8"):
        house_options(folder.load())


def test_a_file_that_changes_meanwhile_is_refused(folder: Folder) -> None:
    with_language(folder, GERMAN)
    config = folder.load()
    folder.write(GERMAN + "\n", "house.toml")
    with pytest.raises(ConfigError, match="changed while it was read"):
        house_options(config)
