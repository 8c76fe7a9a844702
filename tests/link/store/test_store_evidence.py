"""Evidence packs from both stores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from record.verify_evidence import verify
from tests.controller.evidence.house import random_house
from tests.link.store.conftest import Place


def test_packs_of_either_store_verify(new_place: Callable[[], Place], tmp_path: Path) -> None:
    house = random_house(tmp_path, 5, ties="share", store=new_place().open())
    many = 0
    for name, award in house.store.awards.items():
        if award.state in ("paid", "rejected", "approved"):
            many += 1
            house.pack(name, tmp_path / f"pack-{many}")
            found = verify(tmp_path / f"pack-{many}")
            assert (found["problems"], found["amount_cents"]) == ([], award.cents)
    house.close()
    assert many > 2
