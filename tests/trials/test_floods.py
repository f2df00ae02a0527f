"""Twenty clients send without end, each on one connection: memory stays flat, and others are answered in a second."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from served import Server, save_model, server
from tally import Outcome, Tally

pytest.importorskip("starlette")
pytest.importorskip("httptools")
CONNECTIONS, SECONDS, MEGABYTES, PATIENCE = 20, 60, 150, 1.0
PART = 1 << 16
HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
GOOD = HEAD + b'Content-Length: 20\r\n\r\n{"texts": ["a film"]}'
FLOODS = {
    "requests": (b"", b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1_000),
    "predictions": (b"", GOOD * 400),
    "fields": (HEAD, b"X-Field: value\r\n" * 4_000),
    "one field": (HEAD + b"X-Field: ", b"v" * PART),
    "a name": (HEAD, b"n" * PART),
    "a target": (b"GET /", b"t" * PART),
    "empty lines": (b"", b"\r\n" * PART),
    "trailers": (CHUNKED + b"0\r\n", b"X-Field: value\r\n" * 4_000),
    "one trailer": (CHUNKED + b"0\r\nX-Field: ", b"v" * PART),
    "an extension": (CHUNKED + b"1;", b"e" * PART),
    "chunks": (CHUNKED, b"1\r\n \r\n" * 10_000),
    "a body": (HEAD + b"Content-Length: 999999999999\r\n\r\n", b" " * PART),
}
"""What is sent first, and then again and again."""


class Flood:
    """Clients that send as fast as the server reads; one that is refused or cut off begins anew.

    Args:
        port: of the server.
        kind: of `FLOODS`.
    """

    def __init__(self, port: int, kind: str) -> None:
        self._port, (self._first, self._then) = port, FLOODS[kind]
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(CONNECTIONS)]

    def _send(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port)) as client:
                client.settimeout(0.2)
                client.sendall(self._first)
                while not self._ended.is_set():
                    with contextlib.suppress(TimeoutError):  # the server reads no more of it for now
                        client.send(self._then)

    def __enter__(self) -> Flood:
        """Begin."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._ended.set()
        for thread in self._threads:
            thread.join()


def resident(pid: int) -> float:
    """Return the memory of a process in megabytes."""
    (line,) = (each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in each)
    return int(line.split()[1]) / 1_024


def answers(running: Server, seconds: float) -> Iterator[float]:
    """Ask again and again, each time on a new connection; give the seconds of each answer."""
    until = time.monotonic() + seconds
    while (begun := time.monotonic()) < until:
        reply = running.ask("/v1/predict", {"texts": ["the film was superb"]})
        yield time.monotonic() - begun if reply.status == 200 else float("inf")
        time.sleep(0.05)


@pytest.mark.parametrize("kind", FLOODS)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")
def test_floods(kind: str, tally: Tally, tmp_path: Path) -> None:
    """The flood comes from another thread of this process, which takes a core from the server beside it."""
    save_model(tmp_path / "model", max_tokens=200)
    with server(f"one={tmp_path / 'model'}") as running, Flood(running.port, kind):
        for seconds in answers(running, max(2.0, SECONDS * tally.share)):
            megabytes = resident(running.pid)
            good = seconds < PATIENCE and megabytes < MEGABYTES
            note = f"{kind}: an answer after {seconds:.2f} s, {megabytes:.0f} MB"
            tally.add(Outcome("right" if good else "failed", note, seconds, megabytes))
    assert not any("error" in line for line in running.log), running.log
