"""Just enough of udev(7) to run our rules over devices that are not here.

Understands what the rules use: ==, !=, =, +=, GOTO, LABEL and TEST, patterns with | * and [..], and
the substitutions $env{..} and $kernel. Anything else is an error, so that a rule it cannot judge is
not passed by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

MATCHES = {"ACTION", "SUBSYSTEM", "SUBSYSTEMS", "KERNEL", "DRIVER", "ENV", "ATTR", "ATTRS", "TEST"}
ASSIGNS = {"ENV", "ATTR", "SYMLINK", "GROUP", "MODE", "TAG", "RUN", "IMPORT", "GOTO", "LABEL"}
_PART = re.compile(r'\s*([A-Z]+)(?:\{([^}]+)\})?\s*(==|!=|\+=|=)\s*"([^"]*)"\s*(?:,|$)')


@dataclass
class Device:
    """What a rule can see of a device, and what the rules did to it."""

    action: str = "add"
    subsystem: str = ""
    subsystems: tuple[str, ...] = ()
    kernel: str = ""
    driver: str = ""
    env: dict[str, str] = field(default_factory=dict)
    attr: dict[str, str] = field(default_factory=dict)
    attrs: dict[str, str] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    """Those that are on the machine."""
    written: dict[str, str] = field(default_factory=dict)
    done: dict[str, list[str]] = field(default_factory=dict)


Part = tuple[str, str, str, str]


def parse(path: Path) -> list[list[Part]]:
    rules = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts, at = [], 0
        while at < len(line):
            found = _PART.match(line, at)
            assert found, f"{path.name}:{number}: {line[at:]!r}"
            key, name, operator, value = found[1], found[2] or "", found[3], found[4]
            known = MATCHES if operator in ("==", "!=") else ASSIGNS
            assert key in known, f"{path.name}:{number}: {key}{operator}"
            parts.append((key, name, operator, value))
            at = found.end()
        rules.append(parts)
    labels = {v for rule in rules for k, _, _, v in rule if k == "LABEL"}
    assert {v for rule in rules for k, _, _, v in rule if k == "GOTO"} <= labels
    return rules


def _fits(pattern: str, value: str) -> bool:
    return any(fnmatchcase(value, one) for one in pattern.split("|"))


def _matches(device: Device, part: Part) -> bool:
    key, name, operator, pattern = part
    seen: tuple[str, ...] = {
        "ACTION": (device.action,),
        "SUBSYSTEM": (device.subsystem,),
        "SUBSYSTEMS": (device.subsystem, *device.subsystems),
        "KERNEL": (device.kernel,),
        "DRIVER": (device.driver,),
        "ENV": (device.env.get(name, ""),),
        "ATTR": (device.attr[name],) if name in device.attr else (),
        "ATTRS": (device.attrs[name],) if name in device.attrs else (),
        "TEST": tuple(device.files),
    }[key]
    hit = any(_fits(pattern, value) for value in seen)
    return hit if operator == "==" else not hit


def apply(rules: list[list[Part]], device: Device) -> Device:
    skip_to = ""
    for rule in rules:
        if skip_to and ("LABEL", "", "=", skip_to) not in rule:
            continue
        skip_to = ""
        if not all(_matches(device, p) for p in rule if p[2] in ("==", "!=")):
            continue
        for key, name, operator, value in rule:
            if operator in ("==", "!=") or key == "LABEL":
                continue
            told = value.replace("$kernel", device.kernel)
            told = re.sub(r"\$env\{(\w+)\}", lambda m: device.env.get(m[1], ""), told)
            if key == "GOTO":
                skip_to = told
            elif key == "ENV":
                device.env[name] = told
            elif key == "ATTR":
                device.written[name] = told
            elif operator == "+=":
                device.done.setdefault(key, []).extend(told.split())
            else:
                device.done[key] = [told]
    assert not skip_to
    return device
