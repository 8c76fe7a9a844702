"""Row 65: what is plugged into the board and refused becomes an alarm of record, and is shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controller.daemon.tamper import Sockets, strangers
from controller.faults.troubles import troubles


def plug(root: Path, port: str, kind: str, authorized: str) -> None:
    folder = root / port
    folder.mkdir()
    (folder / "authorized").write_text(f"{authorized}\n")
    (folder / "bInterfaceClass").write_text(f"{kind}\n")


def test_row_65_a_keyboard_is_told_once_and_shown_as_long_as_it_is_plugged_in(
    tmp_path: Path,
) -> None:
    told: list[Mapping[str, Any]] = []
    sockets = Sockets(told.append, tmp_path)
    plug(tmp_path, "1-1.1:1.0", "ff", "1")  # a serial adapter
    sockets.take(strangers(tmp_path))
    assert (told, sockets.plugged) == ([], {})
    plug(tmp_path, "1-1.2:1.0", "03", "0")
    plug(tmp_path, "1-1.3:1.0", "08", "0")
    for _ in range(3):
        sockets.take(strangers(tmp_path))
    assert told == [
        {"code": "usb refused", "detail": "1-1.2:1.0: keyboard or mouse"},
        {"code": "usb refused", "detail": "1-1.3:1.0: disk"},
    ]
    (found, _) = troubles({"strangers": sockets.plugged})
    assert (found.code, found.about, found.level) == ("E-TBL-020", "USB 1-1.2:1.0", "degraded")
    (tmp_path / "1-1.2:1.0" / "authorized").unlink()
    sockets.take(strangers(tmp_path))
    assert list(sockets.plugged) == ["1-1.3:1.0"]
    (tmp_path / "1-1.2:1.0" / "authorized").write_text("0\n")
    sockets.take(strangers(tmp_path))
    assert told[2:] == [{"code": "usb refused", "detail": "1-1.2:1.0: keyboard or mouse"}]


def test_a_board_without_usb_has_no_strangers(tmp_path: Path) -> None:
    assert strangers(tmp_path / "nothing") == {}
