"""Interleaved timing and exact counting of allocations."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import torch

Step = Callable[[], None]
Name = TypeVar("Name", bound=Hashable)
_SHORTEST = 0.02
"""Seconds: a step that takes less is repeated within one measurement, so that the clock's grain does not matter."""


@dataclass(frozen=True)
class Timing:
    """Times of one case.

    Attributes:
        seconds: one number a repeat, for one step.
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median, in seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, in seconds."""
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / 2


def once(step: Step) -> float:
    """Time one step.

    Args:
        step: the work.

    Returns:
        Seconds.
    """
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def interleave(steps: Mapping[Name, Step], repeats: int) -> dict[Name, Timing]:
    """Time several steps in turns, so that a slow moment of the machine falls on all of them.

    Args:
        steps: the work by name; each has been run before.
        repeats: measurements of each, at least 2.

    Returns:
        Timings by name.
    """
    counts = {name: max(1, round(_SHORTEST / max(once(step), 1e-6))) for name, step in steps.items()}
    times: dict[Name, list[float]] = {name: [] for name in steps}
    for repeat in range(repeats):
        names = list(steps)
        shift = repeat % len(names)
        for name in names[shift:] + names[:shift]:
            step, count = steps[name], counts[name]
            start = time.perf_counter()
            for _ in range(count):
                step()
            times[name].append((time.perf_counter() - start) / count)
    return {name: Timing(tuple(values)) for name, values in times.items()}


def peak_bytes(step: Step) -> int:
    """Count what torch's allocator hands out during a step, and return the most held at once.

    Scratch memory that a compiled library takes from the system itself is not seen.

    Args:
        step: the work; it should free what it makes.

    Returns:
        Bytes beyond those held before.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "9")  # its own start and stop lines are no news to anyone
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        step()
    results = profile.profiler.kineto_results
    events = sorted((e for e in results.events() if e.name() == "[memory]"), key=lambda e: e.start_ns())
    held = peak = 0
    for event in events:
        held += event.nbytes()
        peak = max(peak, held)
    return peak
