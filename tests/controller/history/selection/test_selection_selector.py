"""The selector: interrupted anywhere it never draws again; a lost seed is never replaced."""

from __future__ import annotations

import ast
import json
import secrets
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import controller.history.selection as package
from controller.history.selection.entries import SelectionError, decode
from controller.history.selection.selector import Revealed, Selector
from record import verify_draws
from record.draw import Picks
from tests.controller.history.selection.desk import JOURNAL_ID, ONE, Source, seal, selector, unseal

SEATS = (1, 2, 4, 6, 7)


def whole(round_no: int, journal: list[bytes], source: Source) -> Picks:
    """One round through one selector that lives on."""
    made = selector(journal, source)
    journal += made.commit(round_no, SEATS, ONE, ONE).bodies
    revealed = made.reveal(round_no)
    journal += revealed.bodies
    return revealed.picks


def test_a_round_is_committed_and_revealed() -> None:
    journal: list[bytes] = []
    drawn = whole(1, journal, Source())
    commit, reveal = (json.loads(body) for body in journal)
    assert commit["what"] == "committed"
    assert len(commit["committed"]) == 64
    assert commit["seats"] == list(SEATS)
    seed = Source()(32).hex()
    assert reveal["seed"] == seed
    assert seed not in journal[0].decode()
    assert drawn.magic_card is not None
    assert drawn.lucky_seat in SEATS
    assert verify_draws.check(JOURNAL_ID, list(enumerate(journal, 1))).problems == []


def test_interrupted_at_every_step_it_never_draws_again() -> None:
    """Two rounds, killed after any number of durable bodies; what was durable is the answer."""
    unbroken: list[bytes] = []
    source = Source()
    expected = [whole(1, unbroken, source), whole(2, unbroken, source)]
    for survived in range(len(unbroken) + 1):
        journal = unbroken[:survived]
        # The daemon starts again and the effects of its last facts run again, all of them.
        source = Source(start=2 * sum(b'"committed":' in b for b in journal))
        made = selector(journal, source)
        got = []
        for round_no in (1, 2):
            if made.last_round > round_no:
                got.append(expected[round_no - 1])
                continue
            before = source.taken
            committed = made.commit(round_no, SEATS, ONE, ONE)
            known = [b for b in journal if b'"committed":' in b]
            if any(json.loads(b)["round"] == round_no for b in known):
                assert committed.bodies == ()
                assert source.taken == before, "a seed was taken for a round that had one"
            journal += committed.bodies
            revealed = made.reveal(round_no)
            journal += revealed.bodies
            got.append(revealed.picks)
        assert got == expected, f"after {survived} bodies"
        assert journal == unbroken, f"after {survived} bodies"


@given(st.lists(st.sampled_from(["commit", "reveal", "withdraw", "kill", "next"]), max_size=30))
def test_whatever_happens_each_round_has_one_draw(steps: list[str]) -> None:
    journal: list[bytes] = []
    source, made, round_no = Source(), selector([]), 1
    answers: dict[int, Revealed] = {}
    digests: dict[int, str] = {}
    for step in steps:
        if step == "kill":
            made = selector(journal, source)
        elif step == "next":
            round_no += 1
        elif step == "commit":
            committed = made.commit(round_no, SEATS, Fraction(1, 2), Fraction(1, 3))
            journal += committed.bodies
            assert digests.setdefault(round_no, committed.digest) == committed.digest
        elif round_no not in digests:
            with pytest.raises(SelectionError, match="never committed"):
                made.reveal(round_no)
        else:
            ended = made.reveal(round_no) if step == "reveal" else made.withdraw(round_no, "void")
            journal += ended.bodies
            first = answers.setdefault(round_no, ended)
            assert (ended.picks, ended.lost) == (first.picks, False)
    report = verify_draws.check(JOURNAL_ID, list(enumerate(journal, 1)))
    assert report.problems == []
    assert report.committed == len(digests)


def test_a_repeated_request_with_other_seats_changes_nothing() -> None:
    made = selector([])
    first = made.commit(1, (1, 2), ONE, ONE)
    again = made.commit(1, (5, 6, 7), Fraction(1, 9), Fraction(0))
    assert (again.digest, again.bodies) == (first.digest, ())
    assert made.reveal(1).picks.lucky_seat in (1, 2)


def test_a_round_left_open_is_withdrawn_by_the_next() -> None:
    made = selector([])
    journal: list[bytes] = []
    journal += made.commit(1, SEATS, ONE, ONE).bodies
    second = made.commit(2, SEATS, ONE, ONE)
    journal += second.bodies
    assert [json.loads(b)["what"] for b in journal] == ["committed", "withdrawn", "committed"]
    assert made.open_round == 2
    assert selector(journal).open_round == 2


def test_a_void_round_publishes_its_seed_and_draws_nothing() -> None:
    made = selector([])
    journal = list(made.commit(1, SEATS, ONE, ONE).bodies)
    ended = made.withdraw(1, "round void")
    journal += ended.bodies
    assert ended.picks == Picks(None, None)
    assert made.reveal(1) == Revealed(1, Picks(None, None), ())
    report = verify_draws.check(JOURNAL_ID, list(enumerate(journal, 1)))
    assert (report.problems, report.withdrawn) == ([], 1)


@pytest.mark.parametrize("broken", ["other key", "other seed", "short"])
def test_a_seed_that_cannot_be_opened_is_lost_and_never_replaced(broken: str) -> None:
    other = b"k" * 32
    bad = {
        "other key": lambda s: unseal(s, other),
        "other seed": lambda _s: bytes(range(32)),
        "short": lambda _s: b"",
    }[broken]
    first = selector([])
    journal = list(first.commit(1, SEATS, ONE, ONE).bodies)
    source = Source(start=100)
    made = Selector(JOURNAL_ID, source, seal, bad)
    for body in journal:
        made.replay(body)
    assert not made.opens()
    assert selector(journal).opens()
    ended = made.reveal(1)
    assert (ended.picks, ended.lost, source.taken) == (Picks(None, None), True, 100)
    journal += ended.bodies
    # The right key comes back too late: what is journalled stands.
    assert selector(journal).reveal(1) == Revealed(1, Picks(None, None), (), lost=True)
    report = verify_draws.check(JOURNAL_ID, list(enumerate(journal, 1)))
    assert [p.code for p in report.problems] == ["E-DRW-007"]


def test_a_stuck_source_does_not_draw() -> None:
    for stuck in (bytes, lambda n: bytes(range(n)), lambda n: b"\x01\x02" * (n // 2)):
        made = Selector(JOURNAL_ID, stuck, seal, unseal)
        with pytest.raises(SelectionError, match="E-SEL-005"):
            made.commit(1, SEATS, ONE, ONE)
        assert made.last_round == 0
    real = Selector(JOURNAL_ID, secrets.token_bytes, seal, unseal)
    assert real.commit(1, SEATS, ONE, ONE).bodies


def test_no_seed_in_memory_between_commitment_and_reveal() -> None:
    made = selector([])
    made.commit(1, SEATS, ONE, ONE)
    seed = Source()(32)
    held = repr([getattr(made, name) for name in ("_commit", "_end", "_journal_id")])
    assert seed.hex() not in held
    assert repr(seed) not in held


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{}", b"[1]", b'{"what":"other","round":1}',
        b'{"what":"lost","round":0,"why":"x"}', b'{"what":"lost","round":1,"why":""}',
        b'{"what":"lost","round":1,"why":"x","more":1}',
        b'{"what":"revealed","round":1,"seed":"00","magic_card":null,"lucky_seat":null}',
        b'{"what":"revealed","round":1,"seed":"' + b"00" * 32
        + b'","magic_card":"1s","lucky_seat":null}',
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_is_refused(body: bytes) -> None:
    with pytest.raises(SelectionError, match="E-SEL-001"):
        decode(body)


@pytest.mark.parametrize(
    ("key", "value"),
    [("seats", [2, 1]), ("seats", [1, 1]), ("seats", [8]), ("magic_rate", "3/2"),
     ("lucky_rate", "-1"), ("lucky_rate", "1/0"), ("v", 2), ("sealed", "abc"),
     ("committed", "AA" * 32), ("salt", "00")],
)  # fmt: skip
def test_a_commitment_that_cannot_be_is_refused(key: str, value: object) -> None:
    body = json.loads(selector([]).commit(1, SEATS, ONE, ONE).bodies[0])
    body[key] = value
    with pytest.raises(SelectionError, match="E-SEL-001"):
        decode(json.dumps(body).encode())


def test_a_journal_out_of_order_is_refused() -> None:
    made = selector([])
    one, two = made.commit(1, SEATS, ONE, ONE), made.commit(2, SEATS, ONE, ONE)
    with pytest.raises(SelectionError, match="E-SEL-002"):
        selector([*one.bodies, *one.bodies])
    with pytest.raises(SelectionError, match="E-SEL-002"):
        selector([two.bodies[1], *one.bodies])
    with pytest.raises(SelectionError, match="E-SEL-003"):
        selector([two.bodies[0]])


def test_the_selector_knows_no_dealt_card() -> None:
    """Of ours it imports the names of the cards and the root of the errors, nothing else."""
    seen = set()
    for path in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("controller"):
                seen.add(node.module)
                if node.module == "controller.rules.cards":
                    assert not {a.name for a in node.names} & {"HiddenCard", "reveal"}
    allowed = {"controller.rules.cards", "controller.rules.errors"}
    assert {m for m in seen if m and not m.startswith("controller.history.selection")} <= allowed
