"""FEIG commands: requests of the host, and what answers say (docs/protocols/feig.md section 3).

Pure translation. Whether an answer belongs to a request, and what follows from it, is the driver's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from drivers.base import Fault
from drivers.feig import faults
from drivers.feig.codec import Frame, encode
from drivers.readings import Uid


class Command(IntEnum):
    BAUD_DETECT = 0x52
    CPU_RESET = 0x63
    VERSION = 0x65
    INFO = 0x66
    RF_RESET = 0x69
    RF_SWITCH = 0x6A
    READ_CONFIG = 0x80
    WRITE_CONFIG = 0x81
    HOST = 0xB0
    MUX_DETECT = 0xDC
    MUX_SELECT = 0xDD
    MUX_RESET = 0xDE
    MUX_FIRMWARE = 0xDF


class Status(IntEnum):
    OK = 0x00
    NO_TAG = 0x01
    COLLISION = 0x0B
    GENERAL = 0x0E
    PARAMETER = 0x11
    LOGIN = 0x13
    UNKNOWN_COMMAND = 0x80
    WRONG_LENGTH = 0x81
    NOT_AVAILABLE = 0x82
    RF_COMMUNICATION = 0x83
    RF_WARNING = 0x84
    BUFFER_OVERFLOW = 0x93
    MORE = 0x94
    ISO15693_ERROR = 0x95
    HARDWARE = 0xF1


WITH_DATA: Final = frozenset(
    {
        Status.OK,
        Status.RF_COMMUNICATION,
        Status.RF_WARNING,
        Status.BUFFER_OVERFLOW,
        Status.MORE,
        Status.ISO15693_ERROR,
    }
)
STATUS_FAULTS: Final[dict[int, str]] = {
    Status.COLLISION: faults.COLLISION,
    Status.PARAMETER: faults.OUTPUT_REFUSED,
    Status.LOGIN: faults.LOGIN,
    Status.NOT_AVAILABLE: faults.SCAN_MODE,
    Status.RF_COMMUNICATION: faults.RF_COMMUNICATION,
    Status.RF_WARNING: faults.RF_WARNING,
    Status.BUFFER_OVERFLOW: faults.BUFFER_OVERFLOW,
    Status.ISO15693_ERROR: faults.ISO15693_ERROR,
    Status.HARDWARE: faults.HARDWARE,
}
HOPELESS: Final = frozenset(
    {
        Status.PARAMETER,
        Status.LOGIN,
        Status.UNKNOWN_COMMAND,
        Status.WRONG_LENGTH,
        Status.NOT_AVAILABLE,
        Status.HARDWARE,
    }
)
"""Asking again gives the same answer."""

INVENTORY: Final = 0x01
NEW: Final = 0x00
MORE: Final = 0x80
INFO_DEVICE_ID: Final = 0x80
EEPROM: Final = 0x80
CFG_ANTICOLLISION: Final = 0x05
CONFIG_SIZE: Final = 14
CFG5_BYTE: Final = 11
CFG5_ONT: Final = 0x01
CFG5_ANTCOL: Final = 0x04
TAG_ISO15693: Final = 0x03
TAG_18000_3M3: Final = 0x09
UID_SIZE: Final = 8
MAX_IDD: Final = 32


class Request(NamedTuple):
    command: Command
    data: bytes = b""


@lru_cache(maxsize=256)
def to_bytes(request: Request, address: int, *, advanced: bool = True) -> bytes:
    return encode(Frame(address, request.command, request.data, advanced))


def inventory(*, more: bool = False) -> Request:
    return Request(Command.HOST, bytes((INVENTORY, MORE if more else NEW)))


def reader_info() -> Request:
    return Request(Command.INFO, bytes((INFO_DEVICE_ID,)))


def software_version() -> Request:
    return Request(Command.VERSION)


def rf_reset() -> Request:
    return Request(Command.RF_RESET)


def read_config(block: int, *, eeprom: bool) -> Request:
    return Request(Command.READ_CONFIG, bytes((block | (EEPROM if eeprom else 0),)))


def write_config(block: int, content: bytes, *, eeprom: bool) -> Request:
    return Request(Command.WRITE_CONFIG, bytes((block | (EEPROM if eeprom else 0),)) + content)


def to_mux(command: Command, mux: int, *outputs: int) -> Request:
    """A command for a multiplexer, wrapped. The ONE place that knows the wrapping, see the page."""
    return Request(command, bytes((mux, *outputs)))


def mux_select(mux: int, output: int) -> Request:
    """Input 1 to this output, input 2 to none."""
    return to_mux(Command.MUX_SELECT, mux, output, 0)


# --- answers -----------------------------------------------------------------------------------


class Answer(NamedTuple):
    command: int
    status: int
    data: bytes


def answer_of(frame: Frame) -> Answer | Fault:
    if not frame.body:
        return Fault(faults.MALFORMED, f"answer to {frame.command:02X} with no status")
    status, data = frame.body[0], frame.body[1:]
    if data and status not in WITH_DATA:
        return Fault(faults.MALFORMED, f"{len(data)} bytes after status {status:02X}")
    return Answer(frame.command, status, data)


def status_fault(answer: Answer) -> Fault:
    """The fault that a status other than 00 is. On DD a general error is the multiplexer's."""
    if answer.command == Command.MUX_SELECT and answer.status == Status.GENERAL:
        code = faults.MUX_MISSING
    else:
        code = STATUS_FAULTS.get(answer.status, faults.OTHER_STATUS)
    return Fault(code, f"status {answer.status:02X} to {answer.command:02X}")


def done(answer: Answer) -> Fault | None:
    """What is wrong with an answer that should say 00 and nothing else."""
    if answer.status != Status.OK:
        return status_fault(answer)
    if answer.data:
        return Fault(faults.MALFORMED, f"{len(answer.data)} bytes where none belong: an echo?")
    return None


def device_id(answer: Answer) -> str | Fault:
    """Eight upper-case hex digits: the reader's serial in the layout file."""
    if answer.status != Status.OK:
        return status_fault(answer)
    if len(answer.data) != 4:
        return Fault(faults.MALFORMED, f"device id of {len(answer.data)} bytes, expected 4")
    return answer.data.hex().upper()


@dataclass(frozen=True, slots=True)
class Version:
    model: str
    firmware: str


def version(answer: Answer) -> Version | Fault:
    if answer.status != Status.OK:
        return status_fault(answer)
    if len(answer.data) != 7:
        return Fault(faults.MALFORMED, f"version of {len(answer.data)} bytes, expected 7")
    major, minor, revision, _hardware, model = answer.data[:5]
    return Version(f"{model:02X}", f"{major}.{minor}.{revision}")


def config_block(answer: Answer) -> bytes | Fault:
    if answer.status != Status.OK:
        return status_fault(answer)
    if len(answer.data) != CONFIG_SIZE:
        return Fault(faults.MALFORMED, f"block of {len(answer.data)} bytes, expected 14")
    return answer.data


def sensing_config(block: bytes) -> bytes:
    """CFG5 as sensing needs it: every tag answers every time, many at once; the rest as it was."""
    right = bytearray(block)
    right[CFG5_BYTE] = right[CFG5_BYTE] & ~CFG5_ONT | CFG5_ANTCOL
    return bytes(right)


class Tags(NamedTuple):
    """One answer of an inventory; ``complete`` when 00 or 01 ended it."""

    uids: tuple[Uid, ...]
    complete: bool


def tags(answer: Answer) -> Tags | Fault:
    if answer.status == Status.NO_TAG:
        return Tags((), complete=True)
    if answer.status not in (Status.OK, Status.MORE):
        return status_fault(answer)
    data = answer.data
    if not data:
        return Fault(faults.MALFORMED, "no number of sets")
    uids: list[Uid] = []
    at = 1
    for _ in range(data[0]):
        span = _identifier(data, at)
        if isinstance(span, Fault):
            return span
        start, at = span
        uids.append(Uid(data[start:at].hex().upper()))
    if at != len(data):
        return Fault(faults.MALFORMED, f"{len(data) - at} bytes after the last set")
    return Tags(tuple(uids), complete=answer.status == Status.OK)


def _identifier(data: bytes, at: int) -> tuple[int, int] | Fault:
    """Where the identifier of the set at ``at`` begins and ends; the set ends with it."""
    if at >= len(data):
        return Fault(faults.MALFORMED, "fewer sets than announced")
    kind = data[at]
    if kind == TAG_ISO15693:
        start, end = at + 2, at + 2 + UID_SIZE
    elif kind == TAG_18000_3M3:
        if at + 2 >= len(data):
            return Fault(faults.MALFORMED, "set ends in its head")
        start, end = at + 3, at + 3 + data[at + 2]
        if not 1 <= data[at + 2] <= MAX_IDD:
            return Fault(faults.MALFORMED, f"identifier of {data[at + 2]} bytes")
    else:
        return Fault(faults.UNKNOWN_TAG, f"TR-TYPE {kind:02X}")
    if end > len(data):
        return Fault(faults.MALFORMED, "set ends in its identifier")
    return start, end
