"""A search of everything outside a real table's process, while cards are hidden, finds none.

Files, journal bodies, frame log, service socket, log, notify socket, standard streams, the bytes on
every wire and what every display shows. The search itself is shown to find each form of a card in
noise, and a daemon that leaks everywhere is found out everywhere.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hw_sim.devices import cdp
from hw_sim.scenario import card_byte
from tests.hidden.process import Missed, Searched, needles_of, trace, traced
from tests.hidden.search import Channel, Needle, needles, search

HIDDEN = ["Jd", "9s", "Th", "Jc", "3h", "5h"]
PAYLOAD = bytes((3, 0, 0, 0, card_byte("Th"), 0, 99, 0))
FRAME = cdp.encode(cdp.Frame(cdp.SHOE, cdp.CARD, cdp.WANTS_ACK, 5, PAYLOAD))

WORDS = (
    b"next: Th",
    b'{"card": "Th"}',
    b"SEAT 2  TH",
    "T♥".encode(),
    "♥10".encode(),
    b"(10h)",
    b"the ten of Hearts",
    b"9sThJc",
    b'{"card": 34}',
    b'{"next_card":"0x2a"}',
    b'"drawn": [31, 34, 36]',
    b"57 42 11",
)
"""In the records 9s Th Jc are 31, 34, 36; to the device 57, 42, 11 (hex 39, 2A, 0B)."""
BYTES = (
    FRAME,
    FRAME[:-1].hex().encode(),
    b"03 00 00 00 2A 00 63 00",
    b"AwAAACoAYwA=",
    b"xAwAAACoAYwA",
    bytes((37, 31, 34, 36, 6)),
    b"1b392a0b23",
)
"""Frame and payload; then Jd 9s Th Jc 3h in a row."""


def wanted() -> list[Needle]:
    return needles(HIDDEN, [FRAME])


@pytest.mark.parametrize("form", WORDS)
def test_every_word_for_a_card_is_found_in_text(form: bytes) -> None:
    around = random.Random(7).randbytes(4000).hex().encode()
    assert search([Channel("c", around + b" " + form + b" " + around, True)], wanted())


@pytest.mark.parametrize("form", BYTES)
@pytest.mark.parametrize("text", [True, False])
def test_frames_and_rows_of_cards_are_found_anywhere(form: bytes, text: bool) -> None:
    noise = random.Random(8).randbytes(4000)
    assert search([Channel("c", noise + form + noise, text)], wanted())


def test_noise_holds_no_card() -> None:
    """What a table writes: digests in hex, sealed bytes, numbers, public cards, hours of it."""
    rng = random.Random(9)
    digests = " ".join(rng.randbytes(8).hex() for _ in range(20_000))
    numbers = ", ".join(str(rng.randrange(60)) for _ in range(2_000))
    public = '{"card":"Qs","index":34,"cards":52,"what":"hand opened"} TcTd 9hs Ths 110h'
    channels = [
        Channel("sealed", rng.randbytes(4 << 20), False),
        Channel("digests", digests.encode(), True),
        Channel("numbers", numbers.encode(), True),
        Channel("public", public.encode(), True),
    ]
    assert search(channels, wanted()) == {}


# --- the real process --------------------------------------------------------------------------


DEALING, FIRST, SECOND, PAYING = "dealing", "first decision", "second decision", "settlement"
DEALT = ["Jd", "9s", "Td", "Jc", "3h", "5h"]


def test_a_search_at_every_stage_of_a_round_finds_no_hidden_card(tmp_path: Path) -> None:
    again(round_with_a_closed_middle_card, tmp_path)


def again(play: Callable[[Path], None], folder: Path) -> None:
    """Once more if the people could not follow; what is found counts whenever it is found."""
    for number in range(3):
        with suppress(Missed):
            play(folder / f"run{number}")
            return
    pytest.fail("the machine is too busy for people to play")


def round_with_a_closed_middle_card(run: Path) -> None:
    """PP6 with nobody on the 6 Card Bonus: 9s and 5h are turned, Jc in the middle stays closed."""
    with Searched(run, game="PP6") as table:
        table.keeper.start()
        table.until_phase("between rounds")
        table.do("dealer opens", "bets are open")
        table.do(f"deck {' '.join(DEALT)}")
        table.do("seat 6 bets 5.00 on 1 $")
        table.do("dealer closes")
        while len(table.dealt) < 3:
            table.do("dealer plays 1", DEALING)
        assert table.dealt == DEALT[:3]
        assert table.found(public=()) == {}
        table.do("dealer until COMM1", FIRST)
        assert table.dealt == DEALT
        table.logged_by_now()
        assert table.found(public=()) == {}
        table.do("dealer until COMM2", SECOND)
        assert table.found(public=("9s",)) == {}
        table.do("dealer until SHOW", PAYING)
        assert table.found(public=("9s", "5h")) == {}
        table.do("dealer plays on", "between rounds")
        table.logged_by_now()
        assert table.found(public=("9s", "5h", "Jd", "Td", "3h")) == {}
        told = table.found(public=("9s", "5h"))
        shell = {"screen round", "shell round", "shell device shoe"}
        opened = {"file journal/00000001.ufj", "journal", "changes", *shell}
        assert set(told) - {"screen device shoe"} == opened  # it does see what is open
        table.keeper.stop()
        assert table.keeper.exits == [(0, "")]


LEAKING = {
    "file notes.txt", "file stdout", "file stderr", "file frames/frames-00000001.bin",
    "frame log shoe", "journal", "file journal/00000001.ufj", "status", "changes", "metrics",
    "counters", "identity", "notify", "journald", "line shoe", "prompt", "meter", "sign",
}  # fmt: skip


def test_a_daemon_that_leaks_everywhere_is_found_out_everywhere(tmp_path: Path) -> None:
    again(one_card_told_to_everybody, tmp_path)


def one_card_told_to_everybody(run: Path) -> None:
    with Searched(run, game="MBS3", leaking=True) as table:
        table.keeper.start()
        table.until_phase("between rounds")
        table.do("dealer opens", "bets are open")
        table.do("deck Jd 9s Td")
        table.do("seat 2 bets 10.00 on 1 2 $")
        table.do("dealer closes")
        while not table.dealt:
            table.do("draw")
        table.logged_by_now()
        table.until(lambda: "Jd" in table.keeper.notified.heard[-1], "told to the notify socket")
        table.until(lambda: "Jd" in table.prompt(), "told at the prompt")
        assert LEAKING - set(table.found(public=())) == set()


# --- every game, from the first card to the last -----------------------------------------------

ROUNDS = {
    "mbs3-plain": ("7h", "9h", ()),
    "pp6-plain": ("9s", "4c", ()),
    "nsw-shoe-plain": ("Js", "4c", ()),
    "nsw-shuffler-plain": ("Js", "4c", ("9c",)),
    "nsw-sanction": ("Js", "4c", ("Kc", "Kd", "8h")),
    "mega-plain": ("2h", "Qs", ()),
}
"""First and second community card, and what nobody ever sees. In Ricochet every card is open."""


def public(name: str, status: Mapping[str, Any], dealt: list[str]) -> list[str]:
    """What may be outside when this was the status: in doubt the more. The record that opens a
    card is on disk a moment before the status says so."""
    first, second, never = ROUNDS[name]
    phase, keys = status.get("phase"), str((status.get("prompt") or [""])[-1]).split()
    magic = ["Qs"] if name == "mega-plain" else []
    if phase in ("bets are closed", DEALING) or (phase == FIRST and keys[:1] == ["RIDE"]):
        return magic
    if phase == FIRST or (phase == SECOND and keys[:1] == ["RIDE"]):
        return [first, *magic]
    return [card for card in (*dealt, first, second) if card not in never]


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUNDS)
def test_while_people_play_no_search_finds_a_hidden_card(name: str, tmp_path: Path) -> None:
    """At every new prompt, and over every system call that took bytes out."""
    # People miss a key if the machine is too busy, or play faster than it searches; what was
    # found until then counts all the same.
    assert any(play_and_search(name, tmp_path / f"run{number}") for number in range(3))


def play_and_search(name: str, run: Path) -> bool:
    """Did the people play to the end?"""
    searched: set[str] = set()
    seen: list[tuple[float, dict[str, Any]]] = []
    with Searched(run, name) as table:
        table.keeper.under = traced(run)
        table.keeper.start()
        while table.sim.poll() is None:
            table.keeper.look()
            seen.append((time.time(), table.status()))
            if table.dealt and seen[-1][1] != seen[-2][1]:
                assert table.found(lambda: _now(table, name, searched)) == {}
        print(*table.sim.communicate())
        told, dealt = table.card_frames(), table.dealt
        table.keeper.stop()
        assert table.keeper.exits == [(0, "")]
    latest = {tuple(public(name, status, dealt)): at_s for at_s, status in seen}
    played = table.sim.returncode == 0 and len(latest) >= 3
    for known, at_s in latest.items():
        hidden = [card for card in dealt if card not in known]
        assert search(trace(run, at_s), needles_of(hidden, told)) == {}, known
    calls = {channel.name.split()[0] for channel in trace(run, time.time())}
    assert {"write", "pwrite64", "sendto"} <= calls
    return played and {DEALING, FIRST, SECOND, PAYING} <= searched


def _now(table: Searched, name: str, searched: set[str]) -> list[str]:
    status = table.status()
    searched.add(str(status.get("phase", "")))
    return public(name, status, table.dealt)
