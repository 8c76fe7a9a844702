"""A socket of a table towards its link servers: encrypted, with the table's key."""

from __future__ import annotations

import zmq

from record.link.keys import SecretKey


def dealer(
    context: zmq.Context[zmq.Socket[bytes]], secret: SecretKey, server: str
) -> zmq.Socket[bytes]:
    """``server`` is the servers' public key, Z85. Not connected yet."""
    made = context.socket(zmq.DEALER)
    own = secret.reveal()
    made.curve_secretkey, made.curve_publickey = own, zmq.curve_public(own)
    made.curve_serverkey = server.encode()
    return made
