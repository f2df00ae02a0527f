"""Shared fixtures: the folder of real data sets, and a cache folder of the test run's own."""

from __future__ import annotations

import atexit
import gc
import importlib.metadata
import logging
import os
import signal
import sys
import traceback
from collections.abc import Generator, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.logging import catching_logs
from hypothesis import settings

HERE = Path(__file__).parent
ENGLISH = HERE / "packages" / "heedful-en"

# The models of the tests are tiny: a second thread costs more than it brings, above all on a busy machine. Set before
# torch is imported, and inherited by every process a test starts; tests about threads set their own number.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests start a hundred processes: without bytecode each compiles every module of the package anew, for seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A path of the command line stays right where a test changes its folder.
if os.environ.get("HEEDFUL_DATA"):
    os.environ["HEEDFUL_DATA"] = str(Path(os.environ["HEEDFUL_DATA"]).resolve())

# How long one example takes says nothing on a machine with other work.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A shell lets what it starts in the background ignore SIGINT, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Likewise SIGHUP under nohup.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# Every training asks all installed packages for callbacks of Fabric: a tenth of the time of a small one.
_entry_points = importlib.metadata.entry_points


@cache
def _callbacks(group: str, path: tuple[str, ...]) -> importlib.metadata.EntryPoints:
    return _entry_points(group=group)


def _entry_points_found_once(**names: str) -> importlib.metadata.EntryPoints:
    group = names.get("group", "")
    return (
        _callbacks(group, tuple(sys.path)) if group.endswith("callbacks_factory") else _entry_points(**names)
    )


importlib.metadata.entry_points = _entry_points_found_once


# torch keeps the whole stack at every seed, once for each kind of device, in case that there is one after all.
_format_stack = traceback.format_stack


def _stack_but_of_seeds(*given: Any) -> list[str]:
    return [] if sys._getframe(1).f_code.co_name == "_lazy_call" else _format_stack(*given)


traceback.format_stack = _stack_but_of_seeds


def _at_the_root(caught: catching_logs[Any]) -> object:
    """Catch logs where they end: a handler on each of torch's forty loggers makes it write out all that it compiles."""
    root = logging.getLogger()
    if caught.level is not None:
        caught.handler.setLevel(caught.level)
        caught.orig_level = root.level
        root.setLevel(min(root.level, caught.level))
    root.addHandler(caught.handler)
    caught.attached_loggers.append(root)
    return caught.handler


if "attached_loggers" in catching_logs.__slots__:  # since pytest 9
    catching_logs.__enter__ = _at_the_root  # type: ignore[method-assign]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: they may hold the time (gzip), and every process must find the same tests."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, and later rarely and not among the modules and tests.

    Tests that read whole data sets or trees of code spend a quarter of their time in looking otherwise.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        atexit.register(
            gc.unfreeze
        )  # what was not looked at is cleared at the end, or extensions warn of leaks
        gc.set_threshold(20_000, 20, 50)
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the trials, and what they import, alone where they are neither named nor asked for.

    Likewise the tests of packages that are not there.
    """
    asked = "not trial" not in config.getoption("markexpr") or any("trials" in each for each in config.args)
    trials = collection_path == HERE / "tests" / "trials" and not asked
    return True if trials or collection_path in map(_tests_of, _missing()) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say whose tests were left out."""
    for name in _missing():
        terminalreporter.write_line(f"{name} is not installed: its tests were left out")


@cache
def _missing() -> tuple[str, ...]:
    """Return the packages of the folder packages that have no files on the path."""
    return tuple(name for name in ("heedful-en", "heedful-lab") if find_spec(name.replace("-", "_")) is None)


def _tests_of(name: str) -> Path:
    return HERE / "packages" / name / "tests"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, and count, what needs the English package where only heedful is installed."""
    needed = item.get_closest_marker("english") or ENGLISH in item.path.parents
    if needed and not _english():
        pytest.skip("heedful-en is not installed")


@cache
def _english() -> bool:
    """Return whether heedful-en is there as a user has it: its files on the path alone bring nothing."""
    from heedful.storage.installed import installed

    return "en-nli" in installed("heedful.models")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets, from HEEDFUL_DATA; the test is skipped, and counted, without it."""
    folder = os.environ.get("HEEDFUL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("HEEDFUL_DATA names no folder of data sets")
    return Path(folder).resolve()


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEEDFUL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_disks() -> Iterator[None]:
    """Write without waiting for the disk: no test cuts the power, and thousands of files would take a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Let torch compute with one thread."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["avx512", "avx2", "portable"])
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let the compiled kernels use each set of instructions that this processor has."""
    import instruction_sets
    from heedful.attention import native

    before = str(native.status()["instruction_set"])
    if not instruction_sets.use(request.param):
        pytest.skip(f"this processor has no {request.param}, or the kernels are not compiled")
    yield request.param
    native.use_instruction_set(before)
