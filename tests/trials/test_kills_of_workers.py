"""SIGKILL at random moments for the workers of ``heedful serve`` under load: only what they were answering is lost."""

from __future__ import annotations

import http.client
import os
import signal
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import pytest

from attempts import TURNS
from heedful.serving.worker_slot import PROVED
from served import Server, is_worker, save_model, server
from tally import Outcome, Tally

pytest.importorskip("starlette")
pytest.importorskip("httptools")
CLIENTS, TEXTS = 4, {"texts": ["the film was superb", "", "dull"]}


@dataclass(frozen=True)
class Asked:
    """A request on a connection of its own: when, and what came back; nothing where the connection was cut."""

    begun: float
    ended: float
    body: bytes

    def was_cut(self, kills: list[tuple[float, float]]) -> bool:
        """Whether a worker died meanwhile."""
        return any(self.begun <= end and self.ended >= begun for begun, end in kills)


class Clients:
    """Threads that ask again and again."""

    def __init__(self, running: Server) -> None:
        self.running, self.asked, self._ended = running, deque[Asked](), threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        while not self._ended.is_set():
            begun = time.monotonic()
            try:
                reply = self.running.ask("/v1/predict", TEXTS)
                body = reply.body if reply.status == 200 else f"{reply.status}".encode()
            except (OSError, http.client.HTTPException):
                body = b""
            self.asked.append(Asked(begun, time.monotonic(), body))

    def taken(self) -> list[Asked]:
        """Take what was asked since the last time."""
        return [self.asked.popleft() for _ in range(len(self.asked))]

    def end(self) -> None:
        """Let them end."""
        self._ended.set()
        for thread in self._threads:
            thread.join()


def kill(worker: int) -> tuple[float, float]:
    """Kill a worker; return when, and when it was gone."""
    begun = time.monotonic()
    os.kill(worker, signal.SIGKILL)
    while is_worker(worker):
        time.sleep(0.001)
    return begun, time.monotonic()


def waits_for_two(running: Server) -> bool:
    """Wait until two workers count as such that can answer; a third kill before would rightly end the server."""
    until = time.monotonic() + 60 * TURNS
    while b"\nheedful_workers 2\n" not in running.ask("/metrics").body:
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    time.sleep(PROVED + 1)
    return True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers in /proc")
def test_kills_of_workers(tmp_path: Path, tally: Tally) -> None:
    """One worker or both are killed, also while they start; two kills of one place leave it the third start."""
    folder = save_model(tmp_path / "model")
    with server(f"one={folder}", "--workers", "2", environment={"TMPDIR": str(tmp_path)}) as running:
        expected = running.ask("/v1/predict", TEXTS).body
        clients, kills = Clients(running), list[tuple[float, float]]()
        for number in range(tally.count(20)):
            for _ in range(tally.draw.randint(1, 2)):
                time.sleep(tally.draw.uniform(0.0, 1.0))
                kills += [kill(worker) for worker in running.workers()[: tally.draw.randint(1, 2)]]
            back = waits_for_two(running)
            lost = [asked for asked in clients.taken() if asked.body != expected]
            lost = [asked for asked in lost if asked.body or not asked.was_cut(kills)]
            trouble = f"requests got {lost[:3]}" if lost else "" if back else "no two workers after a minute"
            tally.add(Outcome("failed" if trouble else "right", f"kill {number}: {trouble}"))
        clients.end()
        assert running.stop() == 0, running.log
    assert list(tmp_path.glob("heedful-serve-*")) == []
