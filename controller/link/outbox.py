"""Which events go to the server next: a cursor over the journal, and nothing of its own to lose.

Pure: the numbers are those of the journal's ``outbox`` records, time is passed in. The latest
events are held as the writer released them; older ones stand in the journal alone. An
acknowledgement moves the cursor and deletes nothing: the server's word at the next welcome counts,
also when it is less than it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from record.link.messages import Event

WINDOW: Final = 32
"""Events on their way at most; a round has three to five."""
RECENT: Final = 256
"""Events held in memory; a server that lacks more of them has them read from the journal."""
RESEND_MS: Final = 2_000
"""Silence after which what is on its way is sent again, and the pause after a refused event."""


@dataclass(slots=True)
class Outbox:
    """``last`` is the number of the last durable event, 0 if there is none."""

    last: int = 0
    acked: int | None = None
    """The server has the events up to here; None as long as nobody has said so."""
    next: int = 1
    """The number that is sent next on this connection."""
    recent: dict[int, Event] = field(default_factory=dict)
    """The last events by their number, at most ``RECENT``, whether the server has them or not."""
    acked_ms: int | None = None
    """When the server last acknowledged something new."""
    _goal: int = 0
    _unheard_ms: int | None = None
    """Since when something is on its way of which nothing was heard, repeats included."""
    _sent_ms: int = 0
    _refused: int | None = None
    """The event that the server refused last: nothing behind it is sent before it is taken."""
    _refused_ms: int = 0
    _gap: int | None = None
    """The event that the server asked for last. Every event that was on its way behind it is
    answered with the same gap, so only the first answer counts; the rest is a matter of time."""

    def grown(self, last: int, events: Iterable[Event]) -> None:
        self.last = max(self.last, last)
        for event in events:
            self.recent[event.n] = event
        while len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]

    @property
    def following(self) -> Event | None:
        """The first event that the server is not known to have, if it is held."""
        return self.recent.get((self.acked or 0) + 1)

    def welcomed(self, n: int, now_ms: int) -> bool:
        """The server's watermark; False if it has events that this journal does not hold."""
        if n > self.last:
            return False
        self.acked, self.next, self._goal = n, n + 1, self.last
        self._unheard_ms, self._sent_ms = None, now_ms
        self._refused = self._gap = None
        return True

    def parted(self) -> None:
        """The connection is over: what is on its way may have come or not."""
        if self.acked is not None:
            self.next = self.acked + 1

    def acknowledged(self, n: int, now_ms: int) -> bool:
        """Up to ``n`` it is durable there; False if that cannot be."""
        if self.acked is None or n > self.last:
            return False
        if n > self.acked:
            self.acked, self.acked_ms, self._sent_ms = n, now_ms, now_ms
            self.next = max(self.next, n + 1)
            self._unheard_ms = now_ms if self.on_the_way else None
            self._gap = None
            if self._refused is not None and n >= self._refused:
                self._refused = None
        return True

    def expected(self, n: int, now_ms: int) -> bool:
        """The server found a gap and waits for ``n``; False if that cannot be."""
        if self.acked is None or not 1 <= n <= self.last + 1:
            return False
        if n != self._gap:
            self.acked, self.next, self._sent_ms, self._gap = n - 1, n, now_ms, n
        return True

    def refused(self, n: int, now_ms: int) -> None:
        """The server does not take ``n`` now: it is offered again after a pause, and alone."""
        if self.acked is not None and self.acked < n <= self.last:
            self._refused, self._refused_ms = n, now_ms
            self.next = min(self.next, n)

    def wanted(self, now_ms: int) -> range:
        """The numbers to send now, in order."""
        if self.acked is None:
            return range(0)
        if self.on_the_way and now_ms - self._sent_ms >= RESEND_MS:
            self.next, self._sent_ms = self.acked + 1, now_ms
        last = min(self.last, self.acked + WINDOW)
        if self._refused is not None:
            last = min(last, self._refused)
            if now_ms - self._refused_ms < RESEND_MS:
                return range(0)
        return range(self.next, last + 1)

    def sent(self, n: int, now_ms: int) -> None:
        """``n`` has gone out, after all before it."""
        assert n == self.next
        if self._unheard_ms is None:
            self._unheard_ms = now_ms
        self.next, self._sent_ms = n + 1, now_ms

    @property
    def on_the_way(self) -> int:
        return 0 if self.acked is None else self.next - 1 - self.acked

    @property
    def depth(self) -> int:
        """Events that the server is not known to have."""
        return self.last - (self.acked or 0)

    @property
    def caught_up(self) -> bool:
        """The server has all that there was when it welcomed us."""
        return self.acked is not None and self.acked >= self._goal

    def stalled(self, now_ms: int, limit_ms: int) -> bool:
        """Something is on its way and nothing has been acknowledged for so long."""
        return self._unheard_ms is not None and now_ms - self._unheard_ms > limit_ms

    @property
    def wake_ms(self) -> int | None:
        return self._sent_ms + RESEND_MS if self.on_the_way else None
