"""Which table or link server a command means when nothing on its command line says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from record.kit.arguments import Arguments, add_config
from record.kit.places import LINK, TABLE, Found, Kind, NotFound, find_place
from tests.conformance.clauses import ROOT

SOCKET = ("socket",)


def made(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def test_the_variable_wins(tmp_path: Path) -> None:
    root = made(tmp_path, "etc/underfelt/t1/table.toml")
    environ = {"UNDERFELT_CONFIG": "/elsewhere.toml"}
    assert find_place(TABLE, SOCKET, root=root, environ=environ) == Found("/elsewhere.toml")


def test_the_only_table_is_found_by_its_configuration(tmp_path: Path) -> None:
    root = made(tmp_path, "etc/underfelt/t1/table.toml", "etc/underfelt/link.toml")
    found = find_place(TABLE, root=root, environ={})
    assert found == Found(config=f"{root}/etc/underfelt/t1/table.toml")
    assert find_place(LINK, root=root, environ={}) == Found(f"{root}/etc/underfelt/link.toml")


def test_a_running_table_is_found_by_its_socket_where_the_command_takes_one(tmp_path: Path) -> None:
    root = made(
        tmp_path,
        "etc/underfelt/t1/table.toml",
        "etc/underfelt/t2/table.toml",
        "run/underfelt/t2/service.sock",
    )
    assert find_place(TABLE, SOCKET, root=root, environ={}).socket.endswith("/t2/service.sock")
    with pytest.raises(NotFound, match=r"this machine has 2 tables: .*/t1/.*, .*/t2/"):
        find_place(TABLE, root=root, environ={})


def test_two_running_tables_are_never_guessed(tmp_path: Path) -> None:
    root = made(tmp_path, "run/underfelt/a/service.sock", "run/underfelt/b/service.sock")
    made(root, "etc/underfelt/a/table.toml")
    with pytest.raises(NotFound, match="2 tables"):
        find_place(TABLE, SOCKET, root=root, environ={})


def test_nothing_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as refused:
        find_place(TABLE, SOCKET, root=tmp_path, environ={})
    assert str(refused.value) == (
        "expected --config FILE or --socket, or set UNDERFELT_CONFIG; "
        f"there is no {tmp_path}/etc/underfelt/*/table.toml"
    )


@pytest.mark.parametrize(
    ("unit", "kind"),
    [("underfelt-table@.service", TABLE), ("underfelt-link.service", LINK)],
)
def test_the_units_start_what_the_commands_look_for(unit: str, kind: Kind) -> None:
    text = (Path(ROOT) / "systemd" / "system" / unit).read_text("utf-8")
    started = re.search(r"^ExecStart=.* --config /(\S+)", text, re.M)
    assert started is not None
    assert started[1].replace("%i", "*") == kind.config


def test_options_of_the_command_line_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERFELT_CONFIG", "env.toml")
    parser = Arguments("underfelt thing")
    add_config(parser, TABLE, "the configuration", "socket")
    parser.add_argument("--socket")
    assert parser.parse_args([]).config == "env.toml"
    assert parser.parse_args(["--config", "own.toml"]).config == "own.toml"
    given = parser.parse_args(["--socket", "s"])
    assert (given.config, given.socket) == (None, "s")
