"""Metrics as an independent reader of the format sees them, and the server that gives them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

import docs
from controller.commands.status import told
from controller.config.live import load_live
from controller.daemon import compose as starting
from controller.daemon.http import LONGEST, MOST_AT_ONCE, Http
from controller.daemon.metrics import BUCKETS_US, Process, SyncTimes, metrics
from controller.daemon.setup import setup_of
from controller.faults.status import Status
from link.server.metrics import metrics as server_metrics
from link.server.replies import StatusReply
from record.kit.http import PROMETHEUS, Answer
from record.kit.process import resident_bytes
from tests.controller.faults.test_troubles import WELL, device

STATUS: Status = {
    **WELL,
    "in_round": True,
    "counts": {"rounds": 41, "inputs": 9_000, "groups": 7_000, "refused": 3},
    "alarm_counts": {"wager lifted": 2, 'od"d\\\n': 1},
    "devices": {**WELL["devices"], "feig-1": device("degraded", "E-FEIG-020")},
}


def process() -> Process:
    sync = SyncTimes()
    for us in (250, 251, 4_000, 9_000_000):
        sync.note(us * 1_000)
    return Process(
        resident_bytes=50_000_000,
        started_s=1_773_144_000,
        queue_depth=4,
        watchdog_feeds=77,
        counters={"feig-1": {"polls": 100, "E-FEIG-009": 2, "E-FEIG-001": 1}, "sign": {"sent": 5}},
        records={"fact": 812, "round": 41},
        journal_bytes=123_456,
        sync=sync,
    )


def read(text: str) -> dict[str, Metric]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def value(families: dict[str, Metric], name: str, **labels: str) -> float:
    found = [
        sample.value
        for family in families.values()
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    ]
    assert len(found) == 1, (name, labels, found)
    return float(found[0])


def test_every_figure_in_the_words_of_the_format() -> None:
    found = read(metrics(STATUS, process()))
    for name, labels, expected in (
        ("underfelt_rounds_total", {}, 41),
        ("underfelt_facts_total", {}, 812),
        ("underfelt_refused_total", {}, 3),
        ("underfelt_inputs_total", {}, 9_000),
        ("underfelt_journal_groups_total", {}, 7_000),
        ("underfelt_journal_next_seq", {}, 812),
        ("underfelt_journal_bytes_total", {}, 123_456),
        ("underfelt_journal_records_total", {"kind": "round"}, 41),
        ("underfelt_journal_full", {}, 0),
        ("underfelt_disk_free_bytes", {}, 1 << 30),
        ("underfelt_gaming_day", {}, 3),
        ("underfelt_gaming_day_rounds", {}, 41),
        ("underfelt_in_round", {}, 1),
        ("underfelt_phase", {"phase": "settlement"}, 1),
        ("underfelt_phase", {"phase": "dealing"}, 0),
        ("underfelt_link_up", {}, 1),
        ("underfelt_locked", {}, 0),
        ("underfelt_safe_mode", {}, 0),
        ("underfelt_door_open", {}, 0),
        ("underfelt_supply_low", {}, 0),
        ("underfelt_devices", {"state": "ready"}, 2),
        ("underfelt_devices", {"state": "degraded"}, 1),
        ("underfelt_device_state", {"device": "feig-1", "state": "degraded"}, 1),
        ("underfelt_device_state", {"device": "feig-1", "state": "ready"}, 0),
        ("underfelt_device_activity_total", {"device": "feig-1"}, 103),
        ("underfelt_device_errors_total", {"device": "feig-1", "code": "E-FEIG-009"}, 2),
        ("underfelt_queue_depth", {}, 4),
        ("underfelt_queue_overflows_total", {}, 0),
        ("underfelt_frames_lost_total", {}, 0),
        ("underfelt_watchdog_feeds_total", {}, 77),
        ("underfelt_resident_bytes", {}, 50_000_000),
        ("underfelt_start_time_seconds", {}, 1_773_144_000),
        ("underfelt_alarms_total", {"code": "wager lifted"}, 2),
        ("underfelt_alarms_total", {"code": 'od"d\\\n'}, 1),
        ("underfelt_troubles", {"level": "degraded"}, 1),
        ("underfelt_trouble", {"code": "E-FEIG-020", "about": "feig-1"}, 1),
    ):
        assert value(found, name, **labels) == expected, name


def test_every_family_has_its_help_and_type_and_stands_once() -> None:
    text = metrics(STATUS, process())
    heads = re.findall(r"^# (HELP|TYPE) (\S+) (.+)$", text, re.MULTILINE)
    names = [name for kind, name, _ in heads if kind == "TYPE"]
    assert names == [name for kind, name, _ in heads if kind == "HELP"]
    assert len(names) == len(set(names)) > 30
    assert all(name.startswith("underfelt_") for name in names)
    for family in read(text).values():
        assert family.documentation.endswith(".")
        assert family.type in ("counter", "gauge", "histogram")


def test_no_name_and_no_help_means_two_things() -> None:
    """Not at a table, and not between tables and their link server, which one monitoring reads."""
    status = StatusReply("link-1", True, 1, 2, [], "link.db", "", 0, [], [], {})
    texts = [metrics(STATUS, process()), server_metrics(status, [], 1)]
    names = [name for text in texts for name in re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)]
    assert len(names) == len(set(names)) > 50
    helps = re.findall(r"^# HELP \S+ (.+)$", texts[0], re.MULTILINE)
    assert len(helps) == len(set(helps))


def test_resident_memory_is_counted_in_the_kernel_s_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A Pi 5 has pages of 16 KiB."""
    line = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    assert line is not None
    assert resident_bytes() == pytest.approx(int(line[1]) * 1024, rel=0.2)
    plain = resident_bytes()
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4 * os.sysconf("SC_PAGE_SIZE")}.get)
    assert resident_bytes() == pytest.approx(4 * plain, rel=0.2)


def test_the_histogram_adds_up() -> None:
    found = read(metrics(STATUS, process()))["underfelt_journal_sync_seconds"]
    buckets = {s.labels["le"]: s.value for s in found.samples if s.name.endswith("_bucket")}
    assert list(buckets)[:3] == ["0.00025", "0.0005", "0.001"]
    assert [buckets[le] for le in ("0.00025", "0.0005", "0.0025", "0.005", "2.5", "+Inf")] == [
        1, 2, 2, 3, 3, 4,
    ]  # fmt: skip
    (total,) = [s.value for s in found.samples if s.name.endswith("_sum")]
    assert total == pytest.approx(9.004501)
    assert list(BUCKETS_US) == sorted(BUCKETS_US)


# --- the server --------------------------------------------------------------------------------


def broken() -> Answer:
    raise KeyError("Qs")


BROKEN = {"/broken": broken}
HEALTH = {"/health": lambda: Answer(HTTPStatus.SERVICE_UNAVAILABLE, "!! E-TBL-001 disk\n")}
METRICS = {"/metrics": lambda: Answer(HTTPStatus.OK, "underfelt_locked 0\n", PROMETHEUS)}
Client = Callable[[Http], Coroutine[Any, Any, Any]]


def serving(client: Client, patience_s: float = 60) -> Any:
    async def run() -> Any:
        http = Http("127.0.0.1", 0, patience_s)
        await http.start({**HEALTH, **METRICS, **BROKEN})
        assert http.error == ""
        try:
            async with asyncio.timeout(60):
                return await client(http)
        finally:
            await http.close()

    return asyncio.run(run())


async def ask(http: Http, request: bytes, *, end: bool = False) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
    try:
        writer.write(request)
        if end:
            writer.write_eof()
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def answer_to(request: bytes, *, end: bool = False) -> bytes:
    return bytes(serving(lambda http: ask(http, request, end=end)))


def test_the_two_answers() -> None:
    assert answer_to(b"GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n") == (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        b"Content-Length: 19\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        b"Connection: close\r\n\r\nunderfelt_locked 0\n"
    )
    told = answer_to(b"GET /health?verbose HTTP/1.0\r\n\r\n")
    assert told.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert told.endswith(b"\r\n\r\n!! E-TBL-001 disk\n")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"404"),
        (b"GET /metrics/ HTTP/1.1\r\n\r\n", b"404"),
        (b"GET /broken HTTP/1.1\r\n\r\n", b"500"),
        (b"GET /\xff\xfe HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", b"405"),
        (b"HEAD /metrics HTTP/1.1\r\n\r\n", b"405"),
        (b"get /metrics HTTP/1.1\r\n\r\n", b"405"),
        (b"GET /metrics\r\n\r\n", b"400"),
        (b"GET  /metrics HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /metrics SPDY/3\r\n\r\n", b"400"),
        (b"\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 2 * LONGEST + b"\r\n\r\n", b"431"),
    ],
)
def test_anything_else_is_refused(request_: bytes, status: bytes) -> None:
    told = answer_to(request_)
    # What was not read may make the kernel reset the connection before the answer is seen.
    assert told.startswith(b"HTTP/1.1 " + status) or (status == b"431" and told == b"")
    assert (b"Allow: GET\r\n" in told) == (status == b"405")


def test_half_a_request() -> None:
    assert answer_to(b"GET /metrics HTTP/1.1\r\nHost", end=True).startswith(b"HTTP/1.1 400")
    assert answer_to(b"", end=True).startswith(b"HTTP/1.1 400")


def test_a_client_that_says_nothing_is_hung_up_on() -> None:
    async def client(http: Http) -> bytes:
        return await ask(http, b"GET /metrics HTTP/1.1\r\n")

    assert serving(client, patience_s=0.05) == b""


def test_only_so_many_at_once() -> None:
    async def client(http: Http) -> tuple[bytes, bytes]:
        waiting = [
            await asyncio.open_connection("127.0.0.1", http.port) for _ in range(MOST_AT_ONCE)
        ]
        while http._open < MOST_AT_ONCE:
            await asyncio.sleep(0)
        refused = await ask(http, b"GET /metrics HTTP/1.1\r\n\r\n")
        for _, writer in waiting:
            writer.close()
        while http._open:
            await asyncio.sleep(0)
        return refused, await ask(http, b"GET /metrics HTTP/1.1\r\n\r\n")

    refused, served = serving(client)
    assert refused.startswith(b"HTTP/1.1 503") or refused == b""
    assert served.startswith(b"HTTP/1.1 200")


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=6_000), min_size=1, max_size=5))
def test_no_bytes_do_it_any_harm(requests: list[bytes]) -> None:
    async def client(http: Http) -> bytes:
        for request in requests:
            await ask(http, request, end=True)
        return await ask(http, b"GET /metrics HTTP/1.1\r\n\r\n")

    assert serving(client).startswith(b"HTTP/1.1 200")


async def refusal(address: str, port: int) -> str:
    http = Http(address, port)
    await http.start(METRICS)
    return http.error


def test_a_port_that_is_taken_is_said_and_no_more() -> None:
    async def client(http: Http) -> str:
        return await refusal("127.0.0.1", http.port)

    assert serving(client).endswith("address already in use") or "in use" in serving(client)

    async def nowhere() -> str:
        return await refusal("no such host", 9631)

    assert asyncio.run(nowhere()).startswith("no such host port 9631: ")


def test_a_table_that_has_not_written_anything_yet_answers(run: Path) -> None:
    """Between the socket and the first group."""
    config = load_live(run / "table.toml", starting.KINDS)
    started = starting.compose(setup_of(config))
    try:
        status: Status = {
            **started.writer.status(),
            "table": "t",
            "overflows": 0,
            "frames_lost": 0,
            "disk": {"free_bytes": 1, "low_bytes": 0},
        }
        assert value(read(metrics(status, Process())), "underfelt_rounds_total") == 0
        assert told(status).splitlines()[0].startswith("table t  MBS3  round 0")
    finally:
        started.journal.close()


def test_every_family_is_on_the_page() -> None:
    page = (Path(docs.__file__).parent / "operations" / "metrics.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `underfelt_")]
    listed = {name for row in rows for name in re.findall(r"underfelt_\w+", row)}
    text = metrics(STATUS, process())
    assert listed == set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
