"""The model server behind real CURVE sockets, in a thread of its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import zmq
from zmq.auth import CURVE_ALLOW_ANY
from zmq.auth.thread import ThreadAuthenticator

from record.link.codec import WireError, encode, from_table
from record.link.keys import load_public, load_secret
from tests.controller.link.model import ModelServer
from tests.patience import PATIENCE_S


class Behind:
    """``stop`` and ``start`` are a crash and a restart of the process: the port stays the same."""

    def __init__(self, model: ModelServer, keys: tuple[Path, Path]) -> None:
        self.model = model
        self._secret = load_secret(keys[0]).reveal()
        self._public = load_public(keys[1]).encode()
        self._context = zmq.Context()
        self._auth = ThreadAuthenticator(self._context)
        self._auth.start()
        self._auth.configure_curve(domain="*", location=CURVE_ALLOW_ANY)
        self.endpoint = "tcp://127.0.0.1:*"
        self.push: list[Any] = []
        """For every peer that has greeted, at the next turn."""
        self.lock = threading.Lock()
        self.start()

    def start(self) -> None:
        self._ending = threading.Event()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(PATIENCE_S)

    def stop(self) -> None:
        self._ending.set()
        self._thread.join()
        with self.lock:
            self.model.greeted.clear()

    def close(self) -> None:
        self.stop()
        self._auth.stop()
        self._context.term()

    def _run(self, ready: threading.Event) -> None:
        socket = self._context.socket(zmq.ROUTER)
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt(zmq.CURVE_SECRETKEY, self._secret)
        socket.setsockopt(zmq.CURVE_PUBLICKEY, self._public)
        socket.setsockopt(zmq.LINGER, 0)
        while True:
            try:
                socket.bind(self.endpoint)
                break
            except zmq.ZMQError as error:
                if error.errno != zmq.EADDRINUSE:
                    raise
                self._ending.wait(0.05)  # the socket before it lets go of the port in its own time
        bound = socket.getsockopt(zmq.LAST_ENDPOINT)
        assert isinstance(bound, bytes)
        self.endpoint = bound.decode().rstrip("\0")
        ready.set()
        while not self._ending.is_set():
            if socket.poll(20):
                peer, frame = socket.recv_multipart()
                self._answer(socket, peer, frame)
            with self.lock:
                pushed, self.push = self.push, []
                for peer in list(self.model.greeted):
                    for message in pushed:
                        socket.send_multipart([peer, encode(message)])
        socket.close()

    def _answer(self, socket: zmq.Socket[bytes], peer: bytes, frame: bytes) -> None:
        try:
            message = from_table(frame)
        except WireError as error:
            raise AssertionError(f"{frame!r}: {error}") from None
        with self.lock:
            for reply in self.model.take(peer, message):
                socket.send_multipart([peer, encode(reply)])
