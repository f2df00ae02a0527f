"""Freed memory stays with the process while a network is trained, and goes back to the system when it is done."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""Parameters of ``mallopt`` in GNU's C library."""
_LARGEST_BLOCK, _KEPT, _USUAL = 32 << 20, 512 << 20, 64 << 20
"""Bytes: the largest block that is not mapped on its own (no more is allowed), and how much free memory stays, while
training and otherwise. The last is what the library itself arrives at after a block of the largest size was freed."""
_SETTINGS = (
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
)
"""Settings of the user's that are honored: with one of them, nothing is changed."""


@contextlib.contextmanager
def freed_memory_kept() -> Iterator[Callable[[], bool]]:
    """Let the C library keep up to 512 MB of freed memory instead of giving it back to the system.

    A training step frees all that it took. Where the library gives this back, the next step has to get thousands of
    pages again, each of which the system fills with zeros. Where it never does, batches of many lengths leave gaps
    between the blocks, and the process grows without end: training has to give free memory back every few dozen steps.
    It does nothing where the C library is not GNU's, or where the user has set how it keeps memory.

    Yields:
        What gives the free memory back, also that between blocks in use, and returns whether it did. It is also given
        back at the end.
    """
    library = _gnu()
    if library is None or any(name in os.environ for name in _SETTINGS):
        yield lambda: False
        return
    library.mallopt(_MMAP_THRESHOLD, _LARGEST_BLOCK)
    library.mallopt(_TRIM_THRESHOLD, _KEPT)
    try:
        yield lambda: bool(library.malloc_trim(0))
    finally:
        library.mallopt(_TRIM_THRESHOLD, _USUAL)
        library.malloc_trim(0)


def give_back() -> None:
    """Give freed memory back to the system, that between blocks in use too; only GNU's C library can."""
    library = _gnu()
    if library is not None:
        library.malloc_trim(0)


def _gnu() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has no library of the process itself
        return None
    names = ("gnu_get_libc_version", "mallopt", "malloc_trim")
    return library if all(hasattr(library, name) for name in names) else None
