"""The configuration of a live table: what it gives, and everything that refuses to start."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.config import load
from controller.config.live import load_live
from controller.config.options import OPTIONS, SECTIONS, Credential
from record.kit.config import ConfigError
from tests.controller.config.conftest import LINK, Folder


def test_what_is_not_stated_has_its_default(folder: Folder) -> None:
    config = folder.load()
    assert (config.name, config.game, config.table.seats) == ("pit-3", "MEGA", 7)
    assert config.journal.path == Path("/var/lib/underfelt/pit-3/journal")
    assert (config.journal.segment_mib, config.journal.retention_days) == (4, 1826)
    assert config.service.socket == Path("/run/underfelt/pit-3/service.sock")
    assert config.service.http is False
    assert config.policy.late_grace_ms == 0
    assert config.link is None
    assert config.keys.sealing == Credential("sealing")
    assert not config.simulated


def test_paths_begin_at_the_site_files_folder(folder: Folder) -> None:
    folder.write('[journal]\npath = "data/{table}"\n[service]\nsocket = "/s"\n', "conf.d/a.toml")
    config = folder.load()
    assert config.chips.register == folder.path / "house.chips"
    assert config.journal.path == folder.path / "data/pit-3", "in a drop-in too"
    assert config.service.socket == Path("/s")


def test_the_last_file_wins_key_by_key_and_says_where(folder: Folder) -> None:
    folder.write("[settings]\nseats = 5\nidle_rounds = 9\n", "conf.d/10-seats.toml")
    folder.write("[settings]\nseats = 6\n", "conf.d/20-seats.toml")
    folder.write("[settings]\nseats = 1\n", "conf.d/.hidden.toml")
    folder.write("[settings]\nseats = 1\n", "conf.d/30-old.toml~")
    config = folder.load()
    assert (config.table.seats, config.table.idle_rounds) == (6, 9)
    assert [file.name for file in config.files] == ["table.toml", "10-seats.toml", "20-seats.toml"]
    origins = {key: one.origin(key) for key, one in config.values.items()}
    assert origins["settings.seats"] == f"{folder.path}/conf.d/20-seats.toml:settings.seats"
    assert origins["settings.idle_rounds"].endswith("10-seats.toml:settings.idle_rounds")
    assert origins["settings.selector"] == f"{folder.path}/table.toml:settings.selector"
    assert origins["settings.vacancy_ms"] == "built-in"


def test_a_par_sheet_sees_the_same_layers(folder: Folder) -> None:
    folder.write("[settings]\nseats = 5\n", "conf.d/10.toml")
    assert load(folder.site).values["seats"] == 5


def test_every_problem_of_every_file_at_once(folder: Folder) -> None:
    folder.change('house = "SYD-1"', 'hose = "SYD-1"')
    folder.change("seats = 7", "seats = 0")
    folder.change('layout = "layout.toml"', 'layout = "none.toml"\nlayuot = 1')
    folder.write("speed = 9\n[journal]\nsegment_mib = 0\n", "conf.d/10.toml")
    folder.write("[settings]\nseats = 5\n", "conf.d/20.toml")
    assert folder.problems() == [
        "table.toml: layuot: 1: no such key; did you mean layout? (E-CFG-001)",
        'table.toml: chips.hose: "SYD-1": no such key; did you mean house? (E-CFG-001)',
        "table.toml: settings.seats: 0: expected a whole number from 1 to 7 (E-CFG-002)",
        (
            "conf.d/10.toml: speed: 9: no such key; expected game, layout, [settings], [journal], "
            "[chips], [staff], [keys], [display], [link], [service], [shell], [policy] (E-CFG-001)"
        ),
        (
            "conf.d/10.toml: journal.segment_mib: 0: expected a whole number from 1 to 1024 "
            "(E-CFG-002)"
        ),
        (
            'table.toml: layout: "none.toml": No such file or directory; expected a layout file '
            "(E-CFG-012)"
        ),
        (
            "table.toml: chips.house: missing and has no default: the house whose chips count at "
            'this table, e.g. "SYD-1" (E-CFG-003)'
        ),
    ]


def test_an_empty_file_names_all_that_must_be_stated(folder: Folder) -> None:
    folder.write('game = "MEGA"\n')
    named = {line.split(": ")[1] for line in folder.problems() if "E-CFG-003" in line}
    settings = ("seats", "deal_pattern", "selector", "meter_rule", "progressive_stake_returned")
    assert named == {
        "layout", *(f"settings.{name}" for name in settings),
        "chips.register", "chips.public_key", "chips.house",
        "staff.register", "staff.public_key", "keys.sealing",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("[journal]\nretention_days = 29", "journal.retention_days: 29: expected a whole number"),
        ("[journal]\nreserve_kib = true", "journal.reserve_kib: true: expected"),
        ('[journal]\npath = ""', 'journal.path: "": expected the path'),
        ("[shell]\npeople = 3", "shell.people: 3: expected a list"),
        ("[[shell.people]]\nuser = 3", "entry 1: user: expected a user of this machine"),
        ('[[shell.people]]\nuser = "mia"\nrole = "boss"', "entry 1: role: expected one of obs"),
        ('[[shell.people]]\nuser = "mia"\nrule = 1', "entry 1: rule: no such key; expected user"),
        (
            '[[shell.people]]\nuser = "mia"\nrole = "observer"\nuntil = 2027-03-31',
            "entry 1: until: expected the last day as text",
        ),
        (
            '[[shell.people]]\nuser = "mia"\nrole = "observer"\nuntil = "2027-02-30"',
            "entry 1: until: expected the last day as text",
        ),
        (
            '[[shell.people]]\nuser = "a"\nrole = "observer"\n' * 2,
            "user a is there twice",
        ),
        ('[chips]\nhouse = "a b"', 'chips.house: "a b": expected the house'),
        ("[chips]\nregister = 1", "chips.register: 1: expected the path"),
        ('[keys]\nsealing = "credential:../x"', 'expected "credential:NAME"'),
        ("[keys]\nsealing = 7", 'expected the path of a key file, or "credential:NAME"'),
        ('[display]\ncurrency = "€"', "display.currency"),
        ("[display]\ndecimals = 1", "display.decimals: 1: expected one of 0, 2, 3"),
        ('[display]\nlanguage = "english"', 'expected "en", "de", or the path'),
        ('[display]\nlanguage = "fr"', 'expected "en", "de", or the path'),
        ('[display]\nlanguage = "fr.toml"', "No such file or directory; expected a language file"),
        ('[display]\ncurrency = "kr."', "expected 0 to 3 letters or $, which the meter can show"),
        ('[display]\nthousands = "."', '"."'),
        ("[display]\ndecimals = 2020-01-01", "display.decimals"),
        ("[service]\nport = 0", "service.port: 0"),
        ('[service]\nhttp = "yes"', "expected true or false"),
        ('[policy]\nsettle_ms = "300"', "policy.settle_ms"),
        ("[policy]\nsafe_mod = true", "did you mean safe_mode?"),
        ("policy = 3", "policy: 3: expected a table, [policy]"),
        ("settle_ms = 3", "settle_ms: 3: expected it below [policy]"),
        ("seats = 3", "a setting; expected it below [settings]"),
        ("[settings]\nante = 3", "no setting of MEGA; it belongs to RICO (E-CFG-008)"),
        ('[settings]\nmagic_card = "Th"', "belongs to one round"),
    ],
)
def test_wrong_values_are_named_with_what_is_expected(
    folder: Folder, stated: str, said: str
) -> None:
    folder.write(stated + "\n", "conf.d/10.toml")
    lines = folder.problems()
    if stated != '[display]\nthousands = "."':
        assert len(lines) == 1, lines
    assert said in lines[0]
    assert lines[0].startswith("conf.d/10.toml: ")


@pytest.mark.parametrize(
    "listed",
    ["[]", '"tcp://a:1"', '["udp://a:1"]', '["tcp://a:0"]', '["tcp://a:1", "tcp://a:1"]', "[1]"],
)
def test_endpoints(folder: Folder, listed: str) -> None:
    good = 'endpoints = ["tcp://link-1:5701", "tcp://[fe80::1]:5701"]'
    folder.write(LINK, "conf.d/link.toml")
    link = folder.load().link
    assert link is not None
    assert link.endpoints == ("tcp://link-1:5701", "tcp://[fe80::1]:5701")
    assert link.heartbeat_limit_ms == 5_000
    folder.write(LINK.replace(good, f"endpoints = {listed}"), "conf.d/link.toml")
    (line,) = folder.problems()
    assert "link.endpoints" in line


@pytest.mark.parametrize("text", ["[link]\n", "[link]\nheartbeat_limit_ms = 900\n"])
def test_a_link_that_is_begun_must_be_finished(folder: Folder, text: str) -> None:
    folder.write(text, "conf.d/link.toml")
    named = [line.split(": ")[1] for line in folder.problems()]
    assert named == ["link.endpoints", "link.secret_key", "link.server_key"]


# --- contradictions ----------------------------------------------------------------------------


def test_what_does_not_fit_together(folder: Folder) -> None:
    folder.change('selector = "table"', 'selector = "server"')
    folder.change('public_key = "staff.pub"', 'public_key = "none"')
    folder.write('[display]\ndecimal_point = ","\n', "conf.d/10.toml")
    text = (folder.path / "layout.toml").read_text()
    folder.write(text.replace("seats = 7", "seats = 5"), "layout.toml")
    assert folder.problems() == [
        (
            'table.toml: staff.public_key: "none": expected "none" with no register, and a key '
            "with one (E-CFG-004)"
        ),
        'table.toml: display.thousands: ",": the same as display.decimal_point (E-CFG-004)',
        (
            'table.toml: settings.selector: "server" draws over the link; expected a [link] '
            'section, or "table" (E-CFG-004)'
        ),
        "table.toml: settings.seats: 7: the layout has 5 seats (E-CFG-004)",
    ]


def test_the_card_device_must_be_in_the_layout(folder: Folder) -> None:
    text = (folder.path / "layout.toml").read_text()
    folder.write(text.replace("cdp-shoe", "cdp-shuffler"), "layout.toml")
    (line,) = folder.problems()
    assert 'settings.card_device: "shoe": the layout has no line of kind "cdp-shoe"' in line
    folder.write(text.replace("cdp-shoe", "acme-shoe"), "layout.toml")
    load_live(folder.site, frozenset(("feig", "alpha", "acme-shoe")))


def test_only_a_simulated_table_goes_without_a_staff_register(folder: Folder) -> None:
    folder.change('"house.staff"', '"none"')
    folder.change('"staff.pub"', '"none"')
    (line,) = folder.problems()
    assert "staff.register" in line
    text = (folder.path / "layout.toml").read_text()
    folder.write(text.replace("smbus2.SMBus", "hw_sim.client.bus.SimBus"), "layout.toml")
    config = folder.load()
    assert config.simulated
    assert config.staff.register is None


def test_a_wrong_layout_is_named_with_its_own_file_and_code(folder: Folder) -> None:
    text = (folder.path / "layout.toml").read_text()
    folder.write(text.replace("keys-1 = 0x20", "keys-1 = 0x200"), "layout.toml")
    (line,) = folder.problems()
    assert line == "layout.toml: chips.keys-1: 512: expected 8 to 119 (E-LAY-003)"


# --- files -------------------------------------------------------------------------------------


def test_files_that_are_no_configuration(folder: Folder) -> None:
    (folder.path / "conf.d").mkdir()
    (folder.path / "conf.d" / "10.toml").write_bytes(b"\xff")
    (folder.path / "conf.d" / "20.toml").write_bytes(b"seats = \n")
    (folder.path / "conf.d" / "30.toml").write_bytes(b"#" * (2**20 + 1))
    (folder.path / "conf.d" / "40.toml").symlink_to("nowhere")
    lines = folder.problems()
    assert [line.split(": ")[0] for line in lines] == [
        "conf.d/10.toml", "conf.d/20.toml", "conf.d/30.toml", "conf.d/40.toml",
    ]  # fmt: skip
    assert [line[-10:-1] for line in lines] == ["E-CFG-009"] * 3 + ["E-CFG-011"]
    with pytest.raises(FileNotFoundError):
        load_live(folder.path / "none.toml")


def test_a_secret_is_a_file_or_one_of_the_services_credentials(folder: Folder) -> None:
    config = folder.load()
    key, secret = "keys.sealing", config.keys.sealing
    assert config.secret_path(key, secret, Path("/run/c")) == Path("/run/c/sealing")
    with pytest.raises(ConfigError, match="E-CFG-015"):
        config.secret_path(key, secret, None)
    assert config.secret_path(key, Path("a.key"), None) == Path("a.key")


# --- the page ----------------------------------------------------------------------------------


def test_the_page_has_every_option_with_its_default() -> None:
    page = (Path(__file__).parents[3] / "docs/operations/configuration.md").read_text()
    for key, spec in OPTIONS.items():
        assert f"| `{key}` |" in page, key
        assert spec.metadata["when"] in ("round", "closed", "restart")
    assert set(SECTIONS) <= {key.split(".")[0] for key in OPTIONS}
