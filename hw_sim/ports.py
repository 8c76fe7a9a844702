"""Ptys for the simulated lines: one per port, under a name that stays while the pty changes.

The simulator keeps the slave side open as well, so a controller may come and go without the master
reading errors. The line paces the bytes; the pty only carries them.
"""

from __future__ import annotations

import asyncio
import os
import pty
import termios
import tty
from pathlib import Path

from hw_sim.line import USB_PORTION, Line

READ_SIZE = 512


class PtyPort:
    """The host's end of a line as a pty with a symbolic link."""

    def __init__(self, line: Line, link: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.line = line
        self.link = link
        self.lost_bytes = 0
        line.portion = USB_PORTION  # as from an adapter: a busy machine tears no frame apart
        self._loop = loop
        self._master = self._slave = -1
        self.open()

    def open(self, other_than: str = "") -> None:
        """A new pty, and the name points at it; ``other_than`` is a number it must not get."""
        self._master, self._slave = pty.openpty()
        if os.ttyname(self._slave) == other_than:
            held = self._master, self._slave
            self._master, self._slave = pty.openpty()
            for descriptor in held:
                os.close(descriptor)
        tty.setraw(self._master)
        os.set_blocking(self._master, False)
        self.point(self.link)
        self.listen(on=True)
        self.line.plug_in(self)

    def point(self, link: Path) -> None:
        """Put the link in place in one step, so that nobody ever sees it missing half-way."""
        new = link.with_name(link.name + ".new")
        new.unlink(missing_ok=True)
        new.symlink_to(os.ttyname(self._slave))
        new.replace(link)

    def listen(self, *, on: bool) -> None:
        """Off: nobody takes the host's bytes any more, and its buffers fill up."""
        if self._master < 0:
            return
        if on:
            self._forget_speed()
            self._loop.add_reader(self._master, self._readable)
        else:
            self._loop.remove_reader(self._master)

    def deliver(self, data: bytes) -> None:
        if self._master < 0:
            return
        try:
            sent = os.write(self._master, data)
        except BlockingIOError:
            sent = 0
        self.lost_bytes += len(data) - sent

    def hang_up(self) -> None:
        """The cable is pulled: the name goes, and a process that has it open reads the end."""
        if self._master < 0:
            return
        self._loop.remove_reader(self._master)
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1
        self.link.unlink(missing_ok=True)

    def _readable(self) -> None:
        try:
            data = os.read(self._master, READ_SIZE)
        except OSError:
            return
        self._forget_speed()
        self.line.from_host(data)

    def _forget_speed(self) -> None:
        """A pty keeps no parity, and refuses settings of which it can keep nothing that is new.

        So the speed, which means nothing here, is put back: the next host can open it as the first.
        """
        attributes = termios.tcgetattr(self._slave)
        if attributes[4:6] != [termios.B50, termios.B50]:
            attributes[4:6] = [termios.B50, termios.B50]
            termios.tcsetattr(self._slave, termios.TCSANOW, attributes)
