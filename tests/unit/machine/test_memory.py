"""Freed memory stays while a network is trained, and goes back afterwards; what the user set is left alone."""

import ctypes
import platform

import pytest

from heedful.machine import memory
from heedful.machine.memory import freed_memory_kept

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


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * PAGE


def take_and_free(count: int = 20, size: int = 4 << 20) -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    blocks = [library.malloc(size) for _ in range(count)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for block in reversed(blocks):
        library.free(block)


@LIBC_ONLY
def test_memory_stays_inside_and_goes_back_after(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    take_and_free()
    before = resident()
    with freed_memory_kept() as kept:
        assert kept
        take_and_free()
        assert resident() - before > 60 << 20
    assert resident() - before < 20 << 20


@pytest.mark.parametrize("name", SETTINGS)
def test_what_the_user_set_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    with freed_memory_kept() as kept:
        assert not kept


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    with freed_memory_kept() as kept:
        assert not kept
