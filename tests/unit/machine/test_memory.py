"""Freed memory stays while a network is trained, and goes back afterwards; what the user set is left alone."""

import ctypes
import os
import platform
import subprocess
import sys

import pytest

from heedful.machine import memory
from heedful.machine.memory import freed_memory_kept, give_back

PAGE, LIBC_ONLY = (
    4096,
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not GNU's"),
)
SETTINGS = (
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
)


ALONE = """
import ctypes
from heedful.machine.memory import freed_memory_kept

def resident():
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * 4096

def take_and_free(count=20, size=4 << 20):
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(size) for _ in range(count)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for block in reversed(blocks):
        library.free(block)

take_and_free()
before = resident()
with freed_memory_kept() as give_back:
    take_and_free()
    during = resident()
    kept = give_back()
    given = resident()
    take_and_free()
print(kept, (during - before) >> 20, (given - before) >> 20, (resident() - before) >> 20)
"""
"""Run in a process of its own: what others have freed before decides what the library keeps."""


@LIBC_ONLY
def test_memory_stays_inside_and_goes_back_on_demand_and_after() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=True
    )
    kept, during, given, after = done.stdout.split()
    assert kept == "True"
    assert int(during) > 60
    assert int(given) < 20
    assert int(after) < 20


@pytest.mark.parametrize("name", SETTINGS)
def test_what_the_user_set_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    with freed_memory_kept() as give_back:
        assert not give_back()


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    with freed_memory_kept() as give_back:
        assert not give_back()


@LIBC_ONLY
def test_memory_between_blocks_in_use_goes_back() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(64 << 10) for _ in range(1_024)]
    for block in blocks:
        ctypes.memset(block, 1, 64 << 10)
    for block in blocks[:-1]:  # the last one keeps the heap from shrinking
        library.free(block)
    before = resident()
    give_back()
    assert before - resident() > 50 << 20
    library.free(blocks[-1])


def resident() -> int:
    """Return how many bytes of the process are in memory."""
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * PAGE
