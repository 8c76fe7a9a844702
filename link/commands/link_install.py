"""``underfelt link install DIR``: moves what ``link init`` made to where the service expects it.

The unit can read /etc/underfelt and write two folders; it is handed its keys as credentials. Files
are moved, not copied: two copies of one store would be two servers with the same jackpots.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from link.commands.io import load_config, print_answer
from link.store import open_store
from link.store.errors import StoreError
from record.kit.verbs import Stop

SITE: Final = "etc/underfelt"
STATE: Final = "var/lib/underfelt-link"
CONTROL: Final = "/run/underfelt-link/control.sock"
USER: Final = "underfelt-link"
KEYS: Final = ("link.key", "seal.key")
_PLACES: Final = {
    "store": lambda old: old if old.startswith("postgres") else f"sqlite:/{STATE}/link.db",
    "control": lambda _: CONTROL,
    "sealing_key": lambda old: f"credential:{Path(old).name}",
    "secret_key": lambda old: f"credential:{Path(old).name}",
}
_LINE: Final = re.compile(rf'^({"|".join(_PLACES)}) = "([^"]*)"', re.MULTILINE)


def declare_install(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="what `underfelt link init` made")
    parser.add_argument("--root", default="/", metavar="DIR", help="of a mounted image (/)")
    parser.add_argument("--json", action="store_true", help="the answer as one JSON object")


def install(options: argparse.Namespace) -> int:
    source, root = Path(options.folder), Path(options.root)
    if os.geteuid() != 0:
        raise Stop("keys and owners need root; run it with sudo", os.EX_NOPERM)
    config = load_config(str(source / "link.toml"))
    owner, group = _owner(root)
    site, state = root / SITE, root / STATE
    moves = {source / name: site / name for name in (*KEYS, "link.pub")}
    stored = Path(config.server.store.removeprefix("sqlite:"))
    if not config.server.store.startswith("postgres"):
        _closed(config.server.store)
        moves[stored] = state / "link.db"
    target = site / "link.toml"
    for path in (target, *moves.values()):
        if path.exists():
            raise Stop(f"{path}: there already; move it away first", os.EX_CANTCREAT)
    try:
        site.mkdir(mode=0o755, parents=True, exist_ok=True)
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = _LINE.sub(_placed, (source / "link.toml").read_text("utf-8"))
        for old, new in moves.items():
            shutil.move(old, new)
            _own(new, 0, 0, 0o644 if new.suffix == ".pub" else 0o400)
        _own(state, owner, group, 0o700)
        for name in state.iterdir():
            _own(name, owner, group, 0o600)
        target.write_text(text, "utf-8")
        _own(target, 0, group, 0o640)
        (source / "link.toml").unlink()
        stored.with_name(stored.name + ".lock").unlink(missing_ok=True)
        source.rmdir()
    except OSError as error:
        raise Stop(f"{error.filename}: {error.strerror}", os.EX_CANTCREAT) from None
    said = (
        f"{target}, keys beside it, store in {state} for {USER}\n"
        "systemctl enable --now underfelt-link"
    )
    return print_answer(options, {"config": str(target), "state": str(state), "user": USER}, said)


def _placed(line: re.Match[str]) -> str:
    new: Callable[[str], str] = _PLACES[line[1]]
    return f'{line[1]} = "{new(line[2])}"'


def _owner(root: Path) -> tuple[int, int]:
    """User and group of the service, on the machine or in the image."""
    rows = (root / "etc/passwd").read_text("utf-8").splitlines()
    for row in rows:
        name, _, user, group, *_ = row.split(":")
        if name == USER:
            return int(user), int(group)
    where = "" if root == Path("/") else f" --root={root}"
    said = f"no user {USER}; install the files of systemd/ and run: systemd-sysusers{where}"
    raise Stop(said, os.EX_CONFIG)


def _closed(place: str) -> None:
    """No server runs on it, and it is whole."""
    try:
        open_store(place).close()
    except StoreError as error:
        raise Stop(f"{error}; stop the server first", error.exit_code or os.EX_DATAERR) from None


def _own(path: Path, user: int, group: int, mode: int) -> None:
    os.chown(path, user, group)
    path.chmod(mode)
