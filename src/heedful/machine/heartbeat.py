"""Signs of life of a process: it gives one a second, and the process that started it notices when none comes."""

from __future__ import annotations

import contextlib
import select
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

BEAT = 1.0
"""Seconds between two signs of life, and between two looks at them."""
_MOST = 2 * BEAT
"""Seconds of silence that one look adds at most. A process that was stopped with all others, or a computer that slept,
would else take its own sleep for their silence."""


class Stillness:
    """For how long something has not moved, in seconds during which it was watched.

    Attributes:
        seconds: at the last look.
    """

    def __init__(self) -> None:
        self.seconds, self._seen, self._looked = 0.0, object(), time.monotonic()

    def look(self, seen: object) -> float:
        """Look once more.

        Args:
            seen: something that changes as long as it moves; None while it has nothing to do.

        Returns:
            Seconds for which it has not moved.
        """
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, _MOST), now
        self.seconds = self.seconds + passed if seen is not None and seen == self._seen else 0.0
        self._seen = seen
        return self.seconds


def beat(connection: Connection, sign: Callable[[], bytes]) -> None:
    """Begin to give signs of life, in a thread that ends with the process or with the one that hears them.

    Args:
        connection: leads to the process that started this one.
        sign: what is sent, looked up each time; empty for no sign.
    """
    threading.Thread(target=_beat, args=(connection, sign), name="heartbeat", daemon=True).start()


def _beat(connection: Connection, sign: Callable[[], bytes]) -> None:
    room = select.poll()
    room.register(connection.fileno(), select.POLLOUT)
    with contextlib.suppress(OSError):
        while True:
            given = sign()
            if given and room.poll(0):  # a process that hears nothing must not stop this one
                connection.send_bytes(given)
            time.sleep(BEAT)


def heard(connection: Connection) -> bytes:
    """Return the last sign of life that has come since the last look; empty if there was none.

    Args:
        connection: leads to the process that gives them.

    Returns:
        The sign.
    """
    last = b""
    with contextlib.suppress(EOFError, OSError):
        while connection.poll():
            last = connection.recv_bytes(64)
    return last
