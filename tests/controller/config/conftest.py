"""A table's folder: a layout, and files that a test writes into it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from controller.config.live import LiveConfig, load_live
from record.kit.config import ConfigError

LAYOUT = Path(__file__).parent / "layout.toml"

MEGA = """
game = "MEGA"
layout = "layout.toml"

[settings]
seats = 7
deal_pattern = "passes"
selector = "table"
meter_rule = "sequential"
progressive_stake_returned = true
allow_over_100_percent = true

[chips]
register = "house.chips"
public_key = "chips.pub"
house = "SYD-1"

[staff]
register = "house.staff"
public_key = "staff.pub"

[keys]
sealing = "credential:sealing"
"""

LINK = """
[link]
endpoints = ["tcp://link-1:5701", "tcp://[fe80::1]:5701"]
secret_key = "credential:link"
server_key = "link.pub"
"""


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.site = path / "table.toml"
        shutil.copy(LAYOUT, path / "layout.toml")
        self.write(MEGA)

    def write(self, text: str, name: str = "table.toml") -> Path:
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
        return file

    def change(self, old: str, new: str) -> None:
        text = self.site.read_text("utf-8")
        assert old in text
        self.site.write_text(text.replace(old, new), "utf-8")

    def load(self) -> LiveConfig:
        return load_live(self.site)

    def problems(self) -> list[str]:
        """The lines of the refusal, with the folder left out."""
        with pytest.raises(ConfigError) as refused:
            self.load()
        lines = str(refused.value).splitlines()
        assert len(lines) == len(refused.value.problems)
        return [line.removeprefix(f"{self.path}/") for line in lines]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)
