"""A PostgreSQL server of the tests' own: in a temporary folder, on a Unix socket, not as root.

``Instance`` is one server; tests may kill it, change its settings and start it again. Nothing on
the machine is used or touched but the binaries.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from tests.patience import PATIENCE_S

INSTALL: Final = "apt-get install -y postgresql postgresql-contrib"
SETTINGS: Final = {
    "listen_addresses": "''",
    "shared_buffers": "16MB",
    "max_connections": "30",
    "dynamic_shared_memory_type": "mmap",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "logging_collector": "off",
    "log_min_messages": "warning",
}


def binary(name: str) -> str:
    """The newest installed server's program; missing is a failure that says what to install."""
    found = shutil.which(name)
    if found:
        return found
    places = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda p: int(p.parts[-3])
    )
    if not places:
        raise RuntimeError(f"{name} of PostgreSQL is missing; run: {INSTALL}")
    return str(places[-1])


def _as_somebody() -> tuple[str | None, list[str]]:
    """Whom the server runs as, and the words before its command line: never root, which it refuses,
    and stopped at once when the tests are killed, so that nothing is left behind."""
    words = ["setpriv", "--pdeathsig", "QUIT"]
    if os.geteuid() != 0:
        return None, words
    for name in ("postgres", "nobody"):
        try:
            who = pwd.getpwnam(name)
        except KeyError:
            continue
        ids = [f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
        return name, words + ids
    raise RuntimeError("neither user postgres nor nobody is there to run the server as")


class Instance:
    """One server. ``folder`` holds its data and its socket and goes away with ``remove``."""

    def __init__(
        self,
        *,
        copy_of: Path | None = None,
        standby_of: Instance | None = None,
        name: str = "",
        **settings: str,
    ) -> None:
        """``standby_of`` makes a follower by name, with a replication slot of that name."""
        self._who, self._words = _as_somebody()
        self.folder = Path(tempfile.mkdtemp(prefix="uf-pg-"))
        self.data = self.folder / "data"
        self._server: subprocess.Popen[bytes] | None = None
        self._chown(self.folder)
        if copy_of is not None:
            self.run("cp", "-a", str(copy_of), str(self.data))
        elif standby_of is not None:
            source = f"host={standby_of.folder} user=postgres application_name={name}"
            backup = (binary("pg_basebackup"), "-D", str(self.data), "-d", source)
            self.run(*backup, "-R", "-C", "-S", name, "-X", "stream", "-c", "fast", "-N")
        else:
            self.run(
                binary("initdb"),
                "-D",
                str(self.data),
                "-U",
                "postgres",
                "-A",
                "trust",
                "-k",
                "-E",
                "UTF8",
                "--locale=C",
                "-N",
            )
        self.configure(**SETTINGS | {"unix_socket_directories": f"'{self.folder}'"} | settings)

    def _chown(self, path: Path) -> None:
        if self._who:
            shutil.chown(path, self._who)

    def run(self, *command: str) -> None:
        """A program of the server's user; its words are in the error."""
        done = subprocess.run(
            [*self._words, *command], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")

    def configure(self, **settings: str) -> None:
        """Written behind what is there; takes effect at the next start or ``reload``."""
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [*self._words, binary("postgres"), "-D", str(self.data)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.await_ready()

    def await_ready(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                with self.connect():
                    return
            except psycopg.OperationalError as error:
                assert self._server is not None
                if self._server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"no server: {error}\n{self.log()}") from None
                time.sleep(0.02)

    @property
    def pid(self) -> int:
        assert self._server is not None
        return self._server.pid

    def url(self, database: str = "postgres") -> str:
        return f"postgresql:///{database}?host={self.folder}&user=postgres"

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.url(database), autocommit=True)

    def create(self, database: str) -> str:
        """A new database; its address."""
        with self.connect() as link:
            link.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        return self.url(database)

    def create_schema(self, name: str) -> str:
        """A new, empty schema of its own; its address. A tenth of the files of a database."""
        with self.connect() as link:
            link.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        return f"{self.url()}&options=-csearch_path%3D{name}"

    def promote(self) -> None:
        """A standby becomes a primary; it is one when this returns."""
        self.run(binary("pg_ctl"), "promote", "-w", "-D", str(self.data))

    def reload(self) -> None:
        os.kill(self.pid, signal.SIGHUP)

    def kill(self) -> None:
        """The whole server at once: nothing said, nothing saved."""
        assert self._server is not None
        os.killpg(self._server.pid, signal.SIGKILL)
        self._server.wait()
        # A new server refuses to start beside any of them, and the last ones take a moment to end.
        while children := self._children():
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.01)
        self._server = None
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def tell(self, how: signal.Signals) -> None:
        """To every process of it: SIGSTOP freezes the whole server, SIGCONT thaws it."""
        for process in {self.pid, *self._children()}:
            with suppress(ProcessLookupError):  # a backend that has just ended by itself
                os.kill(process, how)

    def _children(self) -> list[int]:
        """Backends are session leaders of their own: found by their folder, killed by their id."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if os.readlink(entry / "cwd") == str(self.data):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def crash(self) -> None:
        """``pg_ctl stop -m immediate``: every process ends at once, without a checkpoint."""
        assert self._server is not None
        self.run(binary("pg_ctl"), "stop", "-m", "immediate", "-D", str(self.data))
        self._server.wait()
        self._server = None

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        if self._server is not None:
            self._server.send_signal(how)
            try:
                self._server.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.kill()
            self._server = None

    def remove(self) -> None:
        """At once: nothing of it is needed any more, so nothing is flushed."""
        if self._server is not None:
            self.tell(signal.SIGCONT)  # a test may have left it frozen
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", errors="replace")[-4000:]
