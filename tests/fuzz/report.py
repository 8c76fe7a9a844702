"""The report of a fuzz run: docs/reports/fuzz.md."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.run import TARGETS, Outcome, failures
from tests.fuzz.tally import CONFIDENCE, FRAMES

HEAD = """# Fuzz run: the codec law

Any bytes in any split, with the line's silences as input, give readings or a typed fault: never
another exception, never an unbounded buffer, never a lost following valid frame; nothing that was
corrupted is taken for true beyond the bounds below; no single corrupted reading becomes a fact
about money.

Written by `python -m tests.fuzz.run --frames {frames} --seed {seed} --report docs/reports/fuzz.md`.
Case n of a target under a seed is always the same, so the counts depend on no machine;
`python -m tests.fuzz.run --seed {seed} --only TARGET --case N` repeats one case.

A *bound* of 0 is meant literally. Where a 16-bit CRC leaves a chance of 2 in 65,536, the count must
not exceed the {confidence} % quantile of Binomial(frames, 2/65,536): a decoder that keeps to the
rate exceeds it once in ten thousand runs.
"""


def _table(rows: list[list[str]], head: list[str]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _section(outcome: Outcome, seed: int) -> list[str]:
    target = TARGETS[outcome.name]
    tally = outcome.tally
    names = sorted({row for row, _ in tally}, key=lambda row: (-tally[row, FRAMES], row))
    rows = [[row, *(f"{tally[row, column]:,}" for column in target.columns)] for row in names]
    total = [sum(tally[row, column] for row in names) for column in target.columns]
    rows.append(["**all**", *(f"**{count:,}**" for count in total)])
    lines = [f"## {target.title} (`{target.name}`)", ""]
    if target.notes:
        lines += [target.notes, ""]
    lines += _table(rows, [target.row_title, *target.columns])
    checks = target.check(tally)
    if checks:
        lines.append("")
        lines += _table(
            [
                [it.text, f"{it.seen:,}", f"{it.out_of:,}", f"{it.allowed:,}", _verdict(it.holds)]
                for it in checks
            ],
            ["bound", "seen", "of", "allowed", ""],
        )
    for kind, count in sorted(outcome.kinds.items()):
        lines += ["", f"**Broken**, {count:,} times: {kind}"]
        lines += [
            f"* seed {seed}, case {it.case}: `{it.text[:400]}`"
            for it in outcome.told()
            if it.kind == kind
        ]
    return [*lines, ""]


def _verdict(holds: bool) -> str:
    return "holds" if holds else "**broken**"


def write(path: Path, found: dict[str, Outcome], frames: int, seed: int, took: str) -> None:
    wrong = failures(found)
    lines = [HEAD.format(frames=frames, seed=seed, confidence=f"{CONFIDENCE * 100:.2f}")]
    lines += [
        "**The law holds.**" if not wrong else f"**The law is broken in {len(wrong)} ways:**",
        "",
    ]
    lines += [f"* {line}" for line in wrong] + ([""] if wrong else [])
    rows = []
    for outcome in found.values():
        spoiled = sum(n for (_, column), n in outcome.tally.items() if column == FRAMES)
        breaches = sum(outcome.kinds.values())
        held = all(it.holds for it in TARGETS[outcome.name].check(outcome.tally))
        rows.append(
            [
                f"`{outcome.name}`",
                TARGETS[outcome.name].title,
                f"{outcome.cases:,}",
                f"{spoiled:,}",
                f"{breaches:,}",
                _verdict(held and not breaches),
                f"{outcome.seconds:.0f}",
            ]
        )
    head = ["target", "what", "cases", "mutated frames", "breaches", "", "CPU s"]
    lines += _table(rows, head)
    lines += ["", took, ""]
    for outcome in found.values():
        lines += _section(outcome, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
