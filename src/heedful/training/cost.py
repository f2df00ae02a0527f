"""Time as a cost: by the clock, and of the processor."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Cost:
    """Time spent.

    Attributes:
        seconds: by the clock.
        cpu_seconds: of the processor over all threads, in which other work on the machine hardly shows.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @classmethod
    def now(cls) -> Cost:
        """Return the readings of both clocks, of which only differences mean anything."""
        return cls(time.monotonic(), time.process_time())

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.cpu_seconds - other.cpu_seconds)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Add what the body takes, however it ends.

        Yields:
            Nothing.
        """
        started = Cost.now()
        try:
            yield
        finally:
            total = self + (Cost.now() - started)
            self.seconds, self.cpu_seconds = total.seconds, total.cpu_seconds
