"""Clients of the other servers, one event in flight each: their bare protocols over asyncio.

No client library stands between the clock and the server. Every client counts its own events
from 1, as a table's journal does.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Final

from bench.link_parts import PATIENCE_MS, event

CONTRIBUTION: Final = 3_000_000
"""Units that the event of ``bench.link_parts`` adds to the pool's display."""

ONCE: Final = b"""
local seen = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
local n = tonumber(ARGV[2])
if n <= seen then return seen end
if n ~= seen + 1 then return redis.error_reply('a gap') end
redis.call('HSET', KEYS[1], ARGV[1], n)
redis.call('INCRBY', KEYS[2], ARGV[3])
redis.call('XADD', KEYS[3], '*', 't', ARGV[1], 'n', ARGV[2], 'e', ARGV[4])
return n
"""
"""What the link does with an event, as one script: a repeat is answered and not applied, a gap is
refused, the pool is added to, the event is appended."""


class Client(asyncio.Protocol):
    """A subclass knows how its server greets, takes an event and says that it has it."""

    def __init__(self, number: int) -> None:
        loop = asyncio.get_running_loop()
        self.number = number
        self.ready: asyncio.Future[None] = loop.create_future()
        self.done: asyncio.Future[None] = loop.create_future()
        self.latencies: list[float] = []
        self.buffer = b""
        self.n = 0
        self._sent = self._end = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.write = transport.write
        self.close = transport.close
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.greet()

    def connection_lost(self, exc: Exception | None) -> None:
        self.fail(f"connection lost: {exc}")

    def fail(self, why: str) -> None:
        for future in (self.ready, self.done):
            if not future.done():
                future.set_exception(RuntimeError(why))

    def welcome(self) -> None:
        if not self.ready.done():
            self.ready.set_result(None)

    def begin(self, end: float) -> None:
        self._end = end
        self._next()

    def _next(self) -> None:
        self.n += 1
        self._sent = time.perf_counter()
        self.send(event(self.n))

    def acknowledged(self) -> None:
        at = time.perf_counter()
        self.latencies.append(at - self._sent)
        if at < self._end:
            self._next()
        elif not self.done.done():
            self.done.set_result(None)

    @abstractmethod
    def greet(self) -> None: ...

    @abstractmethod
    def send(self, body: bytes) -> None: ...


def _bulk(*words: bytes) -> bytes:
    """A command of Redis."""
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"".join(parts)


class RedisClient(Client):
    def greet(self) -> None:
        self._script = b""
        self.write(_bulk(b"SCRIPT", b"LOAD", ONCE))

    def send(self, body: bytes) -> None:
        keys = (b"watermarks", b"pool", b"events")
        table, n, units = b"t%d" % self.number, b"%d" % self.n, b"%d" % CONTRIBUTION
        self.write(_bulk(b"EVALSHA", self._script, b"3", *keys, table, n, units, body))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n" in self.buffer:
            line, rest = self.buffer.split(b"\r\n", 1)
            if line[:1] == b"-":
                self.fail(line.decode())
                return
            if line[:1] == b"$":
                if len(rest) < 42:
                    return
                self._script, self.buffer = rest[:40], rest[42:]
                self.welcome()
                continue
            self.buffer = rest
            if line != b":%d" % self.n:
                self.fail(f"event {self.n} was answered {line!r}")
                return
            self.acknowledged()


class NatsClient(Client):
    def greet(self) -> None:
        self._inbox = b"_INBOX.c%d" % self.number
        self.write(b'CONNECT {"verbose":false,"pedantic":false}\r\n')
        self.write(b"SUB %s 1\r\nPING\r\n" % self._inbox)

    def send(self, body: bytes) -> None:
        self.write(b"PUB events.t %s %d\r\n%s\r\n" % (self._inbox, len(body), body))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n" in self.buffer:
            line, rest = self.buffer.split(b"\r\n", 1)
            if line.startswith(b"MSG"):
                size = int(line.rsplit(b" ", 1)[1])
                if len(rest) < size + 2:
                    return
                body, self.buffer = rest[:size], rest[size + 2 :]
                if b'"error"' in body:
                    self.fail(body.decode())
                    return
                self.acknowledged()
                continue
            self.buffer = rest
            if line == b"PONG":
                self.welcome()
            elif line == b"PING":
                self.write(b"PONG\r\n")
            elif line.startswith(b"-ERR"):
                self.fail(line.decode())


def nats_stream(port: int) -> None:
    """A stream in files for ``events.>``."""
    asked = {"name": "EVENTS", "subjects": ["events.>"], "storage": "file", "num_replicas": 1}
    body = json.dumps(asked).encode()
    with socket.create_connection(("127.0.0.1", port), 10) as one:
        one.sendall(
            b'CONNECT {"verbose":false}\r\nSUB _INBOX.m 1\r\n'
            b"PUB $JS.API.STREAM.CREATE.EVENTS _INBOX.m %d\r\n%s\r\n" % (len(body), body)
        )
        answer = b""
        while b"stream_create_response" not in answer:
            got = one.recv(65_536)
            if not got:
                raise RuntimeError(f"NATS went away: {answer!r}")
            answer += got
        if b'"error"' in answer:
            raise RuntimeError(answer)


class MqttClient(Client):
    """MQTT 3.1.1, QoS 1: the broker answers PUBACK."""

    def greet(self) -> None:
        self.write(_connect(b"c%d" % self.number, clean=True))

    def send(self, body: bytes) -> None:
        packet = b"\0\2ev" + struct.pack(">H", self.n % 65_000 + 1) + body
        assert 128 <= len(packet) < 16_384
        self.write(bytes((0x32, len(packet) & 127 | 128, len(packet) >> 7)) + packet)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while len(self.buffer) >= 4:  # CONNACK and PUBACK are four bytes
            kind, self.buffer = self.buffer[0] >> 4, self.buffer[4:]
            if kind == 2:
                self.welcome()
            elif kind == 4:
                self.acknowledged()


def _connect(name: bytes, *, clean: bool) -> bytes:
    packet = b"\0\4MQTT\4" + (b"\2" if clean else b"\0") + b"\0\x3c"
    packet += struct.pack(">H", len(name)) + name
    return b"\x10" + bytes((len(packet),)) + packet


def mqtt_subscriber(port: int) -> None:
    """Somebody who wants every event and is away: so the broker has to keep them."""
    with socket.create_connection(("127.0.0.1", port), 10) as one:
        one.sendall(_connect(b"away", clean=False))
        one.recv(4)
        one.sendall(b"\x82\7\0\1\0\2ev\1")
        one.recv(5)


async def drive(
    kind: type[Client], port: int, count: int, seconds: float, begin: Callable[[], None]
) -> list[float]:
    """The latency of every event that was acknowledged; ``begin`` is called before the first."""
    loop = asyncio.get_running_loop()
    clients = []
    for number in range(count):
        made = await loop.create_connection(partial(kind, number), "127.0.0.1", port)
        clients.append(made[1])
    patience = PATIENCE_MS / 1_000
    await asyncio.wait_for(asyncio.gather(*(client.ready for client in clients)), patience)
    begin()
    end = time.perf_counter() + seconds
    for client in clients:
        client.begin(end)
    await asyncio.wait_for(asyncio.gather(*(client.done for client in clients)), seconds + patience)
    for client in clients:
        client.close()
    return [latency for client in clients for latency in client.latencies]
