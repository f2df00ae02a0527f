"""What a worker does: a process that answers on a socket which it shares with its fellows."""

from __future__ import annotations

import contextlib
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import ExitCode
from heedful.machine import threads
from heedful.machine.child import Failed, end_with_parent
from heedful.machine.signals import let_terminate
from heedful.serving.service import Answering, Service
from heedful.serving.shelf import Tasks
from heedful.serving.summed_counts import SummedCounts

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


@dataclass(frozen=True)
class Worker:
    """The settings of a worker process.

    Attributes:
        number: its number, from 1; the worker that takes its place has the same.
        service: what is served.
        place: private folder of the server, where each worker leaves its counts.
        threads: for computation; None lets the process choose.
        say: writes a line to the log; a function of a module.
    """

    number: int
    service: Service
    place: Path
    threads: int | None
    say: Callable[[str], None]

    @property
    def folder(self) -> Path:
        """Where it has its copies of the models, so that they can be removed when it was killed."""
        return self.place / f"worker-{self.number}"


def be_worker(worker: Worker, listening: socket.socket, parent: Connection, tasks: Tasks) -> None:
    """Read the models, report to the parent, wait for its word, and answer until asked to end.

    The parent gets the tasks of the models, or `Failed`.

    Args:
        worker: which one this is.
        listening: the socket.
        parent: connection to the process that started this one.
        tasks: those that other workers serve already; a folder that holds another one by now is refused.
    """
    let_terminate()
    threads.begin(worker.threads)
    end_with_parent()
    tempfile.tempdir = str(worker.folder)

    def say(line: str) -> None:
        worker.say(f"worker {worker.number}: {line}")

    try:
        answering = Answering(worker.service, say, SummedCounts(worker.place, worker.number))
        answering.shelf.refuse_other_tasks(tasks)
    except MemoryError:
        sys.exit(ExitCode.OUT_OF_MEMORY)
    except Exception as error:
        with contextlib.suppress(OSError):  # the parent was killed
            parent.send(Failed.of(error, f"worker {worker.number}"))
        sys.exit(1)
    try:
        parent.send(dict(answering.shelf.tasks))
        parent.recv()
    except (EOFError, OSError):
        sys.exit(ExitCode.TERMINATED)
    sys.exit(answering.until_ended(listening, worker=True))
