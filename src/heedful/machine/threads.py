"""How many threads compute, and how they wait: chosen for torch and the kernels, never against the user.

**Waiting.** The OpenMP threads of torch spin while they wait, for milliseconds: on cores that others need too, each
barrier then waits for a thread that is not running while its fellow burns the core. Heedful lets them spin for a few
microseconds and then sleep. The runtime reads its settings once, when torch is loaded: `spin_briefly` comes before.

**Number.** No more than torch's own number, than the cores that the control group grants, or than the cores that other
work leaves free; at least one. The results of training do not depend on it.

Whatever the user set, in the environment, by ``--threads``, or by loading torch first, stays.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass

from heedful.machine.processors import Look, allowed, quota

WAITING = {"GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1"}
"""For GNU's OpenMP, which torch has under Linux, turns of the waiting loop; for those of LLVM and Intel milliseconds
(not measured here: Intel's advice for torch)."""
_POLICY = ("OMP_WAIT_POLICY", *WAITING)
_NUMBER = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
VARIABLES = (*_POLICY, *_NUMBER)
"""The settings of the user's that are honored."""


@dataclass(frozen=True)
class Choice:
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
        waiting: how threads wait, and who says so.
        asked: the number that the user gave.
        before: the first look at the load.
        open: whether a number is still to be chosen.
        choice: the last one chosen.
    """

    waiting: str = "as torch's own"
    asked: int | None = None
    before: Look | None = None
    open: bool = False
    choice: Choice | None = None


_STATE = _State()


def spin_briefly(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let waiting threads sleep soon, unless the user has said how they wait, or torch is loaded already."""
    # A parent process that is Heedful's own has passed on what it set.
    if given := [name for name in _POLICY if name in environment and environment[name] != WAITING.get(name)]:
        _STATE.waiting = f"{given[0]}={environment[given[0]]}"
    elif "torch" in sys.modules:
        _STATE.waiting = "as torch's own: it was loaded before heedful"
    else:
        environment.update(WAITING)
        _STATE.waiting = "a short spin, then sleep"


def begin(number: int | None = None) -> None:
    """Take the first look at the load, before torch is loaded; `settle` takes the second and chooses.

    Where torch is loaded already, its number may be the user's, and only another one of the user's replaces it.

    Args:
        number: what the user asks for; None lets `settle` choose.
    """
    _STATE.asked = number
    if number is not None or "torch" not in sys.modules:
        _STATE.open, _STATE.before = True, Look.now()
    elif _STATE.choice is None and not _STATE.open:
        _STATE.choice = Choice(_of_torch(), "torch was loaded before heedful, and its number stays")


def asked() -> int:
    """Return the number that the user gave to the command, or 1."""
    return _STATE.asked or 1


def settle(environment: Mapping[str, str] = os.environ) -> None:
    """Set torch's number of threads, which the kernels follow; does nothing without `begin`, or a second time."""
    if not _STATE.open:
        return
    if _STATE.asked is not None:
        choice = Choice(_STATE.asked, "asked for")
    elif given := named(environment):
        choice = Choice(_of_torch(), f"{given}={environment[given]}")
    else:
        now = Look.now()
        others = _STATE.before.others_until(now) if _STATE.before and now else None
        choice = choose(_of_torch(), len(allowed()), quota(), others)
    _STATE.open, _STATE.choice = False, choice
    if choice.number != _of_torch():
        import torch

        torch.set_num_threads(choice.number)


def choose(most: int, cores: int, granted: float | None, others: float | None) -> Choice:
    """Choose a number of threads.

    Args:
        most: as many as torch would use by itself.
        cores: processors that the process may run on.
        granted: cores that its control groups grant; None for all.
        others: cores that other work takes; None where it cannot be seen.

    Returns:
        The number and its reason.
    """
    choices = [Choice(most, "all cores that the process may use")]
    if granted is not None:
        choices.append(Choice(max(1, math.floor(granted)), f"its control group grants {granted:g} cores"))
    if others is not None:
        free = max(1, math.floor(cores - others + 0.5))
        choices.append(Choice(free, f"other work took {others:.1f} of {cores} cores at the start"))
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
    if _STATE.asked is not None:
        return _STATE.asked
    if jobs == 1 or named(environment):
        return None
    granted = quota()
    cores = len(allowed()) if granted is None else min(len(allowed()), math.floor(granted))
    return max(1, cores // jobs)


def named(environment: Mapping[str, str]) -> str | None:
    """Return the variable by which the user has set the number of threads, if there is one."""
    return next((name for name in _NUMBER if environment.get(name)), None)


def told() -> dict[str, str | int]:
    """Return the number of threads of torch and the kernels, its reason, and how they wait; for reports and runs."""
    number, choice = _of_torch(), _STATE.choice
    if choice is not None:
        reason = choice.reason if choice.number == number else "set in this process"
    elif given := named(os.environ):
        reason = f"{given}={os.environ[given]}"
    else:
        reason = "torch's own number"
    return {"threads": number, "threads_reason": reason, "threads_wait": _STATE.waiting}


def _of_torch() -> int:
    import torch

    return torch.get_num_threads()
