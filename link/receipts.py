"""PURE: receipts. With every ack the server states, under a key that only servers have, how far its
store was. A table shows its last one at the next greeting: a store that went back without a word is
found by what the server itself has signed, never by what a table says.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Literal

from record.link.messages import NO_HASH, Receipt

Verdict = Literal["ours", "another key", "forged"]
PURPOSE: Final = b"underfelt link receipts 1"


class Receipts:
    """Made with the first key; those of every key are known."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        """``secrets`` are the CURVE secret keys of the server's doors, 32 bytes each."""
        keys = [hmac.digest(secret, PURPOSE, sha256) for secret in secrets]
        self._keys = {sha256(key).hexdigest()[:16]: key for key in keys}
        self._name = next(iter(self._keys))

    def make(self, epoch: int, event: int, chain: str, staff: tuple[int, str]) -> Receipt:
        """``chain`` is that of event ``event``; ``staff`` number and head of the staff orders."""
        number, head = staff
        plain = Receipt(epoch, event, chain or NO_HASH, number, head or NO_HASH, self._name, "")
        return Receipt(*_fields(plain), self._name, self._mac(plain, self._keys[self._name]))

    def verdict(self, receipt: Receipt) -> Verdict:
        key = self._keys.get(receipt.key)
        if key is None:
            return "another key"
        return "ours" if hmac.compare_digest(self._mac(receipt, key), receipt.mac) else "forged"

    @staticmethod
    def _mac(receipt: Receipt, key: bytes) -> str:
        text = "\n".join(map(str, _fields(receipt)))
        return hmac.digest(key, text.encode(), sha256).hex()


def _fields(receipt: Receipt) -> tuple[int, int, str, int, str]:
    return receipt.epoch, receipt.event, receipt.chain, receipt.staff, receipt.staff_head
