"""Puts the desk together: every act of every verb, the audit journal, and who may."""

from __future__ import annotations

from controller.daemon.desk.answers import looking
from controller.daemon.desk.audit import Audit, opener
from controller.daemon.desk.desk import Act, Desk, check_acts
from controller.daemon.desk.doing import doing
from controller.daemon.desk.examining import examining
from controller.daemon.desk.reach import Reach
from controller.daemon.desk.testing import TestDesk
from drivers.readings import Reading


def acts_of(reach: Reach, tests: TestDesk) -> dict[str, Act]:
    """Another part adds its verbs here and to the table of verbs."""
    acts = {**looking(reach), **examining(reach), **doing(reach), **tests.acts()}
    check_acts(acts)
    return acts


def desk_of(reach: Reach) -> tuple[Desk, TestDesk]:
    config, writer = reach.config, reach.started.writer
    audit = Audit(opener(config.journal.path, config.name, config.journal.retention_days))
    tests = TestDesk(reach, audit)
    reach.test_mode = tests.is_on
    before = reach.runtime.heard

    def heard(reading: Reading) -> None:
        before(reading)
        tests.take(reading)

    reach.runtime.heard = heard
    desk = Desk(
        audit,
        acts_of(reach, tests),
        reach.live,
        reach.at,
        people=lambda: () if writer.chosen is None else writer.chosen.people,
        test_mode=tests.is_on,
        test_ended=tests.ended,
        leaving=[tests.left],
        commanded=tests.commanded,
    )
    return desk, tests
