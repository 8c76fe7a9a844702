"""Man pages and bash completion, printed from the commands' own parsers.

``Arguments.declared`` hands over each parser just before it would read arguments; nothing runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

from controller.cli import COMMANDS, EXAMPLES
from hw_sim.main import parser as sim_parser
from record.kit.arguments import Arguments

SECTION: Final = 1
TITLE: Final = "Underfelt"
SYNOPSIS_WIDTH: Final = 78
RUNS: Final = {"link": ("--config", "FILE"), "demo": ("floor",)}
"""Commands that do something besides their verbs, and the words for it."""
CODES: Final = (
    (0, "done"), (1, "done, and something is not as it should be"), (64, "wrong use"),
    (65, "the data are wrong"), (66, "an input cannot be read"), (69, "nobody answers"),
    (70, "a fault of the program"), (71, "the system refuses"), (73, "an output cannot be made"),
    (74, "reading or writing failed"), (75, "not now; try again"), (77, "not permitted"),
    (78, "the configuration is wrong"),
)  # fmt: skip
"""After sysexits; a page names those of its command."""


class _Declared(Exception):
    def __init__(self, parser: Arguments) -> None:
        super().__init__(parser.prog)
        self.parser = parser


def _hand_over(parser: Arguments) -> None:
    raise _Declared(parser)


@dataclass(frozen=True, slots=True)
class Part:
    """What one parser declares: a command, or a verb of one."""

    words: tuple[str, ...]
    parser: argparse.ArgumentParser

    @property
    def options(self) -> list[argparse.Action]:
        return [a for a in self.parser._actions if a.option_strings and a.dest != "help"]

    @property
    def positionals(self) -> list[argparse.Action]:
        return [a for a in self.parser._actions if not a.option_strings]


def _declared(module: Any, argv: list[str]) -> argparse.ArgumentParser:
    before, Arguments.declared = Arguments.declared, staticmethod(_hand_over)
    try:
        module.run(argv)
    except _Declared as found:
        return found.parser
    finally:
        Arguments.declared = before
    raise AssertionError(f"{module.__name__} {argv}: no parser was made")


@cache
def parts(command: str) -> tuple[Part, ...]:
    if command == "sim":
        return (Part(("sim",), sim_parser()),)
    module = import_module(COMMANDS[command][0])
    verbs = list(getattr(module, "VERBS", ()))
    found = [Part((command, verb), _declared(module, [verb])) for verb in verbs]
    if command in RUNS:
        words = RUNS[command]
        own = () if words[0].startswith("-") else words
        found.insert(0, Part((command, *own), _declared(module, list(words))))
    if not verbs:
        found.insert(0, Part((command,), _declared(module, [])))
    return tuple(found)


# --- man pages ------------------------------------------------------------------------------------


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in ".'" else line for line in escaped.split("\n"))


def _head(name: str, text: str) -> str:
    upper = name.upper()
    return (
        f'.TH {upper} {SECTION} "" {TITLE} "{TITLE} manual"\n.SH NAME\n{name} \\- {_roff(text)}\n'
    )


def _synopsis(part: Part) -> str:
    """Written here, as argparse breaks its own usage differently from version to version."""
    head = part.parser.prog
    options = [action for action in part.parser._actions if action.option_strings]
    words = []
    for group in part.parser._mutually_exclusive_groups:
        one_of = " | ".join(_used(action).strip("[]") for action in group._group_actions)
        words.append(f"[{one_of}]")
        options = [action for action in options if action not in group._group_actions]
    words = [_used(action) for action in options] + words
    words += [_used(action) for action in part.positionals]
    lines, line = [], head
    for word in words:
        if len(line) + 1 + len(word) > SYNOPSIS_WIDTH and line.strip() != head:
            lines.append(line)
            line = " " * len(head)
        line += f" {word}"
    return f".nf\n{_roff(chr(10).join([*lines, line]))}\n.fi\n"


def _used(action: argparse.Action) -> str:
    """One argument as a usage line has it."""
    name = action.metavar if isinstance(action.metavar, str) else ""
    if not name:
        chosen = f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
        name = chosen or (action.dest.upper() if action.option_strings else action.dest)
    several = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} [{name} ...]", 0: ""}
    value = several.get(action.nargs, name) if action.nargs is not None else name
    if isinstance(action.nargs, int):
        value = " ".join([name] * action.nargs)
    if not action.option_strings:
        return value
    used = f"{action.option_strings[0]} {value}".rstrip()
    return used if action.required else f"[{used}]"


def _argument(action: argparse.Action) -> str:
    names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in action.option_strings)
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        names = f"\\fI{_roff(metavar)}\\fR"
    elif action.nargs != 0:
        names += f" \\fI{_roff(metavar)}\\fR"
    said = (action.help or "").replace("%%", "%")
    chosen = ", ".join(map(str, action.choices or ()))
    if chosen and chosen not in said:
        said = f"{said} ({chosen})".strip()
    return f".TP\n{names}\n{_roff(said or 'see the description')}\n"


def _body(part: Part) -> Iterator[str]:
    if part.parser.description:
        yield f"{_roff(part.parser.description)}\n"
    for action in (*part.positionals, *part.options):
        yield _argument(action)
    if part.parser.epilog:
        yield f".PP\n.nf\n{_roff(part.parser.epilog.rstrip())}\n.fi\n"


def page(command: str) -> str:
    found = parts(command)
    text = _head(f"underfelt-{command}", COMMANDS[command][1]) + ".SH SYNOPSIS\n"
    text += "".join(map(_synopsis, found)) + ".SH DESCRIPTION\n"
    for part in found:
        if len(found) > 1:
            text += f".SS underfelt {' '.join(part.words)}\n"
        text += "".join(_body(part))
    text += ".SH EXIT STATUS\nAfter sysexits; 0 is well, 64 a wrong use. See underfelt(1).\n"
    return text + ".SH SEE ALSO\n.BR underfelt (1)\n"


def overview() -> str:
    text = _head("underfelt", "the firmware under a casino card table")
    text += ".SH SYNOPSIS\n.B underfelt\n.I COMMAND\n[ARGUMENT ...]\n.SH COMMANDS\n"
    for name, (_, said) in COMMANDS.items():
        text += f".TP\n.BR underfelt\\-{_roff(name)} (1)\n{_roff(said)}\n"
    text += ".SH EXIT STATUS\n"
    for code, said in CODES:
        text += f".TP\n{code}\n{_roff(said)}\n"
    examples = EXAMPLES.removeprefix("examples:\n").rstrip()
    return text + f".SH EXAMPLES\n.nf\n{_roff(examples)}\n.fi\n"


def manual() -> dict[str, str]:
    """File name under docs/man to its text."""
    pages = {f"underfelt-{command}.1": page(command) for command in COMMANDS}
    return {"underfelt.1": overview(), **pages}


# --- completion -----------------------------------------------------------------------------------

_BASH: Final = """\
# Completion of underfelt for bash. Printed from the commands by `make docs`; do not edit.
# Install: cp docs/completion/underfelt.bash /etc/bash_completion.d/underfelt

_underfelt() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local key=${{COMP_WORDS[1]}} options= words=
  local -i files=0 value=0
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    words="{commands}" options="--help --version"
  else
    # A verb of its own, once it is written.
    if (( COMP_CWORD > 2 )); then
      case "$key ${{COMP_WORDS[2]}}" in
        {verbs}) key+=" ${{COMP_WORDS[2]}}" ;;
      esac
    fi
    case "$key" in
{parts}
    esac
    # The value of an option: files, one of some words, or what only a person knows.
    case "$key $prev" in
{chosen}
      {filed})
        value=1 words= files=1 ;;
      {other})
        value=1 words= files=0 ;;
    esac
  fi
  if (( ! value )) && [[ $cur == -* || -z $words && $files == 0 ]]; then
    words=$options files=0
  fi
  if (( files )); then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    compopt -o filenames 2> /dev/null  # for files alone: a command may be called like a folder
  fi
  COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}}
complete -F _underfelt underfelt
"""
_FILES: Final = ("FILE", "DIR", "PATH", "FOLDER", "REGISTER", "BATCH.csv", "OLD", "NEW", "IMAGE",
                 "JOURNAL_DIR", "LIST", "layout", "run", "scenario")  # fmt: skip
"""What is written in place of an argument that is a file."""
_SAID: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    ("replay",): ("last",), ("journal", "day"): ("last", "now"),
    ("sim",): ("fault", "do", "look", "list"),
}  # fmt: skip
"""Words that an argument may be, besides others."""


def _names(part: Part) -> list[str]:
    return [name for action in part.options for name in action.option_strings] + ["--help"]


def _is_file(action: argparse.Action) -> bool:
    return (action.metavar or action.dest) in _FILES


def _entry(key: str, options: list[str], words: list[str], files: bool) -> str:
    said = f'options="{" ".join(dict.fromkeys(options))}"'
    said += f' words="{" ".join(words)}"' if words else ""
    return f'      "{key}") {said}{" files=1" if files else ""} ;;'


def _part(part: Part, verbs: list[str]) -> str:
    chosen = [str(one) for action in part.positionals for one in action.choices or ()]
    words = [*verbs, *chosen, *_SAID.get(part.words, ())]
    files = any(_is_file(action) for action in part.positionals)
    return _entry(" ".join(part.words), _names(part), words, files)


def _commands() -> Iterator[str]:
    for command in COMMANDS:
        found = parts(command)
        verbs = [part.words[1] for part in found if len(part.words) == 2]
        if len(found) == len(verbs):
            yield _entry(command, ["--help"], verbs, False)
        yield from (_part(part, [] if len(part.words) == 2 else verbs) for part in found)


def completion() -> str:
    every = [part for command in COMMANDS for part in parts(command)]
    chosen: dict[str, list[str]] = {}
    filed: list[str] = []
    other: list[str] = []
    for part in every:
        for action in (one for one in part.options if one.nargs != 0):
            keys = [f'"{" ".join(part.words)} {name}"' for name in action.option_strings]
            if action.choices is not None:
                chosen.setdefault(" ".join(map(str, action.choices)), []).extend(keys)
            else:
                (filed if _is_file(action) else other).extend(keys)
    rows = [
        f'      {"|".join(keys)})\n        value=1 files=0 words="{words}" ;;'
        for words, keys in chosen.items()
    ]
    return _BASH.format(
        commands=" ".join(COMMANDS),
        verbs="|".join(f'"{" ".join(part.words)}"' for part in every if len(part.words) == 2),
        parts="\n".join(_commands()),
        chosen="\n".join(rows),
        filed="|".join(filed),
        other="|".join(other),
    )
