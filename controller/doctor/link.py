"""The link: does each server answer, and does it take this table's key?

A CURVE handshake and nothing more: no message is sent, so a table that runs keeps its connection.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Final

import zmq
from zmq.utils.monitor import recv_monitor_message

from controller.faults.troubles import Trouble
from controller.link.dealer import dealer
from record.link.keys import SecretKey

UNREACHABLE: Final = "E-DOC-070"
REFUSED: Final = "E-DOC-071"
NO_NAME: Final = "E-DOC-072"
SILENT: Final = "E-DOC-073"
CONNECT_S: Final = 3.0
HANDSHAKE_MS: Final = 5_000
_ENDED: Final = {
    zmq.EVENT_HANDSHAKE_SUCCEEDED: "",
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: REFUSED,
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: REFUSED,
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL: REFUSED,
    zmq.EVENT_DISCONNECTED: REFUSED,
}


def link(endpoints: tuple[str, ...], secret: SecretKey, server_key: str) -> Iterator[Trouble]:
    for endpoint in endpoints:
        host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
        except socket.gaierror as error:
            yield Trouble(NO_NAME, endpoint, "degraded", str(error.strerror))
        except OSError as error:
            yield Trouble(UNREACHABLE, endpoint, "degraded", error.strerror or str(error))
        else:
            code = handshake(endpoint, secret, server_key)
            if code:
                yield Trouble(code, endpoint, "degraded")


def handshake(endpoint: str, secret: SecretKey, server_key: str) -> str:
    """The code of what went wrong, or nothing."""
    context = zmq.Context()
    made = dealer(context, secret, server_key)
    made.linger = 0
    monitor = made.get_monitor_socket()
    try:
        made.connect(endpoint)
        while monitor.poll(HANDSHAKE_MS):
            event = zmq.Event(recv_monitor_message(monitor)["event"])
            if event in _ENDED:
                return _ENDED[event]
        return SILENT
    finally:
        made.disable_monitor()
        monitor.close(0)
        made.close(0)
        context.term()
