"""An answer that a command cannot use: one line and an exit code, never a traceback."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from link.commands.io import asked
from link.server.replies import StatusReply
from record.kit.lines import bound
from record.kit.verbs import Stop
from tests.patience import PATIENCE_S

ANSWERS = {
    b"": (os.EX_UNAVAILABLE, "no answer; is the server running?"),
    b"{}\n": (os.EX_UNAVAILABLE, "no answer; is the server running?"),
    b"[]\n": (os.EX_UNAVAILABLE, "no answer; is the server running?"),
    b'{"server": "link-1", "lead': (os.EX_UNAVAILABLE, "no answer; is the server running?"),
    b'{"server": 7}\n': (os.EX_DATAERR, "cannot read the answer"),
    b'{"server": "link-1"}\n': (os.EX_DATAERR, "missing required field"),
    b'{"error": "E-LNK-020", "text": "not here"}\n': (os.EX_TEMPFAIL, "not here (E-LNK-020)"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_cannot_be_used_ends_the_command_with_a_line(
    tmp_path: Path, answer: bytes
) -> None:
    path = tmp_path / "c.sock"
    listening = bound(path)
    listening.listen()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(1_000)
            connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with pytest.raises(Stop) as stop:
        asked(path, {"verb": "status"}, StatusReply)
    thread.join(PATIENCE_S)
    listening.close()
    code, text = ANSWERS[answer]
    assert stop.value.code == code
    assert text in stop.value.text
