"""link.toml: unknown keys refuse with file, key, value and choices; all problems at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from link.commands.link import run
from link.config import load
from link.config.options import SECTIONS, names
from record.kit.config import ConfigError

WHOLE = """\
[server]
name = "link-1"
store = "sqlite:link.db"

[[door]]
tables = "tcp://127.0.0.1:5701"
signs = "tcp://127.0.0.1:5702"
secret_key = "link.key"

[pools.main]
tables = { table-1 = "MBS3", table-2 = "MBS3" }
meter_rule = "sequential"

[[pools.main.levels]]
level = "grand"
base_cents = 2500000
reset_cents = 2500000
rate = "1.5 %"
shares = { "royal flush" = 100, "straight flush" = 10 }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "link.toml"
    path.write_text(text, "utf-8")
    return path


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        load(written(folder, text))
    return str(refused.value).splitlines()


def test_a_whole_file_is_read_with_its_defaults(tmp_path: Path) -> None:
    config = load(written(tmp_path, WHOLE))
    server = config.server
    assert (server.name, server.beat_ms, server.lease_ms) == ("link-1", 1_000, 5_000)
    assert server.store == str(tmp_path / "link.db")
    assert server.control == tmp_path / "control.sock"
    assert config.doors[0].secret_key == str(tmp_path / "link.key")
    assert not config.http.on
    (pool,) = config.pools
    assert (pool.pool, pool.levels[0].rate_ppm) == ("main", 15_000)


def test_everything_may_be_stated(tmp_path: Path) -> None:
    more = 'beat_ms = 500\nsealing_key = "credential:seal"\n[[door]]'
    text = WHOLE.replace("[[door]]", more, 1) + "[http]\non = true\nport = 9000\n"
    text += '[limits]\ngroup_most = 64\n[[door]]\ntables = "tcp://*:6001"\nsecret_key = "n.key"\n'
    config = load(written(tmp_path, text))
    assert (config.server.beat_ms, config.server.sealing_key) == (500, "credential:seal")
    assert (config.http.on, config.http.port) == (True, 9_000)
    assert config.limits.group_most == 64
    assert [door.signs for door in config.doors] == ["tcp://127.0.0.1:5702", ""]


def test_postgresql_is_left_as_it_is(tmp_path: Path) -> None:
    where = "postgresql://link@db/link"
    config = load(written(tmp_path, WHOLE.replace("sqlite:link.db", where)))
    assert config.server.store == where


def test_a_standby_is_required_of_postgresql_only(tmp_path: Path) -> None:
    more = "store_wait_ms = 500\nrequire_synchronous_standby = true\n[[door]]"
    text = WHOLE.replace("[[door]]", more, 1)
    path = tmp_path / "link.toml"
    key = "server.require_synchronous_standby"
    said = "true: expected a PostgreSQL store; SQLite has no standby (E-LNK-052)"
    assert problems(tmp_path, text) == [f"{path}: {key}: {said}"]
    config = load(written(tmp_path, text.replace("sqlite:link.db", "postgresql://db/link"))).server
    assert (config.require_synchronous_standby, config.store_wait_ms) == (True, 500)
    config = load(written(tmp_path, WHOLE)).server
    assert (config.require_synchronous_standby, config.store_wait_ms) == (False, 2_000)


def test_all_problems_are_told_at_once_with_key_value_and_choices(tmp_path: Path) -> None:
    text = WHOLE.replace('name = "link-1"', 'naem = "link-1"\nbeat_ms = 5')
    text = text.replace("tcp://127.0.0.1:5701", "udp://x") + "[https]\non = true\n"
    path = tmp_path / "link.toml"
    expected = 'expected "tcp://ADDRESS:PORT", an address of this machine'
    assert problems(tmp_path, text) == [
        f'{path}: https: {{"on": true}}: no such key; did you mean http? (E-LNK-051)',
        f'{path}: server.naem: "link-1": no such key; did you mean name? (E-LNK-051)',
        f"{path}: server.name: missing: this server's own name; no other server has it (E-LNK-053)",
        f"{path}: server.beat_ms: 5: expected a whole number, 100 to 60000 (E-LNK-052)",
        f'{path}: door[0].tables: "udp://x": {expected} (E-LNK-052)',
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"link-1"', '"a b"', "server.name"),
        ('"link-1"', "5", "server.name"),
        ('"sqlite:link.db"', '"mysql://x"', "server.store"),
        ('"link.key"', '"credential:a b"', "door[0].secret_key"),
        ("5702", "5701", "stated twice"),
        ("5702", "99999", "door[0].signs"),
        ("[[door]]", "[door]", "door: "),
        ('rate = "1.5 %"', "rate = 1.5", "E-POOL-002"),
        ('rate = "1.5 %"', 'rate = "101 %"', "E-POOL-005"),
        ('rate = "1.5 %"', 'speed = "1.5 %"', "E-POOL-002"),
        ("100, ", "101, ", "E-POOL-002"),
        ('table-2 = "MBS3"', 'table-2 = "RICO"', "E-POOL-016"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in WHOLE
    found = problems(tmp_path, WHOLE.replace(old, new, 1))
    assert any(said in line for line in found), found
    assert all("link.toml" in line for line in found)


@pytest.mark.parametrize("text", ["[server", "\x00", "a = 1979-99-99", "a = [" * 5_000])
def test_what_is_no_toml_is_refused(tmp_path: Path, text: str) -> None:
    assert "E-LNK-050" in problems(tmp_path, text)[0]


def test_a_number_too_long_to_show_is_refused_like_any_other(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, f"speed = 0x{'f' * 5_000}\n{WHOLE}")
    assert "speed: a number too long to show: no such key;" in said


def test_a_file_that_is_no_text_or_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "link.toml"
    for raw in (b"\xff\xfe", b"#" * (2 << 20)):
        path.write_bytes(raw)
        with pytest.raises(ConfigError, match="E-LNK-050"):
            load(path)


def test_every_option_is_on_its_page() -> None:
    """docs/operations/link.md says what each key is for."""
    page = (Path(__file__).parents[3] / "docs" / "operations" / "link.md").read_text("utf-8")
    keys = [f"`{name}`" for section in SECTIONS for name in names(section)]
    assert [key for key in keys if key not in page] == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"straight flush" = 10', '"straigth flush" = 10', "E-POOL-034"),
        ('"straight flush" = 10', '"straight flush" = 11', "E-POOL-034"),
        ('"MBS3"', '"XX"', "E-POOL-033"),
    ],
)
def test_link_check_refuses_a_pool_that_could_not_pay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, code: str
) -> None:
    assert old in WHOLE
    file = written(tmp_path, WHOLE.replace(old, new))
    assert run(["check", "--config", str(file)]) == 78
    assert code in capsys.readouterr().err
