"""What the benchmarks share: interleaved repeats, medians, a table of ratios, and its verdict."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from statistics import median

Measure = Callable[[], float]
"""One run of an alternative; returns the number that is compared."""


@dataclass(frozen=True, slots=True)
class Target:
    """``name`` must reach ``ratio`` times ``peer``, or stay below it where less is better."""

    name: str
    peer: str
    ratio: float
    at_most: bool = False

    def met(self, medians: Mapping[str, float]) -> bool:
        reached = medians[self.name] / medians[self.peer]
        return reached <= self.ratio if self.at_most else reached >= self.ratio


def interleaved(alternatives: Mapping[str, Measure], repeats: int) -> dict[str, float]:
    """Medians; every repeat visits every alternative once, so that noise hits all alike."""
    runs: dict[str, list[float]] = {name: [] for name in alternatives}
    for _ in range(repeats):
        for name, measure in alternatives.items():
            runs[name].append(measure())
    return {name: median(values) for name, values in runs.items()}


def versions(*packages: str) -> str:
    listed = [f"python {platform.python_version()}"]
    listed += [f"{package} {metadata.version(package)}" for package in packages]
    return ", ".join(listed)


def print_ratios(medians: Mapping[str, float], peer: str, unit: str) -> None:
    width = max(len(name) for name in medians)
    for name, value in medians.items():
        print(f"  {name:{width}}  {value:>16,.1f} {unit}  {value / medians[peer]:>8.2f}x {peer}")


def verdict(medians: Mapping[str, float], targets: Iterable[Target]) -> int:
    """Print each target as met or missed; the exit code is 1 if one was missed."""
    missed = 0
    for target in targets:
        reached = medians[target.name] / medians[target.peer]
        sign = "at most" if target.at_most else "at least"
        met = target.met(medians)
        missed += not met
        word = "met" if met else "MISSED"
        print(
            f"  target: {target.name} {sign} {target.ratio:g}x {target.peer}: "
            f"{reached:.2f}x, {word}"
        )
    sys.stdout.flush()
    return 1 if missed else 0
