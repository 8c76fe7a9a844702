"""``underfelt firmware challenge``: a fresh nonce and the digest a card device must answer.

Runs away from the table, where the released image is kept; the table never has the image.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Final

from controller.commands.ending import ends
from controller.commands.io import InputError
from record.kit.arguments import Arguments
from record.kit.verbs import Stop

NONCE_BYTES: Final = 16
DIGEST_BYTES: Final = 16
LARGEST: Final = 64 << 20
EPILOG: Final = """\
The answer is the first 16 bytes of SHA-256 over nonce and image. A nonce is valid
for one challenge: the table accepts none twice.

examples:
  underfelt firmware challenge shoe-3.1.bin
  underfelt shell challenge shoe NONCE DIGEST
"""


@ends("firmware")
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
        raise InputError(f"{options.image}: {error.strerror}") from None
    if not 0 < len(image) <= LARGEST:
        said = f"{len(image)} bytes; expected an image of 1 to {LARGEST}"
        raise Stop(f"{options.image}: {said}", os.EX_DATAERR)
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
