"""A floor whose tables keep real journals and frame logs, and whose server has a real store.

The ledger, the stores, the journal writer, the sealing and the frame log are the product's. What
the rules engine would write is put down here: facts, told cards, events, the closed round.
"""

from __future__ import annotations

import hashlib
import json
import struct
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from nacl.signing import SigningKey

from controller.commands.evidence import gather
from controller.evidence.clock import HouseClock
from controller.evidence.pack import write
from controller.evidence.parts import PackParts
from controller.evidence.server import server_half
from controller.history.framelog import FrameLog
from controller.history.sealing import CardSealer, TableKey
from controller.rules.cards import BY_NAME, HiddenCard
from hw_sim.devices import cdp
from hw_sim.scenario import card_byte
from link.commands.report_source import StoreSource
from link.ledger.orders import (
    MACHINE,
    Approve,
    Found,
    Founded,
    Order,
    Pay,
    Person,
    Reject,
    Verify,
)
from link.ledger.state import Reply
from link.ledger.terms import MustHit, Pool
from link.store.base import Store
from record.frame_files import FrameFolder
from record.journal import Journal
from record.link.codec import encode_body
from record.link.events import AnyBody, RoundPlayed
from record.link.messages import Event
from tests.link.ledger.support import ANNA, BEN, BOTH, CARL, Table, mystery, pool, terms
from tests.link.reports.shop import NOON_MS, Shop

CLOCK = HouseClock.of("Asia/Singapore", "06:00")
KEY = hashlib.sha256(b"the table's key").digest()
HANDS = {
    "royal flush": (["Ah", "Kh", "Qh"], ["Jh", "Th"]),
    "straight flush": (["9s", "8s", "7s"], ["6s", "5s"]),
    "high card": (["2c", "7d", "9h"], ["Jc", "Kd"]),
}
BURNT = "4c"
"""Drawn in every round and never opened."""


def key_of(person: Person) -> SigningKey:
    return SigningKey(hashlib.sha256(person.account.encode()).digest())


def public_of(person: Person) -> str:
    return bytes(key_of(person).verify_key).hex()


class JournalTable(Table):
    """Its events stand in a journal on disk, with the round around them."""

    def __init__(self, name: str, folder: Path, random: Random, key: bytes = KEY) -> None:
        super().__init__(name)
        self.dealt: list[str] = []
        self.sent_frames: list[bytes] = []
        """Every card, and every frame in which the shoe told one."""
        self.folder, self.random = folder, random
        self.disk = Journal.open(
            folder / "journal", table=name, segment_bytes=1 << 20, now_ms=NOON_MS
        )
        self.journal = self.disk.journal_id
        self.key = TableKey(key)
        self.cards = CardSealer(self.key, self.journal, random.randbytes)
        frames = FrameFolder(folder / "frames")
        self.frames = FrameLog(
            frames.open_new, frames.remove, self.key, random.randbytes, sealed=frozenset({"shoe"})
        )
        self.at_ms, self.draws = NOON_MS, 0
        self.put("opened", {"version": "1", "program": "a" * 64, "configuration": "b" * 64})

    def put(self, kind: str, body: dict[str, Any]) -> int:
        self.at_ms += 40
        text = json.dumps({"v": 1, **body}, separators=(",", ":")).encode()
        place = self.disk.append(kind, text, self.at_ms)
        self.disk.sync()
        self.seq, self.head = place.seq, place.hash.hex()
        return place.seq

    def fact(self, what: str, of: dict[str, Any], key: Any = None, **by: str) -> int:
        by = by or {"device": "shoe"}
        own_ms = self.at_ms - NOON_MS
        return self.put("fact", {"what": what, "of": of, "by": by, "at_ms": own_ms, "key": key})

    def event(self, body: AnyBody) -> Event:
        n = len(self.sent) + 1
        self.put("outbox", {"n": n, "event": json.loads(encode_body(body))})
        self.sent.append(Event(n, self.seq, self.head, self.at_ms, body))
        return self.sent[-1]

    # --- a round --------------------------------------------------------------------------------

    def open_bets(self) -> None:
        self.fact("bets opened", {}, person="D1", role="dealer")
        self.put("shown", {"device": "meter-1", "content": "$50.0", "at_us": 1})

    def draw(self, card: str) -> tuple[int, bytes]:
        """Record and nonce."""
        self.draws += 1
        number = self.draws
        at_us = (self.at_ms - NOON_MS) * 1000
        sent = cdp.encode(
            cdp.Frame(cdp.SHOE, cdp.CARD, 1, number & 0xFFFF,
                      struct.pack("<IBBBB", number, card_byte(card), 0, 98, 0))
        )  # fmt: skip
        self.dealt.append(card)
        self.sent_frames.append(sent)
        self.frames.note("shoe", "in", sent, at_us)
        self.frames.note("chips-1", "in", b"\x02\x00\x0d" + number.to_bytes(4, "big"), at_us)
        seq = self.disk.next_seq
        sealed = self.cards.seal(HiddenCard(BY_NAME[card]), seq, 0)
        _, nonce = self.cards.open(sealed, seq, 0)
        row = {"commit": sealed.commit.hex(), "box": sealed.box.hex()}
        key = ["shoe", 0x20 << 56 | 7 << 28 | number]
        return self.fact("card drawn", {"card": row}, key), nonce

    def deal(self, hands: dict[int, str]) -> None:
        """Every hand has its own community cards in this house; one card a round is burnt."""
        told = []
        for card in sorted({c for hand in hands.values() for part in HANDS[hand] for c in part}):
            seq, nonce = self.draw(card)
            told.append({"seq": seq, "index": 0, "card": card, "nonce": nonce.hex(),
                         "moment": "hand opened in settlement"})  # fmt: skip
        self.draw(BURNT)
        opened = self.fact("hand opened", {"seat": 1}, person="D1", role="dealer")
        self.put("revealed", {"fact": opened, "cards": told})
        self.frames.flush()

    def close(self, number: int, hands: dict[int, str], cents: dict[int, int]) -> RoundPlayed:
        seats = [{"seat": seat, "wagers": {"$": 500, "progressive": 100}, "cards": HANDS[hand][0]}
                 for seat, hand in hands.items()]  # fmt: skip
        record = {
            "game": "MBS3", "settings": {},
            "round": {"seats": seats, "community": HANDS[next(iter(hands.values()))][1]},
        }  # fmt: skip
        results = [
            {"seat": seat, "hand": hand, "wagers": {"progressive": {
                "placed": 100, "status": "win", "odds": None, "win": cents.get(seat)}}}
            for seat, hand in hands.items()
        ]  # fmt: skip
        result = {"round_status": "settled", "seats": results}
        self.put("round", {"round": number, "record": record, "result": result})
        return RoundPlayed(number, record, result)


class House(Shop):
    """``folder``: link.db, and a folder for each table."""

    def __init__(
        self, folder: Path, *pools: Pool, seed: int = 1, store: Store | None = None
    ) -> None:
        super().__init__(store or folder / "link.db", *pools, tables=())
        self.folder, self.random = folder, Random(seed)
        staff = tuple(Founded(p.account, p.role, public_of(p)) for p in (ANNA, BEN, CARL))
        self.ledger.found(Found(staff, "first set-up"), MACHINE, self.now_ms)
        self.commit()
        self.rounds: dict[str, int] = {}

    def order(self, order: Order, by: Person | Sequence[Person] = ANNA) -> list[Reply]:
        """Signed, as the server does it."""
        people = (by,) if isinstance(by, Person) else tuple(by)

        def sign(text: bytes) -> tuple[str, ...]:
            return tuple(key_of(p).sign(text).signature.hex() for p in people)

        replies = self.ledger.order(order, people, self.now_ms, sign)
        self._done()
        return replies

    def join(self, *names: str) -> None:
        for name in names:
            (self.folder / name).mkdir()
            self.tables[name] = JournalTable(name, self.folder / name, self.random)
            self.tables[name].rule = self.pools[0].levels[0].meter_rule
            assert self.hello(name).refused is None

    def close(self) -> None:
        for name in self.tables:
            self.table(name).frames.close()
            self.table(name).disk.close()
        self.real.close()

    def table(self, name: str) -> JournalTable:
        found = self.tables[name]
        assert isinstance(found, JournalTable)
        return found

    def play(self, name: str, hands: dict[int, str], *, back: Sequence[int] = ()) -> list[str]:
        """One round; the awards that came of it. ``back``: seats whose wager is returned."""
        table = self.table(name)
        number = self.rounds[name] = self.rounds.get(name, 0) + 1
        self.now_ms += self.random.randrange(1, 3_600_000)
        table.at_ms = max(table.at_ms, self.now_ms)
        known = set(self.store.awards)
        table.open_bets()
        self.bet(name, number, *hands)
        table.deal(hands)
        wins = [(seat, hand) for seat, hand in sorted(hands.items(), reverse=True)
                if hand != "high card"]  # fmt: skip
        if back:
            self.back(name, number, *back)
        if wins:
            self.claim(name, number, *wins)
            self.tick(100)
        mine = [a for a in self.store.awards.values() if a.award not in known]
        cents = {a.seat: a.cents for a in mine if a.percent and a.table == name}
        self.tell(name, table.close(number, hands, cents))
        return [a.award for a in mine]

    def decide(self, award: str) -> None:
        """Some way that people may take."""
        row = self.store.awards[award]
        way = self.random.randrange(5)
        if not self.ledger.state.journals[row.journal].rounds[row.round].wagered(row.seat):
            way = 1  # its wager went back
        if way:
            self.order(Verify(award, "deck and hand checked"), CARL)
        if way > 1:
            self.order(Approve(award), ANNA)
        if way > 2:
            self.order(Approve(award), BEN)
        if way == 4:
            self.order(Pay(award), BEN)
        elif way == 1:
            self.order(Reject(award, "the deck was short"), BOTH)

    def parts(self, award: str, *, whole: bool | None = None, key: bool = True) -> PackParts:
        """What the command gathers, from the open store."""
        row = self.store.awards[award]
        path = self.folder / "table.key"
        if not path.exists():
            path.write_text(f"underfelt-table-key-1 {KEY.hex()}\n")
            path.chmod(0o400)
        options = Namespace(
            award=award, config=None, socket=None, backup=None, since=None, round=row.round,
            seat=row.seat, journal=self.folder / row.table / "journal", frames=None,
            key=path if key else None,
        )  # fmt: skip
        server = server_half(StoreSource(self.real), award, whole=whole)
        parts, _ = gather(options, server)
        return parts

    def pack(self, award: str, folder: Path, *, whole: bool | None = None) -> PackParts:
        parts = self.parts(award, whole=whole)
        write(folder, parts, CLOCK, self.now_ms)
        return parts


def random_house(
    folder: Path, seed: int, *, ties: str = "strict_order", store: Store | None = None
) -> House:
    """Three tables, two levels, some twenty rounds of chance."""
    random = Random(f"{seed} {ties}")
    rule = random.choice(("sequential", "snapshot"))
    common: dict[str, Any] = {"meter_rule": rule, "ties": ties,
                              "tie_ms": 0 if ties == "strict_order" else 50}  # fmt: skip
    main = terms(base_cents=100_003, rate_ppm=123_457, hidden_ppm=1_000,
                 ceiling_cents=random.choice((None, 100_050)), **common)  # fmt: skip
    hidden = mystery(base_cents=100, reset_cents=50, rate_ppm=200_000,
                     must_hit=MustHit(120, 300), **common)  # fmt: skip
    house = House(folder, pool(main, hidden, tables=("T1", "T2", "T3")), seed=seed, store=store)
    house.join("T1", "T2", "T3")
    for _ in range(22):
        hands = dict.fromkeys(random.sample(range(1, 8), random.randrange(1, 4)), "high card")
        luck = random.randrange(8)
        if luck < 2:
            hands = dict.fromkeys(hands, "royal flush" if luck else "straight flush")
        lost = [seat for seat, hand in hands.items() if hand == "high card"]
        back = lost[:1] if random.random() < 0.2 else ()
        for award in house.play(random.choice(("T1", "T2", "T3")), hands, back=back):
            if house.state_of(award) == "locked" and random.random() < 0.8:
                house.decide(award)
    house.check()
    return house
