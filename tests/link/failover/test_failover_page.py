"""The example files of docs/operations/link-failover.md promise what the store demands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from link.config import load
from link.store.postgres import SYNCHRONOUS

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "examples" / "failover"
PAGE = ROOT / "docs" / "operations" / "link-failover.md"
NODES = {"db-1": "10.20.0.11", "db-2": "10.20.0.12"}


def keys(node: str) -> dict[str, str]:
    """The scalars of such a file by their path. Mappings in plain blocks, two spaces each, are all
    the YAML there is in it; a tab or anything else fails here."""
    found: dict[str, str] = {}
    path: list[str] = []
    for line in (FOLDER / f"patroni-{node}.yml").read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        told = re.fullmatch(r"((?:  )*)(?:- (\S.*)|([a-z0-9_]+):(?: (\S.*))?)", line)
        assert told is not None, line
        depth = len(told[1]) // 2
        if told[2]:
            found[".".join(path[:depth])] = found.get(".".join(path[:depth]), "") + told[2] + "\n"
            continue
        path[depth:] = [told[3]]
        if told[4]:
            found[".".join(path)] = told[4].strip('"')
    return found


@pytest.mark.parametrize("node", NODES)
def test_the_database_promises_what_the_store_demands(node: str) -> None:
    told = keys(node)
    assert told["name"] == node
    dcs = {k.removeprefix("bootstrap.dcs."): v for k, v in told.items()}
    expected = {
        "synchronous_mode": "true",
        "synchronous_mode_strict": "true",
        "maximum_lag_on_failover": "0",
        "failsafe_mode": "false",
        "postgresql.use_slots": "true",
        "postgresql.use_pg_rewind": "false",
        "postgresql.remove_data_directory_on_diverged_timelines": "false",
        "postgresql.parameters.fsync": "on",
        "postgresql.parameters.full_page_writes": "on",
    }
    assert {name: dcs[name] for name in expected} == expected
    assert dcs["postgresql.parameters.synchronous_commit"] in SYNCHRONOUS
    assert told["watchdog.mode"] == "required"
    assert "data-checksums" in told["bootstrap.initdb"].splitlines()
    assert len(told["etcd3.hosts"].splitlines()) == 3
    assert int(told["postgresql.bin_dir"].split("/")[-2]) >= 13
    rules = told["bootstrap.dcs.postgresql.pg_hba"].splitlines()
    assert [r for r in rules if r.split()[0] != "local" and "trust" in r] == []
    assert rules[-1].endswith("reject")
    for address in NODES.values():
        assert f"hostssl replication replicator {address}/32 scram-sha-256" in rules
    assert told["postgresql.connect_address"] == f"{NODES[node]}:5432"
    assert not [name for name in told if name.endswith(".password")]


def test_both_nodes_differ_in_name_and_address_only() -> None:
    one, other = ((FOLDER / f"patroni-{node}.yml").read_text("utf-8") for node in NODES)
    own = ("name:", "listen:", "connect_address:", "#")
    differ = [
        a for a, b in zip(one.splitlines(), other.splitlines(), strict=True)
        if a != b and not a.strip().startswith(own)
    ]  # fmt: skip
    assert differ == []


def test_the_link_servers_go_to_both_and_demand_a_standby() -> None:
    config = load(FOLDER / "link.toml").server
    parts = conninfo_to_dict(config.store)
    assert str(parts["host"]).split(",") == list(NODES.values())
    assert parts["target_session_attrs"] == "read-write"
    assert config.require_synchronous_standby
    assert "password" not in parts


def test_the_page_explains_every_line_that_matters() -> None:
    page = PAGE.read_text("utf-8")
    for name in ("synchronous_mode_strict", "use_pg_rewind", "failsafe_mode", "watchdog"):
        assert f"`{name}" in page
