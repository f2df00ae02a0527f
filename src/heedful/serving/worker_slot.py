"""The place of one worker: the process that is there, what is known of it, and when another one may be started."""

from __future__ import annotations

import contextlib
import multiprocessing
import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heedful.machine.child import threads_for_children
from heedful.machine.heartbeat import Stillness, heard
from heedful.machine.signals import signals_held_back
from heedful.serving.private_folder import restore
from heedful.serving.service import Worker, be_worker

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from heedful.serving.model_store import Tasks

_SPAWN = multiprocessing.get_context("spawn")
_PAUSE, _DOUBLED = 1.0, 6
"""Seconds at least between two starts of a worker; twice as many after each start that failed, so many times."""
PROVED = 10.0
"""Seconds after which a worker that reads its models, and was not asked anything, counts as one that can answer."""
_START = 60.0
"""Seconds without a sign of life that a worker has beside the others until it has read its models."""


@dataclass
class Running:
    """A process that is there.

    Attributes:
        process: the process.
        reports: the connection to it.
        beats: where its signs of life come.
        stillness: for how long there was no sign.
        signs: how many came.
        stood: when it had read its models, on the monotonic clock; None before.
        has_answered: whether it has answered a text.
    """

    process: SpawnProcess
    reports: Connection
    beats: Connection
    stillness: Stillness = field(default_factory=Stillness)
    signs: int = 0
    stood: float | None = None
    has_answered: bool = False

    @property
    def is_proved(self) -> bool:
        """Whether it can answer: it has done so, or it has stood for a while."""
        stood = self.stood is not None and time.monotonic() - self.stood > PROVED
        return self.has_answered or stood

    def close(self) -> None:
        """Close the connections."""
        self.reports.close()
        self.beats.close()


@dataclass
class WorkerSlot:
    """The place of one worker.

    Attributes:
        worker: who is there.
        running: the process; None between two workers.
        failures: workers, one after the other, that could not start or ended before they had proved themselves.
        lasting: of them those that no error of the system ended, which another try would hardly help.
        due: when the next one may be started, on the monotonic clock.
        news: what the log says when the next one is started.
    """

    worker: Worker
    running: Running | None = None
    failures: int = 0
    lasting: int = 0
    due: float = 0.0
    news: str = ""

    def start(self, listening: socket.socket, tasks: Tasks) -> None:
        """Start a worker here.

        Args:
            listening: the socket that it answers on.
            tasks: those that other workers serve already.

        Raises:
            OSError: or another error, if the system gives no folder, no connection or no process.
        """
        self.wait()
        restore(self.worker.folder)
        with contextlib.ExitStack() as opened:
            ours, theirs = _SPAWN.Pipe()
            opened.callback(ours.close)
            opened.callback(theirs.close)
            heard_by, beats = _SPAWN.Pipe(duplex=False)
            opened.callback(heard_by.close)
            opened.callback(beats.close)
            arguments = (self.worker, listening, theirs, beats, tasks)
            process = _SPAWN.Process(target=be_worker, args=arguments)
            with threads_for_children(self.worker.threads), signals_held_back():
                process.start()
                self.running = Running(process, ours, heard_by)
            opened.pop_all()
        theirs.close()
        beats.close()

    def hangs(self, patience: float) -> bool:
        """Return whether the worker gives no sign of life.

        Args:
            patience: seconds for which it may give none.

        Returns:
            False also where no worker runs.
        """
        running = self.running
        if running is None:
            return False
        sign = heard(running.beats)
        running.signs += bool(sign)
        running.has_answered = running.has_answered or sign == b"1"
        if running.is_proved:
            self.failures = self.lasting = 0
        return running.stillness.look(running.signs) > patience + (0.0 if running.stood else _START)

    def wait(self) -> None:
        """Let no other worker start here for a moment."""
        self.due = time.monotonic() + _PAUSE

    def fail(self, *, passing: bool) -> float:
        """Note that a worker could not start, or has ended before it had proved itself.

        Args:
            passing: whether an error of the system is to blame.

        Returns:
            Seconds until the next one may be started.
        """
        self.failures += 1
        self.lasting += not passing
        seconds = _PAUSE * 2 ** min(self.failures, _DOUBLED)
        self.due = time.monotonic() + seconds
        return seconds
