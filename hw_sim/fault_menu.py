"""The fault verbs as a menu: by group, with titles and arguments."""

from __future__ import annotations

from typing import Final

from hw_sim.faults import VERBS

GROUPS: Final[dict[str, dict[str, str]]] = {
    "Cables": {
        "unplug": "Pull a plug",
        "replug": "Put a plug back",
        "rename": "Replug under another number",
        "swap": "Swap two plugs",
        "stick": "Adapter hangs",
        "link": "Cut the link cable, or put it back",
        "mute": "Device stops answering",
        "loopback": "Line answers itself",
        "reboot": "Device restarts",
    },
    "Noise": {
        "flip": "Flip bits",
        "lose": "Lose bytes",
        "insert": "Insert bytes",
        "glue": "Glue frames together",
        "split": "Split frames",
        "repeat": "Repeat the last frame",
    },
    "Cards": {
        "jam": "Jam the card device",
        "lid": "Open or close the lid",
        "foreign": "Foreign card comes next",
        "duplicate": "Same card twice",
        "misread": "Card is not read",
        "mistake": "Reader takes a card for another",
        "missing": "Cards missing from the deck",
        "doublefeed": "Two cards at once",
        "pushback": "Card pushed back",
        "backwards": "Card counter goes back",
        "firmware": "Changed firmware",
    },
    "Chips": {
        "antenna": "Break an antenna",
        "crossed": "Exchange two antennas",
        "flap": "Chip at the edge of a field",
    },
    "Console": {
        "dead": "Display stops",
        "dark": "Display goes dark",
        "brownout": "Board loses power for a moment",
        "absent": "Board is gone",
        "nak": "Board refuses",
        "stale": "Board answers with old data",
        "stuck": "Bus hangs",
        "heldkey": "Key is stuck",
    },
    "Power and pins": {
        "powerfail": "Cut the power",
        "undervoltage": "Supply too low",
        "door": "Open or close the cabinet door",
        "pin": "Set a pin",
        "bounce": "Contact bounces",
        "edges": "Edges of a pin get lost",
    },
}
"""The verbs for a menu: by group, with a title."""


def described() -> list[dict[str, object]]:
    """Every verb with group, title and arguments."""
    return [
        {"verb": verb, "group": group, "title": title, "arguments": VERBS[verb][0].split()}
        for group, verbs in GROUPS.items()
        for verb, title in verbs.items()
    ]
