"""Every clause has a test, every marker a clause, every rule a mutant, every page is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generate import PRINTED, manual_pages
from tests.conformance.clauses import PARTS, ROOT, load_clauses, load_pending, marked_tests
from tests.mutants.run import load_mutants, survivors

CLAUSES = {c.id: c for c in load_clauses()}


def test_all_clauses_of_the_books_are_kept() -> None:
    assert len(CLAUSES) == 361


def test_every_engine_clause_is_shown_by_a_test() -> None:
    shown = marked_tests()
    assert [c.id for c in CLAUSES.values() if c.role == "engine" and c.id not in shown] == []


def test_every_other_clause_is_shown_or_pending_with_a_named_part() -> None:
    shown, pending = marked_tests(), load_pending()
    open_ = [c for c in CLAUSES.values() if c.role != "info" and c.id not in shown]
    assert [c.id for c in open_ if c.id not in pending] == []


def test_nothing_is_pending_that_is_shown_or_that_the_engine_owns() -> None:
    shown, pending = marked_tests(), load_pending()
    assert [i for i in pending if i in shown or i not in CLAUSES] == []
    assert [i for i in pending if CLAUSES[i].role in ("engine", "info")] == []
    assert set(pending.values()) <= set(PARTS)


def test_every_marker_names_a_clause() -> None:
    assert [i for i in marked_tests() if i not in CLAUSES] == []


def test_every_engine_clause_can_be_switched_off() -> None:
    switched = {c for m in load_mutants() for c in m.clauses}
    assert [c.id for c in CLAUSES.values() if c.role == "engine" and c.id not in switched] == []
    assert [c for c in switched if c not in CLAUSES] == []


def test_the_mutants_of_a_clause_cover_all_its_tests() -> None:
    shown, mutants = marked_tests(), load_mutants()
    names = {t.rpartition("::")[2] for tests in shown.values() for t in tests}
    assert [t for m in mutants for t in m.tests if t not in names] == []
    missed = [
        (clause, test)
        for clause in sorted({c for m in mutants for c in m.clauses})
        for test in shown.get(clause, [])
        if not any(clause in m.clauses and m.must_kill(test) for m in mutants)
    ]
    assert missed == []


def test_every_mutant_still_fits_its_rule() -> None:
    stale = [m.name for m in load_mutants() if (ROOT / m.file).read_text("utf-8").count(m.old) != 1]
    assert stale == []


@pytest.mark.parametrize("mutant", load_mutants()[::12], ids=lambda m: m.name)
def test_a_share_of_the_mutants_is_killed(mutant: object) -> None:
    """Every twelfth; ``make mutation`` runs them all."""
    assert survivors(mutant) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("path", sorted(PRINTED))
def test_generated_pages_are_current(path: str) -> None:
    """``make docs`` writes them."""
    assert (Path(ROOT) / path).read_text("utf-8") == PRINTED[path]()


def test_manual_pages_are_current() -> None:
    """``make docs`` writes them."""
    for path, text in manual_pages().items():
        assert (Path(ROOT) / path).read_text("utf-8") == text
