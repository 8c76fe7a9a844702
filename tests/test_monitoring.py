"""Alert rules and dashboard: read by Prometheus' own tool, about metrics that the daemons have."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from controller.daemon.metrics import metrics
from controller.faults.status import LinkStatus
from link.server.metrics import metrics as server_metrics
from link.server.replies import LevelMeter, StatusReply
from tests.controller.daemon.test_daemon_metrics import STATUS, process, read
from tests.test_house_rules import ROOT

HERE = ROOT / "docs" / "operations" / "monitoring"
ALERTS, DASHBOARD = HERE / "alerts.yml", HERE / "dashboard.json"
FIRES = ROOT / "tests" / "vectors" / "alerts.yml"
LINK: LinkStatus = {
    "state": "open", "halted": "", "epoch": 1, "events": 2, "acknowledged": 1, "waiting": 1,
    "last_ack_ms": 5, "heard_ms": 5,
}  # fmt: skip
NAME = re.compile(r"\bunderfelt_\w+")


def promtool(*arguments: str) -> None:
    found = shutil.which("promtool")
    assert found, "promtool is missing; run: make promtool, or apt-get install -y prometheus"
    done = subprocess.run([found, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def exported() -> set[str]:
    """Every name that Prometheus stores of a table and of a link server."""
    server = server_metrics(
        StatusReply("s", True, 1, 2, [], "sqlite", "", 0, [], [], {}),
        [LevelMeter("p", "grand", 1, 1, 0)],
        1,
    )
    families = [*read(metrics({**STATUS, "link": LINK}, process())).values()]
    families += read(server).values()
    return {sample.name for family in families for sample in family.samples}


def expressions() -> list[str]:
    board: dict[str, Any] = json.loads(DASHBOARD.read_text("utf-8"))
    found = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    queries = (one["query"] for one in board["templating"]["list"] if one["type"] == "query")
    return found + [one["query"] for one in queries]


def test_prometheus_takes_the_rules_and_the_example(tmp_path: Path) -> None:
    promtool("check", "config", str(HERE / "prometheus.yml"))
    shown = [text.replace("$table", ".*") for text in expressions() if "label_values" not in text]
    rules = [f"  - record: panel:{at}\n    expr: {json.dumps(e)}\n" for at, e in enumerate(shown)]
    board = tmp_path / "dashboard.yml"
    board.write_text("groups:\n- name: dashboard\n  rules:\n" + "".join(rules))
    promtool("check", "rules", str(ALERTS), str(board))


def test_every_alert_fires_when_it_should_and_none_on_a_quiet_floor() -> None:
    promtool("test", "rules", str(FIRES))
    alerts = re.findall(r"- alert: (\w+)", ALERTS.read_text("utf-8"))
    tried = FIRES.read_text("utf-8")
    assert [name for name in alerts if not re.search(rf"\b{name}\b", tried)] == []


def test_they_name_only_metrics_that_exist() -> None:
    used = set(NAME.findall(ALERTS.read_text("utf-8")))
    used |= {name for text in expressions() for name in NAME.findall(text)}
    used |= set(NAME.findall(FIRES.read_text("utf-8")))
    assert len(used) > 30
    assert sorted(used - exported()) == []


def test_what_the_jobs_are_called() -> None:
    jobs = set(re.findall(r"job_name: (\S+)", (HERE / "prometheus.yml").read_text("utf-8")))
    text = ALERTS.read_text("utf-8") + "".join(expressions())
    assert set(re.findall(r'job="([^"]+)"', text)) == jobs


def test_every_panel_and_alert_says_what_it_means() -> None:
    board = json.loads(DASHBOARD.read_text("utf-8"))
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert all(panel["description"].endswith(".") for panel in panels)
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    text = ALERTS.read_text("utf-8")
    for word in ("summary:", "do:", "severity:"):
        assert text.count(word) == text.count("- alert:")
