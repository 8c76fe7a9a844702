"""Two tables of different games play for one jackpot, with real processes and real sockets.

A royal flush at one and a straight flush at the other are claimed while the server's clock stands
still, so that it takes both in the same instant. What is paid then depends on the policy for ties,
and on which claim the server read first: a smaller share before the whole jackpot is locked at
once, whatever the policy. Both ways are written down here.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from hw_sim.scenario import load
from link.ledger.orders import Approve, Pay, Verify
from link.ledger.terms import Pool, PoolTerms, Terms
from link.server.clock import SystemClock
from link.server.staff_orders import NewKey, RotateKey
from link.store.base import Store
from record.link.keys import load_public
from record.verify_evidence import verify
from tests.controller.link.files import with_link
from tests.e2e.table import configure, start, underfelt, wait_for
from tests.link.server.house import House, Live, house_of
from tests.patience import PATIENCE_S

HERE = Path(__file__).parent
SCENARIOS = {"mbs3": "mbs3-royal", "mega": "mega-straight-flush"}
BASE = 5_000_000
FULL = BASE + 30
"""Three credits of a dollar, a tenth of each."""
HANDS = ("royal flush", "straight flush")

PAID: dict[str, dict[str, tuple[int, int, int]]] = {
    "strict_order": {
        "royal flush": (5_000_030, 500_000, 4_500_000),
        "straight flush": (4_500_027, 500_003, BASE),
    },
    "same_cycle_full": {
        "royal flush": (5_000_030, 500_003, BASE),
        "straight flush": (4_500_027, 500_003, BASE),
    },
    "share": dict.fromkeys(HANDS, (4_500_027, 500_003, BASE)),
}
"""By policy and by the hand whose claim came first: cents of the royal flush, cents of the straight
flush, the meter afterwards."""


class Busy(SystemClock):
    """The server's clock. It stands still from the first claim to the second, so that both come in
    one millisecond however slow the machine is."""

    def __init__(self) -> None:
        self.claims: Callable[[], int] = lambda: 0
        self.last = super().now_ms(), super().mono_ms()

    def now_ms(self) -> int:
        return self._both()[0]

    def mono_ms(self) -> int:
        return self._both()[1]

    def _both(self) -> tuple[int, int]:
        if self.claims() != 1:
            self.last = super().now_ms(), super().mono_ms()
        return self.last


class Table:
    """A daemon and its simulator."""

    def __init__(self, house: House, name: str, live: Live) -> None:
        self.name, self.run = name, house.folder / name
        path = HERE / f"{SCENARIOS[name]}.toml"
        scenario = load(path)
        arguments = ("--scenario", str(path), "--run", str(self.run), "--link-elsewhere")
        self.sim = start("sim", *arguments)
        wait_for(self.run / "control", self.sim)
        self.config = configure(self.run, scenario.game, scenario.settings)
        public = house.folder / "server.pub"
        public.write_text(f"underfelt-link-public {house.server_keys[0].decode()}\n")
        with_link(self.config, [live.endpoint], public)
        key = NewKey(name, load_public(self.run / "link.pub"))
        assert live.order(RotateKey(key), "a.kim", "m.ng")["ok"]
        self.daemon = start("table", "--config", str(self.config))

    def round(self) -> dict[str, Any]:
        """The round's result, which `underfelt settle` finds too."""
        exported = underfelt("journal", "export-round", str(self.run / "journal"), "1")
        assert exported.returncode == 0, exported.stderr
        found = json.loads(exported.stdout)
        record = self.run / "round.json"
        record.write_text(json.dumps(found["record"]), "utf-8")
        assert json.loads(underfelt("settle", str(record)).stdout) == found["result"]
        result: dict[str, Any] = found["result"]
        return result

    def kill(self) -> None:
        for process in (self.sim, self.daemon):
            if process.poll() is None:
                process.kill()
                process.communicate()

    def ended(self) -> dict[str, Any]:
        """The people have played to the end; the daemon stops, and writes nothing but its log."""
        out, err = self.sim.communicate(timeout=PATIENCE_S)
        assert self.sim.returncode == 0, out + err
        self.daemon.send_signal(signal.SIGTERM)
        out, err = self.daemon.communicate(timeout=PATIENCE_S)
        assert self.daemon.returncode == 0, out + err
        assert all(line.startswith("<") for line in err.splitlines()), err
        return self.round()


def pool(ties: str) -> Pool:
    level = Terms(
        level="grand",
        base_cents=BASE,
        reset_cents=BASE,
        rate_ppm=100_000,
        shares={"royal flush": 100, "straight flush": 10},
        ties=ties,  # type: ignore[arg-type]
        tie_ms=0 if ties == "strict_order" else 50,
    )
    tables = {"mbs3": "MBS3", "mega": "MEGA"}
    why = "both have one credit of a dollar and the same hands; agreed for this test"
    return Pool(pool="main", terms=PoolTerms(tables=tables, equal_cost=why), levels=(level,))


@contextmanager
def tables_of(house: House, live: Live) -> Iterator[tuple[Table, Table]]:
    made: list[Table] = []
    try:
        made += [Table(house, name, live) for name in ("mbs3", "mega")]
        yield made[0], made[1]
    finally:
        for table in made:
            table.kill()


def watermarks(live: Live) -> dict[str, int]:
    return {row["table"]: row["n"] for row in live.ask("journals")["journals"]}


def awards_of(live: Live) -> dict[str, dict[str, Any]]:
    return {row["hand"]: row for row in live.ask("awards")["awards"]}


def claims_of(live: Live) -> int:
    """For the server's own thread."""
    floor = live.server.floor
    return 0 if floor is None else len(floor.ledger.state.awards)


def pay(live: Live, award: str) -> None:
    """Deck and hand are checked, two people with different roles approve, the money goes out."""
    for order, person in (
        (Verify(award), "k.lee"), (Approve(award), "k.lee"), (Approve(award), "m.ng"),
        (Pay(award), "m.ng"),
    ):  # fmt: skip
        assert live.order(order, person) == {"ok": True, "by": [person]}


def won(result: dict[str, Any], seat: int) -> int:
    (row,) = [row for row in result["seats"] if row["seat"] == seat]
    cents: int = row["wagers"]["progressive"]["win"]
    return cents


EVERY_RUN = "same_cycle_full"
"""The policy of every run; ``make slow`` plays the others, and the ledger's own tests have all."""


@pytest.mark.parametrize(
    "ties", [pytest.param(one, marks=() if one == EVERY_RUN else pytest.mark.slow) for one in PAID]
)
def test_a_royal_and_a_straight_flush_in_the_same_instant(ties: str, tmp_path: Path) -> None:
    clock = Busy()
    with house_of(tmp_path, "mbs3", "mega") as house:
        live = house.start(pools=(pool(ties),), clock=clock, beat_ms=1_000)
        clock.claims = lambda: claims_of(live)
        with tables_of(house, live) as (royal, straight):
            wagered = {"mbs3": 1, "mega": 2}  # and what it wants drawn
            live.until(lambda: watermarks(live) == wagered, PATIENCE_S)
            assert live.meter() == FULL
            live.until(lambda: len(awards_of(live)) == 2, PATIENCE_S)
            live.until(
                lambda: [a["state"] for a in awards_of(live).values()] == ["locked"] * 2, PATIENCE_S
            )
            for award in awards_of(live).values():
                pay(live, award["award"])
            results = royal.ended(), straight.ended()
        check(ties, live, results)
        awards = awards_of(live)
        live.stop()
        with closing(house.store()) as store:
            check_store(store)
        for hand, table in (("royal flush", royal), ("straight flush", straight)):
            check_evidence(house, awards[hand], table)


def check(ties: str, live: Live, results: tuple[dict[str, Any], ...]) -> None:
    """Ordered, recorded and paid: the same cents at the tables and in the ledger."""
    awards = awards_of(live)
    assert sorted(award["order"] for award in awards.values()) == [1, 2]
    assert {award["state"] for award in awards.values()} == {"paid"}
    assert {award["policy"] for award in awards.values()} == {ties}
    first = min(awards.values(), key=lambda award: int(award["order"]))["hand"]
    found = [awards[hand]["cents"] for hand in HANDS]
    assert (*found, live.meter()) == PAID[ties][first]
    assert [won(results[0], 2), won(results[1], 4)] == found


def check_evidence(house: House, award: dict[str, Any], table: Table) -> None:
    """What a real table and a real server wrote proves the amount, the hand and its frames."""
    pack = house.folder / f"pack-{table.name}"
    made = underfelt(
        "evidence", award["award"], "--backup", house.where, "--journal",
        str(table.run / "journal"), "--key", str(table.run / "sealing.key"), "--output", str(pack),
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    found = verify(pack)
    assert (found["problems"], found["amount_cents"]) == ([], award["cents"])
    assert (found["missing"], found["state"]) == ([], "paid")
    assert set(found["cards"]) <= set(found["cards_in_frames"])
    if award["hand"] == "royal flush":  # the other may be the house's top-up, of no contribution
        assert sum(line["units"] for line in found["lines"]) >= BASE * 900_000


def check_store(store: Store) -> None:
    """Both claims came in one instant; nothing lost or made in any account."""
    store.check()
    claims = [row.received_ms for row in store.events() if b'"what":"claimed"' in row.body]
    assert len(claims) == 2
    assert len(set(claims)) == 1
