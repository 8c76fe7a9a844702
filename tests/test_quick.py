"""`make quick` chooses the tests nearest to a change."""

from __future__ import annotations

from tests import quick

TESTS = {
    "tests/rules/test_cards.py": {"controller.rules", "controller.rules.cards"},
    "tests/rules/test_hands.py": {"controller.rules.hands"},
    "tests/daemon/test_all.py": {"controller.rules.cards", "controller.daemon", "drivers"},
}


def test_a_test_that_changed_runs_before_those_that_import_a_change() -> None:
    files = ["controller/rules/cards.py", "tests/rules/test_hands.py"]
    assert quick.near(files, TESTS) == [
        "tests/test_house_rules.py",
        "tests/rules/test_hands.py",
        "tests/rules/test_cards.py",
        "tests/daemon/test_all.py",
    ]


def test_the_most_specific_tests_of_a_module_come_first() -> None:
    found = quick.near(["controller/rules/cards.py"], TESTS)
    assert found[1:] == ["tests/rules/test_cards.py", "tests/daemon/test_all.py"]


def test_a_package_changes_with_its_init_file() -> None:
    assert "tests/daemon/test_all.py" in quick.near(["drivers/__init__.py"], TESTS)


def test_a_changed_page_runs_the_tests_of_pages() -> None:
    assert quick.near(["docs/security.md"], TESTS) == [*quick.ALWAYS, *quick.PAGES]


def test_an_import_of_a_member_names_the_module_and_the_member() -> None:
    source = "import a.b\nfrom c import d\nfrom . import e\n"
    assert quick.imports_of(source) == {"a.b", "c", "c.d"}


def test_the_tests_of_pages_and_the_house_rules_exist() -> None:
    assert [
        name for name in (*quick.ALWAYS, *quick.PAGES) if not (quick.ROOT / name).exists()
    ] == []
