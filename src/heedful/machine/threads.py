"""How many threads compute: chosen for torch and the kernels, never against the user. `waiting` says how they wait.

No more than torch's own number, than the cores that the control group grants, or than the cores that other work leaves
free; at least one. Heedful's kernels give the same bits with any number; some sums of torch differ in their last
digits. So a training is repeated to the bit by the same number alone, and a run that goes on keeps its own (`kept`).
The counters of the processors tell how many cores this process may use, and how much of them other work takes.

Whatever the user set, in the environment, by ``--threads``, or by loading torch first, stays.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from heedful.machine.waiting import POLICY, chosen

ROOT = Path("/")
_LOG = logging.getLogger(__name__)
_NUMBER = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
VARIABLES = (*POLICY, *_NUMBER)
"""The settings of the user's that are honored."""
_SHORTEST = 0.2
"""Seconds between two looks; the system counts in hundredths, of which fewer than 20 say little."""


def allowed() -> frozenset[int]:
    """Return the numbers of the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def quota(root: Path = ROOT) -> float | None:
    """Return how many cores' time the control groups of this process grant it, under Linux.

    The smallest grant of the group and of all groups around it, of both versions of control groups: ``cpu.max``, or
    ``cpu.cfs_quota_us`` over ``cpu.cfs_period_us``.

    Returns cores, perhaps with a fraction; None where nothing is limited or nothing can be read.
    """
    grants = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        mounts = root / "sys/fs/cgroup"
        if not controllers:
            places, grant = (mounts, mounts / "unified"), _grant_of_version_2
        elif "cpu" in controllers.split(","):
            places, grant = (mounts / "cpu", mounts / controllers), _grant_of_version_1
        else:
            continue
        # A container may see its own group as the root of the mount, under a path that only the host knows.
        group = PurePosixPath(path.lstrip("/"))
        grants += [grant(place / part) for place in places for part in (group, *group.parents)]
    return min((cores for cores in grants if cores is not None), default=None)


@dataclass(frozen=True)
class Look:
    """The counters of the processors at one moment.

    Attributes:
        busy: time in which the allowed processors worked, in the system's ticks; work that yields to this process
            (of lower priority, "nice") is not counted.
        total: the ticks that have passed, over all of them.
        processors: how many they are.
        own: processor seconds of this process and its ended children.
        at: seconds on a clock.
    """

    busy: int
    total: int
    processors: int
    own: float
    at: float

    @classmethod
    def now(cls, root: Path = ROOT) -> Self | None:
        """Read the counters.

        Returns the look; None where the system shows no such counters.
        """
        names = {f"cpu{number}" for number in allowed()}
        rows = [line.split() for line in _read(root / "proc/stat").splitlines()]
        lines = [row[1:9] for row in rows if row and row[0] in names]
        busy = total = 0
        for line in lines:
            user, nice, system, idle, waiting, *interrupts = map(int, line)
            total += user + nice + system + idle + waiting + sum(interrupts)
            busy += user + system + sum(interrupts) + (nice if _yields() else 0)
        if not total:
            return None
        return cls(busy, total, len(lines), sum(os.times()[:4]), time.monotonic())

    def others_until(self, later: Look) -> float | None:
        """Return how many cores other work took between two looks.

        Returns cores, from 0 to the number of the allowed ones; None if the looks are too near to say.
        """
        seconds, ticks = later.at - self.at, later.total - self.total
        if seconds < _SHORTEST or ticks <= 0:
            return None
        all_work = later.processors * (later.busy - self.busy) / ticks
        return min(float(later.processors), max(0.0, all_work - (later.own - self.own) / seconds))


def _yields() -> bool:
    """Return whether this process has itself a lower priority than usual."""
    return hasattr(os, "nice") and os.nice(0) > 0


def _grant_of_version_2(group: Path) -> float | None:
    words = _read(group / "cpu.max").split()
    return _ratio(*words) if len(words) == 2 else None


def _grant_of_version_1(group: Path) -> float | None:
    return _ratio(_read(group / "cpu.cfs_quota_us"), _read(group / "cpu.cfs_period_us"))


def _ratio(granted: str, period: str) -> float | None:
    """Divide, where both are numbers above 0; "max" and -1 stand for no limit."""
    with contextlib.suppress(ValueError):
        if float(granted) > 0 and float(period) > 0:
            return float(granted) / float(period)
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


@dataclass(frozen=True)
class ThreadChoice:
    """A number of threads.

    Attributes:
        number: how many.
        reason: why, as a clause.
    """

    number: int
    reason: str


@dataclass
class _State:
    """What was decided in this process.

    Attributes:
        requested: the number that the user gave.
        before: the first look at the load.
        open: whether a number is still to be chosen.
        choice: the last one chosen.
    """

    requested: int | None = None
    before: Look | None = None
    open: bool = False
    choice: ThreadChoice | None = None


_STATE = _State()


def begin(number: int | None = None) -> None:
    """Take the first look at the load, before torch is loaded; `settle` takes the second and chooses.

    Where torch is loaded already, its number may be the user's, and only another one of the user's replaces it.

    Args:
        number: what the user asks for; None lets `settle` choose.
    """
    _STATE.requested = number
    if number is not None or "torch" not in sys.modules:
        _STATE.open, _STATE.before = True, Look.now()
    elif _STATE.choice is None and not _STATE.open:
        _STATE.choice = ThreadChoice(_of_torch(), "torch was loaded before heedful, and its number stays")


def requested() -> int:
    """Return the number that the user gave to the command, or 1."""
    return _STATE.requested or 1


def settle(environment: Mapping[str, str] = os.environ) -> None:
    """Set torch's number of threads, which the kernels follow; does nothing without `begin`, or a second time."""
    if not _STATE.open:
        return
    if _STATE.requested is not None:
        choice = ThreadChoice(_STATE.requested, "asked for")
    elif given := named(environment):
        choice = ThreadChoice(_of_torch(), f"{given}={environment[given]}")
    else:
        now = Look.now()
        others = _STATE.before.others_until(now) if _STATE.before and now else None
        choice = choose(_of_torch(), len(allowed()), quota(), others)
    _STATE.open, _STATE.choice = False, choice
    if choice.number != _of_torch():
        import torch

        torch.set_num_threads(choice.number)


@contextlib.contextmanager
def kept(number: int | None) -> Iterator[None]:
    """Compute with the number of threads with which a run began, within a ``with`` block.

    Args:
        number: that of the run; None leaves the number as it is.

    Yields:
        Nothing.
    """
    import torch

    before = torch.get_num_threads()
    if number is None or number == before:
        yield
        return
    _LOG.warning(
        "this run began with threads=%d and continues with them, not with %d: its last digits depend on the number",
        number,
        before,
    )
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def choose(most: int, cores: int, granted: float | None, others: float | None) -> ThreadChoice:
    """Choose a number of threads.

    Args:
        most: as many as torch would use by itself.
        cores: processors that the process may run on.
        granted: cores that its control groups grant; None for all.
        others: cores that other work takes; None where it cannot be seen.

    Returns:
        The number and its reason.
    """
    choices = [ThreadChoice(most, "all cores that the process may use")]
    if granted is not None:
        choices.append(
            ThreadChoice(max(1, math.floor(granted)), f"its control group grants {granted:g} cores")
        )
    if others is not None:
        free = max(1, math.floor(cores - others + 0.5))
        choices.append(ThreadChoice(free, f"other work took {others:.1f} of {cores} cores at the start"))
    return min(choices, key=lambda choice: choice.number)


def share(jobs: int, environment: Mapping[str, str] = os.environ) -> int | None:
    """Deal the cores out to processes that compute side by side.

    Args:
        jobs: how many processes.
        environment: of this process.

    Returns:
        Threads for each: what the user asked for, or a part of the cores. None where each is to choose by itself: one
        alone, or several that inherit a number which the user has set in the environment.
    """
    if _STATE.requested is not None:
        return _STATE.requested
    if jobs == 1 or named(environment):
        return None
    granted = quota()
    cores = len(allowed()) if granted is None else min(len(allowed()), math.floor(granted))
    return max(1, cores // jobs)


def named(environment: Mapping[str, str]) -> str | None:
    """Return the variable by which the user has set the number of threads, if there is one."""
    return next((name for name in _NUMBER if environment.get(name)), None)


def settings() -> dict[str, str | int]:
    """Return the number of threads of torch and the kernels, its reason, and how they wait; for reports and runs."""
    number, choice = _of_torch(), _STATE.choice
    if choice is not None:
        reason = choice.reason if choice.number == number else "set in this process"
    elif given := named(os.environ):
        reason = f"{given}={os.environ[given]}"
    else:
        reason = "torch's own number"
    return {"threads": number, "threads_reason": reason, "threads_wait": chosen()}


def _of_torch() -> int:
    import torch

    return torch.get_num_threads()
