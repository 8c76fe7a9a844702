"""No rename of a class, a field or a member of an enumeration changes a name on disk or a wire."""

from __future__ import annotations

from tests.golden.files import HERE
from tests.golden.names import names

STATE = "journal standing state"


def test_every_name_on_disk_and_on_the_wire_is_the_written_one() -> None:
    """A name that was added is added to the file; one that is gone makes old files unreadable."""
    written = (HERE / "names.txt").read_text("utf-8").splitlines()
    found = list(dict.fromkeys(names()))
    assert [name for name in written if name not in set(found)] == [], "gone or renamed"
    assert [name for name in found if name not in set(written)] == [], "new: add it to names.txt"
    state = [name for name in found if name.startswith(STATE)]
    assert state == [name for name in written if name.startswith(STATE)], "digests take this order"
