"""The simulator's socket for bus and pins, and the clients that stand for smbus2 and gpiozero."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from smbus2 import i2c_msg

from hw_sim.client.bus import SimBus
from hw_sim.client.pins import SimFactory
from hw_sim.layout import load
from hw_sim.scenario import HERE
from hw_sim.sockets import EXPECTED, TableSocket
from hw_sim.table import SimTable

KEYS_1 = 0x20


def served(tmp_path: Path, act: Callable[[str, SimTable], Any]) -> Any:
    """``act`` in a thread, as a controller would, while the socket is served."""

    async def main() -> Any:
        table = SimTable(load(HERE / "tables" / "full.toml"))
        serving = TableSocket(table.bus, table.pins)
        await serving.start(tmp_path / "table.sock")
        try:
            return await asyncio.to_thread(act, str(tmp_path / "table.sock"), table)
        finally:
            await serving.close()

    return asyncio.run(main())


def ask(path: str, *requests: str) -> list[Any]:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        link.sendall("".join(f"{request}\n" for request in requests).encode())
        with link.makefile("rb") as answers:
            return [json.loads(answers.readline()) for _ in requests]


def test_several_transfers_in_one_request(tmp_path: Path) -> None:
    transfers = '[["060121", 0], ["00", 8], ["", 2]]'
    answers = served(
        tmp_path,
        lambda path, _: ask(
            path,
            f'{{"op": "i2c", "address": 32, "transfers": {transfers}}}',
            '{"op": "i2c", "address": 33, "transfers": [["00"]]}',
            '{"op": "i2c", "address": 33, "transfers": [["0", 1]]}',
            '{"op": "i2c", "address": 9, "transfers": [["00", 1]]}',
        ),
    )
    # IODIR, IPOL, GPINTEN as at power-on, DEFVAL as written; then on from where the pointer stood.
    assert answers[0] == {"data": "ffff000000000121" + "0000"}
    assert answers[1] == {"error": f"['00']: {EXPECTED}"}
    assert answers[2] == {"error": f"['0', 1]: {EXPECTED}"}
    assert answers[3] == {"errno": errno.EREMOTEIO}


def test_the_client_takes_the_messages_of_smbus2(tmp_path: Path) -> None:
    def act(path: str, table: SimTable) -> tuple[list[bytes], int]:
        bus = SimBus(path)
        mark, register = i2c_msg.write(KEYS_1, [6, 1, 0x21]), i2c_msg.write(KEYS_1, [0])
        block, more = i2c_msg.read(KEYS_1, 8), i2c_msg.read(KEYS_1, 2)
        bus.i2c_rdwr(mark, register, block, more)
        with pytest.raises(OSError, match=r"Remote I/O error") as raised:
            bus.i2c_rdwr(i2c_msg.write(9, [0]), i2c_msg.read(9, 1))
        assert raised.value.errno == errno.EREMOTEIO
        single = bus.read_i2c_block_data(KEYS_1, 6, 2)
        bus.close()
        return [bytes(block), bytes(more), bytes(single)], table.counts()["keys-1"]

    found, messages = served(tmp_path, act)
    assert found == [bytes.fromhex("ffff000000000121"), b"\0\0", b"\x01\x21"]
    assert messages == 6  # three writes and three reads, however they were joined


def test_pins_are_read_together_and_a_lost_edge_is_seen_all_the_same(tmp_path: Path) -> None:
    def act(path: str, table: SimTable) -> list[bool]:
        factory = SimFactory(path)
        table.pins.lose_edges.add(17)
        found = [factory.pin(number).state for number in (17, 27, 22, 4)]
        table.pins.drive(17, False)
        while factory.pin(17).state:
            pass  # for as long as levels count as those of now
        factory.close()
        return [bool(level) for level in found]

    assert served(tmp_path, act) == [True, False, True, True]


def test_counts_are_what_devices_answered(tmp_path: Path) -> None:
    def act(path: str, table: SimTable) -> dict[str, int]:
        ask(path, '{"op": "pins"}', '{"op": "pin", "number": 17}')
        return table.counts()

    counts = served(tmp_path, act)
    assert counts["pins"] == 5
    assert counts["keys-1"] == counts["chips-1"] == 0
    assert len(counts) == 6 + 11 + 1
