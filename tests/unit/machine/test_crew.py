"""Processes that do tasks: every task once, in processes of one thread; one that dies costs nothing."""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forked_commands import started
from heedful.errors import DataError, HeedfulError, Interrupted
from heedful.machine import crew
from heedful.machine.child import Failed
from heedful.machine.crew import Manner, each_done, each_ended
from heedful.machine.signals import StopRequest, stop_raises
from waiting import until


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes be forked from one that has imported all; the test of their threads starts them anew."""
    monkeypatch.setattr(crew, "_SPAWN", started())


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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds what a process does in /proc")
def test_a_process_that_gives_no_sign_of_life_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has stopped, which is asked of the system here: that no sign comes for long is a matter of the clock."""
    monkeypatch.setattr(crew.Member, "hangs", lambda member: state_of(member.process.pid) == "T")
    found = [number for number, _ in each_done(stopped, (tmp_path,), range(6), jobs=2)]
    assert sorted(found) == list(range(6))


def state_of(process: int) -> str:
    """Return the letter of what a process does: T for one that was stopped, nothing for one that has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][:1]
    return ""


def test_a_process_hangs_after_a_time_without_a_sign_and_later_before_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signs, seconds = [b"", b"", b"1", b""], [crew.STILL + crew._START, 1e9, crew.STILL, crew.STILL + 1]
    monkeypatch.setattr(crew, "heard", lambda _: signs.pop(0))
    stillness = SimpleNamespace(look=lambda _: seconds.pop(0))
    member = SimpleNamespace(pulse=None, _beats=0, _stillness=stillness)
    assert [crew.Member.hangs(member) for _ in range(4)] == [False, True, False, True]  # type: ignore[arg-type]


def stopped_first(folder: Path) -> Callable[[int], int]:
    """Prepare a worker like `stopped`; other numbers wait until the number 3 has stopped its process."""
    do = stopped(folder)

    def wait(number: int) -> int:
        while number != 3 and not (folder / "stopped").exists():
            time.sleep(0.01)
        return do(number)

    return wait


def test_an_error_ends_a_process_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manner = Manner(patience=1.0)
    parts = each_done(stopped_first, (tmp_path,), [3, 1, 2], jobs=2, manner=manner)
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
    begun, refused = list[crew.Member](), list[int]()

    def refusing(*arguments: Any) -> crew.Member:
        if begun and len(refused) < 3:
            refused.append(1)
            if len(refused) == 3:
                (tmp_path / "refused").touch()
            raise OSError(errno.EMFILE, "Too many open files")
        begun.append(member(*arguments))
        return begun[-1]

    member = crew.Member
    monkeypatch.setattr(crew, "_PAUSE", 0.01)
    monkeypatch.setattr(crew, "Member", refusing)
    found = list(each_done(patient, (tmp_path,), range(6), jobs=2))
    assert sorted(number for number, _ in found) == list(range(6))
    assert refused == [1, 1, 1]

    def never(*_: object) -> crew.Member:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(crew, "Member", never)
    with pytest.raises(HeedfulError, match=r"^the system gives no process: .* with fewer --jobs$"):
        list(each_done(squares, (tmp_path, 0), range(6), jobs=2))


def threads_of(_: int) -> Callable[[int], str | None]:
    return lambda number: os.environ.get("OMP_NUM_THREADS")


def test_a_process_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "_SPAWN", multiprocessing.get_context("spawn"))
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert {found for _, found in each_done(threads_of, (1,), range(3), jobs=2)} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_others_go_on_after_a_task_that_fails_and_each_may_have_a_process_of_its_own(tmp_path: Path) -> None:
    begun, manner = list[int](), Manner(tries=1, fresh=True, watched=False, patience=None)
    found = dict(
        each_ended(squares, (tmp_path, 1), [100, 3, 2, 4], jobs=1, manner=manner, begun=begun.append)
    )
    assert begun == [100, 3, 2, 4]
    assert found[100] == Failed(DataError, "the number is too large")
    assert found[3] == Failed(
        HeedfulError,
        "3: its process ended with exit status -9. If the system killed it for its memory, use fewer --jobs; "
        "then run the same command again",
    )
    others = [each for each in found.values() if not isinstance(each, Failed)]
    assert sorted(square for square, _ in others) == [4, 16]
    assert len({process for _, process in others}) == 2


def saving(folder: Path) -> Callable[[int], None]:
    """Prepare a worker that saves when it is asked to stop, and takes a while."""

    def do(_: int) -> None:
        with StopRequest() as request:
            (folder / "begun").touch()
            while not request.is_set:
                time.sleep(0.01)
            time.sleep(0.3)
            (folder / "saved").touch()
            raise Interrupted("asked to stop")

    return do


def test_what_saves_where_it_stands_is_waited_for(tmp_path: Path) -> None:
    def ask() -> None:
        until(lambda: (tmp_path / "begun").exists())
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=ask).start()
    manner = Manner(patience=None)
    with (
        pytest.raises(Interrupted),
        stop_raises("go on"),
        contextlib.closing(each_ended(saving, (tmp_path,), [1, 2], jobs=1, manner=manner)) as ended,
    ):
        list(ended)
    assert (tmp_path / "saved").exists()


def refusing_to_begin() -> Callable[[int], None]:
    raise DataError("there is nothing to begin with")


def test_what_cannot_be_prepared_is_told_of_its_task() -> None:
    found = dict(each_ended(refusing_to_begin, (), [1, 2], jobs=2))
    assert found == dict.fromkeys((1, 2), Failed(DataError, "there is nothing to begin with"))


AT_THE_END = """
import signal
from multiprocessing import Pipe
from heedful.machine.crew import _serve
ours, theirs = Pipe()
ours.close()
_serve(theirs, theirs, None)
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""


def test_a_process_without_work_ends_at_once_when_it_is_asked_to() -> None:
    """An exit that is raised while Python ends would be printed with a traceback."""
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
