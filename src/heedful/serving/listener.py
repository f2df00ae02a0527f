"""The socket that connections are taken from: shared between processes, and emptied before it is closed.

All processes of a server take from one queue of the system. With a queue for each (SO_REUSEPORT), the connections of a
process that dies would be reset with it; from this one another process takes them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
from collections.abc import Callable

BACKLOG = 2_048
"""Connections that may wait in the queue of the system."""
_PAUSE = 1.0
"""Seconds for which no connection is taken when the system refuses to give one, as it does without file numbers."""

_AGAIN = 0.05
"""The same while the socket is about to be closed."""


class Listener:
    """Takes connections as long as it is open.

    Args:
        listening: the socket.
        protocol: makes what speaks on a connection.
        print_line: writes a line to the log.
        at_a_time: connections that are taken before others are served. One where other processes take from the same
            socket, so that the first of them to wake leaves some to the others.
    """

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[], asyncio.BaseProtocol],
        print_line: Callable[[str], None],
        at_a_time: int,
    ) -> None:
        self._listening, self._protocol, self._say, self._at_a_time = (
            listening,
            protocol,
            print_line,
            at_a_time,
        )
        self._loop = asyncio.get_running_loop()
        self._taken = set[asyncio.Task[object]]()
        self._closing = False
        listening.setblocking(False)
        self._go_on()

    def _go_on(self) -> None:
        if not self._closing:
            self._loop.add_reader(self._listening.fileno(), self._take)

    def _take(self) -> None:
        for _ in range(self._at_a_time):
            if not self._take_one():
                return

    def _take_one(self) -> bool:
        """Take a connection; return whether there may be another one."""
        try:
            connection, _ = self._listening.accept()
        except (BlockingIOError, InterruptedError):
            return False
        except ConnectionAbortedError:  # the client has gone
            return True
        except OSError as error:
            self._pause(error)
            return False
        connection.setblocking(False)
        with contextlib.suppress(OSError):  # the client has gone
            # An answer goes out in two pieces. Without this the second one waits until the client has confirmed the
            # first, which takes it 40 ms. asyncio sets it only for sockets that name their protocol; this one does not.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._speak(connection))
        self._taken.add(task)
        task.add_done_callback(self._taken.discard)
        return True

    def _pause(self, error: OSError) -> None:
        self._loop.remove_reader(self._listening.fileno())
        if self._closing:
            return
        self._loop.call_later(_PAUSE, self._go_on)
        reason = os.strerror(error.errno) if error.errno else str(error)
        self._say(f"no connection can be taken, next try in {_PAUSE:.0f} second: {reason}")

    async def _speak(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._protocol, connection)
        except Exception as error:  # no memory, or no place in the list of what is waited for
            connection.close()
            self._say(f"a connection is closed at once: {type(error).__name__}")

    async def close(self, seconds: float) -> None:
        """Take what the system has accepted, so that nobody who has sent a request is cut off; then close the socket.

        Args:
            seconds: for which that is tried, where the system has no file numbers before others have been answered.
        """
        self._closing = True
        self._loop.remove_reader(self._listening.fileno())
        queue, until = select.poll(), self._loop.time() + seconds
        queue.register(self._listening, select.POLLIN)
        while self._loop.time() < until:
            if not self._take_one():
                if not queue.poll(0):
                    break
                await asyncio.sleep(_AGAIN)
        self._listening.close()
        if self._taken:
            await asyncio.wait(self._taken)
