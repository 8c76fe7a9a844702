"""Language files: complete, in twenty columns, refused with key and reason; line 4 in none."""

from __future__ import annotations

from pathlib import Path

import pytest

import controller.table
from controller.config.options import LANGUAGES
from controller.table.texts import BUILT_IN, SECTIONS, LanguageError, Texts, parse_texts, widest_of
from drivers.hd44780.codec import code_of
from drivers.orders import Order
from drivers.readings import Reading
from tests.clauses.tables import table
from tests.controller.table.console_player import ENGLISH, Table, console_player
from tests.controller.table.test_table_any_round import WAGERS

FOLDER = Path(controller.table.__file__).parent / "texts"
ENGLISH_FILE = (FOLDER / "en.toml").read_text("utf-8")
GERMAN_FILE = (FOLDER / "de.toml").read_text("utf-8")
GERMAN = parse_texts(GERMAN_FILE, ENGLISH)


def test_every_file_is_built_in_and_every_built_in_has_a_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(BUILT_IN) == set(LANGUAGES)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_language_is_complete_and_the_display_can_show_it(name: str) -> None:
    texts = parse_texts((FOLDER / f"{name}.toml").read_text("utf-8"), ENGLISH)
    for section in SECTIONS:
        assert texts[section].keys() == ENGLISH[section].keys()
        for key in texts[section]:
            shown = widest_of(texts, section, key)
            assert len(shown) <= 20, (section, key, shown)
            assert all(code_of(character) is not None for character in shown)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_card_that_lies_closed_is_asked_for_in_the_same_words_as_an_open_one(name: str) -> None:
    texts = parse_texts((FOLDER / f"{name}.toml").read_text("utf-8"), ENGLISH)
    assert texts["arg"]["hidden card"] == texts["arg"]["card"]


def test_german_is_german() -> None:
    same = [k for s in ("ask", "notice", "wrong", "refused", "state") for k in GERMAN[s]
            if GERMAN[s][k] == ENGLISH[s][k]]  # fmt: skip
    assert same == ["settle"], "which is the name of a hand"


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ('"open" = "SETZEN EROEFFNEN"\n', "", "ask.open", 'missing; expected a text for "OPEN THE'),
        ("[word]\n", "[word]\nseet = 'BOX'\n", "word.seet", "no such text; expected the keys"),
        ('"BITTE SETZEN"', '"BITTE SETZEN SIE JETZT"', "ask.place bets", "22 columns as"),
        ('"BITTE SETZEN"', '""', "ask.place bets", '"": expected letters'),
        ('"BITTE SETZEN"', '"BITTE SETZEN \u00dc"', "ask.place bets", "of ASCII"),
        ('"BITTE SETZEN"', "3", "ask.place bets", "3: expected a text"),
        ('"LESE DIE JETONS"', '"LESE {spot}"', "ask.sweeping", "expected no {field}"),
        ('"BOX {seat}: ZU SPAET"', '"ZU SPAET"', "notice.late", "expected {seat}, each once"),
        ('"BOX {seat}: ZU SPAET"', '"BOX {seat!r}"', "notice.late", "expected {seat}, each once"),
        ('"BOX {seat}: ZU SPAET"', '"{seat}{seat}"', "notice.late", "expected {seat}, each once"),
        ('"BOX {seat}: ZU SPAET"', '"BOX {seat"', "notice.late", "expected {seat}, each once"),
        ('"BEREIT"', '"ZWISCHEN DEN SPIELEN"', "state.between rounds", "expected at most 12"),
        ('answers = "WAHL"', 'answers = "ANTWORTE"', "word.answers", "expected at most 20"),
        ("[deck]\n", "[deks]\n", "deks", "no such section; expected [state]"),
        ("[state]", "[state", "file", "expected TOML"),
    ],
)
def test_a_language_file_with_a_flaw_is_refused(old: str, new: str, key: str, said: str) -> None:
    broken = GERMAN_FILE.replace(old, new, 1)
    assert broken != GERMAN_FILE
    with pytest.raises(LanguageError) as refused:
        parse_texts(broken, ENGLISH)
    told = dict(refused.value.problems)
    assert said in told[key]


def test_every_flaw_is_told_at_once() -> None:
    broken = GERMAN_FILE.replace('"cut" = ', '"cutt" = ').replace('door = "', 'deur = "')
    with pytest.raises(LanguageError) as refused:
        parse_texts(broken, ENGLISH)
    assert [key for key, _ in refused.value.problems] == ["ask.cut", "ask.cutt"]


def test_a_section_that_is_no_table_is_refused() -> None:
    with pytest.raises(LanguageError, match=r"word: missing; expected \[word\]"):
        parse_texts("word = 3\n")


class Recorded(Table):
    """Keeps what was fed, so that another table can be fed the same."""

    def __post_init__(self) -> None:
        self.fed: list[tuple[Reading, int]] = []
        super().__post_init__()

    def feed(self, reading: Reading) -> list[Order]:
        self.fed.append((reading, self.now_us))
        return super().feed(reading)


@pytest.mark.parametrize("game", ["MBS3", "PP6", "NSW", "MEGA"])
def test_the_same_round_in_german_has_the_same_fourth_line_and_the_same_orders(game: str) -> None:
    croupier = table(game)
    hand = console_player(croupier, WAGERS[game])
    hand.table = told = Recorded(croupier.state)
    hand.play()
    english, _ = fed_again(told, ENGLISH)
    german, other = fed_again(told, GERMAN)
    assert [lines[3:] for lines in german] == [lines[3:] for lines in english]
    assert other.core.state == told.core.state
    assert any(lines[0].startswith("BEREIT") for lines in german)
    assert any(lines[1].startswith("BOX") for lines in german if lines)


def fed_again(told: Recorded, texts: Texts) -> tuple[list[tuple[str, ...]], Table]:
    """The prompts of a table that hears the same."""
    table_ = Table(told.state, register=told.register)
    table_.core.configure(texts, table_.core.options)
    prompts = []
    for reading, now_us in told.fed:
        table_.core.take(reading, now_us)
        prompts.append(table_.core.prompt_now())
    return prompts, table_
