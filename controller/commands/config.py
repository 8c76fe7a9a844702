"""``underfelt config``: check, show, compare and begin a table's configuration.

The layers, keys and codes: docs/operations/configuration.md. With ``--json`` the answer is one JSON
object on standard output, also when it is a refusal; messages for people go to standard error.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, Final

from controller.commands.config_trial import not_today, of_others, refused_by_files
from controller.config.live import LiveConfig, layout_in, line_kinds, load_live
from controller.config.options import OPTIONS
from controller.config.pending import PendingConfig
from controller.config.template import REQUIRED, template
from controller.config.toml import toml_value
from controller.daemon.house_options import texts_of
from controller.faults.refusals import StartRefusal, refusal_of
from controller.rules.settings import ALL
from record.kit.config import ConfigError, Problem
from record.kit.verbs import Answer, Command, Stop, Verb, add_json
from record.kit.words import counted

_MOMENTS: Final = {
    "round": "between rounds",
    "closed": "while the table is closed",
    "restart": "at a restart",
}


def _refused(error: ConfigError) -> Stop:
    refusal = refusal_of(error)
    return Stop(refusal.text, refusal.exit_code, _rows(refusal, error.path), bare=True)


def _unreadable(error: OSError) -> Stop:
    """Only the file that was named ends here; drop-ins and layouts have their own codes."""
    refusal = refusal_of(error)
    return Stop(refusal.text, refusal.exit_code, _rows(refusal, Path(str(error.filename))))


def _rows(refusal: StartRefusal, path: Path) -> list[dict[str, str]]:
    return [
        {"code": p.code, "file": str(p.file or path), "key": p.key, "text": p.text}
        for p in refusal.problems
    ]


def _file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the site file, table.toml")


# --- check -------------------------------------------------------------------------------------


def _declare_check(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    parser.add_argument(
        "--no-files", action="store_true", help="do not open registers, keys and the journal"
    )


def _check(arguments: argparse.Namespace) -> Answer:
    config = load_live(arguments.file, line_kinds())
    texts_of(config)
    others = list(of_others(config))
    refusals = list(not_today(config) if arguments.no_files else refused_by_files(config, others))
    problems = [p._replace(file=p.file or config.path) for r in refusals for p in r.problems]
    if not arguments.no_files:
        problems += _absent(config, [p.text for p in problems])
    if problems:
        raise ConfigError(
            config.path, problems, refusals[0].exit_code if refusals else os.EX_CONFIG
        )
    files = [str(path) for path in config.files]
    row: dict[str, Any] = {"files": files, "game": config.game, "table": config.name}
    row |= {"hash": config.effective_hash, "unchecked": [] if arguments.no_files else others}
    said = f"{arguments.file}: sound; table {config.name}, {config.game}, "
    said += f"{counted(len(files), 'file')}, hash {config.effective_hash}"
    if row["unchecked"]:
        said += f"\nnot checked, because only the service can read it: {', '.join(others)}"
    return os.EX_OK, row, said


def _absent(config: LiveConfig, said: list[str]) -> list[Problem]:
    """Files the start would miss after what has been ``said``."""
    found = []
    for key, spec in OPTIONS.items():
        section, name = key.split(".")
        value = getattr(getattr(config, section), name, None)
        missing = spec.metadata["file"] and isinstance(value, Path) and not os.path.isfile(value)
        if missing and not any(str(value) in text for text in said):
            text = f"{toml_value(str(value))}: no such file: {spec.metadata['text']}"
            found.append(Problem("E-CFG-013", key, text, config.values[key].file))
    return found


# --- show --------------------------------------------------------------------------------------


def _declare_show(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    parser.add_argument("--effective", action="store_true", help="with the built-in defaults")
    parser.add_argument("--origin", action="store_true", help="where each value was stated")


def _show(arguments: argparse.Namespace) -> Answer:
    config = load_live(arguments.file, line_kinds())
    kept = {
        key: one
        for key, one in config.values.items()
        if arguments.effective or one.file is not None
    }
    rows = [
        {"key": key, "value": one.value, "origin": one.origin(key), "default": one.file is None}
        for key, one in kept.items()
    ]
    lines = []
    section = ""
    for key, one in kept.items():
        home, _, name = key.rpartition(".")
        if home != section:
            lines += ["", f"[{home}]"]
            section = home
        stated = f"# {name} =" if one.value is None else f"{name} = {toml_value(one.value)}"
        lines.append(f"{stated}  # {one.origin(key)}" if arguments.origin else stated)
    said = f"# hash {config.effective_hash}\n" + "\n".join(lines)
    return os.EX_OK, {"hash": config.effective_hash, "values": rows}, said


# --- diff --------------------------------------------------------------------------------------


def _declare_diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="the site file in use")
    parser.add_argument("new", metavar="NEW", help="the site file to come")


def _diff(arguments: argparse.Namespace) -> Answer:
    kinds = line_kinds()
    pending = PendingConfig.between(
        load_live(arguments.old, kinds), load_live(arguments.new, kinds)
    )
    rows = [
        {"key": c.key, "old": c.old, "new": c.new, "when": c.when, "origin": c.origin}
        for c in pending.changes
    ]
    row = {"old_hash": pending.old_hash, "new_hash": pending.new_hash}
    row |= {"same": not rows, "needs": pending.needs, "changes": rows}  # type: ignore[dict-item]
    if pending.needs is None:
        return os.EX_OK, row, f"no change; hash {pending.new_hash}"
    lines = [
        f"{c.key}: {_text(c.old)} -> {_text(c.new)}  ({_MOMENTS[c.when]}; {c.origin})"
        for c in pending.changes
    ]
    lines.append(f"all of it takes effect {_MOMENTS[pending.needs]}")
    return os.EX_OK, row, "\n".join(lines)


def _text(value: object) -> str:
    return "nothing" if value is None else toml_value(value)


# --- init --------------------------------------------------------------------------------------


def _declare_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--game", required=True, type=str.upper, choices=ALL, help="the rule book")
    parser.add_argument("--output", metavar="FILE", help="a new file (default: standard output)")
    parser.add_argument(
        "--simulator", metavar="DIR", help="fill in everything for a simulator that runs there"
    )


def _init(arguments: argparse.Namespace) -> Answer:
    folder = None if arguments.simulator is None else Path(arguments.simulator).absolute()
    layout = None if folder is None else layout_in(folder)
    text = template(arguments.game, folder, layout)
    if arguments.output is None:
        return os.EX_OK, {"game": arguments.game, "text": text}, text.rstrip("\n")
    try:
        with open(arguments.output, "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        said = f"{error.strerror}; a configuration is never overwritten"
        raise _not_made("E-CFG-014", arguments.output, said) from None
    left = text.count(f"\n# {REQUIRED}") if folder is None else 0
    said = f"{arguments.output}: written; fill in {counted(left, 'setting')} marked REQUIRED"
    return os.EX_OK, {"file": arguments.output, "required": left}, said


def _not_made(code: str, file: str, said: str) -> Stop:
    row = {"code": code, "file": file, "text": said}
    return Stop(f"{file}: {said} ({code})", os.EX_CANTCREAT, [row])


# --- key ---------------------------------------------------------------------------------------


def _declare_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a new file; an old key is never overwritten")


def _key(arguments: argparse.Namespace) -> Answer:
    """The key is made here and shown nowhere."""
    from controller.config.keys import key_line

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        with open(os.open(arguments.file, flags, 0o400), "w", encoding="ascii") as stream:
            stream.write(key_line())
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        said = f"{error.strerror}; a key is never overwritten"
        raise _not_made("E-CFG-016", arguments.file, said) from None
    return os.EX_OK, {"file": arguments.file}, f"{arguments.file}: a new sealing key, mode 0400"


VERBS: Final = {
    "check": Verb(
        _declare_check,
        _check,
        "check whether a table would start with it",
        "check /etc/underfelt/table.toml",
    ),
    "show": Verb(
        _declare_show,
        _show,
        "show all layers as one configuration",
        "show --effective --origin /etc/underfelt/table.toml",
    ),
    "diff": Verb(
        _declare_diff,
        _diff,
        "show what would change, and when it could",
        "diff table.toml new/table.toml",
    ),
    "init": Verb(
        _declare_init,
        _init,
        "write a complete, commented file for a new table",
        "init --game MEGA --output table.toml",
    ),
    "key": Verb(
        _declare_key,
        _key,
        "make the key that encrypts face-down cards",
        "key /etc/underfelt/sealing.key",
    ),
}

COMMAND: Final = Command(
    "config",
    "A table's configuration.",
    VERBS,
    common=add_json,
    stops={ConfigError: _refused, OSError: _unreadable},
)
run: Final = COMMAND.run
