"""The table of the shell's verbs, printed into its page between two marks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from controller.shell.verbs import VERBS

PAGE: Final = Path(__file__).resolve().parent / "operations" / "shell.md"
BEGIN: Final = "<!-- Printed from the code by `make docs`; do not edit this table. -->\n\n"
END: Final = "\n<!-- end of the table -->"


def shell_page() -> str:
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    text = "| verb | least role | test mode | what | when |\n|---|---|---|---|---|\n"
    for verb in VERBS.values():
        usage = verb.usage.replace("|", "\\|")
        needed = "yes" if verb.test else ""
        text += f"| `{usage}` | {verb.role} | {needed} | {verb.help} | {verb.runbook} |\n"
    return before + BEGIN + text + END + after
