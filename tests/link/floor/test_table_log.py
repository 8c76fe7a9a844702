"""The log of a real table at a real link server: link, sign-on, award and lock."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from controller.daemon.journald import MESSAGE_IDS
from controller.registers.kinds import STAFF
from hw_sim.scenario import load
from link.ledger.orders import Approve, Pay, Verify
from link.server.doors import DoorPlan
from link.server.staff_orders import NewKey, RotateKey
from record.journal import Journal
from record.link.keys import SecretKey, load_public
from tests.controller.link.files import with_link
from tests.controller.registers.staff import house as staff
from tests.e2e.table import ROOT, command, configure, environment, start, wait_for
from tests.link.floor.test_two_games import awards_of, pool
from tests.link.server.house import ANY, House, Live, house_of
from tests.patience import PATIENCE_S

SCENARIO: Final = Path(__file__).parent / "mbs3-signed-on.toml"
TABLE: Final = "mbs3"
LIMIT_MS: Final = 8_000
AT_MS: Final = 1_700_000_000_000


class Logged:
    """The table's daemon and the lines of its log so far."""

    def __init__(self, run: Path, sim: subprocess.Popen[str]) -> None:
        self._errors, self._sim = run / "stderr", sim
        self._words = command("table", "--config", str(run / "table.toml"))
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._errors.open("w", encoding="utf-8") as errors:
            return subprocess.Popen(
                self._words, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, stderr=errors
            )

    def lines(self, kind: str) -> list[str]:
        """Those of a class, without their fields."""
        found = re.finditer(
            rf"^<(\d)>(.*) \[MESSAGE_ID={MESSAGE_IDS[kind]}\b.*$",
            self._errors.read_text("utf-8"),
            re.MULTILINE,
        )
        return [f"<{line[1]}>{line[2]}" for line in found]

    def until(self, kind: str, text: str, *, after: int = 0) -> str:
        """The first line of a class that has this text, ``after`` so many of the class."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found = [line for line in self.lines(kind)[after:] if text in line]
            if found:
                return found[0]
            assert self._process.poll() is None, self._errors.read_text("utf-8")
            assert self._sim.poll() in (None, 0), self._sim.communicate()
            assert time.monotonic() < deadline, self._errors.read_text("utf-8")
            time.sleep(0.05)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(PATIENCE_S) == 0, self._errors.read_text("utf-8")

    def again(self) -> None:
        self._process = self._started()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def with_staff(run: Path, config: Path) -> None:
    staff.make(run / "house.staff")
    (run / "staff.pub").write_text(f"{STAFF.public_word} {staff.KEY.public.hex()}\n", "ascii")
    text = config.read_text("utf-8")
    for old, new in (("register", "house.staff"), ("public_key", "staff.pub")):
        text = text.replace(f'{old} = "none"', f'{old} = "{new}"')
    config.write_text(text, "utf-8")


@contextmanager
def playing(house: House, live: Live) -> Iterator[Logged]:
    run, scenario = house.folder / TABLE, load(SCENARIO)
    sim = start("sim", "--scenario", str(SCENARIO), "--run", str(run), "--link-elsewhere")
    table: Logged | None = None
    try:
        wait_for(run / "control", sim)
        config = configure(run, scenario.game, scenario.settings)
        with_staff(run, config)
        public = house.folder / "server.pub"
        public.write_text(f"underfelt-link-public {house.server_keys[0].decode()}\n", "ascii")
        with_link(config, [live.endpoint], public, LIMIT_MS)
        key = NewKey(TABLE, load_public(run / "link.pub"))
        assert live.order(RotateKey(key), "a.kim", "m.ng")["ok"]
        table = Logged(run, sim)
        yield table
    finally:
        if table is not None:
            table.kill()
        if sim.poll() is None:
            sim.kill()
        sim.communicate()


def lock(run: Path, why: str) -> None:
    """As somebody wrote it while the table was off."""
    journal = Journal.open(run / "journal", table=TABLE, create=False, now_ms=AT_MS)
    journal.append("lock", b'{"v":1,"why":"%s","by":"tests"}' % why.encode(), AT_MS)
    journal.sync()
    journal.close()


def test_link_sign_on_award_and_lock_are_in_the_log_of_a_real_table(tmp_path: Path) -> None:
    with house_of(tmp_path, TABLE) as house:
        pools = (pool("same_cycle_full"),)
        live = house.start(pools=pools, beat_ms=500)
        with playing(house, live) as table:
            refused = table.until("authorisation refused", "sign-on at the console")
            assert refused == f"<4>sign-on at the console: {staff.DEALER}: failed"
            table.until("award", "seat 2, $")

            before = len(table.lines("link lost")), len(table.lines("link ready"))
            door = DoorPlan(live.endpoint, ANY, SecretKey(house.server_keys[1].decode()))
            live.stop()
            lost = table.until("link lost", "link", after=before[0])
            assert lost.startswith("<4>")
            live = house.start(pools=pools, beat_ms=500, doors=(door,))
            back = table.until("link ready", "over", after=before[1])
            assert back.startswith("<6>")

            (award,) = awards_of(live).values()
            name = award["award"]
            # A table hears of an award as it is now: each state is looked for before the next.
            for state, *orders in (
                ("verified", (Verify(name), "k.lee")),
                ("approved", (Approve(name), "k.lee"), (Approve(name), "m.ng")),
                ("no longer pending", (Pay(name), "m.ng")),
            ):
                for order, person in orders:
                    assert live.order(order, person)["ok"]
                table.until("award", f"award {name}: seat 2, $50,000.20: {state}")
            table.stop()
            lock(house.folder / TABLE, "journal damaged")
            table.again()
            locked = table.until("table locked", "journal damaged")
            assert locked.startswith("<3>")
