"""Pictures of README and pages from a real demonstration floor: ``make pictures``.

A floor of five tables plays until there is something to see; Debian's Chromium takes the pictures.
They are not made by the tests, as no two floors are the same.
"""

from __future__ import annotations

import sys
import tempfile
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page

from controller.demo.floor import FloorDemo, FloorOptions
from tests.browser.chromium import LARGE, launched
from tests.test_house_rules import ROOT

FOLDER: Final = ROOT / "docs" / "pictures"
LARGEST: Final = 300_000
PATIENCE_S: Final = 900.0
SETTLED: Final = 1
"""Rounds that every table plays first."""
QUALITY: Final = 0.9
WEBP: Final = """async ([source, quality]) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", quality);
}"""
FILLED_S: Final = 2.0
"""A page that is open has all of its figures after this."""


class Camera:
    def __init__(self, floor: FloorDemo, browser: Browser) -> None:
        self._floor = floor
        width, height = LARGE
        self._context = browser.new_context(viewport={"width": width, "height": height})

    def until(self, seen: Callable[[], bool], what: str) -> None:
        """The floor's staff act and its processes are looked after meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while not seen():
            if time.monotonic() > deadline:
                raise TimeoutError(f"never {what}")
            self._floor.turn()
            time.sleep(0.3)

    def open(self, path: str) -> Page:
        page = self._context.new_page()
        page.goto(f"{self._floor.address}{path}")
        page.wait_for_timeout(FILLED_S * 1_000)
        return page

    def take(self, page: Page, name: str) -> None:
        """As WebP, which the browser makes of its own picture."""
        taken = b64encode(page.screenshot(animations="disabled")).decode()
        page.close()
        blank = self._context.new_page()
        made: str = blank.evaluate(WEBP, [f"data:image/png;base64,{taken}", QUALITY])
        blank.close()
        data = b64decode(made.partition(",")[2])
        path = FOLDER / f"{name}.webp"
        path.write_bytes(data)
        print(f"docs/pictures/{path.name}: {len(data) // 1000} kB", flush=True)
        if len(data) > LARGEST:
            raise ValueError(f"{path}: {len(data)} bytes, expected at most {LARGEST}")


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="underfelt-") as home:
        options = FloorOptions(Path(home) / "floor", players=5, port=0)
        with FloorDemo(options) as floor, launched() as browser:
            pictures(floor, Camera(floor, browser))
    return 0


def pictures(floor: FloorDemo, camera: Camera) -> None:
    sources = floor.sources
    camera.until(
        lambda: all(sources.settled[name] >= SETTLED for name in floor.folder.tables),
        "rounds at every table",
    )
    camera.until(lambda: bool(sources.due()), "a jackpot that waits for people")
    camera.take(camera.open("floor"), "floor")
    camera.take(camera.open("sign/mega"), "sign")
    table = camera.open("table/mega")
    camera.until(lambda: deciding(floor, "mega"), "a decision at the table")
    camera.take(table, "table")


def deciding(floor: FloorDemo, name: str) -> bool:
    return any(row.name == name and "decision" in row.phase for row in floor.sources.tables)


if __name__ == "__main__":
    sys.exit(main())
