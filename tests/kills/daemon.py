"""The real daemon, ``underfelt table``, with a witness of what the server tells it.

python -m tests.kills.daemon WITNESS table --config FILE
"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import patch

from controller.cli import main
from controller.link import client
from tests.kills.witness import watched

if __name__ == "__main__":
    with patch.object(client, "LinkClient", watched(Path(sys.argv[1]))):
        sys.exit(main(sys.argv[2:]))
