"""The listening process: its socket, TLS, signals and systemd."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import uvicorn

from record.kit.notify import Notifier
from record.kit.words import counted
from web.app import App, sources_of
from web.config import WebConfig
from web.connections import MAY_LOOK, Connections, Protocol
from web.sources import say
from web.streams import PUBLIC_PART, STUCK_S, public_streams

BACKLOG: Final = 256
KEEP_ALIVE_S: Final = 10
REQUEST_S: Final = 20
"""From the connection, or the answer before, to the end of a request."""
LAST_S: Final = 5
"""Requests under way have so long to end."""
ROOM: Final = 200
"""Connections besides the streams of people with a session and the public ones."""
KEPT: Final = 64
"""Descriptors for everything that is no connection of a browser and no source."""
LONGEST_HEAD: Final = 32_768


class CannotListen(Exception):
    """The address or the certificate cannot be used."""


class _Server(uvicorn.Server):
    """Ends its streams before it waits for connections, and with exit 0 on a signal."""

    app: App
    connections: Connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        assert sockets is not None
        accepting = self.connections.accept(sockets[0], self._protocol, self.config.ssl)
        self._accepting = asyncio.create_task(accepting)

    def _protocol(self, connections: Connections, made: socket.socket) -> asyncio.Protocol:
        return Protocol(
            connections,
            made,
            config=self.config,
            server_state=self.server_state,
            app_state={**self.lifespan.state, MAY_LOOK: partial(connections.may_look, made)},
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._accepting.cancel()
        self.app.streams.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, self.handle_exit, name, None)
        yield


def serve(config: WebConfig, notifier: Notifier) -> None:
    """Until SIGTERM or SIGINT."""
    listening = _bound(config)
    port = listening.getsockname()[1]
    _check_tls(config)
    sources = len(sources_of(config, lambda _source: None))
    most = most_connections(config.most_streams, sources)
    config = replace(config, most_streams=streams_in(most, config.most_streams))
    app = App(config, port, beat=notifier.feed)
    # Its own messages could quote a request; ours cannot.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    settings = uvicorn.Config(
        app.asgi,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=LAST_S,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        ssl_certfile=config.certificate,
        ssl_keyfile=config.key,
    )
    server = _Server(settings)
    server.app = app
    server.connections = Connections(most, REQUEST_S, STUCK_S)
    scheme = "http" if config.certificate is None else "https"
    shown = f"[{config.address}]" if ":" in config.address else config.address
    print(f"{scheme}://{shown}:{port}/", flush=True)
    say(f"{counted(len(app.sources), 'source')}, pages at {scheme}://{shown}:{port}/")
    notifier.ready(f"serving at {scheme}://{shown}:{port}/")
    server.run(sockets=[listening])
    notifier.stopping()


def most_connections(streams: int, sources: int) -> int:
    """Fewer than asked for where the limit of open files is low: sources and reports need some."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = streams + public_streams(streams) + ROOM
    return wanted if files == resource.RLIM_INFINITY else min(wanted, files - KEPT - 2 * sources)


def streams_in(connections: int, asked: int) -> int:
    """How many of these streams have room, with the public ones beside them."""
    return max(1, min(asked, (connections - ROOM) * PUBLIC_PART // (PUBLIC_PART + 1)))


def _bound(config: WebConfig) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.address else socket.AF_INET
    made = socket.socket(family)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((config.address, config.port))
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        said = f"{config.address}:{config.port}: {error.strerror} (E-WEB-055)"
        raise CannotListen(said) from None
    return made


def _check_tls(config: WebConfig) -> None:
    if config.certificate is None or config.key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.certificate, config.key)
    except (OSError, ssl.SSLError) as error:
        said = error.strerror or type(error).__name__
        raise CannotListen(f"{config.certificate}: {said} (E-WEB-056)") from None
