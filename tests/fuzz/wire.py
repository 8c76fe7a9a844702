"""Encoders of the fuzzer's own, from the pages: no driver's code makes a valid frame here."""

from __future__ import annotations

from random import Random
from struct import pack
from typing import Final


def _table(polynomial: int) -> tuple[int, ...]:
    out = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ polynomial * (value & 1)
        out.append(value)
    return tuple(out)


_CRC16: Final = _table(0x8408)
_CRC32C: Final = _table(0x82F63B78)


def crc16(data: bytes) -> int:
    """CRC-16/MCRF4XX."""
    crc = 0xFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC16[(crc ^ byte) & 0xFF]
    return crc


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC32C[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


# --- FEIG ---------------------------------------------------------------------------------------


def feig(address: int, command: int, body: bytes, *, advanced: bool = True) -> bytes:
    if advanced:
        data = b"\x02" + pack(">H", len(body) + 7) + bytes((address, command)) + body
    else:
        data = bytes((len(body) + 5, address, command)) + body
    return data + pack("<H", crc16(data))


def tag_sets(uids: list[bytes]) -> bytes:
    return bytes((len(uids),)) + b"".join(b"\x03\x00" + uid for uid in uids)


def feig_frames(rng: Random, count: int) -> list[tuple[bytes, int, int, bytes, bool]]:
    """Bytes, address, command, body, advanced: inventories, other answers, anything at all."""
    found = []
    for _ in range(count):
        kind = rng.random()
        address, advanced = rng.choice((0, 1, 1, 2, 254)), True
        if kind < 0.4:
            command = 0xB0
            uids = [b"\xe0\x04" + rng.randbytes(6) for _ in range(rng.choice((0, 1, 1, 2, 3, 8)))]
            body = rng.choice((b"\x00", b"\x94")) + tag_sets(uids) if uids else b"\x01"
        elif kind < 0.6:
            command, body = rng.choice((0x69, 0xDD, 0x81)), rng.choice((b"\x00", b"\x0e", b"\x11"))
        elif kind < 0.7:
            command, body = 0x66, b"\x00" + rng.randbytes(4)
        elif kind < 0.8:
            command, body = 0x80, b"\x00" + rng.randbytes(14)
        else:
            command, advanced = rng.randrange(256), rng.random() < 0.7
            longest = rng.choice((0, 8, 40, 40, 250, 1017 if advanced else 250))
            body = rng.randbytes(rng.randint(0, longest))
        wire = feig(address, command, body, advanced=advanced)
        found.append((wire, address, command, body, advanced))
    return found


# --- CDP ----------------------------------------------------------------------------------------

CARDS: Final = [suit << 4 | rank for suit in range(4) for rank in range(1, 14)] + [0xF0, 0xFF]


def cdp(dev: int, kind: int, flags: int, seq: int, payload: bytes = b"") -> bytes:
    body = pack("<BBBBH", 1, dev, kind, flags, seq) + payload
    body += pack("<I", crc32c(body))
    return b"".join(bytes((len(run) + 1,)) + run for run in body.split(b"\0")) + b"\0"


def cdp_payload(rng: Random, kind: int) -> tuple[int, int, bytes]:
    """Sender, flags and a payload as the page allows them."""
    number = rng.choice((1, 2, 7, 255, 256, 65_536, rng.getrandbits(32) | 1))
    match kind:
        case 0x02:
            names = pack("<8s8s12s8s", b"UFELT", b"SHOE-1", b"SH-000001", rng.randbytes(8))
            return 0x10, 0, names + pack("<IB", number, 1)
        case 0x03:
            return 0x10, 0, pack("<BBHBHIIIB", 1, 0, 40, 0, 0, 60, 12, number, 0)
        case 0x04:
            return rng.choice((0x10, 0x11)), 0, pack("<IBBH", number, 1, rng.randrange(16), 0)
        case 0x20:
            read = rng.choice((0, 0, 0, 2)), rng.randint(0, 100), rng.randrange(16)
            return 0x10, rng.choice((1, 1, 3, 5)), pack("<IBBBB", number, rng.choice(CARDS), *read)
        case 0x42:
            cards = bytes(rng.choice(CARDS) for _ in range(rng.choice((1, 3, 3, 5, 52))))
            return 0x11, 1, bytes((rng.randint(1, 255), rng.randint(1, 2), len(cards))) + cards
        case 0x45:
            return 0x11, 1, pack("<IHHBB", number, 52, 52, rng.randrange(7), 2)
        case 0x7F:
            return 0x10, 0, bytes((rng.randint(1, 6),))
        case _:
            return rng.choice((0, 0x10, 0x11)), 0, b""


def cdp_frames(rng: Random, count: int) -> list[tuple[bytes, int, int, int, int, bytes]]:
    """Bytes, dev, type, flags, seq, payload."""
    found = []
    for _ in range(count):
        kind = rng.choice((0x02, 0x03, 0x04, 0x04, 0x20, 0x20, 0x20, 0x42, 0x45, 0x7E, 0x7F))
        if rng.random() < 0.15:
            kind, dev, flags = rng.randrange(256), rng.choice((0, 0x10, 0x11)), rng.randrange(8)
            payload = rng.randbytes(rng.choice((0, 3, 20, 60, 240)))
        else:
            dev, flags, payload = cdp_payload(rng, kind)
        seq = rng.choice((0, 1, 7, 255, 256, 0xFFFF, rng.getrandbits(16)))
        found.append((cdp(dev, kind, flags, seq, payload), dev, kind, flags, seq, payload))
    return found


# --- Alpha --------------------------------------------------------------------------------------


def alpha(label: str, text: str, nuls: int = 20) -> bytes:
    body = b"\x02G" + (label + text).encode() + b"\x03"
    return bytes(nuls) + b"\x01000" + body + f"{sum(body):04X}".encode() + b"\x04"
