"""The invariants, as far as they concern the server.

``check_group`` runs at every group in production and costs what changed, not what there is.
``check_state`` runs at a start. ``history.check_history`` looks at every row there ever was.
"""

from __future__ import annotations

from collections.abc import Iterable

from link.ledger.awards import LEGAL
from link.ledger.errors import LedgerBroken
from link.ledger.level import (
    DEFICIT,
    DISPLAY,
    ENVY,
    NEXT,
    PAID,
    PENDING,
    RESERVE,
    REVENUE,
    TRANSFER,
    WAGERS,
    Level,
)
from link.ledger.rounds import HELD
from link.ledger.state import State
from link.ledger.units import MOST_UNITS, to_units
from link.rows import AwardStep, Group

NOT_BELOW_ZERO = (DISPLAY, RESERVE, NEXT, REVENUE, PENDING, PAID, ENVY)
NOT_ABOVE_ZERO = (WAGERS, DEFICIT)


def check_level(level: Level, pending_units: int) -> None:
    """I1 conservation, I21 bounds."""
    held, where = level.balances, f"{level.pool}/{level.name}"
    if sum(held.values()):
        raise LedgerBroken("I1", f"{where}: accounts add up to {sum(held.values())} units, not 0")
    for account in NOT_BELOW_ZERO:
        if held[account] < 0:
            raise LedgerBroken("I21", f"{where}: {account} holds {held[account]} units")
    for account in NOT_ABOVE_ZERO:
        if held[account] > 0:
            raise LedgerBroken("I21", f"{where}: {account} holds {held[account]} units")
    if level.headroom < 0 or min(held.values()) < -MOST_UNITS:
        raise LedgerBroken("I21", f"{where}: more money than its columns hold")
    if held[DISPLAY] > level.limit:
        raise LedgerBroken("I21", f"{where}: {held[DISPLAY]} units are above the ceiling")
    if held[PENDING] != pending_units:
        raise LedgerBroken(
            "I1", f"{where}: {held[PENDING]} units are pending, open awards say {pending_units}"
        )


def _pending(state: State) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for award in state.awards.values():
        if award.state in HELD:
            key = (award.pool, award.level)
            found[key] = found.get(key, 0) + to_units(award.cents)
    return found


def check_state(state: State) -> None:
    pending = _pending(state)
    for level in state.levels():
        check_level(level, pending.get((level.pool, level.name), 0))
    _check_transfers(state)


def _check_transfers(state: State) -> None:
    """What left one level came into another."""
    total = sum(level.balances[TRANSFER] for level in state.levels())
    if total:
        raise LedgerBroken("I1", f"transfers between levels add up to {total} units, not 0")


def check_group(state: State, group: Group) -> None:
    """Before a group is handed over."""
    check_steps(group.steps, {})
    if state.changed_levels:
        pending = _pending(state) if state.awards else {}
        for key, level in state.changed_levels.items():
            check_level(level, pending.get(key, 0))
            _check_generation(state, level)
            _check_terms(level)
    if any(account == TRANSFER for _, _, account in group.balances):
        _check_transfers(state)
    counted = dict(group.journals_before)
    for event in group.events:
        if event.journal:
            counted[event.journal] += 1
            if counted[event.journal] != event.n:
                raise LedgerBroken("I3", f"journal {event.journal}: event {event.n} is not next")
    for name, row in group.journals.items():
        if row.n != counted[name]:
            raise LedgerBroken(
                "I14", f"journal {name}: watermark {row.n}, events to {counted[name]}"
            )


def _check_generation(state: State, level: Level) -> None:
    """I8: a generation is one more for each reset, and nothing else."""
    resets = state.resets.get((level.pool, level.name), 0)
    if level.generation != level.committed_generation + resets:
        raise LedgerBroken(
            "I8",
            f"{level.pool}/{level.name}: generation {level.generation} after "
            f"{level.committed_generation} and {resets} resets",
        )


def _check_terms(level: Level) -> None:
    """I19: a generation has one set of parameters, from its first entry to its last."""
    same = level.generation == level.committed_generation
    if same and level.committed_terms_json not in (b"", level.terms_json):
        raise LedgerBroken(
            "I19",
            f"{level.pool}/{level.name}: other parameters within generation {level.generation}",
        )


def check_steps(steps: Iterable[AwardStep], last: dict[str, AwardStep]) -> None:
    """I9, I10: only legal transitions, so an award is paid at most once, after two people of
    different roles. ``last`` holds the last step of each award; of one that is not in it, the first
    step here can only be judged if it is the first of all."""
    for step in steps:
        before = last.get(step.award)
        last[step.award] = step
        if before is None and step.step > 1:
            continue
        was, number = ("", 0) if before is None else (before.state, before.step)
        if step.state not in LEGAL[was] or step.step != number + 1:
            raise LedgerBroken(
                "I10",
                f"award {step.award}: step {step.step}, {step.state}, after step {number}, "
                f"{was or 'nothing'}",
            )
        alone = before is not None and (step.by == before.by or step.role == before.role)
        if step.state == "approved" and alone:
            raise LedgerBroken("I10", f"award {step.award}: not approved by two people")
