"""Interleaved timing and exact counting of allocations."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass
from typing import TypeVar

import torch

import heedful
from heedful.machine.processors import cpu_info, flags
from heedful.settings import Settings, at_least, ranged

Step = Callable[[], None]
Name = TypeVar("Name", bound=Hashable)
_SHORTEST = 0.02
"""Seconds: a step that takes less is repeated within one measurement, so that the clock's grain does not matter."""


def worth_a_median(repeats: int) -> str:
    """Check how often a case is measured."""
    return "" if repeats >= 7 else "must be at least 7 for a median worth printing"


@dataclass(frozen=True)
class Plan(Settings):
    """What the plan of every benchmark says.

    Attributes:
        batch: sentences, or pairs, of a step.
        width: features; 300 is that of the papers.
        repeats: measurements of each case, at least 7.
    """

    batch: int = ranged(64, at_least(1))
    width: int = ranged(300, at_least(1))
    repeats: int = ranged(7, worth_a_median)


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
    # of one cycle all events are kept either way; torch 2.11 warns where it is not asked for
    with torch.profiler.profile(activities=activities, profile_memory=True, acc_events=True) as profile:
        step()
    results = profile.profiler.kineto_results
    events = sorted((e for e in results.events() if e.name() == "[memory]"), key=lambda e: e.start_ns())
    held = peak = 0
    for event in events:
        held += event.nbytes()
        peak = max(peak, held)
    return peak


_FLAGS = ("avx2", "fma", "avx512f", "avx512_bf16", "avx512_vnni", "amx_tile", "asimd", "sve")
_REPEATS = 9


@dataclass(frozen=True)
class Ceiling:
    """The best this machine did in this run.

    Attributes:
        matmul: float32 matrix product, 10^9 floating-point operations a second.
        bandwidth: copying memory far larger than the caches, 10^9 bytes a second read plus written.
    """

    matmul: float
    bandwidth: float

    def shortest(self, operations: float, traffic: float) -> float:
        """Return the least time, in seconds, for so many operations and bytes: the roofline.

        Args:
            operations: floating-point operations in matrix products.
            traffic: bytes that must be read or written.

        Returns:
            Seconds.
        """
        return max(operations / (self.matmul * 1e9), traffic / (self.bandwidth * 1e9))


def measure_ceiling() -> Ceiling:
    """Measure matrix products of 1024 x 1024 and a copy of 128 MiB; the best of 9.

    Returns:
        The ceiling.
    """
    side = 1024
    left, right = torch.randn(side, side), torch.randn(side, side)
    product = _best_seconds(lambda: left @ right)
    source = torch.randn(32 << 20)
    target = torch.empty_like(source)
    copy = _best_seconds(lambda: target.copy_(source))
    return Ceiling(2 * side**3 / product / 1e9, 2 * source.numel() * source.element_size() / copy / 1e9)


def describe_machine() -> dict[str, str]:
    """Return versions, threads and processor features; no host name, user or path among them.

    Returns:
        Facts by name.
    """
    from heedful.attention import native

    return {
        "heedful": heedful.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "threads": str(torch.get_num_threads()),
        "torch's instruction set": torch.backends.cpu.get_cpu_capability(),
        "processor": cpu_info("model name") or "unknown",
        "processor features": " ".join(_processor_features()),
        "kernels": str(native.status()["instruction_set"] or "not compiled"),
    }


def as_dict(ceiling: Ceiling) -> dict[str, float]:
    """Return the ceiling as plain numbers, for JSON.

    Args:
        ceiling: what was measured.

    Returns:
        Numbers by name.
    """
    return asdict(ceiling)


def _processor_features() -> list[str]:
    present = flags()
    return [flag for flag in _FLAGS if flag in present] or ["unknown"]


def _best_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@dataclass(frozen=True)
class Row:
    """One case at one length.

    Attributes:
        name: of the case.
        group: "operation" or "layer".
        peer: name of the case it is compared with.
        ours: whether it is Heedful's.
        length: tokens a sentence.
        batch: sentences.
        milliseconds: median of one training step, forward and backward.
        spread: half the distance between the quartiles, in milliseconds.
        megabytes: most memory held at once beyond inputs and parameters, 10^6 bytes.
        ceiling: least possible time on this machine over the measured time, 0 to 1.
        scaled_from: sentences really run; fewer than batch where all would not fit, time and memory then scaled.
    """

    name: str
    group: str
    peer: str
    ours: bool
    length: int
    batch: int
    milliseconds: float
    spread: float
    megabytes: float
    ceiling: float
    scaled_from: int
