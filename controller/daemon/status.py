"""What a writer says of its table after every group: for people, metrics and the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.daemon.inputs import Beside
from controller.daemon.safemode import ordered_by
from controller.faults.status import DayStatus, Parts, Status
from controller.rules.engine.state import Phase

if TYPE_CHECKING:
    from controller.daemon.writer import Writer


def status_of(writer: Writer) -> Status:
    state, health = writer.core.state, writer.core.health
    dealer, parts = writer.core.positions.dealer, writer.picture.parts(writer)
    return {
        "game": state.rules.book.key,
        "phase": state.phase.value,
        "round": state.round_no,
        "in_round": state.phase is not Phase.IDLE,
        "stopped": "" if state.frozen is None else state.frozen.question,
        "progressive": state.rules.book.progressive is not None,
        "link_up": state.link_up,
        "jackpot_cents": state.meter,
        "awards": [
            {
                "award": a.award,
                "round": a.round_no,
                "seat": a.seat,
                "cents": a.cents,
                "state": a.state,
                "share": a.share,
            }
            for a in state.awards
            if a.pending
        ],
        "supply_low": health.low_supply,
        "power_failing": health.power_fail,
        "door_open": health.door,
        "card_devices": sorted(health.card_devices),
        "safe_mode": writer.core.options.safe_mode or bool(state.progressive_closed),
        "safe_mode_by": ordered_by(state.progressive_closed),
        "locked": writer.locked,
        "gaming_day": _gaming_day(writer),
        "journal": {
            "id": writer.journal.journal_id,
            "next_seq": writer.journal.next_seq,
            "head": writer.journal.head.hex(),
            "full": writer.journal.full,
        },
        "devices": {name: told.copy() for name, told in sorted(writer.devices.items())},
        "dealer": "" if dealer is None else dealer.person,
        "prompt": list(_prompt(writer)),
        **_seen(parts),
        "untold": writer.picture.fault,
        "test_mode": writer.test.told(),
        "alarms": list(writer.alarms),
        "alarm_counts": dict(writer.alarm_counts),
        "configuration": writer.changing.in_force,
        "configuration_change": writer.changing.told(writer.verdict()),
        "counts": dict(writer.counts),
    }


def _seen(parts: Parts) -> Status:
    """What the status says as the table's page does; nothing if that could not be made."""
    if not parts:
        return {}
    return {
        "felt": parts["felt"],
        "lamps": parts["lamps"],
        "beacon": parts["beacon"],
        "why": parts["why"],
    }


def beside_of(writer: Writer) -> Beside:
    written, sync = writer.table_log, writer.sync_times
    records = dict(written.written)
    return Beside(writer.chosen, writer.test.ended, records, written.bytes, sync.copy())


def _prompt(writer: Writer) -> tuple[str, ...]:
    """The four lines as the dealer has them."""
    return writer.test.lines() if writer.test.is_on else writer.core.prompt_now()


def _gaming_day(writer: Writer) -> DayStatus:
    day = writer.table_log.memory.day
    rounds = day.rounds.settled + day.rounds.void + day.rounds.held
    return {"number": day.number, "from_ms": day.from_ms, "rounds": rounds}
