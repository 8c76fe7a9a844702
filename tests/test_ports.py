"""Two tests never get the same port, in one process or in two."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import ports
from tests.test_house_rules import ROOT


def test_a_port_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ports.two_ports()
    monkeypatch.setattr(ports, "FIRST", first)
    monkeypatch.setattr(ports, "LAST", first + 2)
    with pytest.raises(RuntimeError, match="no free ports"):
        ports.two_ports()


def test_another_process_does_not_get_it() -> None:
    first = ports.two_ports()
    limits = f"ports.FIRST, ports.LAST = {first}, {first + 2}"
    code = f"from tests import ports; {limits}; ports.two_ports()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "no free ports" in done.stderr
