"""Test mode at the shell: one holder, one guided test at a time; nothing of it can move money.

Everything here is of the loop. The writer decides whether test mode may begin, writes down that it
began and why it ended, and puts the table back; this part runs the tests and asks the devices.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any, Final, cast

from controller.config.live import LiveConfig
from controller.daemon.runtime import Runtime
from controller.daemon.service import Peer
from controller.faults.status import AuthorRow
from controller.shell.desk.audit import Audit
from controller.shell.desk.roles import Act, Asked
from controller.shell.errors import IN_ROUND, NOT_NOW, TAKEN, TEST_MODE, USED, WORD, VerbRefused
from controller.shell.messages import Progress
from controller.shell.testing.lines import ChallengeTest, LoopTest
from controller.shell.testing.makers import MAKERS, Equipment, Make
from controller.shell.testing.steps import Answer, Challenge, Guided, Looped, Probe, Wish, Wishes
from drivers.readings import Reading
from drivers.transport.clock import now_us

IDLE_S: Final = 15 * 60.0
TICK_S: Final = 0.1
CERTIFICATE: Final = "certificate"
OFF: Final = "test off"
CHALLENGE: Final = "challenge"
"""The record of a nonce: none is ever asked twice."""
Counters = Callable[[], Mapping[str, Mapping[str, int]]]
Identities = Mapping[str, Mapping[str, str]]
TOLD: Final = ("model", "serial", "firmware")
"""Of a device, in a certificate."""


class Runner:
    """``counters``: what every driver counts; ``identities``: what every device said of itself.
    Without a command test mode ends by itself."""

    def __init__(
        self,
        config: LiveConfig,
        runtime: Runtime,
        audit: Audit,
        counters: Counters,
        identities: Identities,
    ) -> None:
        self._config, self._runtime, self._audit = config, runtime, audit
        self._counters, self._identities = counters, identities
        self._holder: Peer | None = None
        self._last: Peer | None = None
        """Who has it, or had it last."""
        self._by: AuthorRow | None = None
        self._guided: Guided | None = None
        self._wrapped: dict[str, Any] | None = None
        """The certificate, once it is on disk and the table shows again what it showed."""
        self._idle: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def acts(self) -> dict[str, Act]:
        return {
            "test on": self._on,
            "test off": self._off,
            "test stop": self._stop,
            "answer": self._answer,
            **{name: self._guiding(make) for name, make in MAKERS.items()},
        }

    def is_on(self) -> bool:
        return bool(self._runtime.status.get("test_mode"))

    # --- beginning and ending ------------------------------------------------------------------

    async def _on(self, asked: Asked) -> Mapping[str, Any]:
        if self._holds(asked.peer):
            return self._told()
        by = asked.author.row()
        blocked = await self._runtime.direct(lambda writer, _: writer.begin_test(by))
        if blocked is not None:
            code = IN_ROUND if blocked.in_round else NOT_NOW
            raise VerbRefused(TAKEN if blocked.taken else code, blocked.why)
        self._holder = self._last = asked.peer
        self._by = by
        self._touch()
        return self._told()

    async def _off(self, asked: Asked) -> Mapping[str, Any]:
        self._must_hold(asked)
        await self._end(OFF)
        return self._told()

    def ended(self, peer: Peer) -> str:
        """Why the last holder lost it without ending it; empty otherwise."""
        why = self._runtime.beside.test_ended
        return "" if self.is_on() or self._last != peer or why == OFF else why

    def commanded(self, peer: Peer) -> None:
        """Whatever its holder asks for: he is still there."""
        if peer == self._holder:
            self._touch()

    def left(self, peer: Peer) -> None:
        """A connection has ended: a test mode that nobody holds is over."""
        if peer == self._holder:
            self._soon(self._end("the connection ended"))

    async def _end(self, why: str) -> None:
        if self._holder is None:
            return
        await self.close(why)
        self._runtime.unprobe()
        await self._runtime.direct(lambda writer, at_us: (writer.end_test(why, at_us), None))

    async def close(self, why: str) -> None:
        """Nobody holds it any more, and a test under way has its certificate. The table itself is
        put back by the writer; if the daemon stops there is none left to ask."""
        self._holder = None
        for timer in (self._idle, self._timer):
            if timer is not None:
                timer.cancel()
        self._idle = self._timer = None
        guided, self._guided, self._wrapped = self._guided, None, None
        if guided is not None and not guided.done:
            guided.stop(f"given up: {why}")
            await self._audit.keep(CERTIFICATE, self._certificate(guided))

    def _touch(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._forgotten)

    def _forgotten(self) -> None:
        self._soon(self._end(f"no command for {IDLE_S:.0f} s"))

    def _holds(self, peer: Peer) -> bool:
        return self.is_on() and peer == self._holder

    def _must_hold(self, asked: Asked) -> None:
        if not self.is_on():
            ended = self.ended(asked.peer)
            raise VerbRefused(TEST_MODE, "test mode is off" + (f": {ended}" if ended else ""))
        if not self._holds(asked.peer):
            by = self._by
            who = "somebody" if by is None else by["user"] or by["uid"]
            raise VerbRefused(TAKEN, f"{who} has test mode, in another connection")

    def _told(self) -> dict[str, Any]:
        told = self._runtime.status.get("test_mode")
        return {"test_mode": told is not None, "by": told, "idle_s": int(IDLE_S)}

    # --- guided tests --------------------------------------------------------------------------

    def _guiding(self, make: Make) -> Act:
        async def act(asked: Asked) -> Mapping[str, Any]:
            self._must_hold(asked)
            if asked.cursor is None:
                await self._begin(make(await self._equipment(), asked.words))
            return self._progress(asked.cursor or 0)

        return act

    async def _equipment(self) -> Equipment:
        rules, find = await self._runtime.look(
            lambda writer: (writer.core.state.rules, writer.core.chips.find)
        )
        status = self._runtime.status
        return Equipment(
            self._config.layout,
            rules,
            find,
            status["card_devices"],
            {name: (one["state"], one["code"]) for name, one in status["devices"].items()},
            {name: one["serial"] for name, one in self._identities.items()},
            self._counters,
        )

    async def _begin(self, guided: Guided) -> None:
        if isinstance(guided, ChallengeTest):
            await self._use_up(guided)
        await self._give_up("another test was begun")
        self._guided, self._wrapped = guided, None
        if guided.draws_cards:
            await self._runtime.direct(lambda writer, _: (writer.test_cards(True), None))
        self._do(guided.begin(now_us()))
        self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)

    async def _use_up(self, guided: ChallengeTest) -> None:
        nonce = guided.nonce.hex()
        if any(row.get("nonce") == nonce for row in await self._audit.rows_of(CHALLENGE)):
            raise VerbRefused(USED, f"{nonce}: this nonce was asked before; make a fresh one")
        await self._audit.keep(CHALLENGE, {"device": guided.device, "nonce": nonce})

    async def _stop(self, asked: Asked) -> Mapping[str, Any]:
        self._must_hold(asked)
        await self._give_up("given up")
        return self._progress(0 if self._guided is None else len(self._guided.steps))

    async def _give_up(self, why: str) -> None:
        guided = self._guided
        if guided is not None and self._wrapped is None:
            guided.stop(why)
            await self._wrap_up(guided)

    async def _answer(self, asked: Asked) -> Mapping[str, Any]:
        self._must_hold(asked)
        if self._guided is None or self._guided.done:
            raise VerbRefused(WORD, "no test waits for an answer")
        if asked.cursor is not None and not self._guided.asks(asked.cursor):
            return self._progress(asked.cursor)  # too late: it was asked something else meanwhile
        self._do(self._guided.answer(cast(Answer, asked.words["answer"]), now_us()))
        return self._progress(len(self._guided.steps))

    def take(self, reading: Reading | Looped) -> None:
        """Of every reading, before anything is made of it."""
        guided = self._guided
        if guided is not None and not guided.done:
            steps = len(guided.steps)
            self._do(guided.take(reading, now_us()))
            if len(guided.steps) > steps:
                self._touch()

    def _tick(self) -> None:
        self._timer = None
        guided = self._guided
        if guided is None:
            return
        if not self.is_on():  # the writer has ended it: the power fails
            self._soon(self._end("ended by the table"))
            return
        if not guided.done:
            self._do(guided.advance(now_us()))
        if guided.done:
            self._soon(self._wrap_up(guided))
        else:
            self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)

    def _do(self, wishes: Wishes) -> None:
        """On the next turn of the loop: an order must not re-enter its caller."""
        for wish in wishes:
            asyncio.get_running_loop().call_soon(self._wish, wish)

    def _wish(self, wish: Wish) -> None:
        runtime = self._runtime
        if self._holder is None:
            return
        match wish:
            case Probe(line, data):
                opened = runtime.probe(line, data, lambda back: self.take(Looped(line, back)))
                if not opened and isinstance(self._guided, LoopTest):
                    self._guided.not_open()
            case Challenge(device, nonce, digest):
                runtime.challenge(device, nonce, digest)
            case _:
                runtime.order(wish)

    async def _wrap_up(self, guided: Guided) -> None:
        """The table shows again what it showed, and the certificate is on disk."""
        if self._wrapped is not None or self._guided is not guided:
            return
        self._runtime.unprobe()
        await self._runtime.direct(lambda writer, _: (writer.test_picture(), None))
        certificate = self._certificate(guided)
        await self._audit.keep(CERTIFICATE, certificate)
        if self._guided is guided:
            self._wrapped = certificate

    def _certificate(self, guided: Guided) -> dict[str, Any]:
        known = sorted(self._identities.items())
        devices = {name: {key: one[key] for key in TOLD} for name, one in known}
        return {
            **guided.certificate(),
            "table": self._config.name,
            "at": datetime.now().astimezone().isoformat(timespec="seconds"),
            "by": self._by or {},
            "devices": devices,
        }

    def _progress(self, cursor: int) -> dict[str, Any]:
        guided = self._guided
        if guided is None:
            return Progress().row()
        done = self._wrapped is not None
        return Progress(
            steps=guided.after(cursor),
            cursor=len(guided.steps),
            done=done,
            passed=done and guided.passed,
            question=guided.question,
            test=guided.name,
            certificate=self._wrapped,
        ).row()

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
