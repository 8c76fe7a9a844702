"""Every guided test passes on a healthy table and names the fault of a sick one."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest

from controller.shell.testing.antennas import AntennaTest
from controller.shell.testing.cards import CODES, DeckTest, PatternTest
from controller.shell.testing.keys import KeyTest
from controller.shell.testing.lines import ChallengeTest, LoopTest
from controller.shell.testing.walks import Displays, Walk, display_pictures, lamp_pictures
from controller.table.spots import WAGERS
from drivers.mcp23017.keys import KEYS_1, KEYS_2
from drivers.orders import ShowMagicCard, ShowMeter, ShowSign
from hw_sim.clock import MS, SECOND
from tests.sim.faults_bench import LOCKED, Bench
from tests.sim.guided import TestBench, failed, passed, yes

CHIPS = (
    "lamps-1", "lamps-2", "magic", "meter-1", "meter-2", "meter-3", "prompt",
)  # fmt: skip
SHOWN: frozenset[type] = frozenset((ShowMeter, ShowMagicCard, ShowSign))


@pytest.fixture
def bench() -> TestBench:
    return TestBench().in_test_mode()


# --- antennas ------------------------------------------------------------------------------------


def antenna_test(bench: Bench, seat: int | None) -> AntennaTest:
    serials = {line.name: line.serial for line in bench.layout.lines}
    return AntennaTest(bench.layout.spots, seat, lambda _uid: "5.00 cash, in play", serials)


def technician(bench: Bench, step: dict[str, Any]) -> None:
    """Puts a chip where he is told, and takes it away."""
    if step["kind"] != "ask":
        return
    seat, name = step["spot"].removeprefix("seat ").split(", ")
    spot = next((spot for spot, said in WAGERS.items() if said == name), name)
    felt = bench.sim.felt
    if step["text"].startswith("put"):
        felt.place(int(seat), spot, felt.rack.pay(500))
    else:
        felt.rack.put(felt.take(int(seat), spot))


def test_antennas_of_a_healthy_seat_pass_with_a_certificate(bench: TestBench) -> None:
    lying = bench.sim.felt.rack.pay(2_500)
    bench.sim.felt.place(6, "1", lying)  # a chip that was there before is no matter
    done = bench.tried(antenna_test(bench, 3), technician)
    spots = sorted({p[1] for p in bench.layout.spots.values() if p[0] == 3})
    assert [text.split(":")[0] for text in passed(done)] == [f"seat 3, {WAGERS[s]}" for s in spots]
    assert failed(done) == []
    certificate = done.certificate()
    assert certificate["passed"] is True
    first = certificate["results"][0]
    assert (first["reader"], first["antenna"]) == ("0A1B2C01", "chips-1/3/3")
    assert first["uid"].startswith("E00401")
    assert first["text"] == "seat 3, wager $: read 6 of 6 times"


def test_a_dead_antenna_is_named(bench: TestBench) -> None:
    bench.fault("antenna 3 2")
    done = bench.tried(antenna_test(bench, 3), technician)
    (text,) = failed(done)
    assert text.startswith("seat 3, wager 2: the antenna cannot be read (E-")
    assert len(passed(done)) == 2
    assert not done.passed


def test_swapped_antennas_are_named_with_each_other(bench: TestBench) -> None:
    bench.fault("crossed 3 1 4 2")
    done = bench.tried(antenna_test(bench, 3), technician)
    (text,) = failed(done)
    assert text == (
        "seat 3, wager 1: read at seat 4, wager 2 (chips-1/4/2) instead: "
        "another spot, or these antennas are swapped"
    )
    bench.fault("crossed 3 1 4 2")
    assert bench.tried(antenna_test(bench, 3), technician).passed


def test_a_chip_at_the_edge_of_its_field_is_weak(bench: TestBench) -> None:
    bench.fault("flap 3 1")
    done = bench.tried(antenna_test(bench, 3), technician)
    (text,) = failed(done)
    assert re.fullmatch(r"seat 3, wager 1: weak: read \d+ of 20 times", text)


def test_a_field_that_reaches_its_neighbour_is_seen(bench: TestBench) -> None:
    def reaches(bench: Bench, step: dict[str, Any]) -> None:
        technician(bench, step)
        felt = bench.sim.felt
        chips = felt.spots.get((3, "1"), [])
        felt.copied = {(3, "2"): chips[0].uid} if chips else {}

    done = bench.tried(antenna_test(bench, 3), reaches)
    (text,) = failed(done)
    assert text == "seat 3, wager 1: read 6 of 6 times, but also at seat 3, wager 2 (chips-1/3/2)"


def test_nobody_puts_a_chip(bench: TestBench) -> None:
    done = bench.tried(antenna_test(bench, 3))
    assert [text.split(": ")[1] for text in failed(done)] == ["no chip was read"] * 3


# --- cards ---------------------------------------------------------------------------------------


def draws(bench: Bench, step: dict[str, Any]) -> None:
    """One card after the other, as the gate lets them through."""
    shoe = bench.sim.shoe
    assert shoe is not None
    if step["kind"] == "ask":
        bench.clock.after(300 * MS, lambda: _draw(bench))


def _draw(bench: Bench) -> None:
    shoe = bench.sim.shoe
    assert shoe is not None
    shoe.draw()
    guided = getattr(bench, "guided", None)
    if guided is not None and not guided.done and not guided.question:
        bench.clock.after(300 * MS, lambda: _draw(bench))


def loaded(bench: TestBench, cards: list[int]) -> TestBench:
    assert bench.sim.shoe is not None
    assert bench.sim.shoe.load(cards)
    bench.run_for(SECOND)
    return bench


def test_a_known_deck_is_read_card_by_card(bench: TestBench) -> None:
    done = loaded(bench, list(CODES)).tried(DeckTest("shoe", in_order=True), draws)
    assert passed(done) == ["all 52 cards were read in order"]
    assert failed(done) == []
    assert [s["card"] for s in done.steps if s["kind"] == "seen"][:3] == ["Ac", "2c", "3c"]
    assert bench.sim.shoe is not None
    assert not bench.sim.shoe.gate_open, "locked again"


def test_a_reader_that_takes_one_card_for_another(bench: TestBench) -> None:
    cards = list(CODES)
    cards[6] = 0x27  # the seven of hearts where the seven of clubs should be
    done = loaded(bench, cards).tried(DeckTest("shoe", in_order=True), draws)
    assert failed(done)[0] == "card 7: 7h, 7c expected"
    assert "card 33: 7h, 7h expected; it came before" not in failed(done)
    assert failed(done)[-1] == "1 of 52 cards never read: 7c"


def test_a_reader_that_cannot_read_a_card(bench: TestBench) -> None:
    bench.fault("misread")
    done = loaded(bench, list(CODES)).tried(DeckTest("shoe", in_order=True), draws)
    assert failed(done) == ["card 1: not read, Ac expected", "1 of 52 cards never read: Ac"]


def test_a_reader_that_is_sure_and_wrong(bench: TestBench) -> None:
    bench.fault("mistake 7c 7h")
    done = loaded(bench, list(CODES)).tried(DeckTest("shoe", in_order=True), draws)
    assert failed(done) == [
        "card 7: 7h, 7c expected",
        "1 of 52 cards never read: 7c",
    ]
    bench.fault("mistake 7c 7h off")
    assert loaded(bench, list(CODES)).tried(DeckTest("shoe", in_order=True), draws).passed


def test_two_cards_at_once_take_two_places(bench: TestBench) -> None:
    bench.fault("doublefeed")
    done = loaded(bench, list(CODES)).tried(DeckTest("shoe", in_order=True), draws)
    assert failed(done) == [
        "card 1: two cards at once, Ac 2c expected",
        "2 of 52 cards never read: Ac 2c",
    ]


def test_two_cards_in_the_wrong_order(bench: TestBench) -> None:
    cards = list(CODES)
    cards[9], cards[10] = cards[10], cards[9]
    done = loaded(bench, cards).tried(DeckTest("shoe", in_order=True), draws)
    assert failed(done) == ["card 10: Jc, Tc expected", "card 11: Tc, Jc expected"]


def test_a_pattern_is_proved_by_where_cards_land(bench: TestBench) -> None:
    def person(bench: Bench, step: dict[str, Any]) -> Any:
        draws(bench, step)
        return (
            "yes" if step.get("place") == "dealer" and step["text"].startswith("card 8") else None
        )

    test = PatternTest("shoe", (1, 2, 1, 2, 1, 2, 0, 0), [1] * 8)
    done = loaded(bench, list(CODES)).tried(test, person)
    seen = [step["text"] for step in done.steps if step["kind"] == "seen"]
    assert seen[:3] == [
        "card 1: Ac to seat 1, card 1",
        "card 2: 2c to seat 2, card 1",
        "card 3: 3c to seat 1, card 2",
    ]
    assert seen[-1] == "card 8: 8c to dealer, card 2"
    assert done.passed


# --- lamps, displays, keys -----------------------------------------------------------------------


def states(bench: Bench) -> dict[str, tuple[str, str]]:
    return {
        name: (told[-1].state.value, "" if (why := told[-1].reason) is None else why.code)
        for name, told in bench.states.items()
    }


def test_lamps_one_by_one(bench: TestBench) -> None:
    lit: list[list[str]] = []

    def person(bench: Bench, step: dict[str, Any]) -> Any:
        if step["kind"] == "ask":
            lit.append(bench.sim.lamps())
        return yes(bench, step)

    done = bench.tried(Walk("lamp walk", lamp_pictures(7, CHIPS), states(bench)), person)
    assert len(passed(done)) == 9
    assert failed(done) == []
    assert [row.index("open") for row in lit[:7]] == list(range(7))


def test_a_dead_lamp_driver_and_a_lamp_that_nobody_sees(bench: TestBench) -> None:
    bench.fault("absent lamps-2")

    def person(_bench: Bench, step: dict[str, Any]) -> Any:
        if step["kind"] != "ask":
            return None
        return "no" if "seat 2" in step["text"] else "yes"

    done = bench.tried(Walk("lamp walk", lamp_pictures(7, CHIPS), states(bench)), person)
    assert failed(done)[0] == "lamp of seat 2: read back, but not seen"
    assert len(failed(done)) == 6
    assert all("not read back from lamps-2 (E-" in text for text in failed(done)[1:])


def display_walk(bench: Bench) -> Walk:
    have = Displays(CHIPS, ("sign",), SHOWN)
    return Walk("display walk", display_pictures(have), states(bench))


def test_displays_show_known_pictures(bench: TestBench) -> None:
    seen: list[tuple[str, str | None]] = []

    def person(bench: Bench, step: dict[str, Any]) -> Any:
        if step["kind"] == "ask":
            seen.append((bench.sim.meter().strip(), bench.sim.magic()))
        return yes(bench, step)

    done = bench.tried(display_walk(bench), person)
    assert failed(done) == []
    assert len(passed(done)) == 7
    assert seen[0][0] == "888888888888"
    assert [card for _, card in seen[2:4]] == ["As", "7h"]


def test_a_dead_display_is_named(bench: TestBench) -> None:
    bench.fault("dead meter-2")
    done = bench.tried(display_walk(bench), yes)
    assert [text.split(":")[0] for text in failed(done)] == [
        "meter 888888888888",
        "meter 0123456789",
    ]
    assert "not read back from meter-2 (E-DSP-002)" in failed(done)[-1]


def test_a_dark_display_is_found_by_who_looks(bench: TestBench) -> None:
    """Its memory is right: only eyes can tell."""
    bench.fault("dark meter-2")

    def person(bench: Bench, step: dict[str, Any]) -> Any:
        if step["kind"] != "ask":
            return None
        asked = step["text"].split(" show ")[1].split("?")[0]
        return "yes" if asked in (bench.sim.meter().strip(), bench.sim.magic()) else "no"

    done = bench.tried(display_walk(bench), person)
    assert failed(done)[:2] == [
        "meter 888888888888: read back, but not seen",
        "meter 0123456789: read back, but not seen",
    ]
    assert [text.split(":")[0] for text in passed(done)] == ["magic card As", "magic card 7h"]


def test_a_silent_sign_is_named(bench: TestBench) -> None:
    bench.fault("mute sign")
    done = bench.tried(display_walk(bench), yes)
    assert len(failed(done)) == 2
    assert all("not read back from sign" in text for text in failed(done))


def presses(caps: tuple[str, ...]) -> Any:
    def person(bench: Bench, step: dict[str, Any]) -> None:
        if step["kind"] == "ask":
            for number, cap in enumerate(caps):
                bench.clock.after(
                    (number + 1) * 400 * MS,
                    lambda cap=cap: bench.sim.keyboard.press(cap),  # type: ignore[misc]
                )

    return person


CAPS = (*KEYS_1, *KEYS_2)


def test_every_key(bench: TestBench) -> None:
    done = bench.tried(KeyTest(CAPS), presses(CAPS))
    assert passed(done) == ["all 28 keys were pressed"]


def test_a_stuck_key_and_a_forgotten_one_are_listed(bench: TestBench) -> None:
    bench.fault("heldkey RIDE")
    bench.run_for(SECOND)
    others = tuple(cap for cap in CAPS if cap not in ("RIDE", "7"))
    done = bench.tried(KeyTest(CAPS), presses(others))
    assert failed(done) == ["never pressed, stuck or dead: 7 RIDE"]


# --- lines ---------------------------------------------------------------------------------------

PATTERN = b"UNDERFELT 0123456789ABCDEF "


def test_a_loopback_plug_gives_every_byte_back(bench: TestBench) -> None:
    bench.fault("loopback sign")
    assert bench.tried(LoopTest("sign", "unknown", PATTERN)).passed


def test_an_open_loopback_and_a_device_that_answers(bench: TestBench) -> None:
    bench.fault("mute shoe")
    bench.run_for(2 * SECOND)
    done = bench.tried(LoopTest("shoe", "unknown", PATTERN))
    assert failed(done) == ["shoe: nothing came back: no plug, a broken cable, or a dead port"]
    ready = bench.tried(LoopTest("sign", "ready", PATTERN))
    assert failed(ready) == [
        "sign: a device answers on this port: take it off, and put the plug in"
    ]


def challenge(bench: TestBench, nonce: bytes, image: bytes) -> ChallengeTest:
    digest = hashlib.sha256(nonce + image).digest()[:16]
    counters = bench.rig.lines["shoe"].counters
    return ChallengeTest("shoe", nonce, digest, lambda: counters["challenges passed"])


def test_row_68_a_changed_program_of_a_card_device_locks_it(bench: TestBench) -> None:
    """Fault row 68: a fresh nonce; another digest locks; a stored answer is of no use."""
    shoe = bench.sim.shoe
    assert shoe is not None
    released = shoe.image
    proved = bench.tried(challenge(bench, bytes(range(16)), released))
    assert proved.passed
    assert "the program is the released one" in passed(proved)[0]
    # Somebody changes the program. What it answered before does not help it: the nonce is another.
    bench.fault("firmware shoe")
    assert shoe.image != released
    done = bench.tried(challenge(bench, bytes(range(1, 17)), released))
    assert failed(done) == ["shoe: challenge answered wrongly; it is locked (E-CDP-024)"]
    assert bench.states["shoe"][-1].state is LOCKED
    bench.run_for(10 * SECOND)
    assert bench.states["shoe"][-1].state is LOCKED, "and stays so"


def test_row_68_a_card_device_that_does_not_answer_is_locked(bench: TestBench) -> None:
    shoe = bench.sim.shoe
    assert shoe is not None
    shoe.answers_challenges = False
    done = bench.tried(challenge(bench, bytes(16), shoe.image))
    assert failed(done) == ["shoe: challenge not answered; it is locked (E-CDP-024)"]
