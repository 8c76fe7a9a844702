"""A start that changes nothing: what ``underfelt table`` would refuse with these files.

It is the start itself, on a disk that writes nothing. What belongs to another user is not judged:
its owner and mode are part of the check.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from controller.config.live import LiveConfig
from controller.config.options import Secret
from controller.daemon import compose as starting
from controller.daemon.linking import no_network
from controller.daemon.setup import opening_of, setup_of
from controller.doctor.keys import refused
from controller.faults.refusals import REFUSED, StartRefusal, refusal_of
from controller.history.sealing import TableKey
from controller.rules.errors import SettingsError
from record.journal import JournalCorrupt
from record.journal.trial import TrialDisk, nearest

BEFORE_JOURNAL: Final = ("keys.sealing", "chips.register")
"""What a start opens before its journal."""
NO_KEY: Final = TableKey(bytes(32))
KEYLESS: Final = {"keys.sealing": ("E-SEAL-", "E-RUN-002"), "link": ("E-KEY-", "E-CFG-015")}
"""What a start says without a key, of which nothing follows where the key is another user's."""


def of_others(config: LiveConfig) -> Iterator[str]:
    """Keys of the configuration whose files this user cannot judge."""
    if not _ours(config.keys.sealing):
        yield "keys.sealing"
    if config.link is not None and not _ours(config.link.secret_key):
        yield "link"
    folder = nearest(config.journal.path)
    allowed = os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    if not allowed and folder.stat().st_uid != os.geteuid():
        yield "journal.path"


def _ours(secret: Secret) -> bool:
    """A missing file counts as ours: the start would refuse it."""
    try:
        return isinstance(secret, Path) and secret.stat().st_uid == os.geteuid()
    except FileNotFoundError:
        return True
    except OSError:
        return False


def refused_by_files(config: LiveConfig, others: Collection[str]) -> Iterator[StartRefusal]:
    """Everything at once; the first is what a start would say."""
    opened = dict(refused(config, others))
    if "journal.path" in others or any(about in opened for about in BEFORE_JOURNAL):
        yield from opened.values()
        yield from not_today(config)
        return
    tried = _tried(config, others)
    if tried is not None:
        yield tried
    yield from (one for one in opened.values() if tried is None or one.text != tried.text)


def _tried(config: LiveConfig, others: Collection[str]) -> StartRefusal | None:
    """Twice if it looks damaged: a table that runs may be writing a group just now."""
    error = _start(config, others)
    if isinstance(error, JournalCorrupt):
        error = _start(config, others)
    if error is None:
        return None
    found = refusal_of(error, "journal.path")
    unjudged = any(found.code.startswith(KEYLESS[name]) for name in others if name in KEYLESS)
    return None if unjudged else found


def _start(config: LiveConfig, others: Collection[str]) -> BaseException | None:
    key = NO_KEY if "keys.sealing" in others else None
    try:
        setup = setup_of(config, key=key)
        starting.compose(setup, TrialDisk(), network=no_network).journal.close()
    except REFUSED as error:
        return error
    return None


def not_today(config: LiveConfig) -> Iterator[StartRefusal]:
    """What the rules refuse on this day: a book before its date."""
    try:
        opening_of(config).state()
    except SettingsError as error:
        yield refusal_of(error)
