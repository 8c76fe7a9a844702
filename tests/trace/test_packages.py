"""The packages stand in layers: no import leads upwards."""

from __future__ import annotations

import pytest

from docs.package_map import GoesRound, imports, layers


def test_no_two_packages_import_each_other() -> None:
    assert layers(imports())[0]


def test_a_circle_is_found() -> None:
    with pytest.raises(GoesRound, match="a -> b -> a"):
        layers({"a": frozenset({"b"}), "b": frozenset({"a"})})


def test_what_the_journal_means_stands_on_the_rules_the_record_and_pure_codecs_alone() -> None:
    below = imports()["controller.history"]
    assert below <= {
        "controller.rules",
        "drivers",
        "record",
        "record.journal",
        "record.kit",
        "record.link",
    }
