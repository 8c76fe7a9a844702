"""The demonstration's folder: everything a real floor has, made once by the same commands.

``FOLDER/link`` is what ``underfelt link init`` makes; ``FOLDER/TABLE`` is a simulator's run folder
with its table's configuration and journal; accounts have random passwords in files of mode 0400;
``FOLDER/web.toml`` is for ``underfelt web``.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Final

from controller.cli import main
from controller.demo.views import STAFF, VISITORS

COMMAND: Final = (sys.executable, "-m", "controller.cli")
TABLES: Final = {"mbs3": "MBS3", "mega": "MEGA", "nsw": "NSW", "pp6": "PP6", "rico": "RICO"}
"""Names as the reference layouts have them, and their games."""
MARK, READY = "underfelt-demo", "ready-2"
"""The first says whose the folder is; the second that it is complete, in this version's form."""
HOUSE: Final = "SIM-1"
LONGEST_SOCKET: Final = 100
"""A Unix socket's path has at most 107 bytes."""
MAJOR_CENTS, MINI_CENTS = 20_000, 2_400
PEOPLE: Final = {**STAFF, **VISITORS}
SYLLABLE: Final = ("bdfghjklmnprstvwz", "aeiou", "bdfghjklmnprstvwz")
POOL: Final = """
[pools.{table}]
tables = {{ {table} = "{game}" }}
meter_rule = "sequential"
max_credits = {credits}

[[pools.{table}.levels]]
level = "grand"
base_cents = {grand}
reset_cents = 2500000
rate = "10 %"
hidden_rate = "2 %"
shares = {{ "royal flush" = 100, "straight flush" = 10 }}

[[pools.{table}.levels]]
level = "major"
base_cents = 10000
reset_cents = 10000
rate = "20 %"
must_hit = {{ min_cents = 10100, max_cents = {major} }}

[[pools.{table}.levels]]
level = "mini"
base_cents = 2000
reset_cents = 2000
rate = "30 %"
must_hit = {{ min_cents = 2020, max_cents = {mini} }}
"""
POOLS: Final = tuple(
    POOL.format(
        table=table, game=TABLES[table], credits=credits_, grand=grand, major=MAJOR_CENTS,
        mini=MINI_CENTS,
    )
    for table, credits_, grand in (("mbs3", 1, 2_500_000), ("mega", 3, 5_000_000))
)  # fmt: skip
"""The other books have no progressive wager. One pool for both would be refused: their wagers cost
it different amounts."""
MUST_HIT: Final = {
    (table, level): cents
    for table in ("mbs3", "mega")
    for level, cents in (("major", MAJOR_CENTS), ("mini", MINI_CENTS))
}
SETTINGS: Final = {
    "mega": "[settings]\nmax_credits = 3\n",
    "rico": '[settings]\nrapid_fire = true\nrapid_fire_pay = { win = 3, tie = 1 }\nhedge = true\n'
    'hedge_pay = { "three of a kind" = 10, "straight" = 15, "flush" = 20 }\n',
}  # fmt: skip
PORT: Final = 8630
_LISTEN: Final = re.compile(r'^listen = "127\.0\.0\.1:(\d+)"$', re.MULTILINE)
_DOORS: Final = re.compile(r'^(tables|signs) = "tcp://127\.0\.0\.1:(\d+)"$', re.MULTILINE)


class SetupError(Exception):
    """The folder cannot be used: what is wrong and what to do."""


class FloorFolder:
    """Paths of the demonstration, and what has to be made before a start."""

    def __init__(self, folder: Path, tables: Sequence[str] = tuple(TABLES)) -> None:
        self.folder = folder.absolute()
        self.tables = {name: TABLES[name] for name in tables}
        self.link = self.folder / "link"
        self.config = self.link / "link.toml"
        self.control = self.link / "control.sock"
        self.logs = self.folder / "log"
        self.web = self.folder / "web.toml"

    def table(self, name: str) -> Path:
        return self.folder / name

    def password(self, person: str) -> Path:
        return self.folder / f"{person}.password"

    def accounts(self) -> dict[str, tuple[str, str]]:
        """What a visitor can sign in with: name to role and password."""
        return {
            name: (role, self.password(name).read_text("ascii").strip())
            for name, role in VISITORS.items()
        }

    @property
    def ready(self) -> bool:
        return (self.folder / READY).exists()

    @property
    def outdated(self) -> bool:
        """Made by an earlier version, or not to its end."""
        return (self.folder / MARK).exists() and not self.ready

    # --- before anything runs -----------------------------------------------------------------

    def begin(self) -> None:
        """A new folder, or a complete one; any other of ours is made again."""
        if len(os.fsencode(self.table("mbs3") / "service.sock")) > LONGEST_SOCKET:
            raise SetupError(f"{self.folder}: too long a path for sockets; give --folder a shorter")
        mark = self.folder / MARK
        try:
            if self.folder.exists() and not mark.exists() and any(self.folder.iterdir()):
                raise SetupError(f"{self.folder}: not a folder of the demonstration; give another")
            if self.outdated:
                shutil.rmtree(self.folder)
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.touch()
            self.logs.mkdir(exist_ok=True)
            self._check_tables()
            if not self.ready:
                self._make_server()
                self._set_ports()
            elif not all(_is_free(port) for port in self._ports().values()):
                self._set_ports()
        except OSError as error:
            raise SetupError(f"{error.filename}: {error.strerror}") from None

    def _check_tables(self) -> None:
        """A folder keeps the tables it was made for; one without a list has all of them."""
        made = (self.folder / READY).read_text("ascii").split() if self.ready else []
        if made and made != list(self.tables):
            names = ",".join(made)
            raise SetupError(f"{self.folder}: made with --tables {names}; use these or --folder")

    def _make_server(self) -> None:
        for person in PEOPLE:
            path = self.password(person)
            path.write_text(new_password() + "\n", "ascii")
            path.chmod(0o400)
        accounts = [f"--account={person}={role}" for person, role in PEOPLE.items()]
        passwords = self._passwords(PEOPLE)
        run("link", "init", str(self.link), *accounts, "--passwords-stdin", stdin=passwords)
        with self.config.open("a", encoding="utf-8") as stream:
            stream.write("".join(POOLS))

    def _ports(self) -> dict[str, int]:
        text = self.config.read_text("utf-8")
        return {door: int(port) for door, port in _DOORS.findall(text)}

    def _set_ports(self) -> None:
        """Two that are free; those of the last time stay as long as they are."""
        ports = dict(zip(("tables", "signs"), _free_ports(2), strict=True))
        text = self.config.read_text("utf-8")
        changed = _DOORS.sub(lambda m: f'{m[1]} = "tcp://127.0.0.1:{ports[m[1]]}"', text)
        self.config.write_text(changed, "utf-8")

    def endpoint(self, door: str) -> str:
        """Where tables or signs connect."""
        return f"tcp://127.0.0.1:{self._ports()[door]}"

    # --- once server and simulators run --------------------------------------------------------

    def finish(self) -> None:
        """Keys, accounts and configurations, the first time; where the server is, every time."""
        if not self.ready:
            self._make_people()
            self._make_keys()
            self._make_chips()
            for name, game in self.tables.items():
                self._make_table(name, game)
        for name in self.tables:
            self._point(name)
        (self.folder / READY).write_text(" ".join(self.tables), "ascii")

    def _passwords(self, people: Iterable[str] = tuple(STAFF)) -> str:
        return "".join(self.password(person).read_text("ascii") for person in people)

    def _make_people(self) -> None:
        """The first accounts were made at the machine; their owners say that they know."""
        run("accounts", "acknowledge", *self._by(), stdin=self._passwords())

    def _by(self) -> tuple[str, ...]:
        both = (f"--by={person}" for person in STAFF)
        return *both, "--passwords-stdin", "--config", str(self.config)

    def _make_keys(self) -> None:
        """A pair for every table and for the sign; the public ones go to the registry."""
        rows = []
        for name in (*self.tables, "sign"):
            home = self.folder if name == "sign" else self.table(name)
            secret, public = home / f"{name}.key", home / f"{name}.pub"
            run("keys", "new", "--secret", str(secret), "--public", str(public))
            key = public.read_text("ascii").split()[1]
            rows.append(f"{name},{key},{'sign' if name == 'sign' else 'table'}\n")
        listed = self.folder / "floor.csv"
        listed.write_text("".join(rows), "ascii")
        run("keys", "enrol", "--csv", str(listed), *self._by(), stdin=self._passwords())

    def _make_chips(self) -> None:
        """One register for the house: every simulated rack has the same chips."""
        key, public = self.folder / "chips.key", self.folder / "chips.pub"
        run("chips", "keygen", "--secret", str(key), "--public", str(public))
        batch = self.table(next(iter(self.tables))) / "chips.csv"
        run(
            "chips", "import", str(self.folder / "house.chips"), str(batch), "--new", HOUSE,
            "--key", str(key), "--by", "demo",
        )  # fmt: skip

    def _make_table(self, name: str, game: str) -> None:
        home = self.table(name)
        run("config", "key", str(home / "sealing.key"))
        run(
            "config", "init", "--game", game, "--simulator", str(home),
            "--output", str(home / "table.toml"),
        )  # fmt: skip
        (home / "conf.d").mkdir()
        chips = '[chips]\nregister = "../house.chips"\npublic_key = "../chips.pub"\n'
        (home / "conf.d" / "10-house.toml").write_text(SETTINGS.get(name, "") + chips, "utf-8")

    def _point(self, name: str) -> None:
        """To the near end of the simulator's link cable, so that a visitor can pull it."""
        near = (self.table(name) / "link").read_text("ascii").strip()
        link = (
            f'[link]\nendpoints = ["{near}"]\nsecret_key = "{name}.key"\n'
            'server_key = "../link/link.pub"\n'
        )
        (self.table(name) / "conf.d" / "20-link.toml").write_text(link, "utf-8")

    # --- the pages ------------------------------------------------------------------------------

    def write_web(self, port: int | None) -> str:
        """``web.toml``; the address of the pages. None: the port of the last time, or the usual
        one, or another if it is taken; 0: any that is free."""
        if port is None:
            wanted = self._web_port()
            port = wanted if _is_free(wanted) else 0
        elif port and not _is_free(port):
            raise SetupError(f"--port {port}: another program listens there; give another, or 0")
        port = port or _free_ports(1)[0]
        self.web.touch(0o600)
        self.web.write_text(web_toml(port, self.accounts(), self.tables), "utf-8")
        return f"http://127.0.0.1:{port}/"

    def _web_port(self) -> int:
        last = self.web.read_text("utf-8") if self.web.exists() else ""
        found = _LISTEN.search(last)
        return int(found[1]) if found else PORT


def web_toml(port: int, accounts: Mapping[str, tuple[str, str]], tables: Iterable[str]) -> str:
    """Looking needs no login: only this machine can connect."""
    named = "; ".join(f"{name} ({role}): {word}" for name, (role, word) in accounts.items())
    rows = [
        f'[web]\nlisten = "127.0.0.1:{port}"\nlogin = false',
        f'notice = "Demo accounts, name (role): password. {named}"',
        '\n[link]\ncontrol = "link/control.sock"',
    ]
    for name in tables:
        rows += [f'\n[[table]]\nname = "{name}"\nsocket = "{name}/service.sock"']
        rows += [f'journal = "{name}/journal"\nsimulator = "{name}/control"']
    rows += ['\n[signs.default]\nen = "Good luck"\nde = "Viel Glück"\n']
    return "\n".join(rows)


def new_password() -> str:
    """To be read from one screen and typed at another: three words of two syllables, 60 bits."""
    words = ("".join(secrets.choice(letters) for letters in SYLLABLE * 2) for _ in range(3))
    return "-".join(words)


def run(*arguments: str, stdin: str = "") -> None:
    """One command of ours, to its end: in this process, unless it must be told a password."""
    if stdin:
        done = subprocess.run(
            [*COMMAND, *arguments], input=stdin, capture_output=True, text=True, check=False
        )
        code, said = done.returncode, done.stderr
    else:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(list(arguments))
            except SystemExit as stop:
                code = int(stop.code or 0)
        said = err.getvalue()
    if code:
        last = said.strip().splitlines()[-1:] or ["failed"]
        raise SetupError(f"underfelt {' '.join(arguments[:2])}: {last[0]}")


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _free_ports(many: int) -> Sequence[int]:
    """Different ones: all are held until the last is found."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(many)]
    try:
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()
