"""``underfelt table`` with a link: it greets, says so in its status, and says goodbye."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from hw_sim.scenario import HERE, find, load
from tests.controller.link.files import server_keys, with_link
from tests.controller.link.model import Committed, ModelServer
from tests.controller.link.sockets import Behind
from tests.e2e.table import configure, start, underfelt
from tests.patience import PATIENCE_S


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_table_with_a_link_talks_to_its_server(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(HERE / "tables" / "mbs3.toml", run / "layout.toml")
    (run / "chips.csv").write_text(
        "uid,value,class,series\nE004010100000001,100,cash,sim\n", "utf-8"
    )
    config = configure(run, "MBS3", load(find("mbs3-plain")).settings)
    model = ModelServer(beat_ms=3_000, committed=Committed(pool_cents=123_400))
    behind = Behind(model, server_keys(tmp_path))
    with_link(config, [behind.endpoint], server_keys(tmp_path)[1])
    table = start("table", "--config", str(config))
    try:
        until(lambda: bool(model.greeted))

        def told() -> bool:
            status = json.loads(underfelt("status", "--config", str(config), "--json").stdout)
            link = status["link"]
            sound = (link["state"], link["waiting"], link["halted"]) == ("open", 0, "")
            return bool(status["link_up"]) and sound and status["jackpot_cents"] == 123_400

        until(told)
        line = f"link open: model at {behind.endpoint}, epoch 1; 0 of 0 events waiting"
        until(lambda: line in underfelt("status", "--config", str(config)).stdout)
        table.send_signal(signal.SIGTERM)
        out, err = table.communicate(timeout=PATIENCE_S)
        assert table.returncode == 0, (out, err)
        assert all(line.startswith("<") for line in err.splitlines()), "the log, and nothing else"
        until(lambda: model.byes == 1)
    finally:
        if table.poll() is None:
            table.kill()
            table.communicate()
        behind.close()
