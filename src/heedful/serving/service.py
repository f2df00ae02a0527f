"""One process that answers: what it serves as a record that another process can be given, and the way to answers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from heedful.errors import ExitCode
from heedful.serving.app import Access, App
from heedful.serving.bounds import Bounds
from heedful.serving.counters import Counters
from heedful.serving.engine import Truncate
from heedful.serving.server import run
from heedful.serving.shelf import Shelf, opener
from heedful.serving.summed_counts import SummedCounts

Say = Callable[[str], None]
"""Writes a line to the log."""


@dataclass(frozen=True)
class Service:
    """What is served.

    Attributes:
        folders: name of each model to its folder.
        bounds: the limits.
        access: who may ask.
        max_tokens: longest text, in tokens; None for what each model was saved with.
        truncate: what a longer text does; None for what was saved.
    """

    folders: Mapping[str, Path]
    bounds: Bounds
    access: Access
    max_tokens: int | None = None
    truncate: Truncate | None = None


class Answering:
    """One process of a service, its models read and checked.

    Args:
        service: what is served.
        say: writes a line to the log.
        workers: the counts of several processes; None where this is the only one.

    Attributes:
        shelf: the models.

    Raises:
        HeedfulError: if a folder fails its checks; see `heedful.serving.engine.open_engine`.
    """

    def __init__(self, service: Service, say: Say, workers: SummedCounts | None = None) -> None:
        counters, self._say = Counters(), say
        if workers:
            workers.go_on(counters)
        read = opener(service.max_tokens, service.truncate)
        self.shelf = Shelf(service.folders, service.bounds, counters, read, say)
        self._app = App(self.shelf, service.bounds, service.access, counters, say, workers)

    def until_ended(self, listening: socket.socket, *, worker: bool = False) -> ExitCode:
        """Answer until a signal comes; see `heedful.serving.server.run`.

        Args:
            listening: the socket; it is closed at the end.
            worker: whether this is one of several processes.

        Returns:
            The exit code.
        """
        self.shelf.watch()
        code = run(self._app, listening, self._say, worker=worker)
        if code is ExitCode.OK:
            self.shelf.close()
        self._app.leave_counts()
        return code
