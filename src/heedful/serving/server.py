"""The process: a socket, uvicorn, signals, and connections that are closed when they keep the server waiting."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from http import HTTPStatus
from types import FrameType

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from heedful.errors import ExitCode, UsageError
from heedful.serving.app import App
from heedful.serving.bounds import Refused

_BACKLOG = 2_048
_SWITCH = 0.0005
"""Seconds after which a thread that computes in Python lets another one go on; Python's own 0.005 would be added to
the time of each answer."""
_LEAVE = 0.2
"""Seconds that clients have to close their connections before the server closes them."""
_KEEP_ALIVE = 20
_LOOK = 10
_COUNTS = 5
"""Tenths of a second between two looks for slow connections, and after which counts are left for other processes."""


AT_ONCE = signal.SIGUSR1
"""Ends a worker that is not to answer first. A worker knows no second SIGTERM and no SIGINT, because others than the
parent send them: the system may send SIGTERM to all processes of a service, and a terminal sends SIGINT to all of a
command."""


class _Connection(HttpToolsProtocol):
    """A connection that knows until when its client may keep the server waiting."""

    deadline: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._allow(self.app.bounds.head_seconds)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._allow(self.app.bounds.head_seconds)

    def on_headers_complete(self) -> None:
        self._allow(2 * self.app.bounds.seconds)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        self._allow(max(2 * self.app.bounds.seconds, 2 * _KEEP_ALIVE))
        super().on_response_complete()

    def _allow(self, seconds: float) -> None:
        self.deadline = self.loop.time() + seconds

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer a client that has sent its whole request and closes its half of the connection."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def send_400_response(self, msg: str) -> None:
        refused = Refused(HTTPStatus.BAD_REQUEST, "request", f"{msg} Send HTTP/1.1.")
        body = refused.body()
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(
            body
        )
        self.transport.write(STATUS_LINE[400] + head + body)
        self.transport.close()


class _SharedSocket(socket.socket):
    """A socket that other processes take connections from too.

    asyncio takes as many connections at a time as its ``backlog`` says. That is one here, so that the first process to
    wake leaves some to the others; the queue of the socket stays as long as it is.
    """

    def listen(self, backlog: int = _BACKLOG) -> None:
        super().listen(_BACKLOG)


class _Server(uvicorn.Server):
    """uvicorn, which drains at the first signal and ends without raising it again."""

    def __init__(self, config: uvicorn.Config, app: App, say: Callable[[str], None], worker: bool) -> None:
        super().__init__(config)
        self.app, self.say, self.worker = app, say, worker
        self.signal = 0
        app.connections = lambda: len(self.server_state.connections)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = (signal.SIGTERM, AT_ONCE) if self.worker else (signal.SIGTERM, signal.SIGINT)
        former = {number: signal.signal(number, self.handle_exit) for number in numbers}
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
        if counter % _LOOK == 0:
            self._drop_the_slow()
        if counter % _COUNTS == 0:
            self.app.leave_counts()
        return await super().on_tick(counter)

    def _drop_the_slow(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in list(self.server_state.connections):
            if isinstance(connection, _Connection) and now > connection.deadline:
                connection.transport.abort()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.app.draining = True
        self.say("answering the requests in flight, then ending")
        await asyncio.sleep(_LEAVE)
        await super().shutdown(sockets)


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
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else str(error)
        raise UsageError(
            f"--host {host} --port {port}: cannot listen there: {reason}. Choose another port."
        ) from error


def run(app: App, listening: socket.socket, say: Callable[[str], None], *, worker: bool = False) -> ExitCode:
    """Answer until a signal comes, then what is in flight.

    Args:
        app: what answers.
        listening: the socket; it is closed at the end.
        say: writes a line to the log.
        worker: whether this is one of several processes that take connections from the socket; see `AT_ONCE`.

    Returns:
        0 if every request in flight was answered; else the code of the signal, which came twice or was waited for too
        long.
    """
    _allow_files(app.bounds.connections)
    former = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        backlog=1 if worker else _BACKLOG,
        timeout_graceful_shutdown=int(app.bounds.seconds) + 1,
    )
    server = _Server(config, app, say, worker)
    shared = _SharedSocket(fileno=listening.detach()) if worker else listening
    try:
        server.run(sockets=[shared])
    finally:
        shared.close()
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
