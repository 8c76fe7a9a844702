"""A batch as one transaction, or as one call for each operation: the same outcome either way."""

from __future__ import annotations

import errno

import pytest

from drivers.base import BusDone, BusFailed, BusOp, ReadBlock, ReadByte, WriteBlock, WriteByte
from drivers.hd44780 import codec as lcd
from drivers.ht16k33 import codec as segments
from drivers.mcp23017 import codec as expander
from drivers.transport.i2c import Runner, messages_of
from tests.drivers.transport.boards_bus import EXPANDER, METER, PROMPT, BoardsBus

RAM = bytes(range(16))
BATCHES: list[tuple[str, int, tuple[BusOp, ...]]] = [
    ("search", EXPANDER, expander.search()),
    ("configure", EXPANDER, expander.configure(expander.INPUTS, EXPANDER, 1, 0)),
    ("poll", EXPANDER, expander.poll(EXPANDER, 2, None)),
    ("poll with a latch", EXPANDER, expander.poll(EXPANDER, 3, 0x8000)),
    ("write", METER, segments.write_batch(RAM, segments.BRIGHTEST)),
    ("verify", METER, segments.verify_batch(segments.BRIGHTEST)),
    ("light", METER, segments.light_batch(blink=True)),
    *((f"init {n}", PROMPT, step.ops) for n, step in enumerate(lcd.INIT_STEPS)),
    ("text", PROMPT, lcd.write_ops(lcd.cell_address(1, 0), b"DEAL ")),
    ("text back", PROMPT, lcd.read_text_ops(lcd.cell_address(1, 0), lcd.PIECE)),
    ("glyph back", PROMPT, lcd.read_glyph_ops(3)),
]


@pytest.mark.parametrize("refuses", [set(), {"reads"}, {"all"}], ids=["takes all", "reads", "none"])
def test_every_batch_has_the_outcome_that_single_calls_have(refuses: set[str]) -> None:
    joined, single = BoardsBus(f"joined {refuses}"), BoardsBus(f"single {refuses}")
    joined.refuses, single.funcs = refuses, 0
    one, other = Runner(joined), Runner(single)
    for name, address, ops in BATCHES:
        outcome = one.run(address, ops)
        assert isinstance(outcome, BusDone), name
        assert outcome == other.run(address, ops), name
    assert "i2c_rdwr" not in single.calls
    text = one.run(PROMPT, lcd.read_text_ops(lcd.cell_address(1, 0), lcd.PIECE))
    assert isinstance(text, BusDone)
    assert lcd.text_matches(text.data, lcd.cell_address(1, 0), b"DEAL ")


def test_a_batch_is_one_call() -> None:
    bus = BoardsBus("one call")
    runner = Runner(bus)
    runner.run(EXPANDER, expander.configure(expander.INPUTS, EXPANDER, 1, 0))
    runner.run(PROMPT, lcd.read_glyph_ops(0))
    assert bus.calls == ["i2c_rdwr", "i2c_rdwr"]


def test_the_messages_are_what_the_page_says() -> None:
    ops = (WriteByte(0x21), WriteBlock(0x14, b"\x32\x00"), ReadByte(), ReadBlock(0x00, 22))
    messages, buffers = messages_of(0x20, ops)
    told = [(m.addr, m.flags, m.len, bytes(m)) for m in messages]
    assert told == [
        (0x20, 0, 1, b"\x21"),
        (0x20, 0, 3, b"\x14\x32\x00"),
        (0x20, 1, 1, b"\x00"),
        (0x20, 0, 1, b"\x00"),
        (0x20, 1, 22, bytes(22)),
    ]
    assert [None if buffer is None else len(buffer) for buffer in buffers] == [None, None, 1, 22]


def test_an_adapter_that_takes_no_read_inside_is_asked_once() -> None:
    bus = BoardsBus("no read inside")
    bus.refuses = {"reads"}
    runner = Runner(bus)
    glyph, poll = lcd.read_glyph_ops(0), (WriteBlock(0x06, b"\x01\x21"), ReadByte())
    assert isinstance(runner.run(PROMPT, glyph), BusDone)
    assert bus.calls.count("i2c_rdwr") == 1
    runner.run(PROMPT, glyph)
    assert bus.calls.count("i2c_rdwr") == 1
    runner.run(EXPANDER, poll)
    assert bus.calls[-1] == "i2c_rdwr"


def test_an_adapter_that_takes_no_transaction_is_asked_once() -> None:
    bus = BoardsBus("no transaction")
    bus.refuses = {"all"}
    runner = Runner(bus)
    for _ in range(3):
        assert isinstance(runner.run(EXPANDER, expander.poll(EXPANDER, 1, None)), BusDone)
    assert bus.calls == ["i2c_rdwr", *["write_block", "read_block"] * 3]


def test_what_does_not_acknowledge_is_a_failure_and_is_not_tried_again() -> None:
    bus = BoardsBus("no acknowledge")
    bus.bus.faults[EXPANDER].absent = True
    outcome = Runner(bus).run(EXPANDER, expander.poll(EXPANDER, 1, None))
    assert outcome == BusFailed(0, errno.EREMOTEIO)
    assert bus.calls == ["i2c_rdwr"]
    bus.funcs = 0
    bus.bus.faults[EXPANDER].absent = False
    bus.bus.faults[EXPANDER].nak_every = 2
    outcome = Runner(bus).run(EXPANDER, expander.poll(EXPANDER, 1, None))
    assert outcome == BusFailed(1, errno.EREMOTEIO)


def test_a_long_batch_is_divided_at_what_the_kernel_takes() -> None:
    bus = BoardsBus("long")
    outcome = Runner(bus).run(PROMPT, (ReadByte(),) * 100)
    assert isinstance(outcome, BusDone)
    assert len(outcome.data) == 100
    assert bus.calls == ["i2c_rdwr"] * 3
