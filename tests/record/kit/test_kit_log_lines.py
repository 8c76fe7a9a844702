"""Log lines that nobody reads: nothing waits for them, and none is lost without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from record.kit.log_lines import LogLines
from tests.patience import PATIENCE_S
from tests.pipes import emptied, full_pipe


@pytest.mark.parametrize("threads", [1, 8])
def test_a_full_pipe_holds_up_nobody_and_the_next_line_says_how_many_are_lost(threads: int) -> None:
    reading, writing = os.pipe()  # nobody reads
    log = LogLines(writing, "name: ")
    room = 65_536 // 256

    def write() -> None:
        for _ in range(2 * room):
            log.write("x" * 255 + "\n")

    started = [threading.Thread(target=write, daemon=True) for _ in range(threads)]
    for one in started:
        one.start()
    for one in started:
        one.join(PATIENCE_S)
        assert not one.is_alive()
    lost = log.lost
    assert lost >= room
    kept = emptied(reading).splitlines()
    told = [int(line.split()[1]) for line in kept if line.startswith("name: ")]
    written = sum(line == "x" * 255 for line in kept)
    assert written + sum(told) + lost == threads * 2 * room
    log.write("after\n")
    assert (emptied(reading), log.lost) == (f"name: {lost} log lines were lost\nafter\n", 0)
    os.close(reading)
    log.write("nobody is there any more\n")  # EPIPE
    os.close(writing)
    log.write("nor is this end\n")  # EBADF
    assert log.lost == 2


def test_a_pipe_that_is_full_from_the_beginning() -> None:
    reading, writing = full_pipe()
    log = LogLines(writing)
    log.write("one\n")
    assert log.lost == 1
    assert set(emptied(reading)) == {"x"}
    log.write("two\n")
    assert emptied(reading) == "<4>1 log lines were lost\ntwo\n"
    os.close(reading)
    os.close(writing)


def test_with_a_closed_standard_error_no_other_file_gets_the_lines(tmp_path: Path) -> None:
    """Its number is given to the next file that is opened, which may be a store."""
    program = (
        "import sys; kept = open(sys.argv[1], 'w'); assert kept.fileno() == 2\n"
        "from record.kit.log_lines import LogLines; LogLines().write('line\\n')"
    )
    store = tmp_path / "store"
    shell = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-c", program, str(store)]
    assert subprocess.run(shell, check=False, timeout=PATIENCE_S).returncode == 0
    assert store.read_text() == ""
