"""Log records over journald's native socket: fields, several lines, nothing secret, fallback."""

from __future__ import annotations

import logging
import os
import select
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.daemon.journald import (
    MESSAGE_IDS,
    MOST_BYTES,
    SOCKET,
    JournaldHandler,
    RateLimit,
    encode_field,
    journal_socket,
    priority,
)
from record.kit.log_lines import write_now
from tests.patience import PATIENCE_S


def parse(data: bytes) -> dict[str, str]:
    """The native protocol read back, from its description (systemd.io/JOURNAL_NATIVE_PROTOCOL)."""
    fields = {}
    while data:
        line, data = data.split(b"\n", 1)
        if b"=" in line:
            name, value = line.split(b"=", 1)
        else:
            (length,) = struct.unpack_from("<Q", data)
            name, value = line, data[8 : 8 + length]
            assert data[8 + length : 9 + length] == b"\n"
            data = data[9 + length :]
        fields[name.decode()] = value.decode()
    return fields


class Desk:
    def __init__(self, folder: Path) -> None:
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.server.bind(str(folder / "journal"))
        self.server.settimeout(PATIENCE_S)
        self._errors = (folder / "stderr").open("w+", encoding="utf-8")
        self.handler = JournaldHandler(
            "table-1", path=str(folder / "journal"), descriptor=self._errors.fileno()
        )
        self.log = logging.Logger("underfelt.test")
        self.log.addHandler(self.handler)

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()

    def close(self) -> None:
        self.handler.close()
        self.server.close()
        self._errors.close()

    def got(self) -> dict[str, str]:
        return parse(self.server.recv(1 << 20))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.close()


def test_an_alarm_carries_its_fields(desk: Desk) -> None:
    desk.log.warning(
        "%s does not answer",
        "shoe",
        extra={"alarm": "device failed", "device": "shoe", "fault_code": "E-CDP-003",
               "round_id": 812, "event_seq": 99_123},
    )  # fmt: skip
    assert desk.got() == {
        "MESSAGE": "shoe does not answer",
        "PRIORITY": "4",
        "SYSLOG_IDENTIFIER": "underfelt-table-1",
        "MESSAGE_ID": MESSAGE_IDS["device failed"],
        "TABLE_ID": "table-1",
        "LOGGER": "underfelt.test",
        "ROUND_ID": "812",
        "DEVICE": "shoe",
        "FAULT_CODE": "E-CDP-003",
    }


def test_the_bytes_are_the_literal_ones() -> None:
    assert encode_field("DEVICE", "shoe") == b"DEVICE=shoe\n"
    assert encode_field("MESSAGE", "a\nb") == b"MESSAGE\n\x03\0\0\0\0\0\0\0a\nb\n"


def test_a_message_of_several_lines_cannot_forge_a_field(desk: Desk) -> None:
    desk.log.error("first\nPRIORITY=7\nMESSAGE_ID=0")
    got = desk.got()
    assert got["MESSAGE"] == "first\nPRIORITY=7\nMESSAGE_ID=0"
    assert got["PRIORITY"] == "3"
    assert "MESSAGE_ID" not in got


def test_an_exception_is_told_with_its_place(desk: Desk) -> None:
    try:
        int("broken")
    except ValueError:
        desk.log.exception("stopped")
    message = desk.got()["MESSAGE"]
    assert message.startswith("stopped\nTraceback")
    assert "ValueError: invalid literal" in message


@pytest.mark.parametrize(
    "secret",
    ["ab" * 32, "AB" * 40, "A" * 43 + "=", "key=" + "0f" * 32],
)
def test_what_looks_like_a_key_is_withheld(desk: Desk, secret: str) -> None:
    desk.log.error("seed %s here", secret, extra={"device": secret, "other": secret})
    got = desk.got()
    assert "[withheld]" in got["MESSAGE"]
    assert secret[-40:] not in repr(got)
    assert "OTHER" not in got


def test_what_is_no_key_is_not_withheld(desk: Desk) -> None:
    said = "serial 0A1B2C01, id 445e8a613ce55861f1ba0878af4c9a3f, 7 cards"
    desk.log.info(said)
    assert desk.got()["MESSAGE"] == said


def test_a_field_that_is_too_long_is_cut(desk: Desk) -> None:
    desk.log.info("x" * 1_000_000)
    assert len(desk.got()["MESSAGE"]) == MOST_BYTES


def test_levels_are_priorities() -> None:
    levels = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
    assert [priority(level) for level in levels] == [7, 6, 4, 3, 2]


@pytest.mark.parametrize("path", ["none", None])
def test_without_journald_the_lines_go_to_standard_error(tmp_path: Path, path: str | None) -> None:
    reading, writing = os.pipe()
    listens = str(tmp_path / path) if path else None
    handler = JournaldHandler("table-1", path=listens, descriptor=writing)
    log = logging.Logger("x")
    log.addHandler(handler)
    log.critical("a\nb", extra={"alarm": "table locked", "fault_code": "E-JRN-004"})
    assert os.read(reading, 4096).decode() == (
        f"<2>a [MESSAGE_ID={MESSAGE_IDS['table locked']} FAULT_CODE=E-JRN-004]\n<2>b\n"
    )
    assert handler.undelivered == (1 if path else 0)
    handler.close()
    os.close(reading)
    os.close(writing)


def test_a_full_pipe_holds_up_nobody_and_the_next_line_says_how_many_are_lost() -> None:
    reading, writing = os.pipe()  # nobody reads: a blocking write would hang here
    handler = JournaldHandler("table-1", path=None, descriptor=writing)
    log = logging.Logger("x")
    log.addHandler(handler)
    for _ in range(3_000):
        log.error("x" * 200)
    lost = handler.lost
    assert lost > 2_000
    while len(os.read(reading, 65_536)) == 65_536:
        pass
    log.error("after")
    assert os.read(reading, 4096).decode() == f"<4>{lost} log lines were lost\n<3>after\n"
    assert handler.lost == 0
    os.close(reading)
    log.error("nobody is there any more")  # EPIPE
    os.close(writing)
    log.error("nor is this end")  # EBADF
    assert handler.lost == 2
    handler.close()


def test_a_line_longer_than_a_pipe_takes_at_once_is_cut(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("w+") as errors:
        assert write_now(errors.fileno(), "x" * 100_000)
        errors.seek(0)
        assert errors.read() == "x" * (select.PIPE_BUF - 1) + "\n"


def test_a_record_that_cannot_be_told_is_lost_and_no_more(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    desk.log.error("%d", "seven of hearts")
    assert desk.handler.lost == 1
    assert capfd.readouterr().err == ""


def test_journald_is_used_where_it_reads_standard_error(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("w") as errors:
        found = os.fstat(errors.fileno())
        named = f"{found.st_dev}:{found.st_ino}"
        assert journal_socket({"JOURNAL_STREAM": named}, errors.fileno()) == SOCKET
        assert journal_socket({"JOURNAL_STREAM": "1:2"}, errors.fileno()) is None
        assert journal_socket({}, errors.fileno()) is None
    assert journal_socket({"JOURNAL_STREAM": named}, 1_000_000) is None


def test_a_flood_of_one_class_and_device_is_limited_and_counted() -> None:
    clock = [0.0]
    limit = RateLimit(most=3, window_s=60.0, clock=lambda: clock[0])

    def passes(alarm: str, device: str) -> bool:
        more = {"alarm": alarm, "device": device}
        return bool(limit.filter(logging.makeLogRecord(more)))

    assert [passes("device failed", "shoe") for _ in range(10)] == [True] * 3 + [False] * 7
    assert passes("device failed", "sign")
    assert passes("device ready", "shoe")
    assert limit.left_out() == []
    clock[0] = 60.0
    assert limit.left_out() == [("device failed", "shoe", 7)]
    assert limit.left_out() == []
    assert passes("device failed", "shoe")


def test_journald_that_restarts_is_used_again(desk: Desk, tmp_path: Path) -> None:
    desk.log.info("one")
    assert desk.got()["MESSAGE"] == "one"
    desk.server.close()
    (tmp_path / "journal").unlink()
    desk.log.info("two")
    assert "two" in desk.errors()
    desk.server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    desk.server.bind(str(tmp_path / "journal"))
    desk.log.info("three")
    assert desk.got()["MESSAGE"] == "three"
    assert desk.handler.undelivered == 1


def test_a_full_socket_holds_up_nobody(desk: Desk) -> None:
    for number in range(5_000):
        desk.log.info("line %d", number)
    assert desk.handler.undelivered > 0
    assert "line 4999" in desk.errors()
