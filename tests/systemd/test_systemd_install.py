"""``link init``, ``link install`` and the unit agree: nothing is left to be mended by hand."""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controller.commands.running import run
from tests.systemd.services import LINK, Services
from tests.systemd.tools import values

OWNER = 4242


@pytest.fixture
def image() -> Iterator[Path]:
    """The root of a machine with the service's user; a short path, for a socket has 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="uf-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        (root / "etc").mkdir()
        row = f"underfelt-link:x:{OWNER}:{OWNER}::/:/usr/sbin/nologin\n"
        (root / "etc/passwd").write_text(f"root:x:0:0::/root:/bin/sh\n{row}")
        yield root


def kept(root: Path) -> dict[str, tuple[int, int, int]]:
    found = {}
    for path in root.rglob("*"):
        state = path.stat()
        name = path.relative_to(root).as_posix()
        if path.is_file() and name != "etc/passwd":
            found[name] = (state.st_uid, state.st_gid, state.st_mode & 0o777)
    return found


@pytest.mark.usefixtures("as_root")
def test_an_installed_server_starts_as_the_unit_runs_it(services: Services, image: Path) -> None:
    house = services.house
    house.begin()
    made = run("link", "install", str(house.link), "--root", str(image))
    assert made.code == 0, made.err
    assert not house.link.exists()
    assert kept(image) == {
        "etc/underfelt/link.toml": (0, OWNER, 0o640),
        "etc/underfelt/link.key": (0, 0, 0o400),
        "etc/underfelt/seal.key": (0, 0, 0o400),
        "etc/underfelt/link.pub": (0, 0, 0o644),
        "var/lib/underfelt-link/link.db": (OWNER, OWNER, 0o600),
    }
    state = (image / "var/lib/underfelt-link").stat()
    assert (state.st_uid, state.st_mode & 0o777) == (OWNER, 0o700)
    # The unit hands over every credential that the file names, from where it was installed.
    site = image / "etc/underfelt"
    text = (site / "link.toml").read_text("utf-8")
    handed = dict(value.split(":", 1) for value in values(LINK, "LoadCredential"))
    assert set(re.findall(r'"credential:([^"]+)"', text)) == set(handed)
    assert all((image / path.lstrip("/")).is_file() for path in handed.values())
    assert values(LINK, "ExecStart")[0].endswith("--config /etc/underfelt/link.toml")
    server = tomllib.loads(text)["server"]
    (state_folder,), (run_folder,) = (
        values(LINK, "StateDirectory"),
        values(LINK, "RuntimeDirectory"),
    )
    assert server["store"].startswith(f"sqlite:/var/lib/{state_folder}/")
    assert server["control"].startswith(f"/run/{run_folder}/")
    # It runs: the same file, with its two folders below the image.
    there = text.replace("/var/lib/", f"{image}/var/lib/").replace("/run/", f"{image}/run/")
    (image / "run/underfelt-link").mkdir(parents=True)
    (image / "link.toml").write_text(there, "utf-8")
    services.service(
        "link", LINK, "link", "--config", str(image / "link.toml"),
        CREDENTIALS_DIRECTORY=str(site),
    )  # fmt: skip


@pytest.mark.usefixtures("as_root")
def test_what_cannot_be_installed_stays_where_it_is(services: Services, image: Path) -> None:
    house = services.house
    house.begin()
    before = kept(house.link)
    (image / "etc/underfelt").mkdir()
    (image / "etc/underfelt/seal.key").touch()
    made = run("link", "install", str(house.link), "--root", str(image))
    assert (made.code, "seal.key: there already" in made.err) == (73, True)
    (image / "etc/underfelt/seal.key").unlink()
    users = (image / "etc/passwd").read_text("utf-8")
    (image / "etc/passwd").write_text(users.splitlines()[0] + "\n")
    made = run("link", "install", str(house.link), "--root", str(image))
    assert made.code == 78
    assert "no user underfelt-link; install the files of systemd/ and run" in made.err
    assert f"systemd-sysusers --root={image}" in made.err
    (image / "etc/passwd").write_text(users)
    server = services.service("link", LINK, "link", "--config", str(house.config))
    made = run("link", "install", str(house.link), "--root", str(image))
    assert (made.code, "stop the server first" in made.err) == (75, True), made.err
    assert server.poll() is None
    assert {name: row for name, row in kept(house.link).items() if name in before} == before
    assert os.listdir(image / "etc/underfelt") == []
