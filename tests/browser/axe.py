"""axe-core in a page: violations of WCAG 2.1 AA, in short."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from playwright.sync_api import Page

AXE: Final = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
RUN: Final = """async () => (await axe.run(document, {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"],
})).violations.flatMap((rule) => rule.nodes.map((node) =>
  `${rule.id}: ${node.target.join(" ")}: ${node.any.concat(node.all, node.none)
    .map((one) => one.message).join("; ")}`))"""


def violations(page: Page) -> list[str]:
    """The script comes through the debugger, so the page's own policy stays as strict as it is."""
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN)
    return found
