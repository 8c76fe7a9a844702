"""Sums by time: added to by every group, counted again by a check, made by a migration."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from random import Random

import msgspec
import pytest

from link.commands.link_store import history_of
from link.ledger.history import check_history
from link.reports.days import GamingDays
from link.rows import SLICE_MS, Group, SumRow
from link.server.sums_window import MOST, SumsWindow
from link.store.base import Store
from link.store.contract import Span
from link.store.errors import Broken
from link.store.migrations import migrations
from tests.fuzzlink.history import play
from tests.link.store.book import DISPLAY_UNITS, RESERVE_UNITS, START_MS, Book, led
from tests.link.store.conftest import Place
from tests.link.store.test_store_migrations import opened

SLICE = START_MS // SLICE_MS * SLICE_MS


def wagered(book: Book, tables: list[int]) -> Group:
    """With the sums that a ledger would hand over."""
    group = book.contributions(tables)
    for number in sorted({*tables}):
        many = tables.count(number)
        group.sums.append(SumRow(SLICE, "", "", f"T-{number}", many, 500 * many))
    units = (DISPLAY_UNITS + RESERVE_UNITS) * len(tables)
    group.sums.append(SumRow(SLICE, "mega", "main", "", in_units=units))
    return group


def test_each_group_adds_to_what_is_stored(store: Store) -> None:
    book = led(store, 2)
    store.commit(wagered(book, [1, 1, 2]))
    store.commit(wagered(book, [2]))
    assert store.sums(Span(SLICE, SLICE + SLICE_MS)) == [
        SumRow(SLICE, "", "", "T-1", 2, 1_000),
        SumRow(SLICE, "", "", "T-2", 2, 1_000),
        SumRow(SLICE, "mega", "main", "", in_units=4 * (DISPLAY_UNITS + RESERVE_UNITS)),
    ]
    assert store.sums(Span(0, SLICE)) == store.sums(Span(SLICE + SLICE_MS)) == []
    assert store.check_sums() == 3


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE sums SET wagers = wagers + 1 WHERE table_id = 'T-1'",
        "DELETE FROM sums WHERE level = 'main'",
        f"UPDATE sums SET at_ms = at_ms + {SLICE_MS}",
    ],
)
def test_sums_that_the_rows_do_not_say_are_found(store: Store, damage: str) -> None:
    book = led(store)
    store.commit(wagered(book, [1]))
    store.query(damage)
    with pytest.raises(Broken, match="the rows say"):
        store.check_sums()


def test_a_group_that_is_not_stored_adds_nothing(store: Store) -> None:
    book = led(store)
    store.commit(wagered(book, [1]))
    group = wagered(book, [1])
    store.lead("one", 60_000)
    with pytest.raises(Exception, match="is over"):
        store.commit(group)
    assert store.check_sums() == 2


def test_an_old_store_gets_its_sums_and_goes_on(bare: Place) -> None:
    """A generated history, then the schema from before, then the step."""
    assert play(3, bare.open, 250)["events"] > 30
    with closing(bare.open()) as store:
        before = store.query("SELECT * FROM sums ORDER BY at_ms, pool, level, table_id")
        journals = list(store.journals())
        assert any(row[6] for row in before), "no round was played"
        store.query("DROP TABLE sums")
        store.query("DELETE FROM migrations WHERE number = 3")
        for row in journals:  # as it was written before: nothing of rounds that were reported
            memory = msgspec.json.encode(msgspec.json.decode(row.rounds)[:5])
            store.query(
                "UPDATE watermarks SET rounds = ? WHERE id ="
                " (SELECT id FROM journals WHERE journal = ?)",
                (memory, row.journal),
            )
    with closing(opened(bare, migrations(bare.kind))) as store:
        assert store.migrate(at_ms=2) == ("0003_sums",)
        after = store.query("SELECT * FROM sums ORDER BY at_ms, pool, level, table_id")
        assert after == before
        assert list(store.journals()) == journals
        store.check_sums()
        check_history(history_of(store))


@pytest.mark.parametrize(
    ("zone", "start"),
    [("UTC", "06:00"), ("Australia/Adelaide", "05:30"), ("Europe/Berlin", "04:10")],
)
def test_the_window_holds_what_a_plain_sum_says(zone: str, start: str) -> None:
    days, rng = GamingDays.of(zone, start), Random(zone)
    end = int(datetime(2026, 10, 26, 3, 7, tzinfo=UTC).timestamp()) * 1000  # summer time just ended
    slices = [(end - rng.randrange(20 * 86_400_000)) // SLICE_MS * SLICE_MS for _ in range(400)]
    rows = [SumRow(at, "p", "", f"T{at % 7}", rng.randrange(9), rounds=1) for at in slices]
    early, late = rows[:300], rows[300:]

    def stored(span: Span) -> list[SumRow]:
        return [row for row in early if span.from_ms <= row.at_ms < span.to_ms]

    def summed(span: Span) -> list[SumRow]:
        found: dict[str, SumRow] = {}
        for row in stored(span):
            old = found.get(row.table, SumRow(span.from_ms, "p", "", row.table))
            found[row.table] = msgspec.structs.replace(
                old, wagers=old.wagers + row.wagers, rounds=old.rounds + 1
            )
        return list(found.values())

    window = SumsWindow(days)
    window.begin(end)
    while not window.complete:
        window.load(summed, lambda: True)
    window.add(late)
    told = window.past()
    now = window.present()
    for kind, present in (("hours", now["hour"]), ("days", now["day"])):
        periods = [*told[kind], present]
        assert len(periods) == MOST[kind]  # type: ignore[index]
        for one, following in zip(periods, [*periods[1:], None], strict=True):
            until = following["at_ms"] if following else end + 1
            wanted = Counter[str]()
            for row in rows:
                if one["at_ms"] <= row.at_ms < until:
                    wanted[row.table] += 1
            assert {row[2]: row[5] for row in one["rows"]} == dict(wanted)
    lengths = {
        b["at_ms"] - a["at_ms"] for a, b in zip(told["days"], told["days"][1:], strict=False)
    }
    assert lengths <= {h * 3_600_000 for h in (23, 24, 25)}
    begins = datetime.fromtimestamp(now["day"]["at_ms"] / 1000, UTC).astimezone(days.zone)
    assert (
        timedelta(0)
        <= datetime.combine(begins, days.start, days.zone) - begins
        < timedelta(minutes=15)
    )


def test_an_hour_that_is_over_moves_to_the_past() -> None:
    window = SumsWindow(GamingDays.of("UTC", "06:00"))
    noon = int(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()) * 1000
    window.begin(noon)
    window.load(lambda _span: [], lambda: False)
    window.add([SumRow(noon, "", "", "T1", rounds=1)])
    window.add([SumRow(noon + 3_600_000, "", "", "T1", rounds=2)])  # its clock is a little ahead
    assert not window.roll(noon + 3_599_999)
    assert window.roll(noon + 3_600_000)
    assert window.past()["hours"][-1]["rows"] == [("", "", "T1", 0, 0, 1, 0, "0", 0, 0)]
    assert window.present()["hour"]["rows"] == [("", "", "T1", 0, 0, 2, 0, "0", 0, 0)]
    assert window.present()["day"]["rows"] == [("", "", "T1", 0, 0, 3, 0, "0", 0, 0)]
    assert len(window.past()["hours"]) == MOST["hours"] - 1


def test_hours_add_up_to_their_gaming_day_to_the_unit() -> None:
    """1.00 at 0.37 % in each of fourteen hours, and one of them back."""
    window = SumsWindow(GamingDays.of("UTC", "06:00"))
    six = int(datetime(2026, 3, 10, 6, tzinfo=UTC).timestamp()) * 1000
    window.begin(six + 16 * 3_600_000)
    window.load(lambda _span: [], lambda: False)
    for hour, units in enumerate([370_000] * 14 + [-370_000]):
        at_ms = six + hour * 3_600_000
        window.add([SumRow(at_ms, "main", "grand", "", in_units=units)])
    place = window.past()["columns"].index("in_units")
    hours = [row[place] for hour in window.past()["hours"] for row in hour["rows"]]
    assert hours == ["370000"] * 14 + ["-370000"]
    assert [row[place] for row in window.present()["day"]["rows"]] == ["4810000"]


def test_a_span_that_the_store_could_not_give_is_asked_for_again() -> None:
    def fails(_span: Span) -> list[SumRow]:
        raise Broken("here", "planted")

    window = SumsWindow(GamingDays.of("UTC", "06:00"))
    noon = int(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()) * 1000
    window.begin(noon)
    with pytest.raises(Broken):
        window.load(fails, lambda: False)
    window.load(lambda span: [SumRow(span.from_ms, "", "", "T1", rounds=1)], lambda: False)
    assert window.complete
    assert [row[5] for row in window.present()["hour"]["rows"]] == [1]
    assert len(window.past()["hours"]) == MOST["hours"] - 1


def test_what_is_too_old_meanwhile_is_not_loaded() -> None:
    window = SumsWindow(GamingDays.of("UTC", "06:00"))
    noon = int(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()) * 1000
    window.begin(noon)
    window.load(lambda _span: [], lambda: True)
    assert not window.complete
    assert window.roll(noon + 3_600_000)
    window.load(lambda _span: [], lambda: False)
    assert len(window.past()["hours"]) == MOST["hours"] - 1
