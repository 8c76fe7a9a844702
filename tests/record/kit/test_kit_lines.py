"""JSON lines over a unix socket: what the table's daemon and the link server share."""

from __future__ import annotations

import ast
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from record.kit.lines import ask, bound, line_of, no_such_verb, peer_of
from tests.test_house_rules import PRODUCT, ROOT

KIT = "record/kit/lines.py"


def test_a_request_gets_its_answer_and_the_server_knows_who_asked(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "s.sock"
    with bound(path) as server:
        server.listen()

        def serve() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as lines:
                request = json.loads(lines.readline())
                connection.sendall(line_of({**request, "peer": list(peer_of(connection))}))

        thread = threading.Thread(target=serve)
        thread.start()
        answer = ask(path, {"verb": "status"})
        thread.join()
    assert answer == {"verb": "status", "peer": [os.getpid(), os.getuid(), os.getgid()]}


def test_a_socket_is_for_its_owner_and_its_group_before_anybody_can_connect(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sock"
    path.write_text("left behind")
    with bound(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        with pytest.raises(ConnectionRefusedError):
            ask(path, {"verb": "status"})


def test_an_unknown_verb_is_shown_cut_beside_the_known_ones() -> None:
    answer = no_such_verb("x" * 50, ("status", "order"))
    said = f"'{'x' * 40}': no such verb; expected order, status"
    assert answer == {"error": "E-SVC-002", "text": said}


@pytest.mark.parametrize("name", ["SO_PEERCRED", "AF_UNIX"])
def test_one_module_opens_stream_sockets_of_this_machine(name: str) -> None:
    """hw_sim has its own on purpose; systemd's two sockets take datagrams."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in PRODUCT
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == name
    }
    own = {path for path in users if not path.startswith("hw_sim/")}
    assert own - {"record/kit/notify.py", "controller/daemon/journald.py"} == {KIT}
