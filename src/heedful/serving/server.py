"""The process: a socket, uvicorn, signals, and connections that are closed when they keep the server waiting."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import uvicorn

from heedful.errors import ExitCode, UsageError
from heedful.serving.connection import KEEP_ALIVE, Connection
from heedful.serving.guarded_app import GuardedApp
from heedful.serving.listener import BACKLOG, Listener

_AT_A_TIME = 64
"""Connections that are taken before others are served, where no other process takes any."""
_SWITCH = 0.0005
"""Seconds after which a thread that computes in Python lets another one go on; Python's own 0.005 would be added to
the time of each answer."""
_LEAVE = 0.2
"""Seconds that clients have to close their connections before the server closes them."""
_CHECK = 0.02
"""Seconds between two looks at what is left to be answered."""
_TICK = 0.2
"""Seconds between two signs of the loop of events that it runs."""
_LOOK = 10
_COUNTS = 5
"""Tenths of a second between two looks for slow connections, and after which counts are left for other processes."""


AT_ONCE = signal.SIGUSR1
"""Ends a worker that is not to answer first. A worker knows no second SIGTERM and no SIGINT, because others than the
parent send them: the system may send SIGTERM to all processes of a service, and a terminal sends SIGINT to all of a
command."""


class _Server(uvicorn.Server):
    """uvicorn, which drains at the first signal and ends without raising it again."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: GuardedApp,
        print_line: Callable[[str], None],
        worker: bool,
        early: Sequence[int],
        stand: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._early = early
        self.app, self.print_line, self.worker, self._stand = app, print_line, worker, stand
        self.signal, self._said = 0, 0.0
        self._listeners = list[Listener]()
        app.connections = lambda: len(self.server_state.connections)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = (signal.SIGTERM, AT_ONCE) if self.worker else (signal.SIGTERM, signal.SIGINT)
        former = {number: signal.signal(number, self.handle_exit) for number in numbers}
        for number in self._early:
            self.handle_exit(number, None)
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        at_once = sig == AT_ONCE if self.worker else self.should_exit
        self.force_exit = self.force_exit or at_once
        self.signal, self.should_exit = sig, True

    async def on_tick(self, counter: int) -> bool:
        try:
            if counter % _LOOK == 0:
                self._drop_the_slow()
            if counter % _COUNTS == 0:
                self.app.leave_counts()
        except Exception as error:  # no memory, for example: the server goes on without new counts
            self._log_error(asyncio.get_running_loop(), {"exception": error})
        return await super().on_tick(counter)

    def _connections(self) -> list[Connection]:
        return [each for each in self.server_state.connections if isinstance(each, Connection)]

    def _drop_the_slow(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in self._connections():
            if now > connection.deadline:
                connection.transport.abort()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections, by our own `Listener`."""
        asyncio.get_running_loop().set_exception_handler(self._log_error)
        make = self.config.http_protocol_class
        state = {"config": self.config, "server_state": self.server_state, "app_state": {}}
        at_a_time = 1 if self.worker else _AT_A_TIME
        self._listeners = [
            Listener(each, lambda: make(**state), self.print_line, at_a_time) for each in sockets or ()
        ]
        self._ticking = asyncio.create_task(self._tick())
        self.started = True
        self._stand()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer all that was sent before the signal, whether it was read, waits to be read, or waits to be taken."""
        self.app.draining = True
        self.print_line("answering the requests in flight, then ending")
        patience = asyncio.get_running_loop().time() + self.app.bounds.seconds + 1
        for connection in self._connections():
            connection.answer_last()
        await asyncio.sleep(_LEAVE)
        for listener in self._listeners:
            await listener.close(self.app.bounds.seconds)
        while (self._connections() or self.server_state.tasks) and not self.force_exit:
            if asyncio.get_running_loop().time() > patience:
                break
            self._drop_the_slow()
            for connection in self._connections():
                connection.leave()
            await asyncio.sleep(_CHECK)
        for task in list(self.server_state.tasks):
            task.cancel()
        self._ticking.cancel()
        self.app.ticks = None

    async def _tick(self) -> None:
        """Show that the loop of events runs."""
        self.app.ticks = 0
        while True:
            await asyncio.sleep(_TICK)
            self.app.ticks += 1

    def _log_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report what nobody has caught, at most once a second and without its text, which may be of a request."""
        if loop.time() < self._said + 1:
            return
        self._said = loop.time()
        error = context.get("exception")
        self.print_line(f"an error of a connection: {type(error).__name__ if error else context['message']}")


def listen(host: str, port: int) -> socket.socket:
    """Open the socket.

    Args:
        host: name or address to listen on.
        port: 0 for any that is free.

    Returns:
        The socket.

    Raises:
        UsageError: if it cannot be opened.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0  # below 0 where a name has no address
        reason = os.strerror(number) if number > 0 else getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"--host {host} --port {port}: cannot listen there: {reason}. Choose another port."
        ) from error


def run(
    app: GuardedApp,
    listening: socket.socket,
    print_line: Callable[[str], None],
    *,
    worker: bool = False,
    early: Sequence[int] = (),
    stand: Callable[[], None] = lambda: None,
) -> ExitCode:
    """Answer until a signal comes, then what is in flight.

    Args:
        app: what answers.
        listening: the socket; it is closed at the end.
        print_line: writes a line to the log.
        worker: whether this is one of several processes that take connections from the socket; see `AT_ONCE`.
        early: signals that came before this was called, which end it once all is answered.
        stand: called once connections are taken and a signal would let all be answered.

    Returns:
        0 if every request in flight was answered; else the code of the signal, which came twice or was waited for too
        long.
    """
    _allow_files(app.bounds.connections)
    former = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
    )
    server = _Server(config, app, print_line, worker, early, stand)
    try:
        server.run(sockets=[listening])
    finally:
        listening.close()
        sys.setswitchinterval(former)
    if server.force_exit or server.server_state.tasks:
        return ExitCode.INTERRUPTED if server.signal == signal.SIGINT else ExitCode.TERMINATED
    return ExitCode.OK


def _allow_files(connections: int) -> None:
    """Let the process have as many files open as there may be connections, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + 256
    if soft != resource.RLIM_INFINITY and soft < wanted:
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
