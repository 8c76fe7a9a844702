"""The real daemon serves metrics and health where its configuration says, and plays on if not."""

from __future__ import annotations

import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from record.kit.lines import ask
from tests.e2e.table import start, underfelt, wait_for
from tests.patience import PATIENCE_S
from tests.ports import two_ports


@contextmanager
def table(run: Path, service: str) -> Iterator[subprocess.Popen[str]]:
    site = run / "table.toml"
    text = site.read_text("utf-8")
    site.write_text(f"{text}{service}", "utf-8")
    process = start("table", "--config", str(site), "--meter", "12345678")
    try:
        wait_for(run / "service.sock", process)
        yield process
    finally:
        site.write_text(text, "utf-8")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_served_where_the_configuration_says(run: Path) -> None:
    port = two_ports()
    with socket.create_server(("127.0.0.1", port)):
        with table(run, f"http = true\nport = {port}\n"):  # somebody else has the port
            status = ask(run / "service.sock", {"verb": "status"})
            told = underfelt("status", "--socket", str(run / "service.sock"))
        assert status["phase"] == "between rounds"
        assert f" ! E-TBL-016  metrics: metrics are not served; 127.0.0.1 port {port}: " in (
            told.stdout
        )
    with table(run, f"http = true\nport = {port}\n"):
        code, health = get(port, "/health")
        names = {family.name for family in text_string_to_metric_families(get(port, "/metrics")[1])}
    assert code == 503
    assert "!! E-" in health
    assert {"underfelt_rounds", "underfelt_journal_sync_seconds", "underfelt_device_state"} <= names


def test_not_served_by_default(run: Path) -> None:
    port = two_ports()
    with table(run, f"port = {port}\n"):
        assert ask(run / "service.sock", {"verb": "status"})["http_error"] == ""
        assert "underfelt_locked 0" in ask(run / "service.sock", {"verb": "metrics"})["text"]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
