"""How the threads of torch wait for each other, set while ``import heedful`` runs: this module imports next to nothing.

The OpenMP threads of torch spin while they wait, for milliseconds: on cores that others need too, each barrier then
waits for a thread that is not running while its fellow burns the core. Heedful lets them spin for a few microseconds
and then sleep. The runtime reads its settings once, when torch is loaded: `spin_briefly` comes before. Whatever the
user set in the environment, or by loading torch first, stays.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # not imported from typing, for the reason that heedful/__init__.py gives
if TYPE_CHECKING:
    from collections.abc import MutableMapping

WAITING = {"GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1"}
"""For GNU's OpenMP, which torch has under Linux, turns of the waiting loop; for those of LLVM and Intel milliseconds
(not measured here: Intel's advice for torch)."""
POLICY = ("OMP_WAIT_POLICY", *WAITING)
"""The settings of the user's that are honored."""
_CHOSEN = {"how": "as torch's own"}


def spin_briefly(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let waiting threads sleep soon, unless the user has said how they wait, or torch is loaded already.

    Args:
        environment: of the process.
    """
    # A parent process that is Heedful's own has passed on what it set.
    if given := [name for name in POLICY if name in environment and environment[name] != WAITING.get(name)]:
        _CHOSEN["how"] = f"{given[0]}={environment[given[0]]}"
    elif "torch" in sys.modules:
        _CHOSEN["how"] = "as torch's own: it was loaded before heedful"
    else:
        environment.update(WAITING)
        _CHOSEN["how"] = "a short spin, then sleep"


def chosen() -> str:
    """Return how threads wait in this process, and who says so."""
    return _CHOSEN["how"]
