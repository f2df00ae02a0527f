"""The parent of workers that die, hang, hear nothing or cannot be started; the workers are stand-ins."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fake_workers
from forked_commands import started
from heedful.errors import ExitCode, HeedfulError
from heedful.serving import Bounds
from waiting import Ending, until

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httptools")
places = pytest.importorskip("heedful.serving.worker_slot")
supervisor = pytest.importorskip("heedful.serving.supervisor")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has processes that stop")
LOG: list[str] = []
OPEN: list[socket.socket] = []


def print_line(line: str) -> None:
    """Keep a line of the log; workers get a reference to this function."""
    LOG.append(line)


class Parent:
    """A parent in this process.

    Args:
        folder: where the workers leave their lines.
        be: what a worker does.
        count: workers.
        seconds: the time of a request.
    """

    def __init__(self, folder: Path, be: Callable[..., None], count: int = 2, seconds: float = 30.0) -> None:
        from heedful.serving.app import Access
        from heedful.serving.service import Service

        places.be_worker = be
        LOG.clear()
        self.folder, listening = folder, socket.create_server(("127.0.0.1", 0))
        OPEN.append(listening)
        service = Service({"log": folder}, Bounds(seconds=seconds), Access())
        self.parent = supervisor.Supervisor(service, listening, count, print_line)
        self._failed: list[BaseException] = []

    def run(self, meanwhile: Callable[[], None], *, ends: bool = True) -> ExitCode:
        """Run the parent here, and something beside it in another thread; then send SIGTERM to this process."""

        def beside() -> None:
            try:
                meanwhile()
            except BaseException as error:
                self._failed.append(error)
            finally:
                if ends:
                    os.kill(os.getpid(), signal.SIGTERM)

        thread = threading.Thread(target=beside)
        try:
            code: ExitCode = self.parent.run(thread.start)
        finally:
            if thread.ident is not None:
                thread.join()
        assert not self._failed, self._failed
        return code

    def stood(self, number: int) -> list[int]:
        """Return the processes that have stood at a place."""
        file = self.folder / f"stood-{number}"
        return [int(line) for line in file.read_text().splitlines()] if file.exists() else []

    def stand(self, *counts: int) -> bool:
        """Whether so many have stood at each place so far."""
        return all(len(self.stood(number)) >= count for number, count in enumerate(counts, start=1))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start stand-ins soon, forked from a process that has imported all; test_supervisor.py starts real workers."""
    monkeypatch.setattr(places, "_SPAWN", started())
    monkeypatch.setattr(places, "_PAUSE", 0.01)
    monkeypatch.setattr(supervisor, "BEAT", 0.05)
    monkeypatch.setattr(places, "be_worker", None)
    yield
    while OPEN:
        OPEN.pop().close()


def test_workers_that_die_as_soon_as_they_may_answer_end_the_server(tmp_path: Path) -> None:
    parent = Parent(tmp_path, fake_workers.dies)
    with pytest.raises(
        HeedfulError, match=r"^a worker ended with exit status 3 before it had answered a text"
    ):
        parent.run(lambda: None, ends=False)
    assert any("cannot start, next try in" in line for line in LOG)
    assert max(len(parent.stood(number)) for number in (1, 2)) == 3


def test_a_worker_that_hangs_is_replaced(tmp_path: Path) -> None:
    parent = Parent(tmp_path, fake_workers.stops)

    def lose_patience() -> None:
        until(lambda: parent.stand(1, 1))
        parent.parent._patience = 3.0
        until(lambda: parent.stand(2, 2))
        parent.parent._patience = 10_000.0

    assert parent.run(lose_patience) == ExitCode.OK
    assert any("gives no sign of life and is killed" in line for line in LOG)


@pytest.mark.parametrize("be", [fake_workers.stops, fake_workers.is_mute])
def test_workers_that_hear_nothing_do_not_hold_up_the_end(
    be: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_GRACE", 0.2)
    parent = Parent(tmp_path, be, seconds=0.1)
    parent.parent._patience = 10_000.0
    assert parent.run(lambda: until(lambda: parent.stand(1, 1)) and None) == ExitCode.TERMINATED


def test_a_second_signal_kills_those_that_hear_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_AT_ONCE", 0.1)
    parent = Parent(tmp_path, fake_workers.is_mute, seconds=10_000.0)

    def ask_twice() -> None:
        until(lambda: parent.stand(1, 1))
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: parent.parent._until is not None)

    assert parent.run(ask_twice) == ExitCode.TERMINATED


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
def test_errors_of_the_system_while_a_worker_is_replaced_are_outlived(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, start, refused = Parent(tmp_path, fake_workers.stands), places.WorkerSlot.start, list[int]()

    def refusing(self: Any, *given: Any) -> None:
        if parent.stand(1, 1) and len(refused) < 9:
            refused.append(self.worker.number)
            raise error
        start(self, *given)

    monkeypatch.setattr(places.WorkerSlot, "start", refusing)
    monkeypatch.setattr(places, "_DOUBLED", 1)

    def kill() -> None:
        until(lambda: parent.stand(1, 1))
        os.kill(parent.stood(1)[0], signal.SIGKILL)
        until(lambda: parent.stand(2, 1))

    assert parent.run(kill) == ExitCode.OK
    assert refused == [1] * 9
    assert parent.stood(2)[1:] == []
    assert sum("worker 1 cannot start, next try in" in line for line in LOG) == 9


def test_the_temporary_folder_may_be_swept(tmp_path: Path) -> None:
    parent = Parent(tmp_path, fake_workers.stands)

    def sweep() -> None:
        until(lambda: parent.stand(1, 1))
        shutil.rmtree(parent.parent._folder)
        os.kill(parent.stood(1)[0], signal.SIGKILL)
        until(lambda: parent.stand(2, 1))
        assert parent.parent._folder.stat().st_mode & 0o777 == 0o700

    assert parent.run(sweep) == ExitCode.OK
    assert not parent.parent._folder.exists()


def test_a_signal_to_all_processes_starts_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers end before the parent gets the signal."""
    monkeypatch.setattr(places, "_PAUSE", 1_000.0)
    parent = Parent(tmp_path, fake_workers.stands)

    def end_all() -> None:
        until(lambda: parent.stand(1, 1))
        endings = [Ending(parent.stood(number)[0]) for number in (1, 2)]
        for number in (1, 2):
            os.kill(parent.stood(number)[0], signal.SIGTERM)
        for ending in endings:
            ending.wait()

    assert parent.run(end_all) == ExitCode.OK
    assert [len(parent.stood(number)) for number in (1, 2)] == [1, 1]
    assert not LOG


def test_one_worker_that_is_asked_to_end_is_replaced(tmp_path: Path) -> None:
    parent = Parent(tmp_path, fake_workers.stands)

    def end_one() -> None:
        until(lambda: parent.stand(1, 1))
        os.kill(parent.stood(1)[0], signal.SIGTERM)
        until(lambda: parent.stand(2, 1))

    assert parent.run(end_one) == ExitCode.OK
    assert LOG == ["worker 1 was asked to end, and another one takes its place"]


def test_one_worker_that_is_killed_after_it_has_answered_is_replaced(tmp_path: Path) -> None:
    parent = Parent(tmp_path, fake_workers.stands)

    def kill_one() -> None:
        until(lambda: parent.stand(1, 1) and parent.parent._places[0].running.has_answered)
        os.kill(parent.stood(1)[0], signal.SIGKILL)
        until(lambda: parent.stand(2, 1))

    assert parent.run(kill_one) == ExitCode.OK
    assert LOG == ["worker 1 was killed by SIGKILL, and another one takes its place"]


def test_the_pause_before_a_start_grows_to_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_PAUSE", 1.0)
    place = Parent(tmp_path, fake_workers.stands).parent._places[0]
    assert [place.fail(passing=False) for _ in range(8)] == [2, 4, 8, 16, 32, 64, 64, 64]
    assert (place.failures, place.lasting) == (8, 8)
    place.fail(passing=True)
    assert (place.failures, place.lasting) == (9, 8)
