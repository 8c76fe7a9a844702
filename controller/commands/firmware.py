"""``underfelt firmware challenge``: a fresh nonce and the digest a card device must answer.

Away from the table, by whoever holds the released image; the table never has it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
from pathlib import Path
from typing import Final

from record.kit.arguments import Arguments

NONCE_BYTES: Final = 16
DIGEST_BYTES: Final = 16
LARGEST: Final = 64 << 20
EPILOG: Final = """\
The answer is SHA-256 over nonce and image, its first 16 bytes. A nonce is good for
one challenge: the table asks none twice.

examples:
  underfelt firmware challenge shoe-3.1.bin
  underfelt shell challenge shoe NONCE DIGEST
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt firmware", "Prove the program of a card device.", EPILOG)
    parser.add_argument("what", choices=("challenge",), help="what to do")
    parser.add_argument("image", metavar="IMAGE", help="the released image")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options = parser.parse_args(argv)
    try:
        with Path(options.image).open("rb") as stream:
            image = stream.read(LARGEST + 1)
    except OSError as error:
        print(f"underfelt firmware: {options.image}: {error.strerror}", file=sys.stderr)
        return os.EX_NOINPUT
    if not 0 < len(image) <= LARGEST:
        said = f"{len(image)} bytes; expected an image of 1 to {LARGEST}"
        print(f"underfelt firmware: {options.image}: {said}", file=sys.stderr)
        return os.EX_DATAERR
    nonce, digest = challenge(image, secrets.token_bytes(NONCE_BYTES))
    if options.json:
        print(json.dumps({"nonce": nonce, "digest": digest, "bytes": len(image)}))
    else:
        print(f"image    {len(image)} bytes, SHA-256 {hashlib.sha256(image).hexdigest()}")
        print(f"nonce    {nonce}")
        print(f"digest   {digest}")
        print(f"at the table: underfelt shell challenge DEVICE {nonce} {digest}")
    return os.EX_OK


def challenge(image: bytes, nonce: bytes) -> tuple[str, str]:
    """Nonce and expected digest (docs/protocols/card-devices.md section 8)."""
    return nonce.hex(), hashlib.sha256(nonce + image).digest()[:DIGEST_BYTES].hex()
