"""A bus with smbus2's methods that talks to the simulator (docs/protocols/simulator.md, 2)."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Sequence
from ctypes import memmove, string_at
from typing import Any

READ = 0x1
"""I2C_M_RD in the flags of a message."""


class SimBus:
    """Stands where ``smbus2.SMBus`` stands; raises the same OSError."""

    funcs = 0x1
    """I2C_FUNC_I2C: it takes ``i2c_rdwr``."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def write_byte(self, i2c_addr: int, value: int) -> None:
        self._transfer(i2c_addr, bytes((value,)), 0)

    def read_byte(self, i2c_addr: int) -> int:
        return self._transfer(i2c_addr, b"", 1)[0]

    def write_byte_data(self, i2c_addr: int, register: int, value: int) -> None:
        self._transfer(i2c_addr, bytes((register, value)), 0)

    def read_byte_data(self, i2c_addr: int, register: int) -> int:
        return self._transfer(i2c_addr, bytes((register,)), 1)[0]

    def write_i2c_block_data(self, i2c_addr: int, register: int, data: Sequence[int]) -> None:
        if len(data) > 32:
            raise ValueError("at most 32 bytes in a block")
        self._transfer(i2c_addr, bytes((register, *data)), 0)

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        if length > 32:
            raise ValueError("at most 32 bytes in a block")
        return list(self._transfer(i2c_addr, bytes((register,)), length))

    def i2c_rdwr(self, *i2c_msgs: Any) -> None:
        """Several messages in one transaction; a write and the read after it are one transfer."""
        transfers: list[str] = []
        reads: list[Any] = []
        written = ""
        for message in i2c_msgs:
            if message.flags & READ:
                transfers.append(f'["{written}", {message.len}]')
                reads.append(message)
                written = ""
                continue
            if written:
                transfers.append(f'["{written}", 0]')
            written = string_at(message.buf, message.len).hex()
        if written:
            transfers.append(f'["{written}", 0]')
        said = (
            f'{{"op": "i2c", "address": {i2c_msgs[0].addr}, "transfers": [{", ".join(transfers)}]}}'
        )
        data = bytes.fromhex(self._ask(said)["data"])
        for message in reads:
            memmove(message.buf, data, message.len)
            data = data[message.len :]

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _transfer(self, address: int, data: bytes, read: int) -> bytes:
        request = {"op": "i2c", "address": address, "write": data.hex(), "read": read}
        return bytes.fromhex(self._ask(json.dumps(request))["data"])

    def _ask(self, request: str) -> dict[str, Any]:
        self._socket.sendall(request.encode() + b"\n")
        line = self._file.readline()
        if not line:
            raise OSError(errno.ENODEV, "the simulator is gone")
        answer: dict[str, Any] = json.loads(line)
        if "errno" in answer:
            raise OSError(answer["errno"], os.strerror(answer["errno"]))
        return answer
