"""Tickets: the floor's machine says to a table's machine who signed in.

A table's machine makes a challenge for a browser. The floor signs it, with the host, the name and
the role, for a browser that has a session there. So no password reaches the table's machine.

A challenge is checked by its own code, not looked up: any number of them costs no memory, and a
flood takes no place from others. Only those that a ticket has used are kept until they expire.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Final
from urllib.parse import urlencode, urlsplit

import msgspec
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from record.kit.key_files import decode_z85, load_public_word, load_word
from record.kit.outside import NotStrict, read_json
from web.config import HOST, TableOptions, is_local_site
from web.messages import Challenge, Host, Name
from web.problems import BUSY, CHALLENGE_REFUSED, NO_SUCH_TABLE, TICKET_REFUSED, Problem

SECRET_WORD: Final = "underfelt-ticket-secret"
PUBLIC_WORD: Final = "underfelt-ticket-public"
COOKIE: Final = "__Host-underfelt-asks"
"""Which browser asked: a ticket is worth nothing in another one."""
LASTS_S: Final = 300
"""Somebody types a password in that time."""
MOST_USED: Final = 4_096
HEAD: Final = b"underfelt ticket 1\n"
SIGNATURE: Final = 64
NONCE, UNTIL, CODE = 16, 8, 32


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the floor signs, as JSON after ``HEAD``."""

    host: Host
    challenge: Challenge
    name: Name
    role: Name


class Signer:
    """At the floor's machine."""

    def __init__(self, key: Path, tables: Sequence[TableOptions]) -> None:
        """``KeyFileError`` if the file is no such key, or others may read it."""
        self._key = SigningKey(_seed(load_word(key, SECRET_WORD).reveal().decode()))
        self._sites = dict(filter(None, (_site(table.url) for table in tables)))

    def ticket(self, host: str, challenge: str, name: str, role: str) -> tuple[str, str]:
        """The table's site and the ticket for it: no other address is ever answered."""
        site = self._sites.get(host)
        if site is None:
            raise Problem(403, NO_SUCH_TABLE, "host: expected the url of a table of this floor")
        message = HEAD + msgspec.json.encode(Said(host, challenge, name, role))
        signed = self._key.sign(message)
        return site, base64.urlsafe_b64encode(signed).decode().rstrip("=")


class Door:
    """At a table's machine: makes challenges, and takes each ticket once."""

    def __init__(self, floor: str, trust: Path, clock: Callable[[], float] = monotonic) -> None:
        """``KeyFileError`` if the file is no such key."""
        self._floor, self._clock = floor, clock
        self._trust = VerifyKey(_seed(load_public_word(trust, PUBLIC_WORD)))
        self._secret = secrets.token_bytes(32)
        """Of this process: challenges of another are refused."""
        self._used: dict[bytes, int] = {}
        """Nonce to the millisecond at which it expires."""

    def challenge(self, host: str, browser: str) -> str:
        """``browser``: what its cookie holds."""
        until = (self._now_ms() + LASTS_S * 1_000).to_bytes(UNTIL, "big")
        head = secrets.token_bytes(NONCE) + until
        return (head + self._code(head, host, browser)).hex()

    def address(self, host: str, browser: str, back: str) -> str:
        """Where this browser signs in."""
        asked = {"host": host, "challenge": self.challenge(host, browser), "next": back}
        return f"{self._floor}/ticket?{urlencode(asked)}"

    def enter(self, ticket: str, host: str, browser: str) -> tuple[str, str]:
        """Name and role; each ticket once. ``Problem`` if it is not for this browser, here, now."""
        said = self._read(ticket)
        if said.host != host:
            raise Problem(403, TICKET_REFUSED, f"the ticket is for {said.host}")
        raw = bytes.fromhex(said.challenge)
        head, nonce = raw[: NONCE + UNTIL], raw[:NONCE]
        until, now = int.from_bytes(head[NONCE:], "big"), self._now_ms()
        ours = hmac.compare_digest(raw[NONCE + UNTIL :], self._code(head, host, browser))
        if not ours or until <= now:
            said_so = "the sign-in began in another browser, or too long ago; begin it again"
            raise Problem(403, CHALLENGE_REFUSED, said_so)
        if nonce in self._used:
            raise Problem(403, CHALLENGE_REFUSED, "the ticket was used; begin the sign-in again")
        self._keep(nonce, until, now)
        return said.name, said.role

    def _keep(self, nonce: bytes, until: int, now: int) -> None:
        """Full, it refuses: a nonce that was forgotten could be used again."""
        if len(self._used) >= MOST_USED:
            self._used = {one: end for one, end in self._used.items() if end > now}
        if len(self._used) >= MOST_USED:
            raise Problem(503, BUSY, "too many people sign in; try again", {"Retry-After": "60"})
        self._used[nonce] = until

    def _read(self, ticket: str) -> Said:
        """Nothing of it is believed, or parsed, before its signature is checked."""
        try:
            signed = base64.b64decode(ticket + "=" * (-len(ticket) % 4), b"-_", validate=True)
            message = self._trust.verify(signed[SIGNATURE:], signed[:SIGNATURE])
            if not message.startswith(HEAD):
                raise NotStrict("another kind of message")
            return msgspec.convert(read_json(message.removeprefix(HEAD)), Said)
        except (binascii.Error, ValueError, BadSignatureError):
            raise Problem(403, TICKET_REFUSED, "this is no ticket of our floor") from None

    def _code(self, head: bytes, host: str, browser: str) -> bytes:
        about = b"\n".join((head, host.encode(), browser.encode("utf-8", "replace")))
        return hmac.digest(self._secret, about, "sha256")

    def _now_ms(self) -> int:
        return int(self._clock() * 1_000)


def browser_of(cookies: Mapping[str, str]) -> str:
    """What tells this browser from others: its own secret, or a new one of 256 random bits."""
    known = cookies.get(COOKIE, "")
    return known if re.fullmatch(r"[A-Za-z0-9_-]{43}", known) else secrets.token_urlsafe(32)


def browser_header(value: str) -> str:
    return f"{COOKIE}={value}; Path=/; Max-Age={LASTS_S}; Secure; HttpOnly; SameSite=Strict"


def _site(url: str) -> tuple[str, str] | None:
    """Host and site of a table's own machine; only where TLS or this machine keeps it private."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    usual = ":443" if parts.scheme == "https" else ":80"
    host = parts.netloc.lower().removesuffix(usual)  # as browsers write it
    site = f"{parts.scheme}://{host}"
    safe = parts.scheme == "https" or is_local_site(site)
    return (host, site) if safe and HOST.fullmatch(host) else None


def _seed(z85: str) -> bytes:
    return decode_z85(z85) or b""
