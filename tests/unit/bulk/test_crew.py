"""Processes that do tasks: every task once, in processes of one thread; one that dies costs nothing."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heedful.bulk import crew
from heedful.bulk.crew import each_done
from heedful.errors import DataError, HeedfulError
from heedful.machine import endings


def squares(folder: Path, deaths: int) -> Callable[[int], tuple[int, int]]:
    """Prepare a worker that is killed at the number 3, as often as is asked for."""

    def do(number: int) -> tuple[int, int]:
        if number == 3:
            died = len(list(folder.iterdir()))
            if died < deaths:
                (folder / f"{died}").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        if number == 100:
            raise DataError("the number is too large")
        return number**2, os.getpid()

    return do


@pytest.mark.parametrize(("jobs", "deaths"), [(1, 0), (2, 0), (2, 1), (9, 1)])
def test_every_task_is_done_once(tmp_path: Path, jobs: int, deaths: int) -> None:
    found = list(each_done(squares, (tmp_path, deaths), range(6), jobs=jobs))
    assert sorted((task, square) for task, (square, _) in found) == [(n, n * n) for n in range(6)]
    others = {process for _, (_, process) in found} - {os.getpid()}
    assert len(others) == 0 if jobs == 1 else len(others) <= jobs + deaths


def test_a_task_that_kills_its_process_twice_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(HeedfulError, match=r"^part 3: its process ended 2 times with exit status -9"):
        list(each_done(squares, (tmp_path, 2), range(6), jobs=2, name=lambda n: f"part {n}"))


def test_the_first_error_ends_the_run_and_keeps_its_kind(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^the number is too large$"):
        list(each_done(squares, (tmp_path, 0), [100, *range(50)], jobs=2))


def stopped(folder: Path) -> Callable[[int], int]:
    """Prepare a worker that is stopped at the number 3, as by SIGSTOP of a debugger, the first time."""

    def do(number: int) -> int:
        if number == 3 and not (folder / "stopped").exists():
            (folder / "stopped").touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        return number

    return do


def test_a_process_that_gives_no_sign_of_life_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "STILL", 6.0)
    found = [number for number, _ in each_done(stopped, (tmp_path,), range(6), jobs=2)]
    assert sorted(found) == list(range(6))


def stopped_first(folder: Path) -> Callable[[int], int]:
    """Prepare a worker like `stopped`; other numbers wait until the number 3 has stopped its process."""
    do = stopped(folder)

    def wait(number: int) -> int:
        while number != 3 and not (folder / "stopped").exists():
            time.sleep(0.01)
        return do(number)

    return wait


def test_an_error_ends_a_process_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "end_all", lambda running: endings.end_all(running, 1.0))
    parts = each_done(stopped_first, (tmp_path,), [3, 1, 2], jobs=2)
    next(parts)
    parts.close()


def patient(folder: Path) -> Callable[[int], int]:
    """Prepare a worker whose second task waits until the system has refused processes often enough."""

    def do(number: int) -> int:
        while number == 1 and not (folder / "refused").exists():
            time.sleep(0.01)
        return number

    return do


def test_a_process_that_the_system_refuses_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others go on meanwhile; where none is left, the run ends with one line."""
    begin, refused = crew._Crew._begin, list[int]()

    def refusing(self: Any) -> Any:
        if self._workers and len(refused) < 3:
            refused.append(1)
            if len(refused) == 3:
                (tmp_path / "refused").touch()
            raise OSError(errno.EMFILE, "Too many open files")
        return begin(self)

    monkeypatch.setattr(crew, "_PAUSE", 0.01)
    monkeypatch.setattr(crew._Crew, "_begin", refusing)
    found = list(each_done(patient, (tmp_path,), range(6), jobs=2))
    assert sorted(number for number, _ in found) == list(range(6))
    assert refused == [1, 1, 1]

    def never(self: Any) -> Any:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(crew._Crew, "_begin", never)
    with pytest.raises(HeedfulError, match=r"^the system gives no process: .* with fewer --jobs$"):
        list(each_done(squares, (tmp_path, 0), range(6), jobs=2))


def threads(_: int) -> Callable[[int], str | None]:
    return lambda number: os.environ.get("OMP_NUM_THREADS")


def test_a_process_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert {found for _, found in each_done(threads, (1,), range(3), jobs=2)} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


AT_THE_END = """
import signal
from multiprocessing import Pipe
from heedful.bulk.crew import _work
ours, theirs = Pipe()
ours.close()
_work(theirs, theirs, lambda: None, ())
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""


def test_a_process_without_work_ends_at_once_when_it_is_asked_to() -> None:
    """An exit that is raised while Python ends would be printed with a traceback."""
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
